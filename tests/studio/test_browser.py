"""A real browser does the job with nothing but what is on screen."""

from __future__ import annotations

import io
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import motionloom as ml
from motionloom.studio.server import Studio

pytestmark = pytest.mark.judge

WAIT_MS = 90_000
MOST_CALLS = 60
BVH_TEXT_M = 1e-4
BUILD_S = 400.0
"""A first build of a table compiles."""


@pytest.fixture
def page(browser: Any, studio: Studio, tmp_path: Path) -> Iterator[Any]:
    """A fresh page of the studio; whatever its console says is a failure."""
    studio.project.path.unlink(missing_ok=True)
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    made = context.new_page()
    said: list[str] = []
    made.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: said.append(f"error: {error}"))
    made.goto(studio.address)
    made.wait_for_selector("html[data-studio=ready]", timeout=WAIT_MS)
    yield made
    context.close()
    faults = [text for text in said if text.startswith(("error", "warning"))]
    # Software rendering reads pixels back slowly and says so; that is the machine's, not ours.
    assert [text for text in faults if "GPU stall" not in text] == []


def until(page: Any, expression: str, limit_s: float = WAIT_MS / 1000) -> None:
    """Wait for something to be true; the page's policy forbids playwright's own way."""
    end = time.monotonic() + limit_s
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(100)


def keep(page: Any, name: str) -> np.ndarray:
    """The page as pixels (H, W, 3); also a file where MOTIONLOOM_SHOTS names a folder."""
    data = page.screenshot(timeout=WAIT_MS)
    if folder := os.environ.get("MOTIONLOOM_SHOTS"):
        (Path(folder) / f"{name}.png").write_bytes(data)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_a_newcomer_makes_a_transition_and_exports_it(page: Any, tmp_path: Path) -> None:
    page.keyboard.press("Space")
    assert "Pick a clip" in page.inner_text("#stage")
    page.click('.clip:has-text("walk")')
    assert "second clip" in page.inner_text("#stage") or page.query_selector("canvas[data-actors]")
    page.click('.clip:has-text("jog")')
    page.wait_for_selector(".figures", timeout=WAIT_MS)
    until(page, "document.querySelector('.stage-canvas').dataset.actors === '3'")

    words = page.inner_text("#why")
    for part in (
        "match",
        "seam",
        "feet slide",
        "balance",
        "motionloom transition",
        "ml.transition",
    ):
        assert part in words

    page.keyboard.press("Space")
    begun = page.evaluate("studio.clock.time")
    until(page, f"studio.clock.time !== {begun}")  # it plays
    page.keyboard.press("Space")
    page.evaluate("studio.clock.seek(0.7)")
    page.wait_for_timeout(400)
    assert page.evaluate("studio.stage.figures.calls") <= MOST_CALLS
    picture = keep(page, "transition-light")
    stage = picture[47:370, 238:974]
    red, green, blue = np.moveaxis(stage, -1, 0)
    amber, blueish = (red > blue + 80) & (red > green + 30), (blue > red + 60) & (blue > green + 40)
    third = stage.shape[1] // 3
    assert amber[:, :third].sum() > 1500  # A stands left,
    assert blueish[:, 2 * third :].sum() > 1500  # B stands right,
    assert ((stage.sum(axis=-1) < 330) & ~blueish)[
        :, third : 2 * third
    ].sum() > 1500  # result between
    planted = (green > red + 60) & (green > blue + 20)
    assert planted.sum() > 100

    with page.expect_download(timeout=WAIT_MS) as waiting:
        page.click("text=Export")
    waiting.value.save_as(tmp_path / "made.bvh")
    made = ml.load(tmp_path / "made.bvh")
    shown = json.loads(
        page.evaluate(
            "(() => { const m = studio.store.scene.made.transition.motion;"
            "const p = 3 * m.looks.root, s = 3 * m.looks.points;"
            "return JSON.stringify([...Array(m.frames).keys()].map("
            "f => [...m.points.subarray(f * s + p, f * s + p + 3)])); })()"
        )
    )
    np.testing.assert_allclose(made.root_positions, shown, atol=BVH_TEXT_M)


def test_decisions_are_undone_one_by_one_and_come_back_after_a_visit(
    page: Any, studio: Studio
) -> None:
    page.keyboard.press("Space")  # software rendering is slow; a stage at rest costs nothing
    page.click('.clip:has-text("walk")')
    page.click('.clip:has-text("run")')
    page.wait_for_selector(".candidates tbody tr", timeout=WAIT_MS)
    page.click(".candidates tbody tr:nth-child(2)")
    until(page, "studio.store.project.transition.at !== null")
    until(page, "studio.store.scene.busy === null")
    assert "--at" in page.inner_text("#why")
    page.keyboard.press("Control+z")
    assert page.evaluate("studio.store.project.transition.at") is None
    page.keyboard.press("Control+Shift+z")
    assert page.evaluate("studio.store.project.transition.at") is not None
    until(page, "studio.store.scene.busy === null")
    end = time.monotonic() + 20
    while not studio.project.path.is_file() and time.monotonic() < end:
        page.wait_for_timeout(200)
    page.reload()
    page.wait_for_selector("html[data-studio=ready]", timeout=WAIT_MS)
    until(page, "studio.store.project.b === 'run' && studio.store.project.transition.at !== null")


