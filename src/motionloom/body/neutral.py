"""The neutral stance of a skeleton: upright, facing +Z, arms out, legs straight, feet flat.

Two rigs rest in different ways (T-pose, A-pose, arms hanging, every bone along x). Turns measured
from one common stance mean the same on all of them, so a motion is carried over as turns from it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import FootOffsets
from motionloom.body.flat_feet import RestStance, find_flat_feet
from motionloom.body.joint_tree import rest_pose
from motionloom.body.limb_bones import (
    LEFT,
    SIDES,
    chest_of,
    clavicles,
    frame,
    free_twists,
    limb_bones,
    top_of_trunk,
    trunk_bones,
    unit,
)
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
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
