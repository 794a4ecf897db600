"""The page of a data set: self-contained, and no name of a file becomes markup."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.datasets.summary import common_folder
from motionloom.motion.corrupt import corrupt

NAME = "<b>&amp;'quote'</script>.bvh".replace("/", "_")
DRAWN = """() => { const c = document.querySelector("canvas"), data = c && c.getContext("2d")
    .getImageData(0, 0, c.width, c.height).data; return data && data.some(v => v > 0) }"""
"""Whether the first clip's poses are drawn."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    clips = folder / "clips"
    clips.mkdir()
    ml.save(corrupt(ml.synthetic.clip("walk", fps=30).motion, travel=1.4), clips / NAME)
    ml.save(ml.synthetic.clip("kick", fps=30).motion, clips / "kick.bvh")
    ml.check_dataset(clips, report=folder / "report", progress=False)
    return folder / "report" / "index.html"


def test_nothing_is_loaded_from_anywhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert re.findall(r"(?:src|href)=[\"']", text) == []
    data = json.loads(re.search(r'id="dataset-data">(.*?)</script>', text)[1])
    assert [clip["file"] for clip in data["clips"]] == [NAME, "kick.bvh"]
    assert all(clip["poses"] for clip in data["clips"])


def test_paths_are_shown_without_what_they_have_in_common() -> None:
    assert common_folder(["a/b/c.bvh", "a/b/d/e.bvh"]) == "a/b/"
    assert common_folder(["walk.bvh", "wave.bvh"]) == ""
    assert common_folder(["a/walk.bvh"]) == "a/"
    assert common_folder([]) == ""


@pytest.mark.judge
@pytest.mark.parametrize("width", [1280, 390])
def test_a_browser_sorts_and_filters_the_clips(page: Path, width: int) -> None:
    import shutil

    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium: install it to look at the page")
    with sync_api.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": width, "height": 800})
        faults: list[str] = []
        view.on("pageerror", lambda error: faults.append(str(error)))
        view.on("console", lambda message: faults.append(message.text))
        view.goto(page.as_uri())
        names = view.locator(".file")
        assert names.all_inner_texts() == [NAME, "kick.bvh"]
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        view.get_by_role("button", name="good 1").click()
        assert names.all_inner_texts() == ["kick.bvh"]
        view.get_by_role("button", name="good 1").click()
        view.get_by_role("button", name="slide 1").click()
        assert names.all_inner_texts() == [NAME]
        view.get_by_role("button", name="slide 1").click()
        view.get_by_label("sort by").select_option(label="name")
        assert names.all_inner_texts() == sorted([NAME, "kick.bvh"])
        # A column is named "file" too: it has a sort key that differs.
        heads = {head.inner_text().strip(" ↓↑\n"): head for head in view.locator("th").all()}
        marks = [heads[name].get_attribute("aria-sort") for name in ("clip", "file")]
        assert marks == ["ascending", "none"] or width < 900
        view.get_by_label("sort by").select_option(label="file")
        assert heads["file"].get_attribute("aria-sort") == "descending" or width < 900
        view.get_by_label("search").fill("KICK")
        assert names.all_inner_texts() == ["kick.bvh"]
        view.wait_for_function(DRAWN)  # clips are drawn once they are in view
        assert faults == []
        browser.close()
