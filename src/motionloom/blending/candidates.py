"""Where two clips can best be joined: local minima of their distance grid, with reasons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._records import record
from motionloom.body.body_map import BodyMap
from motionloom.errors import RegistrationError
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.contacts import Footplants
from motionloom.motion.kinematics import velocities
from motionloom.motion.motion import Motion
from motionloom.registration.distance import distance_grid
from motionloom.registration.grids import GRID_RATE

FEET_WEIGHT_M = 0.05
"""What a whole window of disagreeing plants costs, as metres of pose distance."""
WINDOW_S = 0.17
"""Time over which frames are compared, seconds."""
MOVING_M_S = 0.3
"""A body is moving when its root goes faster than this."""


@dataclass(frozen=True, slots=True)
@record
class Candidate:
    """A place to go from one clip to the other, and what it costs.

    Attributes
    ----------
    frame_a, frame_b : int
        Frames of the two clips at which they are joined.
    cost : float
        Sum of the parts, metres; lower is better.
    pose : float
        Root mean square distance of the bodies over the window, metres.
    feet : float
        Part of the window in which planted feet disagree, in metres of pose distance.
    both_moving : bool
        Whether both bodies travel there; standing poses match easily.
    """

    frame_a: int
    frame_b: int
    cost: float
    pose: float
    feet: float
    both_moving: bool


def find_candidates(
    clips: tuple[Motion, Motion],
    plants: tuple[Footplants, Footplants],
    *,
    margin: int,
    count: int = 8,
    moving: bool = False,
    avoid: tuple[IntArray, IntArray] | None = None,
    body: BodyMap | None = None,
) -> tuple[Candidate, ...]:
    """The best places to leave A and enter B, best first.

    Parameters
    ----------
    clips, plants
        A and B, on one skeleton at one rate, and their plants.
    margin
        Frames that each clip must still have on both sides of the place.
    count
        How many to give at most.
    moving
        Only places where both bodies travel, where there are any.
    avoid
        Glitched frames of A and of B: no place within ``margin`` frames of one, where others are.
    body
        Which joint is which; guessed where not given.
    """
    a, b = clips
    stride = max(1, round(a.fps / GRID_RATE))
    half = max(1, round(0.5 * (WINDOW_S * a.fps / stride - 1.0)))
    among = (a.skeleton, b.skeleton)
    cloud_a, cloud_b = (point_cloud(clip, body=body, among=among) for clip in clips)
    grid = distance_grid(
        cloud_a.points[::stride], cloud_b.points[::stride], cloud_a.weights, half_window=half
    )
    pose = np.sqrt(grid.cost)
    flags = (each.planted[::stride] for each in plants)
    feet = FEET_WEIGHT_M * _disagreement(*flags, half=half)
    total = pose + feet
    rows = np.arange(total.shape[0]) * stride
    columns = np.arange(total.shape[1]) * stride
    inside_a = (rows >= margin) & (rows <= a.n_frames - 1 - margin)
    inside_b = (columns >= margin) & (columns <= b.n_frames - 1 - margin)
    allowed = inside_a[:, None] & inside_b[None, :]
    if not allowed.any():
        raise RegistrationError(
            f"Clips must have {margin} frames on both sides of a transition; they have "
            f"{a.n_frames} and {b.n_frames} in all. Use a shorter `length_s` or longer clips."
        )
    travel = _moving(a)[::stride][:, None] & _moving(b)[::stride][None, :]
    if moving and (allowed & travel).any():
        allowed &= travel
    if avoid is not None:
        clear = _clear(rows, avoid[0], margin)[:, None] & _clear(columns, avoid[1], margin)[None, :]
        if (allowed & clear).any():
            allowed &= clear
    cells = _minima(total, allowed, count)
    return tuple(
        Candidate(
            int(rows[i]),
            int(columns[j]),
            float(total[i, j]),
            float(pose[i, j]),
            float(feet[i, j]),
            bool(travel[i, j]),
        )
        for i, j in cells
    )


def _clear(frames: IntArray, glitches: IntArray, margin: int) -> BoolArray:
    """Which frames have no glitch within ``margin`` frames. (N,)."""
    if not len(glitches):
        return np.ones(len(frames), dtype=bool)
    return np.asarray(np.abs(frames[:, None] - glitches[None, :]).min(axis=1) > margin)


def _moving(motion: Motion) -> BoolArray:
    speed = np.linalg.norm(velocities(motion.root_positions, motion.fps)[:, [0, 2]], axis=-1)
    width = max(1, round(min(0.3 * motion.fps, motion.n_frames)))
    return np.asarray(np.convolve(speed, np.ones(width) / width, mode="same") > MOVING_M_S)


def _disagreement(a: BoolArray, b: BoolArray, *, half: int) -> FloatArray:
    """Part of plant flags that differ, mean over windows. (n, m)."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    differ = (x @ (1.0 - y).T + (1.0 - x) @ y.T) / x.shape[1]
    padded = np.pad(differ, half, mode="edge")
    n, m = differ.shape
    total = np.zeros_like(differ)
    for d in range(2 * half + 1):
        total += padded[d : d + n, d : d + m]
    return np.asarray(total / (2 * half + 1))


def _minima(total: FloatArray, allowed: BoolArray, count: int) -> list[tuple[int, int]]:
    """Cells not above any neighbour, best first; the best allowed one always among them."""
    cost = np.where(allowed, total, np.inf)
    padded = np.pad(cost, 1, constant_values=np.inf)
    n, m = cost.shape
    lowest = np.isfinite(cost)
    for di in (0, 1, 2):
        for dj in (0, 1, 2):
            if (di, dj) != (1, 1):
                lowest &= cost <= padded[di : di + n, dj : dj + m]
    cells = np.argwhere(lowest)
    order = np.argsort(cost[tuple(cells.T)], kind="stable")[:count]
    return [(int(i), int(j)) for i, j in cells[order]]
