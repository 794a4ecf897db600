"""Series: what the checks measure in every frame, per joint and of the whole body.

Turns are measured as ``2 |q - p|`` of unit quaternions, the angle between them to a third of a
per cent for steps below 30 degrees: no inverse cosine, and the same in sources and results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom._records import record
from motionloom.features.checks.rig import CheckRig

__all__ = ["Series", "measure_series", "new_series"]

FOLDED = np.radians(-120.0)
"""Flexion below this is a knee folded past half a turn, not one bent backwards."""


@record
class Series(NamedTuple):
    """Measured values; row 0 of steps is 0, and so are the first and last row of bends."""

    turn: FloatArray
    """Rotation speed of judged joints in their parents (the pelvis: world), rad/s. (F, N)"""
    speed: FloatArray
    """Speed of judged joints relative to their parents, m/s. (F, N)"""
    bend: FloatArray
    """Size of the second difference of their world positions, m/s2. (F, N)"""
    carried: FloatArray
    """Rotation speed of the joints above the pelvis in the world, rad/s. (F, A)"""
    head: FloatArray
    """Rotation speed of the head in the world, rad/s. (F,)"""
    heading: FloatArray
    """Heading of the body, radians, unwrapped. (F,)"""
    flexion: FloatArray
    """Signed flexion of both knees, radians. (F, 2)"""
    soles: FloatArray
    """Left heel, left ball, right heel, right ball in the world, metres. (F, 4, 3)"""
    lowest: FloatArray
    """Height of the lowest judged joint or sole point, metres. (F,)"""
    pelvis: FloatArray
    """Pelvis in the world, metres. (F, 3)"""


def new_series(rig: CheckRig, n_frames: int) -> Series:
    """Series of zeros for so many frames."""
    n = len(rig.judged)
    return Series(
        np.zeros((n_frames, n)),
        np.zeros((n_frames, n)),
        np.zeros((n_frames, n)),
        np.zeros((n_frames, len(rig.carriers))),
        np.zeros(n_frames),
        np.zeros(n_frames),
        np.zeros((n_frames, 2)),
        np.zeros((n_frames, 4, 3)),
        np.zeros(n_frames),
        np.zeros((n_frames, 3)),
    )


@njit(cache=True, error_model="numpy", inline="always")
def _apart(quats: FloatArray, t: int, j: int) -> float:
    """Angle between a rotation and that of the frame before, radians, for small ones."""
    same, other = 0.0, 0.0
    for c in range(4):
        now, before = quats[t, j, c], quats[t - 1, j, c]
        same += (now - before) * (now - before)
        other += (now + before) * (now + before)
    return float(2.0 * np.sqrt(min(same, other)))


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def measure_series(
    rig: CheckRig,
    fps: float,
    positions: FloatArray,
    world: FloatArray,
    quats: FloatArray,
    out: Series,
) -> None:
    """Fill ``out`` from world positions (F, J, 3), world and local rotations (F, J, 4)."""
    n_frames, square_rate = len(positions), fps * fps
    pelvis = rig.judged[0]
    for t in range(n_frames):
        low = positions[t, pelvis, 1]
        for c in range(3):
            out.pelvis[t, c] = positions[t, pelvis, c]
        for n in range(len(rig.judged)):
            j = rig.judged[n]
            low = min(low, positions[t, j, 1])
            if t == 0:
                continue
            out.turn[t, n] = fps * (_apart(world, t, j) if n == 0 else _apart(quats, t, j))
            x = positions[t, j, 0] - positions[t - 1, j, 0]
            y = positions[t, j, 1] - positions[t - 1, j, 1]
            z = positions[t, j, 2] - positions[t - 1, j, 2]
            if t < n_frames - 1:
                bx = positions[t + 1, j, 0] - positions[t, j, 0] - x
                by = positions[t + 1, j, 1] - positions[t, j, 1] - y
                bz = positions[t + 1, j, 2] - positions[t, j, 2] - z
                out.bend[t, n] = square_rate * np.sqrt(bx * bx + by * by + bz * bz)
            if n > 0:
                p = rig.parents[j]
                x -= positions[t, p, 0] - positions[t - 1, p, 0]
                y -= positions[t, p, 1] - positions[t - 1, p, 1]
                z -= positions[t, p, 2] - positions[t - 1, p, 2]
            out.speed[t, n] = fps * np.sqrt(x * x + y * y + z * z)
        out.lowest[t] = low
        if t > 0:
            for n in range(len(rig.carriers)):
                out.carried[t, n] = fps * _apart(world, t, rig.carriers[n])
            if rig.head >= 0:
                out.head[t] = fps * _apart(world, t, rig.head)
    for side in range(len(rig.legs)):
        _legs(rig, side, positions, world, out)
    _headings(rig.across, positions, out.heading)


@njit(cache=True, error_model="numpy", inline="always")
def _turned(
    w: float, x: float, y: float, z: float, a: float, b: float, c: float
) -> tuple[float, float, float]:
    """A vector turned by a quaternion."""
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    )


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _legs(rig: CheckRig, side: int, positions: FloatArray, world: FloatArray, out: Series) -> None:
    """Flexion of one knee, as ``motion.knees`` defines it, and heel and ball of its foot."""
    hip, knee, ankle = rig.legs[side, 0], rig.legs[side, 1], rig.legs[side, 2]
    a, b, c = rig.hinges[side, 0], rig.hinges[side, 1], rig.hinges[side, 2]
    for t in range(len(positions)):
        x, y, z = _turned(
            world[t, hip, 0], world[t, hip, 1], world[t, hip, 2], world[t, hip, 3], a, b, c
        )
        ux = positions[t, knee, 0] - positions[t, hip, 0]
        uy = positions[t, knee, 1] - positions[t, hip, 1]
        uz = positions[t, knee, 2] - positions[t, hip, 2]
        vx = positions[t, ankle, 0] - positions[t, knee, 0]
        vy = positions[t, ankle, 1] - positions[t, knee, 1]
        vz = positions[t, ankle, 2] - positions[t, knee, 2]
        along_u, along_v = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
        # Both bones without what they have along the hinge: their product in its plane.
        dot = ux * vx + uy * vy + uz * vz - along_u * along_v
        cross = x * (uy * vz - uz * vy) + y * (uz * vx - ux * vz) + z * (ux * vy - uy * vx)
        angle = np.arctan2(cross, dot)
        out.flexion[t, side] = angle + 2.0 * np.pi if angle < FOLDED else angle
        for point in range(2):
            x, y, z = _turned(
                world[t, ankle, 0], world[t, ankle, 1], world[t, ankle, 2], world[t, ankle, 3],
                rig.soles[side, point, 0], rig.soles[side, point, 1], rig.soles[side, point, 2],
            )  # fmt: skip
            k = 2 * side + point
            out.soles[t, k, 0] = positions[t, ankle, 0] + x
            out.soles[t, k, 1] = positions[t, ankle, 1] + y
            out.soles[t, k, 2] = positions[t, ankle, 2] + z
            out.lowest[t] = min(out.lowest[t], out.soles[t, k, 1])


@njit(cache=True, error_model="numpy")
def _headings(across: IntArray, positions: FloatArray, out: FloatArray) -> None:
    """Heading from the lines between left and right joints; kept while the body lies on a side."""
    before = 0.0
    for t in range(len(positions)):
        x, z = 0.0, 0.0
        for k in range(len(across)):
            left, right = positions[t, across[k, 0]], positions[t, across[k, 1]]
            dx, dy, dz = left[0] - right[0], left[1] - right[1], left[2] - right[2]
            size = np.sqrt(dx * dx + dy * dy + dz * dz)
            if size > 0.0:
                x += dx / size
                z += dz / size
        if np.sqrt(x * x + z * z) < 0.2 * max(len(across), 1):
            out[t] = before
            continue
        heading = np.arctan2(-z, x)
        if t > 0:
            turn = heading - before
            heading = before + turn - 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
        out[t] = heading
        before = heading
