"""Poses of a recipe by weighted means of joint rotations, which its results are near."""

from __future__ import annotations

import numpy as np

from motionloom.blending.evaluate import mix_poses
from motionloom.motion.motion import forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.paper.pose_forms import SeenPose
from motionloom.tables.score.recipe import Recipe, rows_at


def mean_of_rotations(frames: Frames, recipe: Recipe) -> SeenPose:
    """Poses by weighted means of joint rotations (Park, Shin and Shin 2002), to compare with."""
    at = rows_at(frames, recipe)
    weights = np.ascontiguousarray(recipe.weights().T)
    n_frames = len(at)
    picked = frames.quats[at.T].reshape(-1, frames.skeleton.n_joints, 4).astype(np.float64)
    quats, _ = mix_poses(
        quat.normalize(picked),
        np.arange(recipe.n_ways + 1) * n_frames,
        np.repeat(np.arange(n_frames, dtype=np.float64)[:, None], recipe.n_ways, axis=1),
        weights,
        np.zeros(at.shape),
    )
    quats = quat.make_continuous(quats)
    root = np.zeros((len(at), 3))
    root[:, 1] = np.sum(weights * frames.body[at, 0, 1], axis=1)
    return SeenPose(forward_kinematics(frames.skeleton, root, quats)[0], quats)
