"""What the server reports reaches the user: progress, changed files, missing extras, its end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motionloom.studio.messages.answers import Answer, Stopped
from motionloom.studio.messages.wire import encode_answer
from motionloom.studio.server.server import Studio
from tests.studio.answers import decode_answer

pytestmark = pytest.mark.judge

WAIT_MS = 60_000
WINDOW = 30
"""Frames of the table's window."""
NOTE = "The clip is shorter than a window and was left out of the table. " * 12
FAR_M = 7.0


class Relay:
    """Between page and server: changes answers, holds them back, answers itself, adds messages."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.fakes: dict[str, Callable[[dict[str, Any]], Answer | None]] = {}
        """Requests that do not reach the server; None leaves them without an answer."""
        self.edits: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {}
        """Changes of answers, in place."""
        self._page: Any = None

    def connect(self, page_side: Any) -> None:
        """Begin, with the page's side of a socket."""
        self._page, server = page_side, page_side.connect_to_server()
        types: dict[int, str] = {}

        def from_page(message: str | bytes) -> None:
            request = json.loads(message)
            self.asked.append(request)
            types[request["id"]] = request["type"]
            if fake := self.fakes.get(request["type"]):
                if answer := fake(request):
                    page_side.send(encode_answer(request["id"], answer))
                return
            server.send(message)

        def from_server(message: str | bytes) -> None:
            if self.edits:
                head, arrays = (
                    (json.loads(message), {})
                    if isinstance(message, str)
                    else decode_answer(message)
                )
                edit = self.edits.get(types.get(head["id"], ""))
                if edit and head["type"] != "error":
                    arrays = {name: array.copy() for name, array in arrays.items()}
                    edit(head, arrays)
                    number = head.pop("id")
                    message = encode_answer(number, Answer(head, arrays))
            page_side.send(message)

        page_side.on_message(from_page)
        server.on_message(from_server)

    def push(self, **message: Any) -> None:
        """A message that the page did not ask for."""
        self._page.send(json.dumps(message))

    def last(self, kind: str) -> dict[str, Any]:
        """The page's last request of a kind."""
        return next(each for each in reversed(self.asked) if each["type"] == kind)


@pytest.fixture(scope="module")
def relay() -> Relay:
    return Relay()


