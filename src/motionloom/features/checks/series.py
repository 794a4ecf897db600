"""Series: what the checks measure in every frame, per joint and of the whole body.

Turns are measured as ``2 |q - p|`` of unit quaternions, the angle between them to a third of a
per cent for steps below 30 degrees: no inverse cosine, and the same in sources and results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom import _core
from motionloom._arrays import FloatArray
from motionloom._block import Block
from motionloom._records import record
from motionloom.features.checks.check_rig import CheckRig, rig_record
from motionloom.motion.motion import Motion

_measure = _core.kernel("ml_check_measure")


@record
class Series(NamedTuple):
    """Measured values. Row 0 of steps is 0; so are the first and last row of bends and kinks."""

    turn: FloatArray
    """Rotation speed of judged joints in their parents (the pelvis: world), rad/s. (F, N)"""
    speed: FloatArray
    """Speed of judged joints relative to their parents, m/s. (F, N)"""
    bend: FloatArray
    """Size of the second difference of their world positions, m/s2. (F, N)"""
    kink: FloatArray
    """How far they are, seen from their parents, from the middle between where they are before and
    after, metres; 0 for the pelvis. (F, N)"""
    carried: FloatArray
    """Rotation speed of the joints above the pelvis in the world, rad/s. (F, A)"""
    head: FloatArray
    """Rotation speed of the head in the world, rad/s. (F,)"""
    heading: FloatArray
    """Heading of the body, radians, unwrapped. (F,)"""
    flexion: FloatArray
    """Signed flexion of both knees, radians. (F, 2)"""
    soles: FloatArray
    """Left heel, left ball, right heel, right ball in the world, metres. (F, 4, 3)"""
    lowest: FloatArray
    """Height of the lowest judged joint or sole point, metres. (F,)"""
    pelvis: FloatArray
    """Pelvis in the world, metres. (F, 3)"""
    mass: FloatArray
    """Mass point of trunk and legs, metres. (F, 3)"""


def new_series(rig: CheckRig, n_frames: int, block: Block | None = None) -> Series:
    """Series of zeros for so many frames; of a block that nobody has written to, or on its own."""
    zeros = (Block(0) if block is None else block).zeros
    n = len(rig.checked)
    return Series(
        zeros(n_frames, n),
        zeros(n_frames, n),
        zeros(n_frames, n),
        zeros(n_frames, n),
        zeros(n_frames, len(rig.carriers)),
        zeros(n_frames),
        zeros(n_frames),
        zeros(n_frames, 2),
        zeros(n_frames, 4, 3),
        zeros(n_frames),
        zeros(n_frames, 3),
        zeros(n_frames, 3),
    )


def measure_series(
    rig: CheckRig,
    fps: float,
    positions: FloatArray,
    world: FloatArray,
    quats: FloatArray,
    out: Series,
) -> None:
    """Fill ``out`` from world positions (F, J, 3), world and local rotations (F, J, 4)."""
    positions, world, quats = (
        np.ascontiguousarray(each, dtype=np.float64) for each in (positions, world, quats)
    )
    work = np.zeros((len(rig.parents), 6))
    _measure(rig_record(rig), fps, positions, world, quats, work, series_record(out))


def series_record(series: Series) -> _core.Record:
    """A series as the core takes it."""
    n_frames, n_checked = series.turn.shape
    n_carriers = series.carried.shape[1]
    return _core.record(
        "ml_check_series",
        n_frames=n_frames,
        n_checked=n_checked,
        n_carriers=n_carriers,
        **series._asdict(),
    )


Pose = tuple[FloatArray, FloatArray]
"""World positions and rotations of all joints."""


def series_of(rig: CheckRig, motion: Motion, pose: Pose | None = None) -> Series:
    """What the checks measure of a motion; ``pose`` where it is known in the world."""
    positions, world = motion.world_pose() if pose is None else pose
    out = new_series(rig, motion.n_frames)
    measure_series(rig, motion.fps, positions, world, motion.local_quats, out)
    return out
