"""Smoothness: jerk of the joints, and frames in which a joint jumps."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

_find = kernel("ml_spike_find")

JERK_WINDOW_S = 0.1
"""Cubics are fitted over this long: third differences of single frames would be all noise."""
SPIKE_RATIO = 8.0
"""A spike is this many times faster than the joint is just before and after."""
SPIKE_SPEED = 8.0
"""Nothing slower is a spike, radians per second."""
STEADY_SPEED = 1.0
"""Added to the speed around, so that a joint at rest may start, radians per second."""
AROUND_S = 0.1
MOST = 256
"""Spikes that are looked for at first; more only in clips of noise."""


class SpeedSpike(NamedTuple):
    """One frame in which a joint turns far too fast.

    Attributes
    ----------
    frame : int
        The step from this frame to the next.
    joint : str
        Name of the joint.
    ratio : float
        Its speed over that of the frames around it.
    """

    frame: int
    joint: str
    ratio: float


class Turns(NamedTuple):
    """How the joints of a motion turn from frame to frame."""

    spikes: tuple[SpeedSpike, ...]
    """Worst first."""
    too_fast: list[list[int]]
    """Step and joint of every turn that is too fast."""
    error: float
    flips: bool
    """Largest error of a rotation's length, and whether any sign flips, as of ``check_rows``."""


def peak_jerk(
    motion: Motion, positions: FloatArray, body: BodyMap
) -> tuple[float | None, tuple[int, str] | None]:
    """Largest jerk of any joint that has a body role, m/s3, with its frame and joint.

    Fingers, twist bones and props are left out. None for clips shorter than the fit.
    """
    half = max(2, round(0.5 * JERK_WINDOW_S * motion.fps))
    if motion.n_frames < 2 * half + 1:
        return None, None
    joints = np.array(_role_joints(body) or range(motion.skeleton.n_joints))
    time = np.arange(-half, half + 1) / motion.fps
    fit = 6.0 * np.linalg.pinv(np.vander(time, 4, increasing=True))[3]  # (window,)
    # Weighted sums of shifted copies: a window view of a long clip would fill the memory.
    track = positions[:, joints]
    inner = len(track) - 2 * half
    jerk = np.zeros((inner, *track.shape[1:]))
    for shift, weight in enumerate(fit):
        jerk += weight * track[shift : shift + inner]
    size = np.linalg.norm(jerk, axis=-1)
    frame, joint = np.unravel_index(int(np.argmax(size)), size.shape)
    name = motion.skeleton.names[int(joints[joint])]
    return float(size[frame, joint]), (int(frame) + half, name)


def find_speed_spikes(motion: Motion) -> tuple[SpeedSpike, ...]:
    """Steps in which a joint turns much faster than in the tenth of a second around, worst first.

    Gimbal flips, swapped markers and bad joins all look like this; motion does not, for a joint
    with mass is never fast in one frame only.
    """
    return spikes_of(motion).spikes


def spikes_of(motion: Motion, too_fast: float = math.inf) -> Turns:
    """As :func:`find_speed_spikes`, and what else is seen on the way. See :class:`Turns`.

    ``too_fast`` is more than any spike must be, rad/s.
    """
    if motion.n_frames < 4:
        return Turns((), [], *quat.check_rows(motion.local_quats))
    quats, half = motion.local_quats, max(2, round(AROUND_S * motion.fps))
    work, most = np.zeros(2 * half), MOST
    n_beyond, off = np.zeros(1, dtype=np.int64), np.zeros(2)
    while True:
        rows, beyond = np.zeros((most, 3)), np.zeros((most, 2), dtype=np.int64)
        n = _find(
            *quats.shape[:2], quats, motion.fps, SPIKE_SPEED, STEADY_SPEED, SPIKE_RATIO, too_fast,
            half, work, most, rows, beyond, n_beyond, off,
        )  # fmt: skip
        if max(n, n_beyond[0]) <= most:
            break
        most = max(n, int(n_beyond[0]))
    spikes = [
        SpeedSpike(int(frame), motion.skeleton.names[int(joint)], ratio)
        for frame, joint, ratio in rows[:n].tolist()
    ]
    return Turns(
        tuple(sorted(spikes, key=lambda spike: -spike.ratio)),
        beyond[: n_beyond[0]].tolist(),
        0.5 * float(off[0]),
        bool(off[1] > 0.0),
    )


def _role_joints(body: BodyMap) -> list[int]:
    named = [getattr(body, role) for role in body.__slots__ if role != "spine"]
    return sorted({*(j for j in named if j is not None), *body.spine})
