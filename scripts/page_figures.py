"""Compare the figures that pages show with the results that they come from, or put those in.

    python scripts/page_figures.py [--write]

``docs/figures.toml`` lists the places: a page, the text around the figures with ``{}`` for each,
and where each figure is measured, as ``RESULT | NAME | FORMAT``. RESULT is a file of
``benchmarks/results`` or ``studies/results`` without its ending; a name may end in ``@ BASELINE``
where several lines share it; FORMAT is one of Python's, or ``3`` for three digits; then may follow
what to take in place of the value: ``baseline``, ``ratio``, or ``note N``, the Nth number in the
line's note, counted from 0.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("benchmarks/results", "studies/results")
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a page that shows figures.

    Attributes:
        page: Path from the root of the project.
        text: Text of the place, with ``{}`` for each figure.
        figures: Where each of them is measured.
    """

    page: str
    text: str
    figures: tuple[str, ...]

    @property
    def pattern(self) -> re.Pattern[str]:
        """The text of the place with any numbers."""
        return re.compile(f"({NUMBER})".join(re.escape(part) for part in self.text.split("{}")))


def places() -> list[Place]:
    """All places of ``docs/figures.toml``."""
    listed = tomllib.loads((ROOT / "docs/figures.toml").read_text(encoding="utf-8"))
    return [
        Place(page, place["text"], tuple(place["figures"]))
        for page, of_page in listed.items()
        for place in of_page
    ]


@cache
def lines_of(result: str) -> list[dict[str, Any]]:
    """The lines of a result."""
    path = next(path for folder in FOLDERS if (path := ROOT / folder / f"{result}.json").exists())
    return list(json.loads(path.read_text(encoding="utf-8"))["figures"])


def measured(figure: str) -> str:
    """What a figure is by its result, in the format of the page."""
    result, name, form, *rest = (part.strip() for part in figure.split(" | "))
    name, _, baseline = name.partition(" @ ")
    found = [
        line for line in lines_of(result)
        if line["name"] == name and (not baseline or line["baseline"] == baseline)
    ]  # fmt: skip
    if not found:
        raise SystemExit(f"{result}.json has no line named {name!r}.")
    value = taken(found[0], rest[0] if rest else "value")
    return f"{float(f'{value:.3g}'):,.0f}" if form == "3" else format(value, form)


def taken(line: dict[str, Any], field: str) -> float:
    """The number of a line that a figure shows."""
    if field.startswith("note "):
        return float(re.findall(r"[-+]?\d+(?:\.\d+)?", line["note"])[int(field[5:])])
    return float(line[{"baseline": "baseline_value"}.get(field, field)])


def wrong(place: Place, text: str) -> str | None:
    """What is wrong with a place, or None."""
    found = list(place.pattern.finditer(text))
    if len(found) != 1:
        return f"{place.page}: {len(found)} places read {place.text!r}; docs/figures.toml names one"
    true = [measured(figure) for figure in place.figures]
    shown = list(found[0].groups())
    if shown != true:
        return f"{place.page}: {place.text!r} shows {shown}, measured are {true}"
    return None


def put_in(place: Place, text: str) -> str:
    """The page's text with the measured figures in a place."""
    true = iter([measured(figure) for figure in place.figures])
    whole = "".join(
        part + (next(true) if number + 1 < len(parts) else "")
        for parts in [place.text.split("{}")]
        for number, part in enumerate(parts)
    )
    return place.pattern.sub(lambda _: whole, text)


def main() -> int:
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the measured figures in")
    write = parser.parse_args().write
    faults: list[str] = []
    for place in places():
        path = ROOT / place.page
        text = path.read_text(encoding="utf-8")
        if write and (changed := put_in(place, text)) != text:
            path.write_text(changed, encoding="utf-8")
            text = changed
        if fault := wrong(place, text):
            faults.append(fault)
    print("\n".join(faults) or f"{len(places())} places show what was measured.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
