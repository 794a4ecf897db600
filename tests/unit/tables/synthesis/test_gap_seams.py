"""Steps at both ends of a passage go on as the motion outside does."""

import numpy as np
import pytest

from motionloom.rotation import quat
from motionloom.tables.synthesis.gap_windows import Gap, OuterPose, gap_of
from motionloom.tables.synthesis.passage import FADE_S, Passage, meet_steps

FPS, LENGTH, JOINTS = 60.0, 50, 4


def turns(speed):
    """Rotations (L, J, 4) that turn by so many radians a frame."""
    angles = speed * np.arange(LENGTH)[:, None] * np.ones(JOINTS)
    return quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angles)


def straight(step, speed):
    root = np.arange(LENGTH)[:, None] * np.asarray(step)
    return Passage(np.zeros(LENGTH), root, turns(speed))


def before(passage, step, speed):
    """The pose outside the start, a step away."""
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -speed * np.ones(JOINTS))
    return OuterPose(passage.root_positions[0] - step, quat.multiply(turn, passage.local_quats[0]))


def steps_of(passage):
    q = passage.local_quats
    spins = quat.log(quat.multiply(quat.conjugate(q[:-1]), q[1:]))
    return np.diff(passage.root_positions, axis=0), spins


def test_a_passage_that_goes_on_stays():
    step = np.array([0.01, 0.0, 0.02])
    made = straight(step, 0.05)
    met = meet_steps(made, (before(made, step, 0.05), None), FPS)
    assert np.allclose(met.root_positions, made.root_positions, atol=1e-12)
    assert quat.angle_between(met.local_quats, made.local_quats).max() < 1e-7


def test_nothing_known_outside_changes_nothing():
    made = straight([0.01, 0.0, 0.02], 0.05)
    met = meet_steps(made, (None, None), FPS)
    assert np.array_equal(met.root_positions, made.root_positions)
    assert quat.angle_between(met.local_quats, made.local_quats).max() < 1e-7


def test_the_first_step_is_the_one_outside_and_the_rest_fades():
    made, step = straight([0.01, 0.0, 0.02], 0.05), np.array([0.03, -0.01, 0.02])
    met = meet_steps(made, (before(made, step, -0.02), None), FPS)
    steps, spins = steps_of(met)
    assert np.allclose(steps[0], step, atol=1e-12)
    assert np.allclose(spins[0], [0.0, -0.02, 0.0], atol=1e-9)
    late = round(FADE_S * FPS)
    assert np.array_equal(met.root_positions[[0, *range(late, LENGTH)]],
                          made.root_positions[[0, *range(late, LENGTH)]])  # fmt: skip
    angles = quat.angle_between(met.local_quats, made.local_quats).max(axis=1)
    assert angles[0] < 1e-7 and angles[late:].max() < 1e-7 and angles[1] > 0.06
    # Velocities change by a small part of the difference from frame to frame.
    jerk = np.abs(np.diff(steps, axis=0)).max()
    assert jerk < 0.4 * np.abs(step - [0.01, 0.0, 0.02]).max()


def test_the_last_step_mirrors_the_first():
    made, step = straight([0.01, 0.0, 0.02], 0.05), np.array([0.03, -0.01, 0.02])
    start = before(made, step, -0.02)
    back = Passage(made.heading, made.root_positions[::-1], made.local_quats[::-1])
    one = meet_steps(made, (start, None), FPS)
    other = meet_steps(back, (None, start), FPS)
    assert np.allclose(one.root_positions, other.root_positions[::-1], atol=1e-12)
    assert quat.angle_between(one.local_quats, other.local_quats[::-1]).max() < 1e-7


@pytest.mark.parametrize("length", [3, 4])
def test_the_shortest_passages_keep_their_ends(length):
    whole = straight([0.01, 0.0, 0.02], 0.05)
    made = Passage(*(each[:length] for each in whole))
    met = meet_steps(made, (before(made, np.array([0.02, 0.0, 0.0]), 0.01), None), FPS)
    assert np.allclose(met.root_positions[[0, -1]], made.root_positions[[0, -1]], atol=1e-12)


def test_poses_outside_a_gap_are_the_captured_ones_of_its_clip(kinds_frames, kinds_motions):
    walk = next(m for m in kinds_motions if m.name == "walk_0")
    first, last = 20, 40
    for outer, frame in zip(
        gap_of(kinds_frames, walk, first, last).outer(), (first - 2, last + 2), strict=True
    ):
        assert np.allclose(outer.root, walk.root_positions[frame], atol=1e-6)
        assert quat.angle_between(outer.quats, walk.local_quats[frame]).max() < 1e-3
    assert gap_of(kinds_frames, walk, 1, walk.n_frames - 2).outer() == (None, None)
    # Rows of a collection: the clip before is another one.
    row, end = int(kinds_frames.starts[1]), int(kinds_frames.starts[2]) - 1
    assert Gap(kinds_frames, row, end, end - row + 1).outer() == (None, None)
