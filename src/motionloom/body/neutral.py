"""The neutral stance of a skeleton: upright, facing +Z, arms out, legs straight, feet flat.

Two rigs rest in different ways (T-pose, A-pose, arms hanging, every bone along x). Turns measured
from one common stance mean the same on all of them, so a motion is carried over as turns from it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.anatomy import (
    ANKLE_OVER_BALL,
    BALL_BEFORE_ANKLE,
    HEEL_BEHIND_ANKLE,
    FootOffsets,
    foot_offsets,
    stature,
)
from motionloom.body.body_map import BodyMap, rest_pose
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

STANDING = 0.75
"""Cosine of the largest angle between the trunk and a leg with which a rest pose still stands."""
SNAP = 0.94
"""Cosine of the tilt below which a rest pose is taken to be exactly upright in its file's axes."""
SHORTEST_M = 1e-9
"""Joints that are closer than this are in one place."""


@dataclass(frozen=True, slots=True, eq=False)
class Stance:
    """A skeleton with its roles, standing neutrally."""

    skeleton: Skeleton
    """With the offsets that the clip really uses, where its joints slide."""
    body: BodyMap
    quats: FloatArray
    """World rotation of every joint in the neutral stance. Shape (J, 4)."""
    feet: tuple[FootOffsets, FootOffsets]
    rests_standing: bool
    """Whether the rest pose is a standing pose, so that joints without a role can be trusted."""


def neutral_stance(
    skeleton: Skeleton, body: BodyMap, clip: Motion | None = None, planted: BoolArray | None = None
) -> Stance:
    """How every joint is turned when the body stands neutrally.

    Parameters
    ----------
    skeleton, body
        With pelvis, hips, knees and ankles.
    clip
        A motion on it. Where the rest pose is no pose it tells how bones are twisted: on average
        as much as their parents.
    planted : (F, 4), optional
        Which foot points stand in the clip, to see how feet lie when they are flat.
    """
    body.require(
        "pelvis",
        *(f"{side}_{part}" for side, _ in SIDES for part in ("hip", "knee", "ankle")),
        task="retargeting",
        skeleton=skeleton,
    )
    if clip is not None and clip.joint_translations is not None:
        offsets = np.median(clip.joint_translations, axis=0)
        offsets[0] = skeleton.offsets[0]
        skeleton = dataclasses.replace(skeleton, offsets=offsets)
    positions, quats = rest_pose(skeleton)
    _check_bones(skeleton, body, positions)
    stands = _stands(body, positions)
    upright = _upright(body, positions, quats, clip, stands=stands)
    at, rest = quat.rotate(upright, positions), quat.multiply(upright, quats)
    neutral = _aim_bones(skeleton, body, at, rest, stands=stands)
    if not stands:
        neutral = _square_chest(skeleton, body, neutral)
        if clip is not None:
            neutral = _twist_as_parents(skeleton, body, neutral, clip)
    feet = find_flat_feet(RestStance(skeleton, body, at, rest, neutral, stands), clip, planted)
    for foot in feet:
        flat = np.stack([np.cross(foot.up, foot.forward), foot.up, foot.forward])
        turn = quat.multiply(quat.from_matrix(flat), quat.conjugate(neutral[foot.ankle]))
        for j in range(foot.ankle, skeleton.n_joints):
            if foot.ankle in skeleton.chain(j):
                neutral[j] = quat.multiply(turn, neutral[j])
    return Stance(skeleton, body, neutral, feet, stands)


def _check_bones(skeleton: Skeleton, body: BodyMap, at: FloatArray) -> None:
    """Refuse a body whose rest pose has no size: it shows no direction."""
    pairs = [("left_hip", "right_hip")]
    for side, _ in SIDES:
        pairs += [(f"{side}_hip", f"{side}_knee"), (f"{side}_knee", f"{side}_ankle")]
    for one, other in pairs:
        j, k = getattr(body, one), getattr(body, other)
        if np.linalg.norm(at[j] - at[k]) < SHORTEST_M:
            raise SkeletonMismatchError(
                f"The skeleton's {one} and {other} must be apart for retargeting; "
                f"{skeleton.names[j]!r} and {skeleton.names[k]!r} are in one place. Give the "
                "bones between them a length."
            )


