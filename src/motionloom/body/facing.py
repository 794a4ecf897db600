"""Which way the body faces, frame by frame."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._elementary import arctan2, hypot
from motionloom.body.body_map import BodyMap
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Motion

LEAST_ACROSS = 0.2
"""Level part of the body's left-right axis (of length one) below which it tells no heading."""


def facing(motion: Motion, *, body: BodyMap | None = None) -> FloatArray:
    """Heading of the body in each frame, radians, unwrapped in time. Shape (F,).

    Heading 0 faces +Z and ``psi`` faces ``(sin psi, cos psi)`` in (x, z). It is taken from the line
    from right to left hip and shoulder. Where that line stands on end (lying on one side, in a
    cartwheel) the heading of the frame before is kept.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> headings = facing(synthetic.clip("walk").motion)
    >>> bool(abs(headings).max() < 0.5)
    True
    """
    if body is None:
        body = BodyMap.guess(motion.skeleton, motion=motion)
    return facing_of_positions(motion.world_positions(), body)


def facing_of_positions(positions: FloatArray, body: BodyMap) -> FloatArray:
    """The heading (F,) of joint positions in the world (F, J, 3); see :func:`facing`."""
    pairs = [
        (left, right)
        for left, right in (
            (body.left_hip, body.right_hip),
            (body.left_shoulder, body.right_shoulder),
        )
        if left is not None and right is not None
    ]
    if not pairs:
        raise SkeletonMismatchError(
            "A heading needs both hips or both shoulders; not found: left_hip, right_hip, "
            "left_shoulder, right_shoulder. Say which joints they are with "
            "body=ml.BodyMap.from_names(skeleton, {...})."
        )
    across = np.zeros((len(positions), 3))
    for left, right in pairs:
        line = positions[:, left] - positions[:, right]
        length = np.linalg.norm(line, axis=1, keepdims=True)
        across += line / np.where(length > 0.0, length, 1.0) / len(pairs)
    level = hypot(across[:, 0], across[:, 2])
    heading = arctan2(-across[:, 2], across[:, 0])  # ahead is across x up
    return np.asarray(np.unwrap(_held(heading, level >= LEAST_ACROSS)))


def _held(values: FloatArray, valid: np.ndarray) -> FloatArray:
    """``values``, each that is not valid replaced by the last valid one (at first, the next)."""
    if valid.all() or not valid.any():
        return values
    last = np.maximum.accumulate(np.where(valid, np.arange(len(values)), -1))
    return np.asarray(values[np.where(last < 0, int(np.argmax(valid)), last)])
