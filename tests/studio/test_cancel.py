"""Long requests: they report their progress, and end soon after they are cancelled."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

import motionloom as ml
from motionloom import _progress
from motionloom.studio.clips.library import Library
from motionloom.studio.messages.answers import Answer, Done
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.results.exports import Exports
from motionloom.studio.server import conversation
from motionloom.studio.server.project import Project
from motionloom.studio.server.server import Studio
from motionloom.studio.server.session import Session
from motionloom.studio.server.work import Work
from tests.studio.answers import decode_answer

WAIT_S = 60.0


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place, library = tmp_path_factory.mktemp("cancel"), Library()
    with closing(Exports()) as exports:
        yield Session(
            library, exports, Project(place / "project.json"), Tables(library, place / "tables")
        )


@pytest.fixture(scope="module")
def result(session: Session) -> int:
    return int(ask(session, "transition.make", a="walk", b="run")["result"])


class StopAt(Work):
    """Work that is cancelled when it comes to a stage."""

    def __init__(self, stage: str) -> None:
        super().__init__(3)
        self.stage = stage
        self.after: list[str] = []

    def __call__(self, stage: str, part: float | None) -> None:
        if self.cancelled:
            self.after.append(stage)
        if stage.startswith(self.stage):
            self.cancel()
        super().__call__(stage, part)


def ask(session: Session, kind: str, work: Work | None = None, /, **body: Any) -> dict[str, Any]:
    answer = session.answer(json.dumps({"type": kind, "id": 3, **body}), work)
    return json.loads(answer) if isinstance(answer, str) else decode_answer(answer)[0]


@pytest.mark.parametrize(
    ("kind", "body", "stage"),
    [
        ("transition.make", {"a": "walk", "b": "jog"}, "trying places"),
        ("transition.make", {"a": "walk", "b": "jog"}, "holding the feet"),
        ("transition.make", {"a": "sneak", "b": "run"}, "comparing"),
        ("blend.make", {"clips": ["walk", "jog"], "weights": [0.5, 0.5]}, "comparing clips"),
        ("blend.make", {"clips": ["walk", "jog"], "weights": [0.5, 0.5]}, "measuring"),
        ("splice.make", {"upper": "wave", "lower": "walk"}, "splicing"),
        ("splice.make", {"upper": "wave", "lower": "walk"}, "checking the splice"),
        ("render.make", {"kind": "gif"}, "drawing the film"),
        ("render.make", {"kind": "gif"}, "choosing colours"),
        ("render.make", {"kind": "mp4"}, "drawing the film"),
        ("render.make", {"kind": "png"}, "drawing poses"),
        ("page.make", {}, "packing clips"),
        ("export.make", {"what": "walk", "format": "bvh"}, "writing the file"),
        ("clip.open", {"clip": "tiptoe"}, "reading"),
        ("library.list", {}, "working"),
    ],
)
def test_a_cancelled_request_takes_no_further_step(
    session: Session, result: int, kind: str, body: dict[str, Any], stage: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("motionloom.drawing.film.GIF_FPS", 1.0)
    if kind in ("render.make", "page.make"):
        body = {**body, "result": result}
        if body.get("kind") == "mp4":
            pytest.importorskip("imageio_ffmpeg", reason="MP4 needs the video extra")
    work = StopAt(stage)
    head = ask(session, kind, work, **body)
    assert work.cancelled, "it never came to that stage"
    assert (head["type"], head["code"], head["cancelled"]) == ("error", "cancelled", True)
    assert work.after == []
    assert ask(session, "library.list")["type"] == "library"
    if kind in ("transition.make", "blend.make", "splice.make"):
        assert ask(session, kind, **body)["type"] == "result"  # nothing is half-made


def test_progress_has_words_a_part_and_the_time_left() -> None:
    work = Work(9)
    work("drawing", 0.25)
    work._stage_begun -= 3.0
    head = json.loads(work.message())
    assert (head["type"], head["id"], head["stage"], head["part"]) == (
        "progress",
        9,
        "drawing",
        0.25,
    )
    assert head["left_s"] == pytest.approx(9.0, rel=0.1)
    work("writing", None)
    assert json.loads(work.message())["left_s"] is None


@pytest.fixture
def slow_film(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Films that draw for a minute, or until the event is set; it is set when they end."""
    ended = threading.Event()

    def save_film(motion: ml.Motion, path: Path, **options: Any) -> None:
        try:
            for n in range(1200):
                _progress.report_step("drawing the film", n, 1200)
                time.sleep(0.05)
            path.write_bytes(b"GIF89a")
        finally:
            ended.set()

    monkeypatch.setattr("motionloom.drawing.film.save_film", save_film)
    return ended


def next_message(socket: Any, number: int, kind: str) -> dict[str, Any]:
    """The next message of a kind for a request."""
    while True:
        message = socket.recv(timeout=WAIT_S)
        head = json.loads(message) if isinstance(message, str) else decode_answer(message)[0]
        if head["id"] == number and head["type"] == kind:
            return head


