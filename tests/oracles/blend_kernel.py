"""Rotations and track of a blend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.recipe import Recipe, rows_at
from motionloom.tables.synthesis.synthesis import Rows
from tests.oracles.quat import multiply


def blend_rotations(rows: Rows, at: IntArray, weights: FloatArray, psi: FloatArray) -> FloatArray:
    """Local rotations (L, J, 4) of windows (L, N) weighed (N, L), the root turned to a heading."""
    q = np.array(rows.quats[at])  # (L, N, J, 4)
    mixed = np.zeros_like(q[:, 0])
    for i in range(at.shape[1]):
        if i > 0:
            share = (weights[i, ::4] * weights[i - 1, ::4] + 1e-6).astype(np.float32)
            like = np.einsum("t,tjc,tjc->j", share, q[::4, i], q[::4, i - 1])
            q[:, i] *= np.where(like >= 0.0, 1.0, -1.0).astype(np.float32)[:, None]
        mixed += weights[i].astype(np.float32)[:, None, None] * q[:, i]
    none = np.sum(mixed**2, axis=-1) < 1e-9
    mixed[none] = q[:, 0][none]
    out = quat.normalize(mixed.astype(np.float64))
    zero = np.zeros(len(psi))
    turn = np.stack([np.cos(0.5 * psi), zero, np.sin(0.5 * psi), zero], axis=-1)
    out[:, 0] = multiply(turn, out[:, 0])
    return out


class Track(NamedTuple):
    """Where a blended body is and faces."""

    heading: FloatArray
    """Radians. (L,)"""
    ground: FloatArray
    """Root over the ground, x and z, metres. (L, 2)"""
    height: FloatArray
    """Root, metres. (L,)"""


def track_of(frames: Frames, recipe: Recipe) -> Track:
    """Heading, ground and height of a blend, from where its source window starts.

    Steps of heading and of the root, each seen from its own body, are averaged by the weights and
    walked ([I7]_ section 3; headings are ours, since clips face different ways). One clip alone
    comes out as it is, and where the others were captured does not matter.
    """
    at = rows_at(frames, recipe)
    weights = recipe.weights().T  # (L, N)
    turns = np.diff(frames.heading[at], axis=0)  # (L - 1, N)
    heading = frames.heading[at[0, 0]] + _walked(np.sum(weights[1:] * turns, axis=1))
    steps = np.diff(frames.ground[at], axis=0)  # (L - 1, N, 2)
    seen = _turned(steps, -frames.heading[at[:-1]])
    step = np.sum(weights[1:, :, None] * seen, axis=1)
    ground = frames.ground[at[0, 0]] + _walked(_turned(step, heading[:-1]))
    height = np.sum(weights * frames.body[at, 0, 1], axis=1)
    return Track(heading, ground, height)


def _walked(steps: FloatArray) -> FloatArray:
    return np.concatenate([np.zeros((1, *steps.shape[1:])), np.cumsum(steps, axis=0)])


def _turned(ground: FloatArray, angle: FloatArray) -> FloatArray:
    """(x, z) turned about +Y: positive angles carry +Z towards +X."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = ground[..., 0], ground[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)
