"""The up axis of a file, detected from which way the body stands over its feet."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.findings import Finding
from motionloom.intake.axes import UP_AXES

_NEAR = np.cos(np.radians(40.0))
"""A body counts as standing along an axis when it is within this angle of it."""
_CUSTOMARY_SHARE = 0.15
"""Standing along +Y for this share of the frames settles it: who lies down also stands up."""
_CLEAR_SHARE = 0.6


def detect_up(positions: FloatArray, body: BodyMap) -> tuple[str, Finding]:
    """The axis along which the body stands in most frames, and the finding that says so.

    +Y, the custom, wins unless the body hardly ever stands along it and clearly stands along
    another axis: someone who crawls through a whole clip must not be set on their feet.

    Parameters
    ----------
    positions : (F, J, 3)
        Joints in the file's axes, some frames of the clip.
    body
        Which joint is which.
    """
    top = next((j for j in (body.head, body.neck, *reversed(body.spine)) if j is not None), None)
    feet = [j for j in (body.left_ankle, body.right_ankle) if j is not None]
    if not feet:
        feet = [j for j in (body.left_knee, body.right_knee) if j is not None]
    if top is None or not feet:
        return "y", Finding(
            "note",
            "up axis",
            "y is assumed: no body was recognised that shows it.",
            'Pass up= (such as up="z") if that is wrong.',
        )
    along = positions[:, top] - positions[:, feet].mean(axis=1)  # (F, 3)
    length = np.linalg.norm(along, axis=1, keepdims=True)
    along = along / np.where(length > 0.0, length, 1.0)
    shares = {up: float(np.mean(along @ _axis(up) > _NEAR)) for up in UP_AXES}
    best = max(shares, key=lambda up: shares[up])
    if best != "y" and shares["y"] < _CUSTOMARY_SHARE and shares[best] >= _CLEAR_SHARE:
        return best, Finding(
            "note",
            "up axis",
            f"{best}, by how the body stands in {shares[best]:.0%} of the frames; turned to y up.",
            'Pass up="y" to leave it as it is.',
        )
    return "y", Finding(
        "note", "up axis", f"y; the body stands along it in {shares['y']:.0%} of the frames."
    )


def _axis(up: str) -> FloatArray:
    axis = np.zeros(3)
    axis["xyz".index(up[-1])] = -1.0 if up.startswith("-") else 1.0
    return axis
