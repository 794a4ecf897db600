"""The page with a live character, in a real browser and without a server: it moves and obeys."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import FormatError
from motionloom.studio import play_page as play_page_module
from motionloom.studio.play_page import play_page, web_files
from motionloom.tables.runtime_file import save_runtime

WAIT_S = 60.0
EXAMPLE = Path(__file__).parents[2] / "runtimes" / "web" / "example.html"
HOSTILE = "</script><img src=x onerror=\"document.documentElement.dataset.player='owned'\">"

WATCH = """(() => {
  const watched = window.seen;
  window.seen = [];
  if (watched) return;
  const names = (which) => [...document.querySelectorAll(which)].map(
    (each) => each.querySelector(".name").textContent);
  const look = () => {
    const { now, next, arrived } = play.character;
    const pressed = names(".goal[aria-pressed=true], .clip[aria-pressed=true]")[0] ?? "";
    const what = document.querySelector(".what").textContent;
    seen.push({ now, next, arrived, pressed, what, here: names(".here") });
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""
"""Keeps what the page shows at every drawn frame: a transition of half a second is soon over."""

DRIVEN = """(() => {
  let waiting = [];
  let now = 0;
  window.requestAnimationFrame = (draw) => waiting.push(draw);
  window.drawAfter = (milliseconds) => {
    now += milliseconds;
    const due = waiting;
    waiting = [];
    for (const draw of due) draw(now);
    return [play.character.steps, ...play.character.ground];
  };
})()"""
"""A display that draws when the test says so, however busy the machine is."""

SLOW = """(() => {
  window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 700);
})()"""
"""A display of less than two frames a second: a transition lasts half a second."""


class Opened:
    """A page from disk, its console, and what its character does."""

    def __init__(self, browser: Any, file: Path, first: str = "", **options: Any) -> None:
        self.context = browser.new_context(offline=True, **options)
        if first:
            self.context.add_init_script(first)
        self.context.set_default_timeout(1000 * WAIT_S)
        self.page, self.console = self.context.new_page(), []
        self.page.on(
            "console", lambda message: self.console.append(f"{message.type}: {message.text}")
        )
        self.page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-player]")
        self.state = self.page.get_attribute("html", "data-player")

    def ask(self, expression: str) -> Any:
        return json.loads(self.page.evaluate(f"JSON.stringify(({expression}) ?? null)"))

    def until(self, expression: str) -> Any:
        """Wait for something to be true; the page's policy forbids playwright's own way."""
        end = time.monotonic() + WAIT_S
        while not (found := self.ask(expression)):
            assert time.monotonic() < end, f"never true: {expression}"
            self.page.wait_for_timeout(20)
        return found

    def picture(self, name: str) -> None:
        if folder := os.environ.get("MOTIONLOOM_SHOTS"):
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"), timeout=1000 * WAIT_S)

    def faults(self) -> list[str]:
        """What of the console is ours: software rendering is slow, and reports it."""
        return [text for text in self.console if "GPU stall" not in text]


@pytest.fixture(scope="module")
def play_file(
    page_built: None,
    web_core: Path,
    small_table: ml.TransitionTable,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    file = tmp_path_factory.mktemp("play") / "play.html"
    file.write_text(play_page(small_table, title=HOSTILE), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def opened(browser: Any, play_file: Path) -> Iterator[Opened]:
    made = Opened(browser, play_file, viewport={"width": 1100, "height": 700})
    yield made
    made.context.close()


@pytest.mark.judge
def test_a_character_plays_at_the_tables_rate_and_moves(
    browser: Any, play_file: Path, opened: Opened
) -> None:
    assert opened.state == "ready", opened.console
    driven = Opened(browser, play_file, first=DRIVEN, viewport={"width": 400, "height": 300})
    before = driven.ask("drawAfter(0)")
    paces = (1000 / 60, 100.0, 1000 / 144, 400.0)  # of quick and slow displays, in turn
    for pace in 8 * paces:
        after = driven.ask(f"drawAfter({pace})")
    frames = 30.0 * 8 * sum(paces) / 1000  # 30 a second are the table's
    assert abs(after[0] - before[0] - frames) <= 1.0
    assert np.hypot(after[1] - before[1], after[2] - before[2]) > 0.05
    assert driven.faults() == []
    driven.context.close()
    opened.until("play.character.steps > 30")  # and by the browser's own clock
    opened.picture("play")
    assert opened.faults() == []


@pytest.mark.judge
@pytest.mark.parametrize("by", ["button", "key", "clip"])
def test_it_goes_where_it_is_sent_and_arrives(
    opened: Opened, small_table: ml.TransitionTable, by: str
) -> None:
    check_sent(opened, small_table, by)


@pytest.mark.judge
def test_a_slow_display_shows_a_transition_begin(
    browser: Any, play_file: Path, small_table: ml.TransitionTable
) -> None:
    slow = Opened(browser, play_file, first=SLOW, viewport={"width": 1100, "height": 700})
    for by in ("button", "key", "clip"):
        check_sent(slow, small_table, by)
    slow.context.close()


def check_sent(opened: Opened, small_table: ml.TransitionTable, by: str) -> None:
    """Send the character somewhere: it goes there, the page shows it, and it arrives."""
    opened.until("!play.character.next")
    opened.page.keyboard.press(" ")  # an order ends the pause
    while opened.ask("play.character.next"):  # already on its way to something else
        opened.page.keyboard.press(" ")
        opened.until("!play.character.next")
        opened.page.keyboard.press(" ")
    label = {"button": "fast", "key": "slow"}.get(by)
    opened.page.evaluate(WATCH)
    if by == "button":
        opened.page.click(".goal:has-text('fast')")
    elif by == "key":
        opened.page.keyboard.press("2")  # labels are sorted: fast, slow
    else:
        opened.page.click(".clip:has-text('jog')")
    name = label or "jog"
    frames, goals = small_table.frames, []  # it may go on in another clip before it gets there
    if label:
        rows = small_table.collection.label_rows(label)
        goals = [":".join(map(str, frames.place_of(int(row)))) for row in rows]
    arrives = f"{goals}.includes(`${{each.next.clip}}:${{each.next.frame}}`)"
    is_there = arrives if label else "each.next.clip === 'jog'"
    on_the_way = opened.until(
        f"seen.find((each) => each.next && each.pressed === '{name}' && {is_there})"
    )
    assert on_the_way["what"] == f"→ {name}"
    after = opened.until(
        f"seen.slice(seen.findIndex((each) => each.pressed === '{name}')).find("
        "(each) => !each.pressed)"
    )
    there = on_the_way["next"]
    assert after["arrived"] == {"clip": there["clip"], "frame": there["frame"]}
    if after["now"]:
        assert after["now"]["clip"] in after["here"]
    assert opened.faults() == []


@pytest.mark.judge
def test_space_pauses_and_arrows_turn_the_camera(opened: Opened) -> None:
    opened.page.keyboard.press(" ")
    steps, yaw = opened.ask("[play.character.steps, play.stage.eye.yaw]")
    opened.page.keyboard.press("ArrowLeft")
    opened.page.wait_for_timeout(200)
    assert opened.ask("play.character.steps") == steps
    assert opened.ask("play.stage.eye.yaw") != yaw
    opened.page.keyboard.press(" ")
    opened.until(f"play.character.steps > {steps}")


@pytest.mark.judge
def test_names_stay_text(opened: Opened) -> None:
    assert opened.page.query_selector("img") is None
    assert opened.page.inner_text(".title") == HOSTILE


@pytest.mark.judge
def test_a_finger_steers_on_a_small_screen(browser: Any, play_file: Path) -> None:
    phone = Opened(browser, play_file, viewport={"width": 390, "height": 800}, has_touch=True)
    wide = phone.ask("document.documentElement.scrollWidth")
    phone.page.tap(".goal:has-text('fast')")
    phone.until("play.character.next")
    phone.picture("play_phone")
    assert wide <= 390
    assert phone.faults() == []
    phone.context.close()


@pytest.mark.judge
def test_a_plain_page_plays_as_well_and_a_damaged_one_reports_it(
    browser: Any, web_core: Path, small_table: ml.TransitionTable, tmp_path: Path
) -> None:
    file, text = tmp_path / "plain.html", play_page(small_table, plain=True)
    file.write_text(text, encoding="utf-8")
    plain = Opened(browser, file)
    assert plain.state == "ready", plain.console
    plain.context.close()
    at = text.index('id="play-file">') + 20_000
    file.write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :])
    damaged = Opened(browser, file)
    assert damaged.state == "error"
    assert "The file is damaged" in damaged.page.inner_text("body")
    damaged.context.close()


@pytest.mark.judge
def test_the_example_of_the_docs_draws_a_character(
    browser: Any, page_built: None, web_core: Path, small_table: ml.TransitionTable, tmp_path: Path
) -> None:
    save_runtime(small_table, tmp_path / "lib.mlr")
    shutil.copy(EXAMPLE, tmp_path / "index.html")
    for name, data in web_files().items():
        (tmp_path / name).write_bytes(data)
    page, console = browser.new_page(), []
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))
    with served(tmp_path) as address:
        page.goto(address)
        page.get_by_role("button", name="slow").click(timeout=1000 * WAIT_S)
        page.wait_for_timeout(500)
        ink = page.evaluate(
            "(() => { const c = document.querySelector('canvas'); return c.getContext('2d')"
            ".getImageData(0, 0, c.width, c.height).data.filter((v, k) => k % 4 === 3 && v).length;"
            " })()"
        )
    page.close()
    assert ink > 1000
    assert console == []


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder while it is served."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and prints nothing."""

    def log_message(self, *_: object) -> None:
        pass

    def send_error(self, code: int, *_: object) -> None:
        self.send_response(204)  # a browser asks for an icon
        self.end_headers()


def test_without_the_core_for_browsers_the_way_to_get_it_is_named(
    small_table: ml.TransitionTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_page_module, "WASM", "nothing.wasm")
    with pytest.raises(FormatError, match="ziglang"):
        play_page(small_table)
