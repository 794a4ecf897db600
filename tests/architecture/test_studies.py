"""Studies and tests apart: what tests share has its own folder, and studies do without tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def files_that_import(package: str, folder: str) -> set[str]:
    """Python files of a folder that import a package, from the root of the project."""
    wanted = re.compile(rf"^\s*(?:from|import) {package}\b", re.M)
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*.py")
        if wanted.search(path.read_text(encoding="utf-8"))
    }


def test_studies_are_read_by_their_own_tests_and_by_one_file_of_shared_support() -> None:
    found = files_that_import("studies", "tests")
    others = {path for path in found if not path.startswith("tests/studies/")}
    assert others == {"tests/support/tables.py"}


def test_studies_do_without_tests() -> None:
    assert files_that_import("tests", "studies") == set()
