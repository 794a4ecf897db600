"""Root motion: travel and heading on the root bone, on the pelvis, or removed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from motionloom._arrays import FloatArray, of_kind
from motionloom.body.body_map import BodyMap, facing_of_positions, roles_for
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform

ROOT_NAME = "root"
SAME = 1e-9
"""Positions (metres) and quaternions closer than this are equal."""
STILL_M, STILL_RAD = 0.01, 0.02
"""A bone that moves and turns by less than this over a whole clip lies still."""


def with_root_bone(motion: Motion, *, name: str = ROOT_NAME, body: BodyMap | None = None) -> Motion:
    """The same motion with a new first joint on the ground that carries only travel and turn.

    The new joint stands under the pelvis at y = 0 and turns with the body's heading; what is left
    (height, sway, tilt) stays in the old root, which moves in the new one. Its rest rotation is the
    identity. Nothing is lost: every old joint is where it was, and :func:`without_root_bone` gives
    the clip back.

    Parameters
    ----------
    motion
        The clip.
    name
        Of the new joint.
    body
        Which joint is which; guessed where not given.

    Returns
    -------
    Motion
        On a skeleton with one joint more, the new root.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> with_root_bone(clip).skeleton.names[:2]
    ('root', 'Hips')
    """
    skeleton = of_kind(motion, Motion, "motion").skeleton
    if of_kind(name, str, "name") in skeleton.names:
        raise SkeletonMismatchError(
            f"The new root bone must have a new name, but a joint is called {name!r} "
            "already. Pass another name=, or keep the root bone that is there."
        )
    body = roles_for(skeleton, body, motion=motion)
    positions, world = motion.world_pose()
    pelvis = positions[:, 0 if body.pelvis is None else body.pelvis]
    under = PlanarTransform(facing_of_positions(positions, body), pelvis[:, 0], pelvis[:, 2])
    into = under.inverse()
    n_frames, n_joints = motion.n_frames, skeleton.n_joints

    local = np.concatenate([under.quat()[:, None], motion.local_quats], axis=1)
    local[:, 1] = quat.multiply(into.quat(), world[:, 0])
    still = np.concatenate([np.zeros((1, 3)), skeleton.offsets])
    moving = np.broadcast_to(still, (n_frames, n_joints + 1, 3)).copy()
    if motion.joint_translations is not None:
        moving[:, 1:] = motion.joint_translations
    moving[:, 1] = into.apply(motion.root_positions)
    ground = np.zeros((n_frames, 3))
    ground[:, 0], ground[:, 2] = pelvis[:, 0], pelvis[:, 2]
    return motion.replace(
        skeleton=Skeleton(
            (name, *skeleton.names),
            np.concatenate([[-1], skeleton.parents + 1]),
            still,
            np.concatenate([quat.IDENTITY[None], skeleton.rest_quats]),
            skeleton.end_parents + 1,
            skeleton.end_offsets,
        ),
        root_positions=ground,
        local_quats=local,
        joint_translations=moving,
    )


def bones_above_pelvis(skeleton: Skeleton, body: BodyMap) -> tuple[int, ...]:
    """Joints from the root down to the pelvis's parent; none where the pelvis is the root."""
    return skeleton.chain(body.pelvis)[:-1] if body.pelvis else ()


def travel_on_root(motion: Motion, *, body: BodyMap | None = None) -> Motion:
    """The motion with travel and heading on its first joint, whatever the layout of its root.

    Rigs that hang the pelvis under a root bone differ in which bone carries the travel: the root
    bone may lie still while the pelvis slides in it, travel without turning, or follow the pelvis
    at a distance. Blends place and turn whole bodies by their first joint, so the first joint and
    all bones between it and the pelvis are put on the ground (y = 0) under the pelvis, with the
    heading of the body. The pelvis keeps the rest (height, tilt, sway), and every other joint
    stays where it was. Motions whose pelvis is the first joint, and those that have this layout
    already, are returned unchanged.

    Parameters
    ----------
    motion
        Any layout, rigid bones or sliding joints. The result has ``joint_translations`` where
        anything changes.
    body
        Roles of its joints; guessed by default.

    Returns
    -------
    Motion
        The same motion; world positions of all joints from the pelvis down stay.

    See Also
    --------
    travel_on_pelvis : The way back.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = with_root_bone(synthetic.clip("walk").motion)
    >>> travel_on_root(clip) is clip
    True
    """
    body = roles_for(of_kind(motion, Motion, "motion").skeleton, body, motion=motion)
    bones = bones_above_pelvis(motion.skeleton, body)
    if not bones or not _has_heading(body):
        return motion
    positions, world = motion.world_pose()
    ground = positions[:, body.pelvis] * np.array([1.0, 0.0, 1.0])
    turn = _about_up(facing_of_positions(positions, body))
    placed = dict.fromkeys(bones, (ground, turn))
    if _are_at(positions, world, placed):
        return motion
    return _with_bones_at(motion, positions, world, placed)


