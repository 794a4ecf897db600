"""Walking along a curve: how far each frame goes, and where the blend then stands.

Both are decided by votes. For the parameter, each motion says how far the curve must go for it to
advance by one frame; for the place, each says where the blend would be if it followed that motion
alone. The weights decide.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel

_step = kernel("ml_walk_step")
_along = kernel("ml_walk_along")
_place = kernel("ml_walk_place")


def step_parameter(
    points: FloatArray, weights: FloatArray, u: float, frames: float, euler: bool
) -> float:
    """Parameter after ``frames`` frames of the blend (negative: backwards), in spline units.

    ``euler`` is equation 7 of [KG03]_; the exact vote has the same limit for small steps, and with
    a weight of one plays that motion at exactly its own rate.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    out = np.zeros(1)
    _step(*points.shape, points, weights, u, frames, euler, out)
    return float(out[0])


def walk_parameters(
    points: FloatArray, weights: FloatArray, start: float, frames: float, stop: float, euler: bool
) -> FloatArray:
    """Parameters of successive frames from ``start`` until ``stop`` would be passed.

    ``weights`` (N, K) gives the weights of each frame; the walk has at most N frames.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    out, n_steps = np.zeros(len(weights)), np.zeros(1, dtype=np.int64)
    _along(*points.shape, points, len(weights), weights, start, frames, stop, euler, out, n_steps)
    return out[: int(n_steps[0])]


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
    places = np.zeros((len(theta), 3))
    places[0] = start
    theta, slide, roots, weights = (
        np.ascontiguousarray(x, dtype=np.float64) for x in (theta, slide, roots, weights)
    )
    _place(*theta.shape, theta, slide, roots, weights, places)
    return places[:, 0].copy(), places[:, 1:].copy()
