"""Channels of motion files: rotations out of rows, and back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import euler, quat
from tests.oracles.quat import multiply


def poses(rows: FloatArray, channels: Sequence[Sequence[tuple[int, int]]]) -> FloatArray:
    """Rotations (F, J, 4) of rows in degrees; of every joint the kinds and columns of channels."""
    q = np.tile(quat.IDENTITY, (len(rows), len(channels), 1))
    for joint, own in enumerate(channels):
        for kind, column in own:
            if kind >= 3:
                turn = quat.from_axis_angle(np.eye(3)[kind - 3], np.radians(rows[:, column]))
                q[:, joint] = multiply(q[:, joint], turn)
    return quat.make_continuous(q)


def angles(q: FloatArray, order: str, n_written: int) -> FloatArray:
    """Euler angles (F, 3) of one joint in degrees, as near to the frame before as can be.

    Of every frame both solutions with every whole turn about are tried. Angles that are not
    written count ten times, so that they stay near zero.
    """
    weights = np.where(np.arange(3) < n_written, 1.0, 10.0)
    turns = 2.0 * np.pi * np.array(list(itertools.product(range(-2, 3), repeat=3)))
    last, out = np.zeros(3), np.zeros((len(q), 3))
    for frame, (first, middle, third) in enumerate(euler.quat_to_euler(q, order)):
        mirrored = -middle if order[0] == order[2] else np.pi - middle
        here = np.array([first, middle, third])
        there = np.array([first + np.pi, mirrored, third + np.pi])
        tried = np.concatenate([turns + here, turns + there])
        last = tried[np.argmin(np.abs(tried - last) @ weights)]
        out[frame] = last
    return np.degrees(out)
