"""Signs of a wrong frame rate: bodies that fall too fast, legs that swing too fast, held frames."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.contacts import runs_of

GRAVITY = 9.81
FIT_S, LEAST_FIT = 0.1, 5
"""Acceleration is that of a parabola over this long, or so many frames."""
PULLED = 2.0
"""A centre of mass that accelerates downwards at more than this many times gravity is pulled: right
rates were met with up to 1.5, for masses are a table's."""
LONG_STEP = 0.3
"""Steps longer than this part of stature show how fast a leg swings."""
QUICKEST_S, STEPS, STANDS = 0.33, 5, 0.9
"""Legs of a walk (on the ground for this part of the time, of so many long steps) take longer than
this for a step: 0.4 s on average, 0.35 s at the fastest. Captured ones took 0.40 s and more."""
USUAL_S = 0.55
"""What they take in captured walks."""
HELD = 0.3
"""Clips with more steps between frames than this in which nothing moves hold frames."""
SAME_M = 1e-6
"""Joints that all move less than this from frame to frame are held."""


class Swings(NamedTuple):
    """Long steps of a clip."""

    seconds: float
    """Median time that a foot is in the air."""
    n_steps: int


def downward_acceleration(heights: FloatArray, fps: float) -> FloatArray:
    """How fast the centre of mass (F,) accelerates downwards, m/s2; empty for short clips."""
    n = max(LEAST_FIT, round(FIT_S * fps) | 1)
    if len(heights) < n:
        return np.zeros(0)
    t = (np.arange(n) - 0.5 * (n - 1)) / fps
    bend = 0.5 * t * t
    bend = bend - bend.mean()
    return -np.convolve(heights, bend[::-1] / float(bend @ bend), mode="valid")


def measure_swings(
    points: FloatArray, planted: BoolArray, fps: float, tall: float
) -> Swings | None:
    """How long a foot takes for a long step; None where the clip has none.

    Parameters
    ----------
    points : (F, 4, 3)
        Heel and ball of both feet.
    planted : (F, 4)
        Contacts.
    fps
        Frames per second.
    tall
        Stature, metres.
    """
    times = []
    for side in (0, 2):
        runs = runs_of(planted[:, side] | planted[:, side + 1])
        for (_, lifted), (landed, _) in pairwise(runs):
            way = points[landed, side : side + 2] - points[lifted, side : side + 2]
            if np.hypot(way[:, 0], way[:, 2]).max() > LONG_STEP * tall:
                times.append((landed - lifted) / fps)
    return Swings(float(np.median(times)), len(times)) if times else None


def repeated_part(positions: FloatArray) -> float:
    """Part of the steps between frames in which no joint (F, J, 3) moves, while others move.

    Leading and trailing stillness does not count: a body may wait.
    """
    if len(positions) < 3:
        return 0.0
    moves = np.abs(np.diff(positions, axis=0)).max(axis=(1, 2)) > SAME_M
    moving = np.flatnonzero(moves)
    if moving.size < 2:
        return 0.0
    inside = moves[moving[0] : moving[-1] + 1]
    return float(1.0 - inside.mean())
