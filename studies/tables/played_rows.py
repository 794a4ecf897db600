"""Captured rows of a collection as frames: where their clip has them, or going on from others."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.synthesis.synthesis import Synthesis

UP = np.array([0.0, 1.0, 0.0])


def captured_rows(frames: Frames, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Root (n, 3) and local rotations (n, J, 4) of rows, where their clip has them."""
    quats = quat.normalize(frames.quats[rows].astype(np.float64))
    quats[:, 0] = quat.multiply(quat.from_axis_angle(UP, frames.heading[rows]), quats[:, 0])
    ground = frames.ground[rows]
    return np.stack([ground[:, 0], frames.body[rows, 0, 1], ground[:, 1]], axis=1), quats


def carried_rows(
    frames: Frames, rows: IntArray, synthesis: Synthesis
) -> tuple[FloatArray, FloatArray]:
    """Rows that follow the target window, moved rigidly to go on from where the blend ends."""
    root, quats = captured_rows(frames, rows)
    if not len(rows):
        return root, quats
    last = rows[0] - 1
    turn = float(synthesis.heading[-1] - frames.heading[last])
    cos, sin = np.cos(turn), np.sin(turn)
    x, z = (frames.ground[rows] - frames.ground[last]).T
    root[:, 0] = synthesis.root_positions[-1, 0] + cos * x + sin * z
    root[:, 2] = synthesis.root_positions[-1, 2] + cos * z - sin * x
    quats[:, 0] = quat.multiply(quat.from_axis_angle(UP, np.array(turn)), quats[:, 0])
    return root, quats
