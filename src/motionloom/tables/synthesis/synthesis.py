"""Synthesis: a recipe made into frames, feet and all, in one call of the core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.tables.collection.frames import Frames
from motionloom.tables.collection.joint_speeds import pace_of
from motionloom.tables.synthesis.recipe import Recipe, rows_at
from motionloom.tables.synthesis.synthesis_rig import Rig, Rows, rig_of, rows_of

__all__ = ["Synthesis", "fastest_of", "make_frames", "synthesize"]

_make = kernel("ml_synthesis_make")
_pace = kernel("ml_chain_pace")
SCRATCH = 57
"""Numbers a frame that the synthesis works with, and seven a joint."""


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
    >>> from motionloom.tables.collection.frames import frames_of
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
    (n_frames, n_ways), n_joints = at.shape, len(rig.parents)
    psi, root = np.zeros(n_frames), np.zeros((n_frames, 3))
    quats = np.zeros((n_frames, n_joints, 4))
    planted = np.zeros((n_frames, 4), dtype=np.bool_)
    scratch, held = np.zeros((7 * n_joints + SCRATCH, n_frames)), np.zeros((2, n_frames), np.int64)
    errors = np.zeros(2)
    _make(
        rows.record, rig.record, n_frames, n_ways, at, weights, fps, speed, int(feet),
        scratch, held, psi, root, quats, planted, errors,
    )  # fmt: skip
    return Synthesis(psi, root, quats, planted, float(errors[0]), float(errors[1]))


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
    root, quats = np.ascontiguousarray(root), np.ascontiguousarray(quats)
    _pace(len(root), len(parents), parents, offsets, root, quats, fps, positions, world, fastest)
