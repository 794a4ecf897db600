"""Anatomy: standing height, feet and knees, on any skeleton.

A foot is two rigid pieces. The ankle joint carries the heel and the ball; the toe joint, which sits
in the ball, carries the tip of the toes. Rigs have an ankle, mostly a toe joint, never a heel, so
the heel is made here, once, for everybody.

The bending side of a knee is anatomy, not the current pose: toes point to where the knee points. A
straight or backwards-bent leg tells nothing about its side, but its foot does.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, arccos, of_kind
from motionloom._core import constant, kernel
from motionloom._records import record
from motionloom.body.body_map import BodyMap, rest_pose, roles_for
from motionloom.body.joint_names import read_name
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Motion, Skeleton, forward_kinematics
from motionloom.rotation import quat
from motionloom.rotation.quat import smoothstep

ANKLE_HEIGHT = 0.039
"""Ankle over the sole as a part of stature (Winter, after Drillis and Contini)."""
LEG_LENGTH = 0.491
"""Hip to ankle as a part of stature, from the same table: 0.530 less 0.039."""
HEAD_OVER_HEAD_JOINT = 0.105
"""Top of the head over the head joint where the rig has no tip there, as a part of stature."""
HEAD_OVER_NECK_JOINT = 0.16
"""Top of the head over the base of the neck where the rig has no head joint."""


def stature(skeleton: Skeleton, body: BodyMap | None = None) -> float:
    """Standing height in the skeleton's own unit, from bone lengths alone.

    Sole to ankle, shank, thigh, mid-hips to the first spine joint, the spine, the neck, and the
    head to its tip. Lengths do not depend on the rest pose, so rigs without a usable rest pose are
    measured as well. What a rig leaves out (sole, top of the head) is added in proportion. Where
    the legs suggest a taller person the mean of both is taken, because rigs leave bones out of the
    trunk (CMU's BVH has no thorax) and never out of the legs. It is 0 where the skeleton has no
    legs.

    Parameters
    ----------
    skeleton
        Its bones.
    body
        Which joint is which; guessed where not given.

    Returns
    -------
    float
        Standing height, 0 without legs.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> 1.5 < stature(synthetic.clip("walk").motion.skeleton) < 2.0
    True
    """
    return _stature(skeleton, roles_for(of_kind(skeleton, Skeleton, "skeleton"), body))


@lru_cache(maxsize=64)
def _stature(skeleton: Skeleton, body: BodyMap) -> float:
    """The stature for these roles. Most skeletons are asked for again, and none changes."""
    legs = [
        _length(skeleton, hip, ankle)
        for hip, ankle in ((body.left_hip, body.left_ankle), (body.right_hip, body.right_ankle))
        if hip is not None and ankle is not None
    ]
    if not legs or body.pelvis is None:
        return 0.0
    torso, over_top = _torso_and_head(skeleton, body)
    leg = float(np.mean(legs))
    summed = (leg + torso) / (1.0 - ANKLE_HEIGHT - over_top)
    return max(summed, 0.5 * (summed + leg / LEG_LENGTH))


def _torso_and_head(skeleton: Skeleton, body: BodyMap) -> tuple[float, float]:
    """Length from mid-hips to the topmost joint or tip, and the share of stature above that."""
    pose, _ = rest_pose(skeleton)
    hips = [j for j in (body.left_hip, body.right_hip) if j is not None]
    first = next((j for j in (*body.spine, body.neck, body.head) if j is not None), None)
    if first is None:
        return 0.0, 0.5
    # The pelvis is one solid, so this distance is the same in every pose.
    length = norm(pose[first] - pose[hips].mean(axis=0))
    last = next(j for j in (body.head, body.neck, first) if j is not None)
    length += _length(skeleton, first, last)
    if body.head is None:
        return length, HEAD_OVER_NECK_JOINT
    tip = _tip(skeleton, body.head)
    if tip > 0.0:
        return length + tip, 0.0
    return length, HEAD_OVER_HEAD_JOINT


def _tip(skeleton: Skeleton, head: int) -> float:
    """Distance from the head joint to its end: an end site, or a child joint that only marks it."""
    ends = skeleton.end_offsets[skeleton.end_parents == head]
    reach = [norm(end) for end in ends]
    reach += [
        norm(skeleton.offsets[child])
        for child in skeleton.children(head)
        if read_name(skeleton.names[child]).tip
    ]
    return max(reach, default=0.0)


def _length(skeleton: Skeleton, above: int, below: int) -> float:
    """Sum of the bones from one joint down to another; 0 where it is not below."""
    total, joint = 0.0, below
    while joint != above:
        if joint < 0:
            return 0.0
        total += norm(skeleton.offsets[joint])
        joint = int(skeleton.parents[joint])
    return total


# --- Feet: where the heel and the ball of each foot are, on any skeleton

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

    The order is that of :data:`motionloom.motion.motion.KINDS`. The ball is the toe joint itself
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


# --- Knees: which way each one bends, how far it is bent, and repair of knees bent backwards

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


# --- Vectors, with the same bits on every machine


def dot(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Product of two vectors; of single vectors (3,) in a fraction of numpy's time."""
    if getattr(a, "shape", None) == getattr(b, "shape", None) == (3,):
        x, y, z = a.tolist()  # type: ignore[union-attr]
        u, v, w = b.tolist()  # type: ignore[union-attr]
        return float(x * u + y * v + z * w)
    return float(np.sum(np.multiply(a, b)))


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross products of vectors (..., 3): the numbers of ``np.cross`` in a third of its time."""
    if a.shape == b.shape == (3,):
        x, y, z = a.tolist()
        u, v, w = b.tolist()
        return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
    (ax, ay, az), (bx, by, bz) = (tuple(each[..., k] for k in range(3)) for each in (a, b))
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def norm(a: npt.ArrayLike) -> float:
    """Length of a vector."""
    return math.sqrt(dot(a, a))
