"""Knees are found on every rig of one body."""

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import find_knees, knee_flexion
from motionloom.body.body_map import BodyMap

from .bodies import along_x, random_axes, re_rigged, with_axes


def flexion_of(motion):
    body = BodyMap.guess(motion.skeleton)
    knees = find_knees(motion.skeleton, body, motion=motion)
    return np.degrees(knee_flexion(knees, *motion.world_pose()))


@pytest.mark.parametrize("axes", ["random", "along x"])
def test_joint_axes_do_not_matter(axes):
    walk = synthetic.clip("walk").motion
    own = random_axes(walk.skeleton, 4) if axes == "random" else along_x(walk.skeleton)
    for keep_rest in (True, False):
        rig = with_axes(walk.skeleton, own, keep_rest=keep_rest)
        flexion = flexion_of(re_rigged(walk, rig, own))
        assert np.abs(flexion - flexion_of(walk)).max() < 1.0
