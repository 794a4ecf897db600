"""Which way a foot is flat, where only a clip shows it; soles of the result on one floor."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.feet import FootOffsets, foot_points
from motionloom.motion.motion import Motion
from motionloom.retargeting.neutral import neutral_stance
from motionloom.retargeting.retarget import retarget
from motionloom.rotation import quat

from .bodies import along_x, longer, re_rigged, with_axes

X = np.array([1.0, 0.0, 0.0])
TIPTOE = np.radians(25.0)
SAME_DEG = 2.0
LEVEL_M = 0.002
N_FRAMES, FLAT_FROM = 120, 90


def fall_deg(foot: FootOffsets) -> float:
    """How steeply the foot falls from ankle to ball when it is flat."""
    return float(np.degrees(np.arcsin(-(foot.ball @ foot.up) / np.linalg.norm(foot.ball))))


def standing() -> Motion:
    """Somebody who stands still in the rest pose, 2 seconds."""
    walk = synthetic.clip("walk").motion
    root = np.tile(walk.root_positions[0], (N_FRAMES, 1))
    quats = np.tile(walk.skeleton.rest_quats, (N_FRAMES, 1, 1))
    return walk.replace(root_positions=root, local_quats=quats, fps=60.0)


def on_tiptoe(flat: tuple[str, ...]) -> Motion:
    """The same on tiptoe; feet of the sides in ``flat`` come down at the end."""
    still = standing()
    quats = np.array(still.local_quats)
    for side in ("Left", "Right"):
        up_to = FLAT_FROM if side in flat else N_FRAMES
        quats[:up_to, still.skeleton.index(f"{side}Foot")] = quat.from_axis_angle(X, TIPTOE)
    return still.replace(local_quats=quats)


@pytest.mark.parametrize("flat", [("Left", "Right"), ("Left",), ("Right",)])
def test_the_flattest_stance_of_either_foot_is_flat(flat: tuple[str, ...]) -> None:
    clip = on_tiptoe(flat)
    body = BodyMap.guess(clip.skeleton)
    own = along_x(clip.skeleton)
    rig = with_axes(clip.skeleton, own, keep_rest=False)
    planted = np.ones((N_FRAMES, 4), dtype=bool)
    true = neutral_stance(clip.skeleton, body).feet
    found = neutral_stance(rig, body, re_rigged(clip, rig, own), planted).feet
    for foot, expected in zip(found, true, strict=True):
        assert abs(fall_deg(foot) - fall_deg(expected)) < SAME_DEG


def test_contacts_of_moving_feet_do_not_overrule_a_standing_rest_pose() -> None:
    # Walking in place: the feet are labelled as planted, tilted, and slide at 1 m/s.
    clip = on_tiptoe(())
    root = np.array(clip.root_positions)
    root[:, 2] += np.arange(N_FRAMES) / clip.fps
    sliding = clip.replace(root_positions=root)
    body = BodyMap.guess(clip.skeleton)
    planted = np.ones((N_FRAMES, 4), dtype=bool)
    rest = neutral_stance(clip.skeleton, body).feet
    for foot, expected in zip(
        neutral_stance(clip.skeleton, body, sliding, planted).feet, rest, strict=True
    ):
        assert abs(fall_deg(foot) - fall_deg(expected)) < SAME_DEG


def test_feet_that_are_drawn_differently_come_out_on_one_floor() -> None:
    # The source's left ankle is drawn 2 cm higher; both of its soles are on the floor.
    still = standing()
    skeleton = still.skeleton
    offsets = np.array(skeleton.offsets)
    offsets[skeleton.index("LeftFoot"), 1] += 0.02
    offsets[skeleton.index("LeftToeBase"), 1] -= 0.02
    source = still.replace(skeleton=dataclasses.replace(skeleton, offsets=offsets))
    plants = Footplants(np.ones((N_FRAMES, 4), dtype=bool))
    points = foot_points(source)[:, [1, 3], 1]
    assert np.ptp(points, axis=1).max() < LEVEL_M
    made = retarget(source, longer(skeleton, UpLeg=1.1), footplants=plants)
    assert np.ptp(foot_points(made)[:, [1, 3], 1], axis=1).max() < LEVEL_M
