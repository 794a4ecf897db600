"""Builds that are stopped: what was finished is kept, and the bytes are the same in the end."""

import errno
import os

import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables import build
from motionloom.tables import table_file as parts
from motionloom.tables import table_file as tablefile
from motionloom.tables.build import build_table
from motionloom.tables.collection.collection import Collection
from motionloom.tables.search import search
from motionloom.tables.table_file import Parts

FPS = 30
SMALL = {"length_s": 0.5, "clusters": 4, "lookup": 6, "progress": False, "jobs": 1}


class Stopped(BaseException):
    """Like a kill: nothing in between catches it."""


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build") / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "stand"):
        clip = ml.synthetic.clip(kind, duration_s=1.5, fps=FPS)
        ml.save(clip.motion, folder / f"{kind}.bvh")
    return Collection.ingest(folder, fps=FPS)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(search, "CHUNK_PAIRS", 5)


@pytest.fixture(scope="module")
def undisturbed(lib, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "CHUNK_PAIRS", 5)
        out = tmp_path_factory.mktemp("undisturbed") / "a.mlt"
        build_table(lib, out=out, **SMALL)
    return out.read_bytes()


def stop_at(monkeypatch, moment, *, before):
    """Stop at the n-th part that is kept, before or after it is."""
    whole, calls = Parts.save, []

    def save(self, name, inputs, arrays):
        calls.append(name)
        if before and len(calls) == moment:
            raise Stopped
        whole(self, name, inputs, arrays)
        if not before and len(calls) == moment:
            raise Stopped

    monkeypatch.setattr(Parts, "save", save)
    return calls


@pytest.mark.parametrize("before", [True, False])
def test_stopped_at_every_part_it_ends_in_the_same_bytes(
    lib, tmp_path, monkeypatch, undisturbed, before
):
    out = tmp_path / "a.mlt"
    stops = 0
    while not out.exists():
        with monkeypatch.context() as patch:
            stop_at(patch, 2, before=before)
            try:
                build_table(lib, out=out, **SMALL)
            except Stopped:
                stops += 1
                assert not out.exists()
    assert stops >= 5
    assert out.read_bytes() == undisturbed
    assert [file.name for file in tmp_path.iterdir()] == ["a.mlt"]


def test_what_was_finished_is_not_searched_again(lib, tmp_path, monkeypatch):
    out = tmp_path / "a.mlt"
    with monkeypatch.context() as patch:
        first = stop_at(patch, 6, before=False)
        with pytest.raises(Stopped):
            build_table(lib, out=out, **SMALL)
    with monkeypatch.context() as patch:
        rest = stop_at(patch, 10_000, before=False)
        build_table(lib, out=out, **SMALL)
    assert not set(first) & set(rest)


def test_parts_that_rotted_or_were_cut_short_are_searched_again(
    lib, tmp_path, monkeypatch, undisturbed
):
    out = tmp_path / "a.mlt"
    with monkeypatch.context() as patch:
        stop_at(patch, 6, before=False)
        with pytest.raises(Stopped):
            build_table(lib, out=out, **SMALL)
    rotten, cut, *_ = sorted(Parts(out).folder.glob("search-*"))
    data = bytearray(rotten.read_bytes())
    data[-70] ^= 255
    rotten.write_bytes(bytes(data))
    cut.write_bytes(cut.read_bytes()[:90])
    build_table(lib, out=out, **SMALL)
    assert out.read_bytes() == undisturbed


def test_parts_of_another_build_are_not_mixed_in(lib, tmp_path, monkeypatch, undisturbed):
    out = tmp_path / "a.mlt"
    with monkeypatch.context() as patch:
        stop_at(patch, 6, before=False)
        with pytest.raises(Stopped):
            build_table(lib, out=out, **{**SMALL, "seed": 1, "ways": (2, 3)})
    build_table(lib, out=out, **SMALL)
    assert out.read_bytes() == undisturbed


@pytest.mark.parametrize("moment", [1, 4])
def test_a_full_disk_is_reported_and_what_was_finished_is_kept(
    lib, tmp_path, monkeypatch, undisturbed, moment
):
    out = tmp_path / "a.mlt"
    calls = []
    whole = tablefile.write_table_file

    def full(path, *args, **kwargs):
        calls.append(path)
        if len(calls) == moment:
            with tablefile.disk_errors(path, "Nothing was changed."):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(parts, "write_table_file", full)
        with pytest.raises(TableError, match="the disk is full"):
            build_table(lib, out=out, **SMALL)
    assert not out.exists()
    build_table(lib, out=out, **SMALL)
    assert out.read_bytes() == undisturbed


def test_a_table_that_is_there_stays_until_the_new_one_is_whole(lib, tmp_path, monkeypatch):
    out = tmp_path / "a.mlt"
    build_table(lib, out=out, **SMALL)
    before = out.read_bytes()
    with monkeypatch.context() as patch:
        stop_at(patch, 3, before=True)
        with pytest.raises(Stopped):
            build_table(lib, out=out, **{**SMALL, "seed": 5})
    assert out.read_bytes() == before


def test_folders_of_a_table_are_made_where_they_are_not_there(lib, tmp_path, monkeypatch):
    seen = []

    def stop(*_):
        seen.append((tmp_path / "deep" / "down").is_dir())
        raise Stopped

    monkeypatch.setattr(build, "_build", stop)
    for _ in range(2):
        with pytest.raises(Stopped):
            build_table(lib, out=tmp_path / "deep" / "down" / "a.mlt", **SMALL)
    assert seen == [True, True]
