"""Captured defects are repaired; quick motion that was captured well stays as it is."""

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.glitches.repair import repair_capture

QUICK = {
    "cmu_bvh/143_05.bvh": 60,
    "cmu_bvh/143_23.bvh": 60,
    "cmu_bvh/143_24.bvh": 60,
    "cmu_bvh/143_31.bvh": 60,
    "cmu_bvh/143_42.bvh": 60,
    "bandai_bvh/dataset-1_kick_normal_001.bvh": None,
    "bandai_bvh/dataset-1_punch_normal_001.bvh": None,
    "bandai_bvh/dataset-1_dash_normal_001.bvh": None,
    "deepmimic_txt/humanoid3d_kick.txt": None,
    "deepmimic_txt/humanoid3d_punch.txt": None,
}
"""Jumps, punches, kicks, hops and runs with the rate they were captured at."""
STAYS_M = 0.015
"""Chest, limbs, hands and ankles move by less; toes, which captures invent, may move more."""


def loaded(mocap, name, fps=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ml.load(mocap / name, fps=fps)


def moved(motion, repaired):
    """How far each joint with a role was moved in each frame, toes left out, metres. (F, R)."""
    body = ml.BodyMap.guess(motion.skeleton)
    roles = [r for r in body.__dataclass_fields__ if r != "spine" and not r.endswith("toe")]
    joints = [j for r in roles if (j := getattr(body, r)) is not None]
    way = repaired.world_positions()[:, joints] - motion.world_positions()[:, joints]
    return np.linalg.norm(way, axis=-1)


@pytest.mark.parametrize("name", QUICK)
def test_quick_motion_stays(mocap, name):
    motion = loaded(mocap, name, QUICK[name])
    assert moved(motion, repair_capture(motion).motion).max() < STAYS_M


def test_a_leg_that_its_solver_bent_back_swings_through(mocap):
    motion = loaded(mocap, "audit/104_06.bvh")
    body = ml.BodyMap.guess(motion.skeleton)
    before, after = (
        m.world_positions()[215:250, body.right_ankle, 1]
        for m in (motion, repair_capture(motion).motion)
    )
    assert before.min() < 0.12  # the ankle of a runner's swinging leg drops to the floor
    assert after.min() > 0.22
    assert np.abs(np.diff(after, 2)).max() < 0.3 * np.abs(np.diff(before, 2)).max()
