"""Clips are repaired at their own rate."""

from __future__ import annotations

import numpy as np

from motionloom import resample, synthetic
from motionloom.body.body_map import BodyMap
from motionloom.features.glitches.repair import _without_twitches, resample_repaired
from motionloom.rotation import quat


def test_a_clip_is_repaired_before_it_is_resampled() -> None:
    """A frame that jumps away would be smeared over two by resampling first."""
    walk = synthetic.clip("walk").motion
    root = np.array(walk.root_positions)
    root[60, 0] += 0.1
    resampled, notes = resample_repaired(walk.replace(root_positions=root), 45.0)
    assert notes
    truth = resample(walk, fps=45.0)
    assert np.abs(resampled.root_positions - truth.root_positions).max() < 0.01


def test_a_foot_that_twitches_for_a_frame_is_interpolated() -> None:
    walk = synthetic.clip("walk").motion
    body = BodyMap.guess(walk.skeleton)
    quats = np.array(walk.local_quats)
    twitch = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(25.0))
    quats[60, body.left_ankle] = quat.multiply(quats[60, body.left_ankle], twitch)
    mended, count = _without_twitches(walk.replace(local_quats=quats), body)
    assert count == 1
    away = quat.angle_between(mended.local_quats, walk.local_quats)
    assert np.degrees(away.max()) < 2.0
    unchanged, none = _without_twitches(walk, body)
    assert unchanged is walk and none == 0
