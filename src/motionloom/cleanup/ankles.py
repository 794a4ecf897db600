"""Ankle targets: how a foot is turned and shifted so that its held points stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class AnkleTarget:
    """What is done to one foot in every frame."""

    q_foot: FloatArray
    """Turn of the whole foot in the world. Shape (F, 4)."""
    q_toes: FloatArray
    """Turn of the toes in the world: that of the foot without its roll about the ball. (F, 4)"""
    shift: FloatArray
    """Way of the ankle, metres. Shape (F, 3)."""
    roll: FloatArray
    """Turn about the ball until the ankle is in reach, heel up, radians. Shape (F,)."""
    levers: FloatArray
    """From the ankle to heel and ball, turned, metres. Shape (F, 2, 3)."""


def no_target(n: int) -> AnkleTarget:
    """Zeros for so many frames."""
    return AnkleTarget(
        np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 3)), np.zeros(n), np.zeros((n, 2, 3))
    )
