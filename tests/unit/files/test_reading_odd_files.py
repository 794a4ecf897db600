"""Every function that reads a user's file answers what is no such file with an error in words."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import motionloom as ml
from motionloom.blending.weights import read_weights
from motionloom.errors import MotionLoomError
from motionloom.files.reading import read_file
from motionloom.studio.server.access_control import StoredAddress
from motionloom.studio.server.project import Project
from motionloom.tables.collection.catalogue import read_catalogue
from motionloom.tables.collection.folder_clips import digest_file
from motionloom.tables.collection.labels import read_labels
from motionloom.tables.evaluation.evaluation import read_verdicts
from motionloom.tables.evaluation.trials import _begins_as_table

DEADLINE_S = 60
DEEP = 100_000
SKELETON = ml.synthetic.clip("walk", duration_s=0.5).motion.skeleton

READERS: dict[str, Callable[[Any], object]] = {
    "body map": lambda path: ml.BodyMap.load(path, SKELETON),
    "labels": read_labels,
    "verdicts": read_verdicts,
    "weights": lambda path: read_weights(path, ["a", "b"], fps=30.0),
    "masses": ml.read_masses,
    "project": lambda path: Project(path).load(),
    "curve": ml.RegistrationCurve.load,
    "catalogue": read_catalogue,
    "table": ml.TransitionTable.open,
    "clip": ml.load,
}
PUBLIC = ("body map", "verdicts", "weights", "masses", "curve", "table", "clip")


def as_json(text: bytes) -> bytes:
    return b'{"roles": ' + text + b"}"


CONTENTS = {
    "empty": b"",
    "bytes": b"\xff\xfe\x80 = 1\n" * 10,
    "nul": b"\x00" * 10,
    "deep": b"[" * DEEP,
    "deep objects": b'{"a":' * DEEP,
    "digits": as_json(b"9" * 5000),
    "long line": b"x" * 200_000,
    "deep toml": b"roles = " + b"[" * 20_000,
    "digits in toml": b"[roles]\npelvis = " + b"9" * 5000,
    "dotted toml": b"roles.pelvis" + b".a" * 20_000 + b" = 1",
    "digits in csv": b"clip,label,first,last\na,b," + b"9" * 5000 + b",1\n",
}


@pytest.fixture(autouse=True)
def _deadline() -> Iterator[None]:
    """A reader that waits for ever fails instead of holding up the tests."""

    def stop(*_: object) -> None:
        raise TimeoutError("the reader did not come back")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(DEADLINE_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refused(read: Callable[[Any], object], path: Any) -> str:
    with pytest.raises(MotionLoomError) as caught:
        read(path)
    text = str(caught.value)
    text.encode("utf-8")
    assert 20 < len(text) <= 2000
    assert text.endswith(".")
    return text


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """What has a name and is no file."""
    fifo, zero = tmp_path / "fifo", tmp_path / "zero"
    os.mkfifo(fifo)
    zero.symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    return {"fifo": fifo, "zero": zero, "folder": tmp_path, "loop": tmp_path / "loop"}


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_refused(name: str, places: dict[str, Path]) -> None:
    for kind, place in places.items():
        if (name, kind) != ("project", "loop"):
            assert place.name in refused(READERS[name], place)


@pytest.mark.parametrize("name", READERS)
def test_a_content_of_another_kind_is_refused(name: str, tmp_path: Path) -> None:
    for kind, content in CONTENTS.items():
        path = tmp_path / kind
        path.write_bytes(content)
        if (name, kind) not in {("labels", "digits in csv"), ("labels", "deep toml")}:
            assert kind in refused(READERS[name], path)


@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.parametrize(
    "path",
    [None, 3, b"x", ["a"], "a\0b", "a\ud800b", "a" * 5000, "x/" * 3000, "missing"],
    ids=lambda path: ascii(path)[:12],
)
def test_a_path_that_no_file_can_have_is_refused(name: str, path: Any) -> None:
    refused(READERS[name], path)


def test_an_address_that_cannot_be_read_is_replaced(places: dict[str, Path]) -> None:
    folder = places["folder"]
    for content in (b"[" * 900, b'{"token": ' + b"9" * 900 + b"}", b"\xff", b"x" * 5000):
        (folder / "a.address").write_bytes(content)
        (folder / "a.address").chmod(0o600)
        assert StoredAddress(folder / "a.json").port == 0
    places["fifo"].rename(folder / "b.address").chmod(0o600)
    assert StoredAddress(folder / "b.json").port == 0


def test_a_pipe_is_no_table_for_the_command_line(places: dict[str, Path]) -> None:
    assert not _begins_as_table(places["fifo"])


def test_a_pipe_in_place_of_a_skeleton_does_not_stop_an_ingest(tmp_path: Path) -> None:
    (tmp_path / "a.amc").write_text("#!OML:ASF\n:FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\n")
    os.mkfifo(tmp_path / "a.asf")
    assert digest_file(tmp_path / "a.amc", "") == digest_file(tmp_path / "a.amc", "")


class Held:
    """Something that a caller holds."""


def test_what_a_caller_holds_goes_at_once_after_a_file_that_is_missing(tmp_path):
    def caller():
        held = Held()
        with contextlib.suppress(ml.MotionLoomError):
            read_file(tmp_path / "none", 100)
        return weakref.ref(held)

    gc.disable()
    try:
        assert caller()() is None
    finally:
        gc.enable()


def test_a_file_is_read_in_blocks_whatever_its_limit(tmp_path):
    (tmp_path / "short").write_bytes(b"abc")
    tracemalloc.start()
    try:
        assert read_file(tmp_path / "short", 1 << 30) == b"abc"
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
