"""Defects found with real clips in a browser: the map, the controls, links, messages, access."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from motionloom.studio.server.server import Studio

pytestmark = pytest.mark.judge

WAIT_MS = 60_000
ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "build/page/src/motionloom/studio/client/node_modules/axe-core/axe.min.js"
TABS = ("transition", "blend", "splice", "table")
MOST_STOPS = 20
"""Stops of the tab key from the top of the page to the stage."""
WIDTHS = (1024, 1100, 1181, 1280, 1920)


@pytest.fixture(scope="module")
def screen(open_screen: Any, studio: Studio) -> Iterator[Any]:
    """One page for all of this file, with a transition in it."""
    with open_screen(studio) as screen:
        screen.page.evaluate("studio.store.commit('', { a: 'walk', b: 'jog' })")
        screen.wait_for_result("transition")
        screen.page.set_default_timeout(WAIT_MS)
        yield screen


@pytest.fixture
def page(screen: Any) -> Any:
    """The page with nothing set by hand."""
    change_project(
        screen,
        "{ tab: 'transition', a: 'walk', b: 'jog', transition:"
        "{ at: null, length_s: 0.6, moving: false, timewarp: true },"
        "blend: { clips: [], weights: [], parameters: null, recorded: null } }",
        "transition",
    )
    return screen.page


def change_project(screen: Any, change: str, tab: str) -> None:
    """Change the project and wait for the result of the change."""
    screen.page.evaluate(f"studio.store.commit('', {change})")
    screen.wait_for_result(tab)


def box(page: Any, selector: str) -> dict[str, float]:
    """Where an element is."""
    found = page.locator(selector).bounding_box()
    assert found is not None
    return dict(found)


def test_the_map_under_a_mouse_that_rests_shows_the_numbers_of_the_new_clips(
    screen: Any, page: Any
) -> None:
    place = box(page, ".transition .grid")
    page.mouse.move(place["x"] + 0.4 * place["width"], place["y"] + 0.4 * place["height"])
    page.wait_for_selector(".grid-tip:not([hidden])")
    before = page.inner_text(".grid-tip")
    change_project(screen, "{ b: 'run' }", "transition")
    screen.until(f"document.querySelector('.grid-tip').textContent !== {json.dumps(before)}")
    page.evaluate("studio.store.commit('', { b: null })")
    screen.until("document.querySelector('.grid-tip').hidden")
    page.mouse.move(5, 5)


def test_an_error_of_a_result_is_shown_in_its_own_tab_only(screen: Any, page: Any) -> None:
    page.evaluate("studio.store.fail('result:splice', 'Too short.')")
    assert page.locator(".fault").count() == 0
    page.evaluate("studio.store.fail('result:transition', 'Too long.')")
    assert page.inner_text(".fault span") == "Too long."
    page.evaluate("studio.store.clear('result:')")
    assert page.locator(".fault").count() == 0


def test_a_live_blend_ends_with_another_tab_or_other_clips(screen: Any, page: Any) -> None:
    mix = "{ clips: ['run'], weights: [], parameters: null, recorded: null }"
    change_project(screen, f"{{ tab: 'blend', blend: {mix} }}", "blend")
    page.click("text=▶ live")
    screen.until("studio.store.scene.live !== null")
    page.click("[aria-label='share of walk']", position={"x": 4, "y": 6})
    steered = page.locator(".mix-row output").all_inner_texts()
    page.click(".tab[data-tab=transition]")
    screen.until(
        "studio.store.scene.live === null && studio.store.project.blend.weights.length === 3"
    )
    page.click(".tab[data-tab=blend]")
    screen.wait_for_result("blend")
    assert page.locator(".mix-row output").all_inner_texts() == steered
    page.click("text=▶ live")
    screen.until("studio.store.scene.live !== null")
    page.click("[title='remove run']")
    screen.until(
        "studio.store.scene.live === null && studio.store.scene.results.blend?.sources.length === 2"
    )
    screen.wait_for_result("blend")
    assert page.locator(".mix-row output").all_inner_texts() == ["50 %", "50 %"]


def test_the_heat_map_stays_under_the_mouse_and_a_click_takes_the_frames_below_it(
    screen: Any, page: Any
) -> None:
    before = box(page, ".transition .grid")
    (n, m), stride = page.evaluate(
        "(({ arrays, answer }) => [arrays.grid.shape, answer.detail.stride])"
        "(studio.store.scene.results.transition)"
    )
    wanted = (stride * int(0.3 * n), stride * int(0.7 * m))
    x = before["x"] + before["width"] * (wanted[0] / stride + 0.5) / n
    y = before["y"] + before["height"] * (1.0 - (wanted[1] / stride + 0.5) / m)
    page.mouse.move(x, y)
    page.wait_for_selector(".grid-tip:not([hidden])")
    assert box(page, ".transition .grid") == before
    page.mouse.click(x, y)
    screen.until("studio.store.project.transition.at !== null")
    taken = page.evaluate("studio.store.project.transition.at")
    for k, (side, cells) in enumerate((("width", n), ("height", m))):
        pixel = cells * stride / before[side]
        assert abs(taken[k] - wanted[k]) <= max(stride - 1, math.ceil(pixel))
    screen.wait_for_result("transition")


@pytest.mark.parametrize("place", ["null", "[40, 30]"])
def test_the_legend_spans_the_match(screen: Any, page: Any, place: str) -> None:
    change_project(screen, _at(place), "transition")
    low, high = (
        float(page.inner_text(f".grid-legend > span:nth-of-type({k})").removesuffix(" cm"))
        for k in (2, 3)
    )
    match = float(page.text_content(".grid-matched").split()[1])
    pose = page.evaluate(
        "studio.store.scene.results.transition.answer.why.rows"
        ".find(({ label }) => label.trim() === 'pose').value"
    )
    assert match == pytest.approx(pose, abs=0.06)
    assert low - 0.5 <= match <= high + 0.5


def test_a_place_set_by_hand_keeps_the_others_and_leads_back(screen: Any, page: Any) -> None:
    rows = page.locator(".transition .candidates tbody tr")
    found = rows.count()
    best = page.evaluate("studio.store.scene.results.transition.answer.detail.at")
    assert found > 1
    assert not page.is_visible("text=Back to the best")
    change_project(screen, _at("[40, 30]"), "transition")
    assert rows.count() >= found
    change_project(screen, _at("[41, 30]"), "transition")  # a second edit keeps them, too
    assert rows.count() >= found
    page.click("text=Back to the best")
    screen.until("studio.store.project.transition.at === null")
    screen.wait_for_result("transition")
    assert page.evaluate("studio.store.scene.results.transition.answer.detail.at") == best
    assert not page.is_visible("text=Back to the best")


def _at(place: str, length_s: float = 0.6) -> str:
    return (
        "{ transition: { ...studio.store.project.transition,"
        f" at: {place}, length_s: {length_s} }} }}"
    )


def test_the_length_slider_shows_the_length_that_was_used(screen: Any, page: Any) -> None:
    last = page.evaluate("studio.store.scene.results.transition.sources[0].frames") - 1
    change_project(screen, _at(f"[{last - 12}, 12]", 2.0), "transition")
    used = page.evaluate(
        "(({ motion, answer: { detail } }) => (detail.span[1] - detail.span[0]) / motion.fps)"
        "(studio.store.scene.results.transition)"
    )
    assert used < 1.9
    assert float(page.input_value("[aria-label='length of the blend']")) == pytest.approx(
        used, abs=0.026
    )
    assert page.inner_text(".length-value") == f"{used:.2f} s"
    assert "2.00 s requested" in page.inner_text(".shorter")


def test_pad_and_sliders_show_the_weights_of_the_result(screen: Any, page: Any) -> None:
    more = "{ ...studio.store.project.blend, clips: ['run'] }"
    change_project(screen, f"{{ tab: 'blend', blend: {more} }}", "blend")
    assert mix(page) == [33, 33, 33]
    rows = [[0.5, 0.3, 0.2]] * 20 + [[0.6, 0.0, 0.4]] * 20
    change_project(
        screen,
        f"{{ blend: {{ ...studio.store.project.blend, recorded: {json.dumps(rows)} }} }}",
        "blend",
    )
    used = page.evaluate("studio.store.scene.results.blend.answer.detail.weights")
    shares = [round(100 * weight) for weight in used]
    assert shares == [60, 0, 40]
    assert mix(page) == shares
    pad = [int(text.split()[-2]) for text in page.locator(".pad .pad-name").all_text_contents()]
    assert pad == shares


def mix(page: Any) -> list[int]:
    """Shares next to the sliders, in percent."""
    return [int(text.split()[0]) for text in page.locator(".mix-row output").all_inner_texts()]


def test_an_emptied_blend_leaves_an_empty_stage(screen: Any, page: Any) -> None:
    change_project(screen, "{ tab: 'blend' }", "blend")
    screen.until("document.querySelector('.stage-canvas').dataset.actors === '3'")
    for clip in ("walk", "jog"):
        page.click(f"button[title='remove {clip}']")
    screen.until("document.querySelector('.stage-canvas').dataset.actors === '0'")
    stage = box(page, "#stage")
    picture = screen.picture("emptied-blend")
    top, left = round(stage["y"]) + 40, round(stage["x"])
    canvas = picture[top : top + int(0.35 * stage["height"]), left : left + int(stage["width"])]
    colour = canvas.max(axis=-1) - canvas.min(axis=-1)
    assert int(colour.max()) < 40  # neither amber nor blue
    assert int(np.ptp(canvas.mean(axis=-1), axis=1).max()) < 40  # nor a dark body
    assert "Pick a clip" in page.inner_text("#stage")


def test_messages_close_and_go_with_their_cause(screen: Any, page: Any) -> None:
    page.evaluate("studio.store.commit('', { b: 'walk' })")  # the same clip twice is refused
    page.wait_for_selector(".fault")
    assert "two clips" in page.inner_text(".fault")
    page.click(".fault .close")
    assert page.locator(".fault").count() == 0
    page.evaluate("studio.store.fail('a', 'first'); studio.store.fail('b', 'second')")
    page.keyboard.press("Escape")
    assert page.locator(".fault").all_inner_texts() == ["first\n×"]
    page.keyboard.press("Escape")
    assert page.locator(".fault").count() == 0
    for clip, count in (("jog", 0), ("walk", 1), ("jog", 0)):
        page.evaluate(f"studio.store.commit('', {{ b: '{clip}' }})")
        screen.until(f"studio.store.scene.faults.length === {count}")
    assert page.locator(".fault").count() == 0  # the cause is gone


def test_undo_has_a_limit_and_drops_the_oldest_steps(page: Any) -> None:
    steps, left = page.evaluate(
        """() => {
            const { store } = studio;
            const view = store.project.view;
            for (let k = 0; k < 260; k++) {
                store.commit("", { view: { ...view, follow: k % 2 === 0 } });
            }
            let steps = 0;
            while (store.canUndo) { store.undo(); steps += 1; }
            let left = 0;
            while (store.canRedo) { store.redo(); left += 1; }
            store.commit("", { view });
            return [steps, left];
        }"""
    )
    assert (steps, left) == (200, 200)


def test_a_project_of_an_earlier_version_opens_in_its_tab(screen: Any, page: Any) -> None:
    old = {"room": "splice", "a": "walk", "b": "jog"}
    page.evaluate("(link) => { location.hash = link; }", quote(json.dumps(old)))
    screen.until("studio.store.project.tab === 'splice'")
    screen.wait_for_result("splice")
    assert page.locator(".fault").count() == 0


BROKEN = {
    "%": "This link could not be used: the part after # is cut or damaged",
    quote("[1, 2"): "This link could not be used: the part after # is cut or damaged",
    quote(
        json.dumps({"tab": "kitchen"})
    ): "Parts of this link could not be used: tab must be one of",
    quote(json.dumps({"blend": {"weights": "all"}})): "blend.weights must be",
    quote(json.dumps({"transition": {"at": [1]}, "view": 3})): "transition.at must be",
    quote(json.dumps({"a": "nobody", "splice": {"where": "tail"}})): "not in the library: nobody",
}


def test_a_broken_link_is_reported_and_the_page_works(screen: Any, page: Any) -> None:
    for link, words in BROKEN.items():
        page.evaluate("(link) => { location.hash = link; }", link)
        page.wait_for_selector(f'.fault:has-text("{words}")')
        page.click(".fault .close")
    page.evaluate("studio.store.commit('', { tab: 'transition', a: 'walk', b: 'jog' })")
    screen.wait_for_result("transition")


def test_a_broken_project_is_reported(page: Any, tmp_path: Path) -> None:
    for name, text, words in (
        ("cut", '{"version": 1, "tab"', "it must be JSON"),
        ("old", '{"version": 9}', "version must be 1, got 9"),
        ("odd", '{"version": 1, "table": {"mode": 7}, "clean": "yes"}', "table.mode must be"),
    ):
        (tmp_path / name).write_text(text)
        page.set_input_files("[aria-label='project file']", tmp_path / name)
        page.wait_for_selector(f'.fault:has-text("{words}")')
        page.click(".fault .close")


def test_few_tab_stops_lead_to_the_stage(screen: Any, page: Any) -> None:
    page.evaluate("document.activeElement.blur(); window.getSelection().empty()")
    page.mouse.click(640, 300)  # the stage itself; from there round to the top
    stops = page.evaluate(
        """[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')]
        .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility())
        .map((each) => each.className)"""
    )
    assert stops[0] == "skip"
    assert stops.index("stage-canvas") <= MOST_STOPS
    page.focus(".skip")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "stage-canvas"
    assert page.evaluate("location.hash") != "#stage"
    page.focus(".search")
    page.keyboard.press("ArrowDown")  # the list is walked with arrow keys
    first = page.evaluate("document.activeElement.dataset.clip")
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.dataset.clip")
    assert first and second and first != second
    page.keyboard.press("b")
    assert page.evaluate("studio.store.project.b") == second


def test_help_is_a_button_with_keys_and_a_tour(page: Any) -> None:
    page.click(".help-open")
    assert "play or pause" in page.inner_text(".help")
    page.click("text=Show me around")
    seen = []
    while page.locator(".tour").count():
        seen.append(page.inner_text(".tour h2"))
        page.click(".tour button:nth-of-type(2)")
    assert len(seen) == len(set(seen)) == 6
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    assert not page.is_visible(".help")


def test_nothing_overflows_from_1024_to_1920(page: Any) -> None:
    try:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            wide, rows = page.evaluate(
                """[document.documentElement.scrollWidth,
                [...document.querySelectorAll('.header button, .header select')]
                .filter((each) => each.checkVisibility())
                .map((each) => each.getBoundingClientRect())
                .map(({ left, right, top, bottom }) => [left, right, top, bottom])]"""
            )
            assert wide <= width
            assert all(top >= 0 and bottom <= 46 for _, _, top, bottom in rows), width
            for (_, right, *_), (left, *_) in pairwise(rows):
                assert right <= left + 0.5, width  # no two on top of one another
            assert rows[-1][1] <= width
    finally:
        page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(screen: Any, page: Any, theme: str) -> None:
    if not AXE.is_file():
        pytest.skip("the page's packages are not here: python hatch_build.py, on a fresh checkout")
    page.evaluate(AXE.read_text())
    # In the second theme only the colours differ.
    options = "{}" if theme == "light" else "{ runOnly: ['color-contrast'] }"
    page.evaluate(
        f"studio.store.commit('', {{ view: {{ ...studio.store.project.view, theme: '{theme}' }} }})"
    )
    for tab in TABS:
        page.evaluate(f"studio.store.commit('', {{ tab: '{tab}' }})")
        if tab == "table":
            page.wait_for_selector("text=Build the table")
        else:
            screen.wait_for_result(tab)
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        found = page.evaluate(
            f"axe.run(document, {options}).then(({{ violations, passes }}) => [passes.length,"
            "violations.map((each) => [each.id, each.nodes.map(({ html }) => html)])])"
        )
        assert found[0] > 0
        assert found[1] == [], tab