def with_still_root_bones(motion: Motion, *, body: BodyMap) -> Motion:
    """The motion with all bones above the pelvis unturned at the origin; other joints stay."""
    positions, world = motion.world_pose()
    still = (np.zeros((motion.n_frames, 3)), np.tile(quat.IDENTITY, (motion.n_frames, 1)))
    placed = dict.fromkeys(bones_above_pelvis(motion.skeleton, body), still)
    return _with_bones_at(motion, positions, world, placed) if placed else motion


def travel_on_pelvis(motion: Motion, *, like: Motion, body: BodyMap | None = None) -> Motion:
    """The motion with its root bones as those of a clip: still where they lie still there.

    The inverse of :func:`travel_on_root`, for saving a result in the layout of the clips that it
    was made from. Every bone above the pelvis that does not travel in ``like`` is put where it
    lies there, every one that does not turn is turned as it is there, and the pelvis carries what
    they give up. Bones that travel and turn in ``like`` are left as they are in ``motion``.

    Parameters
    ----------
    motion
        With the joints of ``like``.
    like
        Clip whose layout is wanted.
    body
        Roles of the joints; guessed by default.

    Returns
    -------
    Motion
        The same motion; world positions of all joints below the pelvis stay.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> travel_on_pelvis(clip, like=clip) is clip
    True
    """
    of_kind(motion, Motion, "motion")
    of_kind(like, Motion, "like")
    if not motion.skeleton.same_joints(like.skeleton):
        raise SkeletonMismatchError(
            f"`like` must have the joints of the motion, but {like!r} and {motion!r} differ. "
            "Pass a clip on the motion's skeleton."
        )
    body = roles_for(like.skeleton, body, motion=like)
    bones = bones_above_pelvis(motion.skeleton, body)
    layout, turns = like.world_pose()
    positions, world = motion.world_pose()
    placed = {}
    for j in bones:
        travels = float(np.ptp(layout[:, j], axis=0).max()) > STILL_M
        turned = float(quat.angle_between(turns[:, j], turns[:1, j]).max()) > STILL_RAD
        placed[j] = (
            positions[:, j] if travels else np.broadcast_to(layout[0, j], positions[:, j].shape),
            world[:, j] if turned else np.broadcast_to(turns[0, j], world[:, j].shape),
        )
    if _are_at(positions, world, placed):
        return motion
    offsets = np.array(motion.skeleton.offsets)
    upper = list(motion.skeleton.chain(body.pelvis or 0))
    offsets[upper] = like.skeleton.offsets[upper]
    moved = _with_bones_at(motion, positions, world, placed)
    return moved.replace(skeleton=dataclasses.replace(motion.skeleton, offsets=offsets))


def heading_on_root(motion: Motion, heading: FloatArray, *, body: BodyMap) -> Motion:
    """A motion of rigid bones with the given heading (F,) on its root and bones above the pelvis.

    The rigid form of :func:`travel_on_root`: the root stands where its bones put it when the
    pelvis stays where it is. Motions whose pelvis is the first joint are returned unchanged.
    """
    skeleton = motion.skeleton
    bones = bones_above_pelvis(skeleton, body)
    if not bones:
        return motion
    positions, world = motion.world_pose()
    turn = _about_up(heading)
    reach = skeleton.offsets[list(skeleton.chain(body.pelvis or 0)[1:])].sum(axis=0)
    local = np.array(motion.local_quats)
    for j in range(1, skeleton.n_joints):
        if skeleton.parents[j] in bones:
            own = turn if j in bones else world[:, j]
            local[:, j] = quat.multiply(quat.conjugate(turn), own)
    local[:, 0] = turn
    return motion.replace(
        root_positions=positions[:, body.pelvis] - quat.rotate(turn, reach), local_quats=local
    )


