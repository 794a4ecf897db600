"""A real browser opens the page: it runs, draws a figure, says no error, obeys no hostile name."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import motionloom as ml
from motionloom.drawing.clipdata import pack_clip
from motionloom.drawing.page import player_page
from motionloom.drawing.report import Report

pytestmark = pytest.mark.judge

TIME_LIMIT_S = 120
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-prefers-reduced-motion",
    "--virtual-time-budget=3000",
    "--window-size=1000,800",
    "--enable-logging=stderr",
)
HOSTILE = "</script><img src=x onerror=\"document.documentElement.dataset.player='owned'\">"


def browse(chromium: Path, page: str, folder: Path) -> tuple[str, str]:
    """The page's document after it ran, and what the console said."""
    done = _run(chromium, page, folder, "--dump-dom")
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return done.stdout, console


def picture_of(chromium: Path, page: str, folder: Path) -> np.ndarray:
    """What the page looks like. Shape (H, W, 3)."""
    shot = folder / "shot.png"
    _run(chromium, page, folder, f"--screenshot={shot}")
    with Image.open(shot) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def _run(chromium: Path, page: str, folder: Path, action: str) -> subprocess.CompletedProcess[str]:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    return subprocess.run(
        [str(chromium), *OPTIONS, f"--user-data-dir={folder / 'profile'}", action, file.as_uri()],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=True,
    )


def is_green(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture, -1, 0)
    return (green > red + 60) & (green > blue + 20)


def test_the_player_starts_and_draws_a_person_with_planted_feet(chromium, tmp_path) -> None:
    walk = ml.synthetic.clip("walk")
    page = player_page(walk.motion, footplants=walk.footplants)
    document, console = browse(chromium, page, tmp_path)
    picture = picture_of(chromium, page, tmp_path)
    assert 'data-player="ready"' in document
    assert console == ""
    stage, lanes = picture[45:560], picture[640:]
    dark = stage.sum(axis=-1) < 3 * 110
    assert dark.sum() > 5000  # a figure of some size,
    rows, columns = np.argwhere(dark).T
    assert np.ptp(rows) > 250  # upright and tall,
    assert abs(columns.mean() - 500) < 120  # in the middle
    assert is_green(lanes).sum() > 2000


def test_hostile_names_stay_text(chromium, tmp_path: Path) -> None:
    motion = ml.synthetic.clip("stand", duration_s=1.0).motion.replace(name=HOSTILE)
    document, _ = browse(chromium, player_page([motion, motion]), tmp_path)
    assert 'data-player="ready"' in document
    assert "<img" not in document


def test_a_report_with_two_players_starts_both(chromium, tmp_path: Path) -> None:
    stand = ml.synthetic.clip("stand", duration_s=1.0)
    report = Report("two players")
    for _ in range(2):
        report.player([pack_clip(stand.motion, footplants=stand.footplants)])
    document, console = browse(chromium, report.html(), tmp_path)
    assert document.count('class="ml-player"') == 2
    assert console == ""


def test_a_broken_clip_is_told_on_the_page(chromium, tmp_path: Path) -> None:
    stand = ml.synthetic.clip("stand", duration_s=1.0)
    page = player_page(stand.motion).replace('"clips":[', '"clip":[', 1)
    document, _ = browse(chromium, page, tmp_path)
    assert 'data-player="error"' in document
    assert "The player could not start" in document


STEADY = "window.requestAnimationFrame = (f) => setTimeout(() => f(performance.now()), 16);"
"""Frames by the clock: a browser without a window makes real ones when it likes."""

PROBE = """
const stage = document.querySelector(".ml-stage");
const lanes = document.querySelector(".ml-lanes");
const buttons = [...document.querySelectorAll("button")];
const button = (text) => buttons.find((each) => each.textContent === text);
const told = {};
const rest = () => new Promise((done) => setTimeout(done, 80));
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
  told.start = frame();
  await press("ArrowRight"); await press("ArrowRight"); told.right = frame();
  await press("ArrowLeft"); told.left = frame();
  await press("End"); told.end = frame();
  await press("Home"); told.home = frame();
  await press(" "); await rest(); await rest(); await press(" "); told.played = frame();
  drag(lanes, [lanes.clientWidth / 2, 50], [lanes.clientWidth / 2, 50]);
  await rest(); told.scrubbed = frame();
  drag(lanes, [200, 5], [400, 5]);
  await press("Home"); told.rangeFirst = frame();
  await press("End"); told.rangeLast = frame();
  let before = pixels();
  drag(stage, [100, 100], [180, 120]);
  await rest(); told.orbited = pixels() !== before;
  before = pixels();
  stage.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, bubbles: true, cancelable: true }));
  await rest(); told.zoomed = pixels() !== before;
  button("top").click(); await rest(); told.top = named("top");
  before = pixels();
  button("◐").click(); await rest();
  told.theme = document.documentElement.dataset.theme; told.redrawn = pixels() !== before;
  const chooser = document.querySelector(".ml-clips");
  chooser.value = "1"; chooser.dispatchEvent(new Event("change")); await rest();
  told.second = document.querySelector(".ml-clock").textContent;
  button("all").click(); await rest(); told.all = named("all");
  document.body.dataset.told = JSON.stringify(told);
})();
"""


def test_hands_and_keys_do_what_the_page_says(chromium, tmp_path: Path) -> None:
    walk, stand = ml.synthetic.clip("walk"), ml.synthetic.clip("stand", duration_s=1.0)
    page = player_page([walk.motion, stand.motion])
    page = re.sub(r"<meta http-equiv=[^>]*>", "", page)  # the policy would refuse the probe
    page = page.replace("<style>", f"<script>{STEADY}</script><style>")
    page = page.replace("</body>", f"<script>{PROBE}</script></body>")
    document, console = browse(chromium, page, tmp_path)
    assert console == ""
    (text,) = re.findall(r'data-told="([^"]*)"', document)
    told = json.loads(html.unescape(text))
    last = walk.motion.n_frames - 1
    assert (told["start"], told["right"], told["left"]) == (0, 2, 1)
    assert (told["end"], told["home"]) == (last, 0)
    assert told["played"] > 0
    assert abs(told["scrubbed"] - last / 2) < 0.05 * last
    assert 0 < told["rangeFirst"] < told["rangeLast"] < last
    assert told["orbited"] and told["zoomed"] and told["redrawn"]
    assert (told["top"], told["all"]) == ("true", "true")
    assert told["theme"] == "dark"
    assert told["second"].endswith(f"of {stand.motion.n_frames}")
