"""Twitches: rotations that leave their course for a frame or two and come straight back."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray

TWITCH_S = 0.03
"""A twitch is over within this time, or within one frame."""
TWITCH_RATIO, TWITCH_ANGLE = 3.0, np.radians(2.0)
"""It goes this many times as far as the frames around it are apart, and this angle on top."""


def find_twitches(quats: FloatArray, fps: float, *, least: float = TWITCH_ANGLE) -> BoolArray:
    """Frames in which a rotation leaves its course and comes straight back. (F,).

    A step that stays is not a twitch: both of its sides may be right.

    Parameters
    ----------
    quats : (F, 4)
        Unit quaternions.
    fps
        Their rate.
    least
        Twitches of less than about this angle are noise, radians.
    """
    twitching = np.zeros(len(quats), dtype=np.bool_)
    for width in range(1, max(1, round(TWITCH_S * fps)) + 1):
        n = len(quats) - width - 1
        if n < 1:
            break
        before, after = quats[:n], quats[width + 1 :]
        limit = TWITCH_RATIO * _angles(before, after) + least
        out = np.ones(n, dtype=np.bool_)
        for k in range(1, width + 1):
            inside = quats[k : k + n]
            out &= np.minimum(_angles(inside, before), _angles(inside, after)) > limit
        for k in range(1, width + 1):
            twitching[k : k + n] |= out
    return twitching


def _angles(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angles between rotations (F, 4), to about 1e-8 radians: quicker than the exact ones."""
    return np.asarray(2.0 * np.arccos(np.minimum(np.abs(np.einsum("fi,fi->f", a, b)), 1.0)))
