"""Walking along a registration curve."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.registration.curve import Spline
from motionloom.rotation.quat import PlanarTransform


def values(points: FloatArray, u: float) -> FloatArray:
    """Frames of all motions at ``u``, straight past the ends. (K,)"""
    end = len(points) - 2
    if u < 0.0:
        return 0.5 * (points[0] + points[1]) + u * (points[1] - points[0])
    if u > end:
        return 0.5 * (points[-2] + points[-1]) + (u - end) * (points[-1] - points[-2])
    return Spline(points)(u)


def inverse(points: FloatArray, k: int, value: float) -> float:
    """Parameter where motion ``k`` is at ``value``: the interval halved again and again."""
    p, n = points[:, k].tolist(), len(points)
    low, high = -1e3, 1e3
    for _ in range(64):
        u = 0.5 * (low + high)
        i = min(max(int(u), 0), n - 3)
        t = min(max(u, 0.0), n - 2.0) - i
        at = 0.5 * ((1 - t) ** 2 * p[i] + (1 + 2 * t - 2 * t * t) * p[i + 1] + t * t * p[i + 2])
        at += min(u, 0.0) * (p[1] - p[0]) + max(u - (n - 2), 0.0) * (p[-1] - p[-2])
        low, high = (u, high) if at < value else (low, u)
    return 0.5 * (low + high)


def step_parameter(
    points: FloatArray, weights: FloatArray, u: float, frames: float, euler: bool
) -> float:
    """The plain form of ``ml_walk_step``."""
    shares = np.abs(weights) / np.abs(weights).sum()
    if euler:
        slopes = (values(points, u + 1e-6) - values(points, u - 1e-6)) / 2e-6
        return float(u + shares @ (frames / slopes))
    there = values(points, u) + frames
    return float(shares @ [inverse(points, k, there[k]) for k in range(len(shares))])


def walk_parameters(
    points: FloatArray, weights: FloatArray, start: float, frames: float, stop: float, euler: bool
) -> FloatArray:
    """The plain form of :func:`walk_parameters`."""
    u = [start]
    for w in weights[:-1]:
        following = step_parameter(points, w, u[-1], frames, euler)
        if np.sign(frames) * (following - stop) > 1e-9:
            break
        u.append(following)
    return np.array(u)


def place_frame(
    before: PlanarTransform,
    now: PlanarTransform,
    roots: FloatArray,
    weights: FloatArray,
    last: PlanarTransform,
) -> PlanarTransform:
    """Where the group is, from where it was: alignments have fields (K,), ``roots`` (K, 2)."""
    votes = last @ before @ now.inverse()
    ox, oz = np.abs(weights) @ roots / np.abs(weights).sum()
    common = np.array([ox, 0.0, oz])
    x, _, z = weights @ votes.apply(common)
    turn = weights @ votes.theta
    turned = PlanarTransform(turn, 0.0, 0.0).apply(common)
    return PlanarTransform(turn, x - turned[0], z - turned[2])


def place_frames(
    theta: FloatArray,
    slide: FloatArray,
    roots: FloatArray,
    weights: FloatArray,
    *,
    start: tuple[float, float, float],
) -> tuple[FloatArray, FloatArray]:
    """The plain form of :func:`place_frames`."""
    aligned = [PlanarTransform(theta[i], slide[i, :, 0], slide[i, :, 1]) for i in range(len(theta))]
    places = [PlanarTransform(*start)]
    for i in range(1, len(theta)):
        places.append(place_frame(aligned[i - 1], aligned[i], roots[i], weights[i], places[-1]))
    return np.array([p.theta for p in places]), np.array([[p.x0, p.z0] for p in places])


def core_step(
    points: FloatArray, weights: FloatArray, u: float, frames: float, euler: bool
) -> float:
    """``ml_walk_step`` of the core, which live control takes for every frame."""
    out = np.zeros(1)
    kernel("ml_walk_step")(*points.shape, points, weights, u, frames, euler, out)
    return float(out[0])
