"""Repaired frames: bridges from a good frame to the next, and repairs that are refused.

A bridge leaves as fast as the motion comes in and arrives as fast as it goes on. A straight line
would stop and start a limb that swings, which shows more than many of the defects it replaces. A
repair that accelerates joints more than the clip does is refused: :func:`reject_if_rougher`.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._filters import running_maximum
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

LEADING = 1.5
"""Velocities at the ends lead no farther than this many times the distance between the ends, ..."""
LEAST, LEAST_M = np.radians(12.0), 0.05
"""... or this far, radians and metres: a joint that comes back to its place may swing out."""


def bridge_rotations(quats: FloatArray, before: int, after: int) -> FloatArray:
    """Rotations between two good frames. Shapes (F, ..., 4) to (after - before - 1, ..., 4).

    Parameters
    ----------
    quats : (F, ..., 4)
        Unit quaternions in time.
    before, after
        The good frames.
    """
    length, last = after - before, len(quats) - 1
    firsts, lasts = [before, max(before - 1, 0), after], [after, before, min(after + 1, last)]
    whole, leave, arrive = quat.turn(quats[firsts], quats[lasts])
    step = whole / length
    most = np.maximum(LEADING * length * _size(step), LEAST)
    leave, arrive = leave if before > 0 else step, arrive if after < last else step
    leave, arrive = _shortened(leave, length, most), _shortened(arrive, length, most)
    return np.asarray(
        quat.multiply(quats[before], quat.exp(cubic_way(length * step, leave, arrive, length)))
    )


def bridge_line(values: FloatArray, before: int, after: int) -> FloatArray:
    """Positions between two good frames. Shapes (F, ..., 3) to (after - before - 1, ..., 3)."""
    length, last = after - before, len(values) - 1
    way = values[after] - values[before]
    most = np.maximum(LEADING * _size(way), LEAST_M)
    leave = values[before] - values[before - 1] if before > 0 else way / length
    arrive = values[after + 1] - values[after] if after < last else way / length
    leave, arrive = _shortened(leave, length, most), _shortened(arrive, length, most)
    return np.asarray(values[before] + cubic_way(way, leave, arrive, length))


def cubic_way(way: FloatArray, leave: FloatArray, arrive: FloatArray, length: int) -> FloatArray:
    """Distance covered after 1 to ``length - 1`` frames along a cubic. (length - 1, ...).

    Parameters
    ----------
    way : (...)
        From end to end.
    leave, arrive : (...)
        Steps per frame at both ends.
    length
        Frames from end to end.
    """
    u = (np.arange(1, length) / length).reshape(-1, *[1] * way.ndim)
    path = (u**3 - 2.0 * u**2 + u) * length * leave + (3.0 * u**2 - 2.0 * u**3) * way
    return np.asarray(path + (u**3 - u**2) * length * arrive)


def turn_per_frame(quats: FloatArray, first: int, last: int) -> FloatArray:
    """Mean turn per frame from one frame to another, in the joint's own frame. (..., 3)."""
    return np.asarray(quat.turn(quats[first], quats[last]) / (last - first))


def _shortened(step: FloatArray, length: int, most: FloatArray) -> FloatArray:
    """A step per frame, shortened to lead at most ``most`` in ``length`` frames."""
    far = length * _size(step)
    return np.asarray(step * np.minimum(1.0, most / np.maximum(far, 1e-12)))


def _size(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(vectors, axis=-1, keepdims=True))


# --- Repairs that are rougher than the clip

MORE, FREE = 1.1, 80.0
"""A repair may accelerate a joint this many times as much as the clip does near by or away from the
repair, and always by the second, m/s2."""
NEAR_S = 0.04
"""Captured accelerations at most this far away count as near by, seconds."""


def rougher_frames(
    captured: FloatArray, repaired: FloatArray, fps: float, changed: BoolArray
) -> BoolArray:
    """Frames in which a repair accelerates a joint more than the clip does. (F,).

    Joints of a limb that are repaired one by one may no longer move together. In a run of changed
    frames in which a joint was captured more abrupt than it is repaired, it does not count.

    Parameters
    ----------
    captured, repaired : (F, K, 3)
        Joints in the world before and after, metres.
    fps
        Of the clip.
    changed : (F,)
        Frames that may differ.
    """
    before, after = _accelerations(captured, fps), _accelerations(repaired, fps)
    own = np.max(before, axis=0, where=~changed[:, None], initial=FREE)
    near = max(1, round(NEAR_S * fps))
    worse = after > MORE * np.maximum(running_maximum(before, near), own)
    for first, last in runs_of(changed):
        run = slice(max(first - 1, 0), last + 2)
        worse[run] &= after[run].max(axis=0) > before[run].max(axis=0)
    return np.asarray(worse.any(axis=1))


def reject_if_rougher(
    captured: Motion, repaired: Motion, joints: IntArray, changed: BoolArray
) -> Motion:
    """The repaired clip, but as captured in runs of changed frames that became rougher.

    ``joints`` are those that may differ, ``changed`` (F,) the frames. See :func:`rougher_frames`.
    """
    before, after = (each.world_positions()[:, joints] for each in (captured, repaired))
    worse = rougher_frames(before, after, captured.fps, changed)
    root, quats = np.array(repaired.root_positions), np.array(repaired.local_quats)
    moving = repaired.joint_translations
    moving = None if moving is None else np.array(moving)
    for first, last in runs_of(changed):
        if not worse[max(first - 1, 0) : last + 2].any():
            continue
        run = slice(first, last + 1)
        root[run], quats[run] = captured.root_positions[run], captured.local_quats[run]
        if moving is not None and captured.joint_translations is not None:
            moving[run] = captured.joint_translations[run]
    return repaired.replace(
        root_positions=root, local_quats=quat.make_continuous(quats), joint_translations=moving
    )


def _accelerations(positions: FloatArray, fps: float) -> FloatArray:
    """Second differences of joints, m/s2. (F, K)."""
    bends = np.zeros(positions.shape[:2])
    second = np.diff(positions, 2, axis=0)
    bends[1:-1] = fps**2 * np.linalg.norm(second, axis=-1)
    return bends
