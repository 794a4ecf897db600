"""Motion matching: the captured stretch whose ends are most like the two asked for, switched to.

As games do it, but with a goal: they ask for feet, hips and the way ahead, and look again a few
times a second; a transition knows the pose that it must end in, so that is asked for in place of
the way, and one search is enough. Both switches are inertialized.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import FloatArray32, Frames
from studies.baselines.inertialize import BLEND_S, Decay, MadeWindow, played_window

__all__ = ["MatchIndex", "matching_transition"]

BALLS = (1, 3)


@dataclass(frozen=True, slots=True, eq=False)
class MatchIndex:
    """Features of every row: balls of both feet and their velocities, the root's velocity.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> frames = frames_of([synthetic.clip("walk").motion, synthetic.clip("jog").motion])
    >>> index = MatchIndex.build(frames)
    >>> index.nearest(5, 34, 30)
    5
    """

    frames: Frames
    features: FloatArray32
    """Standardised over the collection. (R, 15)"""
    sizes: FloatArray32
    """Their squared lengths. (R,)"""

    @classmethod
    def build(cls, frames: Frames) -> MatchIndex:
        """Features of a collection."""
        features = np.concatenate(
            [_match_features(frames, first, stop)
             for first, stop in zip(frames.starts[:-1], frames.starts[1:], strict=True)]
        )  # fmt: skip
        # One scale for each kind of three numbers: single axes would blow up what never changes.
        kinds = features.reshape(len(features), -1, 3)
        kinds = kinds - kinds.mean(axis=0)
        scale = np.sqrt((kinds**2).mean(axis=(0, 2)))
        kinds = kinds / np.maximum(scale, 1e-9)[:, None]
        standard = kinds.reshape(len(features), -1).astype(np.float32)
        return cls(frames, standard, (standard**2).sum(axis=1))

    def nearest(self, source: int, target: int, length: int, *, exclude: npt.ArrayLike = ()) -> int:
        """First row of the window of ``length`` that starts like one row and ends like another.

        Parameters
        ----------
        source, target
            Rows.
        length
            Frames.
        exclude
            First and last rows (n, 2), both in it, that the window may have no frame of.
        """
        allowed = self.frames.windows(length)
        for first, last in np.asarray(exclude, dtype=np.int64).reshape(-1, 2):
            allowed = allowed[(allowed > last) | (allowed + length - 1 < first)]
        if not len(allowed):
            raise TableError(
                f"No window of {length} frames is left to look at. Exclude less, or ask for a "
                "shorter transition."
            )
        # Squared distances less what is the same for all: one product for both ends.
        asked = self.features[[source, target]].T
        start, end = (self.sizes[:, None] - 2.0 * (self.features @ asked)).T
        return int(allowed[np.argmin(start[allowed] + end[allowed + length - 1])])


def matching_transition(
    index: MatchIndex,
    source: int,
    target: int,
    length: int,
    *,
    blend_s: float = BLEND_S,
    method: Decay = "quintic",
    exclude: npt.ArrayLike = (),
) -> MadeWindow:
    """From one row to another by way of the captured window that fits both best.

    Parameters
    ----------
    index
        Of the collection.
    source
        Row whose pose, velocity and place the first frame has.
    target
        Row whose pose the last frame has.
    length
        Frames, both ends counted.
    blend_s, method
        How differences fade, after the first frame and before the last.
    exclude
        As for :meth:`MatchIndex.nearest`.
    """
    for name, row in (("source", source), ("target", target)):
        if not 0 <= row < index.frames.n_rows:
            raise ArrayError(f"`{name}` must be a row below {index.frames.n_rows}, got {row}.")
    if length < 2:
        raise ArrayError(f"`length` must be at least 2 frames, got {length}.")
    first = index.nearest(source, target, length, exclude=exclude)
    rows: IntArray = np.arange(first, first + length)
    return played_window(
        index.frames, rows, opening=source, closing=target, blend_s=blend_s, method=method
    )


def _match_features(frames: Frames, first: int, stop: int) -> FloatArray:
    """Balls (6), their velocities (6) and the root's (3), seen from the body. (F, 15)."""
    balls = np.asarray(frames.points[first:stop], dtype=np.float64)[:, list(BALLS)]
    n = stop - first
    speed = np.gradient(balls, axis=0) * frames.fps if n > 1 else np.zeros_like(balls)
    ground, heading = frames.ground[first:stop], frames.heading[first:stop]
    moved = np.gradient(ground, axis=0) * frames.fps if n > 1 else np.zeros_like(ground)
    cos, sin = np.cos(heading), np.sin(heading)
    rise = np.asarray(frames.body[first:stop, 0, 1], dtype=np.float64)
    root = np.stack(
        [
            cos * moved[:, 0] - sin * moved[:, 1],
            np.gradient(rise) * frames.fps if n > 1 else np.zeros(n),
            sin * moved[:, 0] + cos * moved[:, 1],
        ],
        axis=-1,
    )
    return np.concatenate([balls.reshape(n, -1), speed.reshape(n, -1), root], axis=1)
