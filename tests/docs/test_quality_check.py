"""The page on the quality check names every check."""

from __future__ import annotations

from pathlib import Path

from motionloom.features.checks.verification import CHECKS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "quality" / "quality-check.md"


def test_the_page_has_a_limit_and_a_remedy_for_every_check() -> None:
    limits, remedies = PAGE.read_text(encoding="utf-8").split("## When a check fails")
    remedies = remedies.split("## Captured defects")[0]
    for part in (limits, remedies):
        cells = " | ".join(line.split("|")[1] for line in part.splitlines() if line[:1] == "|")
        assert [name for name in CHECKS if name not in cells] == []
