"""Knees: which way each one bends, how far it is bent, and repair of knees bent backwards.

The bending side is anatomy, not the current pose: toes point to where the knee points. A straight
or backwards-bent leg tells nothing about its side, but its foot does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import constant, kernel
from motionloom._elementary import cross, dot, norm
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.feet import SIDES, FootOffsets, foot_offsets
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat
from motionloom.rotation.easing import smoothstep

_show = kernel("ml_hinge_show")
_local_flexion = kernel("ml_hinge_flexion")

MOST_FLEXION = np.radians(160.0)
"""No knee bends further: the heel meets the thigh."""
SAMPLES = 400
"""Frames of a clip that are looked at to find the hinge."""
CLEARLY_BENT = np.radians(30.0)
"""Legs bent by more than this show the plane in which the knee bends."""
ENOUGH = 10
"""Frames of clearly bent legs that are needed for that."""
AGREE = 0.7
"""Length of the mean of unit axes from which bent frames agree on one hinge."""
FOLDED = constant("ML_KNEE_FOLDED")
"""Angles below this are knees folded past half a turn, not bent backwards."""


@record
class Knee(NamedTuple):
    """The hinge of one knee."""

    hip: int
    knee: int
    ankle: int
    axis: FloatArray
    """About which the shank turns when the knee flexes, in the hip joint's frame, unit. (3,)"""
    pole: FloatArray
    """Where the knee points: square to thigh and axis, in the hip joint's frame, unit. (3,)"""


def find_knees(
    skeleton: Skeleton, body: BodyMap, *, motion: Motion | None = None
) -> tuple[Knee, Knee]:
    """Hinges of the left and the right knee.

    The side comes from three witnesses, of which two decide: the foot in the clip, the foot in the
    rest pose, and the frames in which the leg is clearly bent. The axis itself comes from the
    clearly bent frames where there are enough, else from the foot.

    Parameters
    ----------
    skeleton
        With hips, knees and ankles.
    body
        Its roles.
    motion
        A clip on the skeleton; without it the rest pose alone decides.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.body.body_map import BodyMap
    >>> walk = synthetic.clip("walk").motion
    >>> left, right = find_knees(walk.skeleton, BodyMap.guess(walk.skeleton), motion=walk)
    >>> left.axis.shape
    (3,)
    """
    feet = foot_offsets(skeleton, body, motion=motion)
    if motion is None:
        return knees_of_pose(skeleton, body, feet, None)
    return knees_of_pose(skeleton, body, feet, motion.world_pose())


def knees_of_pose(
    skeleton: Skeleton,
    body: BodyMap,
    feet: tuple[FootOffsets, FootOffsets],
    pose: tuple[FloatArray, FloatArray] | None,
) -> tuple[Knee, Knee]:
    """As :func:`find_knees`, from world positions (F, J, 3) and rotations (F, J, 4) of a clip.

    ``pose`` may be None: then only the rest pose is looked at.
    """
    roles = [f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle")]
    joints = body.require(*roles, task="knees")
    left, right = (
        _one_knee(skeleton, joints[3 * k : 3 * k + 3], feet[k], pose) for k in range(len(SIDES))
    )
    return left, right


def _one_knee(
    skeleton: Skeleton,
    joints: tuple[int, ...],
    foot: FootOffsets,
    pose: tuple[FloatArray, FloatArray] | None,
) -> Knee:
    hip, knee, ankle = joints
    at_rest, by_bend, thigh = _shown_at_rest(skeleton, joints, foot)
    by_foot = at_rest
    if pose is not None:
        by_foot, by_bend, thigh = _shown(pose, joints, foot)
    votes = [axis for axis in (at_rest, by_foot, by_bend) if axis.any()]
    axis = by_bend if by_bend.any() else by_foot
    if not axis.any():
        axis = np.array([1.0, 0.0, 0.0])
    if len(votes) == 3 and np.sign(np.sum(votes * axis, axis=1)).sum() < 0:
        axis = -axis
    thigh = thigh / max(norm(thigh), 1e-12)
    axis = axis - dot(axis, thigh) * thigh
    axis = axis / max(norm(axis), 1e-12)
    return Knee(hip, knee, ankle, axis, cross(thigh, axis))


@lru_cache(maxsize=64)
def _shown_at_rest(
    skeleton: Skeleton, joints: tuple[int, ...], foot: FootOffsets
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """As :func:`_shown`, of the rest pose. Most skeletons are asked for again."""
    rest = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])
    return _shown(rest, joints, foot)


