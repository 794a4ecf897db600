"""Playback rate: how fast the action may run where its arms are busy.

Keeping step can ask for twice the action's rate. Where both clips walk alike that is their gait's
rate. In other frames it is a guess: nobody sees it while the arms hang or carry, but arms that
throw or lift would be rushed. So there the rate is held back, and caught up as soon as the arms
are calm.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._filters import running_minimum
from motionloom.body.body_map import ROLES, BodyMap
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

MOST = 1.25
"""Fastest arm in the splice, against the action's own fastest."""
FASTEST, SLOWEST = 1.95, 0.52
"""Bounds of the rate, a little inside twice and half the action's own."""
CALM = 1e-3
"""Radians per frame below which an arm is still."""
EASE_S = 0.1
"""Seconds over which one rate goes over into another."""
UNSEEN = np.radians(230.0)
"""Radians per second: a joint that is slower may be hurried, for it stays below 300 degrees."""
SHORTEST_M = 0.01
"""Directions of shorter bones say nothing."""
IN_THE_WORLD = 1.1
"""Bones of the arms in the world may be hurried so much less than joints: the torso that they ride
on sways with the locomotion and adds to their speed."""
CAP, SLOWED = 0.95, 0.75
"""An arm that is too fast in the splice is slowed to a little less than the limit, but the action
runs no slower than the second for it."""
_WRISTS = ("left_wrist", "right_wrist")
_ARMS = tuple(f"{side}_{role}" for side in ("left", "right") for role in ("shoulder", "elbow"))


def arm_speeds(motion: Motion, body: BodyMap) -> FloatArray:
    """Turn of the arm joint that turns most, from every frame to the next, radians. (F - 1,)."""
    return np.asarray(_turns(motion, _joints(body, (*_ARMS, *_WRISTS))).max(axis=-1))


