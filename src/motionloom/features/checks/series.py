"""Series: the numbers that the checks measure in every frame, per joint and of the whole body.

Turns are measured as ``2 |q - p|`` of unit quaternions, the angle between them to a third of a
per cent for steps below 30 degrees: no inverse cosine, and the same in sources and results.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from motionloom import _core
from motionloom._arrays import FloatArray, IntArray
from motionloom._block import Block
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.feet import FootOffsets, foot_offsets
from motionloom.body.knees import Knee, find_knees
from motionloom.errors import SkeletonMismatchError
from motionloom.features.glitches.glitch_frames import body_joints
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton

_measure = _core.kernel("ml_check_measure")
_record = _core.maker("ml_check_series")

Pose = tuple[FloatArray, FloatArray]
"""World positions and rotations of all joints."""


class _Measured(NamedTuple):
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


@record
class Series(_Measured):
    """Measured values. Row 0 of steps is 0; so are the first and last row of bends and kinks."""

    @cached_property
    def core(self) -> _core.Record:
        """The series as the core takes it."""
        (n_frames, n_checked), n_carriers = self.turn.shape, self.carried.shape[1]
        made: _core.Record = _record(
            n_frames=n_frames, n_checked=n_checked, n_carriers=n_carriers, **self._asdict()
        )
        return made

    def __reduce__(self) -> tuple[type[Series], tuple[FloatArray, ...]]:
        return Series, tuple(self)


def series_of(rig: CheckRig, motion: Motion, pose: Pose | None = None) -> Series:
    """What the checks measure of a motion; ``pose`` where it is known in the world."""
    positions, world = motion.world_pose() if pose is None else pose
    out = new_series(rig, motion.n_frames)
    measure_series(rig, motion.fps, positions, world, motion.local_quats, out)
    return out


def new_series(rig: CheckRig, n_frames: int, block: Block | None = None) -> Series:
    """Series of zeros; in a block that was not written to before, or in memory of its own."""
    per_joint = (n_frames, len(rig.checked))
    shapes = (
        *(per_joint,) * 4,
        (n_frames, len(rig.carriers)),
        (n_frames,),
        (n_frames,),
        (n_frames, 2),
        (n_frames, 4, 3),
        (n_frames,),
        (n_frames, 3),
        (n_frames, 3),
    )
    return Series(*(map(np.zeros, shapes) if block is None else block.zeros(*shapes)))


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
    _measure(rig_record(rig), fps, positions, world, quats, work, out.core)


# --- CheckRig: what the checks need to know of a skeleton, in plain arrays for the core

ABSENT = -1
QUICK_M_S, QUICK = 1.2, np.radians(320.0)
"""A joint may always be this fast relative to its parent, m/s, unless its bone then turns faster
than the second, rad/s: a forearm of 18 cm would turn at 380 degrees per second."""
SHORT_M = 0.05
"""Shorter bones count as this long, metres."""


@record
class CheckRig(NamedTuple):
    """Joints that are checked, legs, feet and head of a body."""

    parents: IntArray
    """(J,)"""
    checked: IntArray
    """The pelvis, then every joint below it that has a role or lies between such joints. (N,)"""
    carriers: IntArray
    """Joints above the pelvis: root bones. (A,)"""
    head: int
    """``ABSENT`` where the body has none."""
    across: IntArray
    """Left and right joints whose line tells the heading: hips, shoulders. (P, 2)"""
    legs: IntArray
    """Hip, knee and ankle of both legs; no rows where the body has no legs. (0 or 2, 3)"""
    hinges: FloatArray
    """Axis of each knee in its hip joint's frame. (0 or 2, 3)"""
    soles: FloatArray
    """Heel and ball of each foot in its ankle's frame, metres. (0 or 2, 2, 3)"""
    quick: FloatArray
    """Speed relative to its parent that each checked joint may always have, m/s. (N,)"""


def check_rig(motion: Motion, *, body: BodyMap | None = None) -> CheckRig:
    """The rig of a motion's body; a body without legs is judged by its joints alone."""
    skeleton = motion.skeleton
    body = roles_for(skeleton, body, motion=motion)
    try:
        feet = foot_offsets(skeleton, body, motion=motion)
        knees = find_knees(skeleton, body, motion=motion)
    except SkeletonMismatchError:
        return rig_of_body(skeleton, body, None, None)
    return rig_of_body(skeleton, body, knees, feet)


def rig_of_body(
    skeleton: Skeleton,
    body: BodyMap,
    knees: tuple[Knee, Knee] | None,
    feet: tuple[FootOffsets, FootOffsets] | None,
) -> CheckRig:
    """As :func:`check_rig`, from parts that are known already."""
    pelvis = 0 if body.pelvis is None else body.pelvis
    chain = skeleton.chain(pelvis)
    pairs = [(body.left_hip, body.right_hip), (body.left_shoulder, body.right_shoulder)]
    across = [pair for pair in pairs if pair[0] is not None and pair[1] is not None]
    legs, hinges, soles = np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros((0, 2, 3))
    if knees is not None and feet is not None:
        legs = np.array([[k.hip, k.knee, k.ankle] for k in knees], dtype=np.int64)
        hinges = np.array([k.axis for k in knees])
        soles = np.array([[foot.heel, foot.ball] for foot in feet])
    checked = np.array([pelvis, *_checked_joints(skeleton, body, pelvis)], dtype=np.int64)
    bones = np.maximum(np.linalg.norm(skeleton.offsets[checked], axis=-1), SHORT_M)
    return CheckRig(
        np.array(skeleton.parents, dtype=np.int64),
        checked,
        np.array([joint for joint in chain if joint != pelvis], dtype=np.int64),
        ABSENT if body.head is None else int(body.head),
        np.array(across, dtype=np.int64).reshape(-1, 2),
        legs,
        hinges,
        soles,
        np.minimum(QUICK_M_S, QUICK * bones),
    )


@_core.kept
def rig_record(rig: CheckRig) -> _core.Record:
    """A rig as the core takes it."""
    return _core.record(
        "ml_check_rig",
        n_joints=len(rig.parents),
        n_checked=len(rig.checked),
        n_carriers=len(rig.carriers),
        n_across=len(rig.across),
        n_legs=len(rig.legs),
        head=rig.head,
        parents=rig.parents,
        checked=rig.checked,
        carriers=rig.carriers,
        across=rig.across,
        legs=rig.legs,
        hinges=rig.hinges,
        soles=rig.soles,
    )


def _checked_joints(skeleton: Skeleton, body: BodyMap, pelvis: int) -> list[int]:
    """Joints below the pelvis with a role and those between; every joint where none has a role.

    Fingers, twist bones at the ends and props are left out: captures invent them.
    """
    below = set(skeleton.carried_by([pelvis]).tolist()) - {pelvis}
    return [joint for joint in body_joints(skeleton, body) if joint in below]
