"""BodySeries: motions of any skeleton as series of the same joints, for those that compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline
from scipy.signal import butter, filtfilt

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap, facing_of_positions
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["JOINTS", "MIRROR", "BodySeries"]

PAIRS = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")
JOINTS = ("pelvis", "chest", "head", *(f"{side}_{p}" for p in PAIRS for side in ("left", "right")))
"""Joints that are looked at: those that every human skeleton has."""
MIRROR = np.array(
    [JOINTS.index(_swapped) for _swapped in (
        name.replace("left_", "right_") if name.startswith("left_")
        else name.replace("right_", "left_") for name in JOINTS)]
)  # fmt: skip
"""The joint that each becomes in a mirror."""
FPS = 60.0
LEG_M = 0.85
"""Lengths are scaled to a body with legs (hip to ankle) of an adult."""
GRID_M = 1e-5
"""Positions are rounded to this: how a motion was stored leaves no trace."""
ORDER, FILTERED_M = 4, 1e-4
"""Of the filter, and what filtered positions are rounded to: the traces that faster parts leave
behind a filter are lost in it."""
GRID_RAD = 1e-4
"""The same for turns from frame to frame."""
COLUMNS = ("joints", "velocities", "accelerations", "spins", "turns")
STEADY_S = 0.2
"""Headings are means over this long."""


@dataclass(frozen=True, slots=True, eq=False)
class BodySeries:
    """Motions of one length: n windows of T frames, seen from the body in every frame.

    All numbers come from positions of joints in the world and their rotation speeds, so that
    captured and synthesized motions go through the same steps, whatever they were made with.
    """

    joints: npt.NDArray[np.float32]
    """Over the ground under the pelvis, as the body faces; heights above the lowest foot of the
    context. Metres of an adult. (n, T, 17, 3)"""
    velocities: npt.NDArray[np.float32]
    """In the world, turned as the body faces, m/s. (n, T, 17, 3)"""
    accelerations: npt.NDArray[np.float32]
    """The same of accelerations, m/s2. (n, T, 17, 3)"""
    spins: npt.NDArray[np.float32]
    """Rotation speed of each joint in the world, rad/s. (n, T, 17)"""
    turns: npt.NDArray[np.float32]
    """Speed of the heading, rad/s. (n, T)"""
    context: int
    """Frames at the start, and as many at the end, that are captured in every window."""
    below_hz: float | None = None
    """What is faster was filtered out."""

    def __len__(self) -> int:
        return len(self.joints)

    @classmethod
    def of_motions(
        cls,
        motions: Sequence[Motion],
        *,
        context_s: float = 0.0,
        below_hz: float | None = None,
        bodies: Sequence[BodyMap | None] | None = None,
    ) -> BodySeries:
        """Motions of one duration, of any skeletons and rates.

        Parameters
        ----------
        motions
            At least one, of 0.2 s and more.
        context_s
            Seconds at both ends that are the same captured frames in all classes.
        below_hz
            Frequencies above this are filtered out: what is left is movement, without the noise
            of the capture.
        bodies
            Roles of the joints of each motion; guessed by default.
        """
        if not motions:
            raise ArrayError("`motions` must hold at least one motion, got none.")
        given = [None] * len(motions) if bodies is None else bodies
        context = round(context_s * FPS)
        parts = [_one(m, b, context, below_hz) for m, b in zip(motions, given, strict=True)]
        lengths = {len(part[0]) for part in parts}
        if len(lengths) > 1:
            raise ArrayError(
                f"`motions` must have one duration, got {sorted(lengths)} frames at {FPS:g} Hz."
            )
        joints, velocities, accelerations, spins, turns = (
            np.stack(column).astype(np.float32) for column in zip(*parts, strict=True)
        )
        return cls(joints, velocities, accelerations, spins, turns, context, below_hz)

    def take(self, which: npt.ArrayLike) -> BodySeries:
        """Some of the windows, by numbers or flags."""
        at = np.asarray(which)
        joints, velocities, accelerations, spins, turns = (
            getattr(self, name)[at] for name in COLUMNS
        )
        return BodySeries(
            joints, velocities, accelerations, spins, turns, self.context, self.below_hz
        )

    @classmethod
    def joined(cls, parts: Sequence[BodySeries]) -> BodySeries:
        """Windows of several, in order."""
        kinds = {(part.context, part.below_hz) for part in parts}
        if len(kinds) != 1:
            raise ArrayError(f"Parts must have one context and one filter, got {len(kinds)}.")
        joints, velocities, accelerations, spins, turns = (
            np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS
        )
        return cls(joints, velocities, accelerations, spins, turns, *kinds.pop())


def role_joints(body: BodyMap) -> list[int]:
    """Numbers of :data:`JOINTS` in a skeleton."""
    chest = body.spine[-1] if body.spine else body.neck
    numbers = [body.pelvis, chest, body.head if body.head is not None else body.neck]
    numbers += [getattr(body, name) for name in JOINTS[3:]]
    missing = [name for name, k in zip(JOINTS, numbers, strict=True) if k is None]
    if missing:
        raise SkeletonMismatchError(
            f"A skeleton must have all of {', '.join(JOINTS)}; not found: {', '.join(missing)}. "
            "Say which joints they are with `bodies`."
        )
    return [int(k) for k in numbers if k is not None]


def _one(
    motion: Motion, body: BodyMap | None, context: int, below_hz: float | None
) -> tuple[FloatArray, ...]:
    """Joints, velocities, accelerations, spins and turns of one motion."""
    body = BodyMap.guess(motion.skeleton, motion=motion) if body is None else body
    at = role_joints(body)
    positions, world = (np.asarray(part) for part in motion.world_pose())
    world = quat.make_continuous(world[:, at])
    if below_hz is not None:
        positions = _filtered(positions, below_hz, motion.fps)
        world = quat.normalize(_filtered(world, below_hz, motion.fps))
    lengths = np.linalg.norm(motion.skeleton.offsets, axis=1)
    scale = LEG_M / max(float(lengths[body.left_knee] + lengths[body.left_ankle]), 1e-6)
    heading = np.unwrap(facing_of_positions(positions, body))
    spins = _spins(world, motion.fps)
    points, heading, spins = _at_rate(scale * positions[:, at], heading, spins, motion.fps)
    grid = GRID_M if below_hz is None else FILTERED_M
    points = np.round(points / grid) * grid
    heading = _mean_over(heading, round(STEADY_S * FPS) | 1)
    roles = (
        np.r_[: context + 1, len(points) - context - 1 : len(points)] if context else slice(None)
    )
    toes = [JOINTS.index("left_toe"), JOINTS.index("right_toe")]
    floor = float(points[roles][:, toes, 1].min())
    velocities = np.gradient(points, axis=0) * FPS
    accelerations = np.zeros_like(points)
    accelerations[1:-1] = np.diff(points, n=2, axis=0) * FPS**2
    accelerations[[0, -1]] = accelerations[[1, -2]]
    seen = points - points[:, :1] * np.array([1.0, 0.0, 1.0]) - np.array([0.0, floor, 0.0])
    back = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -heading)[:, None]
    return (
        quat.rotate(back, seen),
        quat.rotate(back, velocities),
        quat.rotate(back, accelerations),
        spins,
        np.gradient(heading) * FPS,
    )


def _spins(world: FloatArray, fps: float) -> FloatArray:
    """Rotation speeds (T, 17) of world rotations (T, 17, 4)."""
    cosines = np.sum(world[1:] * world[:-1], axis=-1, keepdims=True)
    apart = np.linalg.norm(world[1:] - np.where(cosines < 0.0, -1.0, 1.0) * world[:-1], axis=-1)
    # By the chord, not the arc cosine of nearly 1, which would show single precision.
    angles = 4.0 * np.arcsin(np.clip(0.5 * apart, 0.0, 1.0))
    speeds = np.round(angles / GRID_RAD) * GRID_RAD * fps
    return np.concatenate([speeds[:1], speeds])


def _at_rate(
    points: FloatArray, heading: FloatArray, spins: FloatArray, fps: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same at 60 Hz; positions by cubic splines."""
    if abs(fps - FPS) < 1e-6:
        return points, heading, spins
    times = np.arange(len(points)) / fps
    wanted = np.arange(round(len(points) * FPS / fps)) / FPS  # the last few are extrapolated
    speeds = np.stack([np.interp(wanted, times, column) for column in spins.T], axis=1)
    turned = np.asarray(CubicSpline(times, heading)(wanted))
    return np.asarray(CubicSpline(times, points)(wanted)), turned, speeds


def _filtered(values: FloatArray, below_hz: float, fps: float) -> FloatArray:
    """Values (T, ...) without what is faster, by a filter that shifts nothing."""
    if below_hz >= 0.5 * fps:
        return values
    b, a = butter(ORDER, below_hz / (0.5 * fps))
    return np.asarray(filtfilt(b, a, values, axis=0))


def _mean_over(values: FloatArray, count: int) -> FloatArray:
    half = count // 2
    padded = np.pad(values, half, mode="edge")
    return np.convolve(padded, np.full(count, 1.0 / count), mode="valid")
