"""Python and shell blocks of the README and of all pages run and print what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.run_page import pages_with_blocks, run_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = pages_with_blocks()
TUTORIALS = ("clean-dataset", "live-character", "mixamo-to-unreal")
GUIDES = ("blending-and-transitions", "splicing", "transition-tables", "feet", "how-to/recipes")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run_and_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    for block in run_page(page, tmp_path):
        if block.shown is not None:
            remedy = f"\nRun python scripts/run_page.py --write {page.relative_to(ROOT)}"
            assert block.printed.strip() == block.shown.strip(), remedy


@pytest.mark.parametrize("name", [*(f"tutorials/{each}" for each in TUTORIALS), *GUIDES])
def test_tutorials_and_guides_are_among_the_pages_that_run(name: str) -> None:
    assert ROOT / "docs" / f"{name}.md" in PAGES


def test_the_quick_starts_and_the_readme_run() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in PAGES}
    readers = ("animator", "researcher", "game-programmer")
    assert {"README.md", *(f"docs/quickstart/{each}.md" for each in readers)} <= names
