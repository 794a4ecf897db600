"""Chain kernel: joints and soles of legs in the world, compiled."""

from __future__ import annotations

from numba import njit

from motionloom._arrays import FloatArray, IntArray

__all__ = ["chain_pose", "multiply", "sole_points", "turned_point"]


@njit(cache=True, error_model="numpy", inline="always")
def multiply(
    a: float, b: float, c: float, d: float, w: float, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """The product of two quaternions."""
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


@njit(cache=True, error_model="numpy", inline="always")
def turned_point(
    w: float, x: float, y: float, z: float, px: float, py: float, pz: float
) -> tuple[float, float, float]:
    """A vector turned by a quaternion."""
    tx, ty, tz = 2.0 * (y * pz - z * py), 2.0 * (z * px - x * pz), 2.0 * (x * py - y * px)
    return (
        px + w * tx + y * tz - z * ty,
        py + w * ty + z * tx - x * tz,
        pz + w * tz + x * ty - y * tx,
    )


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def chain_pose(
    parents: IntArray,
    offsets: FloatArray,
    chain: IntArray,
    root: FloatArray,
    quats: FloatArray,
    positions: FloatArray,
    world: FloatArray,
) -> None:
    """World positions (L, J, 3) and rotations (L, J, 4) of the joints in ``chain``."""
    for t in range(len(root)):
        for k in range(len(chain)):
            j = chain[k]
            p = parents[j]
            a, b, c, d = quats[t, j, 0], quats[t, j, 1], quats[t, j, 2], quats[t, j, 3]
            if p < 0:
                positions[t, j, 0], positions[t, j, 1] = root[t, 0], root[t, 1]
                positions[t, j, 2] = root[t, 2]
                world[t, j, 0], world[t, j, 1], world[t, j, 2], world[t, j, 3] = a, b, c, d
                continue
            w, x, y, z = world[t, p, 0], world[t, p, 1], world[t, p, 2], world[t, p, 3]
            vx, vy, vz = turned_point(w, x, y, z, offsets[j, 0], offsets[j, 1], offsets[j, 2])
            positions[t, j, 0] = positions[t, p, 0] + vx
            positions[t, j, 1] = positions[t, p, 1] + vy
            positions[t, j, 2] = positions[t, p, 2] + vz
            a, b, c, d = multiply(w, x, y, z, a, b, c, d)
            world[t, j, 0], world[t, j, 1], world[t, j, 2], world[t, j, 3] = a, b, c, d


@njit(cache=True, error_model="numpy")
def sole_points(
    legs: IntArray, soles: FloatArray, positions: FloatArray, world: FloatArray, points: FloatArray
) -> None:
    """Left heel, left ball, right heel and right ball in the world, (L, 4, 3)."""
    for side in range(2):
        j = legs[side, 2]
        for point in range(2):
            px, py, pz = soles[side, point, 0], soles[side, point, 1], soles[side, point, 2]
            for t in range(len(positions)):
                x, y, z = turned_point(
                    world[t, j, 0], world[t, j, 1], world[t, j, 2], world[t, j, 3], px, py, pz
                )
                points[t, 2 * side + point, 0] = positions[t, j, 0] + x
                points[t, 2 * side + point, 1] = positions[t, j, 1] + y
                points[t, 2 * side + point, 2] = positions[t, j, 2] + z
