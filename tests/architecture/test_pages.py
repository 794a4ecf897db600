"""Pages: what they link to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs" / "reference" / "generated"
PLAYERS = ROOT / "docs" / "players"
"""Both are written when the site is built."""
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "studies/*.md", "studies/reports/*.md")
    for page in ROOT.glob(pattern)
    if GENERATED not in page.parents
    and page.name != "CHANGELOG.md"  # its entries name files as they were at the time
)
FILE = re.compile(
    r"`(?:python )?([\w./-]+/[\w.-]+\.(?:py|c|h|cs|ts|html|json|csv|toml|sh))\b[^`]*`"
)
HOMES = (ROOT, ROOT / "src" / "motionloom", ROOT / "core" / "src")
"""Where files that a page names are looked for."""
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = [a or b for a, b in LINK.findall(page.read_text(encoding="utf-8"))]
    near = [link.partition("#")[0] for link in links if "://" not in link and link[0] != "#"]
    paths = [(page.parent / link).resolve() for link in near]
    paths = [each for each in paths if not {GENERATED, PLAYERS} & set(each.parents)]
    assert [each for each in paths if not each.exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    names = [] if page.parent == ROOT else FILE.findall(page.read_text(encoding="utf-8"))
    names = [name for name in names if not name.startswith(("web/", "demo-out/", "clips/"))]
    assert [name for name in names if not any((home / name).exists() for home in HOMES)] == []


@pytest.mark.parametrize("script", ["bench", "study"])
def test_every_benchmark_and_study_that_a_page_names_exists(script: str) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    names = set(re.findall(rf"`\./{script} ([a-z][a-z-]*)", text))
    known = (ROOT / script).read_text(encoding="utf-8")
    assert names and [name for name in sorted(names) if name not in known] == []


def test_no_picture_is_left_over() -> None:
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    folders = (ROOT / "docs" / "img", ROOT / "studies" / "reports" / "img")
    pictures = [each for folder in folders for each in folder.iterdir() if each.is_file()]
    assert [each.name for each in pictures if each.name not in texts] == []


def test_there_are_pages_with_pictures() -> None:
    assert len(PAGES) > 30
    assert any("docs/img/" in page.read_text(encoding="utf-8") for page in PAGES)
