"""Pages about the papers: a state for every section; departures, files and names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "papers").glob("*.md"))
STATES = ("implemented", "departed", "left out", "missing")
FILE = re.compile(r"`([\w./*-]+\.(?:py|c|h|ts|json|csv))`")
FOLDERS = ("", "src/motionloom", "core/src", "benchmarks/results", "studies/results")
SECTIONS = {
    "registration.md": ["1", "2", "2.1", "2.2", "2.3", "3", "4", "4.1", "4.2", "4.2.1", "4.2.2",
                        "4.3", "4.4", "5", "5.1", "5.2", "5.3", "6", "6.1", "6.2", "6.3", "7",
                        "Appendix A", "Appendix B"],
    "splicing.md": ["1", "2", "3", "3.1", "3.2", "3.3", "4", "5"],
    "transitions.md": ["1", "2", "3", "4", "4.1", "5", "6", "7", "7.1", "7.2", "8", "9", "A"],
}  # fmt: skip
"""Sections of the papers."""
STUDIES = {"told-apart": "told_apart_study"}
"""Files of studies that are called otherwise."""


def rows_of(page: Path, column: str = "state") -> list[dict[str, str]]:
    """Rows of the tables with a column of this name."""
    rows: list[dict[str, str]] = []
    head: list[str] | None = None
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if head is None:
            head = cells
        elif column in head and not set(line) <= set("|- "):
            rows.append(dict(zip(head, cells, strict=False)))
    return rows


def files_of(name: str) -> list[Path]:
    """Files that a page means by a name: a path, a pattern, a folder, or a file's own name."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).glob(name)]
    if not found and "/" not in name:
        found = [*(ROOT / "src").rglob(name)]
    return [file for path in found for file in (path.rglob("*.py") if path.is_dir() else [path])]


def names_in(code: str) -> list[str]:
    """What a piece of code names: its keyword arguments, or the last name before its arguments."""
    keywords = re.findall(r"(\w+)=", code)
    last = re.split(r"[(\[]", code)[0].rpartition(".")[2]
    return keywords or re.findall(r"[A-Za-z_]\w+", last)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page: Path) -> None:
    named = FILE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if not files_of(name)] == []


@pytest.mark.parametrize("name", SECTIONS)
def test_symbols_are_in_the_files_named_next_to_them(name: str) -> None:
    rows = [row for row in rows_of(ROOT / "docs" / "papers" / name, "here") if row["where"]]
    assert rows
    for row in rows:
        files = [file for each in re.findall(r"`([^`]+)`", row["where"]) for file in files_of(each)]
        text = " ".join(file.read_text(encoding="utf-8") for file in files)
        for code in re.findall(r"`([^`]+)`", row["here"]):
            for word in names_in(code):
                assert re.search(rf"\b{word}\b", text), f"{word} of {code} in {row['where']}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_pages_name_exist(page: Path) -> None:
    script = (ROOT / "study").read_text(encoding="utf-8")
    for study, parts in re.findall(r"`\./study ([\w-]+)((?: [a-z]+)*)", page.read_text("utf-8")):
        assert re.search(rf"^  [\w| -]*\b{study}\b[\w| -]*\) module=", script, re.M), study
        (source,) = (ROOT / "studies").rglob(f"{STUDIES.get(study, study)}.py")
        for part in parts.split():
            assert f'"{part}"' in source.read_text(encoding="utf-8"), f"{study} {part}"
    for module in re.findall(r"`python -m ([\w.]+)", page.read_text("utf-8")):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), module


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_is_implemented_departed_or_left_out(name: str) -> None:
    rows = rows_of(ROOT / "docs" / "papers" / name)
    assert [row for row in rows if not row["state"].startswith(STATES)] == []
    named = " ".join(row["section"] for row in rows)
    for section in SECTIONS[name]:
        assert re.search(rf"(?<![\w.]){re.escape(section)}(?![\w.])", named), section


@pytest.mark.parametrize("name", SECTIONS)
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
