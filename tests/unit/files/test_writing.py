"""Files appear whole or not at all, on a full disk too, and nothing else is left."""

import errno
import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.drawing.film import save_film
from motionloom.drawing.strip import save_strip
from motionloom.drawing.view import Viewer, view
from motionloom.errors import FormatError, MotionLoomError, TableError
from motionloom.files.writing import write_bytes, write_whole
from motionloom.tables.collection.collection import Collection

resource = pytest.importorskip("resource", reason="needs limits on the size of files")

MOTION = ml.synthetic.clip("walk", duration_s=0.5, fps=30).motion


@contextmanager
def full_disk(largest=600):
    """No file can grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def tree(folder):
    return {f: f.read_bytes() for f in folder.rglob("*") if f.is_file()}


WRITERS = {
    "a.png": lambda path: save_strip(MOTION, path, size=(300, 100)),
    "a.svg": lambda path: save_strip(MOTION, path, size=(300, 100), kind="svg"),
    "a.gif": lambda path: save_film(MOTION, path, size=(64, 64)),
    "a.mp4": lambda path: save_film(MOTION, path, size=(64, 64)),
    "a.html": lambda path: Viewer("x" * 10_000).save(path),
    "a.bvh": lambda path: ml.save(MOTION, path),
    "a.glb": lambda path: ml.save(MOTION, path),
    "a.mlm": lambda path: ml.save(MOTION, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_reported_and_leaves_what_was_there(tmp_path, name):
    if name == "a.mp4":
        pytest.importorskip("imageio_ffmpeg", reason="needs the video extra")
    path = tmp_path / name
    path.write_bytes(b"old")
    with full_disk(), pytest.raises(FormatError, match="the disk is full") as caught:
        WRITERS[name](path)
    assert caught.value.path == str(path)
    assert "Free some space" in str(caught.value)
    assert tree(tmp_path) == {path: b"old"}


class FullStream:
    def write(self, data):
        if data:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class ClosedPipe:
    def write(self, data):
        if data:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


@pytest.mark.parametrize(
    "write",
    [lambda stream: ml.save(MOTION, stream, format="bvh"),
     lambda stream: save_strip(MOTION, stream, size=(300, 100))],
)  # fmt: skip
def test_a_stream_on_a_full_disk_is_reported_and_a_closed_pipe_stays_one(write):
    with pytest.raises(FormatError, match=r"stream cannot be written: the disk is full"):
        write(FullStream())
    with pytest.raises(BrokenPipeError):
        write(ClosedPipe())


def test_a_page_that_cannot_be_shown_for_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    with full_disk(), pytest.raises(FormatError, match="the disk is full"):
        view(MOTION)
    assert tree(tmp_path) == {}


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full") / "clips"
    folder.mkdir()
    ml.save(MOTION, folder / "a.bvh")
    return folder


def test_labels_on_a_full_disk_stay_as_they_were(clips, tmp_path):
    lib = Collection.ingest(clips, out=tmp_path / "lib.mlc", fps=30)
    lib.annotate("a", "walk")
    before = tree(tmp_path)
    with full_disk(), pytest.raises(TableError, match=r"labels\.csv cannot be written: the disk"):
        lib.annotate("a", "x" * 1000)
    assert tree(tmp_path) == before
    assert {label.label for label in lib.labels} == {"walk"}


def test_a_collection_that_grows_on_a_full_disk_stays_as_it_was(clips, tmp_path):
    Collection.ingest(clips, out=tmp_path / "lib.mlc", fps=30)
    more = tmp_path / "more"
    more.mkdir()
    ml.save(MOTION, more / "a.bvh")
    ml.save(MOTION, more / "b.bvh")  # its rows come after those that are there
    before = tree(tmp_path)
    with (
        full_disk(max(len(data) for data in tree(tmp_path / "lib.mlc").values())),
        pytest.raises(TableError, match=r"the disk is full\. What was there before is unchanged"),
    ):
        Collection.ingest(more, out=tmp_path / "lib.mlc", fps=30)
    assert tree(tmp_path) == before
    assert Collection.open(tmp_path / "lib.mlc").find_damage() == []


def test_an_error_of_the_writer_leaves_what_was_there(tmp_path):
    def fails(stream):
        stream.write(b"half")
        raise ZeroDivisionError

    write_bytes(tmp_path / "a", b"old")
    with pytest.raises(ZeroDivisionError):
        write_whole(tmp_path / "a", fails)
    assert tree(tmp_path) == {tmp_path / "a": b"old"}


@pytest.mark.parametrize(
    ("place", "reason"),
    [("none/a.bvh", "its folder is not there"), ("", "it is a folder"), ("a\0b", "this name")],
)
def test_places_that_take_no_file_are_reported(tmp_path, place, reason):
    with pytest.raises(FormatError, match=reason):
        write_bytes(tmp_path / place, b"new")
    assert tree(tmp_path) == {}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MotionLoomError, match="a device or a pipe"):
        ml.save(MOTION, tmp_path / "pipe", format="bvh")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions")
def test_files_have_the_permissions_of_the_user_and_long_names_are_taken(tmp_path):
    path = tmp_path / ("n" * 250 + ".bvh")
    before = os.umask(0o027)
    try:
        write_bytes(path, b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert tree(tmp_path) == {Path(path): b"new"}
