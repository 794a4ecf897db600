"""WindowBatch: a batch of windows as bodies in motion, captured or made, for those that judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.tables.collection.frames import FloatArray32, Frames, clip_frames
from motionloom.tables.score.recipe import weights_of

__all__ = ["WindowBatch"]


@dataclass(frozen=True, slots=True, eq=False)
class WindowBatch:
    """Windows of one length, each seen from its body as collections keep their frames."""

    heading: FloatArray
    """Where the body faces, radians, unwrapped. (n, T)"""
    ground: FloatArray
    """The root's (x, z), metres. (n, T, 2)"""
    body: FloatArray32
    """Joints with the root over the origin and heading 0. (n, T, J, 3)"""
    fps: float

    def __len__(self) -> int:
        return len(self.heading)

    @classmethod
    def of_rows(cls, frames: Frames, rows: npt.ArrayLike, length: int) -> WindowBatch:
        """Captured windows, each named by its first row."""
        first = np.atleast_1d(np.asarray(rows, dtype=np.int64))
        at = first[:, None] + np.arange(length)
        if at.size and (at.min() < 0 or at.max() >= frames.n_rows):
            raise ArrayError(
                f"Windows must lie in rows 0 to {frames.n_rows - 1}, got {at.min()} to {at.max()}."
            )
        return cls(frames.heading[at], frames.ground[at], frames.body[at], frames.fps)

    @classmethod
    def of_blends(
        cls, frames: Frames, rows: npt.ArrayLike, length: int, *, family: str = "bernstein"
    ) -> WindowBatch:
        """Blends of windows by positions, bones not restored; (n, N) first rows, source first."""
        first = np.atleast_2d(np.asarray(rows, dtype=np.int64))
        weights = weights_of(family, first.shape[1], length)  # (N, T)
        at = first[..., None] + np.arange(length)  # (n, N, T)
        heading, ground = frames.heading[at], frames.ground[at]
        cos, sin = np.cos(heading[..., :-1]), np.sin(heading[..., :-1])
        x, z = np.moveaxis(np.diff(ground, axis=2), -1, 0)
        turn, side, ahead = (
            (weights[:, 1:] * part).sum(axis=1)
            for part in (np.diff(heading, axis=2), cos * x - sin * z, sin * x + cos * z)
        )
        facing = heading[:, 0, :1] + _walked(turn)
        cos, sin = np.cos(facing[:, :-1]), np.sin(facing[:, :-1])
        steps = np.stack([cos * side + sin * ahead, cos * ahead - sin * side], axis=-1)
        body = np.zeros((len(first), length, *frames.body.shape[1:]), dtype=np.float32)
        for way, share in enumerate(weights.astype(np.float32)):
            body += share[:, None, None] * frames.body[at[:, way]]
        return cls(facing, ground[:, 0, :1] + _walked(steps), body, frames.fps)

    @classmethod
    def of_motions(cls, motions: Sequence[Motion], *, body: BodyMap | None = None) -> WindowBatch:
        """Motions of one skeleton, rate and length."""
        if not motions:
            raise ArrayError("`motions` must hold at least one motion, got none.")
        lengths = {motion.n_frames for motion in motions}
        if len(lengths) > 1:
            raise ArrayError(
                f"Windows of a batch must be equally long, got {sorted(lengths)} frames."
            )
        body = roles_for(motions[0].skeleton, body)
        seen = [clip_frames(motion, body=body) for motion in motions]
        return cls(
            np.stack([clip.heading for clip in seen]),
            np.stack([clip.ground for clip in seen]),
            np.stack([clip.body for clip in seen]),
            motions[0].fps,
        )


def _walked(steps: FloatArray) -> FloatArray:
    """Where steps (n, T - 1, ...) lead, from nothing. (n, T, ...)."""
    start = np.zeros((len(steps), 1, *steps.shape[2:]))
    return np.concatenate([start, np.cumsum(steps, axis=1)], axis=1)
