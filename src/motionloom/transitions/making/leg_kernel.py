"""Leg kernel: legs that follow their feet, compiled.

Each leg is solved in closed form. Where a held foot would be out of reach, the body is lowered a
little, then the heel comes up about the ball; knees ease into full stretch instead of meeting it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.motion.knee_place import knee_place, knee_span
from motionloom.transitions.compiled import inner
from motionloom.transitions.making.chain_kernel import multiply, turned_point

__all__ = ["follow_feet", "leg_ways", "lower_root"]

HELD_REACH = 0.985
"""Part of its full length to which a leg may be stretched for a held foot."""
FREE_REACH = 0.995
"""The same for a free one; a captured leg that is longer stays so."""
SOFT = 0.03
"""Part of a leg's length before its reach from which stretching is eased."""
STRAIGHT, CALM = 0.98, 0.006
"""From this part of its length on a leg is nearly straight; changes of its span by less than the
second, metres, are then not made in full."""
LOWEST = 0.08
"""Part of a leg's length by which the body may be lowered."""
SPREAD = 12
"""Frames over which the body goes down and comes up."""
SEAM = 10
"""Frames from a seam in which it may not yet be lowered in full."""
STEEPEST = 0.7
"""Farthest that a heel comes up to reach, radians."""


@njit(cache=True, error_model="numpy", inline="always")
def _arc(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float
) -> tuple[float, float, float, float]:
    """The shortest turn from one direction to another, which are never opposite here."""
    w = np.sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
    w += ax * bx + ay * by + az * bz
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    norm = np.sqrt(w * w + x * x + y * y + z * z)
    if norm < 1e-12:
        return 1.0, 0.0, 0.0, 0.0
    return w / norm, x / norm, y / norm, z / norm


@inner(error_model="numpy")
def _lengths(positions: FloatArray, leg: IntArray) -> tuple[float, float]:
    thigh = positions[0, leg[1]] - positions[0, leg[0]]
    shank = positions[0, leg[2]] - positions[0, leg[1]]
    return (
        np.sqrt(thigh[0] ** 2 + thigh[1] ** 2 + thigh[2] ** 2),
        np.sqrt(shank[0] ** 2 + shank[1] ** 2 + shank[2] ** 2),
    )


@inner(error_model="numpy")
def leg_ways(legs: IntArray, positions: FloatArray, ways: FloatArray, reaches: FloatArray) -> None:
    """Ways (2, L, 3) from hips to ankles, and full lengths (2,) of the legs, metres."""
    for side in range(2):
        thigh, shank = _lengths(positions, legs[side])
        reaches[side] = thigh + shank
        for t in range(len(positions)):
            for c in range(3):
                ways[side, t, c] = positions[t, legs[side, 2], c] - positions[t, legs[side, 0], c]


@njit(cache=True, error_model="numpy")
def lower_root(
    positions: FloatArray, legs: IntArray, held: IntArray, shifts: FloatArray, drops: FloatArray
) -> None:
    """How far the body comes down in every frame so that held feet are in reach, metres (L,).

    Parameters
    ----------
    positions : (L, J, 3)
        The blend's joints.
    legs : (2, 3)
        Hips, knees, ankles.
    held : (2, L)
        Below 0 where a foot is free.
    shifts : (2, L, 3)
        Of the ankles.
    drops : (L,)
        Filled.
    """
    n = len(positions)
    needs = np.zeros(n)
    for side in range(2):
        hip, ankle = legs[side, 0], legs[side, 2]
        thigh, shank = _lengths(positions, legs[side])
        full = thigh + shank
        for t in range(n):
            if held[side, t] < 0:
                continue
            bx = positions[t, ankle, 0] - positions[t, hip, 0]
            by = positions[t, ankle, 1] - positions[t, hip, 1]
            bz = positions[t, ankle, 2] - positions[t, hip, 2]
            before = np.sqrt(bx * bx + by * by + bz * bz)
            reach = max(before, HELD_REACH * full)
            x, y, z = bx + shifts[side, t, 0], by + shifts[side, t, 1], bz + shifts[side, t, 2]
            room = reach * reach - x * x - z * z
            need = -y - np.sqrt(room) if room > 0.0 else LOWEST * full
            needs[t] = max(needs[t], min(need, LOWEST * full))
    for t in range(n):
        drop = 0.0
        for u in range(max(t - SPREAD, 0), min(t + SPREAD + 1, n)):
            if needs[u] > 0.0:
                left = 1.0 - (abs(t - u) / (SPREAD + 1.0)) ** 2
                drop = max(drop, needs[u] * left * left)
        seam = min(min(t, n - 1 - t) / SEAM, 1.0)
        drops[t] = drop * seam * seam * (3.0 - 2.0 * seam)


