"""Where pictures are stored: those of reports in studies/reports/img, all others in docs/img."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "img"
REPORTS = ROOT / "studies" / "reports" / "img"
STORED = ROOT / "docs" / "film"
"""Collections, tables and films; they are no part of the project."""


def picture(name: str, *, folder: Path = REPORTS) -> Path:
    """Path of a picture: where it is stored already, else in ``folder``."""
    found = [path for path in (DOCS / name, REPORTS / name) if path.exists()]
    return found[0] if found else folder / name
