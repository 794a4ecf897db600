"""Roots that do not travel: a root bone that lies still, a body that walks in place."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.intake.clip_faults import STILL_M
from motionloom.motion.motion import Motion

IN_PLACE_M = 0.5
"""A pelvis that strays less than this over the ground stays in place."""
SMOOTH_S = 0.05
"""Time over which the speed of the standing foot is taken."""


def still_bone_travel(motion: Motion, body: BodyMap) -> float:
    """Way of the pelvis over the ground, metres, where a root bone under it lies still; else 0."""
    moving = motion.joint_translations
    if not body.pelvis or moving is None:
        return 0.0
    if np.ptp(motion.root_positions[:, [0, 2]], axis=0).max() >= STILL_M:
        return 0.0
    chain = list(motion.skeleton.chain(body.pelvis)[1:])
    return float(np.ptp(moving[:, chain].sum(axis=1), axis=0).max())


def missing_travel(points: FloatArray, pelvis: FloatArray, fps: float) -> float:
    """Way over the ground that feet walk off under a body which stays in place, metres.

    The lower foot carries the body. Where it moves backwards all the time, as on a treadmill, the
    body should have travelled by as much.

    Parameters
    ----------
    points : (F, 4, 3)
        Heel and ball of both feet.
    pelvis : (F, 3)
        In the world.
    fps
        Frames per second.
    """
    span = max(1, round(SMOOTH_S * fps))
    if len(points) < 4 * span or np.ptp(pelvis[:, [0, 2]], axis=0).max() > IN_PLACE_M:
        return 0.0
    low = np.argmin(points[..., 1], axis=1)
    frames = np.arange(len(points) - span)
    carrier = low[:-span]
    same = carrier == low[span:]
    way = points[frames + span, carrier] - points[frames, carrier]
    steps = np.where(same[:, None], way[:, [0, 2]], 0.0) / span
    return float(np.hypot(*steps.sum(axis=0)))
