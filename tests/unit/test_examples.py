"""The examples run without arguments, print something, and use public names only."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("[0-9]*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path: Path, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_imports_motionloom_and_nothing_below_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {each.module or "" for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    modules |= {
        name.name for each in ast.walk(tree) if isinstance(each, ast.Import) for name in each.names
    }
    assert {each for each in modules if each.startswith("motionloom")} == {"motionloom"}


def test_examples_are_numbered_in_a_row() -> None:
    assert [path.name[:3] for path in EXAMPLES] == [f"{n:02d}_" for n in range(1, 8)]
