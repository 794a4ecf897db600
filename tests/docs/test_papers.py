"""Pages about the papers: a state for every section; departures and files they name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "papers").glob("*.md"))
STATES = ("implemented", "departed", "left out")
FILE = re.compile(r"`([\w./*-]+\.(?:py|c|h|ts|json|csv))`")
FOLDERS = ("", "src/motionloom", "core/src", "benchmarks/results", "studies/results")
SECTIONS = {
    "registration.md": ["1", "2", "2.1", "2.2", "2.3", "3", "4.1", "4.2", "4.2.1", "4.2.2", "4.3",
                        "4.4", "5", "5.1", "5.2", "5.3", "6", "6.1", "6.2", "6.3", "7",
                        "Appendix A", "Appendix B"],
    "splicing.md": ["1", "2", "3", "3.1", "3.2", "3.3", "4", "5"],
    "transitions.md": ["1", "2", "3", "4", "4.1", "5", "6", "7", "7.1", "7.2", "8", "9", "A"],
}  # fmt: skip
"""Sections of the papers."""


def rows_of(page: Path) -> list[dict[str, str]]:
    """Rows of the tables with a column named state."""
    rows: list[dict[str, str]] = []
    head: list[str] | None = None
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if head is None:
            head = cells
        elif "state" in head and not set(line) <= set("|- "):
            rows.append(dict(zip(head, cells, strict=False)))
    return rows


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page: Path) -> None:
    missing = [
        name
        for name in FILE.findall(page.read_text(encoding="utf-8"))
        if not any(list((ROOT / folder).glob(name)) for folder in FOLDERS)
        and ("/" in name or not any((ROOT / "src").rglob(name)))
    ]
    assert missing == []


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_is_implemented_departed_or_left_out(name: str) -> None:
    rows = rows_of(ROOT / "docs" / "papers" / name)
    assert [row for row in rows if not row["state"].startswith(STATES)] == []
    named = " ".join(row["section"] for row in rows)
    for section in SECTIONS[name]:
        assert re.search(rf"(?<![\w.]){re.escape(section)}(?![\w.])", named), section


@pytest.mark.parametrize("name", ["registration.md", "splicing.md"])
def test_departures_that_sections_name_are_described(name: str) -> None:
    page = ROOT / "docs" / "papers" / name
    described = {int(n) for n in re.findall(r"^(\d+)\. \*\*", page.read_text("utf-8"), re.M)}
    named: set[int] = set()
    for row in rows_of(page):
        for inside in re.findall(r"\(([\d, to]+)\)", " ".join(row.values())):
            for part in inside.split(","):
                first, _, last = part.strip().partition(" to ")
                if first.isdigit():
                    named |= set(range(int(first), int(last or first) + 1))
    assert named
    assert named <= described
