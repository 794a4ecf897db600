"""From a registration curve, parameters and weights to a motion.

A blended frame takes four steps, as in section 5 of [KG03]_: advance the parameter
(:func:`walk_parameters`), place the frame on the ground (:func:`place_frames`), mix the poses
(:func:`mix_poses`), and decide which constraints hold (:func:`plants_along`).
:func:`evaluate` does the last three for many frames.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.motion.motion import KINDS, Footplants, Motion
from motionloom.registration.curve import ConstraintMatch, RegistrationCurve
from motionloom.rotation.quat import PlanarTransform

FRAMES_PER_THREAD = 128
"""For fewer frames, starting another thread costs more time than it saves."""

_stand = kernel("ml_group_stand")
_walk = kernel("ml_walk_along")
_place = kernel("ml_walk_place")
_mix = kernel("ml_pose_mix")


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """A blend, and the transforms that placed it."""

    motion: Motion
    footplants: Footplants
    placement: PlanarTransform
    """Carries the aligned examples into the world, per frame. Fields (N,)"""
    alignments: PlanarTransform
    """Aligns every example with the reference, per frame. Fields (N, K)"""
    wide_joints: tuple[str, ...]
    """Joints whose rotations lie more than a quarter turn from their mean: not to be trusted."""


def evaluate(
    curve: RegistrationCurve,
    u: FloatArray,
    weights: FloatArray,
    *,
    start: PlanarTransform | None = None,
    name: str = "blend",
) -> Evaluated:
    """The blend at parameters ``u`` (N,), in average frames, with ``weights`` (N, K).

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
    frames, theta, slide, roots = group.at(u / curve.frames_per_knot)
    begin = PlanarTransform.identity() if start is None else start
    turn, shift = place_frames(
        theta,
        slide,
        roots[..., [0, 2]],
        weights,
        start=(float(begin.theta), float(begin.x0), float(begin.z0)),
    )
    placement = PlanarTransform(turn, shift[:, 0], shift[:, 1])
    quats, spread = mix_poses(group.quats, group.starts, frames, weights, turn[:, None] + theta)
    first = curve.motions[0]
    motion = Motion(
        first.skeleton,
        placement.apply(np.einsum("nk,nkc->nc", weights, roots)),
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
    aligned = group.at(u / curve.frames_per_knot)
    _, spread = mix_poses(group.quats, group.starts, aligned.frames, weights, aligned.theta)
    return _wide(curve, spread)


def _wide(curve: RegistrationCurve, spread: FloatArray) -> tuple[str, ...]:
    names = curve.motions[0].skeleton.names
    return tuple(names[j] for j in np.flatnonzero(spread > 0.5 * np.pi))


# --- The examples at a parameter


class Aligned(NamedTuple):
    """The examples at N parameters, aligned with the reference."""

    frames: FloatArray
    """Frame of every example. (N, K)"""
    theta: FloatArray
    """Turn of every alignment, radians. (N, K)"""
    slide: FloatArray
    """Slide of every alignment, metres. (N, K, 2)"""
    roots: FloatArray
    """Root of every example after its alignment, metres. (N, K, 3)"""


class Group:
    """The examples of a curve, one after the other in memory, as the kernels read them."""

    def __init__(self, curve: RegistrationCurve) -> None:
        motions = curve.motions
        self.curve = curve
        self.quats = np.concatenate([m.local_quats for m in motions])
        self.positions = np.concatenate([m.root_positions for m in motions])
        ends = np.cumsum([m.n_frames for m in motions], dtype=np.int64)
        self.starts = np.concatenate([np.zeros(1, dtype=np.int64), ends])
        self.times = np.ascontiguousarray(curve.times.points, dtype=np.float64)
        identity = np.zeros((len(self.times), 3))
        self.aligning = np.stack([identity if s is None else s.points for s in curve.alignment])
        self.translations: FloatArray | None = None
        if not rigid_bones(curve):
            self.translations = np.concatenate([_translations(m) for m in motions])

    def at(self, u: FloatArray) -> Aligned:
        """The examples at parameters ``u`` (N,), in the spline's own units.

        The compiled form of ``curve.frames`` and ``curve.alignments``.
        """
        n, k = len(u), len(self.curve.motions)
        out = Aligned(np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k, 2)), np.zeros((n, k, 3)))
        _stand(
            k, len(self.times), self.times, self.aligning, self.curve.reference,
            len(self.positions), self.starts, self.positions, n,
            np.ascontiguousarray(u, dtype=np.float64), *out,
        )  # fmt: skip
        return out


# --- Advancing and placing: the examples vote, and the weights decide


