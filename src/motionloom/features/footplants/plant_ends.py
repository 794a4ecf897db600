"""Ends of footplants in clean clips: feet that settle, roll and lift gradually.

A captured foot does not come to rest at one instant. It touches the ground and still gives or rolls
for some frames, and before it leaves it has begun to move. Edges placed where the point is truly at
rest are therefore inside of what anybody would mark in such a clip. Here plants are drawn out for
as long as their point stays slow. That can only be seen while noise is well below those speeds, so
a noisy clip keeps the edges it has.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray
from motionloom.features.footplants.foot_signals import FootSignals
from motionloom.features.footplants.run_medians import run_medians
from motionloom.motion.contacts import runs_of

SETTLING = 0.2
"""A point that settles or begins to lift is slower than this, m/s, ..."""
SETTLING_PART = 0.12
"""... or than this part of the body's speed."""
ROLLING = 0.5
"""A heel over which the foot rolls onto its ball may be this fast, m/s: it is round, so the point
that stands for it moves."""
FURTHEST_S = 0.17
"""No edge moves by more than this, seconds."""
CERTAIN = 1.5
"""A speed is called slow if it is so even with this many times its noise added, in squares."""
LIFT_M = 0.03
"""A point this far over where it stands has left, however slowly."""
BUMP = 1.4
"""Bumps up to this many times as fast are passed if the point is slow again behind them."""
DOWN_M = 0.005
"""A heel over which the foot rolls is no higher than this over where it then stands."""


def draw_out(planted: BoolArray, signals: FootSignals, fps: float) -> BoolArray:
    """``planted`` (F, 4) with every plant drawn out for as long as its point stays slow."""
    drawn = planted.copy()
    steady = np.maximum(SETTLING_PART * signals.body_speed, SETTLING)
    furthest = max(1, round(FURTHEST_S * fps))
    for k in range(planted.shape[1]):
        speeds = np.hypot(signals.sharp_speeds[:, k], CERTAIN * signals.sharp_noise[k])
        slow, bumpy = speeds < steady, speeds < BUMP * steady
        rolls = np.zeros_like(slow)
        if k % 2 == 0:
            rolls = (speeds < np.maximum(ROLLING, steady)) & ~planted[:, k + 1]
        runs = runs_of(planted[:, k])
        # The fastest frame between two plants keeps them apart.
        apart = [b + 1 + int(np.argmax(speeds[b + 1 : c])) for (_, b), (c, _) in pairwise(runs)]
        heights = signals.points[:, k, 1]
        levels = run_medians(heights, runs)
        bounds = [-1, *apart, len(planted)]
        for (first, last), level, (left, right) in zip(
            runs, levels, pairwise(bounds), strict=False
        ):
            before = slice(max(first - furthest, left + 1), first)
            after = slice(last + 1, min(last + 1 + furthest, right))
            above = heights[before] - level
            low, rolled = above < LIFT_M, rolls[before] & (above < DOWN_M)
            rests, passes = slow[before] & low | rolled, bumpy[before] & low | rolled
            reach = _reach(passes[::-1], rests[::-1])
            drawn[first - reach : first, k] = True
            low = heights[after] - level < LIFT_M
            reach = _reach(bumpy[after] & low, slow[after] & low)
            drawn[last : last + reach + 1, k] = True
    return drawn


def _reach(passes: BoolArray, rests: BoolArray) -> int:
    """Frames up to the last that rests, of those before the first that does not even pass."""
    way = rests if passes.all() else rests[: np.argmin(passes)]
    return len(way) - int(np.argmax(way[::-1])) if way.any() else 0