def answers_to(socket: Any, numbers: set[int]) -> dict[int, dict[str, Any]]:
    """The answers to these requests, in the order in which they come."""
    answers: dict[int, dict[str, Any]] = {}
    while numbers - set(answers):
        message = socket.recv(timeout=WAIT_S)
        head = json.loads(message) if isinstance(message, str) else decode_answer(message)[0]
        if head["type"] not in ("progress", "library.changed"):
            answers[head["id"]] = head
    return answers


def test_a_page_cancels_its_film_and_goes_on(studio: Studio, slow_film: threading.Event) -> None:
    with page_making_a_film(studio) as socket:
        socket.send(json.dumps({"type": "clip.open", "id": 3, "clip": "walk"}))
        progress = next_message(socket, 2, "progress")
        assert progress["stage"] == "drawing the film"
        assert 0.0 <= progress["part"] < 1.0
        socket.send(json.dumps({"type": "cancel", "id": 4, "request": 3}))  # waits for its turn
        socket.send(json.dumps({"type": "cancel", "id": 5, "request": 2}))
        socket.send(json.dumps({"type": "cancel", "id": 6, "request": 77}))
        answers = answers_to(socket, {2, 3, 4, 5, 6})
        assert [answers[n]["stopped"] for n in (4, 5, 6)] == [True, True, False]
        assert answers[2]["cancelled"] is True
        assert answers[3]["cancelled"] is True
        assert slow_film.is_set()
        socket.send(json.dumps({"type": "library.list", "id": 7}))
        assert next_message(socket, 7, "library")["items"]


@contextmanager
def page_making_a_film(studio: Studio) -> Iterator[ClientConnection]:
    """A page's socket whose request 2 is a film under way."""
    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    with connect(address, origin=f"http://127.0.0.1:{studio.port}", max_size=None) as socket:
        socket.send(json.dumps({"type": "transition.make", "id": 1, "a": "walk", "b": "jog"}))
        result = next_message(socket, 1, "result")["result"]
        socket.send(json.dumps({"type": "render.make", "id": 2, "result": result, "kind": "gif"}))
        yield socket


def test_a_full_queue_refuses_and_still_reads_a_cancel(
    studio: Studio, slow_film: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "MOST_WAITING", 4)
    with page_making_a_film(studio) as socket:
        for number in (3, 4, 5, 6, 7):
            socket.send(json.dumps({"type": "library.list", "id": number}))
        answers = answers_to(socket, {6, 7})
        for number in (6, 7):
            assert answers[number]["code"] == "refused"
            assert "Too many requests wait (4)" in answers[number]["text"]
        assert not slow_film.is_set()
        socket.send(json.dumps({"type": "cancel", "id": 8, "request": 4}))
        answers = answers_to(socket, {4, 8})  # while the film goes on
        assert answers[8]["stopped"] is True
        assert answers[4]["cancelled"] is True
        assert not slow_film.is_set()
        socket.send(json.dumps({"type": "library.list", "id": 9}))  # there is a place for it now
        socket.send(json.dumps({"type": "cancel", "id": 10, "request": 2}))
        answers = answers_to(socket, {2, 3, 5, 9, 10})
        assert answers[2]["cancelled"] is True
        assert [answers[n]["type"] for n in (3, 5, 9)] == ["library"] * 3


def test_long_requests_that_wait_are_limited_by_their_size(
    studio: Studio, slow_film: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "MOST_WAITING_BYTES", 3000)
    with page_making_a_film(studio) as socket:
        for number in (3, 4):
            socket.send(json.dumps({"type": "clip.open", "id": number, "clip": "x" * 1600}))
        assert "Too many requests wait (2)" in answers_to(socket, {4})[4]["text"]
        socket.send(json.dumps({"type": "cancel", "id": 5, "request": 2}))
        assert answers_to(socket, {2, 3})[3]["code"] == "refused"  # no such clip


def test_too_many_previews_are_refused_and_a_cancel_is_read(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(conversation, "MOST_PREVIEWS", 3)

    def held(self: Session, request: Any) -> Any:
        for _ in range(1200):
            _progress.report_step("reading")
            if release.wait(0.05):
                break
        return Answer(Done())

    monkeypatch.setattr(Session, "_preview", held)
    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    with connect(address, origin=f"http://127.0.0.1:{studio.port}", max_size=None) as socket:
        for number in (1, 2, 3, 4):
            socket.send(json.dumps({"type": "library.preview", "id": number, "clip": "walk"}))
        assert "Too many previews wait (3)" in answers_to(socket, {4})[4]["text"]
        socket.send(json.dumps({"type": "cancel", "id": 5, "request": 1}))
        answers = answers_to(socket, {1, 5})
        assert answers[5]["stopped"] is True
        assert answers[1]["cancelled"] is True
        release.set()
        answers = answers_to(socket, {2, 3})
        assert [answers[n]["type"] for n in (2, 3)] == ["done"] * 2


def test_work_ends_with_the_page_that_waits_for_it(
    studio: Studio, slow_film: threading.Event
) -> None:
    with page_making_a_film(studio) as socket:
        next_message(socket, 2, "progress")
    assert slow_film.wait(30.0)
