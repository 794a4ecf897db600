"""Neighbours: what the index finds is what looking at every window finds."""

import copy
import pickle

import numpy as np
import pytest

from motionloom.errors import ArrayError, TableError
from motionloom.tables.index import neighbours as module
from motionloom.tables.index.contexts import (
    TURN_M,
    VELOCITY_S,
    WAY,
    contexts,
    displacements,
    spans_of,
)
from motionloom.tables.index.index_build import build_index
from motionloom.tables.index.neighbours import (
    EFFORT,
    HEAD,
    LEADING,
    SIDES,
    CapturedBetween,
    WindowIndex,
    lists_record,
    search_lists,
    windows_record,
)
from tests.oracles import neighbours as plain
from tests.oracles.neighbours import question_of, scan_all

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
        question = question_of(index, **{name: windows[name][k] for name in names})
        codes = (index.starts, index.ends, index.ways)
        found = np.sqrt(scan_all(windows["rows"], codes, question, LENGTH))
        assert np.median(np.abs(found - exact(windows, k, names))) < CODES_M


@pytest.mark.parametrize("names", QUESTIONS, ids="-".join)
def test_the_search_finds_what_a_look_at_every_window_finds(index, windows, names):
    hits = []
    for k in range(0, len(windows["rows"]), 97):
        asked = {name: windows[name][k] for name in names}
        codes = (index.starts, index.ends, index.ways)
        squared = scan_all(windows["rows"], codes, question_of(index, **asked), LENGTH)
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
        squared = scan_all(windows["rows"], codes, question_of(index, **asked), LENGTH)
        found = index.nearest(**asked, count=9)
        assert np.abs(found.distances - np.sort(np.sqrt(squared))[:9]).max() < 1e-4


@pytest.mark.parametrize("names", QUESTIONS, ids="-".join)
def test_the_lists_that_are_searched_have_the_columns_that_are_asked(
    index, windows, names, monkeypatch
):
    searched = []

    def watched(windows, lists, *rest, **options):
        searched.append(lists)
        return search_lists(windows, lists, *rest, **options)

    monkeypatch.setattr(module, "search_lists", watched)
    index.nearest(**{name: windows[name][0] for name in names})
    (lists,) = searched
    sides = (lists.by_start, lists.by_end, lists.by_way)
    assert lists.width == LEADING * (sides[0] + sides[1]) + 3 * sides[2]
    assert lists.n_head == HEAD * (sides[0] + sides[1])
    assert all(side for side, name in zip(sides, QUESTIONS[0], strict=True) if name in names)


def plain_search(index, given, name, **options):
    codes = (index.starts, index.ends, index.ways)
    question = plain.ask(index.books, given)
    return plain.search_lists(
        index.length, codes, getattr(index, name), SIDES[name], question, **options
    )


def spans_array(*spans):
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


@pytest.mark.parametrize("names", QUESTIONS, ids="-".join)
@pytest.mark.parametrize("apart", [1, 15])
@pytest.mark.parametrize("effort", [(1, 1, 1), (3, 5, 300), (12, 48, 2000)])
def test_the_search_goes_as_its_plain_form(index, windows, names, apart, effort):
    lists = {("start",): "by_start", ("end",): "by_end"}.get(names, "by_both")
    spans = spans_array((100, 250), (40, 60), (10**9, 10**9))
    for k in range(0, len(windows["rows"]), 311):
        given = tuple(
            windows[name][k].astype(np.float32) if name in names else None for name in QUESTIONS[0]
        )
        options = {"count": 6, "apart": apart, "spans": spans, "effort": effort}
        rows, squared = search_lists(
            index.windows_record(), index.lists_record(lists), given, **options
        )
        expected, far = plain_search(index, given, lists, **options)
        assert np.sqrt(squared) == pytest.approx(np.sqrt(far), abs=1e-5)
        differ = rows != expected  # windows as near as rounding can tell may change places
        assert np.abs(np.sqrt(squared[differ]) - np.sqrt(far[differ])).max(initial=0.0) < 1e-6
        assert differ.mean() < 0.5


@pytest.mark.parametrize("names", [(), *QUESTIONS], ids="-".join)
def test_a_question_is_the_plain_one(index, windows, names):
    given = tuple(
        windows[name][7].astype(np.float32) if name in names else None for name in QUESTIONS[0]
    )
    asked = dict(zip(QUESTIONS[0], given, strict=True))
    for ours, theirs in zip(
        question_of(index, **asked), plain.ask(index.books, given), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-4)


