"""Hands on the stage and the timeline, in a real browser: what is dragged is what is made."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motionloom.studio.server import Studio

pytestmark = pytest.mark.judge

WAIT_MS = 120_000
FIRST_S = 400.0
"""For the first result: after an installation its kernels are compiled."""
MOST_CALLS = 60
GUTTER, RIGHT, RULER, STRIPS, LANE = 64, 10, 18, 30, 13
"""Of the timeline, pixels."""
ROUNDED_M = 1e-4
WARP = 6
"""Frames by which an end of the blend may lie elsewhere: the clips' times are bent inside it."""


def until(page: Any, expression: str, limit_s: float = WAIT_MS / 1000) -> None:
    """Wait for something to be true; the page's policy forbids playwright's own way."""
    end = time.monotonic() + limit_s
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(150)


@pytest.fixture(scope="module")
def page(browser: Any, studio: Studio) -> Iterator[Any]:
    """One page for all of this file, with a transition in it; its console must stay silent."""
    studio.project.path.unlink(missing_ok=True)
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    made = context.new_page()
    said: list[str] = []
    made.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: said.append(f"error: {error}"))
    made.goto(studio.address + "?debug")
    made.wait_for_selector("html[data-studio=ready]", timeout=WAIT_MS)
    made.evaluate("studio.clock.playing = false")
    made.evaluate("studio.store.decide('', { a: 'walk', b: 'jog' })")
    until(made, "!!studio.store.scene.made.transition && !!studio.store.scene.clips.walk", FIRST_S)
    yield made
    context.close()
    faults = [text for text in said if text.startswith(("error", "warning"))]
    assert [text for text in faults if "GPU stall" not in text] == []


@pytest.fixture(autouse=True)
def afresh(page: Any) -> None:
    """The transition as it is found: nothing set by hand."""
    page.evaluate(
        "studio.store.decide('', { room: 'transition', plants: {},"
        "transition: { ...studio.store.project.transition, at: null, length_s: 0.6 } })"
    )
    rest(page)


def rest(page: Any) -> None:
    """Until the result is made, and the timeline shows it."""
    page.wait_for_timeout(100)
    until(page, "studio.store.scene.busy === null && !!studio.store.scene.made.transition")
    made = "String(studio.store.scene.made.transition.answer.result)"
    until(page, f"document.querySelector('canvas.lanes').dataset.result === {made}")


def spot(page: Any, frame: float, y: float) -> tuple[float, float]:
    """Where a frame of the result lies on the page, ``y`` pixels down the timeline."""
    box = page.locator("canvas.lanes").bounding_box()
    fps, duration = page.evaluate(
        "[studio.store.scene.made.transition.motion.fps, studio.clock.duration]"
    )
    across = GUTTER + frame / fps / duration * (box["width"] - GUTTER - RIGHT)
    return box["x"] + across, box["y"] + y


def drag(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=3)
    page.mouse.up()
    rest(page)


def detail(page: Any) -> dict[str, Any]:
    return dict(page.evaluate("studio.store.scene.made.transition.answer.detail"))


def test_the_bracket_is_dragged_and_the_result_follows(page: Any) -> None:
    before = detail(page)
    first, last = before["span"]
    middle = spot(page, (first + last) / 2, RULER + STRIPS / 2)
    to = spot(page, (first + last) / 2 + 12, RULER + STRIPS / 2)
    drag(page, middle, to)
    after = detail(page)
    moved = after["at"][0] - before["at"][0]
    assert abs(moved - 12) <= 1
    assert after["at"][1] - before["at"][1] == moved
    assert abs(after["span"][0] - first - moved) <= WARP
    page.keyboard.press("Control+z")  # one drag is one step
    assert page.evaluate("studio.store.project.transition.at") is None


def test_an_end_of_the_bracket_makes_the_blend_longer(page: Any) -> None:
    first, last = detail(page)["span"]
    end, to = (spot(page, frame, RULER + STRIPS / 2) for frame in (last, last + 18))
    drag(page, end, to)
    longer = page.evaluate("studio.store.project.transition.length_s")
    assert longer == pytest.approx((last + 18 - first) / 60, abs=0.03)
    again = detail(page)["span"]
    assert abs(again[0] - first) <= WARP
    assert abs(again[1] - (last + 18)) <= WARP


def test_an_edge_of_a_plant_is_dragged_and_the_result_follows(page: Any) -> None:
    prints = page.evaluate("studio.store.scene.made.transition.motion.prints")
    span = detail(page)["span"]
    # A plant of B, well behind the blend: the result takes it as it is set.
    mark = next(p for p in prints if p["kind"] == "left_toe" and p["first"] > span[1] + 20)
    y = RULER + STRIPS + LANE * 1.5
    drag(page, spot(page, mark["last"] + 1, y), spot(page, mark["last"] - 5, y))
    spans = page.evaluate("studio.store.project.plants.jog.left_toe")
    found = page.evaluate(
        "studio.store.scene.made.transition.motion.prints"
        f".find(p => p.kind === 'left_toe' && Math.abs(p.first - {mark['first']}) < 3)"
    )
    assert spans
    assert abs(found["last"] - (mark["last"] - 6)) <= 1
    assert "set by hand" in page.inner_text("#why")
    page.click("text=plants as found")
    rest(page)
    assert page.evaluate("Object.keys(studio.store.project.plants).length") == 0


