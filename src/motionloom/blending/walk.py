"""Walking along a curve: how far each frame goes, and where the blend then stands.

Both are decided by votes. For the parameter, each motion says how far the curve must go for it to
advance by one frame; for the place, each says where the blend would be if it followed that motion
alone. The weights decide.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray

__all__ = ["place_frame", "place_frames", "step_parameter", "walk_parameters"]


@njit(cache=True, error_model="numpy")
def _value(points: FloatArray, k: int, u: float) -> float:
    span = min(max(int(np.floor(u)), 0), points.shape[0] - 3)
    t = u - span
    a, b, c = points[span, k], points[span + 1, k], points[span + 2, k]
    if u < 0.0:
        return float(0.5 * (a + b) + u * (b - a))
    if u > points.shape[0] - 2:
        return float(0.5 * (b + c) + (u - (points.shape[0] - 2)) * (c - b))
    return float(0.5 * ((1 - t) * (1 - t) * a + (1 + 2 * t - 2 * t * t) * b + t * t * c))


@njit(cache=True, error_model="numpy")
def _inverse(points: FloatArray, k: int, value: float, near: float) -> float:
    """Parameter where motion k is at ``value``, searched from ``near``; straight past the ends."""
    n = points.shape[0]
    first = 0.5 * (points[0, k] + points[1, k])
    last = 0.5 * (points[n - 2, k] + points[n - 1, k])
    if value <= first:
        return float((value - first) / (points[1, k] - points[0, k]))
    if value >= last:
        return float(n - 2 + (value - last) / (points[n - 1, k] - points[n - 2, k]))
    span = min(max(int(np.floor(near)), 0), n - 3)
    while span > 0 and 0.5 * (points[span, k] + points[span + 1, k]) > value:
        span -= 1
    while span < n - 3 and 0.5 * (points[span + 1, k] + points[span + 2, k]) < value:
        span += 1
    b = points[span + 1, k] - points[span, k]
    a = 0.5 * (points[span + 2, k] - points[span + 1, k] - b)
    c = value - 0.5 * (points[span, k] + points[span + 1, k])
    root = np.sqrt(max(b * b + 4.0 * a * c, 0.0))
    return float(span + (2.0 * c / (b + root) if b + root > 0.0 else 0.0))


@njit(cache=True, error_model="numpy")
def step_parameter(
    points: FloatArray, weights: FloatArray, u: float, frames: float, euler: bool
) -> float:
    """Parameter after ``frames`` frames of the blend (negative: backwards), in spline units.

    ``euler`` is equation 7 of [KG03]_; the exact vote has the same limit for small steps, and with
    a weight of one plays that motion at exactly its own rate.
    """
    total = 0.0
    for k in range(weights.shape[0]):
        total += abs(weights[k])
    step = 0.0
    for k in range(weights.shape[0]):
        w = abs(weights[k]) / total
        if w > 0.0:
            if euler:
                h = 1e-6
                slope = (_value(points, k, u + h) - _value(points, k, u - h)) / (2.0 * h)
                step += w * frames / slope
            else:
                step += w * (_inverse(points, k, _value(points, k, u) + frames, u) - u)
    return u + step


@njit(cache=True, error_model="numpy")
def walk_parameters(
    points: FloatArray,
    weights: FloatArray,
    start: float,
    frames: float,
    stop: float,
    euler: bool,
) -> FloatArray:
    """Parameters of successive frames from ``start`` until ``stop`` would be passed.

    ``weights`` (N, K) gives the weights of each frame; the walk has at most N frames.
    """
    n = weights.shape[0]
    out = np.zeros(n)
    out[0] = start
    made = 1
    for i in range(1, n):
        u = step_parameter(points, weights[i - 1], out[i - 1], frames, euler)
        if (frames > 0 and u > stop + 1e-9) or (frames < 0 and u < stop - 1e-9):
            break
        out[i] = u
        made = i + 1
    return out[:made]


@njit(cache=True, error_model="numpy")
def place_frame(
    last_theta: FloatArray,
    last_slide: FloatArray,
    theta: FloatArray,
    slide: FloatArray,
    roots: FloatArray,
    weights: FloatArray,
    turn: float,
    x0: float,
    z0: float,
) -> tuple[float, float, float]:
    """Turn and slide of a frame from those of the frame before; see :func:`place_frames`."""
    n_motions = len(theta)
    total = 0.0
    for k in range(n_motions):
        total += abs(weights[k])
    ox, oz = 0.0, 0.0
    for k in range(n_motions):
        w = abs(weights[k]) / total
        ox += w * roots[k, 0]
        oz += w * roots[k, 1]
    phi, px, pz = 0.0, 0.0, 0.0
    cos_t, sin_t = np.cos(turn), np.sin(turn)
    for k in range(n_motions):
        w = weights[k]
        if w == 0.0:
            continue
        d = last_theta[k] - theta[k]
        phi += w * (turn + d)
        # the common point, back through this frame's alignment and on through the last one's
        x, z = ox - slide[k, 0], oz - slide[k, 1]
        c, s = np.cos(d), np.sin(d)
        gx = c * x + s * z + last_slide[k, 0]
        gz = c * z - s * x + last_slide[k, 1]
        px += w * (cos_t * gx + sin_t * gz + x0)
        pz += w * (cos_t * gz - sin_t * gx + z0)
    c, s = np.cos(phi), np.sin(phi)
    return phi, px - (c * ox + s * oz), pz - (c * oz - s * ox)


@njit(cache=True, error_model="numpy")
def _place(
    theta: FloatArray,
    slide: FloatArray,
    roots: FloatArray,
    weights: FloatArray,
    turn: FloatArray,
    shift: FloatArray,
) -> None:
    for i in range(1, len(theta)):
        turn[i], shift[i, 0], shift[i, 1] = place_frame(
            theta[i - 1], slide[i - 1], theta[i], slide[i], roots[i], weights[i],
            turn[i - 1], shift[i - 1, 0], shift[i - 1, 1],
        )  # fmt: skip


def place_frames(
    theta: FloatArray,
    slide: FloatArray,
    roots: FloatArray,
    weights: FloatArray,
    *,
    start: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> tuple[FloatArray, FloatArray]:
    """Turn (N,) and slide (N, 2) that carry the aligned group into the world, frame by frame.

    Equations 8 and 9 of [KG03]_, with the common point taken in the group's own coordinates: read
    to the letter it depends on where the world's origin is and on which motion is the reference.

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
    turn, shift = np.zeros(len(theta)), np.zeros((len(theta), 2))
    turn[0], shift[0] = start[0], start[1:]
    _place(
        np.ascontiguousarray(theta),
        np.ascontiguousarray(slide),
        np.ascontiguousarray(roots),
        np.ascontiguousarray(weights),
        turn,
        shift,
    )
    return turn, shift
