"""The check of what a table makes: the frames that it sees, and how bad a flaw is."""

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from motionloom.tables.choice import frames_of as as_record
from motionloom.tables.choice import new_frames
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.synthesis import table_check
from motionloom.tables.synthesis.synthesis import (
    Synthesis,
    chain_pose,
    keep_true_labels,
    sole_points,
)
from motionloom.tables.synthesis.table_check import Checked
from tests.oracles import tables as plain
from tests.support.tables import table_in_memory

LENGTH, MARGIN = 12, 4
FLOAT32_M = 1e-5


@pytest.fixture(scope="module")
def frames():
    clips = [ml.synthetic.clip(kind, duration_s=1.0, turn=0.7) for kind in ("walk", "run")]
    return frames_of(
        [clip.motion for clip in clips],
        ids=["walk", "run"],
        footplants=[clip.footplants for clip in clips],
    )


@pytest.fixture(scope="module")
def table(frames):
    return table_in_memory(frames, length=LENGTH, clusters=2, keep=2).query_engine


@pytest.fixture(scope="module")
def check(table):
    return table.check


def captured(frames, row):
    """A captured window as if it had been made."""
    motion = frames.motion(row, row + LENGTH - 1)
    return Synthesis(
        frames.heading[row : row + LENGTH].copy(),
        np.array(motion.root_positions),
        np.array(motion.local_quats),
        np.array(frames.planted[row : row + LENGTH]),
        0.0,
        0.0,
    )


def around(table, made, windows):
    """Frames that the check sees, and how many go before the made ones."""
    out = new_frames(LENGTH + 2 * MARGIN, table.frames.skeleton.n_joints)
    before, given = np.zeros(1, dtype=np.int64), np.array(windows, dtype=np.int64)
    kernel("ml_table_around")(table.record, len(given), given, as_record(made), out, before)
    n = out.n_frames
    return out.heading[:n], out.root[:n], out.quats[:n], out.planted[:n], int(before[0])


@pytest.mark.parametrize(("row", "before", "after"), [(20, 4, 4), (0, 0, 4), (2, 2, 4)])
def test_a_captured_window_is_seen_with_its_own_neighbours(frames, table, row, before, after):
    plan, root, quats, planted, first = around(table, captured(frames, row), [row, row])
    rows = np.arange(row - before, row + LENGTH + after)
    motion = frames.motion(int(rows[0]), int(rows[-1]))
    assert root == pytest.approx(np.asarray(motion.root_positions), abs=FLOAT32_M)
    assert quat.angle_between(quats, np.asarray(motion.local_quats)).max() < 1e-3
    assert plan == pytest.approx(frames.heading[rows])
    assert (planted == frames.planted[rows]).all()
    assert first == before


def test_at_the_end_of_a_clip_there_is_nothing_after(frames, table):
    for left in range(MARGIN + 2):
        row = int(frames.starts[1]) - LENGTH - left
        _, root, *_, first = around(table, captured(frames, row), [row, row])
        assert len(root) - first - LENGTH == min(left, MARGIN)
        assert first == MARGIN


def test_neighbours_are_moved_to_where_the_made_frames_are(frames, table):
    row, turn = 20, 0.9
    made = captured(frames, row)
    spin = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), turn)
    move = np.array([3.0, 0.0, -2.0])
    quats = made.local_quats.copy()
    quats[:, 0] = quat.multiply(spin, quats[:, 0])
    moved = made._replace(
        heading=made.heading + turn,
        root_positions=quat.rotate(spin, made.root_positions) + move,
        local_quats=quats,
    )
    plan, root, local, *_ = around(table, moved, [row, row])
    rows = np.arange(row - MARGIN, row + LENGTH + MARGIN)
    motion = frames.motion(int(rows[0]), int(rows[-1]))
    assert root == pytest.approx(
        quat.rotate(spin, np.asarray(motion.root_positions)) + move, abs=FLOAT32_M
    )
    assert plan == pytest.approx(frames.heading[rows] + turn)
    expected = quat.multiply(spin, np.asarray(motion.local_quats)[:, 0])
    assert quat.angle_between(local[:, 0], expected).max() < 1e-3


