"""From parameters and weights to a motion: placement, pose, and the plants it must keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.blending.group import Group
from motionloom.blending.pose import mix_poses
from motionloom.blending.walk import place_frames
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.motion import Motion
from motionloom.registration.constraints import ConstraintMatch
from motionloom.registration.curve import RegistrationCurve
from motionloom.rotation.planar import PlanarTransform


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """A blend with what placed it."""

    motion: Motion
    footplants: Footplants
    placement: PlanarTransform
    """Carries the aligned group into the world, per frame. Fields (N,)"""
    alignments: PlanarTransform
    """Brings every motion to the reference, per frame. Fields (N, K)"""
    wide_joints: tuple[str, ...]
    """Joints whose rotations got more than a quarter turn from their mean: not to be trusted."""


def evaluate(
    curve: RegistrationCurve,
    u: FloatArray,
    weights: FloatArray,
    *,
    start: PlanarTransform | None = None,
    name: str = "blend",
) -> Evaluated:
    """The blend at parameters ``u`` (N,) with ``weights`` (N, K).

    Parameters
    ----------
    curve
        K examples.
    u : (N,)
        Parameters, average frames.
    weights : (N, K)
        Sum to one in every frame.
    start
        Placement of the first frame; by default the reference stays where it is.
    name
        Of the motion.
    """
    group = Group(curve)
    frames, theta, slide, aligned = group.at(u / curve.frames_per_knot)
    begin = PlanarTransform.identity() if start is None else start
    turn, shift = place_frames(
        theta,
        slide,
        aligned[..., [0, 2]],
        weights,
        start=(float(begin.theta), float(begin.x0), float(begin.z0)),
    )
    placement = PlanarTransform(turn, shift[:, 0], shift[:, 1])
    quats, spread = mix_poses(group.quats, group.starts, frames, weights, turn[:, None] + theta)
    first = curve.motions[0]
    motion = Motion(
        first.skeleton,
        placement.apply(np.einsum("nk,nkc->nc", weights, aligned)),
        quats,
        first.fps,
        joint_translations=mixed_translations(curve, frames, weights),
        name=name,
        source=first.source.for_result(),
    )
    return Evaluated(
        motion,
        plants_along(curve, u, weights),
        placement,
        PlanarTransform(theta, slide[..., 0], slide[..., 1]),
        _wide(curve, spread),
    )


def wide_joints(curve: RegistrationCurve, u: FloatArray, weights: FloatArray) -> tuple[str, ...]:
    """Joints whose rotations lie more than a quarter turn from their mean at some frame."""
    group = Group(curve)
    standing = group.at(u / curve.frames_per_knot)
    _, spread = mix_poses(group.quats, group.starts, standing.frames, weights, standing.theta)
    return _wide(curve, spread)


def _wide(curve: RegistrationCurve, spread: FloatArray) -> tuple[str, ...]:
    names = curve.motions[0].skeleton.names
    return tuple(names[j] for j in np.flatnonzero(spread > 0.5 * np.pi))


def plants_along(curve: RegistrationCurve, u: FloatArray, weights: FloatArray) -> Footplants:
    """Which plants a blend holds at each frame: the matched intervals mixed by the weights."""
    planted = np.zeros((len(u), 4), dtype=bool)
    for column, kind in enumerate(KINDS):
        planted[:, column] = holds_along(curve.matches[kind], u, weights)
    return Footplants(planted)


def holds_along(
    matches: Sequence[ConstraintMatch], u: FloatArray, weights: FloatArray
) -> BoolArray:
    """Frames (N,) in which one of the matched intervals, mixed by the weights (N, K), holds."""
    holds = np.zeros(len(u), dtype=bool)
    for match in matches:
        spans = np.array(match.intervals)  # (K, 2)
        low, high = weights @ spans[:, 0], weights @ spans[:, 1]
        holds |= (u >= low - 1e-9) & (u <= high + 1e-9)
    return holds


def mixed_translations(
    curve: RegistrationCurve, frames: FloatArray, weights: FloatArray
) -> FloatArray | None:
    """Sliding joints, and bones of different lengths, mixed as they are."""
    rigid = all(m.joint_translations is None for m in curve.motions)
    same = all(
        np.allclose(m.skeleton.offsets, curve.motions[0].skeleton.offsets, atol=1e-6)
        for m in curve.motions
    )
    if rigid and same:
        return None
    mixed = np.zeros((len(frames), curve.motions[0].skeleton.n_joints, 3))
    for k, motion in enumerate(curve.motions):
        if motion.joint_translations is None:
            offsets = np.broadcast_to(motion.skeleton.offsets, mixed.shape)
        else:
            low = np.floor(frames[:, k]).astype(np.int64)
            high = np.minimum(low + 1, motion.n_frames - 1)
            t = (frames[:, k] - low)[:, None, None]
            moving = motion.joint_translations
            offsets = moving[low] + t * (moving[high] - moving[low])
        mixed += weights[:, k, None, None] * offsets
    return mixed
