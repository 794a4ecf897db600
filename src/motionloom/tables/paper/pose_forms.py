"""Pose forms: the two ways of the papers to average the poses of a recipe's windows.

[I6]_ averages joint rotations by nested spherical interpolation, [I7]_ joint positions. Positions
average into bodies with wrong bones, so lengths are restored from the root outwards and rotations
found that have those joints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.motion.motion import Skeleton, forward_kinematics
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.recipe import Recipe, rows_at, weights_of
from motionloom.tables.synthesis.synthesis import Rows, rows_of

_nested = kernel("ml_nested_rotations")
_restore = kernel("ml_bones_restore")


class SeenPose(NamedTuple):
    """Poses with the root over the origin and heading 0."""

    body: FloatArray
    """Joints, metres. (L, J, 3)"""
    quats: FloatArray
    """Local rotations. (L, J, 4)"""


def nested_rotations(frames: Frames, recipe: Recipe, *, rows: Rows | None = None) -> SeenPose:
    """Poses by nested spherical interpolation of joint rotations, as in [I6]_.

    Neighbouring windows are interpolated, then neighbours of the results, as Bezier curves are made
    of lines.

    Parameters
    ----------
    frames, recipe
        What to blend.
    rows
        Of the frames, where they are at hand.
    """
    at = rows_at(frames, recipe)
    quats = _nested_quats(rows_of(frames) if rows is None else rows, at, recipe)
    root = np.zeros((len(at), 3))
    root[:, 1] = _heights(frames, at, recipe)
    return SeenPose(forward_kinematics(frames.skeleton, root, quats)[0], quats)


def _nested_quats(rows: Rows, at: IntArray, recipe: Recipe) -> FloatArray:
    """Local rotations (L, J, 4) by nested spherical interpolation, heading 0."""
    (n_frames, n_ways), n_joints = at.shape, rows.body.shape[1]
    if recipe.family == "hat" and n_ways > 2:
        # One pair of neighbours at a time; weights go from one to the next in straight lines.
        place = np.linspace(0.0, n_ways - 1.0, n_frames)
        first = np.minimum(place.astype(np.int64), n_ways - 2)
        at = np.ascontiguousarray(np.take_along_axis(at, first[:, None] + np.arange(2), axis=1))
        parts = place - first
    else:
        # A blend of two windows has the second at the very time that the curves are taken at.
        parts = weights_of(recipe.family, 2, n_frames)[1]
    out = np.zeros((n_frames, n_joints, 4))
    _nested(
        rows.record, n_frames, at.shape[1], np.ascontiguousarray(at), np.ascontiguousarray(parts),
        np.zeros(n_frames), out,
    )  # fmt: skip
    return out


def _heights(frames: Frames, at: IntArray, recipe: Recipe) -> FloatArray:
    """Heights of the root by the weights. (L,)."""
    return np.asarray(np.sum(recipe.weights().T * frames.body[at, 0, 1], axis=1))


def mean_of_positions(
    frames: Frames, recipe: Recipe, *, bones: bool = True, rows: Rows | None = None
) -> SeenPose:
    """Poses by weighted means of joint positions, as in [I7]_.

    Parameters
    ----------
    frames, recipe
        What to blend.
    bones
        Restore bone lengths and find rotations; without it ``body`` is the plain mean, and
        ``quats`` are those of :func:`nested_rotations`.
    rows
        Of the frames, where they are at hand.
    """
    at = rows_at(frames, recipe)
    mean = np.einsum("nl,lnjc->ljc", recipe.weights(), frames.body[at].astype(np.float64))
    guess = _nested_quats(rows_of(frames) if rows is None else rows, at, recipe)
    if not bones:
        return SeenPose(mean, guess)
    return with_bones(frames.skeleton, mean, guess)


def with_bones(skeleton: Skeleton, joints: FloatArray, guess: FloatArray) -> SeenPose:
    """The pose whose joints look as ``joints`` do, on the skeleton's own bones.

    From the root outwards every bone keeps its direction and gets its length. A joint with several
    bones turns so that they fit best; one with a single bone turns the shortest way from the
    guess, which has the twist that positions cannot tell; ends keep the guess.

    Parameters
    ----------
    skeleton
        J joints.
    joints : (L, J, 3)
        Positions, with bones of any length.
    guess : (L, J, 4)
        Local rotations near the wanted ones.
    """
    joints = np.ascontiguousarray(joints, dtype=np.float64)
    guess = np.ascontiguousarray(guess, dtype=np.float64)
    n_frames, n_joints = guess.shape[:2]
    quats = np.zeros((n_frames, n_joints, 4))
    _restore(
        n_frames,
        n_joints,
        np.ascontiguousarray(skeleton.parents, dtype=np.int64),
        np.ascontiguousarray(skeleton.offsets, dtype=np.float64),
        joints,
        guess,
        np.zeros((2, n_joints, 4)),
        quats,
    )
    return SeenPose(forward_kinematics(skeleton, joints[:, 0], quats)[0], quats)


EDITIONS: dict[int, Callable[..., SeenPose]] = {2006: nested_rotations, 2007: mean_of_positions}
"""How each paper averages poses, by its year."""
