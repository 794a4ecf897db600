"""Knees that bend the wrong way."""

import numpy as np
import pytest

from motionloom.motion.kinematics import forward_kinematics
from motionloom.rotation import quat
from motionloom.transitions.making.knees import BACK, bend_knees
from motionloom.transitions.making.mean_window import Passage
from motionloom.transitions.making.rig import rig_of

ROUND_OFF_M = 1e-7
"""Frames keep quaternions in 32 bits; what is normalised again moves a little."""


@pytest.fixture(scope="module")
def rig(kinds_frames):
    return rig_of(kinds_frames)


ANKLE_M = 0.02
"""A knee 15 degrees the wrong way is mirrored; its ankle moves a centimetre and less."""


def passage_of(frames, clip, length=40):
    row = frames.row_of(clip, 10)
    motion = frames.motion(row, row + length - 1)
    heading = frames.heading[row : row + length]
    return Passage(heading, np.array(motion.root_positions), np.array(motion.local_quats))


def joints_of(frames, passage):
    return forward_kinematics(frames.skeleton, passage.root_positions, passage.local_quats)


def below(parents, joint):
    """A joint and all that hang from it."""
    found = {joint}
    for j, parent in enumerate(parents):
        if parent in found:
            found.add(j)
    return sorted(found)


def knee_out(rig, positions, world, side):
    hip, knee, ankle = rig.legs[side]
    thigh, leg = positions[:, knee] - positions[:, hip], positions[:, ankle] - positions[:, hip]
    line = leg / np.linalg.norm(leg, axis=-1, keepdims=True)
    way = quat.rotate(world[:, hip], rig.poles[side])
    way = way - np.sum(way * line, -1, keepdims=True) * line
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    return np.sum(thigh * way, axis=-1) / np.linalg.norm(thigh, axis=-1)


def test_captured_legs_stay_as_they_are(kinds_frames, rig):
    walk = passage_of(kinds_frames, "walk_0")
    assert np.abs(bend_knees(rig, walk).local_quats - walk.local_quats).max() < ROUND_OFF_M


def test_a_leg_bent_backwards_is_bent_forwards_and_its_foot_stays(kinds_frames, rig):
    walk = passage_of(kinds_frames, "walk_0")
    _, knee, ankle = rig.legs[0]
    quats = np.array(walk.local_quats)
    # Twice as far straight as it was bent: the same angle on the other side.
    quats[10:20, knee] = quat.conjugate(quats[10:20, knee])
    wrong = Passage(walk.heading, walk.root_positions, quats)
    before, world_before = joints_of(kinds_frames, wrong)
    assert knee_out(rig, before, world_before, 0)[10:20].min() < -BACK
    after, world = joints_of(kinds_frames, bend_knees(rig, wrong))
    leg = np.isin(np.arange(len(rig.parents)), below(rig.parents, knee))
    assert np.abs(after - before)[:, ~leg].max() < ROUND_OFF_M
    assert np.abs(after - before)[:, ankle].max() < ANKLE_M
    assert quat.angle_between(world[:, ankle], world_before[:, ankle]).max() < 1e-6
    out = knee_out(rig, after, world, 0)
    assert out.min() > -2.0 * BACK and out[10:20].max() > BACK
    for joint in (knee, ankle):
        above = rig.parents[joint]
        lengths = np.linalg.norm(after[:, joint] - after[:, above], axis=-1)
        assert np.ptp(lengths) < ROUND_OFF_M
