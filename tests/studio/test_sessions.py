"""Sessions: what they number is theirs alone, and nothing that is asked ends them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

import motionloom as ml
from motionloom.studio.clips.library import Library
from motionloom.studio.clips.matches import Matches
from motionloom.studio.messages.messages import TransitionMake
from motionloom.studio.panels import blend_panel
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.panels.transition_panel import make_transition
from motionloom.studio.results import result
from motionloom.studio.results.exports import STORED_FILES, Exports
from motionloom.studio.results.result import StoredResults
from motionloom.studio.server.project import Project
from motionloom.studio.server.server import Studio
from motionloom.studio.server.session import Session
from tests.studio.answers import decode_answer


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], Session]]:
    """Opens sessions of one server."""
    library, project = Library(), Project(tmp_path / "project.json")
    tables = Tables(library, tmp_path / "tables")
    with closing(Exports()) as exports:
        yield lambda: Session(library, exports, project, tables)


def answer_to(session: Session, kind: str, /, **body: Any) -> dict[str, Any]:
    answer = session.answer(json.dumps({"type": kind, "id": 5, **body}))
    head = json.loads(answer) if isinstance(answer, str) else decode_answer(answer)[0]
    assert head["id"] == 5
    return head


@contextmanager
def socket_to(studio: Studio) -> Iterator[Any]:
    address = f"ws://127.0.0.1:{studio.port}/{studio.token}/socket"
    with connect(address, origin=f"http://127.0.0.1:{studio.port}", max_size=None) as socket:
        yield socket


def test_a_later_session_never_gives_a_number_or_a_key_again(opened) -> None:
    first = answer_to(opened(), "transition.make", a="walk", b="run")
    keys = [source["key"] for source in first["sources"]]
    session = opened()  # what the page has after its socket was closed and opened again
    later = answer_to(session, "transition.make", a="jog", b="walk", have=keys)
    assert later["result"] != first["result"]
    assert not {source["key"] for source in later["sources"]} & set(keys)
    assert all(source["shown"] is not None for source in later["sources"])
    gone = answer_to(session, "export.make", what=str(first["result"]), format="bvh")
    assert gone["type"] == "error"
    assert "no longer stored" in gone["text"]


def test_keys_of_a_table_are_not_given_again_either(table_studio: Studio, receive) -> None:
    keys, lives = [], []
    for _ in range(2):
        with socket_to(table_studio) as socket:
            wish = {"source": ["walk", 20], "target": ["jog", 50]}
            socket.send(json.dumps({"type": "table.query", "id": 1, **wish}))
            head, _ = decode_answer(receive(socket))
            keys += [source["key"] for source in head["sources"]]
            socket.send(json.dumps({"type": "stream.start", "id": 2, "source": ["walk", 0]}))
            lives.append(json.loads(receive(socket))["live"])
    assert len(set(keys)) == 4
    assert len(set(lives)) == 2


ABSURD = [
    ("transition.make", {"a": "walk", "b": "run", "length_s": 1e308}),
    ("transition.make", {"a": "walk", "b": "run", "length_s": -1.0}),
    ("transition.make", {"a": "walk", "b": "run", "at": [10**30, 0]}),
    ("transition.make", {"a": "walk", "b": "run", "plants": {"walk": {"left": [[0, 10**19]]}}}),
    ("blend.make", {"clips": ["walk", "jog"], "weights": [1e308, 1e308]}),
    ("blend.make", {"clips": ["walk", "jog"], "parameters": {"speed": -1e300}}),
    ("control.step", {"live": 10**40, "frames": 10**40}),
    ("render.make", {"result": -(10**25)}),
    ("export.make", {"what": "9" * 5000, "format": "bvh"}),
    ("export.make", {"what": "9" * 3999, "format": "bvh"}),
    ("table.build", {"clusters": 10**30}),
    ("table.build", {"length_s": 1e308}),
    ("table.query", {"source": ["walk", 10**30], "target": ["run", 3]}),
    ("table.query", {"source": ["walk", 0], "target": ["run", 3], "rescore": 10**30}),
    ("table.query", {"source": ["walk", 0], "target": ["run", 3], "variation": -(10**30)}),
    ("stream.start", {"source": ["walk", 2**62]}),
    ("label.save", {"transition": f"walk:{'9' * 5000}>run:3", "natural": True, "rater": "a"}),
    ("label.save", {"transition": f"walk:{'9' * 900}>run:3", "natural": True, "rater": "a"}),
]


@pytest.mark.parametrize(("kind", "body"), ABSURD)
def test_absurd_numbers_are_refused_before_anything_is_done_with_them(
    table_studio: Studio, caplog: pytest.LogCaptureFixture, kind: str, body: dict[str, Any]
) -> None:
    head = answer_to(table_studio._services.session(), kind, **body)
    assert head["type"] == "error"
    assert "went wrong" not in head["text"]  # foreseen, not caught at the last moment
    assert caplog.records == []


def test_an_unexpected_error_is_reported_and_logged(
    opened, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = opened()

    def broken(self: Library) -> None:
        raise ZeroDivisionError("in the middle")

    monkeypatch.setattr(Library, "items", broken)
    head = answer_to(session, "library.list")
    assert head["type"] == "error"
    assert "in the middle" in head["text"]
    assert "in the middle" in caplog.text
    monkeypatch.undo()
    assert answer_to(session, "library.list")["type"] == "library"


def test_a_project_that_cannot_be_stored_is_reported(opened, tmp_path: Path) -> None:
    session = opened()
    (tmp_path / "file").write_text("no folder")
    session.project.path = tmp_path / "file" / "below" / "project.json"
    head = answer_to(session, "project.save", project={"a": 1})
    assert head["type"] == "error"
    assert "folder cannot be created" in head["text"]


@pytest.mark.parametrize("message", ["{}", "", "[" * 200_000, '{"id": "\\ud800"}'])
def test_a_message_that_is_no_request_does_not_end_the_socket(
    studio: Studio, message: str, receive
) -> None:
    with socket_to(studio) as socket:
        socket.send(message)
        assert json.loads(receive(socket))["type"] == "error"
        socket.send(json.dumps({"type": "library.list", "id": 2}))
        assert json.loads(receive(socket))["type"] == "library"


def test_files_of_many_threads_are_stored_and_counted() -> None:
    with closing(Exports()) as exports:
        faults: list[BaseException] = []
        page = exports.page()

        def keep() -> None:
            try:
                for _ in range(STORED_FILES):
                    page.store("text", "a.csv")
            except BaseException as error:
                faults.append(error)

        threads = [threading.Thread(target=keep) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        assert len(list(Path(exports._folder.name).iterdir())) == STORED_FILES


def test_a_live_blend_ties_its_body_to_a_few_frames_only(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    tied = blend_panel.bind_points

    def watched(motion: ml.Motion, body: ml.BodyMap) -> Any:
        seen.append(motion.n_frames)
        return tied(motion, body)

    monkeypatch.setattr(blend_panel, "bind_points", watched)
    monkeypatch.setattr(blend_panel, "BOUND_FRAMES", 30)
    assert answer_to(opened(), "control.start", clips=["walk", "jog"])["type"] == "control"
    assert set(seen) == {30}


def test_one_page_does_not_push_out_the_exports_and_results_of_another(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = opened(), opened()
    kept = answer_to(first, "export.make", what="stand", format="bvh")["url"].removeprefix(
        "download/"
    )
    for _ in range(STORED_FILES + 3):
        other = answer_to(second, "export.make", what="stand", format="bvh")["url"]
    exports = first.exports._all
    assert exports.find(kept) is not None
    assert len(second.exports._keys) == STORED_FILES
    second.close()
    assert exports.find(other.removeprefix("download/")) is not None  # may still be fetched
    assert exports.find(kept) is not None


def test_results_have_a_limit_per_page_and_one_for_all_pages(
    opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result, "MOST_OF_PAGE", 2)
    monkeypatch.setattr(result, "MOST_OF_ALL", 3)
    matches = Matches(Library())
    made = make_transition(matches, TransitionMake(id=0, a="walk", b="jog", at=(60, 60)))
    results = StoredResults()
    one, two = results.page(), results.page()
    numbers = [one.add(made) for _ in range(3)]
    assert [one.find(n) is not None for n in numbers] == [False, True, True]
    assert two.find(numbers[2]) is None  # another page's
    more = [two.add(made) for _ in range(2)]
    assert [two.find(n) is not None for n in more] == [True, True]
    assert [one.find(n) is not None for n in numbers] == [False, False, True]
    one.close()
    assert one.find(numbers[2]) is None
    late = one.add(made)  # it was being made while the page closed
    assert one.find(late) is None
    assert len(results._stored) == 2 and results._bytes == sum(
        size for _, _, size in results._stored.values()
    )
    monkeypatch.setattr(result, "MOST_BYTES", 1)
    last = two.add(made)
    assert two.find(last) is not None  # the newest is always kept
    assert two.find(more[1]) is None
