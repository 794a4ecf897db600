"""Capture glitches: frames that no body could have made, in motion as it was captured.

Swapped markers, gimbal flips and bad joins of takes leave a joint in one frame where it is neither
before nor after. Blends carry such frames on, and quality checks accept them, for the sources have
them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, of_kind
from motionloom._core import kernel, record
from motionloom.body.body_map import ROLES, BodyMap, roles_for
from motionloom.features.smoothness import SPIKE_RATIO, Turns, spikes_of
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton

_find_bends = kernel("ml_bend_find")

JUDGED_FPS = 60.0
"""Faster motion is judged over steps of frames as long as this rate's. What is slower is held to
lower limits: an impact that is over within one frame bends a way the less, the longer it lasts."""
SHARP = 200.0
"""A joint whose way bends less sharply than this does not glitch, m/s². Feet that land and hands
that hit get to half of it."""
RATIO = 5.0
"""It bends this many times as sharply as just before and after."""
CALM = 14.0
"""Added to how sharply it bends around, m/s²: what stands may start."""
NEIGHBOURS = 1.5
"""A one-frame glitch also doubles the acceleration of both neighbours; those are ignored."""
SHARPEST = 0.5
"""Over steps of several frames a glitch is seen in all of them; it is where single frames bend at
least this much of the most."""
AROUND_S = 0.1
ABOVE_ROOT = -1
FASTEST = np.radians(3000.0)
"""No joint of a body turns faster, rad/s, whatever it does around: gimbal flips of a foot last for
several frames and do not stand out from them. Toe joints, which captures invent, are left out."""


class Glitch(NamedTuple):
    """One frame in which a joint jumps to an impossible place.

    Attributes
    ----------
    frame : int
        Frame of the motion.
    joint : str
        The joint that leaves its path farthest.
    """

    frame: int
    joint: str


def find_glitches(motion: Motion, *, body: BodyMap | None = None) -> tuple[Glitch, ...]:
    """Frames in which a joint leaves its way, or turns, far too fast; in their order.

    Where a joint jumps and stays, both frames of the step are named. The first and the last frame
    of a motion, or sixtieth of a second where frames are shorter, cannot be judged. One frame that
    is 10 cm off is found at any rate from 24 to 240 frames per second; faults of quick feet
    and hands are hard to tell from motion below 60.

    Parameters
    ----------
    motion
        F frames, at least 5: fewer have no glitches.
    body
        Roles of its joints; guessed by default. Fingers and props are not looked at: captures make
        them up, and they glitch often.

    Examples
    --------
    >>> import numpy as np
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk").motion
    >>> find_glitches(walk)
    ()
    >>> root = np.array(walk.root_positions)
    >>> root[30, 0] += 0.1
    >>> [glitch.frame for glitch in find_glitches(walk.replace(root_positions=root))]
    [30]
    """
    of_kind(motion, Motion, "motion")
    return () if motion.n_frames < 5 else glitches_of(motion, motion.world_positions(), body=body)


def glitches_of(
    motion: Motion, positions: FloatArray, *, body: BodyMap | None = None
) -> tuple[Glitch, ...]:
    """As :func:`find_glitches`, of a motion whose joints are known in the world. (F, J, 3)."""
    if motion.n_frames < 5:
        return ()
    looked_at = glitch_joints(motion.skeleton, roles_for(motion.skeleton, body))
    return glitches_in(motion, spikes_of(motion, FASTEST), positions, looked_at)


def glitch_joints(skeleton: Skeleton, body: BodyMap) -> tuple[list[int], set[int]]:
    """Joints that may glitch, and those of them that may turn too fast: all but toes."""
    joints = body_joints(skeleton, body)
    return joints, {each for each in joints if each not in (body.left_toe, body.right_toe)}


def glitches_in(
    motion: Motion, turns: Turns, positions: FloatArray, looked_at: tuple[list[int], set[int]]
) -> tuple[Glitch, ...]:
    """As :func:`glitches_of`, with the results of ``spikes_of`` and :func:`glitch_joints`."""
    if motion.n_frames < 5:
        return ()
    joints, fast_joints = looked_at
    names = {motion.skeleton.names[joint] for joint in joints}
    stride = max(1, round(motion.fps / JUDGED_FPS))
    coarse = min(1.0, motion.fps / (stride * JUDGED_FPS))
    joint_of: dict[int, str] = {}
    for spike in turns.spikes:
        if spike.joint not in names or spike.ratio * coarse**0.5 < SPIKE_RATIO:
            continue
        for frame in (spike.frame, spike.frame + 1):
            joint_of.setdefault(frame, spike.joint)
    for frame, joint in turns.too_fast:
        if joint in fast_joints:
            joint_of[frame] = joint_of[frame + 1] = motion.skeleton.names[joint]
    if motion.n_frames > 2 * stride:
        bent = _bent(positions, joints, motion.fps, stride=stride, coarse=coarse)
        joint_of.update((f, motion.skeleton.names[joints[j]]) for f, j in bent.items())
    return tuple(Glitch(frame, joint_of[frame]) for frame in sorted(joint_of))


def _bent(
    positions: FloatArray, joints: list[int], fps: float, *, stride: int, coarse: float
) -> dict[int, int]:
    """Frames in which one of the joints leaves its way, each with that which leaves it most.

    Bends are judged over ``stride`` frames; ``coarse`` is below 1 where even one frame lasts
    longer than those of :data:`JUDGED_FPS`. Joints count among ``joints``.
    """
    half = max(3, round(AROUND_S * fps / stride))
    rules = record(
        "ml_bends",
        stride=stride,
        half=half,
        sharp=SHARP * coarse,
        beside=NEIGHBOURS,
        sharpest=SHARPEST,
        ratio=RATIO * coarse**0.5,
        calm=CALM * coarse,
    )
    most = np.zeros(len(positions), dtype=np.int64)
    _find_bends(
        *positions.shape[:2], np.ascontiguousarray(positions), len(joints),
        np.array(joints, dtype=np.int64), fps, rules, np.zeros(2 * half), most,
    )  # fmt: skip
    if not len(most) or most.max() < 0:
        return {}
    return {int(f): int(most[f]) for f in np.flatnonzero(most >= 0)}


def body_joints(skeleton: Skeleton, body: BodyMap) -> list[int]:
    """Joints that have a role, and those between them and the root; all where none has."""
    joints, parents = {ABOVE_ROOT}, skeleton.parents.tolist()
    for role in ROLES:
        value = getattr(body, role)
        for joint in value if isinstance(value, tuple) else (value,):
            while joint is not None and joint not in joints:
                joints.add(int(joint))
                joint = parents[joint]
    return sorted(joints - {ABOVE_ROOT}) or list(range(skeleton.n_joints))


NEIGHBOURS_S = 1.5 / 60.0
"""Frames so close to a capture glitch are as unreliable as the glitch itself, seconds."""


def glitch_mask(motion: Motion, frames: Sequence[int]) -> BoolArray:
    """Frames that are glitched or next to one. (F,)."""
    mask = np.zeros(motion.n_frames, dtype=bool)
    near = int(np.ceil(NEIGHBOURS_S * motion.fps))
    for frame in frames:
        mask[max(frame - near, 0) : frame + near + 1] = True
    return mask