@pytest.mark.parametrize(("first", "last"), [(7, 30), (0, 119), (61, 72)])
def test_frames_around_match_their_plain_form(frames, table, first, last):
    made = captured(frames, 40)
    plan, root, quats, planted, before = around(table, made, [first, last - LENGTH + 1])
    after = len(root) - before - LENGTH
    for wanted, meets, at, place in (
        (np.arange(first - before, first), first, 0, slice(0, before)),
        (np.arange(last + 1, last + 1 + after), last, -1, slice(before + LENGTH, None)),
    ):
        given = table.rows, wanted, meets, made.heading[at], made.root_positions[at]
        headings, roots, local = plain.captured_rows(*given)
        assert np.abs(plan[place] - headings).max(initial=0.0) < 1e-12
        assert np.abs(root[place] - roots).max(initial=0.0) < 1e-12
        assert np.abs(quats[place] - local).max(initial=0.0) < 1e-12
        assert (planted[place] == frames.planted[wanted]).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("ahead", "after"), [(0, 0), (7, 0), (0, 9), (20, 15)])
def test_frames_that_play_on_match_their_plain_form(frames, table, ahead, after, sign):
    """Rotations go on with the sign of the frame before, whichever the made ones have."""
    first, last = 25, int(frames.starts[1]) + 30  # of the walk, of the run
    made = captured(frames, 40)
    made = made._replace(local_quats=sign * made.local_quats)
    out = new_frames(ahead + LENGTH + after, frames.skeleton.n_joints)
    scratch = np.zeros((frames.skeleton.n_joints, 7)), np.zeros((ahead + LENGTH + after, 4, 3))
    kernel("ml_table_played")(
        table.record, first, ahead, last, after, as_record(made), *scratch, out
    )
    parts = []
    for wanted, meets, at in (
        (np.arange(first - ahead, first), first, 0),
        (np.arange(last + 1, last + 1 + after), last, -1),
    ):
        given = table.rows, wanted, meets, made.heading[at], made.root_positions[at]
        parts.append((*plain.captured_rows(*given), frames.planted[wanted]))
    own = made.heading, made.root_positions, made.local_quats, made.planted
    together = zip(parts[0], own, parts[1], strict=True)
    heading, root, quats, planted = (np.concatenate(part) for part in together)
    assert np.abs(out.heading - heading).max() < 1e-12
    assert np.abs(out.root - root).max() < 1e-12
    assert np.abs(out.quats - quat.make_continuous(quats)).max() < 1e-12
    points = sole_points(table.rig, *chain_pose(table.rig, root, quats))
    keep_true_labels(points, frames.fps, planted)
    assert (out.planted == planted).all()


def test_rows_beyond_the_collection_do_not_play(frames, table):
    made, joints = captured(frames, 40), frames.skeleton.n_joints
    out, chain = new_frames(LENGTH + 30, joints), np.zeros((joints, 7))
    points = np.zeros((LENGTH + 30, 4, 3))
    for first, ahead, last, after in ((5, 6, 50, 0), (5, 0, frames.n_rows - 5, 5), (5, 0, 50, 31)):
        with pytest.raises(ArrayError, match="sizes do not fit"):
            kernel("ml_table_played")(
                table.record, first, ahead, last, after, as_record(made), chain, points, out
            )


def test_windows_that_are_none_are_refused(frames, table):
    made = captured(frames, 40)
    for rows in ([-1, 20], [20, frames.n_rows], [20, frames.n_rows - 2], [55, 20]):
        with pytest.raises(ArrayError, match="clip is too short"):
            around(table, made, rows)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        around(table, made, [])


@pytest.mark.parametrize("row", [0, 20, 75])
def test_what_fails_is_what_the_check_of_a_motion_finds(frames, table, row):
    """Captured frames pass; with a joint that spins the same fails as in the plain check."""
    made = captured(frames, row)
    assert plain.check(table, made, (row, row)).passed
    quats = made.local_quats.copy()
    spin = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.linspace(0.0, 3.0, LENGTH))
    knee = int(table.rig.legs[0, 1])
    quats[:, knee] = quat.multiply(quats[:, knee], spin)
    made = made._replace(local_quats=quats)
    plan, root, local, planted, before = around(table, made, [row, row])
    span = before, before + LENGTH - 1
    expected = table.check.motion(root, local, plan, planted, span, [table.places.clip_at(row)])
    found = plain.check(table, made, (row, row))
    assert not found.passed
    assert found.failures[:, [0, 1, 3, 4]] == pytest.approx(expected.failures[:, [0, 1, 3, 4]])
    kept = np.clip(expected.failures[:, 2], 0, LENGTH - 1)  # of frames after, the last made one
    assert found.failures[:, 2].tolist() == kept.tolist()


