"""Knees: legs of an average that bend backwards, bent forwards again."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat
from motionloom.transitions.making.leg_kernel import chain_pose
from motionloom.transitions.making.mean_window import Passage
from motionloom.transitions.making.rig import Rig

__all__ = ["bend_knees"]

BACK = 0.02
"""How far behind the line from hip to ankle a knee may be, as part of the thigh: captured knees
are, a little."""


def bend_knees(rig: Rig, passage: Passage) -> Passage:
    """The passage with knees on the side where they bend; ankles stay to some millimetres.

    Windows that are bent to meet their ends can take a leg through full stretch and out at the
    other side. There the knee is mirrored to its own side, so that it comes back the way it went.
    """
    length, n_joints = len(passage.heading), len(rig.parents)
    quats = np.array(passage.local_quats)
    positions, world = np.zeros((length, n_joints, 3)), np.zeros((length, n_joints, 4))
    chain_pose(rig.parents, rig.offsets, rig.chain, passage.root_positions, quats, positions, world)
    for (hip, knee, ankle), pole in zip(rig.legs, rig.poles, strict=True):
        thigh = positions[:, knee] - positions[:, hip]
        leg = positions[:, ankle] - positions[:, hip]
        line = leg / np.maximum(np.linalg.norm(leg, axis=-1, keepdims=True), 1e-9)
        side = quat.rotate(world[:, hip], pole)
        side = side - _along(side, line) * line
        side /= np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-9)
        new = _turned_forward(thigh, line, side)
        wrong = np.flatnonzero(np.any(new != thigh, axis=-1))
        if not len(wrong):
            continue
        turn = quat.between_vectors(thigh[wrong], new[wrong])
        world_hip = quat.multiply(turn, world[wrong, hip])
        shank = quat.rotate(turn, (leg - thigh)[wrong])
        turn = quat.multiply(quat.between_vectors(shank, (leg - new)[wrong]), turn)
        world_knee = quat.multiply(turn, world[wrong, knee])
        parent = world[wrong, rig.parents[hip]]
        for joint, above, own in (
            (hip, parent, world_hip),
            (knee, world_hip, world_knee),
            (ankle, world_knee, world[wrong, ankle]),
        ):
            quats[wrong, joint] = quat.multiply(quat.conjugate(above), own)
    return Passage(passage.heading, passage.root_positions, quat.make_continuous(quats))


def _turned_forward(thigh: FloatArray, line: FloatArray, side: FloatArray) -> FloatArray:
    """Thighs (L, 3) whose knees are no farther behind the line from hip to ankle than allowed.

    Knees farther back are mirrored there. Turning them about the line instead would leave ankles
    where they are, but takes a knee round within a few frames: accelerations were three times as
    large.
    """
    out, least = _along(thigh, side), -BACK * np.linalg.norm(thigh, axis=-1, keepdims=True)
    return np.asarray(thigh + 2.0 * np.maximum(least - out, 0.0) * side)


def _along(vectors: FloatArray, direction: FloatArray) -> FloatArray:
    """Part of vectors along unit directions, (..., 1)."""
    return np.asarray(np.sum(vectors * direction, axis=-1, keepdims=True))
