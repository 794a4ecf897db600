"""Every field of every message with wrong values: a typed answer, no defect, a living session."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any, get_args

import msgspec
import pytest

from motionloom.studio.clips.library import Library
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.messages import Request
from motionloom.studio.messages.table_messages import TableBuild
from motionloom.studio.messages.wire import POSE
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.results.exports import Exports
from motionloom.studio.server.project import Project
from motionloom.studio.server.session import Session
from tests.studio.answers import decode_answer

NESTED = "@nested"
"""Stands for 20,000 opened brackets, which no JSON encoder writes."""
WRONG: list[Any] = [
    None, True, -1, 0, 2**31, 10**30, -(10**30), 0.5, -1.5, 1e300, -1e300, "", "x", "\0", "\ud800",
    "9" * 5000, "x" * 1_000_000, "../../etc/passwd", [], [None], [[]], ["walk"], ["walk", "jog"],
    ["walk", -1], ["walk", 10**30], [0] * 100_000, {}, {"a": 1}, {"walk": {"left_toe": [[5, 1]]}},
    {"x": {"y": [[0, 1]]}}, NESTED, "@NaN", "@Infinity", "@1e999", "@-0",
]  # fmt: skip

VALID: dict[str, dict[str, Any]] = {
    "cancel": {"request": 1},
    "library.preview": {"clip": "stand"},
    "clip.open": {"clip": "stand"},
    "transition.make": {"a": "nobody", "b": "stand"},
    "blend.make": {"clips": ["nobody", "stand"], "weights": [0.5, 0.5]},
    "blend.space": {"clips": ["nobody", "stand"]},
    "control.start": {"clips": ["nobody", "stand"]},
    "control.step": {"live": 1, "weights": [0.5, 0.5]},
    "control.stop": {"live": 1},
    "splice.make": {"upper": "nobody", "lower": "stand"},
    "render.make": {"result": 1},
    "export.make": {"what": "nobody", "format": "bvh"},
    "page.make": {"result": 1},
    "project.save": {"project": {"version": 1}},
    "table.open": {"table": "nobody"},
    "table.query": {"source": ["walk", 20], "target": ["jog", 50]},
    "stream.start": {"source": ["walk", 0]},
    "stream.go": {"live": 1, "goal": "walk"},
    "stream.step": {"live": 1},
    "stream.stop": {"live": 1},
    "label.next": {"rater": "ada"},
    "label.save": {"transition": "walk:1>jog:2", "natural": True, "rater": "ada"},
}
"""What a message must have. Clips that are not there keep the results from being made 30 times."""


def structs() -> dict[str, type[msgspec.Struct]]:
    """Every message by its type."""
    return {each.__struct_config__.tag: each for each in get_args(Request)}


def fields() -> list[tuple[str, str]]:
    """Every field of every message, and one that no message has."""
    return [
        (kind, name)
        for kind, struct in structs().items()
        for name in ("type", *struct.__struct_fields__, "no_such_field")
    ]


class NoBuild(Tables):
    """Tables that take every valid wish for a build, and build nothing."""

    def build(self, wish: TableBuild) -> Answer:
        return self.state()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session without a table: nothing that is asked of it takes long."""
    place = tmp_path_factory.mktemp("validation")
    library = Library()
    tables = NoBuild(library, place / "tables")
    with closing(Exports()) as exports:
        yield Session(library, exports, Project(place / "project.json"), tables)
        tables.close()


def message(kind: str, /, **body: Any) -> str:
    text = json.dumps({"type": kind, "id": 7, **VALID.get(kind, {}), **body})
    for word in ("NaN", "Infinity", "1e999", "-0"):
        text = text.replace(f'"@{word}"', word)
    return text.replace(f'"{NESTED}"', "[" * 20_000 + "]" * 20_000)


def head_of(answer: str | bytes) -> dict[str, Any]:
    if isinstance(answer, bytes) and answer[:4] == POSE:
        return {"type": "pose"}
    return json.loads(answer) if isinstance(answer, str) else decode_answer(answer)[0]


def test_every_message_has_a_valid_example(session: Session) -> None:
    for kind, struct in structs().items():
        required = {name for name in struct.__struct_fields__ if name != "id"}
        required -= {f.name for f in msgspec.structs.fields(struct) if not f.required}
        assert required <= set(VALID.get(kind, {})), kind
        assert head_of(session.answer(message(kind))).get("code") != "invalid", kind


