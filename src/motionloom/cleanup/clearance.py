"""Clearance: feet that are dragged along the floor between two contacts are lifted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.blend_off import highest_nearby, nearness, spread_smoothly
from motionloom.features.checks.failed_check import FailedCheck
from motionloom.features.checks.soles import DRAG_SPEED
from motionloom.motion.contacts import KINDS

STEP_M, MOST_M = 0.015, 0.06
"""Each try lifts a foot by the first more, and by no more than the second in all, metres."""
RISE_S = 0.1
"""Time over which a foot is lifted and comes down again, seconds."""
HELD_S = 0.08
"""A foot is lifted in full from so many seconds before and after its contacts."""
LEAST_M = 1e-4
"""Less is no lift, metres."""


def lifted(
    lifts: FloatArray,
    failed: Sequence[FailedCheck],
    points: FloatArray,
    held: BoolArray,
    fps: float,
) -> FloatArray | None:
    """Lifts of both feet, higher where a foot is dragged; None where there is nothing to lift.

    Blends of feet in different phases of a step can pass lower than those of either source.

    Parameters
    ----------
    lifts : (F, 2)
        So far, metres.
    failed
        Where the result fails its check.
    points : (F, 4, 3)
        Heels and balls of the result.
    held : (F, 4)
        Contacts: there a foot is not lifted.
    fps
        Frames per second.
    """
    more = np.zeros_like(lifts)
    for each in failed:
        kind = each.joint.replace(" ", "_")
        if each.check != "dragged foot" or kind not in KINDS:
            continue
        point = KINDS.index(kind)
        first = _start(points[:, point], each.frame, fps)
        rows = slice(first, each.frame + 1)
        left = MOST_M - float(lifts[rows, point // 2].max())
        more[rows, point // 2] = np.clip(left, 0.0, STEP_M)
    half = max(1, round(0.5 * RISE_S * fps))
    for side in range(2):
        rise = spread_smoothly(highest_nearby(more[:, side], half), half)
        standing = held[:, 2 * side] | held[:, 2 * side + 1]
        more[:, side] = rise * (1.0 - nearness(standing, max(1.0, HELD_S * fps)))
    return lifts + more if more.max(initial=0.0) > LEAST_M else None


def _start(point: FloatArray, frame: int, fps: float) -> int:
    """First frame of the fast way that ends in a frame."""
    while frame > 0:
        step = point[frame] - point[frame - 1]
        if np.hypot(step[0], step[2]) * fps <= DRAG_SPEED:
            break
        frame -= 1
    return frame
