"""Ends of a blend: frames left out where captures are abrupt or one example runs too fast."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.blending.evaluate import Evaluated
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.series import series_of
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve

STEEP = 0.6
"""Where the rates of two examples have a smaller ratio, one of them is played much too fast."""
EDGE_S = 0.06
"""Captures are abrupt in their first and last so many seconds, which the check does not count."""
TRIMS_S = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
"""Seconds that are left out at an end of a curve where the blend fails the check there."""
SUDDEN, SUDDEN_M_S2 = 3.0, 200.0
"""A frame near an end that is so many times as abrupt as all frames away from the ends, and more
abrupt than the second, is no part of a motion."""

_CHECKS: WeakKeyDictionary[RegistrationCurve, QualityCheck] = WeakKeyDictionary()


def check_of(curve: RegistrationCurve) -> QualityCheck:
    """The quality check of what is blended from a curve; its examples are measured once.

    Cycles are compared with the clips that they were cut from: where they were cut is no end of a
    capture, and nothing is slower there.
    """
    check = _CHECKS.get(curve)
    if check is None:
        clips = curve if curve.uncut is None else curve.uncut
        check = _CHECKS[curve] = QualityCheck(
            clips.motions, footplants=clips.footplants, body=curve.body
        )
    return check


def sound_ends(curve: RegistrationCurve, u: FloatArray, evaluated: Evaluated) -> tuple[int, int]:
    """Frames to leave out at the start and at the end, where the blend fails the check.

    Captures are often abrupt in their first and last frames. And a path through the frames of two
    motions may end steeply: one motion stands in for a pause of the other and runs at up to three
    times its rate. A blend of cycles is left whole, because it is to be repeated.
    """
    if curve.uncut is not None:
        return 0, 0
    n, fps = len(u), evaluated.motion.fps
    window = round(TRIMS_S[-1] * fps)
    if n < 4 * window:
        return 0, 0
    frames = curve.frames(u)
    lasts = np.array([motion.n_frames - 1.0 for motion in curve.motions])
    rates = np.abs(np.diff(frames, axis=0))
    steep = rates.min(axis=1) < STEEP * rates.max(axis=1)
    edge = EDGE_S * fps
    check, trims = check_of(curve), [0, 0]
    for end, inside in enumerate((slice(0, window), slice(n - window, n))):
        row = frames[0 if end == 0 else -1]
        if not steep[inside].any() and np.all((row > edge) & (row < lasts - edge)):
            continue
        sudden = _from_sudden_frames(curve, frames[inside], check, window)
        sudden = sudden if end == 0 else sudden[::-1]
        for trim in (round(seconds * fps) for seconds in TRIMS_S):
            part = slice(trim, 2 * window) if end == 0 else slice(n - 2 * window, n - trim)
            verification = check.verify(
                evaluated.motion[part], footplants=evaluated.footplants[part], held=False
            )
            longest = 2 * window - trim - 1
            near = [f.frame if end == 0 else longest - f.frame for f in verification.failed]
            if all(frame >= window - trim for frame in near) and not sudden[trim:].any():
                trims[end] = trim
                break
    return trims[0], trims[1]


def _from_sudden_frames(
    curve: RegistrationCurve, frames: FloatArray, check: QualityCheck, window: int
) -> BoolArray:
    """Which rows of ``frames`` (N, K) are at a sudden frame of an example, or next to one. (N,)."""
    covered = np.zeros(len(frames), dtype=bool)
    for k, motion in enumerate(curve.motions):
        sudden = np.flatnonzero(_sudden(motion, check, window))
        if len(sudden):
            covered |= np.abs(frames[:, k, None] - sudden).min(axis=1) < 2.0
    return covered


def _sudden(motion: Motion, check: QualityCheck, window: int) -> BoolArray:
    """Frames near an end of a clip that are far more abrupt than the rest of it. (F,)."""
    sudden = np.zeros(motion.n_frames, dtype=bool)
    bend = series_of(check.rig_for(motion), motion).bend  # (F, N)
    if len(bend) <= 3 * window:
        return sudden
    usual = bend[window : len(bend) - window].max(axis=0)
    abrupt = (bend > np.maximum(SUDDEN * usual, SUDDEN_M_S2)).any(axis=1)
    sudden[:window], sudden[-window:] = abrupt[:window], abrupt[-window:]
    return sudden
