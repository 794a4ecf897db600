"""Feet: where the heel and the ball of each foot are, on any skeleton.

A foot is two rigid pieces. The ankle joint carries the heel and the ball; the toe joint, which sits
in the ball, carries the tip of the toes. Rigs have an ankle, mostly a toe joint, never a heel, so
the heel is made here, once, for everybody.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom._elementary import arccos, cross, dot, norm
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.proportions import stature
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

ANKLE_OVER_BALL = 0.019
LEAST_SPREAD = np.radians(5.0)
"""Legs that rest further apart than this may have taken the feet with them."""
UP = np.array([0.0, 1.0, 0.0])
Pose = tuple[FloatArray, FloatArray]
"""World positions (F, J, 3) and rotations (F, J, 4)."""

_points = kernel("ml_foot_points")

SIDES = ("left", "right")
# Parts of stature. Ankle height is Winter's 0.039; the rest was checked on captured standing
# frames: CMU ankles stand 2.4 to 4.2 cm over the ball (0.014 to 0.024), 0.019 on average.
BALL_HEIGHT = 0.020
HEEL_BEHIND_ANKLE = 0.04
BALL_BEFORE_ANKLE = 0.072
TIP_BEFORE_BALL = 0.036
BALL_TO_TIP = 0.7
"""Rigs without a toe joint: the ball lies this part of the way from the ankle to the foot's end."""
STEEPEST = 0.75
"""Sine of the steepest fall from ankle to ball of a foot that rests flat: some rigs have tall,
short feet, but toes that point straight down do not stand."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class FootOffsets:
    """One foot in its ankle joint's frame, metres: a constant of the skeleton."""

    ankle: int
    """Joint that carries the foot."""
    toe: int | None
    """Joint in the ball of the foot, None where the rig has none."""
    heel: FloatArray
    """Under and behind the ankle, level with the ball when the foot is flat. Shape (3,)."""
    ball: FloatArray
    """The toe joint, or the point that stands for it. Shape (3,)."""
    tip: FloatArray
    """Tip of the toes, in the toe joint's frame, or the ankle's where there is none. Shape (3,)."""
    up: FloatArray
    """Direction that points up when the foot is flat on level ground, unit. Shape (3,)."""
    forward: FloatArray
    """Direction from heel to ball, unit, square to ``up``. Shape (3,)."""


def ball_height(skeleton: Skeleton, body: BodyMap) -> float:
    """Height of the ball joint over the sole, metres: 0.02 of stature.

    A clip is on the ground y = 0 when its planted balls (and, foot flat, its heels) stand here.
    """
    return BALL_HEIGHT * stature(skeleton, body)


def foot_offsets(
    skeleton: Skeleton, body: BodyMap, *, motion: Motion | None = None, pose: Pose | None = None
) -> tuple[FootOffsets, FootOffsets]:
    """Left and right foot as rigid points.

    The skeleton's rest pose tells how the foot lies when flat, if in it the body is upright and the
    ankle stands over the ball as ankles do. Many rigs rest otherwise (every bone along one axis, or
    the foot level with the ankle): then the quietest frames of ``motion`` tell it, and without a
    motion the anatomy does, from the angle between shank and foot.

    Parameters
    ----------
    skeleton
        With both ankles.
    body
        Its roles.
    motion
        A motion on this skeleton, for rigs whose rest pose does not show a flat foot.
    pose
        ``motion.world_pose()``, where the caller has it already.
    """
    resting = _feet_at_rest(skeleton, body)
    flat = [foot for foot in resting.feet if foot is not None]
    if len(flat) == 2:
        return flat[0], flat[1]
    if motion is None:
        pose = None
    elif pose is None:
        pose = motion.world_pose()

    def one_foot(side: str, found: FootOffsets | None) -> FootOffsets:
        if found is not None:
            return found
        ball = _ball(skeleton, body, resting, side)
        if pose is None:
            up = up_by_anatomy(skeleton, resting.pose, body, side, ball, resting.height)
        else:
            up = up_when_flat(pose, role_joint(body, side, "ankle"), ball)
        return _foot(skeleton, body, resting, side, ball, up)

    left, right = (one_foot(*each) for each in zip(SIDES, resting.feet, strict=True))
    return left, right


