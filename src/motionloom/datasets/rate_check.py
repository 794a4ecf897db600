"""Whether a clip's frame rate is credible, by all signs together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.datasets import rate_evidence as evidence
from motionloom.intake.airborne import KNOWN_RATES, check_rate
from motionloom.intake.floor import LegTracks
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.motion.source import Floor

NEAR = 0.2
"""A rate is taken for a known one that is nearer than this part of it."""


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
    falls = evidence.downward_acceleration(heights, motion.fps)
    if falls.size:
        width = len(heights) - len(falls) + 1
        counts = np.convolve(~reliable, np.ones(width), mode="valid")
        falls = np.where(counts > 0.5, 0.0, falls)
        pulled = runs_of(falls > evidence.PULLED * evidence.GRAVITY)
        if pulled:
            most = float(falls.max())
            factor = float(np.sqrt(most / evidence.GRAVITY))
            text = f"the body accelerates downwards at {most:.0f} m/s2, where gravity gives 9.8"
            return _suspect(text, factor, motion.fps)
    return RateVerdict(1.0, None, "", False)


def judge_swings(swings: evidence.Swings | None, standing: float, fps: float) -> RateVerdict | None:
    """The rate of a walk by how long its steps take; None where that is credible or unknown."""
    if swings is None or swings.n_steps < evidence.STEPS or standing < evidence.STANDS:
        return None
    if swings.seconds >= evidence.QUICKEST_S:
        return None
    factor = evidence.USUAL_S / swings.seconds
    text = (
        f"in a walk of {swings.n_steps} steps the feet swing for {swings.seconds:.2f} s, where "
        "nobody takes less than 0.33 s"
    )
    return _suspect(text, factor, fps)


def judge_held(positions: FloatArray, fps: float) -> RateVerdict | None:
    """Frames that are held: the clip was captured at a lower rate; None where none are."""
    part = evidence.repeated_part(positions)
    if part <= evidence.HELD:
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