@pytest.mark.parametrize(("kind", "name"), fields())
def test_a_wrong_value_is_answered_with_a_typed_message(
    session: Session, caplog: pytest.LogCaptureFixture, kind: str, name: str
) -> None:
    for wrong in WRONG:
        head = head_of(session.answer(message(kind, **{name: wrong})))
        assert head["type"] != "error" or head["code"] in ("invalid", "refused"), (wrong, head)
        if name == "no_such_field":
            assert head["code"] == "invalid", wrong
    assert caplog.records == []
    assert head_of(session.answer(message("library.list")))["type"] == "library"


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("table.build", "length_s", [-1, 0, -1e-9, 11, 1e300]),
        ("table.build", "clusters", [-1, 0, 1, 201, 2.5]),
        ("table.build", "fps", [-1, 0, 0.5, 241]),
        ("table.build", "lookup", [-1, 0, 1, 10**6]),
        ("transition.make", "length_s", [-1, 0, 11]),
        ("transition.make", "at", [[-1, 5], [5], [5, 6, 7], [5.5, 6]]),
        ("table.query", "lead_s", [-1, 31]),
        ("table.query", "rescore", [-1, 10**6]),
        ("stream.step", "frames", [-1, 0, 31]),
        ("control.step", "frames", [-1, 0, 17]),
        ("clip.open", "id", [-1, 1.5, 2**60, "1"]),
    ],
)
def test_numbers_out_of_range_are_invalid(
    session: Session, kind: str, name: str, values: list[Any]
) -> None:
    for value in values:
        head = head_of(session.answer(message(kind, **{name: value})))
        assert head["code"] == "invalid", value
        assert f"`{name}" in head["text"]


@pytest.mark.parametrize(
    ("plants", "code", "problem"),
    [
        ({"left_toe": [[5, 1]]}, "refused", "stand .*left_toe must end at or after .*5 and last 1"),
        (
            {"left_toe": [[0, 4], [2, 2**31 - 1]]},
            "refused",
            r"0 to \d+, got frames 2 to 2147483647",
        ),
        ({"left_toe": [[9000, 9001]]}, "refused", r"frames 0 to \d+, got frames 9000 to 9001"),
        ({"left_elbow": [[0, 1]]}, "refused", "left_heel, left_toe.*got 'left_elbow'"),
        ({"left_toe": [[-1, 4]]}, "invalid", r"plants.*>= 0"),
        ({"left_toe": [["@NaN", 4]]}, "invalid", "malformed"),
        ({"left_toe": [[0.5, 4]]}, "invalid", "`int`, got `float`"),
        ({"left_toe": [["0", 4]]}, "invalid", "`int`, got `str`"),
        ({"left_toe": [[0, 2**31]]}, "invalid", "<= 2147483647"),
        ({"left_toe": [[0, 1, 2]]}, "invalid", "length 2"),
        ({"left_toe": [0, 1]}, "invalid", "`array`, got `int`"),
        ([[0, 1]], "invalid", "`object | null`, got `array`|`object`, got `array`"),
    ],
)
def test_plants_that_do_not_fit_the_clip_are_an_error(
    session: Session, plants: Any, code: str, problem: str
) -> None:
    for text in (
        message("clip.open", plants=plants),
        message("transition.make", a="stand", b="walk", plants={"stand": plants}),
    ):
        head = head_of(session.answer(text))
        assert (head["type"], head.get("code")) == ("error", code)
        assert re.search(problem, head["text"]), head["text"]


def test_plants_that_overlap_are_joined(session: Session) -> None:
    head = head_of(
        session.answer(message("clip.open", plants={"left_toe": [[4, 9], [0, 5], [10, 12]]}))
    )
    assert [(each["first"], each["last"]) for each in head["shown"]["prints"]] == [(0, 12)]


def test_deep_nesting_is_answered_without_a_traceback(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    deep = "[" * 200_000
    closed = deep + "]" * 200_000
    for text in (deep, closed, '{"a":' * 100_000, '{"type":"project.save","id":3,"project":'
                 '{"a":' + closed + "}}"):  # fmt: skip
        head = head_of(session.answer(text))
        assert (head["type"], head["code"]) == ("error", "invalid")
    assert caplog.records == []


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000, b'{"a":' * 100_000, b"\xed\xa0\x80", b"7", b"[]", b'{"a": NaN}',
        b" " * 3_000_000,
    ],
    ids=["brackets", "objects", "surrogate", "number", "list", "NaN", "long"],
)  # fmt: skip
def test_a_project_file_that_is_no_project_is_reported(
    session: Session, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    session.project.path.write_bytes(data)
    head = head_of(session.answer(message("project.load")))
    assert head["project"] is None
    assert "project file cannot be used" in head["problem"]
    assert caplog.records == []
    session.project.path.unlink()
    head = head_of(session.answer(message("project.load")))
    assert (head["project"], head["problem"]) == (None, None)
