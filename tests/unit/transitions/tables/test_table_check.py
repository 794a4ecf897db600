"""The check of what a table makes: the frames that it sees, and how bad a flaw is."""

import numpy as np
import pytest
from tests.plain import tables as plain

import motionloom as ml
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.motion.kinematics import forward_kinematics
from motionloom.rotation import quat
from motionloom.transitions.collecting.frames import frames_of
from motionloom.transitions.making.rig import rig_of, rows_of
from motionloom.transitions.making.synthesis import Synthesis
from motionloom.transitions.tables import table_check
from motionloom.transitions.tables.table_check import MARGIN, Checked, TableCheck

LENGTH = 12
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
def check(frames):
    return TableCheck(frames, rows_of(frames), rig_of(frames))


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


@pytest.fixture
def seen(monkeypatch, check):
    """What the check would judge; nothing is found but one row in every frame."""
    calls = []

    def spy(rig, limits, fps, positions, world, quats, plan, planted, first, last, found):
        pose = forward_kinematics(check.frames.skeleton, positions[:, 0], quats)
        assert np.abs(positions - pose[0]).max() < 1e-12 and np.abs(world - pose[1]).max() < 1e-12
        calls.append((positions[:, 0], quats, plan, planted, first, last))
        found[: len(quats), 2] = np.arange(len(quats))
        return len(quats)

    monkeypatch.setattr(table_check, "_judge_frames", spy)
    return calls


@pytest.mark.parametrize(("row", "before", "after"), [(20, 4, 4), (0, 0, 4), (2, 2, 4)])
def test_a_captured_window_is_seen_with_its_own_neighbours(frames, check, seen, row, before, after):
    found = check.transition(captured(frames, row), [row, row], [0, 0])
    root, quats, plan, planted, first, last = seen[0]
    rows = np.arange(row - before, row + LENGTH + after)
    motion = frames.motion(int(rows[0]), int(rows[-1]))
    assert root == pytest.approx(np.asarray(motion.root_positions), abs=FLOAT32_M)
    assert quat.angle_between(quats, np.asarray(motion.local_quats)).max() < 1e-3
    assert plan == pytest.approx(frames.heading[rows])
    assert (planted == frames.planted[rows]).all()
    assert (first, last) == (before, before + LENGTH - 1)
    expected = np.clip(np.arange(len(rows)) - before, 0, LENGTH - 1)
    assert found.found[:, 2].tolist() == expected.tolist()


def test_at_the_end_of_a_clip_there_is_nothing_after(frames, check, seen):
    for left in range(MARGIN + 2):
        row = int(frames.starts[1]) - LENGTH - left
        check.transition(captured(frames, row), [row, row], [0, 0])
        root, *_, first, last = seen[-1]
        assert len(root) - 1 - last == min(left, MARGIN)
        assert first == MARGIN


def test_neighbours_are_moved_to_where_the_made_frames_are(frames, check, seen):
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
    check.transition(moved, [row, row], [0, 0])
    root, local, plan, *_ = seen[0]
    rows = np.arange(row - MARGIN, row + LENGTH + MARGIN)
    motion = frames.motion(int(rows[0]), int(rows[-1]))
    assert root == pytest.approx(
        quat.rotate(spin, np.asarray(motion.root_positions)) + move, abs=FLOAT32_M
    )
    assert plan == pytest.approx(frames.heading[rows] + turn)
    expected = quat.multiply(spin, np.asarray(motion.local_quats)[:, 0])
    assert quat.angle_between(local[:, 0], expected).max() < 1e-3


@pytest.mark.parametrize(("first", "last"), [(7, 30), (0, 119), (60, 61)])
def test_frames_around_match_their_plain_form(frames, check, seen, first, last):
    made = captured(frames, 40)
    check.transition(made, [first, last - LENGTH + 1], [0, 1 if last > 60 else 0])
    root, quats, plan, planted, before, end = seen[0]
    rows, after = check.rows, len(root) - 1 - end
    for wanted, meets, at, place in (
        (np.arange(first - before, first), first, 0, slice(0, before)),
        (np.arange(last + 1, last + 1 + after), last, -1, slice(end + 1, None)),
    ):
        given = rows, wanted, meets, made.heading[at], made.root_positions[at]
        headings, roots, local = plain.captured_rows(*given)
        assert np.abs(plan[place] - headings).max(initial=0.0) < 1e-12
        assert np.abs(root[place] - roots).max(initial=0.0) < 1e-12
        assert np.abs(quats[place] - local).max(initial=0.0) < 1e-12
        assert (planted[place] == frames.planted[wanted]).all()


def test_rows_beyond_the_collection_are_refused(frames, check):
    made, n_rows = captured(frames, 40), frames.n_rows
    n, n_joints = LENGTH + 4, frames.skeleton.n_joints
    for first, last in ((1, 50), (n_rows, 50), (50, n_rows - 2), (50, -1)):
        with pytest.raises(ArrayError, match="sizes do not fit"):
            kernel("ml_table_surround")(
                check.rows.record, check.rig.record, LENGTH, made.heading, made.root_positions,
                made.local_quats, made.planted, first, 2, last, 2, np.zeros(n), np.zeros((n, 3)),
                np.zeros((n, n_joints, 4)), np.zeros((n, 4), dtype=bool),
                np.zeros((n, n_joints, 3)), np.zeros((n, n_joints, 4)),
            )  # fmt: skip


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
