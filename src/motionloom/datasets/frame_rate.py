"""Whether a clip's frame rate is right: flights, falls, held frames, steps of a walk."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import constant
from motionloom.body.body_map import BodyMap
from motionloom.intake.airborne import KNOWN_RATES, check_rate
from motionloom.intake.floor import LegTracks
from motionloom.motion.motion import Motion, runs_of
from motionloom.motion.provenance import Floor

NEAR = 0.2
"""Part of a rate within which it is taken for a known one."""
GRAVITY = constant("ML_GRAVITY")
FIT_S, LEAST_FIT = 0.1, 5
"""Seconds over which a parabola is fitted to get an acceleration, and the fewest frames of it."""
PULLED = 2.0
"""A centre of mass that accelerates downwards at more than this many times gravity is pulled: right
rates were met with up to 1.5, for masses are a table's."""
LONG_STEP = 0.3
"""Steps longer than this part of stature show how fast a leg swings."""
QUICKEST_S, STEPS, STANDS = 0.33, 5, 0.9
"""Seconds of the quickest credible step of a walk; the fewest long steps that tell; the least part
of the time on the ground. Steps take 0.4 s on average, 0.35 s at the fastest; captured ones took
0.40 s and more."""
USUAL_S = 0.55
"""Seconds of a step in captured walks."""
HELD = 0.3
"""Part of the steps between frames without any motion, above which a clip holds frames."""
SAME_M = 1e-6
"""Joints that all move less than this from frame to frame are held."""


class RateVerdict(NamedTuple):
    """What the signs say of a clip's rate."""

    factor: float
    """How many times too fast (above 1) or too slow (below 1) it plays; 1 where nothing speaks
    against its rate."""
    fps: float | None
    """The rate that would be right, where that is known."""
    text: str
    """The sign, in words."""
    agrees: bool
    """Whether its flights agree with gravity."""


def judge_rate(
    motion: Motion,
    body: BodyMap,
    tracks: LegTracks | None,
    floor: Floor | None,
    heights: FloatArray,
    reliable: BoolArray,
) -> RateVerdict:
    """The rate by flights, else by what pulls the body down.

    Parameters
    ----------
    motion
        The clip.
    body
        Its roles.
    tracks, floor
        Its legs and its floor, None where it has none.
    heights : (F,)
        Of the centre of mass, metres.
    reliable : (F,)
        Frames that are no glitches.
    """
    if tracks is not None and floor is not None:
        check = check_rate(motion, body, tracks, floor)
        if check is not None and not check.is_credible:
            text = (
                f"the body falls at {check.fall:.1f} m/s2 in {check.flights} flights at "
                f"{motion.fps:g} fps, where gravity gives 9.8; {check.fps:g} fps would be right"
            )
            return RateVerdict(motion.fps / check.fps, check.fps, text, False)
        if check is not None:
            return RateVerdict(1.0, None, "", True)
    falls = downward_acceleration(heights, motion.fps)
    if falls.size:
        width = len(heights) - len(falls) + 1
        counts = np.convolve(~reliable, np.ones(width), mode="valid")
        falls = np.where(counts > 0.5, 0.0, falls)
        pulled = runs_of(falls > PULLED * GRAVITY)
        if pulled:
            most = float(falls.max())
            factor = float(np.sqrt(most / GRAVITY))
            text = f"the body accelerates downwards at {most:.0f} m/s2, where gravity gives 9.8"
            return _suspect(text, factor, motion.fps)
    return RateVerdict(1.0, None, "", False)


def judge_swings(swings: Swings | None, standing: float, fps: float) -> RateVerdict | None:
    """The rate of a walk by how long its steps take; None where that is credible or unknown."""
    if swings is None or swings.n_steps < STEPS or standing < STANDS:
        return None
    if swings.seconds >= QUICKEST_S:
        return None
    factor = USUAL_S / swings.seconds
    text = (
        f"in a walk of {swings.n_steps} steps the feet swing for {swings.seconds:.2f} s, where "
        "nobody takes less than 0.33 s"
    )
    return _suspect(text, factor, fps)


def judge_held(positions: FloatArray, fps: float) -> RateVerdict | None:
    """Frames that are held: the clip was captured at a lower rate; None where none are."""
    part = repeated_part(positions)
    if part <= HELD:
        return None
    factor = 1.0 / (1.0 - part)
    text = f"{100 * part:.0f} % of its frames repeat the one before: captured at a lower rate"
    return _suspect(text, factor, fps)


def _suspect(text: str, factor: float, fps: float) -> RateVerdict:
    """A rate that is wrong by a factor, with the one that would be right."""
    likely = likely_rate(fps, factor)
    more = "" if likely is None else f"; {likely:g} fps would be right"
    return RateVerdict(factor, likely, text + more, False)


def likely_rate(fps: float, factor: float) -> float | None:
    """The known rate that ``fps`` over ``factor`` is near to, halves of ``fps`` first."""
    wanted = fps / factor
    octave = fps / 2.0 ** round(float(np.log2(factor)))
    if octave != fps and abs(np.log2(octave / wanted)) < 0.5:
        return float(octave)
    near = min(KNOWN_RATES, key=lambda rate: abs(np.log(rate / wanted)))
    return near if abs(near - wanted) < NEAR * wanted and near != fps else None


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