def foot_points(
    motion: Motion,
    *,
    body: BodyMap | None = None,
    pose: Pose | None = None,
    feet: tuple[FootOffsets, FootOffsets] | None = None,
) -> FloatArray:
    """Left heel, left ball, right heel, right ball in the world, metres. Shape (F, 4, 3).

    The order is that of :data:`motionloom.motion.contacts.KINDS`. The ball is the toe joint itself
    wherever there is one, also where the file lets joints slide.

    Parameters
    ----------
    motion
        F frames.
    body
        Roles of its joints; guessed by default.
    pose
        ``motion.world_pose()``, where the caller has it already.
    feet
        From :func:`foot_offsets`, where two clips must be seen with the same feet: on rigs whose
        rest pose shows no flat foot they are otherwise read from each clip.
    """
    body = roles_for(motion.skeleton, body)
    positions, quats = motion.world_pose() if pose is None else pose
    if feet is None:
        feet = foot_offsets(mean_skeleton(motion), body, motion=motion, pose=(positions, quats))
    positions, quats = (np.ascontiguousarray(each, dtype=np.float64) for each in (positions, quats))
    points = np.zeros((len(positions), 4, 3))
    for side, foot in enumerate(feet):
        heel, ball = (np.array(each, dtype=np.float64) for each in (foot.heel, foot.ball))
        toe = -1 if foot.toe is None else foot.toe
        _points(*positions.shape[:2], positions, quats, foot.ankle, toe, side, heel, ball, points)
    return points


def tip_points(motion: Motion, *, body: BodyMap | None = None) -> FloatArray:
    """Tips of the left and right toes in the world, metres. Shape (F, 2, 3)."""
    body = roles_for(motion.skeleton, body)
    positions, quats = motion.world_pose()
    columns = []
    skeleton = mean_skeleton(motion)
    for foot in foot_offsets(skeleton, body, motion=motion, pose=(positions, quats)):
        joint = foot.ankle if foot.toe is None else foot.toe
        columns.append(positions[:, joint] + quat.rotate(quats[:, joint], foot.tip))
    return np.stack(columns, axis=1)


class _AtRest(NamedTuple):
    """What the rest pose of a skeleton shows of its feet."""

    pose: Pose
    height: float
    """Stature, metres."""
    upright: bool
    """Whether the body stands in it."""
    feet: tuple[FootOffsets | None, ...]
    """Left and right; None for a foot that does not lie flat in it."""


@lru_cache(maxsize=64)
def _feet_at_rest(skeleton: Skeleton, body: BodyMap) -> _AtRest:
    """What the rest pose shows. Most skeletons are asked for again, and none changes."""
    body.require("left_ankle", "right_ankle", task="foot points")
    height = stature(skeleton, body)
    if not height > 0.0:
        raise SkeletonMismatchError(
            f"A body must have bones of some length to have feet, got a stature of {height:g} m. "
            "Check the offsets of the skeleton."
        )
    rest = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])
    resting = _AtRest(rest, height, is_upright(body, rest[0][0]), ())
    if not resting.upright:
        return resting._replace(feet=(None, None))

    def one_foot(side: str) -> FootOffsets | None:
        ball = _ball(skeleton, body, resting, side)
        q_world_ankle = rest[1][0, role_joint(body, side, "ankle")]
        up = in_frame(q_world_ankle, up_at_rest(body, rest, side, ball))
        over = -dot(ball, up) / height
        fall = over * height / max(norm(ball), 1e-12)
        is_flat = over >= 0.3 * ANKLE_OVER_BALL and fall <= STEEPEST
        return _foot(skeleton, body, resting, side, ball, up) if is_flat else None

    return resting._replace(feet=tuple(map(one_foot, SIDES)))