@njit(cache=True, error_model="numpy", inline="always")
def _eased_span(before: float, wanted: float, reach: float, width: float) -> float:
    """Hip to ankle as wanted, easing into ``reach``; a leg that is not stretched keeps its span."""
    low = max(before, reach - width)
    if wanted <= low:
        return wanted
    room = reach - low
    if room < 1e-9:
        return low
    return float(low + room * (1.0 - np.exp(-(wanted - low) / room)))


@njit(cache=True, error_model="numpy", inline="always")
def _calmed(before: float, wanted: float, full: float) -> float:
    """The wanted span of a leg; millimetres are not followed where it is nearly straight.

    There they would take the knee centimetres out and back, and captured legs do get straight.
    """
    straight = (max(before, wanted) / full - STRAIGHT) / (1.0 - STRAIGHT)
    if straight <= 0.0:
        return wanted
    calm = CALM * min(straight, 1.0)
    change = wanted - before
    return before + change * abs(change) / (abs(change) + calm)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def follow_feet(
    parents: IntArray,
    leg: IntArray,
    sole: FloatArray,
    pole: FloatArray,
    held: IntArray,
    shifts: FloatArray,
    tilts: FloatArray,
    drops: FloatArray,
    positions: FloatArray,
    world: FloatArray,
    quats: FloatArray,
) -> float:
    """Local rotations of one leg whose foot is shifted; the farthest that a held ankle missed.

    Parameters
    ----------
    parents, leg, sole, pole
        Of the rig: hip, knee, ankle; heel and ball in the ankle's frame; side of the knee.
    held, shifts, tilts : (L,), (L, 3), (L,)
        Of this foot: its hold, how far it is moved, and how far its heel comes up about the ball.
    drops : (L,)
        How far the body comes down.
    positions, world
        The blend's joints, before.
    quats : (L, J, 4)
        Local rotations, changed in place.
    """
    hip, knee, ankle = leg[0], leg[1], leg[2]
    thigh, shank = _lengths(positions, leg)
    full, worst = thigh + shank, 0.0
    for t in range(len(held)):
        sx, sy, sz, drop = shifts[t, 0], shifts[t, 1], shifts[t, 2], drops[t]
        if sx * sx + sy * sy + sz * sz + drop * drop + tilts[t] * tilts[t] < 1e-16:
            continue
        hx, hy, hz = positions[t, hip, 0], positions[t, hip, 1] - drop, positions[t, hip, 2]
        kx, ky, kz = (
            positions[t, knee, 0] - hx,
            positions[t, knee, 1] - drop - hy,
            positions[t, knee, 2] - hz,
        )
        ax, ay, az = (
            positions[t, ankle, 0] - hx,
            positions[t, ankle, 1] - drop - hy,
            positions[t, ankle, 2] - hz,
        )
        before = max(np.sqrt(ax * ax + ay * ay + az * az), 1e-6)
        # The wanted ankle, seen from the hip.
        tx, ty, tz = ax + sx, ay + drop + sy, az + sz
        gw, gx, gy, gz = (
            world[t, ankle, 0],
            world[t, ankle, 1],
            world[t, ankle, 2],
            world[t, ankle, 3],
        )
        # The ankle turns about the ball, and the foot with it.
        fx, fy, fz = turned_point(gw, gx, gy, gz, sole[1, 0], sole[1, 1], sole[1, 2])
        if tilts[t] > 0.0:
            rx, ry, rz = turned_point(gw, gx, gy, gz, sole[0, 0], sole[0, 1], sole[0, 2])
            qw, qx, qy, qz = _heel_up(rx - fx, rz - fz, tilts[t])
            rx, ry, rz = turned_point(qw, qx, qy, qz, fx, fy, fz)
            tx, ty, tz = tx + fx - rx, ty + fy - ry, tz + fz - rz
            fx, fy, fz = rx, ry, rz
            gw, gx, gy, gz = multiply(qw, qx, qy, qz, gw, gx, gy, gz)
        if held[t] >= 0:
            reach = max(before, HELD_REACH * full)
            qw, qx, qy, qz = _roll(tx, ty, tz, fx, fy, fz, reach)
            if qw < 1.0:
                rx, ry, rz = turned_point(qw, qx, qy, qz, fx, fy, fz)
                tx, ty, tz = tx + fx - rx, ty + fy - ry, tz + fz - rz
                gw, gx, gy, gz = multiply(qw, qx, qy, qz, gw, gx, gy, gz)
        wanted = np.sqrt(tx * tx + ty * ty + tz * tz)
        wanted_span = _calmed(before, wanted, full)
        span = _eased_span(before, wanted_span, max(before, FREE_REACH * full), SOFT * full)
        if span < before:
            span = knee_span(before, span, thigh, shank, SOFT)
        if held[t] >= 0:
            worst = max(worst, abs(wanted - span))
        ex, ey, ez = tx / wanted, ty / wanted, tz / wanted
        hw, hi, hj, hk = world[t, hip, 0], world[t, hip, 1], world[t, hip, 2], world[t, hip, 3]
        px, py, pz = turned_point(hw, hi, hj, hk, pole[0], pole[1], pole[2])
        nx, ny, nz = knee_place(
            span * ex, span * ey, span * ez, ax, ay, az, kx, ky, kz, px, py, pz, thigh, shank
        )
        # The thigh swings the shortest way, then the shank does.
        qw, qx, qy, qz = _arc(kx, ky, kz, nx, ny, nz)
        lx, ly, lz = turned_point(qw, qx, qy, qz, ax - kx, ay - ky, az - kz)
        hw, hi, hj, hk = multiply(qw, qx, qy, qz, hw, hi, hj, hk)
        bw, bx, by, bz = _arc(lx, ly, lz, span * ex - nx, span * ey - ny, span * ez - nz)
        qw, qx, qy, qz = multiply(bw, bx, by, bz, qw, qx, qy, qz)
        kw, ki, kj, kk = multiply(
            qw,
            qx,
            qy,
            qz,
            world[t, knee, 0],
            world[t, knee, 1],
            world[t, knee, 2],
            world[t, knee, 3],
        )
        p = parents[hip]
        _set(
            quats,
            t,
            hip,
            world[t, p, 0],
            world[t, p, 1],
            world[t, p, 2],
            world[t, p, 3],
            hw,
            hi,
            hj,
            hk,
        )
        _set(quats, t, knee, hw, hi, hj, hk, kw, ki, kj, kk)
        _set(quats, t, ankle, kw, ki, kj, kk, gw, gx, gy, gz)
    return worst


