"""Pace: how fast the action may run where its arms are busy.

Keeping step can ask for twice the action's pace. Where both clips walk alike that is their gait's
pace. Elsewhere it is a guess: nobody sees it while the arms hang or carry, but arms that throw or
lift would be rushed. So there the pace is held back, and caught up as soon as the arms are calm.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.body import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["arm_speeds", "unrushed"]

MOST = 1.25
"""Fastest arm in the splice, against the action's own fastest."""
FASTEST, SLOWEST = 1.95, 0.52
"""Bounds of the pace, a little inside twice and half the action's own."""
CALM = 1e-3
"""Radians per frame below which an arm is still."""
EASE_S = 0.1
"""Seconds over which one pace goes over into another."""
_ARMS = tuple(f"{side}_{role}" for side in ("left", "right") for role in ("shoulder", "elbow"))


def arm_speeds(motion: Motion, body: BodyMap) -> FloatArray:
    """Turn of the arm joint that turns most, from every frame to the next, radians. (F - 1,)."""
    roles = (*_ARMS, "left_wrist", "right_wrist")
    joints = [j for j in (getattr(body, role) for role in roles) if j is not None]
    quats = motion.local_quats[:, joints]
    turns = quat.multiply(quat.conjugate(quats[:-1]), quats[1:])
    half = np.arctan2(np.linalg.norm(turns[..., 1:], axis=-1), np.abs(turns[..., 0]))
    return np.asarray(2.0 * half.max(axis=-1))


def unrushed(frames: FloatArray, upper: Motion, body: BodyMap, *, sure: FloatArray) -> FloatArray:
    """Times near ``frames`` at which no arm is rushed; ``frames`` itself where none is. (M,).

    M is N, or less where the action ends before.

    Parameters
    ----------
    frames : (N,)
        Frame of the action at every frame of the splice, increasing.
    upper
        The action.
    body
        Which joint is which.
    sure : (N,)
        Where the pace is the gait's own and is kept, 1; where it is a guess, 0.
    """
    ease = min(max(1, round(EASE_S * upper.fps)), len(frames) - 1)
    if ease < 1:
        return frames
    speed = arm_speeds(upper, body)
    peak = float(speed[int(frames[0]) : max(int(np.ceil(frames[-1])), int(frames[0]) + 1)].max())
    around = np.lib.stride_tricks.sliding_window_view(
        np.pad(speed, ease, mode="edge"), 2 * ease + 1
    )
    # Arms that hang or carry quite still cannot be rushed, whatever rounding makes them do.
    peak = max(peak, CALM)
    most = np.clip(MOST * peak / np.maximum(around.max(axis=-1), CALM), SLOWEST, FASTEST)
    whole = np.minimum(frames[:-1].astype(np.int64), len(most) - 1)
    if np.all(np.diff(frames) <= most[whole] + sure[:-1] * (FASTEST - most[whole])):
        return frames
    held = [float(frames[0])]
    for wanted, trust in zip(frames[1:].tolist(), sure.tolist(), strict=False):
        calm = float(most[min(int(held[-1]), len(most) - 1)])
        fastest = calm + trust * (FASTEST - calm)
        held.append(held[-1] + min(max(wanted - held[-1], SLOWEST), fastest))
    eased = _eased(np.array(held), ease)
    eased = eased[eased <= upper.n_frames - 1 + 1e-6]
    eased[0] = frames[0]
    return np.minimum(eased, upper.n_frames - 1.0)


def _eased(times: FloatArray, width: int) -> FloatArray:
    """Times averaged over a few neighbours; both ends stay."""
    before = 2.0 * times[0] - times[width:0:-1]
    after = 2.0 * times[-1] - times[-2 : -width - 2 : -1]
    window = np.hanning(2 * width + 3)[1:-1]
    return np.convolve(np.concatenate([before, times, after]), window / window.sum(), mode="valid")
