"""Figures of a study: printed as a table, and written as JSON to ``studies/results``."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGES = ("motionloom", "numpy", "scipy", "pybvh", "upc-pymotion")


@dataclass(frozen=True)
class Figure:
    """One measured number, the peer it is compared with, and its goal."""

    name: str
    value: float
    unit: str
    baseline: str = ""
    """Name of the peer that was measured in the same run."""
    baseline_value: float | None = None
    lower_is_better: bool = False
    ratio_goal: float | None = None
    """Smallest ratio promised."""
    value_goal: float | None = None
    """Worst value promised, where there is no peer."""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times better than the peer: above 1 is better, whichever way the unit runs."""
        if self.baseline_value is None or self.value == 0.0 or self.baseline_value == 0.0:
            return None
        ratio = self.value / self.baseline_value
        return 1.0 / ratio if self.lower_is_better else ratio

    @property
    def goal(self) -> str:
        """The promise in words."""
        if self.ratio_goal is not None:
            return f">= {self.ratio_goal:g}x"
        if self.value_goal is not None:
            return f"{'<=' if self.lower_is_better else '>='} {self.value_goal:g} {self.unit}"
        return ""

    @property
    def met(self) -> bool | None:
        """Whether the promise is kept; None where there is none."""
        if self.ratio_goal is not None:
            return bool(self.ratio is not None and self.ratio >= self.ratio_goal)
        if self.value_goal is not None:
            better = -1.0 if self.lower_is_better else 1.0
            return bool(better * self.value >= better * self.value_goal)
        return None


def write_report(
    name: str,
    figures: Sequence[Figure],
    *,
    about: Mapping[str, object],
    quiet: bool = False,
    folder: Path = RESULTS,
) -> Path:
    """Print ``figures``, unless ``quiet``, and write them to ``<name>.json`` in ``folder``."""
    if not quiet:
        print(table(figures))
        for key, value in about.items():
            print(f"{key}: {value}")
    document = {
        "benchmark": name,
        "machine": machine(),
        "about": about,
        "figures": [
            {**asdict(figure), "ratio": figure.ratio, "goal": figure.goal, "met": figure.met}
            for figure in figures
        ],
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    temporary = path.with_suffix(".json.tmp")
    temporary.write_text(json.dumps(document, indent=1) + "\n")
    temporary.replace(path)
    return path


def with_others(
    name: str, figures: Sequence[Figure], about: dict[str, object], *, folder: Path = RESULTS
) -> tuple[list[Figure], dict[str, object]]:
    """Figures of a part of a study with those of the other parts that were written before.

    A figure replaces the one of the same name and baseline. Results of another half of the clips
    are not mixed.
    """
    path = folder / f"{name}.json"
    before = json.loads(path.read_text()) if path.is_file() else {"about": {}, "figures": []}
    if not before["figures"] or before["about"].get("half") != about.get("half"):
        return list(figures), about
    ours = {(figure.name, figure.baseline): figure for figure in figures}
    names = [field.name for field in fields(Figure)]
    merged = []
    for each in before["figures"]:
        old = Figure(**{key: each[key] for key in names})
        merged.append(ours.pop((old.name, old.baseline), old))
    again = {"measured again": about["parts"]}
    return merged + list(ours.values()), before["about"] | about | again | {
        "parts": before["about"]["parts"]
    }


def table(figures: Sequence[Figure]) -> str:
    """The figures as lines of text."""
    head = ("figure", "value", "peer", "peer's value", "ratio", "goal", "met", "")
    rows = [head, tuple("-" * len(word) for word in head)]
    for figure in figures:
        met = {True: "yes", False: "NO", None: ""}[figure.met]
        peer = "" if figure.baseline_value is None else f"{rounded(figure.baseline_value)}"
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}x"
        value = f"{rounded(figure.value)} {figure.unit}"
        rows.append(
            (figure.name, value, figure.baseline, peer, ratio, figure.goal, met, figure.note)
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": versions,
    }