@pytest.fixture(scope="module")
def screen(open_screen: Any, studio: Studio, relay: Relay) -> Iterator[Any]:
    """One page for all of this file, with the relay between it and the server."""

    def library(head: dict[str, Any], arrays: dict[str, Any]) -> None:
        head["command"] = "motionloom studio CLIPS --port 1234"

    def formats(head: dict[str, Any], arrays: dict[str, Any]) -> None:
        kinds = [
            {"kind": k, "available": True, "reason": "", "install": ""} for k in ("png", "gif")
        ]
        missing = {"reason": "MP4 needs av.", "install": "pip install motionloom[video]"}
        head["pictures"] = [*kinds, {"kind": "mp4", "available": False, **missing}]

    def far_away(head: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays["points"][..., [0, 2]] += FAR_M

    relay.edits |= {
        "library.list": library, "export.formats": formats, "library.preview": far_away,
    }  # fmt: skip
    with open_screen(studio) as screen:
        page = screen.page
        page.route_web_socket(re.compile("/socket$"), relay.connect)
        page.reload()
        page.wait_for_selector("html[data-studio=ready]")
        page.evaluate("studio.store.commit('', { tab: 'transition', a: 'walk', b: 'jog' })")
        screen.wait_for_result("transition")
        page.set_default_timeout(WAIT_MS)
        yield screen


@pytest.fixture
def page(screen: Any) -> Any:
    return screen.page


def test_a_body_far_from_its_root_has_a_thumbnail(screen: Any) -> None:
    drawn = (
        "(() => { const canvas = document.querySelector('.clip[data-clip=walk] canvas');"
        "const { data } = canvas.getContext('2d').getImageData(0, 0, 88, 88);"
        "return data.filter((value, k) => k % 4 === 3 && value > 0).length; })()"
    )
    screen.until(f"{drawn} > 200")


def test_mp4_is_disabled_with_the_line_that_installs_it(screen: Any, page: Any) -> None:
    option = page.locator("option[value='picture:mp4']")
    screen.until("!!document.querySelector(\"option[value='picture:mp4']\")")
    assert option.is_disabled()
    assert "pip install motionloom[video]" in option.text_content()
    assert page.locator("option[value='picture:gif']").is_enabled()


def test_a_long_request_shows_its_progress_and_is_cancelled(
    screen: Any, page: Any, relay: Relay
) -> None:
    relay.fakes["transition.make"] = lambda request: None
    relay.fakes["cancel"] = lambda request: Answer(Stopped(True))
    try:
        before = page.evaluate("studio.store.scene.results.transition.answer.result")
        page.evaluate("studio.store.commit('', { clean: false })")
        page.wait_for_selector(".task")  # after half a second, before any report
        number = relay.last("transition.make")["id"]
        report = {"type": "progress", "id": number, "stage": "Checking the feet"}
        relay.push(**report, part=0.4, left_s=90.0)
        page.wait_for_selector(".task:has-text('Checking the feet: about')")
        assert page.get_attribute(".task [role=progressbar]", "aria-valuenow") == "40"
        page.click(".task button")
        page.wait_for_selector(".task button:disabled")
        for _ in range(WAIT_MS // 20):
            if any(each["type"] == "cancel" for each in relay.asked):
                break
            page.wait_for_timeout(20)
        assert relay.last("cancel")["request"] == number
        relay.push(type="error", id=number, text="Cancelled.", code="cancelled", cancelled=True)
        page.wait_for_selector(".fault:has-text('Cancelled.')")
        page.wait_for_selector(".task", state="detached")
        assert page.evaluate("studio.store.scene.results.transition.answer.result") == before
    finally:
        relay.fakes.clear()
    page.click("text=Make it again")
    screen.until(f"studio.store.scene.results.transition.answer.result !== {before}")
    screen.until("studio.store.scene.faults.length === 0")


def test_new_changed_and_deleted_files_show_in_the_library(
    screen: Any, page: Any, relay: Relay
) -> None:
    items = page.evaluate("studio.store.scene.library.items")
    before = page.evaluate("studio.store.scene.results.transition.answer.result")
    new = {"id": "new.bvh", "name": "new", "group": "embedded"}

    def push(listed: list[dict[str, str]], *changed: str) -> None:
        relay.push(type="library.changed", id=0, name="clips", items=listed, changed=list(changed))

    push([*items, new], "walk")
    page.wait_for_selector(".clip[data-clip='new.bvh']", state="attached")
    screen.until(  # a changed file is read again
        f"(studio.store.scene.results.transition?.answer.result ?? {before}) !== {before}"
    )
    push([each for each in items if each["id"] != "jog"])
    page.wait_for_selector(".fault:has-text('jog was deleted')")
    assert page.locator(".clip[data-clip=jog]").count() == 0
    assert page.evaluate("studio.store.project.b") is None
    push(items)
    screen.until("studio.store.scene.faults.length === 0")
    page.evaluate("studio.store.commit('', { b: 'jog' })")
    screen.wait_for_result("transition")


def test_a_dropped_file_with_four_clips_adds_four(page: Any, relay: Relay) -> None:
    names = ("Idle", "Run", "TPose", "Walk")
    added = [
        {"id": f"added/Soldier · {n}", "name": f"Soldier · {n}", "group": "added"} for n in names
    ]
    listed = relay.edits["library.list"]

    def with_added(head: dict[str, Any], arrays: dict[str, Any]) -> None:
        listed(head, arrays)
        head["items"] += added

    relay.edits["library.list"] = with_added
    page.route("**/upload?*", lambda route: route.fulfill(json={**added[0], "items": added}))
    try:
        file = {"name": "Soldier.glb", "mimeType": "model/gltf-binary", "buffer": b"glTF"}
        page.set_input_files("[aria-label='clip files']", file)
        page.wait_for_selector(".clip:has-text('Soldier · Walk')", state="attached")
        assert page.locator(".clip:has-text('Soldier')").count() == len(names)
    finally:
        page.unroute("**/upload?*")
        relay.edits["library.list"] = listed


def facts() -> dict[str, Any]:
    """A table of two clips, one of them shorter than a window."""
    clips = [
        {"id": "walk.bvh", "clip": "walk", "frames": 90},
        {"id": "jog.bvh", "clip": "jog", "frames": WINDOW - 10},
    ]
    table = {
        "id": "t", "clips": clips, "fps": 30.0, "frames": 110, "length": WINDOW, "length_s": 1.0,
        "clusters": 2, "representatives": 2, "score": "cost", "labels": ["slow", "fast"],
        "goals": ["slow", "fast", "walk.bvh", "jog.bvh"], "bytes": 1, "build": "", "evaluate": "",
    }  # fmt: skip
    job = {
        "state": "built", "stage": "", "part": 1.0, "elapsed_s": 1.0, "left_s": None,
        "warnings": [NOTE, NOTE], "error": "",
    }  # fmt: skip
    return {"tables": ["t"], "table": table, "job": job}


def test_short_clips_and_long_notes_leave_the_table_usable(
    screen: Any, page: Any, relay: Relay
) -> None:
    costs = np.ones((2, 2), np.float32)
    places = {"places": [["walk.bvh", 0], ["walk.bvh", 40]], "score": "cost"}
    relay.fakes |= {
        "table.state": lambda request: Answer(facts()),
        "table.matrix": lambda request: Answer(places, {"costs": costs}),
        "stream.start": lambda request: None,
    }
    page.evaluate("studio.store.commit('', { tab: 'table', a: 'walk', b: 'jog' })")
    page.wait_for_selector("text=B has 0.67 s, less than the 1.00 s of this table")
    page.evaluate(
        "studio.store.commit('', { table: { ...studio.store.project.table, mode: 'live' } })"
    )
    page.wait_for_selector(".goal")
    for goal in page.locator(".goal").all():  # in sight, and nothing lies on top
        spot = goal.bounding_box()
        assert spot is not None
        on_top = page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y)?.closest('.goal')?.textContent",
            [spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2],
        )
        assert on_top == goal.text_content()
    assert page.locator(".goal", has_text="jog.bvh").is_disabled()  # shorter than a window
    assert page.locator(".goal", has_text="walk.bvh").is_enabled()
    assert page.is_visible("text=2 notes about the build")
    page.evaluate("studio.store.commit('', { a: 'jog' })")
    page.wait_for_selector("text=A has 0.67 s, less than")
    screen.until("[...document.querySelectorAll('.goal')].every((goal) => goal.disabled)")
    assert "playing" not in page.inner_text(".live-panel")  # nothing plays
    assert not any(each["type"] == "table.query" for each in relay.asked)
    page.evaluate("studio.store.commit('', { tab: 'transition', a: 'walk' })")


