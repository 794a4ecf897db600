"""Hands on the stage and the timeline, in a real browser: what is dragged is what is made."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motionloom.studio.server.server import Studio

pytestmark = pytest.mark.judge

MOST_CALLS = 60
GUTTER, RIGHT, RULER, STRIPS, LANE = 64, 10, 18, 30, 13
"""Of the timeline, pixels."""
ROUNDED_M = 1e-4
TWO_FRAMES = (
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
)
WARP = 6
"""Frames by which an end of the blend may be off: the clips' times are bent inside it."""


@pytest.fixture(scope="module")
def screen(open_screen: Any, studio: Studio) -> Iterator[Any]:
    """One page for all of this file, with a transition in it."""
    with open_screen(studio, "?debug") as screen:
        screen.page.evaluate("studio.store.commit('', { a: 'walk', b: 'jog' })")
        screen.wait_for_result("transition")
        screen.until("!!studio.store.scene.clips.walk")
        yield screen


@pytest.fixture
def page(screen: Any) -> Any:
    return screen.page


@pytest.fixture(autouse=True)
def afresh(screen: Any) -> None:
    """The transition as it is found: nothing set by hand."""
    screen.page.evaluate(
        "studio.store.commit('', { tab: 'transition', plants: {},"
        "transition: { ...studio.store.project.transition, at: null, length_s: 0.6 } })"
    )
    rest(screen)


def rest(screen: Any) -> None:
    """Until the result is made, and the timeline shows it."""
    screen.page.evaluate(TWO_FRAMES)
    screen.wait_for_result("transition")
    made = "String(studio.store.scene.results.transition.answer.result)"
    screen.until(f"document.querySelector('canvas.lanes').dataset.result === {made}")


def spot(page: Any, frame: float, y: float) -> tuple[float, float]:
    """Where a frame of the result lies on the page, ``y`` pixels down the timeline."""
    box = page.locator("canvas.lanes").bounding_box()
    fps, duration = page.evaluate(
        "[studio.store.scene.results.transition.motion.fps, studio.clock.duration]"
    )
    across = GUTTER + frame / fps / duration * (box["width"] - GUTTER - RIGHT)
    return box["x"] + across, box["y"] + y


def drag(screen: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    page = screen.page
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=3)
    page.mouse.up()
    rest(screen)


def detail(page: Any) -> dict[str, Any]:
    return dict(page.evaluate("studio.store.scene.results.transition.answer.detail"))


def test_the_bracket_is_dragged_and_the_result_follows(screen: Any, page: Any) -> None:
    before = detail(page)
    first, last = before["span"]
    middle = spot(page, (first + last) / 2, RULER + STRIPS / 2)
    to = spot(page, (first + last) / 2 + 12, RULER + STRIPS / 2)
    drag(screen, middle, to)
    after = detail(page)
    moved = after["at"][0] - before["at"][0]
    assert abs(moved - 12) <= 1
    assert after["at"][1] - before["at"][1] == moved
    assert abs(after["span"][0] - first - moved) <= WARP
    page.keyboard.press("Control+z")  # one drag is one step
    assert page.evaluate("studio.store.project.transition.at") is None


def test_an_end_of_the_bracket_makes_the_blend_longer(screen: Any, page: Any) -> None:
    first, last = detail(page)["span"]
    end, to = (spot(page, frame, RULER + STRIPS / 2) for frame in (last, last + 18))
    drag(screen, end, to)
    longer = page.evaluate("studio.store.project.transition.length_s")
    assert longer == pytest.approx((last + 18 - first) / 60, abs=0.03)
    again = detail(page)["span"]
    assert abs(again[0] - first) <= WARP
    assert abs(again[1] - (last + 18)) <= WARP


def test_an_edge_of_a_plant_is_dragged_and_the_result_follows(screen: Any, page: Any) -> None:
    prints = page.evaluate("studio.store.scene.results.transition.motion.prints")
    span = detail(page)["span"]
    # A plant of B, well behind the blend: the result takes it as it is set.
    mark = next(p for p in prints if p["kind"] == "left_toe" and p["first"] > span[1] + 20)
    y = RULER + STRIPS + LANE * 1.5
    drag(screen, spot(page, mark["last"] + 1, y), spot(page, mark["last"] - 5, y))
    spans = page.evaluate("studio.store.project.plants.jog.left_toe")
    found = page.evaluate(
        "studio.store.scene.results.transition.motion.prints"
        f".find(p => p.kind === 'left_toe' && Math.abs(p.first - {mark['first']}) < 3)"
    )
    assert spans
    assert abs(found["last"] - (mark["last"] - 6)) <= 1
    assert "set by hand" in page.inner_text("#why")
    page.click("text=use detected plants")
    rest(screen)
    assert page.evaluate("Object.keys(studio.store.project.plants).length") == 0


def test_a_plant_is_taken_away_and_another_put_down(screen: Any, page: Any) -> None:
    # The place is held: with other plants another one might be the best.
    page.evaluate(
        "studio.store.commit('', { transition: { ...studio.store.project.transition,"
        f"at: {json.dumps(detail(page)['at'])} }} }})"
    )
    rest(screen)
    span = detail(page)["span"]
    prints = page.evaluate("studio.store.scene.results.transition.motion.prints")
    mark = next(p for p in prints if p["kind"] == "right_heel" and p["first"] > span[1] + 20)
    count = sum(p["kind"] == "right_heel" for p in prints)
    where = spot(page, (mark["first"] + mark["last"]) / 2, RULER + STRIPS + LANE * 2.5)

    def heels() -> int:
        return int(
            page.evaluate(
                "studio.store.scene.results.transition.motion.prints"
                ".filter(p => p.kind === 'right_heel').length"
            )
        )

    page.mouse.dblclick(*where)
    rest(screen)
    assert heels() == count - 1
    page.mouse.dblclick(*where)
    rest(screen)
    assert heels() == count