def _stands(body: BodyMap, at: FloatArray) -> bool:
    """Whether both legs go the other way than the trunk."""
    top = top_of_trunk(body)
    if top is None:
        return False
    trunk = unit(at[top] - 0.5 * (at[body.left_hip] + at[body.right_hip]))
    legs = (at[body.left_hip] - at[body.left_ankle], at[body.right_hip] - at[body.right_ankle])
    return bool(all(trunk @ unit(leg) > STANDING for leg in legs))


def _trunk_in(clip: Motion, body: BodyMap) -> FloatArray:
    """Mean direction from the hips up the trunk in the pelvis's frame. Shape (3,)."""
    top = top_of_trunk(body)
    positions, world = clip.world_pose()
    if top is None:
        return np.zeros(3)
    trunk = positions[:, top] - 0.5 * (positions[:, body.left_hip] + positions[:, body.right_hip])
    return unit(quat.rotate(quat.conjugate(world[:, body.pelvis]), trunk).mean(axis=0))


def _upright(
    body: BodyMap, at: FloatArray, quats: FloatArray, clip: Motion | None, *, stands: bool
) -> FloatArray:
    """Turn that brings the rest pose upright and facing +Z. Shape (4,)."""
    hips = 0.5 * (at[body.left_hip] + at[body.right_hip])
    top = top_of_trunk(body)
    up = np.zeros(3) if top is None else unit(at[top] - hips)
    if stands:
        up = up + unit(hips - 0.5 * (at[body.left_ankle] + at[body.right_ankle]))
    elif clip is not None:
        up = quat.rotate(quats[body.pelvis], _trunk_in(clip, body))
    axes = frame(at[body.left_hip] - at[body.right_hip], up)
    nearest = np.round(axes / np.maximum(np.abs(axes).max(axis=0), 1e-12))
    square = np.array_equal(nearest.T @ nearest, np.eye(3))
    if stands and square and np.sum(nearest * axes, axis=0).min() > SNAP:
        axes = nearest  # a person leaning a little in upright axes: the axes are meant
    return quat.from_matrix(axes.T)


def _aim_bones(
    skeleton: Skeleton, body: BodyMap, at: FloatArray, rest: FloatArray, *, stands: bool
) -> FloatArray:
    """The rest pose with every limb bone turned the shortest way to where it belongs. (J, 4)."""
    wanted = limb_bones(body)
    if not stands:
        for side, sign in SIDES:
            shoulder = getattr(body, f"{side}_shoulder")
            wanted.update(dict.fromkeys(clavicles(skeleton, body, side), (shoulder, sign * LEFT)))
        wanted.update(trunk_bones(skeleton, body))
    turns = np.tile(quat.IDENTITY, (skeleton.n_joints, 1))
    for j in range(skeleton.n_joints):
        parent = int(skeleton.parents[j])
        if parent >= 0:
            turns[j] = turns[parent]
        if j in wanted:
            end, towards = wanted[j]
            now = quat.rotate(turns[j], at[end] - at[j])
            turns[j] = quat.multiply(quat.between_vectors(now, towards), turns[j])
    return quat.multiply(turns, rest)