def test_a_page_survives_a_restart_of_its_server(
    browser: Any, served_studio: Any, tmp_path: Path
) -> None:
    project = tmp_path / "project.json"
    first = Studio(project=project)
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    try:
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        with served_studio(first):
            page.goto(first.address)
            page.wait_for_selector("html[data-studio=ready]")
            page.evaluate("studio.store.commit('', { tab: 'splice', a: 'wave', b: 'walk' })")
            page.wait_for_selector(".why-code code >> nth=0")
            number = page.evaluate("studio.store.scene.results.splice.answer.result")
            link = page.evaluate("location.href")
        page.wait_for_selector(".connection:has-text('The server is not running')")
        page.wait_for_selector(".connection:has-text('Start it again with motionloom studio')")
        page.wait_for_selector(".connection:has-text('Reconnecting in')")
        again = Studio(port=first.port, project=project)
        again.token = first.token  # kept with the project
        with served_studio(again):
            page.click("text=Try now")
            page.wait_for_selector(".connection", state="hidden")
            page.wait_for_selector(f".lanes:not([data-result='{number}']):not([data-result=''])")
            assert page.evaluate("studio.store.project.a") == "wave"
            assert page.locator(".fault").count() == 0
            page.goto("about:blank")
            page.goto(link)  # links keep working
            page.wait_for_selector("html[data-studio=ready]")
            assert page.evaluate("studio.store.project.tab") == "splice"
        assert errors == []
    finally:
        context.close()
