"""The site builds without a network and without a warning, and loads nothing from outside.

One test builds the site and asks everything: a build takes some fifteen seconds of a processor.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import motionloom as ml

pytest.importorskip("sphinx", reason="the site is built with the extra `docs`")

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=\"(?:https?:)?//")
LINK = re.compile(r'(?:href|src)="([^"#:][^":]*|#[^"]*)"')
LARGEST_MB = 40


@pytest.mark.slow
def test_the_site_builds_is_complete_and_loads_nothing_from_outside(tmp_path: Path) -> None:
    from scripts.build_docs import build

    site = tmp_path / "site"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Sphinx's own modules; its messages are errors
        assert build(site, gallery=False) == 0
    texts = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert [page.name for page, text in texts.items() if LOADED.search(text)] == []
    assert missing_pages(site) == []
    assert missing_names(texts) == []
    assert broken_links(texts) == []
    assert players(texts[site / "gallery.html"]) <= {page.name for page in texts}
    strips = {strip.stem for strip in (ROOT / "studies/reports/img").glob("showcase_*.png")}
    showcases = texts[site / "reference/generated/reports/showcases.html"]
    played = re.findall(r'src="\.\./\.\./\.\./players/([^"]+)\.html"', showcases)
    assert sorted(played) == sorted(strips)
    assert sum(each.stat().st_size for each in site.rglob("*.*")) < LARGEST_MB * 1e6


@pytest.mark.slow
def test_the_gallery_has_a_player_for_each_motion(tmp_path: Path) -> None:
    from scripts.gallery import PAGES, write_gallery

    write_gallery(tmp_path)
    texts = {name: (tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in PAGES}
    assert all("<script" in text and not LOADED.search(text) for text in texts.values())


def missing_pages(site: Path) -> list[str]:
    """Pages of the documentation, and reports, that the site lacks."""
    docs = ROOT / "docs"
    pages = [page.relative_to(docs) for page in docs.rglob("*.md") if "film" not in page.parts]
    return [str(page) for page in pages if not (site / page.with_suffix(".html")).exists()]


def missing_names(texts: dict[Path, str]) -> list[str]:
    """Public names and commands that the reference lacks."""
    reference = "".join(text for page, text in texts.items() if page.parent.name == "generated")
    names = [name for name in ml.__all__ if not name.startswith("_") and name != "synthetic"]
    names = [name for name in names if f'id="motionloom.{name}"' not in reference]
    return names + [each for each in ("motionloom table build",) if each not in reference]


def broken_links(texts: dict[Path, str]) -> list[tuple[str, str]]:
    """Links to files or anchors that do not exist, with their page."""
    broken = []
    for page, text in texts.items():
        links = LINK.findall(text) if page.parent.name != "players" else []
        for link in links:
            target, _, anchor = link.partition("#")
            file = (page.parent / target.split("?")[0]).resolve() if target else page
            lost = anchor and f'id="{anchor}"' not in texts.get(file, f'id="{anchor}"')
            if not file.exists() or lost:
                broken.append((page.name, link))
    return broken


def players(gallery: str) -> set[str]:
    """Files of the four motions that the gallery plays."""
    names = re.findall(r'src="players/([^"]+)"', gallery)
    assert len(names) == 4
    return set(names)
