"""Speeds of the feet as part of what is compared, so that steps come down together.

Poses change little while a foot comes to rest, and styles differ by more than that. The speed of a
foot changes by metres a second within a few frames. As points whose height is that speed, the
balls of the feet enter the distance between frames like any other point.
"""

from __future__ import annotations

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.body.feet import foot_points
from motionloom.cleanup.blend_off import spread_smoothly
from motionloom.features.pointcloud import PointCloud
from motionloom.motion.kinematics import velocities
from motionloom.motion.motion import Motion

BALLS = [1, 3]
"""Columns of the foot points that are followed: heels come down and go up more gradually."""
SLOW_M_S = 0.3
"""Speeds count in full up to about this, and ever less above: near contacts, not in the air."""
SMOOTH_S = 0.025
"""Seconds to either side over which speeds are smoothed."""


def with_foot_speeds(
    cloud: PointCloud, motion: Motion, body: BodyMap, height_m: float
) -> PointCloud:
    """The cloud with a point more for each foot, over the root, as high as the foot is fast.

    Parameters
    ----------
    cloud
        Of the motion.
    motion, body
        The motion and roles of its joints.
    height_m
        Height of the point of a foot in the air, metres.
    """
    balls = foot_points(motion, body=body)[:, BALLS]
    speeds = np.linalg.norm(velocities(balls, motion.fps), axis=-1)  # (F, 2)
    speeds = spread_smoothly(speeds, max(1, round(SMOOTH_S * motion.fps))) / SLOW_M_S
    extra = np.repeat(motion.root_positions[:, None], len(BALLS), axis=1)
    extra[..., 1] = height_m * speeds / np.sqrt(np.sqrt(1.0 + speeds**4))
    weights = np.append(cloud.weights, np.full(len(BALLS), cloud.weights.mean()))
    points = np.concatenate([cloud.points, extra], axis=1)
    return PointCloud(points, weights / weights.sum())
