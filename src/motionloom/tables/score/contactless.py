"""Contactless score: what a motion that never stands is worth, by its accelerations ([I6]_).

Without feet on the ground neither plants nor the zero moment point can be measured. [I6]_ takes a
logistic regression on the largest acceleration of every joint, fitted to motions that people
labelled. Such a regression does not carry over to other subjects
(``studies/tables/contactless_fit.py``), so it is given by the caller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion

Chance = Callable[[FloatArray], float]
"""Chance that a motion is natural, 0 to 1, from the largest acceleration of every joint (J,)."""
HALF_S = 0.05
"""Accelerations are second differences over this time on either side: they skip capture noise."""


def peak_accelerations(motion: Motion) -> FloatArray:
    """Largest acceleration of every joint in the world, m/s2. (J,).

    Examples
    --------
    >>> from motionloom import synthetic
    >>> peaks = peak_accelerations(synthetic.clip("run").motion)
    >>> bool(peaks.max() > peak_accelerations(synthetic.clip("stand").motion).max())
    True
    """
    return peaks_of(motion.world_positions(), motion.fps)


def peaks_of(positions: FloatArray, fps: float) -> FloatArray:
    """The same of positions (F, J, 3)."""
    if len(positions) < 3:
        raise ArrayError(
            f"A motion must have at least 3 frames to have accelerations, got {len(positions)}."
        )
    lag = min(max(1, round(HALF_S * fps)), (len(positions) - 1) // 2)
    bend = positions[2 * lag :] - 2.0 * positions[lag:-lag] + positions[: -2 * lag]
    return np.asarray(np.linalg.norm(bend, axis=-1).max(axis=0) * (fps / lag) ** 2)


def check_chance(chance: object) -> None:
    """Raise an error if ``chance`` is given and cannot be called."""
    if chance is not None and not callable(chance):
        raise ArrayError(
            "`chance` must be a function that takes the largest acceleration of every joint and "
            f"returns the chance that a motion is natural, got {chance!r:.60}. Pass your fitted "
            "regression, or leave it out."
        )


def chance_of(motion: Motion, chance: Chance) -> float:
    """The chance that a caller's regression gives a motion, checked."""
    value = float(chance(peak_accelerations(motion)))
    if not 0.0 <= value <= 1.0:
        raise ArrayError(
            f"`chance` must return a number from 0 to 1 for the accelerations of the joints, got "
            f"{value:g}."
        )
    return value
