"""A T-pose that a tool put in front of the captured frames."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

JUMP_DEG = 12.0
"""Least turn of some joint from the T-pose into the clip; captured frames follow smoothly."""
JUMP_RATIO = 7.0
"""Least ratio of that turn to the usual turns in the frames that follow: added T-poses of 146 real
clips have 12 and more, and the arms that swing out of a captured one (three_pirouette) 4.3."""
LEVEL = np.sin(np.radians(25.0))
"""An arm is held out level when its slope is below this."""
AT_REST_DEG = 1.0
LONGEST_FRAMES = 24
"""Only so many frames are looked at: a T-pose that is held longer is a part of the take."""


def count_t_pose_frames(motion: Motion, body: BodyMap) -> int:
    """How many leading frames are a T-pose, or the rest pose, that jumps into the real motion.

    Zero where there is no jump: a performer who starts in a T-pose and moves out of it is motion.
    Zero for clips of one or two frames, which have no motion to tell from, and for things that
    are not people.

    Parameters
    ----------
    motion
        Y up, F frames.
    body
        Which joint is which.
    """
    arms = _arms(body)
    if motion.n_frames < 3 or arms is None:
        return 0
    few = motion.local_quats[:LONGEST_FRAMES]
    turns = np.degrees(quat.angle_between(few[1:], few[:-1])).max(axis=1)  # (up to 23,)
    moved = np.flatnonzero(turns > 1e-3)
    if not moved.size:
        return 0
    held = int(moved[0]) + 1
    # Glitches often follow the T-pose, so the usual turn is the median, not the largest.
    usual = float(np.median(turns[held:])) if turns[held:].size else 0.0
    if turns[held - 1] < max(JUMP_DEG, JUMP_RATIO * usual):
        return 0
    return held if _is_at_rest(motion) or _is_t(motion, arms) else 0


def _arms(body: BodyMap) -> tuple[tuple[int, int], ...] | None:
    """Shoulder and the farthest joint of each arm; None where an arm is missing."""
    arms = []
    for side in ("left", "right"):
        top = getattr(body, f"{side}_shoulder")
        end = getattr(body, f"{side}_wrist")
        if end is None:
            end = getattr(body, f"{side}_elbow")
        if top is None or end is None:
            return None
        arms.append((int(top), int(end)))
    return tuple(arms)


def _is_at_rest(motion: Motion) -> bool:
    turned = quat.angle_between(motion.local_quats[0], motion.skeleton.rest_quats)
    return bool(np.degrees(turned).max() < AT_REST_DEG)


def _is_t(motion: Motion, arms: tuple[tuple[int, int], ...]) -> bool:
    """Whether in the first frame both arms are held out level, away from one another."""
    positions = motion[:1].world_positions()
    directions: list[FloatArray] = []
    for top, end in arms:
        arm = positions[0, end] - positions[0, top]
        length = float(np.linalg.norm(arm))
        if length == 0.0:
            return False
        directions.append(arm / length)
    left, right = directions
    level = max(abs(left[1]), abs(right[1])) < LEVEL
    return bool(level and left @ right < -0.8)