def test_the_badness_of_flaws_is_how_far_each_is_over_its_limit(check):
    def badness(*found):
        rows = np.array([[0, 0, 0, value, limit] for value, limit in found], dtype=np.float64)
        return Checked(rows.reshape(-1, 5), check.check_rig, ("a",)).badness

    assert badness() == 0.0
    assert badness((3.0, 2.0)) == pytest.approx(1.5)
    assert badness((1.0, 2.0)) == pytest.approx(1.5)
    assert badness((-3.0, -2.0)) == pytest.approx(1.5)
    assert badness((3.0, 2.0), (9.0, 3.0)) == pytest.approx(1.5 + 3.0)
    assert badness((1e-3, 0.0)) == pytest.approx(1.0 + 1e-3 / 1e-9)


def test_limits_of_several_clips_are_the_widest(check):
    both, alone = check.limits_of([0, 1]), [check.limits_of([k]) for k in (0, 1)]
    for name in both._fields:
        a, b = (getattr(each, name) for each in alone)
        widest = np.minimum(a, b) if name in table_check.LOWS else np.maximum(a, b)
        assert (getattr(both, name) == widest).all(), name
        assert (getattr(check.limits_of([1, 0, 1]), name) == widest).all(), name


def names_of(checked):
    """Names of the checks that failed."""
    return {each.check for each in checked.verification(0).failed}


def test_feet_stand_no_higher_than_in_the_clips_that_are_left_and_entered(frames, table):
    row, between = 20, int(frames.starts[1]) + 20
    made = captured(frames, row)
    root = made.root_positions + np.array([0.0, 0.3, 0.0])
    root[:, 1] = root[:, 1].mean()  # a body that does not fall
    made = made._replace(root_positions=root)
    assert "hovering" in names_of(plain.check(table, made, (row, between, row)))
    highest = table.check.limits_of([1]).highest
    own = table.check.limits[1]
    starts = [k for k in range(len(own) - 3) if np.array_equal(own[k : k + 4], highest)]
    kept = own.copy()
    own[starts[0] : starts[0] + 4] += 1.0  # the clip between stands on a high floor
    try:
        assert table.check.limits_of([1]).highest == pytest.approx(highest + 1.0)
        assert "hovering" in names_of(plain.check(table, made, (row, between, row)))
        assert "hovering" not in names_of(plain.check(table, made, (between, row, between)))
    finally:
        own[:] = kept


def test_the_floor_goes_from_that_of_the_clip_left_to_that_of_the_clip_entered(frames, table):
    row, entered = 20, int(frames.starts[1]) + 20
    made = captured(frames, row)
    made = made._replace(root_positions=made.root_positions + np.array([0.0, 0.085, 0.0]))

    def hovers(left: float, right: float) -> bool:
        """With the floors of both clips raised, metres."""
        kept = table.check.limits.copy()
        for clip, rise in ((0, left), (1, right)):
            highest, own = table.check.limits_of([clip]).highest, table.check.limits[clip]
            starts = [k for k in range(len(own) - 3) if np.array_equal(own[k : k + 4], highest)]
            own[starts[0] : starts[0] + 4] += rise
        try:
            return "hovering" in names_of(plain.check(table, made, (row, entered)))
        finally:
            table.check.limits[:] = kept

    assert hovers(0.0, 0.0)
    assert not hovers(0.05, 0.05)
    assert hovers(0.05, 0.0)
    assert hovers(0.0, 0.05)
    # A foot may stand on a box until it is left: the floor is at most 5 cm below it.
    assert not hovers(0.5, 0.0)


def test_a_body_hovers_in_a_frame_no_farther_than_in_the_frames_that_it_is_made_of(frames, table):
    row = 20
    made = captured(frames, row)
    root = made.root_positions + np.array([0.0, 0.3, 0.0])
    root[:, 1] = root[:, 1].mean()  # a body that does not fall
    made = made._replace(root_positions=root)
    n, kept = len(root), table.check.hovers.copy()
    try:
        for at, licensed in ((row + n // 2, True), (row + n, False), (row - 1, False)):
            table.check.hovers[at] = 2.0  # metres, in that frame alone
            assert ("hovering" in names_of(plain.check(table, made, (row, row)))) != licensed
            table.check.hovers[:] = kept
    finally:
        table.check.hovers[:] = kept
