"""The index of a collection on disk: read where it fits, made where it does not."""

import shutil

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index import index_build as module
from motionloom.tables.index.index_build import grown_index, growth_of, window_index
from motionloom.tables.table_file import open_table_file, write_table_file

LENGTH = 15


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    folder = tmp_path_factory.mktemp("window_index") / "clips"
    folder.mkdir()
    for kind, name in (("walk", "b"), ("run", "d")):
        clip = ml.synthetic.clip(kind, duration_s=1.0, fps=30)
        ml.save(clip.motion, folder / f"{name}.bvh")
    Collection.ingest(folder, fps=30)
    return folder


@pytest.fixture
def lib(clips, tmp_path):
    shutil.copytree(clips, tmp_path / "clips")
    shutil.copytree(clips.with_suffix(".mlc"), tmp_path / "clips.mlc")
    return Collection.open(tmp_path / "clips.mlc")


@pytest.fixture
def never_made(monkeypatch):
    def fail(*_, **__):
        raise AssertionError("an index that is there was made once more")

    def forbid():
        monkeypatch.setattr(module, "build_index", fail)

    return forbid


def place_of(lib):
    return lib.path / f"windows.{LENGTH}.index"


def test_an_index_is_made_once(lib, never_made):
    made = window_index(lib, LENGTH)
    assert place_of(lib).exists()
    never_made()
    again = window_index(lib, LENGTH)
    for name, array in made.arrays().items():
        assert np.array_equal(again.arrays()[name], array), name


def test_an_index_of_something_else_is_not_used(lib):
    made = window_index(lib, LENGTH)
    arrays = {**made.arrays(), "ways": made.ways + 1}
    write_table_file(place_of(lib), {"inputs": "another collection"}, arrays)
    assert np.array_equal(window_index(lib, LENGTH).ways, made.ways)
    assert open_table_file(place_of(lib)).header["inputs"] == lib.digest


def test_an_index_grows_by_the_windows_of_new_clips(lib, never_made, monkeypatch):
    window_index(lib, LENGTH)
    before, digest = lib.frames.ids, lib.digest
    for name in ("a", "c"):  # before and between the clips that are there
        shutil.copy(lib.path.with_suffix("") / "b.bvh", lib.path.with_suffix("") / f"{name}.bvh")
    more = Collection.ingest(lib.path.with_suffix(""), fps=30)
    growth = growth_of(more.frames, before)
    never_made()
    grown = grown_index(more, LENGTH, digest, growth)
    assert np.array_equal(np.sort(grown.by_both.members), more.frames.windows(LENGTH))
    kept = window_index(more, LENGTH)
    assert np.array_equal(kept.by_both.members, grown.by_both.members)


def test_an_index_that_is_not_there_is_made_whole(lib):
    before = lib.frames.ids[:1]
    grown = grown_index(lib, LENGTH, "no digest", growth_of(lib.frames, before))
    assert np.array_equal(np.sort(grown.by_both.members), lib.frames.windows(LENGTH))


def test_an_index_of_an_unchanged_collection_is_the_one_that_is_there(lib, never_made):
    window_index(lib, LENGTH)
    never_made()
    grown = grown_index(lib, LENGTH, "no digest", growth_of(lib.frames, lib.frames.ids))
    assert np.array_equal(np.sort(grown.by_both.members), lib.frames.windows(LENGTH))
