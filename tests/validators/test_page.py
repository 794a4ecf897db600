"""A real browser opens the page: it runs, draws a figure, logs no error, obeys no hostile name."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import motionloom as ml
from motionloom.drawing.page import Report, pack_clip, player_page

pytestmark = pytest.mark.judge

WAIT_MS = 600_000
"""The cores may be busy meanwhile."""
HOSTILE = "</script><img src=x onerror=\"document.documentElement.dataset.player='owned'\">"

Browse = Callable[..., tuple[Any, list[str]]]


@pytest.fixture
def browse(browser: Any, tmp_path: Path) -> Any:
    """Opens a page's text and waits for the state of its player; returns page and console."""
    context = browser.new_context(
        viewport={"width": 1000, "height": 800}, reduced_motion="reduce", offline=True
    )

    def opened(text: str, *, becomes: str = "ready") -> tuple[Any, list[str]]:
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        page, console = context.new_page(), []
        page.on("console", lambda message: console.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: console.append(f"error: {error}"))
        page.goto(file.as_uri())
        page.wait_for_selector(f"html[data-player={becomes}]", timeout=WAIT_MS)
        return page, console

    yield opened
    context.close()


def faults(console: list[str]) -> list[str]:
    """Messages of the console that are ours: software rendering is slow, and reports it."""
    return [text for text in console if "GPU stall" not in text]


def picture_of(page: Any) -> np.ndarray:
    """What the page looks like. Shape (H, W, 3)."""
    with Image.open(io.BytesIO(page.screenshot(timeout=WAIT_MS))) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def is_green(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (green > red + 60) & (green > blue + 20)


def test_the_player_starts_and_draws_a_person_with_planted_feet(browse: Browse) -> None:
    walk = ml.synthetic.clip("walk")
    page, console = browse(player_page(walk.motion, footplants=walk.footplants))
    picture = picture_of(page)
    assert faults(console) == []
    stage, lanes = picture[45:560], picture[640:]
    dark = stage.sum(axis=-1) < 3 * 110
    assert dark.sum() > 5000  # a figure of some size,
    rows, columns = np.argwhere(dark).T
    assert np.ptp(rows) > 250  # upright and tall,
    assert abs(columns.mean() - 500) < 120  # in the middle
    assert is_green(lanes).sum() > 2000


def test_hostile_names_stay_text(browse: Browse) -> None:
    motion = ml.synthetic.clip("stand", duration_s=1.0).motion.replace(name=HOSTILE)
    page, _ = browse(player_page([motion, motion]))
    assert page.query_selector("img") is None
    assert page.get_attribute("html", "data-player") == "ready"


def test_a_report_with_two_players_starts_both(browse: Browse) -> None:
    stand = ml.synthetic.clip("stand", duration_s=1.0)
    report = Report("two players")
    for _ in range(2):
        report.player([pack_clip(stand.motion, footplants=stand.footplants)])
    page, console = browse(report.html())
    assert len(page.query_selector_all(".ml-player")) == 2
    assert faults(console) == []


def test_a_broken_clip_is_reported_on_the_page(browse: Browse) -> None:
    stand = ml.synthetic.clip("stand", duration_s=1.0)
    text = player_page(stand.motion).replace('"clips":[', '"clip":[', 1)
    page, _ = browse(text, becomes="error")
    assert "The player could not start" in page.inner_text("body")


PROBE = """
const stage = document.querySelector(".ml-stage");
const lanes = document.querySelector(".ml-lanes");
const buttons = [...document.querySelectorAll("button")];
const button = (text) => buttons.find((each) => each.textContent === text);
const seen = {};
const rest = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const soon = (is) => new Promise((done) => {
  const look = () => (is() ? done() : setTimeout(look, 20));
  look();
});
const press = async (key) => {
  stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  await rest();
};
const point = (on, kind, x, y) => {
  const box = on.getBoundingClientRect();
  on.dispatchEvent(new PointerEvent(kind, {
    pointerId: 1, clientX: box.left + x, clientY: box.top + y, buttons: 1, bubbles: true }));
};
const drag = (on, from, to) => {
  point(on, "pointerdown", ...from);
  point(on, "pointermove", ...to);
  point(on, "pointerup", ...to);
};
const named = (text) => button(text).getAttribute("aria-pressed");
const frame = () => Number(/frame (\\d+)/.exec(document.querySelector(".ml-clock").textContent)[1]);
const pixels = () => stage.toDataURL();
HTMLElement.prototype.setPointerCapture = () => {}; // no real pointer is there to be captured
(async () => {
  await rest();
  seen.start = frame();
  await press("ArrowRight"); await press("ArrowRight"); seen.right = frame();
  await press("ArrowLeft"); seen.left = frame();
  await press("End"); seen.end = frame();
  await press("Home"); seen.home = frame();
  await press(" "); await soon(() => frame() > 0); await press(" "); seen.played = frame();
  drag(lanes, [lanes.clientWidth / 2, 50], [lanes.clientWidth / 2, 50]);
  await rest(); seen.scrubbed = frame();
  drag(lanes, [200, 5], [400, 5]);
  await press("Home"); seen.rangeFirst = frame();
  await press("End"); seen.rangeLast = frame();
  let before = pixels();
  drag(stage, [100, 100], [180, 120]);
  await rest(); seen.orbited = pixels() !== before;
  before = pixels();
  stage.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, bubbles: true, cancelable: true }));
  await rest(); seen.zoomed = pixels() !== before;
  button("top").click(); await rest(); seen.top = named("top");
  before = pixels();
  button("◐").click(); await rest();
  seen.theme = document.documentElement.dataset.theme; seen.redrawn = pixels() !== before;
  const chooser = document.querySelector(".ml-clips");
  chooser.value = "1"; chooser.dispatchEvent(new Event("change")); await rest();
  seen.second = document.querySelector(".ml-clock").textContent;
  button("all").click(); await rest(); seen.all = named("all");
  document.body.dataset.seen = JSON.stringify(seen);
})();
"""


def test_hands_and_keys_do_what_the_page_describes(browse: Browse) -> None:
    walk, stand = ml.synthetic.clip("walk"), ml.synthetic.clip("stand", duration_s=1.0)
    text = player_page([walk.motion, stand.motion])
    text = re.sub(r"<meta http-equiv=[^>]*>", "", text)  # the policy would refuse the probe
    page, console = browse(text.replace("</body>", f"<script>{PROBE}</script></body>"))
    page.wait_for_selector("body[data-seen]", timeout=WAIT_MS)
    assert faults(console) == []
    seen = json.loads(page.get_attribute("body", "data-seen"))
    last = walk.motion.n_frames - 1
    assert (seen["start"], seen["right"], seen["left"]) == (0, 2, 1)
    assert (seen["end"], seen["home"]) == (last, 0)
    assert seen["played"] > 0
    assert abs(seen["scrubbed"] - last / 2) < 0.05 * last
    assert 0 < seen["rangeFirst"] < seen["rangeLast"] < last
    assert seen["orbited"] and seen["zoomed"] and seen["redrawn"]
    assert (seen["top"], seen["all"]) == ("true", "true")
    assert seen["theme"] == "dark"
    assert seen["second"].endswith(f"of {stand.motion.n_frames}")
