"""Tables: invalid places, numbers and options are refused in words, and notes explain more."""

import shutil

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, MotionLoomError, TableError
from motionloom.tables.build import build_table
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.windows import windows_of
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_file import locked

SMALL = {"length_s": 0.5, "clusters": 4, "lookup": 6, "progress": False, "jobs": 1}
HERE, THERE = ("walk", 2), ("stand", 40)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arguments") / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "stand"):
        clip = ml.synthetic.clip(kind, duration_s=1.5, fps=30)
        ml.save(clip.motion, folder / f"{kind}.bvh")
    return build_table(Collection.ingest(folder, fps=30), **SMALL)


@pytest.mark.parametrize(
    "options",
    [{"clusters": 2.5}, {"clusters": "a"}, {"clusters": 1}, {"clusters": True}, {"ways": (2.5,)},
     {"ways": "23"}, {"ways": 2}, {"ways": None}, {"ways": ()}, {"ways": (5,)}, {"seed": 1.5},
     {"seed": -1}, {"seed": "a"}, {"jobs": "a"}, {"jobs": 0}, {"jobs": 1.5}, {"lookup": "a"},
     {"lookup": 6.0}, {"out": 5}, {"out": "a\0b"}, {"progress": "no"}, {"length_s": "1"},
     {"masses": [1e308] * 16}, {"masses": [1.0] * 15 + [1e-9]}, {"masses": [1.0] * 15 + [np.inf]}],
)  # fmt: skip
def test_options_of_a_build_that_cannot_be_are_refused(table, options):
    with pytest.raises(ArrayError, match=f"`{next(iter(options))}`"):
        build_table(table.collection, **{**SMALL, **options})


@pytest.mark.parametrize(
    "place",
    [("walk", 2.5), ("walk", "2"), ("walk", True), ("walk", np.array([2])), ("walk", np.float64(2)),
     ("walk", None), ("none", 2), (["walk"], 2), ("walk", 10**9), ("walk", -1), "walk", None,
     ("walk",), ("walk", 1, 2), np.array(["walk", "2"]), 5],
)  # fmt: skip
def test_places_that_cannot_be_are_refused(table, place):
    for ask in (table.entry, table.transition):
        with pytest.raises(MotionLoomError):
            ask(place, THERE)
        with pytest.raises(MotionLoomError):
            ask(HERE, place)


def test_frames_may_be_whole_numbers_of_numpy(table):
    made = table.transition(("walk", np.int64(2)), ("stand", np.int32(40)))
    assert made.recipe.rows == table.transition(HERE, THERE).recipe.rows


@pytest.mark.parametrize(
    "options",
    [{"lead_s": float("nan")}, {"lead_s": float("inf")}, {"lead_s": "a"}, {"lead_s": -1.0},
     {"follow_s": None}, {"follow_s": np.zeros(2)}, {"rescore": 1.5}, {"rescore": True},
     {"rescore": None}, {"rescore": -1}, {"variation": -1}, {"variation": 1.5},
     {"variation": "a"}, {"variation": True}, {"search": "yes"}, {"search": 1},
     {"search": None}, {"still_feet": 1}, {"still_feet": None}],
)  # fmt: skip
def test_options_of_a_transition_that_cannot_be_are_refused(table, options):
    with pytest.raises(ArrayError, match=f"`{next(iter(options))}`"):
        table.transition(HERE, THERE, **options)


@pytest.mark.parametrize("label", [["run"], 5, True])
def test_a_label_is_a_text(table, label):
    with pytest.raises(ArrayError, match="label"):
        table.transition(HERE, label=label)
    with pytest.raises(ArrayError, match="label"):
        table.stream(HERE).go(label=label)


def test_a_lead_longer_than_the_clip_is_the_whole_clip_before(table):
    made = table.transition(HERE, THERE, lead_s=1e308, follow_s=1e308)
    assert made.span[0] == HERE[1]


@pytest.mark.parametrize("number", ["a", 0.5, True, -1, 10**6])
def test_representatives_are_asked_for_by_whole_numbers(table, number):
    with pytest.raises(MotionLoomError, match="`source`"):
        table.recipes(number, 1)


def test_what_is_not_natural_is_noted(table):
    exact = {"longest_s": table.length_s}
    made = [table.transition(("walk", k), ("run", 44 - k), **exact) for k in range(0, 20, 4)]
    made += [table.transition(("stand", 2 * k), ("stand", 44 - k)) for k in range(5)]
    for each in made:
        noted = any(note.startswith("not natural") for note in each.notes)
        assert noted == (not each.score.natural)
    assert {each.score.natural for each in made} == {True, False}


def test_a_table_opened_through_a_link_finds_its_collection(table, tmp_path):
    (tmp_path / "link.mlt").symlink_to(table.file.resolve())
    assert TransitionTable.open(tmp_path / "link.mlt").collection.digest == table.collection.digest


def test_a_collection_beside_the_link_comes_first(table, tmp_path):
    (tmp_path / "link.mlt").symlink_to(table.file.resolve())
    copied = shutil.copytree(table.collection.path, tmp_path / table.collection.path.name)
    assert TransitionTable.open(tmp_path / "link.mlt").collection.path == copied.resolve()


def test_two_builds_into_one_file_are_refused(table, tmp_path):
    with locked(tmp_path / "a.mlt"), pytest.raises(TableError, match="being built already"):
        build_table(table.collection, out=tmp_path / "a.mlt", **SMALL)
    build_table(table.collection, out=tmp_path / "a.mlt", **SMALL)
    assert [file.name for file in tmp_path.iterdir()] == ["a.mlt"]


def test_a_table_opens_over_labels_with_a_bad_line(table, tmp_path):
    copied = shutil.copytree(table.collection.path, tmp_path / "copied.mlc")
    (copied / "labels.csv").write_text("clip,label,first,last\nwalk,w,0,5.5\n")
    opened = TransitionTable.open(table.file, collection=copied)
    assert any("line 2" in found for found in opened.find_damage())


def test_a_table_looks_up_no_more_representatives_than_there_are_windows_a_twelfth_apart(table):
    windows = windows_of(table.collection.frames, 15, stride=2, at_least=4)  # at 30 frames a second
    with pytest.raises(ArrayError, match=rf"`lookup` must be 4 .* to {len(windows)} "):
        build_table(table.collection, **{**SMALL, "lookup": len(windows) + 1})