def test_keys_move_the_bracket_and_run_the_clock(screen: Any, page: Any) -> None:
    before = detail(page)["at"]
    page.keyboard.press("]")
    rest(screen)
    assert detail(page)["at"] == [before[0] + 1, before[1] + 1]
    page.keyboard.press("Shift+}")
    rest(screen)
    assert page.evaluate("studio.store.project.transition.length_s") > 0.65
    page.evaluate("studio.clock.seek(1)")
    page.keyboard.press("j")
    screen.until("studio.clock.time < 1")  # back,
    page.keyboard.press("k")
    assert page.evaluate("studio.clock.playing") is False
    now = page.evaluate("studio.clock.time")
    page.keyboard.press("l")
    screen.until(f"studio.clock.time > {now}")  # and on
    page.keyboard.press("k")
    page.keyboard.press("Shift+?")
    assert "one frame back or forward" in page.inner_text(".help")
    page.keyboard.press("Escape")
    assert page.is_hidden(".help")


def test_every_layer_shows_and_the_stage_stays_light(screen: Any, page: Any) -> None:
    every = "{ prints: true, path: true, trails: true, balance: true, skin: true }"
    few = "{ prints: false, path: false, trails: false, balance: false, skin: false }"

    def draw(layers: str, overlaid: str) -> tuple[int, bytes]:
        page.evaluate(
            "studio.store.commit('', { view: { ...studio.store.project.view,"
            f"layers: {layers}, overlaid: {overlaid} }} }})"
        )
        page.evaluate("studio.clock.seek(0.75)")
        page.evaluate(TWO_FRAMES)
        calls = int(page.evaluate("studio.stage.figures.calls"))
        return calls, page.locator(".stage-canvas").screenshot()

    bare, without = draw(few, "false")
    full, with_all = draw(every, "false")
    assert bare < full <= MOST_CALLS
    assert without != with_all
    assert draw(every, "true")[0] <= MOST_CALLS
    screen.until("document.querySelector('.figures-line').textContent.includes('draw calls')")


def test_a_new_result_compiles_no_shader_again(screen: Any, page: Any) -> None:
    page.evaluate("window.programs = [...studio.stage.renderer.info.programs]")
    page.evaluate(
        "studio.store.commit('', { transition:"
        "{ ...studio.store.project.transition, length_s: 0.4 } })"
    )
    rest(screen)
    page.evaluate(TWO_FRAMES)  # the new bodies are drawn
    assert page.evaluate("programs.length") > 1
    assert page.evaluate(
        "programs.every((each) => studio.stage.renderer.info.programs.includes(each))"
    )


def test_a_project_goes_into_a_file_and_comes_back(screen: Any, page: Any, tmp_path: Path) -> None:
    page.evaluate(
        "studio.store.commit('', { transition:"
        "{ ...studio.store.project.transition, at: [60, 40], length_s: 0.5 } })"
    )
    with page.expect_download() as waiting:
        page.click("text=Save")
    file = tmp_path / "project.motionloom.json"
    waiting.value.save_as(file)
    page.keyboard.press("Control+z")
    assert page.evaluate("studio.store.project.transition.at") is None
    page.set_input_files("[aria-label='project file']", file)
    screen.until("studio.store.project.transition.length_s === 0.5")
    assert page.evaluate("studio.store.project.transition.at") == [60, 40]
    page.keyboard.press("Control+z")  # opening is a decision like any other
    assert page.evaluate("studio.store.project.transition.at") is None
    (tmp_path / "other.json").write_text("[1, 2]")
    page.set_input_files("[aria-label='project file']", tmp_path / "other.json")
    screen.until("!!studio.store.scene.faults.length")
    assert "must hold a project" in page.inner_text("#why")


def test_a_link_brings_the_state_back(screen: Any, page: Any, studio: Studio) -> None:
    page.evaluate(
        "studio.store.commit('', { tab: 'splice', splice:"
        "{ ...studio.store.project.splice, method: 'naive' } })"
    )
    screen.until("decodeURIComponent(location.hash).includes('naive')")
    link = page.evaluate("location.href")
    studio.project.path.unlink(missing_ok=True)
    other = page.context.new_page()
    other.goto(link)
    other.wait_for_selector("html[data-studio=ready]")
    state = other.evaluate("[studio.store.project.tab, studio.store.project.splice.method]")
    assert state == ["splice", "naive"]
    other.close()


def test_the_shared_page_plays_alone_with_the_same_points(page: Any, tmp_path: Path) -> None:
    with page.expect_download() as waiting:
        page.click("text=Share page")
    file = tmp_path / "shared.html"
    waiting.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="clips-1">(.*?)</script>', text, re.S)
    made = json.loads(data)["clips"][1]
    values = np.frombuffer(base64.b64decode(made["positions"]), "<f4")
    shown = page.evaluate("[...studio.store.scene.results.transition.motion.points]")
    np.testing.assert_allclose(values, shown, atol=ROUNDED_M)

    other = page.context.new_page()
    asked: list[str] = []
    other.on("request", lambda request: asked.append(request.url))
    other.goto(file.as_uri())
    other.wait_for_selector("html[data-player=ready]")
    assert asked == [file.as_uri()]  # nothing is loaded from anywhere
    assert other.inner_text(".pane-names").split() == ["walk", "result", "jog"]
    other.close()
