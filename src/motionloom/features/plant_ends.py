"""Ends of footplants in clean clips: feet that settle, roll and lift gradually.

A captured foot does not come to rest at one instant. It touches the ground and still gives or rolls
for some frames, and before it leaves it has begun to move. Edges placed where the point is truly at
rest are therefore inside of what anybody would mark in such a clip. Here plants are drawn out for
as long as their point stays slow. That can only be seen while noise is well below those speeds, so
a noisy clip keeps the edges it has.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray
from motionloom.features.foot_signals import FootSignals
from motionloom.motion.contacts import runs_of

__all__ = ["draw_out"]

SETTLING = 0.2
"""A point that settles or begins to lift is slower than this, m/s, ..."""
SETTLING_PART = 0.12
"""... or than this part of the body's speed."""
ROLLING = 0.45
"""A heel over which the foot rolls onto its ball may be this fast, m/s: it is round, so the point
that stands for it moves."""
FURTHEST_S = 0.17
"""No edge moves by more than this, seconds."""
CERTAIN = 2.0
"""A speed is called slow if it is so even with this many times its noise added."""
LIFT_M = 0.02
"""A point this far over where it stands has left, however slowly."""


def draw_out(planted: BoolArray, signals: FootSignals, fps: float) -> BoolArray:
    """``planted`` (F, 4) with every plant drawn out for as long as its point stays slow."""
    drawn = planted.copy()
    steady = np.maximum(SETTLING_PART * signals.body_speed, SETTLING)
    furthest = max(1, round(FURTHEST_S * fps))
    for k in range(planted.shape[1]):
        speeds = signals.sharp_speeds[:, k] + CERTAIN * signals.sharp_noise[k]
        slow = speeds < steady
        onto = slow
        if k % 2 == 0:
            onto = slow | ((speeds < np.maximum(ROLLING, steady)) & ~planted[:, k + 1])
        runs = runs_of(planted[:, k])
        heights = signals.points[:, k, 1]
        for i, (first, last) in enumerate(runs):
            low = heights < np.median(heights[first : last + 1]) + LIFT_M
            earliest = max(first - furthest, 0 if i == 0 else runs[i - 1][1] + 2)
            latest = last + furthest
            latest = min(latest, len(planted) - 1 if i + 1 == len(runs) else runs[i + 1][0] - 2)
            reach = _steps(onto & low, first, earliest)
            drawn[first - reach : first, k] = True
            reach = _steps(slow & low, last, latest)
            drawn[last : last + reach + 1, k] = True
    return drawn


def _steps(passable: BoolArray, start: int, stop: int) -> int:
    """How many frames can be passed from ``start`` towards ``stop``, which is included."""
    way = passable[start + 1 : stop + 1] if stop > start else passable[stop:start][::-1]
    return len(way) if way.all() else int(np.argmin(way))