def test_a_plant_is_taken_away_and_another_put_down(page: Any) -> None:
    # The place is held: with other plants another one might be the best.
    page.evaluate(
        "studio.store.decide('', { transition: { ...studio.store.project.transition,"
        f"at: {json.dumps(detail(page)['at'])} }} }})"
    )
    rest(page)
    span = detail(page)["span"]
    prints = page.evaluate("studio.store.scene.made.transition.motion.prints")
    mark = next(p for p in prints if p["kind"] == "right_heel" and p["first"] > span[1] + 20)
    count = sum(p["kind"] == "right_heel" for p in prints)
    where = spot(page, (mark["first"] + mark["last"]) / 2, RULER + STRIPS + LANE * 2.5)

    def heels() -> int:
        return int(
            page.evaluate(
                "studio.store.scene.made.transition.motion.prints"
                ".filter(p => p.kind === 'right_heel').length"
            )
        )

    page.mouse.dblclick(*where)
    rest(page)
    assert heels() == count - 1
    page.mouse.dblclick(*where)
    rest(page)
    assert heels() == count


def test_keys_move_the_bracket_and_run_the_clock(page: Any) -> None:
    before = detail(page)["at"]
    page.keyboard.press("]")
    rest(page)
    assert detail(page)["at"] == [before[0] + 1, before[1] + 1]
    page.keyboard.press("Shift+}")
    rest(page)
    assert page.evaluate("studio.store.project.transition.length_s") > 0.65
    page.evaluate("studio.clock.seek(1)")
    page.keyboard.press("j")
    until(page, "studio.clock.time < 1")  # back,
    page.keyboard.press("k")
    assert page.evaluate("studio.clock.playing") is False
    now = page.evaluate("studio.clock.time")
    page.keyboard.press("l")
    until(page, f"studio.clock.time > {now}")  # and on
    page.keyboard.press("k")
    page.keyboard.press("Shift+?")
    assert "one frame earlier or later" in page.inner_text(".help")
    page.keyboard.press("Escape")
    assert page.is_hidden(".help")


def test_every_layer_shows_and_the_stage_stays_light(page: Any) -> None:
    every = "{ prints: true, path: true, trails: true, balance: true, skin: true }"
    few = "{ prints: false, path: false, trails: false, balance: false, skin: false }"

    def draw(layers: str, overlaid: str) -> tuple[int, bytes]:
        page.evaluate(
            "studio.store.decide('', { view: { ...studio.store.project.view,"
            f"layers: {layers}, overlaid: {overlaid} }} }})"
        )
        page.evaluate("studio.clock.seek(0.75)")
        page.wait_for_timeout(1200)
        return int(page.evaluate("studio.stage.figures.calls")), page.locator(
            ".stage-canvas"
        ).screenshot()

    bare, without = draw(few, "false")
    full, with_all = draw(every, "false")
    assert bare < full <= MOST_CALLS
    assert without != with_all
    assert draw(every, "true")[0] <= MOST_CALLS
    assert "draw calls" in page.inner_text(".figures-line")


def test_a_project_goes_into_a_file_and_comes_back(page: Any, tmp_path: Path) -> None:
    page.evaluate(
        "studio.store.decide('', { transition:"
        "{ ...studio.store.project.transition, at: [60, 40], length_s: 0.5 } })"
    )
    with page.expect_download(timeout=WAIT_MS) as waiting:
        page.click("text=Save")
    file = tmp_path / "project.motionloom.json"
    waiting.value.save_as(file)
    page.keyboard.press("Control+z")
    assert page.evaluate("studio.store.project.transition.at") is None
    page.set_input_files("input[type=file]", file)
    until(page, "studio.store.project.transition.length_s === 0.5")
    assert page.evaluate("studio.store.project.transition.at") == [60, 40]
    page.keyboard.press("Control+z")  # opening is a decision like any other
    assert page.evaluate("studio.store.project.transition.at") is None
    (tmp_path / "other.json").write_text("[1, 2]")
    page.set_input_files("input[type=file]", tmp_path / "other.json")
    until(page, "!!studio.store.scene.fault")
    assert "must be a project" in page.inner_text("#why")


def test_a_link_brings_the_state_back(page: Any, studio: Studio) -> None:
    page.evaluate(
        "studio.store.decide('', { room: 'splice', splice:"
        "{ ...studio.store.project.splice, method: 'naive' } })"
    )
    until(page, "decodeURIComponent(location.hash).includes('naive')")
    link = page.evaluate("location.href")
    studio.project.path.unlink(missing_ok=True)
    other = page.context.new_page()
    other.goto(link)
    other.wait_for_selector("html[data-studio=ready]", timeout=WAIT_MS)
    told = other.evaluate("[studio.store.project.room, studio.store.project.splice.method]")
    assert told == ["splice", "naive"]
    other.close()


def test_the_shared_page_plays_alone_with_the_same_points(page: Any, tmp_path: Path) -> None:
    with page.expect_download(timeout=WAIT_MS) as waiting:
        page.click("text=Share page")
    file = tmp_path / "shared.html"
    waiting.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="clips-1">(.*?)</script>', text, re.S)
    made = json.loads(data)["clips"][1]
    values = np.frombuffer(base64.b64decode(made["positions"]), "<f4")
    shown = page.evaluate("[...studio.store.scene.made.transition.motion.points]")
    np.testing.assert_allclose(values, shown, atol=ROUNDED_M)

    other = page.context.new_page()
    asked: list[str] = []
    other.on("request", lambda request: asked.append(request.url))
    other.goto(file.as_uri())
    other.wait_for_selector("html[data-player=ready]", timeout=WAIT_MS)
    assert asked == [file.as_uri()]  # nothing is loaded from anywhere
    assert other.inner_text(".pane-names").split() == ["walk", "result", "jog"]
    other.close()