def _square_chest(skeleton: Skeleton, body: BodyMap, neutral: FloatArray) -> FloatArray:
    """The joint that carries both arms turned so that they lie left and right of it. (J, 4)."""
    pair = chest_of(skeleton, body)
    if pair is None or pair[0] == body.pelvis:
        return neutral
    chest, left, right = pair
    top = next((j for j in skeleton.children(chest) if j not in (left, right)), None)
    up = skeleton.offsets[[left, right] if top is None else [top]].sum(axis=0)
    turned = frame(skeleton.offsets[left] - skeleton.offsets[right], up).T
    change = quat.multiply(quat.from_matrix(turned), quat.conjugate(neutral[chest]))
    out = np.array(neutral)
    carried = {chest}
    for j in range(chest, skeleton.n_joints):
        # The neck goes with the chest; arms are aimed on their own already.
        if j == chest or (int(skeleton.parents[j]) in carried and j not in (left, right)):
            carried.add(j)
            out[j] = quat.multiply(change, neutral[j])
    return out


def _twist_as_parents(
    skeleton: Skeleton, body: BodyMap, neutral: FloatArray, clip: Motion
) -> FloatArray:
    """Bones twisted so that over the clip they are, on average, twisted as their parents. (J, 4).

    Joints that carry no bone (hands, head) lie on average as their parents do.
    """
    world = clip.world_quats()
    twists = free_twists(skeleton, body)
    chest = chest_of(skeleton, body)
    fixed = {*skeleton.chain(int(body.pelvis or 0)), *(() if chest is None else chest[:1])}
    out = np.array(neutral)
    for j in range(1, skeleton.n_joints):
        if j in fixed:
            continue
        parent = int(skeleton.parents[j])
        over = quat.multiply(world[:, parent], quat.conjugate(out[parent]))
        own = quat.multiply(world[:, j], quat.conjugate(out[j]))
        against = quat.multiply(quat.conjugate(over), own)  # (F, 4)
        if j in twists:
            # The twist whose quaternion (cos, sin * axis) is nearest to all of them.
            parts = np.stack([against[:, 0], against[:, 1:] @ twists[j]], axis=1)
            cos, sin = np.linalg.eigh(parts.T @ parts)[1][:, -1]
            mean = np.concatenate([[cos], sin * twists[j]])
        else:
            mean = np.linalg.eigh(against.T @ against)[1][:, -1]
        out[j] = quat.multiply(mean, out[j])
    return out


# --- How a foot lies in its joint frame when it is flat on the ground


@dataclass(frozen=True, slots=True, eq=False)
class RestStance:
    """A skeleton's rest pose, turned upright to face +Z, and the neutral stance made of it."""

    skeleton: Skeleton
    body: BodyMap
    positions: FloatArray
    """World positions of the rest pose. Shape (J, 3)."""
    quats: FloatArray
    """World rotations of the rest pose. Shape (J, 4)."""
    neutral: FloatArray
    """World rotations with trunk and limbs neutral. Shape (J, 4)."""
    stands: bool
    """Whether the rest pose is a standing pose."""


LEAST_FLAT_S = 0.2
"""A foot must stand on heel and ball for this long in all for its stance to be believed."""
LEAST_TILT = np.radians(5.0)
"""A clip's flat feet overrule a standing rest pose where they differ from it by more than this."""
STILL_M_S = 0.25
"""A foot whose ankle or ball is faster than this does not stand, whatever its contacts are."""
LEAST_FALL = 0.1
"""Of the frames in which a foot stands, this part may be flatter than flat: noise."""
SAME_LENGTH = 0.02
"""Feet whose lengths differ by less than this part fall by the same angle when they are flat."""
STEEPEST = 0.97
"""Sine of the steepest fall from ankle to ball of a flat foot; some rigs have tall, short feet."""


