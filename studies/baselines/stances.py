"""Stances of a gait found by where the foot is, not by how fast it moves.

A second opinion on footplants, for walks and runs that travel: a foot lands about when it is
farthest ahead of the pelvis and leaves about when it is farthest behind. It uses no speed threshold
and no floor, so the detector can be counted against it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.body.anatomy import SIDES
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.motion.motion import Motion
from studies.baselines.peaks import find_peaks, parabola_slopes

__all__ = ["find_extremes", "find_stances"]

SWING_M = 0.15
"""An extreme must stand out by this much: half a slow step, many times a sway."""
APART_S = 0.3
"""No foot lands twice within this time; the fastest runners take 0.45 s per stride."""
TRAVEL_WINDOW_S = 0.5
CUT_S = 0.15


def find_stances(
    motion: Motion, *, body: BodyMap | None = None
) -> dict[str, tuple[tuple[int, int], ...]]:
    """First and last frame of every stance of the left and the right foot.

    Parameters
    ----------
    motion
        A walk or a run whose root travels.
    body
        Roles of its joints; guessed by default.

    Returns
    -------
    dict
        For ``"left"`` and ``"right"``: pairs (farthest ahead, farthest behind). Stances that the
        ends of the clip cut are kept where at least ``CUT_S`` of them is left.
    """
    extremes = find_extremes(motion, body=body)
    return {
        side: _pair(landings, leavings, motion.n_frames, CUT_S * motion.fps)
        for side, (landings, leavings) in extremes.items()
    }


def find_extremes(
    motion: Motion, *, body: BodyMap | None = None
) -> dict[str, tuple[IntArray, IntArray]]:
    """Frames in which the left and the right foot are farthest ahead, and farthest behind.

    Parameters
    ----------
    motion
        A walk or a run whose root travels.
    body
        Roles of its joints; guessed by default.
    """
    body = roles_for(motion.skeleton, body)
    body.require("pelvis", "left_ankle", "right_ankle", task="stances")
    positions = motion.world_positions()
    assert body.pelvis is not None
    pelvis = positions[:, body.pelvis]
    travel = _travel_direction(pelvis, motion.fps)
    extremes = {}
    for side in SIDES:
        ankle = getattr(body, f"{side}_ankle")
        ahead = np.sum((positions[:, ankle] - pelvis)[:, [0, 2]] * travel, axis=-1)
        extremes[side] = (_peaks(ahead, motion.fps), _peaks(-ahead, motion.fps))
    return extremes


def _pair(
    landings: IntArray, leavings: IntArray, n_frames: int, shortest_cut: float
) -> tuple[tuple[int, int], ...]:
    """Every landing with the leaving that follows it, before the next landing."""
    spans = []
    if leavings.size and not (landings.size and landings[0] < leavings[0]):
        spans.append((0, int(leavings[0])))
    for landing, following in pairwise([*landings, n_frames]):
        between = leavings[(leavings > landing) & (leavings < following)]
        if between.size:
            spans.append((int(landing), int(between[0])))
        elif following == n_frames:
            spans.append((int(landing), n_frames - 1))
    return tuple(
        (first, last)
        for first, last in spans
        if (first > 0 and last < n_frames - 1) or last - first >= shortest_cut
    )


def _travel_direction(pelvis: FloatArray, fps: float) -> FloatArray:
    """Unit direction of the pelvis over the ground, smoothed over half a second. Shape (F, 2)."""
    width = min(int(TRAVEL_WINDOW_S * fps) | 1, (len(pelvis) - 1) | 1)
    width = width if width <= len(pelvis) else width - 2
    if width < 3:
        return np.tile([0.0, 1.0], (len(pelvis), 1))
    velocity = parabola_slopes(pelvis[:, [0, 2]], width)
    length = np.linalg.norm(velocity, axis=-1, keepdims=True)
    return np.asarray(velocity / np.maximum(length, 1e-9))


def _peaks(values: FloatArray, fps: float) -> IntArray:
    return find_peaks(values, prominence=SWING_M, distance=max(1, int(APART_S * fps)))
