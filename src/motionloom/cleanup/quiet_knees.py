"""Quiet knees: where a knee over a held foot jerks, the hips take up the jerk instead.

A captured foot trembles by a millimetre or two, and its hip with it. Once the foot stands, only the
hip trembles, and the knee between them is thrown by several times as much: in its angle where the
leg is nearly straight, in its direction where the leg is folded. There the quick part of what
holding changed between hip and ankle is given to the root.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom._filters import running_maximum
from motionloom.cleanup.blend_off import highest_nearby, nearness, spread_smoothly
from motionloom.cleanup.calm import FREE_M_S2, JERK_OVER_OWN
from motionloom.cleanup.foot import Foot
from motionloom.cleanup.leg_reach import LegSolution
from motionloom.motion.contacts import runs_of
from motionloom.motion.limbs import LimbSolution

_size = kernel("ml_knee_jerks")

NEARBY_S = 0.25
"""A knee is compared with what it does in the clip so many seconds before and after."""
WIDTHS_S = (0.008, 0.017, 0.033, 0.067)
"""Time to either side over which the change is smoothed, in one try after another, seconds."""
MOST_M, MOST_M_S2 = 0.005, 0.5 * FREE_M_S2
"""The root moves by no more than the first for it, and accelerates by no more than the second: what
is larger is no tremble, and would shake the whole body."""
EDGE = 2
"""Frames before and after a change of the root in which knees show what it does."""

WHOLE = 0.5
"""Where more than this part of the frames has to be solved again, all are."""

Solve = Callable[[FloatArray, slice], tuple[LegSolution, ...]]
"""Solutions of both legs in some frames, under a shift of the root (F, 3) of all."""


def quiet_knees(
    feet: tuple[Foot, Foot],
    reach: FloatArray,
    shift: FloatArray,
    solve: Solve,
    fps: float,
    *,
    apart: int,
) -> tuple[FloatArray, tuple[LegSolution, ...]]:
    """A shift of the root (F, 3) under which knees over held feet jerk less, and both legs.

    Parameters
    ----------
    feet
        Left and right, with their holds.
    reach : (F, 2)
        How far held ankles may be from their hips, metres.
    shift : (F, 3)
        Of the root so far, metres.
    solve
        Solves both legs under a shift.
    fps
        Frames per second.
    apart
        Frames from one to another beyond which the shift of one does not matter to the other.
    """
    legs = solve(shift, slice(None))
    if len(shift) < 2 * EDGE:
        return shift, legs
    most = _allowed(feet, fps)
    inside = np.stack([_inside(foot.standing) for foot in feet], axis=1)
    jerks = _jerks(legs) / most
    for width in WIDTHS_S:
        half = max(1, round(width * fps))
        for k, foot in enumerate(feet):
            jerky = (jerks[:, k] > 1.0) & inside[:, k]
            if not jerky.any():
                continue
            way = legs[k].limb.end - (foot.hip + shift)
            more = _quick_part(foot, way, np.maximum(reach[:, k], _lengths(way)), jerky, half)
            moved = np.asarray(more.any(axis=1))
            tried = _again(solve, legs, shift + more, moved, apart)
            better = _better(more, _jerks(tried) / most, jerks, fps)
            if better.any():
                shift = shift + np.where(better[:, None], more, 0.0)
                whole = np.array_equal(better, moved)
                legs = tried if whole else _again(solve, legs, shift, better, apart)
                jerks = _jerks(legs) / most
    return shift, legs


def _again(
    solve: Solve, legs: tuple[LegSolution, ...], shift: FloatArray, moved: BoolArray, apart: int
) -> tuple[LegSolution, ...]:
    """Legs under a shift (F, 3) that is another one in ``moved`` (F,), solved near those only."""
    near = highest_nearby(moved.astype(np.float64), apart) > 0.0
    if near.mean() > WHOLE:
        return solve(shift, slice(None))
    limbs = [LimbSolution(*(np.array(part) for part in _parts(leg.limb))) for leg in legs]
    for first, last in runs_of(near):
        start = max(first - apart, 0)
        solved = solve(shift, slice(start, last + 1 + apart))
        for limb, leg in zip(limbs, solved, strict=True):
            for part, new in zip(_parts(limb), _parts(leg.limb), strict=True):
                part[first : last + 1] = new[first - start : last + 1 - start]
    return tuple(LegSolution(limb, None) for limb in limbs)


def _parts(limb: LimbSolution) -> tuple[FloatArray, ...]:
    """The arrays of a solution."""
    return limb.q_upper, limb.q_lower, limb.middle, limb.end, limb.miss


def _allowed(feet: tuple[Foot, Foot], fps: float) -> FloatArray:
    """Second differences of the knees' tracks that are no jerk, metres. (F, 2)."""
    own = _second(*(foot.knee for foot in feet))
    nearby = running_maximum(own, min(round(NEARBY_S * fps), len(own)))
    return np.maximum(JERK_OVER_OWN * nearby, FREE_M_S2 / fps**2)


def _inside(standing: BoolArray) -> BoolArray:
    """Frames (F,) that are held with those before and after them."""
    inside = np.zeros_like(standing)
    inside[1:-1] = standing[:-2] & standing[1:-1] & standing[2:]
    return inside


def _quick_part(
    foot: Foot, way: FloatArray, reach: FloatArray, jerky: BoolArray, half: int
) -> FloatArray:
    """Shift (F, 3) that takes the quick part out of what the way to the ankle changed by.

    Parameters
    ----------
    foot
        As it was captured.
    way : (F, 3)
        From hip to ankle, metres.
    reach : (F,)
        How long the way may be, metres.
    jerky : (F,)
        Where; it runs out over ``half`` frames around.
    half
        Frames to either side that tell quick from slow.
    """
    change = way - (foot.ankle - foot.hip)
    around = np.array(jerky)
    around[1:] |= jerky[:-1]
    around[:-1] |= jerky[1:]
    part = nearness(around, half + 1.0)[:, None]
    calm = way - part * (change - spread_smoothly(change, half))
    within = np.minimum(1.0, reach / np.maximum(_lengths(calm), 1e-9))
    return np.where(part > 0.0, way - calm * within[:, None], 0.0)


def _better(more: FloatArray, tried: FloatArray, jerks: FloatArray, fps: float) -> BoolArray:
    """Frames (F,) of changes of the root ``more`` (F, 3) that are small and make knees quieter."""
    moved = np.asarray(more.any(axis=1))
    better, bends = np.zeros_like(moved), _second(more)[:, 0] * fps**2
    for first, last in runs_of(moved):
        rows = slice(max(first - EDGE, 0), last + 1 + EDGE)
        small = _lengths(more[rows]).max() <= MOST_M and bends[rows].max() <= MOST_M_S2
        better[first : last + 1] = small and tried[rows].max() < jerks[rows].max()
    return better


def _jerks(legs: tuple[LegSolution, ...]) -> FloatArray:
    """Second differences of both knees, metres. (F, 2)."""
    return _second(*(leg.limb.middle for leg in legs))


def _second(*tracks: FloatArray) -> FloatArray:
    """Size of the second difference of T tracks (F, 3), 0 in the first and last frame. (F, T)."""
    n, out = len(tracks[0]), np.zeros((len(tracks[0]), len(tracks)))
    for k, track in enumerate(tracks):
        _size(n, np.ascontiguousarray(track), len(tracks), k, out)
    return out


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.sum(vectors * vectors, axis=-1)))
