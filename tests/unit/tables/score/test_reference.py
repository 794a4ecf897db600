"""How source and target of a blend move: the scale of naturalness."""

from dataclasses import replace

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.masses import mass_segments
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import COLUMNS, column, score_recipes
from motionloom.tables.score.natural import reference_of, relative_columns
from motionloom.tables.score.terms import TURN_M, terms_of

LENGTH = 60
FLOAT32 = 1e-4


@pytest.fixture
def frames(kinds_frames):
    return kinds_frames


def plain_reference(frames, row):
    """Movement and speed of one window, straight from its frames."""
    window = slice(row, row + LENGTH)
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    centres = segments.centres(frames.body[window].astype(np.float64))
    centres -= np.einsum("s,fsc->fc", segments.masses, centres)[:, None]
    apart = centres - centres.mean(axis=0)
    movement = np.sqrt(np.mean(np.sum(segments.masses[:, None] * apart**2, axis=(1, 2))))
    steps = frames.fps * np.diff(frames.ground[window], axis=0)
    turns = frames.fps * TURN_M * np.diff(frames.heading[window])
    return movement, np.sqrt(np.mean(np.sum(steps**2, axis=1) + turns**2))


def test_movement_and_speed_are_those_of_both_windows(frames):
    rows = np.array([frames.row_of(name, 10) for name in ("walk_0", "run_1")])
    terms = terms_of(frames, rows, LENGTH)
    found = reference_of(terms, [[0, 0], [0, 1], [1, 1]])
    walk, run = (plain_reference(frames, row) for row in rows)
    for k in range(2):
        got = found[1 + k]
        assert got[0] == pytest.approx(walk[k], rel=FLOAT32)
        assert got[2] == pytest.approx(run[k], rel=FLOAT32)
        assert got[1] == pytest.approx(np.hypot(walk[k], run[k]) / np.sqrt(2.0), rel=FLOAT32)


def test_a_captured_window_has_no_fault(frames):
    rows = frames.windows(LENGTH, stride=20)
    terms = terms_of(frames, rows, LENGTH)
    places = np.arange(len(rows))
    alone = np.stack([places, *[np.full(len(rows), -1)] * 3], axis=1)
    relative = relative_columns(
        score_recipes(terms, alone), reference_of(terms, np.stack([places, places], axis=1))
    )
    # A planted foot still moves a little about its plant.
    assert np.abs(relative[:, [0, 1, 3]]).max() < 0.01
    assert relative[:, 2].max() < 0.15


def scaled(motion, size):
    """The same motion of a body of another size, slowed down as a pendulum of that size is."""
    bones = motion.skeleton
    skeleton = replace(bones, offsets=size * bones.offsets, end_offsets=size * bones.end_offsets)
    return ml.Motion(
        skeleton,
        size * motion.root_positions,
        motion.local_quats,
        motion.fps / np.sqrt(size),
        name=motion.name,
    )


def relative_of(motions, length):
    """Relative columns of the blend of the first windows of two motions."""
    frames = frames_of(motions)
    terms = terms_of(frames, [0, motions[0].n_frames], length)
    columns = score_recipes(terms, np.array([[0, 1, -1, -1]], dtype=np.int32))
    return relative_columns(columns, reference_of(terms, [[0, 1]]))[0]


def test_half_the_frame_rate_gives_nearly_the_same():
    motions = [ml.synthetic.clip(name).motion for name in ("walk", "run")]
    fast = relative_of(motions, round(motions[0].fps))
    slow = relative_of(
        [ml.resample(m, fps=0.5 * m.fps) for m in motions], round(motions[0].fps / 2)
    )
    assert slow == pytest.approx(fast, rel=0.12, abs=0.03)


def test_a_child_has_the_relative_columns_of_an_adult():
    motions = [ml.synthetic.clip(name).motion for name in ("walk", "run")]
    adult = relative_of(motions, round(motions[0].fps))
    child = relative_of([scaled(m, 0.6) for m in motions], round(motions[0].fps))
    assert child[:3] == pytest.approx(adult[:3], rel=0.05)
    # Accelerations are smoothed over a quarter of a second, whatever the size.
    assert child[3] == pytest.approx(adult[3], rel=0.2)


def test_relative_columns_do_not_depend_on_the_order_of_blends(frames):
    rows = np.array([frames.row_of(name, 10) for name in ("walk_0", "run_1", "kick_0")])
    terms = terms_of(frames, rows, LENGTH)
    ids = np.array([[0, 1, -1, -1], [1, 2, -1, -1], [2, 0, -1, -1]], dtype=np.int32)
    columns, ends = score_recipes(terms, ids), ids[:, :2]
    together = relative_columns(columns, reference_of(terms, ends))
    for k in range(3):
        alone = relative_columns(columns[[k]], reference_of(terms, ends[[k]]))
        assert alone[0] == pytest.approx(together[k])


def test_only_acceleration_above_that_of_source_and_target_counts(frames):
    terms = terms_of(frames, [frames.row_of("run_1", 10)], LENGTH)
    reference = reference_of(terms, [[0, 0]])
    columns = np.zeros((3, len(COLUMNS)))
    columns[:, column("com_acc")] = reference.com_acc[0] * np.array([0.5, 1.0, 2.0])
    less, same, more = relative_columns(columns, reference)[:, 3]
    assert less == same == 0.0
    assert more > 0.5