@njit(cache=True, error_model="numpy", inline="always")
def _heel_up(dx: float, dz: float, angle: float) -> tuple[float, float, float, float]:
    """Turn by an angle that raises a heel which is (dx, dz) over the ground from its ball."""
    size = np.hypot(dx, dz)
    if size < 1e-6:
        return 1.0, 0.0, 0.0, 0.0
    s = np.sin(0.5 * angle) / size
    return np.cos(0.5 * angle), -s * dz, 0.0, s * dx


@njit(cache=True, error_model="numpy", inline="always")
def _roll(
    tx: float, ty: float, tz: float, fx: float, fy: float, fz: float, reach: float
) -> tuple[float, float, float, float]:
    """Turn about the ball that brings the ankle within reach of the hip, at most ``STEEPEST``.

    ``t`` is the ankle seen from the hip, ``f`` the ball seen from the ankle.
    """
    if tx * tx + ty * ty + tz * tz <= reach * reach:
        return 1.0, 0.0, 0.0, 0.0
    bx, by, bz = -(tx + fx), -(ty + fy), -(tz + fz)  # hip seen from the ball
    far, foot = np.sqrt(bx * bx + by * by + bz * bz), np.sqrt(fx * fx + fy * fy + fz * fz)
    if foot < 1e-6 or far < 1e-6:
        return 1.0, 0.0, 0.0, 0.0
    cos_now = -(fx * bx + fy * by + fz * bz) / (far * foot)
    cos = (foot * foot + far * far - reach * reach) / (2.0 * foot * far)
    angle = np.arccos(min(max(cos_now, -1.0), 1.0)) - np.arccos(min(max(cos, -1.0), 1.0))
    angle = min(max(angle, 0.0), STEEPEST)
    x, y, z = fz * by - fy * bz, fx * bz - fz * bx, fy * bx - fx * by  # (-f) x b
    size = np.sqrt(x * x + y * y + z * z)
    if size < 1e-9:
        return 1.0, 0.0, 0.0, 0.0
    s = np.sin(0.5 * angle) / size
    return np.cos(0.5 * angle), s * x, s * y, s * z


@njit(cache=True, error_model="numpy", inline="always")
def _set(
    quats: FloatArray, t: int, j: int,
    pw: float, px: float, py: float, pz: float, w: float, x: float, y: float, z: float,
) -> None:  # fmt: skip
    """Local rotation of joint j from its parent's and its own in the world, sign kept."""
    a, b, c, d = multiply(pw, -px, -py, -pz, w, x, y, z)
    dot = a * quats[t, j, 0] + b * quats[t, j, 1] + c * quats[t, j, 2] + d * quats[t, j, 3]
    norm = np.sqrt(a * a + b * b + c * c + d * d)
    norm = 1.0 / norm if dot >= 0.0 else -1.0 / norm
    quats[t, j, 0], quats[t, j, 1], quats[t, j, 2], quats[t, j, 3] = (
        a * norm,
        b * norm,
        c * norm,
        d * norm,
    )