def find_flat_feet(
    stance: RestStance, clip: Motion | None, planted: BoolArray | None
) -> tuple[FootOffsets, FootOffsets]:
    """Left and right foot with the direction that is up when they are flat.

    A standing rest pose shows it; but a foot that rests in line with a spread leg (CMU's do, rolled
    by 20 degrees) is flat when the leg is upright. A clip in which heel and ball stand overrules
    that where it clearly differs. Where the rest pose is no pose, only the clip shows it, and a
    clip may be danced on tiptoe: the flattest that either foot stands is flat, because no heel is
    below the floor. Where nothing shows it, toes point ahead with no roll against the shank.

    Parameters
    ----------
    stance
        The rest pose, and the neutral stance as far as it is known: feet go with the shanks.
    clip, planted
        A motion on the skeleton, and which of its foot points stand (F, 4).
    """
    skeleton, body = stance.skeleton, stance.body
    try:
        feet = foot_offsets(skeleton, body, motion=clip)
    except SkeletonMismatchError:
        likely = [_likely_foot(stance, side) for side, _ in SIDES]
        feet = (likely[0], likely[1])
    height = stature(skeleton, body)
    if stance.stands:
        at_rest = [_up_at_rest(stance, foot, height) for foot in feet]
        left, right = (
            foot if up is None else _with_up(foot, up, height)
            for foot, up in zip(feet, at_rest, strict=True)
        )
        feet = (left, right)
    if clip is not None and planted is not None:
        still = [_is_still(clip, foot) for foot in feet]
        seen = [
            _up_when_standing(clip, foot, planted[:, 2 * k] & planted[:, 2 * k + 1] & still[k])
            for k, foot in enumerate(feet)
        ]
        tilts = [
            0.0 if up is None else float(np.arccos(np.clip(up @ foot.up, -1.0, 1.0)))
            for foot, up in zip(feet, seen, strict=True)
        ]
        if max(tilts) > LEAST_TILT:
            left, right = (
                foot if up is None else _with_up(foot, up, height)
                for foot, up in zip(feet, seen, strict=True)
            )
            feet = (left, right)
        if not stance.stands:
            balls = [planted[:, 2 * k + 1] & still[k] for k in range(2)]
            feet = _off_tiptoe(clip, feet, (balls[0], balls[1]), height)
    return feet


def _off_tiptoe(
    clip: Motion,
    feet: tuple[FootOffsets, FootOffsets],
    stands: tuple[BoolArray, BoolArray],
    height: float,
) -> tuple[FootOffsets, FootOffsets]:
    """The feet, of which those that are clearly steeper than either foot ever stands are tilted."""
    least = []
    for foot, frames in zip(feet, stands, strict=True):
        steep = np.inf
        if frames.sum() >= max(3.0, LEAST_FLAT_S * clip.fps):
            ups = quat.rotate(quat.conjugate(clip.world_quats()[frames, foot.ankle]), UP)
            steep = float(np.quantile(-ups @ foot.ball, LEAST_FALL) / np.linalg.norm(foot.ball))
        least.append(steep)
    lengths = [float(np.linalg.norm(foot.ball)) for foot in feet]
    if abs(lengths[0] - lengths[1]) < SAME_LENGTH * max(lengths):
        least = [min(least)] * 2
    left, right = (
        _tilted(foot, fall, height)
        if np.arcsin(_fall(foot, foot.up)) - np.arcsin(np.clip(fall, 0.0, 1.0)) > LEAST_TILT
        else foot
        for foot, fall in zip(feet, least, strict=True)
    )
    return left, right


def _tilted(foot: FootOffsets, fall: float, height: float) -> FootOffsets:
    """The foot tilted in its own plane until it falls by an angle with this sine."""
    along = foot.ball / np.linalg.norm(foot.ball)
    across = foot.up - (foot.up @ along) * along
    across /= np.linalg.norm(across)
    fall = max(fall, 0.0)
    return _with_up(foot, np.sqrt(1.0 - fall * fall) * across - fall * along, height)


def _is_still(clip: Motion, foot: FootOffsets) -> BoolArray:
    """Frames in which neither the ankle nor the ball moves. Shape (F,)."""
    positions, world = clip.world_pose()
    ankle = positions[:, foot.ankle]
    ball = ankle + quat.rotate(world[:, foot.ankle], foot.ball)
    if len(ankle) < 2:
        return np.ones(len(ankle), dtype=bool)
    steps = [np.linalg.norm(np.gradient(path, axis=0), axis=-1) for path in (ankle, ball)]
    return np.asarray(np.maximum(*steps) * clip.fps < STILL_M_S)


