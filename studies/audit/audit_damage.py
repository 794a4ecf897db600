"""Captured clips with one deliberate defect each, to see whether a check finds it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

import motionloom as ml
from motionloom.rotation import quat
from studies.audit.audit_feet import Feet, fit_heel, runs
from studies.audit.audit_points import points_of
from studies.audit.audit_signals import SIDES, Array, knee_flexion

UP = np.array([0.0, 1.0, 0.0])
POP_DEG = 15.0
SINK_M = 0.04
SLIDE_M = 0.06
HOVER_S = 0.3
LIMBS = ("left_shoulder", "right_shoulder", "left_elbow", "right_elbow", "left_hip", "right_hip",
         "left_knee", "right_knee", "neck")  # fmt: skip
STANDS_M = 0.01
"""Heels and balls so close to their floor stand on it."""


class Damaged(NamedTuple):
    """A clip with a defect, where it is, and which checks should find it."""

    motion: ml.Motion
    first: int
    last: int
    checks: tuple[str, ...]


Damage = Callable[[ml.Motion, np.random.Generator], Damaged | None]


def knee_flip(motion: ml.Motion, rng: np.random.Generator) -> Damaged | None:
    """A bent knee on the other side of the line from hip to ankle for 0.1 to 0.3 s."""
    points = points_of(motion)
    side = int(rng.integers(2))
    name = ("left", "right")[side]
    bent = np.flatnonzero(knee_flexion(points)[:, side] > 20.0)
    length = round(rng.uniform(0.1, 0.3) * motion.fps)
    bent = bent[(bent > length) & (bent < motion.n_frames - 2 * length)]
    if not len(bent):
        return None
    first = int(bent[rng.integers(len(bent))])
    rows = slice(first, first + length)
    hip, ankle = points.roles[f"{name}_hip"], points.roles[f"{name}_ankle"]
    world = motion.world_quats()[rows]
    line = points.positions[rows, ankle] - points.positions[rows, hip]
    line /= np.linalg.norm(line, axis=-1, keepdims=True)
    half_turn = np.concatenate([np.zeros((length, 1)), line], axis=-1)
    quats = np.array(motion.local_quats)
    parent = int(motion.skeleton.parents[hip])
    turned_hip = quat.multiply(half_turn, world[:, hip])
    quats[rows, hip] = quat.multiply(quat.conjugate(world[:, parent]), turned_hip)
    turned_shank = quat.multiply(half_turn, world[:, int(motion.skeleton.parents[ankle])])
    quats[rows, ankle] = quat.multiply(quat.conjugate(turned_shank), world[:, ankle])
    checks = ("knee backwards", "knee snap", "flip", "glitch", "turn", "speed", "accel")
    return Damaged(motion.replace(local_quats=quats), first, first + length, checks)


def joint_spin(motion: ml.Motion, rng: np.random.Generator) -> Damaged | None:
    """A limb that turns once around in 0.2 to 0.4 s, about an axis across its bone."""
    roles = points_of(motion).roles
    joint = roles.get(LIMBS[int(rng.integers(len(LIMBS)))])
    if joint is None:
        return None
    place = _place(motion, rng, rng.uniform(0.2, 0.4))
    if place is None:
        return None
    first, length = place
    axis = _across(motion, joint, rng)
    angles = 2.0 * np.pi * _ease(np.arange(length + 1) / length)
    checks = ("turn", "speed", "flip", "accel", "knee backwards", "knee overbent", "knee snap")
    return _turned(motion, joint, axis, angles, first, checks)


def pelvis_spin(motion: ml.Motion, rng: np.random.Generator) -> Damaged | None:
    """The whole body turns once around its pelvis in 0.2 to 0.4 s."""
    place = _place(motion, rng, rng.uniform(0.2, 0.4))
    if place is None:
        return None
    first, length = place
    rows = slice(first, first + length + 1)
    angles = 2.0 * np.pi * _ease(np.arange(length + 1) / length)
    spin = quat.from_axis_angle(UP, angles)
    quats, root = np.array(motion.local_quats), np.array(motion.root_positions)
    pelvis = motion.world_positions()[rows, points_of(motion).roles["pelvis"]] * [1.0, 0.0, 1.0]
    quats[rows, 0] = quat.multiply(spin, quats[rows, 0])
    root[rows] = quat.rotate(spin, root[rows] - pelvis) + pelvis
    checks = ("pelvis turn", "pirouette", "turn", "flip", "speed", "accel")
    return Damaged(
        motion.replace(local_quats=quats, root_positions=root), first, first + length, checks
    )


def pop(motion: ml.Motion, rng: np.random.Generator) -> Damaged | None:
    """A joint that is 15 degrees out of place for one frame."""
    roles = points_of(motion).roles
    joint = roles.get(LIMBS[int(rng.integers(len(LIMBS)))])
    place = _place(motion, rng, 2.0 / motion.fps)
    if joint is None or place is None:
        return None
    angles = np.radians([0.0, POP_DEG, 0.0])
    axis = _across(motion, joint, rng)
    return _turned(motion, joint, axis, angles, place[0] - 1, ("glitch", "flip"))


def sinking(motion: ml.Motion, rng: np.random.Generator) -> Damaged | None:
    """A foot that stands on the floor ends 4 cm under it, and the body with it.

    Feet that stand flat, on heel and ball; on the ball in clips without: where the heel of a raised
    foot is, is an estimate.
    """
    feet = _feet(motion)
    above = feet.soles[..., 1] - feet.floors
    for points in ([[0, 1], [2, 3]], [[1], [3]]):
        spans = [
            (some, first, stop)
            for some in points
            for first, stop in _contacts(motion, some)
            if np.abs(np.median(above[first:stop, some], axis=0)).max() < STANDS_M
        ]
        if spans:
            break
    else:
        return None
    some, first, stop = spans[int(rng.integers(len(spans)))]
    height = float(np.median(above[first:stop, some]))
    ramp = max(2, round(0.2 * motion.fps))
    depth = np.zeros(motion.n_frames)
    depth[first:stop] = 1.0
    kernel = np.hanning(2 * ramp + 1)
    depth = np.convolve(depth, kernel / kernel.sum(), mode="same")[: motion.n_frames]
    depth *= (height + SINK_M) / depth[first:stop].max()
    root = motion.root_positions - depth[:, None] * UP
    return Damaged(motion.replace(root_positions=root), first, stop, ("sinking",))


def hovering(motion: ml.Motion, rng: np.random.Generator, height: float) -> Damaged | None:
    """The whole body lifted for 0.3 s in the middle of a stance, up and down in 0.1 s each."""
    contact = _contact(motion, rng)
    if contact is None:
        return None
    length, ramp = round(HOVER_S * motion.fps), max(2, round(0.1 * motion.fps))
    first = sum(contact) // 2 - length // 2
    if first < ramp or first + length + ramp > motion.n_frames:
        return None
    rise = _ease(np.arange(1, ramp + 1) / (ramp + 1))
    lift = np.zeros(motion.n_frames)
    lift[first - ramp : first + length + ramp] = np.r_[rise, np.ones(length), rise[::-1]]
    root = motion.root_positions + height * lift[:, None] * UP
    return Damaged(motion.replace(root_positions=root), first, first + length, ("hovering",))


def sliding(motion: ml.Motion, rng: np.random.Generator) -> Damaged | None:
    """The body moves 6 cm over the ground while a foot stands, the way the foot slides already."""
    spans = [(k, *span) for k in range(4) for span in _contacts(motion, [k])]
    if not spans:
        return None
    k, first, stop = spans[int(rng.integers(len(spans)))]
    ground = _feet(motion).soles[first:stop, k] * [1.0, 0.0, 1.0]
    slide = ground[-1] - ground[0]
    if np.linalg.norm(slide) < 1e-3:
        slide = quat.rotate(quat.from_axis_angle(UP, rng.uniform(0.0, 2.0 * np.pi)), np.eye(3)[0])
    way = np.zeros(motion.n_frames)
    way[first:stop] = SLIDE_M * _ease(np.arange(stop - first) / (stop - first - 1))
    way[stop:] = SLIDE_M
    root = motion.root_positions + way[:, None] * (slide / np.linalg.norm(slide))
    checks = ("contact slide", "low slide")
    return Damaged(motion.replace(root_positions=root), first, stop, checks)


def _turned(
    motion: ml.Motion, joint: int, axis: Array, angles: Array, first: int, checks: tuple[str, ...]
) -> Damaged:
    rows = slice(first, first + len(angles))
    quats = np.array(motion.local_quats)
    quats[rows, joint] = quat.multiply(quats[rows, joint], quat.from_axis_angle(axis, angles))
    return Damaged(motion.replace(local_quats=quats), first, first + len(angles), checks)


def _across(motion: ml.Motion, joint: int, rng: np.random.Generator) -> Array:
    """A random axis across the bone that leaves a joint, in the joint's frame."""
    children = np.flatnonzero(motion.skeleton.parents == joint)
    bone = motion.skeleton.offsets[children[0]] if len(children) else UP
    if np.linalg.norm(bone) < 1e-3:
        bone = UP
    axis = np.cross(bone, rng.normal(size=3))
    return np.asarray(axis / np.linalg.norm(axis))


