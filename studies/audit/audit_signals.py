"""Quantities of a motion that the audit judges, computed from the positions of its joints alone.

Nothing here uses joint rotations or any of motionloom's own checks: a defect that both the product
and its check overlook must still be visible in where the joints are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIDES = ("left", "right")
SHORTEST_BONE_M = 0.01
HIP_LINE = 2.0
"""How much the hip line counts for a knee's axis, against the pole from ankle to toe."""
ON_A_LINE = 1e-3
"""Joints whose second extent is a smaller part of the first, as squares, are on one line."""
GLITCH_DEG = 8.0
"""A direction that departs by less from the mean of its neighbours at 60 Hz is no glitch."""
GLITCH_RATIO = 6.0
RETURN = 0.7
"""A bone is back after a glitch if it is closer to where it was than this part of either step."""
STEP_DEG = 10.0
"""A smaller step from frame to frame at 60 Hz is no jump."""
STEP_RATIO = 3.0
BURST_RATIO = 4.0
BURST_P90 = 3.0
BURST_S = 0.045
"""A burst is this many times faster than the bone is in nine tenths of the clip's frames. What is
faster than half of its peak for longer than BURST_S is a kick or a punch and part of the clip."""


@dataclass(frozen=True, eq=False)
class Points:
    """A motion as moving points: joints first, then end sites."""

    positions: Array
    """World, Y up, metres. (F, P, 3)"""
    parents: NDArray[np.int64]
    """(P,)"""
    names: tuple[str, ...]
    """Of the joints. (J,)"""
    fps: float
    roles: dict[str, int]
    """Joint of each body role."""
    contacts: NDArray[np.bool_] | None = None
    """Labelled contacts of left heel, left ball, right heel, right ball. (F, 4)"""
    marks: Array | None = None
    """From each joint above the pelvis to a point in front of it: the only way to see such a bone
    turn. Unit vectors. (F, A, 3)"""

    @cached_property
    def judged(self) -> list[int]:
        """Joints from the root up to those with a role: neither fingers nor end sites."""
        chosen: set[int] = set()
        for joint in self.roles.values():
            while joint >= 0 and joint not in chosen:
                chosen.add(joint)
                joint = int(self.parents[joint])
        return sorted(chosen)

    @cached_property
    def above(self) -> list[int]:
        """Joints between the root and the pelvis, both included."""
        chain, joint = [], self.roles["pelvis"]
        while joint >= 0:
            chain.append(joint)
            joint = int(self.parents[joint])
        return chain[::-1]

    @cached_property
    def keys(self) -> list[str]:
        """Name of each judged joint that other skeletons share: its role, else its own name."""
        role_of = {joint: role for role, joint in self.roles.items()}
        return [role_of.get(joint, self.names[joint]) for joint in self.judged]

    @property
    def leg_length(self) -> float:
        """Hip over knee to ankle, metres."""
        chain = [self.positions[0, self.roles[f"left_{r}"]] for r in ("hip", "knee", "ankle")]
        return float(sum(np.linalg.norm(b - a) for a, b in pairwise(chain)))

    def part(self, first: int, stop: int) -> Points:
        """The frames from ``first`` up to ``stop``."""
        contacts = None if self.contacts is None else self.contacts[first:stop]
        marks = None if self.marks is None else self.marks[first:stop]
        return replace(self, positions=self.positions[first:stop], contacts=contacts, marks=marks)


def unit(vectors: Array) -> Array:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def angle_deg(a: Array, b: Array) -> Array:
    """Angle between unit vectors, accurate for small ones."""
    return np.degrees(
        2.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    )


def around(values: Array, half: int, *, skip: int = 0) -> Array:
    """Median of the values up to ``half`` frames away, without each one and ``skip`` next to it.

    Windows near the ends are moved inside.
    """
    n = len(values)
    if n <= 2 * half:
        return np.broadcast_to(np.median(values, axis=0), values.shape)
    offsets = np.r_[-half:-skip, skip + 1 : half + 1]
    index = np.clip(np.arange(n), half, n - 1 - half)[:, None] + offsets
    return np.asarray(np.median(values[index], axis=1))


def long_step(points: Points) -> float:
    """How much longer a frame lasts than at 60 Hz, where it lasts longer."""
    return max(1.0, 60.0 / points.fps)


def bone_directions(points: Points) -> tuple[Array, NDArray[np.bool_]]:
    """Unit direction of the bone to each judged joint (F, N, 3), and which are long enough."""
    joints = np.array(points.judged)
    parents = points.parents[joints]
    bones = points.positions[:, joints] - points.positions[:, np.maximum(parents, 0)]
    length = np.median(np.linalg.norm(bones, axis=-1), axis=0)
    # A root bone is no part of the body: where it stands is judged by the pelvis and its marks.
    usable = (length > SHORTEST_BONE_M) & ~np.isin(joints, points.above)
    return unit(bones), usable


