"""The root: shifted as little as needed for every held ankle to be within reach."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom.cleanup.blend_off import bounded, highest_nearby, spread_smoothly, weights_of
from motionloom.rotation.easing import smoothstep

_least = kernel("ml_root_least_shift")
_drop = kernel("ml_root_drop")
_still = kernel("ml_root_still_legs")

STILL_FROM = (0.5, 0.8)
"""The root takes up the tremble of legs that are open by more than the second part of their reach,
and none of legs folded to less than the first: their knees hardly turn when their length changes,
and the root would tremble for nothing."""


def least_shift(
    hips: FloatArray, ankles: FloatArray, reach: FloatArray, held: BoolArray
) -> FloatArray:
    """Smallest shift of the root, frame by frame, that puts held ankles within reach.

    Where two balls of reach do not meet, both ankles miss theirs by the same amount.

    Parameters
    ----------
    hips, ankles : (F, 2, 3)
        Left and right, metres.
    reach : (F, 2)
        How far an ankle may be from its hip.
    held : (F, 2)
        Which feet count.
    """
    out = np.zeros((len(hips), 3))
    _least(len(hips), hips, ankles, reach, held, out)
    return out


def shift_root(
    hips: FloatArray,
    targets: FloatArray,
    spans: FloatArray,
    reach: FloatArray,
    pull: FloatArray,
    *,
    half: int,
    jitter: int,
    most: float | None,
) -> FloatArray:
    """Smooth shift of the root, metres. Shape (F, 3).

    The least shifts are smoothed in time, which leaves some ankles out of reach. Legs that may
    stretch absorb that. Rigid ones cannot: the root is then lowered by the missing amount, taken
    as the most that any frame nearby needs, so that smoothing cannot undo it. On top comes what
    :func:`still_legs` finds.

    Parameters
    ----------
    hips, targets : (F, 2, 3)
        Left and right hips, and where ankles are to be, metres.
    spans : (F, 2)
        From hip to ankle before, metres.
    reach : (F, 2)
        How far an ankle may be from its hip.
    pull : (F, 2)
        1 where the foot is held, less around, 0 where it does not matter.
    half, jitter
        Frames to either side over which shifts are smoothed, and jitter is separated from motion.
    most
        Greatest lowering, metres; None for legs that may stretch.
    """
    held = pull >= 1.0
    folded, open_ = STILL_FROM
    part = np.clip((spans / np.maximum(reach, 1e-9) - folded) / (open_ - folded), 0.0, 1.0)
    still = still_legs(hips, targets, spans, pull * smoothstep(part), jitter)
    hips = hips + still[:, None]
    shifts = spread_smoothly(least_shift(hips, targets, reach, held), half)
    if most is not None:
        drop = np.zeros(len(hips))
        _drop(len(hips), hips, targets, reach, held, shifts, most, drop)
        if drop.any():
            shifts[:, 1] -= spread_smoothly(highest_nearby(drop, half), half)
    return np.asarray(shifts + still)


def still_legs(
    hips: FloatArray, targets: FloatArray, spans: FloatArray, pull: FloatArray, half: int
) -> FloatArray:
    """Shift of the root that keeps knees quiet when their feet are held. Shape (F, 3).

    Captured bodies tremble as a whole by a millimetre or so: the foot trembles with the hip, and
    the leg between them keeps its length. Once the foot stands still, all of it would go into the
    knee, several times enlarged where the leg is nearly straight. So the quick part of every
    leg's change of length is taken up by the root, along the leg.

    Parameters
    ----------
    hips, targets : (F, 2, 3)
        Hips, and where ankles are to be, metres.
    spans : (F, 2)
        From hip to ankle before, metres.
    pull : (F, 2)
        1 where the foot is held, 0 where it does not matter.
    half
        Frames to either side that tell jitter from motion.
    """
    half = bounded(half, len(hips))
    scratch, out = np.zeros((2, len(hips), 2)), np.zeros((len(hips), 3))
    _still(len(hips), hips, targets, spans, pull, half, weights_of(half), scratch, out)
    return out