def test_dark_overlaid_and_every_room_draw(page: Any) -> None:
    page.keyboard.press("Space")
    page.click('.clip:has-text("walk")')
    page.click('.clip:has-text("jog")')
    page.wait_for_selector(".figures", timeout=WAIT_MS)
    page.click("text=overlay")
    page.click("button[title='light or dark']")
    page.wait_for_timeout(500)
    dark = keep(page, "transition-dark")
    assert dark[5:40, 300:700].mean() < 80
    for room in ("blend", "splice"):
        page.click(f"[data-room={room}]")
        until(page, f"!!studio.store.scene.made.{room}")
        page.wait_for_timeout(400)
        keep(page, f"{room}-dark")
        assert f"motionloom {room}" in page.inner_text("#why")


def test_hostile_names_stay_text(browser: Any, studio: Studio) -> None:
    name = "<img src=x onerror=\"document.title='owned'\">"
    studio.library.add(name, ml.synthetic.clip("stand", duration_s=0.5).motion.replace(name=name))
    studio.project.path.unlink(missing_ok=True)
    page = browser.new_page()
    page.goto(studio.address)
    page.wait_for_selector("html[data-studio=ready]", timeout=WAIT_MS)
    page.fill(".search", "onerror")
    page.click(".clip:not([hidden])")
    until(page, "document.querySelector('.stage-canvas').dataset.actors === '1'")
    assert page.title() == "motionloom studio"
    assert page.query_selector("img") is None
    assert name in page.inner_text("#library")
    page.close()


def test_a_newcomer_builds_a_table_makes_a_transition_with_it_and_exports_it(
    browser: Any, table_clips: Path, tmp_path: Path
) -> None:
    studio = Studio(table_clips, project=tmp_path / "project.json")
    serving = threading.Thread(target=studio.run, daemon=True)
    serving.start()
    page = browser.new_page(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    page.goto(studio.address)
    page.wait_for_selector("html[data-studio=ready]", timeout=WAIT_MS)
    page.keyboard.press("Space")
    page.click("[data-room=table]")
    page.wait_for_selector("text=Build the table")
    page.fill("[aria-label='kinds of motion']", "8")
    page.fill("[aria-label='seconds']", "0.5")
    page.click("text=Build the table")
    page.wait_for_selector("[role=progressbar]", timeout=WAIT_MS)
    until(page, "document.querySelectorAll('.room-panel.table .frame-said').length === 2", BUILD_S)
    page.wait_for_selector(".room-panel.table .grid", timeout=1000 * BUILD_S)
    page.click('.clip:has-text("walk")')
    page.click('.clip:has-text("run")')
    until(page, "!!studio.store.scene.made.table", BUILD_S)
    assert "naturalness" in page.inner_text("#why")
    assert "motionloom table synthesize" in page.inner_text("#why")
    box = page.query_selector(".room-panel.table .grid").bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.7 * box["height"])
    until(page, "studio.store.project.table.from !== null && studio.store.scene.busy === null")
    keep(page, "table-light")
    with page.expect_download(timeout=WAIT_MS) as waiting:
        page.click("text=Export")
    waiting.value.save_as(tmp_path / "made.bvh")
    made = ml.load(tmp_path / "made.bvh")
    assert made.n_frames == page.evaluate("studio.store.scene.made.table.motion.frames")
    page.click(".room-panel.table button:has-text('Live')")
    until(page, "!!studio.store.scene.live")
    first = page.evaluate("studio.store.scene.live.points[0]")
    page.keyboard.press("1")  # goes to the first label, not to the first room
    until(page, f"studio.store.scene.live.points[0] !== {first}")
    assert page.evaluate("studio.store.project.room") == "table"
    page.click(".room-panel.table button:has-text('Label')")
    page.fill(".rater", "ada")
    page.keyboard.press("Enter")
    until(page, "studio.store.scene.made.table?.answer.detail.judging?.number === 1")
    page.keyboard.press("n")
    until(page, "studio.store.scene.made.table?.answer.detail.judging?.number === 2")
    assert "ada" in studio.tables.current().verdicts.read_text()
    page.close()
    studio.stop()
    serving.join(20)
