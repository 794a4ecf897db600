"""A window index as it is made passes its check; one whose values cannot be does not."""

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.index.index_build import build_index, check_index
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.table_file import TableFile

LENGTH = 15
TINY = np.finfo(np.float32).tiny


@pytest.fixture(scope="module")
def frames():
    """Clips of 31, 15 and 9 frames: all windows, one, none."""
    motions = [
        ml.synthetic.clip(kind, duration_s=1.0, fps=30).motion[:n].replace(name=kind)
        for kind, n in (("walk", 31), ("run", 15), ("stand", 9))
    ]
    nothing = [ml.Footplants(np.zeros((m.n_frames, 4), dtype=bool)) for m in motions]
    return frames_of(motions, footplants=nothing)


@pytest.fixture(scope="module")
def made(frames):
    return build_index(frames, length=LENGTH).arrays()


def passes(frames, arrays, *, length=LENGTH, width=None):
    if width is None:
        width = 9 * len(compared_joints(frames.skeleton, frames.body_map))
    try:
        check_index(TableFile(Path("a.index"), {}, arrays, 0), length, frames.starts, width)
    except TableError:
        return False
    return True


def changed(arrays, name, place, value):
    array = np.array(arrays[name])
    array.reshape(-1)[place] = value
    return {**arrays, name: array}


def test_an_index_as_it_is_made_passes(frames, made):
    assert passes(frames, made)
    rows = np.sort(made["by_both.members"])
    assert rows.tolist() == [*range(31 - LENGTH + 1), 31]


def test_an_index_of_another_length_or_width_does_not(frames, made):
    assert not passes(frames, made, length=LENGTH + 1)
    assert not passes(frames, made, width=9)
    assert not passes(frames, {**made, "about": made["about"][:1]})


@pytest.mark.parametrize("name", ["by_start", "by_end", "by_both"])
def test_members_are_first_rows_of_windows(frames, made, name):
    for row, sound in ((0, True), (16, True), (17, False), (30, False), (31, True), (32, False)):
        assert passes(frames, changed(made, f"{name}.members", -1, row)) is sound
    for row in (46, 54, 55, 2**32 - 1):
        assert not passes(frames, changed(made, f"{name}.members", 0, row))
    assert not passes(frames, {**made, f"{name}.members": made[f"{name}.members"][:0]})


@pytest.mark.parametrize("name", ["by_start", "by_end", "by_both"])
def test_lists_and_groups_rise_from_none_to_all(frames, made, name):
    for first in ("group_first", "list_first"):
        key = f"{name}.{first}"
        assert not passes(frames, changed(made, key, 0, 1))
        assert not passes(frames, changed(made, key, 0, -1))
        assert not passes(frames, changed(made, key, -1, made[key][-1] + 1))
        assert not passes(frames, changed(made, key, -1, made[key][-1] - 1))
        assert not passes(frames, {**made, key: made[key][:-1]})
    lists = np.array(made[f"{name}.list_first"])
    if len(lists) > 2:
        lists[1] = lists[-1] + 1  # rises too far, and falls
        assert not passes(frames, {**made, f"{name}.list_first": lists})
    for part in ("centres", "groups"):
        key = f"{name}.{part}"
        for value, sound in ((-1e12, True), (1.1e12, False), (-1.1e12, False), (np.nan, False)):
            assert passes(frames, changed(made, key, 0, value)) is sound
        assert not passes(frames, {**made, key: made[key][:, :-1]})
        assert not passes(frames, {**made, key: made[key][:0]})
    assert not passes(frames, {**made, f"{name}.heads": made[f"{name}.heads"][:, :-1]})
    assert not passes(frames, {**made, f"{name}.heads": made[f"{name}.heads"][:-1]})


@pytest.mark.parametrize("side", ["start", "end"])
def test_codes_are_made_by_finite_numbers_and_steps_above_none(frames, made, side):
    for name in ("mean", "axes", "steps"):
        key = f"books.{side}_{name}"
        for value, sound in ((1e12, True), (1.1e12, False), (-1.1e12, False), (np.nan, False)):
            assert passes(frames, changed(made, key, 0, value)) is sound
        assert passes(frames, changed(made, key, 0, -1.0)) is (name != "steps")
    for value, sound in ((2.0 * TINY, True), (TINY, False), (0.0, False)):
        assert passes(frames, changed(made, f"books.{side}_steps", 0, value)) is sound


def test_speeds_and_displacements_have_a_scale(frames, made):
    for value, sound in ((0.0, True), (1e12, True), (1.1e12, False), (-1e-9, False)):
        assert passes(frames, changed(made, "paces", 0, value)) is sound
    assert not passes(frames, changed(made, "paces", 0, np.nan))
    assert not passes(frames, {**made, "paces": made["paces"][:-1]})
    for value, sound in ((2.0 * TINY, True), (1e12, True), (TINY, False), (1.1e12, False)):
        assert passes(frames, changed(made, "books.way_step", 0, value)) is sound
    for name in ("starts", "ends", "ways"):
        assert not passes(frames, {**made, name: made[name][:-1]})
        assert not passes(frames, {**made, name: made[name][:, :-1]})