def _has_heading(body: BodyMap) -> bool:
    return None not in (body.left_hip, body.right_hip) or None not in (
        body.left_shoulder,
        body.right_shoulder,
    )


def _about_up(heading: FloatArray) -> FloatArray:
    """Rotations (F, 4) about +Y."""
    return quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), heading)


Placed = Mapping[int, tuple[FloatArray, FloatArray]]
"""World positions (F, 3) and rotations (F, 4) of some joints."""


def _are_at(positions: FloatArray, world: FloatArray, placed: Placed) -> bool:
    """Whether joints are placed so already."""
    return all(
        bool(np.abs(positions[:, j] - at).max() < SAME)
        and bool((np.minimum(*(np.abs(world[:, j] - s * turn).max() for s in (1, -1)))) < SAME)
        for j, (at, turn) in placed.items()
    )


def _with_bones_at(
    motion: Motion, positions: FloatArray, world: FloatArray, placed: Placed
) -> Motion:
    """The motion with some joints placed in the world, the root among them; others stay.

    ``positions`` (F, J, 3) and ``world`` (F, J, 4) are its pose.
    """
    positions, world = np.array(positions), np.array(world)
    for j, (at, turn) in placed.items():
        positions[:, j], world[:, j] = at, turn
    local = np.array(motion.local_quats)
    still = motion.skeleton.offsets if motion.joint_translations is None else None
    moving = np.array(
        np.broadcast_to(still, positions.shape) if still is not None else motion.joint_translations
    )
    local[:, 0], moving[:, 0] = world[:, 0], 0.0
    for j in range(1, motion.skeleton.n_joints):
        parent = int(motion.skeleton.parents[j])
        if j in placed or parent in placed:
            into = quat.conjugate(world[:, parent])
            local[:, j] = quat.multiply(into, world[:, j])
            moving[:, j] = quat.rotate(into, positions[:, j] - positions[:, parent])
    return motion.replace(
        root_positions=positions[:, 0], local_quats=local, joint_translations=moving
    )


def without_root_bone(motion: Motion) -> Motion:
    """The motion with its first joint taken out and that joint's travel put into the next one.

    The first joint must have exactly one child and no end site, as one made by
    :func:`with_root_bone` has.

    Returns
    -------
    Motion
        On a skeleton with one joint less.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> bool(np.allclose(without_root_bone(with_root_bone(clip)).root_positions,
    ...                  clip.root_positions))
    True
    """
    skeleton = of_kind(motion, Motion, "motion").skeleton
    if len(skeleton.children(0)) != 1 or np.any(skeleton.end_parents == 0):
        raise SkeletonMismatchError(
            f"Only a root bone that carries one joint can be taken out, but {skeleton.names[0]!r} "
            f"carries {len(skeleton.children(0))} joints. Keep it, or delete the others first."
        )
    positions, world = motion.world_pose()
    smaller = Skeleton(
        skeleton.names[1:],
        skeleton.parents[1:] - 1,
        skeleton.offsets[1:],
        skeleton.rest_quats[1:],
        skeleton.end_parents - 1,
        skeleton.end_offsets,
    )
    local = np.array(motion.local_quats[:, 1:])
    local[:, 0] = world[:, 1]
    moving = motion.joint_translations
    if moving is not None:
        moving = moving[:, 1:]
        if np.array_equal(moving[:, 1:], np.broadcast_to(smaller.offsets[1:], moving[:, 1:].shape)):
            moving = None  # only the old root moved, and that is in the root positions now
    return motion.replace(
        skeleton=smaller,
        root_positions=positions[:, 1],
        local_quats=local,
        joint_translations=moving,
    )


def in_place(motion: Motion, *, body: BodyMap | None = None) -> Motion:
    """The motion with the pelvis held over its first spot; its height and all turns stay.

    Parameters
    ----------
    motion
        The clip.
    body
        Which joint is which; guessed where not given.

    Returns
    -------
    Motion
        The clip without travel and turn.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> clip = synthetic.clip("walk").motion
    >>> float(np.ptp(in_place(clip).root_positions[:, 2])) < 0.2
    True
    """
    of_kind(motion, Motion, "motion")
    body = roles_for(motion.skeleton, body, motion=motion)
    pelvis = motion.world_positions()[:, 0 if body.pelvis is None else body.pelvis]
    travel = pelvis - pelvis[0]
    travel[:, 1] = 0.0
    return motion.replace(root_positions=motion.root_positions - travel)
