"""Synthesis: a recipe made into frames, feet and all, in one compiled call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.transitions.collecting.frames import Frames
from motionloom.transitions.collecting.pace import pace_of
from motionloom.transitions.making.blend_kernel import blend_rotations, blend_track
from motionloom.transitions.making.chain_kernel import chain_pose, sole_points
from motionloom.transitions.making.footing import choose_plants
from motionloom.transitions.making.labels import keep_true_labels
from motionloom.transitions.making.leg_kernel import follow_feet, leg_ways, lower_root
from motionloom.transitions.making.recipe import Recipe, rows_at
from motionloom.transitions.making.rig import Rig, Rows, rig_of, rows_of
from motionloom.transitions.making.swing import clear_ground, run_offsets

__all__ = ["Synthesis", "fastest_of", "make_frames", "synthesize"]


class Synthesis(NamedTuple):
    """Frames made of a recipe, where its source window stands."""

    heading: FloatArray
    """Radians. (L,)"""
    root_positions: FloatArray
    """Metres. (L, 3)"""
    local_quats: FloatArray
    """(L, J, 4)"""
    planted: BoolArray
    """Left heel, left ball, right heel, right ball. (L, 4)"""
    foot_error: float
    """Mean distance of the blend's feet from where they are held, before they were, metres."""
    missed: float
    """Farthest that a held ankle could not reach, metres."""

    def motion(self, frames: Frames, *, name: str = "") -> Motion:
        """As a motion."""
        return Motion(frames.skeleton, self.root_positions, self.local_quats, frames.fps, name=name)

    def footplants(self) -> Footplants:
        """As footplants."""
        return Footplants(self.planted)


def synthesize(
    frames: Frames, recipe: Recipe, *, rig: Rig | None = None, feet: bool = True
) -> Synthesis:
    """The frames of a recipe: blended, then with its feet held where they stand.

    The first frame is the source window's first, the last one the target window's last, both to
    round-off; the target's clip goes on from there.

    Parameters
    ----------
    frames, recipe
        What to blend.
    rig
        Of the same frames; worked out where not given, which takes longer than the synthesis.
    feet
        Hold planted feet; without it the blend comes out as it is.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.transitions.collecting.frames import frames_of
    >>> frames = frames_of([synthetic.clip("walk").motion, synthetic.clip("run").motion])
    >>> made = synthesize(frames, Recipe((0, frames.row_of("run", 5)), 20))
    >>> made.local_quats.shape[0]
    20
    """
    rig = rig_of(frames) if rig is None else rig
    speed = max(float(pace_of(frames, frames.clip_at(row))[0]) for row in recipe.rows)
    at = rows_at(frames, recipe)
    return make_frames(rows_of(frames), rig, at, recipe.weights(), frames.fps, speed, feet=feet)


def make_frames(
    rows: Rows,
    rig: Rig,
    at: IntArray,
    weights: FloatArray,
    fps: float,
    speed: float,
    *,
    feet: bool = True,
) -> Synthesis:
    """As :func:`synthesize`, of row numbers (L, N) and weights (N, L), which are not checked.

    ``speed`` is the fastest joint of the clips, m/s: no foot is made to step faster.
    """
    n_frames, n_joints = len(at), len(rig.parents)
    psi, root = np.zeros(n_frames), np.zeros((n_frames, 3))
    quats = np.zeros((n_frames, n_joints, 4))
    planted = np.zeros((n_frames, 4), dtype=np.bool_)
    foot_error, missed = _make(
        rows, rig, fps, at, weights, feet, speed, psi, root, quats, planted,
    )  # fmt: skip
    return Synthesis(psi, root, quats, planted, foot_error, missed)


@njit(cache=True, error_model="numpy")
def _make(
    rows: Rows,
    rig: Rig,
    fps: float,
    at: IntArray,
    weights: FloatArray,
    feet: bool,
    speed: float,
    psi: FloatArray,
    root: FloatArray,
    quats: FloatArray,
    planted: BoolArray,
) -> tuple[float, float]:
    n_frames, n_joints = quats.shape[0], quats.shape[1]
    blend_track(rows.heading, rows.ground, rows.body, at, weights, psi, root)
    blend_rotations(rows.quats, at, weights, psi, quats)
    positions, world = np.zeros((n_frames, n_joints, 3)), np.zeros((n_frames, n_joints, 4))
    foot_error, missed = 0.0, 0.0
    points = np.zeros((n_frames, 4, 3))
    if feet:
        chain_pose(rig.parents, rig.offsets, rig.chain, root, quats, positions, world)
        soles = np.zeros((2, 2, n_frames, 3))
        sole_points(rig.legs, rig.soles, positions, world, points)
        for t in range(n_frames):
            for k in range(4):
                for c in range(3):
                    soles[k // 2, k % 2, t, c] = points[t, k, c]
        held, places = np.zeros((2, n_frames), np.int64), np.zeros((2, n_frames, 3))
        ways, reaches = np.zeros((2, n_frames, 3)), np.zeros(2)
        leg_ways(rig.legs, positions, ways, reaches)
        foot_error = choose_plants(
            rows, at, psi, root, soles, ways, reaches, fps, speed, held, places,
            planted,
        )  # fmt: skip
        shifts, drops = np.zeros((2, n_frames, 3)), np.zeros(n_frames)
        tilts = np.zeros((2, n_frames))
        for side in range(2):
            run_offsets(held[side], places[side], soles[side, 1], shifts[side])
            clear_ground(
                rows, side, at, weights, held[side], soles[side, 0], soles[side, 1], fps,
                shifts[side], tilts[side],
            )  # fmt: skip
        lower_root(positions, rig.legs, held, shifts, drops)
        for side in range(2):
            missed = max(
                missed,
                follow_feet(
                    rig.parents, rig.legs[side], rig.soles[side], rig.poles[side],
                    held[side], shifts[side], tilts[side], drops, positions, world, quats,
                ),
            )  # fmt: skip
        for t in range(n_frames):
            root[t, 1] -= drops[t]
        # Labels are true of the pose as it came out.
        chain_pose(rig.parents, rig.offsets, rig.chain, root, quats, positions, world)
        sole_points(rig.legs, rig.soles, positions, world, points)
        keep_true_labels(points, fps, planted)
    return foot_error, missed


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def fastest_of(
    parents: IntArray,
    offsets: FloatArray,
    root: FloatArray,
    quats: FloatArray,
    fps: float,
    positions: FloatArray,
    world: FloatArray,
    fastest: FloatArray,
) -> None:
    """Largest joint speed, joint turn and ground speed, as ``verify`` measures them. (3,)."""
    chain_pose(parents, offsets, np.arange(len(parents)), root, quats, positions, world)
    step, travel, least = 0.0, 0.0, 1.0
    for t in range(1, len(root)):
        for j in range(len(parents)):
            x = positions[t, j, 0] - positions[t - 1, j, 0]
            y = positions[t, j, 1] - positions[t - 1, j, 1]
            z = positions[t, j, 2] - positions[t - 1, j, 2]
            step = max(step, x * x + y * y + z * z)
            dot = 0.0
            for c in range(4):
                dot += quats[t, j, c] * quats[t - 1, j, c]
            least = min(least, abs(dot))
            if j == 0:
                travel = max(travel, x * x + z * z)
    fastest[0] = fps * np.sqrt(step)
    fastest[1] = fps * 2.0 * np.arccos(min(least, 1.0))
    fastest[2] = fps * np.sqrt(travel)
