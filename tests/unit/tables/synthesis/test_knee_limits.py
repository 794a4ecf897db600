"""Knees of fills: neither bent backwards nor folded too far."""

import numpy as np
import pytest

from motionloom.motion.motion import forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.synthesis.passage import (
    MOST_FLEXION,
    SEAM,
    STRAIGHT,
    TOO_FAR,
    Passage,
    bend_knees,
)
from motionloom.tables.synthesis.synthesis import rig_of

ROUND_OFF_M = 1e-7
"""Frames keep quaternions in 32 bits; what is normalised again moves a little."""
LENGTH = 40


@pytest.fixture(scope="module")
def rig(kinds_frames):
    return rig_of(kinds_frames)


def passage_of(frames, clip, length=LENGTH):
    row = frames.row_of(clip, 10)
    motion = frames.motion(row, row + length - 1)
    heading = frames.heading[row : row + length]
    return Passage(heading, np.array(motion.root_positions), np.array(motion.local_quats))


def joints_of(frames, passage):
    return forward_kinematics(frames.skeleton, passage.root_positions, passage.local_quats)


def flexion_of(rig, positions, world, side):
    """Signed flexion about the hinge, radians. (L,)."""
    hip, knee, ankle = rig.legs[side]
    axis = quat.rotate(world[:, hip], rig.axes[side])
    thigh, shank = positions[:, knee] - positions[:, hip], positions[:, ankle] - positions[:, knee]
    across = np.sum(np.cross(thigh, shank) * axis, axis=-1)
    angle = np.arctan2(across, np.sum(thigh * shank, axis=-1))
    return np.where(angle < -2.0, angle + 2.0 * np.pi, angle)


def bent(frames, rig, passage, angle):
    """The passage with its left shank turned on by an angle in the middle frames."""
    _, world = joints_of(frames, passage)
    hip, knee, _ = rig.legs[0]
    quats = np.array(passage.local_quats)
    middle = slice(12, 28)
    axis = quat.rotate(world[middle, hip], rig.axes[0])
    local = quat.rotate(quat.conjugate(world[middle, knee]), axis)
    bump = angle * np.sin(np.linspace(0.0, np.pi, 16))
    quats[middle, knee] = quat.multiply(quats[middle, knee], quat.from_axis_angle(local, bump))
    return Passage(passage.heading, passage.root_positions, quats)


def test_knees_within_their_range_stay_as_they_are(kinds_frames, rig):
    run = passage_of(kinds_frames, "run_0")
    positions, world = joints_of(kinds_frames, run)
    free = np.ones(LENGTH, dtype=bool)
    for side in range(2):
        free &= flexion_of(rig, positions, world, side) > STRAIGHT
    assert free.sum() > 10
    now, _ = joints_of(kinds_frames, bend_knees(rig, run))
    assert np.abs(now - positions)[free].max() < ROUND_OFF_M


@pytest.mark.parametrize("angle", [-2.0, 2.6], ids=["backwards", "too far"])
def test_flexion_is_kept_within_what_knees_do(kinds_frames, rig, angle):
    wrong = bent(kinds_frames, rig, passage_of(kinds_frames, "walk_0"), angle)
    before, world_before = joints_of(kinds_frames, wrong)
    was = flexion_of(rig, before, world_before, 0)
    assert was.min() < -0.3 or was.max() > MOST_FLEXION + 0.1
    made = bend_knees(rig, wrong)
    after, world = joints_of(kinds_frames, made)
    flexion = flexion_of(rig, after, world, 0)
    inner = slice(SEAM, LENGTH - SEAM)
    assert flexion[inner].min() > -1e-6 and flexion[inner].max() < MOST_FLEXION + 1e-6
    assert np.abs(np.diff(flexion)).max() <= np.abs(np.diff(was)).max() + 1e-6
    hip, knee, ankle = rig.legs[0]
    ways = [p[:, ankle] - p[:, hip] for p in (before, after)]
    ways = [way / np.linalg.norm(way, axis=-1, keepdims=True) for way in ways]
    turned = np.arccos(np.clip(np.sum(ways[0] * ways[1], -1), -1, 1))
    assert np.degrees(turned[was < TOO_FAR].max()) < 1.0
    assert quat.angle_between(world[:, ankle], world_before[:, ankle]).max() < 1e-5
    lengths = np.linalg.norm(after[:, knee] - after[:, hip], axis=-1)
    assert np.ptp(lengths) < ROUND_OFF_M


def test_hips_turn_no_faster_where_a_knee_is_folded_past_half_a_turn(kinds_frames, rig):
    wrong = bent(kinds_frames, rig, passage_of(kinds_frames, "walk_0"), 3.4)
    was = flexion_of(rig, *joints_of(kinds_frames, wrong), 0)
    assert was.max() > np.pi + 0.1
    hip = rig.legs[0][0]
    made = bend_knees(rig, wrong).local_quats[:, hip]
    before = wrong.local_quats[:, hip]
    fastest, usual = (np.max(quat.angle_between(q[1:], q[:-1])) for q in (made, before))
    assert fastest < usual + np.radians(2.0)


def test_a_knee_goes_no_further_back_than_it_is_at_a_given_end(kinds_frames, rig):
    wrong = bent(kinds_frames, rig, passage_of(kinds_frames, "walk_0"), -2.0)
    within = slice(14, 34)
    start = Passage(*(each[within] for each in wrong))
    was = flexion_of(rig, *joints_of(kinds_frames, start), 0)
    assert was[0] < -0.1 and was.min() < was[0] - 0.5
    flexion = flexion_of(rig, *joints_of(kinds_frames, bend_knees(rig, start)), 0)
    assert flexion[0] == pytest.approx(was[0], abs=1e-6)
    assert flexion.min() > was[0] - 1e-6
    assert flexion[SEAM] > -1e-6


def test_the_given_ends_stay(kinds_frames, rig):
    wrong = bent(kinds_frames, rig, passage_of(kinds_frames, "walk_0"), -2.0)
    made = bend_knees(rig, wrong)
    for t in (0, -1):
        assert quat.angle_between(made.local_quats[t], wrong.local_quats[t]).max() < 1e-6
