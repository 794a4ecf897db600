"""What the checks measure in every frame."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.features.checks.source_limits import CheckRig, Series, new_series
from tests.oracles.quat import rotate


def measure_series(
    rig: CheckRig, fps: float, positions: FloatArray, world: FloatArray, quats: FloatArray
) -> Series:
    """The plain form of :func:`measure_series`."""
    out = new_series(rig, len(positions))
    places = positions[:, rig.checked]
    local = np.array(quats[:, rig.checked])
    local[:, 0] = world[:, rig.checked[0]]
    out.turn[1:] = fps * apart(local)
    moved = np.array(places)
    moved[:, 1:] -= positions[:, rig.parents[rig.checked[1:]]]
    out.speed[1:] = fps * np.linalg.norm(np.diff(moved, axis=0), axis=-1)
    out.bend[1:-1] = fps**2 * np.linalg.norm(np.diff(places, n=2, axis=0), axis=-1)
    out.kink[1:-1, 1:] = 0.5 * np.linalg.norm(np.diff(moved, n=2, axis=0), axis=-1)[:, 1:]
    out.carried[1:] = fps * apart(world[:, rig.carriers])
    if rig.head >= 0:
        out.head[1:] = fps * apart(world[:, rig.head])
    out.pelvis[:] = places[:, 0]
    out.lowest[:] = places[..., 1].min(axis=1)
    for side, (hip, knee, ankle) in enumerate(rig.legs):
        axis = rotate(world[:, hip], rig.hinges[side])
        thigh = positions[:, knee] - positions[:, hip]
        shank = positions[:, ankle] - positions[:, knee]
        thigh, shank = (v - np.sum(v * axis, axis=-1)[:, None] * axis for v in (thigh, shank))
        angle = np.arctan2(
            np.sum(axis * np.cross(thigh, shank), axis=-1), np.sum(thigh * shank, axis=-1)
        )
        out.flexion[:, side] = np.where(angle < np.radians(-120.0), angle + 2.0 * np.pi, angle)
        for point in range(2):
            sole = positions[:, ankle] + rotate(world[:, ankle], rig.soles[side, point])
            out.soles[:, 2 * side + point] = sole
            out.lowest[:] = np.minimum(out.lowest, sole[:, 1])
    out.heading[:] = headings(rig, positions)
    out.mass[:] = mass_points(rig, positions)
    return out


def mass_points(rig: CheckRig, positions: FloatArray) -> FloatArray:
    """Where the mass of trunk and legs is; the pelvis of bodies without legs."""
    pelvis = positions[:, rig.checked[0]]
    if len(rig.legs) < 2:
        return np.asarray(pelvis)
    hips, knees, ankles = (positions[:, rig.legs[:, k]] for k in range(3))
    shoulders = [pair for pair in rig.across if pair[0] != rig.legs[0, 0]]
    leg = np.linalg.norm(hips[:, 0] - knees[:, 0], axis=-1)
    leg = leg + np.linalg.norm(knees[:, 0] - ankles[:, 0], axis=-1)
    top = pelvis + 0.6 * leg[:, None] * [0.0, 1.0, 0.0]
    if shoulders:
        top = positions[:, shoulders[-1]].mean(axis=1)
    trunk = pelvis + 0.55 * (top - pelvis)
    thighs, shanks = (hips + knees).sum(axis=1) / 2.0, (knees + ankles).sum(axis=1) / 2.0
    return np.asarray(0.62 * trunk + 0.10 * thighs + 0.09 * shanks)


def apart(quats: FloatArray) -> FloatArray:
    """Chords between rotations (F, ..., 4) of neighbouring frames, as angles."""
    same = np.linalg.norm(quats[1:] - quats[:-1], axis=-1)
    other = np.linalg.norm(quats[1:] + quats[:-1], axis=-1)
    return 2.0 * np.minimum(same, other)


def headings(rig: CheckRig, positions: FloatArray) -> FloatArray:
    """Heading of the lines from right to left joints; as before while the body lies on a side."""
    lines = positions[:, rig.across[:, 0]] - positions[:, rig.across[:, 1]]
    size = np.linalg.norm(lines, axis=-1, keepdims=True)
    x, _, z = np.where(size > 0.0, lines / np.where(size > 0.0, size, 1.0), 0.0).sum(axis=1).T
    known = np.hypot(x, z) >= 0.2 * max(len(rig.across), 1)
    out, before = np.zeros(len(positions)), 0.0
    for t in range(len(out)):
        if known[t]:
            turn = np.arctan2(-z[t], x[t]) - before
            before += turn if t == 0 else turn - 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
        out[t] = before
    return out


def decelerations(pelvis: FloatArray, fps: float) -> FloatArray:
    """The plain form of :func:`decelerations`."""
    width = max(2, round(0.15 * fps))
    half, out = width // 2, np.zeros(len(pelvis))
    ground = pelvis[:, [0, 2]]
    speed = fps * np.linalg.norm(ground[half:] - ground[:-half], axis=-1) / half  # into half + i
    if len(speed) > width:
        out[width + half :] = (speed[:-width] - speed[width:]) * fps / width
    return out