def _place(motion: ml.Motion, rng: np.random.Generator, seconds: float) -> tuple[int, int] | None:
    length = max(2, round(seconds * motion.fps))
    margin = round(0.2 * motion.fps) + 2
    last = motion.n_frames - length - margin
    return None if last <= margin else (int(rng.integers(margin, last)), length)


def _contact(motion: ml.Motion, rng: np.random.Generator) -> tuple[int, int] | None:
    """One of the labelled contacts of any sole point."""
    spans = [span for k in range(4) for span in _contacts(motion, [k])]
    return spans[int(rng.integers(len(spans)))] if spans else None


def _contacts(motion: ml.Motion, points: list[int]) -> list[tuple[int, int]]:
    """Spans of 0.15 to 1 s, away from the clip's ends, in which all sole points are labelled."""
    planted = np.asarray(ml.detect_footplants(motion).planted[:, points].all(axis=1))
    return [
        (first, stop)
        for first, stop in runs(planted)
        if 0.15 < (stop - 1 - first) / motion.fps < 1.0 and first > 5 and stop < len(planted) - 5
    ]


def _feet(motion: ml.Motion) -> Feet:
    points = points_of(motion)
    return Feet(points, [fit_heel(points, side) for side in SIDES])


def _ease(u: Array) -> Array:
    return np.asarray(u * u * (3.0 - 2.0 * u))


DAMAGES: dict[str, Damage] = {
    "knee flip": knee_flip,
    "joint spin": joint_spin,
    "pelvis spin": pelvis_spin,
    "one-frame pop": pop,
    "sinking 4 cm": sinking,
    "sliding contact 6 cm": sliding,
    "hovering 8 cm": partial(hovering, height=0.08),
    "hovering 12 cm": partial(hovering, height=0.12),
}
