"""Stances that speed alone does not show: a body that does not fall stands on something.

A body that floats in the data, or brakes hard, has no foot that is still, and yet it does not fall.
The foot under it then carries it, if it is the lowest point of the body and slow for most of the
time.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.footplants.foot_signals import FootSignals
from motionloom.motion.contacts import runs_of

FALLING = -4.9
"""A pelvis that accelerates upwards by less than this, m/s2, is in flight: half of gravity."""
LEAST_S = 0.1
"""No foot carries a body for less than this, seconds."""
SLOW, SLOW_PART = 0.9, 2.0
"""The foot is slower than this, m/s, or than this many times the speed that begins a plant."""
MIDDLE = 0.3
"""It must be so slow somewhere in the middle of the time that it carries, this part from either
end. Feet of a clip that walks in place are slow only where they turn round."""
TRAVEL_M = 0.1
"""And it must not go farther than this."""
LOWEST_M = 0.03
"""The foot is the lowest point of the body, to within this."""
RISE_M = 0.02
"""A point this far over its lowest place does not rest yet, or has left."""
NEAR_S = 0.05
"""A stance this near to another one of the same foot is a part of it."""
CLEAN_M = 0.002
"""In noisier clips accelerations say little."""


def find_carrying_feet(
    planted: BoolArray, signals: FootSignals, begins: FloatArray, tilted: BoolArray, fps: float
) -> BoolArray:
    """Frames (F, 4) in which a foot carries the body although it is not still.

    Parameters
    ----------
    planted : (F, 4)
        Plants by speed. Stances are only looked for where there are none.
    signals
        Of the same clip.
    begins : (F,)
        Speed that begins a plant, m/s.
    tilted : (F, 4)
        Points that are off the ground because the foot stands on its other end.
    fps
        Frames per second.
    """
    carrying = np.zeros_like(planted)
    if float(signals.noise.max()) > CLEAN_M:
        return carrying
    held = ~planted.any(axis=1) & (signals.lift > FALLING)
    heights = signals.points[..., 1]
    lower = np.argmin(np.minimum(heights[:, 0::2], heights[:, 1::2]), axis=1)  # 0 left, 1 right
    slow = signals.speeds < np.maximum(SLOW, SLOW_PART * begins)[:, None]
    for side in (0, 1):
        kinds = [2 * side, 2 * side + 1]
        own = np.asarray(planted[:, kinds].any(axis=1))
        low = heights[:, kinds].min(axis=1) < signals.lowest + LOWEST_M
        for first, last in runs_of(held & (lower == side) & low):
            if last - first + 1 < LEAST_S * fps:
                continue
            part = slice(first, last + 1)
            for kind in kinds:
                stands = slow[part, kind] & ~tilted[part, kind]
                before, after = _neighbours(planted[:, kind], first, last, NEAR_S * fps)
                if before and after:
                    carrying[part, kind] = stands.all()
                elif not _neighbours(own, first, last, NEAR_S * fps).any():
                    carrying[part, kind] = _stance(stands, signals.points[part, kind])
    return carrying


def _stance(stands: BoolArray, points: FloatArray) -> BoolArray:
    """The slow stretch (F,) about the middle of a time of support, if the point (F, 3) rests.

    A point that slows down twice flaps, as feet with lost markers do.
    """
    stance = np.zeros_like(stands)
    n = len(stands)
    if len(runs_of(stands)) != 1:
        return stance
    for first, last in runs_of(stands & (points[:, 1] < points[:, 1].min() + RISE_M)):
        way = points[first : last + 1, [0, 2]]
        travel = float(np.hypot(*(way.max(axis=0) - way.min(axis=0))))
        if first < (1.0 - MIDDLE) * n and last >= MIDDLE * n and travel < TRAVEL_M:
            stance[first : last + 1] = True
    return stance


def _neighbours(planted: BoolArray, first: int, last: int, near: float) -> BoolArray:
    """Whether a stance adjoins a plant before it and one after it. Shape (2,).

    Between two plants it joins them. At one end it would only make a plant longer, and edges of
    plants are found by other means.
    """
    reach = max(1, round(near))
    before, after = planted[max(first - reach, 0) : first], planted[last + 1 : last + 1 + reach]
    return np.array([before.any(), after.any()])
