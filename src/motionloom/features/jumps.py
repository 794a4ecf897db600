"""Jumps: frames that no body could have made, in motion as it was captured.

Swapped markers, gimbal flips and bad joins of takes leave a joint in one frame where it is neither
before nor after. Blends carry such frames on, and the gate lets them pass, for the sources have
them too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, of_kind
from motionloom.features.smoothness import SPIKE_RATIO, find_speed_spikes
from motionloom.motion.body import ROLES, BodyMap, roles_for
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

__all__ = ["FASTEST", "Jump", "body_joints", "find_jumps"]

JUDGED_FPS = 60.0
"""Faster motion is judged over steps of frames as long as this rate's. What is slower is held to
lower limits: an impact that is over within one frame bends a way the less, the longer it lasts."""
SHARP = 200.0
"""A joint whose way bends less sharply than this does not jump, m/s². Feet that land and hands
that hit get to half of it."""
RATIO = 5.0
"""It bends this many times as sharply as just before and after."""
CALM = 14.0
"""Added to how sharply it bends around, m/s²: what stands may start."""
BESIDE = 1.5
"""The frames beside one that is elsewhere bend half as sharply: they are where they should be."""
SHARPEST = 0.5
"""Over steps of several frames a jump is seen in all of them; it is where single frames bend at
least this much of the most."""
AROUND_S = 0.1
FASTEST = np.radians(3000.0)
"""No joint of a body turns faster, rad/s, whatever it does around: gimbal flips of a foot last for
several frames and do not stand out from them. Toe joints, which captures invent, are left out."""


class Jump(NamedTuple):
    """One frame in which a joint is not where it can be."""

    frame: int
    joint: str
    """The joint that jumps most."""


def find_jumps(motion: Motion, *, body: BodyMap | None = None) -> tuple[Jump, ...]:
    """Frames in which a joint leaves its way, or turns, far too fast; in their order.

    Where a joint jumps and stays, both frames of the step are named. The first and the last frame
    of a motion, or sixtieth of a second where frames are shorter, cannot be judged. One frame that
    is 10 cm elsewhere is found at any rate from 24 to 240 frames per second; faults of quick feet
    and hands are hard to tell from motion below 60.

    Parameters
    ----------
    motion
        F frames, at least 5: of fewer nothing can be said.
    body
        Roles of its joints; guessed by default. Fingers and props are not looked at: captures make
        them up, and they jump often.

    Examples
    --------
    >>> import numpy as np
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk").motion
    >>> find_jumps(walk)
    ()
    >>> root = np.array(walk.root_positions)
    >>> root[30, 0] += 0.1
    >>> [jump.frame for jump in find_jumps(walk.replace(root_positions=root))]
    [30]
    """
    of_kind(motion, Motion, "motion")
    if motion.n_frames < 5:
        return ()
    body = roles_for(motion.skeleton, body)
    joints = body_joints(motion.skeleton, body)
    names = {motion.skeleton.names[joint] for joint in joints}
    stride = max(1, round(motion.fps / JUDGED_FPS))
    coarse = min(1.0, motion.fps / (stride * JUDGED_FPS))
    found: dict[int, str] = {}
    for spike in find_speed_spikes(motion):
        if spike.joint not in names or spike.ratio * coarse**0.5 < SPIKE_RATIO:
            continue
        for frame in (spike.frame, spike.frame + 1):
            found.setdefault(frame, spike.joint)
    found.update(_too_fast(motion, joints, body))
    positions = motion.world_positions()[:, joints]
    if motion.n_frames > 2 * stride:
        bent = _bent(positions, motion.fps, stride=stride, coarse=coarse)
        found.update((f, motion.skeleton.names[joints[j]]) for f, j in bent.items())
    return tuple(Jump(frame, found[frame]) for frame in sorted(found))


def _too_fast(motion: Motion, joints: list[int], body: BodyMap) -> dict[int, str]:
    """Frames before and after steps in which a joint turns faster than any does, with the joint."""
    judged = [joint for joint in joints if joint not in (body.left_toe, body.right_toe)]
    speeds = motion.fps * quat.turns(motion.local_quats, judged)
    return {
        int(frame) + after: motion.skeleton.names[judged[joint]]
        for frame, joint in np.argwhere(speeds > FASTEST)
        for after in (0, 1)
    }


def _bent(positions: FloatArray, fps: float, *, stride: int, coarse: float) -> dict[int, int]:
    """Frames in which a joint leaves its way, each with the joint that leaves it most.

    Bends are judged over ``stride`` frames; ``coarse`` is below 1 where even one frame lasts
    longer than those of :data:`JUDGED_FPS`.
    """
    bends = _bends(positions, fps, stride)
    single = bends if stride == 1 else _bends(positions, fps, 1)
    half = max(3, round(AROUND_S * fps / stride))
    found: dict[int, int] = {}
    for f, j in np.argwhere(bends > SHARP * coarse):
        if max(bends[f - stride, j], bends[f + stride, j]) > BESIDE * bends[f, j]:
            continue
        if single[f, j] < SHARPEST * single[f - stride + 1 : f + stride, j].max():
            continue
        around = _around(bends[f % stride :: stride, j], int(f) // stride, half)
        if bends[f, j] <= RATIO * coarse**0.5 * (around + CALM * coarse):
            continue
        if int(f) not in found or bends[f, j] > bends[f, found[int(f)]]:
            found[int(f)] = int(j)
    return found


def body_joints(skeleton: Skeleton, body: BodyMap) -> list[int]:
    """Joints that have a role, and those between them and the root; all where none has."""
    found: set[int] = set()
    for role in ROLES:
        value = getattr(body, role)
        for joint in value if isinstance(value, tuple) else (value,):
            if joint is not None:
                found.update(skeleton.chain(joint))
    return sorted(found) or list(range(skeleton.n_joints))


def _bends(positions: FloatArray, fps: float, stride: int) -> FloatArray:
    """How sharply every joint's way bends, m/s², from frames ``stride`` before and after. (F, J).

    0 in the first and the last ``stride`` frames.
    """
    bends = np.zeros(positions.shape[:2])
    middle = positions[stride:-stride] - 0.5 * (positions[: -2 * stride] + positions[2 * stride :])
    bends[stride:-stride] = 2.0 * (fps / stride) ** 2 * np.linalg.norm(middle, axis=-1)
    return bends


def _around(bends: FloatArray, frame: int, half: int) -> float:
    """What is usual just before and after a frame: four of five are below it."""
    near = [bends[max(frame - half, 1) : max(frame - 1, 1)], bends[frame + 2 : frame + half + 1]]
    around = np.sort(np.concatenate(near))
    return float(around[int(0.8 * len(around))]) if len(around) else float("inf")
