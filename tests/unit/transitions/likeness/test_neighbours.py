"""Neighbours: what the index finds is what looking at every window finds."""

import numpy as np
import pytest

from motionloom.errors import ArrayError, TableError
from motionloom.transitions.likeness import neighbours as module
from motionloom.transitions.likeness.contexts import (
    TURN_M,
    VELOCITY_S,
    WAY,
    contexts,
    displacements,
    spans_of,
)
from motionloom.transitions.likeness.neighbour_search import (
    HEAD,
    LEADING,
    scan_all,
    search_lists,
)
from motionloom.transitions.likeness.neighbours import WindowIndex, build_index

LENGTH = 60
FLOAT32_M = 5e-6
CODES_M = 4e-3
"""What a byte a component may lose of a distance; half of the steps of 48 components."""


@pytest.fixture(scope="module")
def index(kinds_frames):
    return build_index(kinds_frames, length=LENGTH)


@pytest.fixture(scope="module")
def windows(kinds_frames):
    rows = kinds_frames.windows(LENGTH)
    return {
        "rows": rows,
        "start": contexts(kinds_frames, rows, side="start"),
        "end": contexts(kinds_frames, rows + LENGTH - 1, side="end"),
        "displacement": displacements(kinds_frames, rows, rows + LENGTH - 1),
    }


QUESTIONS = [
    ("start", "end", "displacement"),
    ("start", "end"),
    ("start",),
    ("end",),
    ("start", "displacement"),
]


def exact(windows, k, names):
    squares = [np.square(windows[name] - windows[name][k]).sum(axis=1) for name in names]
    return np.sqrt(np.sum(squares, axis=0, dtype=np.float64))


def test_a_context_is_the_pose_and_velocities_seen_from_the_body(kinds_frames, kinds_motions):
    frame, fps = 100, kinds_frames.fps
    row = kinds_frames.row_of("run_1", frame)
    world = next(m for m in kinds_motions if m.name == "run_1").world_positions()
    psi, (gx, gz) = kinds_frames.heading[row], kinds_frames.ground[row]

    def seen(at):
        x, z = world[at, 0, 0] - gx, world[at, 0, 2] - gz
        return np.array(
            [np.cos(psi) * x - np.sin(psi) * z, world[at, 0, 1], np.sin(psi) * x + np.cos(psi) * z]
        )

    found = contexts(kinds_frames, np.array([row]), side="start").reshape(3, -1, 3)
    root = found[:, 0] * np.sqrt(found.shape[0] * found.shape[1])
    assert np.abs(root[2] - seen(frame)).max() < FLOAT32_M
    for k, back in enumerate((8, 4)):
        velocity = (seen(frame) - seen(frame - back)) * fps / back
        assert np.abs(root[k] - VELOCITY_S * velocity).max() < 10 * FLOAT32_M


def test_a_context_at_a_clips_edge_stands_still(kinds_frames):
    row = kinds_frames.row_of("run_0", 0)
    found = contexts(kinds_frames, np.array([row]), side="start").reshape(3, -1)
    assert np.all(found[:2] == 0.0)
    last = np.array([row - 1])
    ends = contexts(kinds_frames, last, side="end").reshape(3, -1)
    assert np.all(ends[1:] == 0.0)


def test_a_displacement_is_aside_ahead_and_the_turn(kinds_frames):
    first = np.array([kinds_frames.row_of("walk_0", 10)])
    last = first + 40
    aside, ahead, turn = displacements(kinds_frames, first, last)[0]
    away = kinds_frames.ground[last[0]] - kinds_frames.ground[first[0]]
    assert np.hypot(aside, ahead) == pytest.approx(WAY * np.hypot(*away))
    assert ahead > abs(aside)
    expected = kinds_frames.heading[last[0]] - kinds_frames.heading[first[0]]
    assert turn == pytest.approx(TURN_M * expected)


@pytest.mark.parametrize("names", QUESTIONS, ids="-".join)
def test_codes_keep_distances(index, windows, names):
    for k in range(0, len(windows["rows"]), 211):
        question = index.question(**{name: windows[name][k] for name in names})
        codes = (index.starts, index.ends, index.ways)
        found = np.sqrt(scan_all(windows["rows"], codes, question, LENGTH))
        assert np.median(np.abs(found - exact(windows, k, names))) < CODES_M


@pytest.mark.parametrize("names", QUESTIONS, ids="-".join)
def test_the_search_finds_what_a_look_at_every_window_finds(index, windows, names):
    hits = []
    for k in range(0, len(windows["rows"]), 97):
        asked = {name: windows[name][k] for name in names}
        codes = (index.starts, index.ends, index.ways)
        squared = scan_all(windows["rows"], codes, index.question(**asked), LENGTH)
        found = index.nearest(**asked, count=5)
        best = np.sort(np.sqrt(squared))[:5]
        hits.append(np.abs(found.distances - best).max() < 1e-4)
        again = np.sqrt(squared[np.searchsorted(windows["rows"], found.rows)])
        assert np.abs(found.distances - again).max() < 1e-4
    assert np.mean(hits) > 0.9


def test_with_no_limit_on_effort_the_search_is_exact(index, windows, monkeypatch):
    monkeypatch.setattr(module, "GROUPS", 10_000)
    monkeypatch.setattr(module, "LISTS", 10_000)
    monkeypatch.setattr(module, "LOOKED_AT", 10**9)
    for k in range(0, len(windows["rows"]), 173):
        asked = {"start": windows["start"][k], "end": windows["end"][k]}
        codes = (index.starts, index.ends, index.ways)
        squared = scan_all(windows["rows"], codes, index.question(**asked), LENGTH)
        found = index.nearest(**asked, count=9)
        assert np.abs(found.distances - np.sort(np.sqrt(squared))[:9]).max() < 1e-4