def walk_parameters(
    points: FloatArray, weights: FloatArray, start: float, frames: float, stop: float, euler: bool
) -> FloatArray:
    """Parameters of successive frames from ``start`` until ``stop`` would be passed.

    Each example says how far the curve must go for it to advance by ``frames`` of its own frames
    (negative: backwards); the step is the mean of these by the weights. With ``euler`` the step is
    equation 7 of [KG03]_, which has the same limit for small steps; by default it is exact, so
    that a weight of one plays that example at exactly its own rate.

    ``weights`` (N, K) gives the weights of each frame; the walk has at most N frames.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    out, n_steps = np.zeros(len(weights)), np.zeros(1, dtype=np.int64)
    _walk(*points.shape, points, len(weights), weights, start, frames, stop, euler, out, n_steps)
    return out[: int(n_steps[0])]


def place_frames(
    theta: FloatArray,
    slide: FloatArray,
    roots: FloatArray,
    weights: FloatArray,
    *,
    start: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> tuple[FloatArray, FloatArray]:
    """Turn (N,) and slide (N, 2) that carry the aligned examples into the world, frame by frame.

    Each example says where the blend would be if it followed that example alone. Equations 8 and 9
    of [KG03]_, with the common point in the coordinates of the aligned examples: read to the
    letter, it depends on where the world's origin is and on which example is the reference.

    Parameters
    ----------
    theta : (N, K)
        Turn of every motion's alignment, radians, unwrapped in time.
    slide : (N, K, 2)
        Slide of every motion's alignment, metres.
    roots : (N, K, 2)
        Root of every motion after its alignment, ground plane.
    weights : (N, K)
        Sum to one.
    start
        Turn and slide of the first frame.
    """
    places = np.zeros((len(theta), 3))
    places[0] = start
    theta, slide, roots, weights = (
        np.ascontiguousarray(x, dtype=np.float64) for x in (theta, slide, roots, weights)
    )
    _place(*theta.shape, theta, slide, roots, weights, places)
    return places[:, 0].copy(), places[:, 1:].copy()


# --- Mixing poses


def mix_poses(
    quats: FloatArray,
    starts: IntArray,
    frames: FloatArray,
    weights: FloatArray,
    headings: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Mixed local rotations (N, J, 4), and the largest distance from the mean per joint (J,).

    Park et al. 2002, as [KG03]_ use it: logarithms about an unweighted mean are averaged by the
    weights and taken back. The mix is exact where one weight is one, equals slerp for two motions,
    is continuous in the weights, and allows negative weights.

    Parameters
    ----------
    quats : (sum F, J, 4)
        Local rotations of all motions, one after the other.
    starts : (K + 1,)
        Where each motion begins in ``quats``; the last entry is the end.
    frames : (N, K)
        Frame of each motion, fractional.
    weights : (N, K)
        Sum to one; may be negative.
    headings : (N, K)
        Turn about the up axis given to each motion's root first, radians.
    """
    quats, frames, weights, headings = (
        np.ascontiguousarray(x, dtype=np.float64) for x in (quats, frames, weights, headings)
    )
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    n, n_motions = frames.shape
    n_rows, n_joints = quats.shape[:2]
    out = np.zeros((n, n_joints, 4))
    # Frames are independent and the kernel releases the interpreter's lock, so blocks of frames
    # run in as many threads as there are cores.
    n_blocks = min(max(1, n // FRAMES_PER_THREAD), os.cpu_count() or 1)
    edges = np.linspace(0, n, n_blocks + 1).astype(np.int64).tolist()
    spread = np.zeros((n_blocks, n_joints))

    def mix(block: int) -> None:
        first, stop = edges[block : block + 2]
        part, scratch = slice(first, stop), np.zeros((n_motions, 8))
        _mix(
            n_motions, n_rows, n_joints, quats, starts, stop - first,
            frames[part], weights[part], headings[part], scratch, out[part], spread[block],
        )  # fmt: skip

    if n_blocks == 1:
        mix(0)
    else:
        with ThreadPoolExecutor(n_blocks) as threads:
            list(threads.map(mix, range(n_blocks)))
    return out, spread.max(axis=0)


def rigid_bones(curve: RegistrationCurve) -> bool:
    """Whether all examples have the same rigid bones."""
    offsets = curve.motions[0].skeleton.offsets
    return all(
        m.joint_translations is None and np.allclose(m.skeleton.offsets, offsets, atol=1e-6)
        for m in curve.motions
    )


def _translations(motion: Motion) -> FloatArray:
    """Translations of the joints in every frame. (F, J, 3)."""
    if motion.joint_translations is not None:
        return motion.joint_translations
    return np.broadcast_to(
        motion.skeleton.offsets, (motion.n_frames, *motion.skeleton.offsets.shape)
    )


def mixed_translations(
    curve: RegistrationCurve, frames: FloatArray, weights: FloatArray
) -> FloatArray | None:
    """Mixed joint translations (N, J, 3); None where all examples have the same rigid bones."""
    if rigid_bones(curve):
        return None
    mixed = np.zeros((len(frames), curve.motions[0].skeleton.n_joints, 3))
    for k, motion in enumerate(curve.motions):
        moving = _translations(motion)
        low = np.floor(frames[:, k]).astype(np.int64)
        high = np.minimum(low + 1, motion.n_frames - 1)
        t = (frames[:, k] - low)[:, None, None]
        mixed += weights[:, k, None, None] * (moving[low] + t * (moving[high] - moving[low]))
    return mixed


# --- Constraints


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
