"""Knees: legs of an average of windows, their flexion kept within what knees do."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.knees import MOST_FLEXION
from motionloom.rotation import quat
from motionloom.tables.synthesis.chain_kernel import chain_pose
from motionloom.tables.synthesis.mean_window import Passage
from motionloom.tables.synthesis.synthesis_rig import Rig

__all__ = ["bend_knees"]

STRAIGHT, FOLDED = np.radians(8.0), np.radians(145.0)
"""Flexion between these stays as it is. Below, it eases into full stretch, above into
:data:`MOST_FLEXION`."""
BACKWARDS = np.radians(-120.0)
"""Below this a knee is folded past half a turn."""
SEAM = 6
"""Frames from each end of a passage in which a knee takes up its limits: the ends are given."""


def bend_knees(rig: Rig, passage: Passage) -> Passage:
    """The passage with knees that bend neither backwards nor further than knees do.

    Windows that are bent to meet the ends of a gap can take a leg through full stretch, or fold it
    too far. There the flexion eases into its limit. The direction from hip to ankle and the foot's
    rotation stay.
    """
    length, n_joints = len(passage.heading), len(rig.parents)
    quats = np.array(passage.local_quats)
    positions, world = np.zeros((length, n_joints, 3)), np.zeros((length, n_joints, 4))
    chain_pose(rig.parents, rig.offsets, rig.chain, passage.root_positions, quats, positions, world)
    at = np.arange(length)
    share = np.clip(np.minimum(at, length - 1 - at) / SEAM, 0.0, 1.0)
    for (hip, knee, ankle), local_axis in zip(rig.legs, rig.axes, strict=True):
        axis = quat.rotate(world[:, hip], local_axis)
        thigh = _across(positions[:, knee] - positions[:, hip], axis)
        shank = _across(positions[:, ankle] - positions[:, knee], axis)
        flexion = np.arctan2(
            np.sum(np.cross(thigh, shank) * axis, axis=-1), np.sum(thigh * shank, axis=-1)
        )
        flexion = np.where(flexion < BACKWARDS, flexion + 2.0 * np.pi, flexion)
        wanted = flexion + share * (_limited(flexion) - flexion)
        wrong = np.flatnonzero(np.abs(wanted - flexion) > 1e-9)
        if not len(wrong):
            continue
        a, b = np.linalg.norm(thigh, axis=-1), np.linalg.norm(shank, axis=-1)
        before, after = (
            np.arctan2(b * np.sin(angle), a + b * np.cos(angle)) for angle in (flexion, wanted)
        )
        turn = quat.from_axis_angle(axis[wrong], (before - after)[wrong])
        fold = quat.from_axis_angle(axis[wrong], (before - after + wanted - flexion)[wrong])
        world_hip = quat.multiply(turn, world[wrong, hip])
        world_knee = quat.multiply(fold, world[wrong, knee])
        for joint, above, own in (
            (hip, world[wrong, rig.parents[hip]], world_hip),
            (knee, quat.multiply(turn, world[wrong, rig.parents[knee]]), world_knee),
            (
                ankle,
                quat.multiply(fold, world[wrong, rig.parents[ankle]]),
                world[wrong, ankle],
            ),
        ):
            quats[wrong, joint] = quat.multiply(quat.conjugate(above), own)
    return Passage(passage.heading, passage.root_positions, quat.make_continuous(quats))


def _limited(flexion: FloatArray) -> FloatArray:
    """Flexion that eases into 0 and :data:`MOST_FLEXION`, radians."""
    most = MOST_FLEXION - FOLDED
    low = STRAIGHT * np.exp(np.minimum(flexion - STRAIGHT, 0.0) / STRAIGHT)
    high = MOST_FLEXION - most * np.exp(-np.maximum(flexion - FOLDED, 0.0) / most)
    return np.where(flexion < STRAIGHT, low, np.where(flexion > FOLDED, high, flexion))


def _across(vectors: FloatArray, axis: FloatArray) -> FloatArray:
    """Vectors less their part along unit axes."""
    return np.asarray(vectors - np.sum(vectors * axis, axis=-1, keepdims=True) * axis)
