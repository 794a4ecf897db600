"""Capture glitches of the action, interpolated before they reach a splice."""

from __future__ import annotations

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.motion.motion import Motion
from motionloom.splicing.sampling import sample_smoothly

AROUND_S = 1.0 / 60.0
"""Frames this near to a glitch are interpolated too: the step into a glitch that stays for several
frames, or that was resampled, is theirs as well."""


def without_glitches(motion: Motion, body: BodyMap) -> tuple[Motion, int]:
    """The motion with its glitches interpolated from the frames around, and how many they were.

    A splice runs the action at up to twice its rate, which makes a glitch twice as fast. Glitches
    at an end of the motion, where there is nothing to interpolate from, stay.

    Parameters
    ----------
    motion
        F frames.
    body
        Which joint is which.
    """
    around = round(AROUND_S * motion.fps)
    bad = sorted(
        {
            frame
            for glitch in find_glitches(motion, body=body)
            for frame in range(glitch.frame - around, glitch.frame + around + 1)
        }
    )
    if not bad:
        return motion, 0
    good = np.setdiff1d(np.arange(motion.n_frames), bad)
    inner = [f for f in bad if good[0] < f < good[-1]] if len(good) else []
    if not inner:
        return motion, 0
    frames = np.arange(motion.n_frames, dtype=np.float64)
    outer = np.setdiff1d(np.arange(motion.n_frames, dtype=np.int64), inner)
    return sample_smoothly(motion, frames, knots=outer), len(inner)