def bone_lengths(points: Points) -> Array:
    """Length of the bone to each judged joint, metres. (N,)"""
    joints = np.array(points.judged)
    bones = points.positions[:, joints] - points.positions[:, np.maximum(points.parents[joints], 0)]
    return np.asarray(np.median(np.linalg.norm(bones, axis=-1), axis=0))


def bone_turns(points: Points) -> Array:
    """Degrees that the bone to each judged joint turns from frame to frame. (F - 1, N)"""
    directions, usable = bone_directions(points)
    return np.where(usable, angle_deg(directions[1:], directions[:-1]), 0.0)


def relative_speeds(points: Points) -> Array:
    """Speed of each judged joint relative to its parent, m/s; up to the pelvis zero. (F - 1, N)"""
    joints = np.array(points.judged)
    parents = points.parents[joints]
    bones = points.positions[:, joints] - points.positions[:, np.maximum(parents, 0)]
    speeds = np.linalg.norm(np.diff(bones, axis=0), axis=-1) * points.fps
    return np.where(np.isin(joints, points.above), 0.0, speeds)


def accelerations(points: Points) -> Array:
    """Second difference of each judged joint in the world, m/s2. (F - 2, N)"""
    second = np.diff(points.positions[:, points.judged], n=2, axis=0)
    values = np.linalg.norm(second, axis=-1) * points.fps**2
    return np.where(np.isin(points.judged, points.above[:-1]), 0.0, values)


