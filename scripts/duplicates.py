"""Runs of identical lines of code in two places.

    python scripts/duplicates.py [FOLDER ...] [--lines 6]

Docstrings, comments, blank lines, imports and lines of brackets alone do not count. Each run is
printed once, with both places.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Run(NamedTuple):
    """Identical lines of two places."""

    lines: int
    first: str
    second: str


def code_lines(path: Path) -> list[tuple[int, str]]:
    """Number and text of every line that counts."""
    text = path.read_text(encoding="utf-8")
    ignored: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if alone or isinstance(node, (ast.Import, ast.ImportFrom)):
            ignored |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = ((k, line.strip()) for k, line in enumerate(text.splitlines(), start=1))
    return [
        (k, line)
        for k, line in lines
        if k not in ignored and not line.startswith("#") and re.search(r"\w", line)
    ]


def find_runs(files: list[Path], least: int) -> list[Run]:
    """Every longest run of at least ``least`` identical lines, the longest first."""
    lines = {path: code_lines(path) for path in files}
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path, code in lines.items():
        for k in range(len(code) - least + 1):
            places[tuple(text for _, text in code[k : k + least])].append((path, k))
    seen: set[tuple[Path, int, Path, int]] = set()
    runs = []
    for several in places.values():
        for a in range(len(several)):
            for b in range(a + 1, len(several)):
                (one, i), (two, j) = several[a], several[b]
                if (one, i, two, j) in seen or (one == two and j - i < least):
                    continue
                n = 0
                while _text(lines[one], i + n) == _text(lines[two], j + n) is not None:
                    seen.add((one, i + n, two, j + n))
                    n += 1
                runs.append(Run(n, _place(one, lines[one][i][0]), _place(two, lines[two][j][0])))
    return sorted(runs, reverse=True)


def _text(code: list[tuple[int, str]], k: int) -> str | None:
    return code[k][1] if k < len(code) else None


def _place(path: Path, line: int) -> str:
    return f"{path.resolve().relative_to(ROOT)}:{line}"


def main() -> int:
    """Count modules and lines, and print every run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=["src", "studies"])
    parser.add_argument("--lines", type=int, default=6)
    options = parser.parse_args()
    for folder in options.folders:
        files = sorted((ROOT / folder).rglob("*.py"))
        runs = find_runs(files, options.lines)
        total = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
        print(f"{folder}: {len(files)} modules, {total} lines, {len(runs)} runs")
        for run in runs:
            print(f"  {run.lines:3}  {run.first}  {run.second}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
