"""Limbs that are twisted by half a turn are turned back without moving a joint."""

import numpy as np
import pytest

from motionloom.features.twists import untwist
from motionloom.motion.body import BodyMap
from motionloom.motion.kinematics import local_from_world
from motionloom.rotation import quat
from motionloom.synthetic import clip


@pytest.fixture(scope="module")
def walk():
    return clip("walk").motion


def twisted(motion, joints, frames):
    """The motion with some bones turned by half a turn about themselves."""
    world = np.array(motion.world_quats())
    for joint, end in joints:
        bone = motion.skeleton.offsets[end]
        turn = np.concatenate([[0.0], bone / np.linalg.norm(bone)])
        world[frames, joint] = quat.multiply(world[frames, joint], turn)
    return motion.replace(
        local_quats=quat.make_continuous(local_from_world(motion.skeleton, world))
    )


@pytest.fixture(scope="module")
def straight(walk):
    """Frames in which the left leg is straight."""
    body = BodyMap.guess(walk.skeleton)
    hip, ankle = np.moveaxis(walk.world_positions()[:, [body.left_hip, body.left_ankle]], 1, 0)
    reach = np.linalg.norm(ankle - hip, axis=-1)
    return np.flatnonzero(reach > 0.985 * reach.max())


@pytest.mark.parametrize("where", ["middle", "end"])
def test_a_twisted_leg_is_turned_back(walk, straight, where):
    body = BodyMap.guess(walk.skeleton)
    first = straight[len(straight) // 2] if where == "middle" else straight[-1] - 3
    last = first + 2 if where == "middle" else walk.n_frames
    frames = slice(int(first), int(last))
    leg = [(body.left_hip, body.left_knee), (body.left_knee, body.left_ankle)]
    broken = twisted(walk, leg, frames)
    assert np.allclose(broken.world_positions(), walk.world_positions(), atol=1e-9)
    mended, names = untwist(broken, body)
    assert len(names) == 2
    assert quat.angle_between(mended.world_quats(), walk.world_quats()).max() < 1e-6
    assert np.allclose(mended.world_positions(), walk.world_positions(), atol=1e-9)


def test_a_sound_clip_comes_back_as_it_is(walk):
    motion, names = untwist(walk, BodyMap.guess(walk.skeleton))
    assert motion is walk and names == []


def test_a_limb_that_turns_over_is_not_twisted(walk):
    """A foot or a thigh that points elsewhere after a step was turned, not twisted."""
    body = BodyMap.guess(walk.skeleton)
    local = np.array(walk.local_quats)
    over = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.pi)
    local[60:, body.left_hip] = quat.multiply(local[60:, body.left_hip], over)
    motion = walk.replace(local_quats=quat.make_continuous(local))
    assert untwist(motion, body)[0] is motion