def _shown(
    pose: tuple[FloatArray, FloatArray], joints: tuple[int, ...], foot: FootOffsets
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Hinge by the foot and by clearly bent legs, zero where unknown, and mean thigh; in the hip.

    Of a long clip about ``SAMPLES`` frames are looked at.
    """
    positions, world = (np.ascontiguousarray(each, dtype=np.float64) for each in pose)
    n_frames = len(positions)
    every = max(1, -(-n_frames // SAMPLES))
    sums, n_bent = np.zeros((3, 3)), np.zeros(1, dtype=np.int64)
    _show(
        *positions.shape[:2], positions, world, every, np.array(joints, dtype=np.int64),
        np.ascontiguousarray(foot.ball), float(CLEARLY_BENT), sums, n_bent,
    )  # fmt: skip
    size = norm(sums[0])
    by_foot = sums[0] / size if size > 1e-9 else np.zeros(3)
    by_bend = np.zeros(3)
    if n_bent[0] >= ENOUGH:
        mean = sums[1] / n_bent[0]
        size = norm(mean)
        if size > AGREE:
            by_bend = mean / size
    return by_foot, by_bend, sums[2] / -(-n_frames // every)


def knee_flexion(knees: tuple[Knee, Knee], positions: FloatArray, world: FloatArray) -> FloatArray:
    """Signed flexion of both knees, radians (F, 2): 0 straight, negative bent backwards.

    Parameters
    ----------
    knees
        From :func:`find_knees`.
    positions, world
        World positions (F, J, 3) and rotations (F, J, 4).
    """
    return np.stack([hinge_flexion(knee, positions, world)[0] for knee in knees], axis=-1)


def local_flexion(motion: Motion, knee: Knee) -> FloatArray:
    """Signed flexion of one knee, radians (F,), from the rotations of its leg alone.

    The same as :func:`knee_flexion` without the pose of the whole body.
    """
    offsets = motion.joint_translations
    if offsets is None:
        offsets = motion.skeleton.offsets[None]
    chain = motion.skeleton.chain(knee.ankle)
    below = np.array(chain[chain.index(knee.hip) + 1 :], dtype=np.int64)
    out = np.zeros(motion.n_frames)
    _local_flexion(
        *motion.local_quats.shape[:2], motion.local_quats, len(offsets), offsets,
        len(below), below, knee.knee, np.ascontiguousarray(knee.axis), out,
    )  # fmt: skip
    return out


def hinge_flexion(
    knee: Knee, positions: FloatArray, world: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Flexion (F,) in the hinge's plane, the world axis (F, 3), lengths of both bones in it."""
    axis = quat.rotate(world[:, knee.hip], knee.axis)
    thigh = positions[:, knee.knee] - positions[:, knee.hip]
    shank = positions[:, knee.ankle] - positions[:, knee.knee]
    thigh = thigh - np.sum(thigh * axis, axis=-1, keepdims=True) * axis
    shank = shank - np.sum(shank * axis, axis=-1, keepdims=True) * axis
    flexion = np.arctan2(
        np.sum(cross(thigh, shank) * axis, axis=-1), np.sum(thigh * shank, axis=-1)
    )
    flexion = np.where(flexion < FOLDED, flexion + 2.0 * np.pi, flexion)
    return flexion, axis, np.linalg.norm(thigh, axis=-1), np.linalg.norm(shank, axis=-1)


# --- Knees that were captured bent backwards

LEAST_FLEXION = np.radians(-5.0)
"""A knee bent backwards by more than this is a capture defect: healthy knees stop at about it."""
ROUND = np.radians(5.0)
"""A repaired knee turns round over this angle instead of at once: ankles move by under 1 mm."""
UNTOUCHED = np.radians(20.0)
"""Frames bent by more than this stay as they are when others of the clip are repaired."""
BARELY = np.radians(-1.0)
"""A clip whose knees never go below this is left as it is."""


class KneeRepair(NamedTuple):
    """A motion whose knees bend forwards only, and what was repaired."""

    motion: Motion
    notes: tuple[str, ...]
    """One line per repaired knee with frames and angle; empty where nothing was wrong."""


def repair_knees(
    motion: Motion,
    *,
    body: BodyMap | None = None,
    knees: tuple[Knee, Knee] | None = None,
    pose: tuple[FloatArray, FloatArray] | None = None,
) -> KneeRepair:
    """The motion with knees that bend forwards only; hips, ankles and feet stay where they are.

    A leg bent backwards by an angle is bent forwards by it, which leaves its span, and so the
    ankle, alone. Near full stretch the angle is rounded so that a knee which passed through it
    turns round smoothly; ankles move by under a millimetre there.

    Parameters
    ----------
    motion
        Any clip with legs; one without comes back as it is.
    body
        Roles of its joints; guessed by default.
    knees
        From :func:`find_knees`; found in the clip by default.
    pose
        ``motion.world_pose()``, where the caller has it already.
    """
    body = roles_for(motion.skeleton, body)
    needed = [f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle")]
    if any(getattr(body, role) is None for role in needed):
        return KneeRepair(motion, ())
    knees = find_knees(motion.skeleton, body, motion=motion) if knees is None else knees
    if all(local_flexion(motion, knee).min() > BARELY for knee in knees):
        return KneeRepair(motion, ())
    positions, world = motion.world_pose() if pose is None else pose
    quats, notes = np.array(motion.local_quats), []
    parents = motion.skeleton.parents
    for side, knee in zip(SIDES, knees, strict=True):
        flexion, axis, thigh, shank = hinge_flexion(knee, positions, world)
        if flexion.min() > BARELY:
            continue
        wanted = _rounded(flexion)
        frames = np.flatnonzero(np.abs(wanted - flexion) > 1e-9)
        before, after = (
            np.arctan2(shank * np.sin(angle), thigh + shank * np.cos(angle))
            for angle in (flexion, wanted)
        )
        turn = quat.from_axis_angle(axis[frames], (before - after)[frames])
        fold = quat.from_axis_angle(axis[frames], (before - after + wanted - flexion)[frames])
        hip_parent = world[frames, parents[knee.hip]] if knee.hip else quat.IDENTITY
        for joint, above, own in (
            (knee.hip, hip_parent, quat.multiply(turn, world[frames, knee.hip])),
            (
                knee.knee,
                quat.multiply(turn, world[frames, parents[knee.knee]]),
                quat.multiply(fold, world[frames, knee.knee]),
            ),
            (
                knee.ankle,
                quat.multiply(fold, world[frames, parents[knee.ankle]]),
                world[frames, knee.ankle],
            ),
        ):
            quats[frames, joint] = quat.multiply(quat.conjugate(above), own)
        if flexion.min() < LEAST_FLEXION:
            notes.append(describe_backward_knee(side, flexion))
    if np.array_equal(quats, motion.local_quats):
        return KneeRepair(motion, ())
    return KneeRepair(motion.replace(local_quats=quat.make_continuous(quats)), tuple(notes))


def _rounded(flexion: FloatArray) -> FloatArray:
    """Flexion folded to the forward side, smooth near 0, unchanged above ``UNTOUCHED``."""
    u = np.clip((flexion - ROUND) / (UNTOUCHED - ROUND), 0.0, 1.0)
    share = 1.0 - smoothstep(u)
    return np.asarray(flexion + share * (np.sqrt(flexion**2 + ROUND**2) - flexion))


def describe_backward_knee(side: str, flexion: FloatArray) -> str:
    """One line: which knee bends backwards, by how much, in how many frames and where worst."""
    worst = int(np.argmin(flexion))
    many = int((flexion < LEAST_FLEXION).sum())
    return (
        f"the {side} knee bends backwards by more than {-np.degrees(LEAST_FLEXION):.0f} degrees in "
        f"{many} of {len(flexion)} frames, most in frame {worst} "
        f"({-np.degrees(flexion[worst]):.0f} degrees)"
    )