@pytest.mark.parametrize("names", QUESTIONS, ids="-".join)
def test_the_lists_that_are_searched_have_the_columns_that_are_asked(
    index, windows, names, monkeypatch
):
    """A kernel does not check its bounds: centres and heads must be as wide as their sides say."""
    searched = []

    def watched(lists, sides, *rest):
        searched.append((lists[0].shape[1], lists[2].shape[1], lists[5].shape[1], sides))
        return search_lists(lists, sides, *rest)

    monkeypatch.setattr(module, "search_lists", watched)
    index.nearest(**{name: windows[name][0] for name in names})
    ((groups, centres, heads, sides),) = searched
    assert groups == centres == LEADING * (sides[0] + sides[1]) + 3 * sides[2]
    assert heads == HEAD * (sides[0] + sides[1])
    assert all(side for side, name in zip(sides, QUESTIONS[0], strict=True) if name in names)


def test_a_window_finds_itself(index, windows):
    for k in range(0, len(windows["rows"]), 101):
        found = index.nearest(windows["start"][k], windows["end"][k], windows["displacement"][k])
        # A body that stands is the same for many frames, but for less than a code can tell.
        at = int(np.searchsorted(windows["rows"], found.rows[0]))
        assert exact(windows, k, QUESTIONS[0])[at] < 2 * CODES_M
        assert found.distances[0] < CODES_M
        assert (np.diff(found.distances) >= 0.0).all()


def test_nothing_is_found_in_spans_left_out(index, windows, kinds_frames):
    spans = spans_of(kinds_frames, ["walk_0", "sneak_1"])
    for k in (5, 60, 900):
        found = index.nearest(windows["start"][k], windows["end"][k], count=20, exclude=spans)
        names = {kinds_frames.place_of(int(row))[0] for row in found.rows}
        assert not names & {"walk_0", "sneak_1"}
        assert len(found.rows) == 20


def test_a_window_that_touches_a_span_is_left_out(index, windows):
    k = 400
    row = int(windows["rows"][k])
    found = index.nearest(
        windows["start"][k], count=40, exclude=[(row + LENGTH - 1, row + LENGTH + 3)]
    )
    overlaps = (found.rows <= row + LENGTH + 3) & (found.rows + LENGTH - 1 >= row + LENGTH - 1)
    assert not overlaps.any()


def test_windows_apart_are_apart(index, windows):
    k = 300
    near = index.nearest(windows["start"][k], windows["end"][k], count=6)
    apart = index.nearest(windows["start"][k], windows["end"][k], count=6, apart=15)
    gaps = np.abs(apart.rows[:, None] - apart.rows)[np.triu_indices(6, 1)]
    assert gaps.min() >= 15
    assert apart.rows[0] == near.rows[0]


def test_with_all_but_a_few_left_out_those_are_found(index, windows, kinds_frames):
    rows = windows["rows"]
    spans = [(0, rows[700] - 1), (rows[700] + LENGTH + 1, kinds_frames.n_rows)]
    found = index.nearest(windows["start"][3], count=8, exclude=spans)
    assert set(found.rows) == {rows[700], rows[701]}


def test_everything_left_out_gives_nothing(index, windows, kinds_frames):
    found = index.nearest(windows["end"][0], exclude=[(0, kinds_frames.n_rows)])
    assert len(found.rows) == len(found.distances) == 0


def test_an_index_from_files_answers_the_same(index, windows, tmp_path):
    mapped = {}
    for name, array in index.arrays().items():
        np.save(tmp_path / f"{name}.npy", array)
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    again = WindowIndex.from_arrays(mapped)
    assert again.length == index.length
    for k in (10, 500, 1500):
        a = index.nearest(windows["start"][k], windows["end"][k], windows["displacement"][k])
        b = again.nearest(windows["start"][k], windows["end"][k], windows["displacement"][k])
        assert np.array_equal(a.rows, b.rows)
        assert np.array_equal(a.distances, b.distances)


def test_an_index_of_another_version_is_refused(index):
    arrays = index.arrays()
    arrays["about"] = arrays["about"] + [1, 0]
    with pytest.raises(TableError, match="Build it again"):
        WindowIndex.from_arrays(arrays)


def test_the_same_seed_gives_the_same_index(index, kinds_frames):
    again = build_index(kinds_frames, length=LENGTH)
    for name, array in index.arrays().items():
        assert np.array_equal(array, again.arrays()[name]), name


def test_a_row_takes_less_than_150_bytes(index, kinds_frames):
    # Axes and centres are a fixed cost that a small collection feels.
    books = sum(array.nbytes for array in index.books)
    assert index.bytes_per_row - books / kinds_frames.n_rows < 150


def test_bad_questions_are_told(index, windows):
    with pytest.raises(ArrayError, match="got neither"):
        index.nearest()
    with pytest.raises(ArrayError, match="`count` and `apart`"):
        index.nearest(windows["start"][0], count=0)
    with pytest.raises(ArrayError, match="`start` must be finite, of shape"):
        index.nearest(windows["start"][0][:5])
    with pytest.raises(ArrayError, match="`end` must be finite"):
        index.nearest(end=np.full_like(windows["end"][0], np.nan))
    with pytest.raises(ArrayError, match="`exclude` must have shape"):
        index.nearest(windows["start"][0], exclude=[1, 2, 3])


def test_clips_shorter_than_a_window_are_told(kinds_frames):
    with pytest.raises(TableError, match="at least 900 frames"):
        build_index(kinds_frames, length=900)
