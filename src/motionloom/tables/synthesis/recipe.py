"""Recipe: which windows a transition is made of, and where its body goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray, frozen, one_of
from motionloom._records import record
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.window_weights import FAMILIES, weights_of

__all__ = ["Recipe", "Track", "rows_at", "track_of"]

MOST_WAYS = 4


@dataclass(frozen=True, slots=True, eq=False)
@record
class Recipe:
    """Windows to blend: the source first, the target last, intermediaries between.

    Examples
    --------
    >>> Recipe((0, 40, 300), 60).n_ways
    3
    """

    rows: tuple[int, ...]
    """First row of every window in the collection's frames."""
    length: int
    """Frames in a window."""
    family: str = "bernstein"
    """Name of the weights, one of :data:`FAMILIES`."""
    times: IntArray | None = None
    """Frame of every window at every frame of the blend; None for all at the same. (L, N)"""

    def __post_init__(self) -> None:
        rows = tuple(int(row) for row in self.rows)
        if not 1 <= len(rows) <= MOST_WAYS:
            raise ArrayError(f"A recipe must have 1 to {MOST_WAYS} windows, got {len(rows)}.")
        if self.length < 2:
            raise ArrayError(f"A window must have at least 2 frames, got {self.length}.")
        one_of(self.family, FAMILIES, "family")
        object.__setattr__(self, "rows", rows)
        if self.times is not None:
            times = frozen(self.times, "times", (None, len(rows)), np.int64)
            if len(times) < 2 or times.min() < 0 or times.max() >= self.length:
                raise ArrayError(
                    f"`times` must be frames 0 to {self.length - 1} of the windows, two rows or "
                    f"more; got {len(times)} rows from {times.min()} to {times.max()}."
                )
            object.__setattr__(self, "times", times)

    @property
    def n_ways(self) -> int:
        """Number of windows N."""
        return len(self.rows)

    @property
    def n_frames(self) -> int:
        """Number of frames L of the blend."""
        return self.length if self.times is None else len(self.times)

    def weights(self) -> FloatArray:
        """How much of each window is in every frame. (N, L)."""
        return weights_of(self.family, self.n_ways, self.n_frames)


class Track(NamedTuple):
    """Where a blended body is and faces."""

    heading: FloatArray
    """Radians. (L,)"""
    ground: FloatArray
    """Root over the ground, x and z, metres. (L, 2)"""
    height: FloatArray
    """Root, metres. (L,)"""


def rows_at(frames: Frames, recipe: Recipe) -> IntArray:
    """The row of every window at every frame of the blend. (L, N).

    Raises
    ------
    TableError
        If a window leaves its clip.
    """
    first = np.array(recipe.rows, dtype=np.int64)
    last = first + recipe.length - 1
    inside = (first >= 0) & (last < frames.n_rows)
    clips = np.searchsorted(frames.starts, np.stack([first, last]), side="right")
    if not inside.all() or (clips[0] != clips[1]).any():
        bad = int(first[~inside | (clips[0] != clips[1])][0])
        raise TableError(
            f"Windows of {recipe.length} frames must stay inside their clip; the one from row "
            f"{bad} does not. Start it earlier."
        )
    if recipe.times is None:
        return np.asarray(first + np.arange(recipe.length)[:, None])
    return np.asarray(first + recipe.times)


def track_of(frames: Frames, recipe: Recipe) -> Track:
    """Heading, ground and height of a blend, from where its source window starts. The plain form.

    Steps of heading and of the root, each seen from its own body, are averaged by the weights and
    walked ([I7]_ section 3; headings are ours, since clips face different ways). One clip alone
    comes out as it is, and where the others were captured does not matter.
    """
    at = rows_at(frames, recipe)
    weights = recipe.weights().T  # (L, N)
    turns = np.diff(frames.heading[at], axis=0)  # (L - 1, N)
    heading = frames.heading[at[0, 0]] + _walked(np.sum(weights[1:] * turns, axis=1))
    steps = np.diff(frames.ground[at], axis=0)  # (L - 1, N, 2)
    seen = _turned(steps, -frames.heading[at[:-1]])
    step = np.sum(weights[1:, :, None] * seen, axis=1)
    ground = frames.ground[at[0, 0]] + _walked(_turned(step, heading[:-1]))
    height = np.sum(weights * frames.body[at, 0, 1], axis=1)
    return Track(heading, ground, height)


def _walked(steps: FloatArray) -> FloatArray:
    return np.concatenate([np.zeros((1, *steps.shape[1:])), np.cumsum(steps, axis=0)])


def _turned(ground: FloatArray, angle: FloatArray) -> FloatArray:
    """(x, z) turned about +Y: positive angles carry +Z towards +X."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = ground[..., 0], ground[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)
