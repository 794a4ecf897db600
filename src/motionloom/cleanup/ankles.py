"""Ankle targets: how a foot is turned and shifted so that its held points stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.cleanup.foot import Foot

__all__ = ["AnkleTarget", "place_ankle"]

_place = kernel("ml_foot_place")


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


def place_ankle(
    foot: Foot, reach: FloatArray, ground: FloatArray, *, length: float, stop: float, roll: bool
) -> AnkleTarget:
    """Turn and shift of the foot that bring its held points onto their places.

    Where heel and ball are both held, the foot takes the shortest turn that lays it along its two
    places. Where only the ball is, and the ankle would be farther from the hip than ``reach``, the
    foot rolls on over the ball, as a foot does that is left behind. A heel or ball whose other end
    is held stays above the ground. Everything runs out smoothly in the frames around.

    Parameters
    ----------
    foot
        F frames.
    reach : (F,)
        How far from the hip the ankle may be, metres.
    ground : (F, 2)
        Height of the ground under heel and ball, metres.
    length, stop
        Frames over which offsets run out, and over which their slopes do.
    roll
        Whether the foot may roll over the ball.
    """
    n = len(foot.hip)
    target = AnkleTarget(
        np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 3)), np.zeros(n), np.zeros((n, 2, 3))
    )
    _place(
        n,
        foot.hip,
        foot.ankle,
        foot.heel,
        foot.ball,
        np.ascontiguousarray(foot.held),
        np.ascontiguousarray(foot.places),
        np.ascontiguousarray(reach),
        np.ascontiguousarray(np.broadcast_to(ground, (n, 2))),
        float(length),
        float(stop),
        roll,
        np.zeros((2, n), dtype=np.uint8),
        np.zeros((6, n)),
        target.q_foot,
        target.q_toes,
        target.shift,
        target.roll,
        target.levers,
    )
    return target
