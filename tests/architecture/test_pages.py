"""Pages: what they link to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = [a or b for a, b in LINK.findall(page.read_text(encoding="utf-8"))]
    near = [link.partition("#")[0] for link in links if "://" not in link and link[0] != "#"]
    assert [link for link in near if not (page.parent / link).exists()] == []


def test_there_are_pages_with_pictures() -> None:
    assert len(PAGES) > 10
    assert any("docs/img/" in page.read_text(encoding="utf-8") for page in PAGES)
