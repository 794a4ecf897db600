"""Frames that the core makes, and those that it is given."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import Record, record
from motionloom.tables.synthesis.synthesis import Synthesis

__all__ = ["new_frames", "record_of_frames", "synthesis_of"]


def new_frames(most: int, n_joints: int) -> Record:
    """Up to so many frames, for the core to fill."""
    return record(
        "ml_frames",
        most=most,
        n_frames=0,
        n_joints=n_joints,
        heading=np.zeros(most),
        root=np.zeros((most, 3)),
        quats=np.zeros((most, n_joints, 4)),
        planted=np.zeros((most, 4), dtype=np.bool_),
    )


def record_of_frames(made: Synthesis) -> Record:
    """Made frames as the core takes them."""
    n_frames, n_joints, _ = made.local_quats.shape
    return record(
        "ml_frames",
        most=n_frames,
        n_frames=n_frames,
        n_joints=n_joints,
        heading=made.heading,
        root=made.root_positions,
        quats=made.local_quats,
        planted=made.planted,
    )


def synthesis_of(filled: Record, errors: FloatArray) -> Synthesis:
    """What the core has filled, with its foot error and how far a held ankle missed. (2,)."""
    return Synthesis(
        filled.heading,
        filled.root,
        filled.quats,
        filled.planted,
        float(errors[0]),
        float(errors[1]),
    )