def _foot(
    skeleton: Skeleton,
    body: BodyMap,
    resting: _AtRest,
    side: str,
    ball: FloatArray,
    up: FloatArray,
) -> FootOffsets:
    """A foot whose ball, and whose direction up, are known in the ankle's frame."""
    ankle, toe = role_joint(body, side, "ankle"), getattr(body, f"{side}_toe")
    forward = ball - dot(ball, up) * up
    forward /= max(norm(forward), 1e-12)
    heel = dot(ball, up) * up - HEEL_BEHIND_ANKLE * resting.height * forward
    tip = _foot_end(skeleton, ankle, toe)
    if tip is None:
        tip = TIP_BEFORE_BALL * resting.height * forward
        if toe is None:
            tip = ball + tip
        else:
            turns = resting.pose[1][0]
            tip = in_frame(turns[toe], quat.rotate(turns[ankle], tip))
    for points in (heel, ball, tip, up, forward):
        points.flags.writeable = False
    return FootOffsets(ankle, toe, heel, ball, tip, up, forward)


def mean_skeleton(motion: Motion) -> Skeleton:
    """The skeleton with the offsets that a motion with sliding joints really uses."""
    if motion.joint_translations is None:
        return motion.skeleton
    offsets = np.median(motion.joint_translations, axis=0)
    return dataclasses.replace(motion.skeleton, offsets=offsets)


def _ball(skeleton: Skeleton, body: BodyMap, resting: _AtRest, side: str) -> FloatArray:
    """The ball in the ankle's frame: toe joint, part of the way to the foot's end, or made up."""
    ankle, toe, rest = role_joint(body, side, "ankle"), getattr(body, f"{side}_toe"), resting.pose
    if toe is not None:
        return in_frame(rest[1][0, ankle], rest[0][0, toe] - rest[0][0, ankle])
    end = _foot_end(skeleton, ankle, toe)
    if end is not None:
        return BALL_TO_TIP * end
    if not resting.upright:
        raise SkeletonMismatchError(
            f"The {side} foot must have a toe joint or an end site, or the rest pose must stand "
            f"upright; {skeleton.names[ankle]!r} has neither. Name a toe joint with body=."
        )
    return _made_ball(body, rest, ankle, resting.height)


def _foot_end(skeleton: Skeleton, ankle: int, toe: int | None) -> FloatArray | None:
    """The farthest end site, or childless joint, of the foot's last joint; None without one."""
    last = ankle if toe is None else toe
    parents = enumerate(skeleton.end_parents.tolist())
    ends = [skeleton.end_offsets[k] for k, parent in parents if parent == last]
    ends += [skeleton.offsets[child] for child in skeleton.children(last)]
    if not ends:
        return None
    longest = max(ends, key=norm)
    return np.array(longest) if norm(longest) > 1e-6 else None


def _made_ball(body: BodyMap, rest: Pose, ankle: int, height: float) -> FloatArray:
    """A ball for a foot that ends at its ankle: straight ahead of it in an upright rest pose."""
    body.require("left_hip", "right_hip", task="foot points of a rig without toes")
    left, right = (role_joint(body, side, "hip") for side in SIDES)
    across = rest[0][0, left] - rest[0][0, right]
    forward = cross(across, UP)
    forward /= max(norm(forward), 1e-12)
    gap = height * (BALL_BEFORE_ANKLE * forward - ANKLE_OVER_BALL * UP)
    return in_frame(rest[1][0, ankle], gap)


# --- Which way is up for a foot: from a rest pose, from a clip, or from anatomy


def role_joint(body: BodyMap, side: str, role: str) -> int:
    """The joint of a role that the body is known to have."""
    joint = getattr(body, f"{side}_{role}")
    assert joint is not None
    return int(joint)


def is_upright(body: BodyMap, positions: FloatArray) -> bool:
    """Whether the rest pose stands: both hips well over their ankles."""
    for side in ("left", "right"):
        hip, ankle = getattr(body, f"{side}_hip"), role_joint(body, side, "ankle")
        if hip is None:
            hip = body.pelvis
        if hip is None:
            return False
        leg = positions[hip] - positions[ankle]
        # CMU rests with its legs spread by 20 degrees, hence no more than 0.8.
        if leg[1] < 0.8 * norm(leg):
            return False
    return True