def turn_of_group(points: Points, centre: int, others: list[int]) -> Array:
    """Degrees that a rigid group of joints turns from frame to frame, best fit. (F - 1,)

    Joints on one line through the centre show how that line turns, and nothing about it.
    """
    cloud = points.positions[:, others] - points.positions[:, centre : centre + 1]
    u, sizes, vt = np.linalg.svd(np.einsum("fpi,fpj->fij", cloud[:-1], cloud[1:]))
    if np.median(sizes[:, 1] / np.maximum(sizes[:, 0], 1e-12)) < ON_A_LINE:
        farthest = int(np.linalg.norm(cloud, axis=-1).mean(axis=0).argmax())
        line = unit(cloud[:, farthest])
        return angle_deg(line[1:], line[:-1])
    u[..., 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    rotation = u @ vt
    trace = np.trace(rotation, axis1=1, axis2=2)
    skew = rotation - np.swapaxes(rotation, 1, 2)
    sine = 0.5 * np.sqrt(skew[:, 0, 1] ** 2 + skew[:, 0, 2] ** 2 + skew[:, 1, 2] ** 2)
    return np.degrees(np.arctan2(sine, 0.5 * (trace - 1.0)))


def pelvis_turn(points: Points) -> Array:
    """Degrees that the pelvis turns from frame to frame: hips and the lowest spine joint."""
    hips = [points.roles["left_hip"], points.roles["right_hip"]]
    centre = points.roles["pelvis"]
    above = next((j for j in points.judged if points.parents[j] == centre and j not in hips
                  and not _leads_to(points, j, hips)), None)  # fmt: skip
    group = [*hips, *([] if above is None else [above])]
    length = np.linalg.norm(points.positions[0, group] - points.positions[0, centre], axis=-1)
    group = [j for j, size in zip(group, length, strict=True) if size > SHORTEST_BONE_M]
    return turn_of_group(points, centre, group)


def root_turn(points: Points) -> Array:
    """Degrees that the bones above the pelvis turn from frame to frame, the fastest. (F - 1,)"""
    if points.marks is None or points.marks.shape[1] == 0:
        return np.zeros(len(points.positions) - 1)
    return np.asarray(angle_deg(points.marks[1:], points.marks[:-1]).max(axis=1))


def chest_turn(points: Points) -> Array:
    """Degrees that shoulders, neck and head turn together from frame to frame."""
    roles = points.roles
    group = [roles[r] for r in ("left_shoulder", "right_shoulder", "neck", "head") if r in roles]
    if len(group) < 3:
        return np.zeros(len(points.positions) - 1)
    return turn_of_group(points, int(points.parents[group[2]]), group)


def _leads_to(points: Points, joint: int, targets: list[int]) -> bool:
    for target in targets:
        while target >= 0:
            if target == joint:
                return True
            target = int(points.parents[target])
    return False


def heading(points: Points) -> Array:
    """Unwrapped heading of the body from its hip line and shoulder line, degrees. (F,)"""
    line = np.zeros((len(points.positions), 3))
    for part in ("hip", "shoulder"):
        if f"left_{part}" in points.roles and f"right_{part}" in points.roles:
            left, right = (points.positions[:, points.roles[f"{s}_{part}"]] for s in SIDES)
            line += unit((left - right) * [1.0, 0.0, 1.0])
    return np.degrees(np.unwrap(np.arctan2(-line[:, 2], line[:, 0])))


def toe_of(points: Points, side: str) -> int | None:
    """The ball of the foot: the toe's joint, else an end site or child of the ankle."""
    if f"{side}_toe" in points.roles:
        return points.roles[f"{side}_toe"]
    below = np.flatnonzero(points.parents == points.roles[f"{side}_ankle"])
    return int(below[0]) if len(below) else None


def knee_flexion(points: Points) -> Array:
    """Signed flexion of both knees, degrees; negative is bent backwards. (F, 2)

    A knee bends about the axis that is perpendicular to the shank and to the pole from ankle to
    toe. The hip line helps where the foot points along the shank.
    """
    flexion = np.zeros((len(points.positions), 2))
    hips = [points.positions[:, points.roles[f"{side}_hip"]] for side in SIDES]
    right = unit(hips[1] - hips[0])
    for n, side in enumerate(SIDES):
        toe = toe_of(points, side)
        if toe is None:
            continue
        knee, ankle = (points.positions[:, points.roles[f"{side}_{r}"]] for r in ("knee", "ankle"))
        shank = unit(ankle - knee)
        axis = np.cross(shank, unit(points.positions[:, toe] - ankle)) + HIP_LINE * right
        pole = unit(np.cross(axis, shank))
        thigh = unit(knee - hips[n])
        flexion[:, n] = np.degrees(
            np.arctan2(np.sum(thigh * pole, axis=-1), np.sum(thigh * shank, axis=-1))
        )
    return flexion


def glitch_frames(points: Points) -> NDArray[np.bool_]:
    """Frames in which a bone is out of place for one frame, or before and after it jumps. (F, N)

    Out of place: far from the mean direction of its neighbours, which agree with each other. Jump:
    one step that is much larger than those next to it and those around it.
    """
    directions, usable = bone_directions(points)
    glitches = np.zeros(directions.shape[:2], dtype=bool)
    if len(directions) < 5:
        return glitches
    turns = angle_deg(directions[1:], directions[:-1])
    away = angle_deg(directions[1:-1], unit(directions[2:] + directions[:-2]))
    back = angle_deg(directions[2:], directions[:-2]) < RETURN * np.minimum(turns[1:], turns[:-1])
    usual = around(away, max(3, round(0.15 * points.fps)), skip=1)
    least = GLITCH_DEG * long_step(points)
    glitches[1:-1] = (away > least) & (away > GLITCH_RATIO * usual) & back
    still = np.zeros((1, turns.shape[1]))
    neighbour = np.maximum(np.r_[still, turns[:-1]], np.r_[turns[1:], still])
    usual = around(turns, max(3, round(0.1 * points.fps)))
    jumps = (turns > STEP_DEG * long_step(points)) & (
        turns > STEP_RATIO * np.maximum(usual, neighbour)
    )
    glitches[1:] |= jumps
    glitches[:-1] |= jumps
    return glitches & usable


def excluded_frames(points: Points) -> NDArray[np.bool_]:
    """Frames that say nothing about what a joint does: glitches, and bursts of them. (F, N)"""
    glitches = glitch_frames(points)
    directions, usable = bone_directions(points)
    if len(directions) < 5:
        return glitches
    turns = angle_deg(directions[1:], directions[:-1])
    usual = around(turns, max(3, round(0.1 * points.fps)))
    bursts = (turns > STEP_DEG * long_step(points)) & (turns > BURST_RATIO * usual)
    bursts &= turns > BURST_P90 * np.percentile(turns, 90.0, axis=0)
    for f, n in np.argwhere(bursts):
        bursts[f, n] = width_of(turns[:, n], int(f)) <= BURST_S * points.fps
    glitches[1:] |= bursts & usable
    glitches[:-1] |= bursts & usable
    return glitches


def width_of(turns: Array, peak: int) -> int:
    """Steps in a row around a peak that are larger than half of it."""
    large = turns > 0.5 * turns[peak]
    before, after = np.flatnonzero(~large[:peak]), np.flatnonzero(~large[peak:])
    first = int(before[-1]) + 1 if len(before) else 0
    last = peak + (int(after[0]) if len(after) else len(turns) - peak)
    return last - first