def test_windows_between_two_are_those_of_the_plain_search(index, kinds_frames):
    captured = CapturedBetween(kinds_frames, index)
    rows = kinds_frames.windows(LENGTH)
    for source, target in ((rows[3], rows[900]), (rows[700], rows[0]), (rows[-1], rows[-1])):
        found = captured.nearest(int(source), int(target), count=5, apart=15)
        start = contexts(kinds_frames, np.array([source]), side="start")[0]
        end = contexts(kinds_frames, np.array([target + LENGTH - 1]), side="end")[0]
        expected, _ = plain_search(
            index, (start, end, None), "by_both", count=5, apart=15, spans=spans_array(),
            effort=EFFORT,
        )  # fmt: skip
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(("source", "target"), [(-1, 0), (0, -LENGTH), (10**7, 0), (0, 10**7)])
def test_windows_between_rows_that_are_none_are_refused(index, kinds_frames, source, target):
    captured = CapturedBetween(kinds_frames, index)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        captured.nearest(source, target, count=5, apart=15)


def damaged(lists, **changes):
    made = copy.copy(lists)
    for name, (at, value) in changes.items():
        array = np.array(getattr(lists, name))
        array[at] = value
        object.__setattr__(made, name, array)
    return made


@pytest.mark.parametrize(
    "changes",
    [
        {"group_first": (slice(None), -1)},
        {"group_first": (slice(1, None), 10**12)},
        {"list_first": (slice(None), -5)},
        {"list_first": (slice(1, None), 10**12)},
        {"members": (slice(None), 2**32 - 1)},
    ],
    ids=str,
)
def test_lists_that_lead_outside_are_refused(index, windows, changes):
    lists = lists_record(damaged(index.by_start, **changes), SIDES["by_start"])
    given = (windows["start"][0], None, None)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        search_lists(
            index.windows_record(), lists, given, count=3, apart=1, spans=spans_array(),
            effort=(99, 99, 9999),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("sides", "options"),
    [
        ((True, True, True), {}),
        ((True, False, True), {}),
        ((False, False, False), {}),
        ((True, False, False), {"effort": (0, 1, 1)}),
        ((True, False, False), {"effort": (1, 0, 1)}),
        ((True, False, False), {"count": 0}),
    ],
)
def test_lists_of_other_sides_and_no_effort_are_refused(index, windows, sides, options):
    given = (windows["start"][0], None, None)
    settings = {"count": 3, "apart": 1, "spans": spans_array(), "effort": (1, 1, 1), **options}
    lists = lists_record(index.by_start, sides)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        search_lists(index.windows_record(), lists, given, **settings)


def test_codes_in_any_number_from_16_are_searched(index, windows):
    """Distances are summed by sixteen codes; what is left over counts once."""
    lists, rows = index.lists_record("by_both"), windows["rows"]
    for n in (16, 17, 31, 32, 33, 39):
        books = index.books._replace(
            start_axes=index.books.start_axes[:n], start_steps=index.books.start_steps[:n],
            end_axes=index.books.end_axes[:n], end_steps=index.books.end_steps[:n],
        )  # fmt: skip
        codes = (index.starts[:, :n], index.ends[:, :n], index.ways)
        record = windows_record(LENGTH, books, codes)
        given = (windows["start"][50], windows["end"][50], None)
        found, squared = search_lists(
            record, lists, given, count=4, apart=1, spans=spans_array(), effort=(999, 9999, 10**9)
        )
        all_of_them = scan_all(rows, codes, plain.ask(books, given), LENGTH)
        assert np.sqrt(squared) == pytest.approx(np.sqrt(np.sort(all_of_them)[:4]), abs=1e-5)
        assert len(found) == 4


def test_an_index_that_was_asked_can_be_pickled_and_copied(index, windows):
    expected = index.nearest(windows["start"][3], count=4)
    for again in (pickle.loads(pickle.dumps(index)), copy.copy(index), copy.deepcopy(index)):
        found = again.nearest(windows["start"][3], count=4)
        assert np.array_equal(found.rows, expected.rows)
        assert np.array_equal(found.distances, expected.distances)


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


def test_bad_queries_are_refused(index, windows):
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


def test_clips_shorter_than_a_window_are_refused(kinds_frames):
    with pytest.raises(TableError, match="at least 900 frames"):
        build_index(kinds_frames, length=900)
