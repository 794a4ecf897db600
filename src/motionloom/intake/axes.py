"""Axes: detect the up axis of a file, and turn whole clips from it to Y up and back, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.findings import Finding
from motionloom.motion.motion import Motion, Skeleton

# For every up axis of a file: which file component, with which sign, becomes our x, y and z.
# All are proper turns, so nothing is mirrored, and all keep as many axes in place as they can.
_COMPONENTS: dict[str, tuple[tuple[int, int, int], tuple[float, float, float]]] = {
    "y": ((0, 1, 2), (1.0, 1.0, 1.0)),
    "z": ((0, 2, 1), (1.0, 1.0, -1.0)),
    "x": ((1, 0, 2), (-1.0, 1.0, 1.0)),
    "-y": ((0, 1, 2), (-1.0, -1.0, 1.0)),
    "-z": ((0, 2, 1), (1.0, -1.0, 1.0)),
    "-x": ((1, 0, 2), (1.0, -1.0, 1.0)),
}
UP_AXES = tuple(_COMPONENTS)
"""Up axes that a file can have, the usual one first."""
_NEAR = np.cos(np.radians(40.0))
"""A body counts as standing along an axis when it is within this angle of it."""
_CUSTOMARY_SHARE = 0.15
"""Standing along +Y for this share of the frames settles it: bodies that lie down also stand up."""
_CLEAR_SHARE = 0.6


def checked_up(up: str) -> str:
    """``up`` in the form that :attr:`Source.up` has: ``"Z"`` and ``"+z"`` become ``"z"``."""
    axis = up.strip().lower().removeprefix("+") if isinstance(up, str) else ""
    if axis not in _COMPONENTS:
        raise ArrayError(f"`up` must be one of {', '.join(UP_AXES)}, got {up!r}.")
    return axis


def to_world(motion: Motion, *, up: str, unit_m: float) -> Motion:
    """A motion in a file's axes and unit, brought to Y up and metres.

    Every frame of every joint is turned along with the world (rotations are conjugated), so that
    components only change places and signs: :func:`from_world` gives back the same numbers.

    Examples
    --------
    >>> bone = Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 0, 50]])
    >>> z_up = Motion(bone, np.zeros((1, 3)), np.array([[[1.0, 0, 0, 0]] * 2]), fps=30)
    >>> to_world(z_up, up="z", unit_m=0.01).world_positions()[0, 1].tolist()
    [0.0, 0.5, 0.0]
    """
    return _converted(motion, _Change(*_COMPONENTS[up], unit_m))


def skeleton_to_world(skeleton: Skeleton, *, up: str, unit_m: float) -> Skeleton:
    """A skeleton in a file's axes and unit, brought to Y up and metres."""
    change = _Change(*_COMPONENTS[up], unit_m)
    if change.keeps_axes and unit_m == 1.0:
        return skeleton
    return _converted_skeleton(skeleton, change)


def from_world(motion: Motion, *, up: str, unit_m: float) -> Motion:
    """A motion in Y up and metres, put into a file's axes and unit."""
    order, sign = _COMPONENTS[up]
    # The inverse of "take component order[i] with sign[i]". All these orders swap at most two
    # components, so each is its own inverse; only the signs travel.
    back = (sign[order[0]], sign[order[1]], sign[order[2]])
    return _converted(motion, _Change(order, back, unit_m, divide=True))


def turn_to_world(up: str) -> FloatArray:
    """The matrix (3, 3) that brings a file's axes to Y up."""
    order, sign = _COMPONENTS[up]
    return np.asarray(np.eye(3)[list(order)] * np.array(sign)[:, None])


def turn_from_world(up: str) -> FloatArray:
    """The matrix (3, 3) that brings Y up to a file's axes."""
    return turn_to_world(up).T


@dataclass(frozen=True, slots=True)
class _Change:
    order: tuple[int, int, int]
    sign: tuple[float, float, float]
    unit_m: float
    divide: bool = False

    @property
    def keeps_axes(self) -> bool:
        return self.order == (0, 1, 2) and self.sign == (1.0, 1.0, 1.0)

    def lengths(self, values: FloatArray) -> FloatArray:
        turned = values if self.keeps_axes else values[..., self.order] * self.sign
        # Dividing undoes multiplying to the last bit or nearly so; by the reciprocal it would not.
        return turned / self.unit_m if self.divide else turned * self.unit_m

    def turns(self, quats: FloatArray) -> FloatArray:
        if self.keeps_axes:
            return quats
        turned = np.zeros_like(quats)
        turned[..., 0] = quats[..., 0]
        for to, (component, sign) in enumerate(zip(self.order, self.sign, strict=True), start=1):
            turned[..., to] = quats[..., 1 + component] * sign
        return turned


def _converted_skeleton(skeleton: Skeleton, change: _Change) -> Skeleton:
    return Skeleton(
        skeleton.names,
        skeleton.parents,
        change.lengths(skeleton.offsets),
        change.turns(skeleton.rest_quats),
        skeleton.end_parents,
        change.lengths(skeleton.end_offsets),
    )


def _converted(motion: Motion, change: _Change) -> Motion:
    if change.keeps_axes and change.unit_m == 1.0:
        return motion
    arrays = {"root_positions": change.lengths(motion.root_positions)}
    if motion.joint_translations is not None:
        arrays["joint_translations"] = change.lengths(motion.joint_translations)
    if not change.keeps_axes:
        arrays["local_quats"] = change.turns(motion.local_quats)
    for array in arrays.values():
        # No other object holds these arrays, so the new Motion may take them without a copy.
        array.flags.writeable = False
    return motion.replace(skeleton=_converted_skeleton(motion.skeleton, change), **arrays)


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