def up_at_rest(body: BodyMap, rest: Pose, side: str, ball: FloatArray) -> FloatArray:
    """World direction that is up for a foot in an upright rest pose.

    Rigs that rest with spread legs often leave the feet in line with them, rolled outwards as much
    as the legs are (CMU's by 20 degrees). Such a foot is flat when its leg is upright, so its up
    is along the leg.
    """
    knee, ankle = getattr(body, f"{side}_knee"), role_joint(body, side, "ankle")
    if knee is None or body.left_hip is None or body.right_hip is None:
        return UP
    positions, quats = rest[0][0], rest[1][0]
    across = positions[body.left_hip] - positions[body.right_hip]
    ahead = cross(across, UP)
    ahead /= max(norm(ahead), 1e-12)

    def frontal(v: FloatArray) -> FloatArray:
        flat = v - dot(v, ahead) * ahead
        return np.asarray(flat / max(norm(flat), 1e-12))

    leg = frontal(positions[knee] - positions[ankle])
    foot = frontal(-quat.rotate(quats[ankle], ball))
    spread = float(arccos(np.clip(dot(leg, UP), -1.0, 1.0)))
    roll = float(arccos(np.clip(dot(foot, leg), -1.0, 1.0)))
    return leg if spread > LEAST_SPREAD and roll < 0.3 * spread else UP


def up_when_flat(pose: Pose, ankle: int, ball: FloatArray) -> FloatArray:
    """World up in the ankle's frame, in the quietest fifth of the frames.

    A foot is at rest only when it is flat: rolling over heel or ball moves the ankle, swinging
    moves both. Only directions near the median count, against clips that end on tiptoe.
    """
    ankles, turns = pose[0][:, ankle], pose[1][:, ankle]
    balls = ankles + quat.rotate(turns, ball)
    ups = quat.rotate(quat.conjugate(turns), UP)
    if len(ups) > 2:
        moved = np.linalg.norm(np.gradient(ankles, axis=0), axis=-1)
        moved += np.linalg.norm(np.gradient(balls, axis=0), axis=-1)
        ups = ups[moved <= np.quantile(moved, 0.2)]
    middle = np.median(ups, axis=0)
    near = np.argsort(np.linalg.norm(ups - middle, axis=-1))[: (len(ups) + 1) // 2]
    up = ups[near].mean(axis=0)
    return np.asarray(up / norm(up))


def up_by_anatomy(
    skeleton: Skeleton, rest: Pose, body: BodyMap, side: str, ball: FloatArray, height: float
) -> FloatArray:
    """Up in the ankle's frame such that the ankle stands over the ball as ankles do."""
    ankle, knee = role_joint(body, side, "ankle"), getattr(body, f"{side}_knee")
    length = norm(ball)
    shank = np.zeros(3)
    if knee is not None and length > 0.0:
        shank = rest[0][0, knee] - rest[0][0, ankle]
        shank = in_frame(rest[1][0, ankle], shank)
        shank /= max(norm(shank), 1e-12)
    along = ball / max(length, 1e-12)
    across = shank - dot(shank, along) * along
    if norm(across) < 0.2:
        raise SkeletonMismatchError(
            f"The rest pose must show which way the {side} foot is up: shank and foot may not lie "
            f"on one line, as those of {skeleton.names[ankle]!r} do. Pass motion= with a clip."
        )
    across /= norm(across)
    sin = min(ANKLE_OVER_BALL * height / length, 0.7)
    return np.asarray(np.sqrt(1.0 - sin * sin) * across - sin * along)


def in_frame(q: FloatArray, v: FloatArray) -> FloatArray:
    """A world direction as seen in the frame that ``q`` turns into the world."""
    return quat.rotate(quat.conjugate(q), v)
