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
UNSEEN = np.radians(230.0)
"""Radians per second: a joint that is slower may be hurried, for it stays below 300 degrees."""
_WRISTS = ("left_wrist", "right_wrist")
_ARMS = tuple(f"{side}_{role}" for side in ("left", "right") for role in ("shoulder", "elbow"))


def arm_speeds(motion: Motion, body: BodyMap) -> FloatArray:
    """Turn of the arm joint that turns most, from every frame to the next, radians. (F - 1,)."""
    return np.asarray(_turns(motion, _joints(body, (*_ARMS, *_WRISTS))).max(axis=-1))


def unrushed(
    frames: FloatArray, upper: Motion, lower: Motion, body: BodyMap, *, sure: FloatArray
) -> FloatArray:
    """Times near ``frames`` at which no arm is rushed; ``frames`` itself where none is. (M,).

    M is N, or less where the action ends before.

    Parameters
    ----------
    frames : (N,)
        Frame of the action at every frame of the splice, increasing.
    upper
        The action.
    lower
        The locomotion, whose arms and head may be faster than the action's.
    body
        Which joint is which.
    sure : (N,)
        Where the pace is the gait's own, 1: there a joint may turn as fast as in either clip.
        Where the pace is a guess, 0: there no arm may turn faster than the action's fastest.
    """
    ease = min(max(1, round(EASE_S * upper.fps)), len(frames) - 1)
    if ease < 1:
        return frames
    used = slice(int(frames[0]), max(int(np.ceil(frames[-1])), int(frames[0]) + 1))
    joints = _joints(body, (*_ARMS, *_WRISTS, "neck", "head"))
    turns = _turns(upper, joints)
    own = np.maximum(turns[used].max(axis=0), _turns(lower, joints).max(axis=0))
    trusted = _fastest_pace(turns, np.maximum(own, UNSEEN / upper.fps), ease)
    arms = arm_speeds(upper, body)[:, None]
    guessed = np.minimum(trusted, _fastest_pace(arms, np.maximum(arms[used].max(), CALM), ease))
    whole = np.minimum(frames[:-1].astype(np.int64), len(guessed) - 1)
    if np.all(np.diff(frames) <= guessed[whole] + sure[:-1] * (trusted - guessed)[whole]):
        return frames
    held = [float(frames[0])]
    for wanted, trust in zip(frames[1:].tolist(), sure.tolist(), strict=False):
        now = min(int(held[-1]), len(guessed) - 1)
        fastest = float(guessed[now] + trust * (trusted[now] - guessed[now]))
        held.append(held[-1] + min(max(wanted - held[-1], SLOWEST), fastest))
    eased = _eased(np.array(held), ease)
    eased = eased[eased <= upper.n_frames - 1 + 1e-6]
    eased[0] = frames[0]
    return np.minimum(eased, upper.n_frames - 1.0)


def _joints(body: BodyMap, roles: tuple[str, ...]) -> list[int]:
    return [j for j in (getattr(body, role) for role in roles) if j is not None]


def _turns(motion: Motion, joints: list[int]) -> FloatArray:
    """Angles by which joints turn from every frame to the next, radians. (F - 1, J)."""
    quats = motion.local_quats[:, joints]
    return quat.angle_between(quats[:-1], quats[1:])


def _fastest_pace(turns: FloatArray, own: FloatArray | float, ease: int) -> FloatArray:
    """Pace at which no joint gets faster than its limit within the frames around. (F - 1,).

    Parameters
    ----------
    turns : (F - 1, J)
        Angles from every frame to the next.
    own : (J,)
        The fastest that each joint is.
    ease
        Frames to either side that are looked at.
    """
    padded = np.pad(turns, ((ease, ease), (0, 0)), mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * ease + 1, axis=0).max(axis=-1)
    paces = MOST * own / np.maximum(around, 1e-3 * CALM)
    return np.asarray(np.clip(paces.min(axis=-1), SLOWEST, FASTEST))


def _eased(times: FloatArray, width: int) -> FloatArray:
    """Times averaged over a few neighbours; both ends stay."""
    before = 2.0 * times[0] - times[width:0:-1]
    after = 2.0 * times[-1] - times[-2 : -width - 2 : -1]
    window = np.hanning(2 * width + 3)[1:-1]
    return np.convolve(np.concatenate([before, times, after]), window / window.sum(), mode="valid")