def _up_when_standing(clip: Motion, foot: FootOffsets, flat: BoolArray) -> FloatArray | None:
    """World up in the ankle's frame in the better half of the frames where the foot stands flat."""
    if flat.sum() < max(3.0, LEAST_FLAT_S * clip.fps):
        return None
    ups = quat.rotate(quat.conjugate(clip.world_quats()[flat, foot.ankle]), UP)
    away = np.linalg.norm(ups - np.median(ups, axis=0), axis=-1)
    up = ups[np.argsort(away)[: (len(ups) + 1) // 2]].mean(axis=0)
    up /= np.linalg.norm(up)
    return up if 0.0 < _fall(foot, up) < STEEPEST else None


def _up_at_rest(stance: RestStance, foot: FootOffsets, height: float) -> FloatArray | None:
    """Up in the ankle's frame in a standing rest pose, None where that shows no flat foot."""
    knee = int(stance.skeleton.chain(foot.ankle)[-2])
    shank = stance.positions[foot.ankle] - stance.positions[knee]
    spread = float(np.arctan2(abs(shank[0]), -shank[1]))
    upright = quat.rotate(stance.neutral[foot.ankle], foot.ball)  # with the legs upright
    roll = float(np.arctan2(abs(upright[0]), max(-upright[1], 1e-12)))
    in_line = spread > np.radians(5.0) and roll < 0.3 * spread
    turned = (stance.neutral if in_line else stance.quats)[foot.ankle]
    up = quat.rotate(quat.conjugate(turned), UP)
    over = -float(foot.ball @ up)
    return up if over > 0.3 * ANKLE_OVER_BALL * height and _fall(foot, up) < STEEPEST else None


def _fall(foot: FootOffsets, up: FloatArray) -> float:
    """Sine of the angle at which the foot falls from ankle to ball."""
    return -float(foot.ball @ up) / max(float(np.linalg.norm(foot.ball)), 1e-12)


def _with_up(foot: FootOffsets, up: FloatArray, height: float) -> FootOffsets:
    """The foot with another direction for up, and the heel and forward direction that follow."""
    forward = foot.ball - (foot.ball @ up) * up
    forward /= max(float(np.linalg.norm(forward)), 1e-12)
    heel = (foot.ball @ up) * up - HEEL_BEHIND_ANKLE * height * forward
    return dataclasses.replace(foot, up=up, forward=forward, heel=heel)


def _likely_foot(stance: RestStance, side: str) -> FootOffsets:
    """A foot whose toes point ahead and down as feet do, not rolled against the shank."""
    skeleton, body, neutral = stance.skeleton, stance.body, stance.neutral
    ankle, toe = int(getattr(body, f"{side}_ankle")), getattr(body, f"{side}_toe")
    height = stature(skeleton, body)
    ahead = BALL_BEFORE_ANKLE * height * AHEAD - ANKLE_OVER_BALL * height * UP
    ball = quat.rotate(quat.conjugate(neutral[ankle]), ahead)
    if toe is not None and np.any(skeleton.offsets[toe]):
        ball = skeleton.offsets[toe]
        sin = min(ANKLE_OVER_BALL * height / float(np.linalg.norm(ball)), 0.7)
        ahead = np.sqrt(1.0 - sin * sin) * AHEAD - sin * UP
    turn = quat.between_vectors(quat.rotate(neutral[ankle], ball), ahead)
    back = quat.conjugate(quat.multiply(turn, neutral[ankle]))
    up, forward = quat.rotate(back, UP), quat.rotate(back, AHEAD)
    heel = (ball @ up) * up - HEEL_BEHIND_ANKLE * height * forward
    return FootOffsets(ankle, toe, heel, ball, 0.5 * np.linalg.norm(ball) * forward, up, forward)


# --- Which bones make up limbs and trunk, and where each points when a body stands neutrally

LEFT, UP, AHEAD = np.eye(3)
"""Axes of a body that stands upright and faces +Z."""
SIDES = (("left", 1.0), ("right", -1.0))
"""Both sides with the sign of their x."""


def unit(v: FloatArray) -> FloatArray:
    """``v`` (3,) at length one; zero stays zero."""
    length = float(np.linalg.norm(v))
    return v / length if length > 0.0 else v


def frame(left: FloatArray, up: FloatArray) -> FloatArray:
    """Matrix whose columns are left, up and ahead: ``left`` as given, ``up`` made square to it."""
    x = unit(left)
    y = unit(up - (up @ x) * x)
    if not np.any(y):
        y = unit(np.cross(np.eye(3)[int(np.argmin(np.abs(x)))], x))
    return np.stack([x, y, np.cross(x, y)], axis=1)


def top_of_trunk(body: BodyMap) -> int | None:
    """Neck, or head, or the last joint of the spine."""
    return next((j for j in (body.neck, body.head, *body.spine[::-1]) if j is not None), None)


def trunk_bones(skeleton: Skeleton, body: BodyMap) -> dict[int, tuple[int, FloatArray]]:
    """For each joint of the spine and the neck the next one up; each points up when neutral."""
    joints = [j for j in (*body.spine, body.neck, body.head) if j is not None]
    return {a: (b, UP) for a, b in pairwise(joints) if a in skeleton.chain(b)}


def limb_bones(body: BodyMap) -> dict[int, tuple[int, FloatArray]]:
    """For each joint of a limb the joint its bone ends in, and where that points when neutral."""
    out: dict[int, tuple[int, FloatArray]] = {}
    for side, sign in SIDES:
        for above, below, towards in (
            ("hip", "knee", -UP),
            ("knee", "ankle", -UP),
            ("shoulder", "elbow", sign * LEFT),
            ("elbow", "wrist", sign * LEFT),
        ):
            a, b = getattr(body, f"{side}_{above}"), getattr(body, f"{side}_{below}")
            if a is not None and b is not None:
                out[a] = (b, towards)
    return out


def clavicles(skeleton: Skeleton, body: BodyMap, side: str) -> tuple[int, ...]:
    """Joints between the trunk and a shoulder, from the trunk outward."""
    shoulder = getattr(body, f"{side}_shoulder")
    if shoulder is None:
        return ()
    other = body.right_shoulder if side == "left" else body.left_shoulder
    trunk = {body.pelvis, *body.spine, body.neck, body.head}
    trunk.update(() if other is None else skeleton.chain(other))
    path = skeleton.chain(shoulder)[:-1]
    last = max((i for i, j in enumerate(path) if j in trunk), default=-1)
    return path[last + 1 :]


def chest_of(skeleton: Skeleton, body: BodyMap) -> tuple[int, int, int] | None:
    """The joint that carries both arms, and its child on the left and on the right."""
    if body.left_shoulder is None or body.right_shoulder is None:
        return None
    left = (*clavicles(skeleton, body, "left"), body.left_shoulder)[0]
    right = (*clavicles(skeleton, body, "right"), body.right_shoulder)[0]
    chest = int(skeleton.parents[left])
    return (chest, left, right) if chest == skeleton.parents[right] else None


def free_twists(skeleton: Skeleton, body: BodyMap) -> dict[int, FloatArray]:
    """Joints whose one bone leaves a twist open, with where that bone points when neutral."""
    out = {j: towards for j, (_, towards) in limb_bones(body).items()}
    for side, sign in SIDES:
        out.update(dict.fromkeys(clavicles(skeleton, body, side), sign * LEFT))
    out.update({j: UP for j in (*body.spine, body.neck) if j is not None})
    chest = chest_of(skeleton, body)
    if chest is not None:
        out.pop(chest[0], None)
    return out
