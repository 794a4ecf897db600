"""Source: what clean-up reads of a motion before it holds its feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._block import Block
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import foot_offsets, foot_points
from motionloom.body.knee_repair import repair_knees as knee_repair
from motionloom.body.knees import knees_of_pose
from motionloom.cleanup.calm import Leg, LegLimits, limits_of
from motionloom.cleanup.foot import Foot, read_feet
from motionloom.cleanup.leg_reach import reach_of
from motionloom.cleanup.rewrite import Pose
from motionloom.features.checks.check_rig import rig_of_body
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.glitches.burst_slowing import spread_bursts
from motionloom.motion.contacts import Footplants
from motionloom.motion.forward import forward_into
from motionloom.motion.kinematics import velocities
from motionloom.motion.motion import Motion

SLIDING_M = 1e-6
"""Toes that slide in their foot by less than this do not slide."""
BODY_NUMBERS = 24
"""Numbers of a frame that a check measures of the body as a whole."""
HOLDING_SLACK = 1.1
"""How much more than usual a cleaned motion may exceed the one that came in: its feet stand, and
the legs that skated have the rest of the way to go."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A motion whose feet are to be held. Metres, seconds, world."""

    captured: Motion
    """As it came in, with toes that do not slide in their feet."""
    motion: Motion
    """The same with knees that bend forwards."""
    repaired_knees: tuple[str, ...]
    """One line for each knee that was repaired."""
    pose: Pose
    spare: Pose
    """Memory for the pose of what is made from it."""
    block: Block
    """Memory for its check."""
    points: FloatArray
    """Heels and balls. Shape (F, 4, 3)."""
    moving: FloatArray
    """Their velocities. Shape (F, 4, 3)."""
    travel: FloatArray
    """Velocity of the pelvis over the ground. Shape (F, 3)."""
    feet: tuple[Foot, Foot]
    """Left and right, without holds."""
    reach: tuple[FloatArray, FloatArray]
    """How far each ankle may be from its hip. Shapes (F,)."""
    limits: tuple[LegLimits, ...]
    """What the legs may do, as far as the clip is long enough to say."""
    check: QualityCheck
    """Compares cleaned motion with this one."""


def read_source(
    motion: Motion, footplants: Footplants, body: BodyMap, *, repair_knees: bool
) -> Source:
    """Read a motion. See :class:`Source`.

    Parameters
    ----------
    motion, footplants
        The motion and its contacts.
    body
        Roles of its joints.
    repair_knees
        Bend knees that were captured bent backwards forwards.
    """
    captured = motion = _with_stiff_feet(motion, body)
    n_frames, n_joints = motion.local_quats.shape[:2]
    # Two poses, and what a check takes: three numbers of a joint that it measures, three that it
    # allows, and a few of the body.
    block = Block(n_frames * (2 * 7 * n_joints + 6 * n_joints + BODY_NUMBERS))
    pose, spare = (
        (block.zeros(n_frames, n_joints, 3), block.zeros(n_frames, n_joints, 4)) for _ in range(2)
    )
    _pose_into(motion, pose)
    offsets = foot_offsets(motion.skeleton, body, motion=motion, pose=pose)
    knees = knees_of_pose(motion.skeleton, body, offsets, pose)
    repair = knee_repair(motion, body=body, knees=knees, pose=pose) if repair_knees else None
    if repair is not None and repair.motion is not motion:
        motion = spread_bursts(repair.motion, body, legs_only=True).motion
        _pose_into(motion, pose)
    same = motion is captured and motion.joint_translations is None  # else feet may be others
    points = foot_points(motion, body=body, pose=pose, feet=offsets if same else None)
    feet = read_feet(knees, body, pose, points, poles=repair_knees)
    pelvis = pose[0][:, 0 if body.pelvis is None else body.pelvis]
    return Source(
        captured,
        motion,
        () if repair is None else repair.notes,
        pose,
        spare,
        block,
        points,
        velocities(points, motion.fps),
        velocities(pelvis * np.array([1.0, 0.0, 1.0]), motion.fps),
        feet,
        (reach_of(feet[0]), reach_of(feet[1])),
        limits_of(captured, motion, [Leg(foot.joints, foot.knee) for foot in feet]),
        QualityCheck(
            [motion],
            footplants=[footplants],
            body=body,
            slack=HOLDING_SLACK,
            rig=rig_of_body(motion.skeleton, body, knees, offsets),
            poses=[pose],
        ),
    )


def _pose_into(motion: Motion, out: Pose) -> None:
    forward_into(
        motion.skeleton, motion.root_positions, motion.local_quats, motion.joint_translations, out
    )


def _with_stiff_feet(motion: Motion, body: BodyMap) -> Motion:
    """The motion with toes that slide in their foot put to their median place in it."""
    if motion.joint_translations is None:
        return motion
    toes = [toe for toe in (body.left_toe, body.right_toe) if toe is not None]
    sliding = motion.joint_translations[:, toes]
    if not toes or float(np.ptp(sliding, axis=0).max()) < SLIDING_M:
        return motion
    moving = np.array(motion.joint_translations)
    moving[:, toes] = np.median(sliding, axis=0)
    return motion.replace(joint_translations=moving)
