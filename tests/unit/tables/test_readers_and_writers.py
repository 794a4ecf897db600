"""Readers next to writers: every opening succeeds, maps stay valid, a second writer is refused."""

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables.collection import collection
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.store import writing_collection
from motionloom.tables.extend import extend_table, grow_collection

FPS = 30
COLUMNS = 6
TABLE = {"length_s": 0.3, "clusters": 3, "ways": (2,), "progress": False, "jobs": 1}
WALK, RUN = (ml.synthetic.clip(kind, duration_s=0.8, fps=FPS).motion for kind in ("walk", "run"))


@pytest.fixture(scope="module")
def ingested(tmp_path_factory):
    home = tmp_path_factory.mktemp("readers")
    (home / "clips").mkdir()
    for name, motion in (("a", WALK), ("b", RUN)):
        ml.save(motion, home / "clips" / f"{name}.bvh")
    ingest(home)
    return home


@pytest.fixture
def home(ingested, tmp_path):
    return Path(shutil.copytree(ingested, tmp_path / "home"))


def ingest(home):
    return Collection.ingest(home / "clips", out=home / "lib.mlc", fps=FPS)


def change(home, number):
    (home / "clips/a.bvh").unlink()  # inputs are never overwritten
    ml.save((RUN, WALK)[number % 2], home / "clips/a.bvh")


def rows_in(home):
    return len(list((home / "lib.mlc").glob("*.rows")))


def test_every_opening_succeeds_while_the_folder_is_ingested_again(home):
    states, faults, ended = {ingest(home).digest}, [], threading.Event()

    def write():
        try:
            for number in range(8):
                change(home, number)
                states.add(ingest(home).digest)
        except Exception as error:
            faults.append(error)
        ended.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not ended.is_set():
        lib = Collection.open(home / "lib.mlc")
        assert np.isfinite(lib.frames.quats).all()
        seen.add(lib.digest)
    writer.join()
    assert faults == []
    assert seen <= states


def test_an_ingest_between_catalogue_and_rows_is_no_damage(home, monkeypatch):
    read, again = collection.read_catalogue, iter(range(2))

    def late(path):
        found = read(path)
        if path.parent.name == "lib.mlc" and (number := next(again, None)) is not None:
            change(home, number)
            ingest(home)
        return found

    monkeypatch.setattr(collection, "read_catalogue", late)
    lib = Collection.open(home / "lib.mlc")
    assert lib.digest == ingest(home).digest
    assert lib.find_damage() == []


def test_readers_keep_what_they_opened_and_it_goes_when_the_last_is_gone(home):
    lib = ingest(home)
    before = np.array(lib.frames.quats)
    change(home, 0)
    assert ingest(home).digest != lib.digest
    assert rows_in(home) == 2 * COLUMNS
    np.testing.assert_array_equal(lib.frames.quats, before)
    assert lib.find_damage() == []
    quats = lib.frames.quats[3:]
    del lib
    ingest(home)
    assert rows_in(home) == 2 * COLUMNS, "a part of an array is enough to keep its file"
    np.testing.assert_array_equal(quats, before[3:])
    del quats
    ingest(home)
    assert rows_in(home) == COLUMNS


def test_a_second_ingest_is_refused_and_names_the_first(home):
    with writing_collection(home / "clips", home / "lib.mlc"):
        change(home, 0)
        with pytest.raises(TableError, match=r"lib\.mlc is being written already, by this process"):
            ingest(home)
        with pytest.raises(TableError, match="being written already"):
            grow_collection(Collection.open(home / "lib.mlc"), home / "clips")
    ingest(home)
    assert not list((home / "lib.mlc").glob("*.lock"))


def test_a_place_that_comes_to_nothing_is_left_as_it_was(tmp_path):
    with pytest.raises(TableError, match="is not there"):
        Collection.ingest(tmp_path / "none", out=tmp_path / "deep/er/lib.mlc", fps=FPS)
    assert list(tmp_path.iterdir()) == []


def test_labels_of_two_who_annotate_are_all_kept(home):
    first, second = ingest(home), Collection.open(home / "lib.mlc")
    first.annotate("a", "one")
    second.annotate("b", "two")
    assert {label.label for label in Collection.open(home / "lib.mlc").labels} == {"one", "two"}


def test_several_labels_are_added_together_or_not_at_all(home):
    lib = ingest(home)
    good, bad = collection.Label("a", "one", 0, -1), collection.Label("a", "two", 0, 10**6)
    with pytest.raises(TableError):
        lib.add_labels([good, bad])
    assert lib.labels == ()
    lib.add_labels([good])
    assert [label.label for label in lib.labels] == ["one"]


def test_a_damaged_collection_is_mended_by_ingesting_again(home):
    (next((home / "lib.mlc").glob("quats.*.rows"))).unlink()
    with pytest.raises(TableError, match=r"is not there.*ingest its folder again"):
        Collection.open(home / "lib.mlc")
    assert ingest(home).find_damage() == []
    assert rows_in(home) == COLUMNS


def test_a_table_opens_in_the_state_before_until_it_is_extended(home):
    built = ml.build_table(ingest(home), out=home / "lib.mlt", **TABLE)
    before, costs = built.collection.digest, np.array(built.costs)
    ml.save(WALK, home / "clips/c.bvh")
    grown = grow_collection(built.collection, home / "clips", keep_before=True)
    assert grown.ids == ("a", "b", "c")
    opened = ml.TransitionTable.open(home / "lib.mlt")
    assert opened.collection.digest == before
    assert opened.find_damage() == []
    extended = extend_table(home / "lib.mlt", grown)
    assert extended.collection.digest == grown.digest
    assert ml.TransitionTable.open(home / "lib.mlt").frames.ids == ("a", "b", "c")
    np.testing.assert_array_equal(opened.costs, costs)
    del built, opened
    assert not list((home / "lib.mlc").glob("catalogue.*.json"))


def test_a_stream_goes_on_while_its_table_is_built_again(home):
    table = ml.build_table(ingest(home), out=home / "lib.mlt", **TABLE)
    alone = table.transition(("a", 2), ("b", 20)).motion.local_quats
    change(home, 0)
    other = ml.build_table(ingest(home), out=home / "lib.mlt", **TABLE)
    assert other.collection.digest != table.collection.digest
    np.testing.assert_array_equal(table.transition(("a", 2), ("b", 20)).motion.local_quats, alone)
