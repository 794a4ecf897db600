"""Labels: which foot points are labelled as planted, by where they are in the end."""

from __future__ import annotations

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel

__all__ = ["keep_true_labels"]

_keep = kernel("ml_label_keep")


def keep_true_labels(points: FloatArray, fps: float, planted: BoolArray) -> None:
    """Remove labels (L, P) of foot points (L, P, 3) in frames in which they move.

    Legs do not always reach where a foot should be held, a foot held by its ball turns about it,
    and clips move points that they label as planted.
    """
    _keep(*planted.shape, points, fps, planted)