def unrushed(
    frames: FloatArray,
    upper: Motion,
    lower: Motion,
    body: BodyMap,
    *,
    sure: FloatArray,
    caps: FloatArray | None = None,
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
        Where the rate is the gait's own, 1: there a joint may turn as fast as in either clip.
        Where the rate is a guess, 0: there no arm may turn faster than the action's fastest.
    caps : (F - 1,)
        Highest rate at every frame of the action, from :func:`rate_caps`; none by default.
    """
    ease = min(max(1, round(EASE_S * upper.fps)), len(frames) - 1)
    if ease < 1:
        return frames
    used = slice(int(frames[0]), max(int(np.ceil(frames[-1])), int(frames[0]) + 1))
    joints = _joints(body, (*_ARMS, *_WRISTS, "neck", "head"))
    turns, others = (_all_turns(motion, joints, body) for motion in (upper, lower))
    own = np.maximum(turns[used].max(axis=0), others.max(axis=0))
    own = np.maximum(own, UNSEEN / upper.fps)
    own[len(joints) :] /= IN_THE_WORLD
    trusted = _fastest_rate(turns, own, ease)
    if caps is not None:
        trusted = np.minimum(trusted, caps)
    arms = arm_speeds(upper, body)[:, None]
    guessed = np.minimum(trusted, _fastest_rate(arms, np.maximum(arms[used].max(), CALM), ease))
    whole = np.minimum(frames[:-1].astype(np.int64), len(guessed) - 1)
    if np.all(np.diff(frames) <= guessed[whole] + sure[:-1] * (trusted - guessed)[whole]):
        return frames
    held = [float(frames[0])]
    for wanted, trust in zip(frames[1:].tolist(), sure.tolist(), strict=False):
        now = min(int(held[-1]), len(guessed) - 1)
        fastest = float(guessed[now] + trust * (trusted[now] - guessed[now]))
        held.append(held[-1] + min(max(wanted - held[-1], SLOWEST), fastest))
    times = eased(np.array(held), ease)
    times = times[times <= upper.n_frames - 1 + 1e-6]
    times[0] = frames[0]
    return np.minimum(times, upper.n_frames - 1.0)


def rate_caps(
    spliced: Motion, frames: FloatArray, upper: Motion, lower: Motion, body: BodyMap
) -> FloatArray | None:
    """Rates at which arms of a splice would be no faster in the world than in the clips. (F - 1,).

    The torso under the arms is not the action's: what it did against a punch is missing, and the
    hand is faster although the action runs at its own rate. None where no arm is too fast.

    Parameters
    ----------
    spliced
        The splice, N frames.
    frames : (N,)
        Frame of the action at every frame of the splice.
    upper, lower
        The action and the locomotion.
    body
        Which joint is which.
    """
    joints = _joints(body, (*_ARMS, *_WRISTS))
    if len(frames) < 3 or not joints:
        return None
    used = slice(int(frames[0]), max(int(np.ceil(frames[-1])), int(frames[0]) + 1))
    theirs, others = (_swings(motion, joints, body) for motion in (upper, lower))
    own = np.maximum(theirs[used].max(axis=0), others.max(axis=0))
    limit = np.maximum(own, UNSEEN / upper.fps)
    over = (_swings(spliced, joints, body) / limit).max(axis=-1)
    if over.max() <= 1.0:
        return None
    caps, rate = np.full(upper.n_frames - 1, np.inf), np.diff(frames)
    fast = np.flatnonzero(over > 1.0)
    at = np.minimum(frames[fast].astype(np.int64), len(caps) - 1)
    np.minimum.at(caps, at, np.maximum(CAP * rate[fast] / over[fast], SLOWED))
    ease = max(1, round(EASE_S * upper.fps))
    return running_minimum(caps, ease)


def _joints(body: BodyMap, roles: tuple[str, ...]) -> list[int]:
    return [j for j in (getattr(body, role) for role in roles) if j is not None]


def _turns(motion: Motion, joints: list[int]) -> FloatArray:
    """Angles by which joints turn from every frame to the next, radians. (F - 1, J)."""
    quats = motion.local_quats[:, joints]
    return quat.angle_between(quats[:-1], quats[1:])


def _all_turns(motion: Motion, joints: list[int], body: BodyMap) -> FloatArray:
    """Turns of the joints in their parents, then of the bones to them in the world. (F - 1, 2 J).

    Joints that turn slowly one on another add up to a fast hand.
    """
    return np.concatenate([_turns(motion, joints), _swings(motion, joints, body)], axis=-1)


def _swings(motion: Motion, joints: list[int], body: BodyMap) -> FloatArray:
    """Angles by which the bones to joints swing in the world, frame to frame. (F - 1, J)."""
    positions = motion.world_positions()
    named = {*body.spine, *(getattr(body, role) for role in ROLES if role != "spine")}
    starts = [_start_of_bone(motion.skeleton, joint, named) for joint in joints]
    bones = positions[:, joints] - positions[:, starts]
    bones = bones / np.maximum(np.linalg.norm(bones, axis=-1, keepdims=True), SHORTEST_M)
    apart = np.linalg.norm(np.diff(bones, axis=0), axis=-1)
    return np.asarray(2.0 * np.arcsin(np.minimum(0.5 * apart, 1.0)))


def _start_of_bone(skeleton: Skeleton, joint: int, named: set[int | None]) -> int:
    """The joint above, but none at the same place that is not ``named``, such as a twist joint."""
    start, bone = int(skeleton.parents[joint]), skeleton.offsets[joint]
    while start > 0 and np.linalg.norm(bone) < SHORTEST_M and start not in named:
        start, bone = int(skeleton.parents[start]), skeleton.offsets[start]
    return start


def _fastest_rate(turns: FloatArray, own: FloatArray | float, ease: int) -> FloatArray:
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
    rates = MOST * own / np.maximum(around, 1e-3 * CALM)
    return np.asarray(np.clip(rates.min(axis=-1), SLOWEST, FASTEST))


def eased(times: FloatArray, width: int) -> FloatArray:
    """Times averaged over a few neighbours; both ends stay."""
    before = 2.0 * times[0] - times[width:0:-1]
    after = 2.0 * times[-1] - times[-2 : -width - 2 : -1]
    window = np.hanning(2 * width + 3)[1:-1]
    return np.convolve(np.concatenate([before, times, after]), window / window.sum(), mode="valid")
