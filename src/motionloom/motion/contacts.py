"""Footplants: when each heel and toe stands still on the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import index

import numpy as np

from motionloom._arrays import MAX_FRAMES, BoolArray, frozen, of_kind, whole
from motionloom._records import record
from motionloom.errors import ArrayError

KINDS = ("left_heel", "left_toe", "right_heel", "right_toe")
"""The four columns of :attr:`Footplants.planted`. Toe means the ball of the foot."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Footplants:
    """Which foot points are planted in each frame.

    Attributes
    ----------
    planted : array of bool
        Left heel, left toe, right heel, right toe. Shape (F, 4).

    Examples
    --------
    >>> planted = np.zeros((5, 4), bool)
    >>> planted[1:4, 1] = True
    >>> Footplants(planted).intervals()["left_toe"]
    ((1, 3),)
    """

    planted: BoolArray

    def __post_init__(self) -> None:
        planted = frozen(self.planted, "planted", (None, 4), np.bool_)
        object.__setattr__(self, "planted", planted)

    @classmethod
    def from_intervals(
        cls, intervals: dict[str, tuple[tuple[int, int], ...]], n_frames: int
    ) -> Footplants:
        """Plants from first and last planted frames per kind; those that overlap are joined.

        Parameters
        ----------
        intervals
            First and last planted frame of every plant, per kind of :data:`KINDS`.
        n_frames
            Number of frames of the motion.

        Returns
        -------
        Footplants
            Contacts of every frame.

        Raises
        ------
        ArrayError
            A plant ends before it begins, or has frames outside 0 to ``n_frames - 1``.
        """
        n_frames = whole(n_frames, "n_frames", least=0, most=MAX_FRAMES)
        if not isinstance(intervals, Mapping):
            raise ArrayError(
                f"`intervals` must map kinds to frames, such as {{'left_toe': [(3, 9)]}}, got "
                f"{type(intervals).__name__}."
            )
        planted = np.zeros((n_frames, 4), dtype=bool)
        for kind, spans in intervals.items():
            if kind not in KINDS:
                raise ArrayError(f"`intervals` must be keyed by {', '.join(KINDS)}, got {kind!r}.")
            for first, last in _pairs(spans, kind):
                if not 0 <= first <= last < n_frames:
                    raise ArrayError(_why_no_plant(kind, first, last, n_frames))
                planted[first : last + 1, KINDS.index(kind)] = True
        return cls(planted)

    @property
    def n_frames(self) -> int:
        """Number of frames F."""
        return len(self.planted)

    def intervals(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """First and last planted frame of every plant, per kind, in time order.

        Returns
        -------
        dict
            By kind, pairs of frames, both planted.
        """
        return dict(zip(KINDS, column_runs(self.planted), strict=True))

    __iter__ = None  # as for motions

    def __getitem__(self, frames: slice) -> Footplants:
        if not isinstance(frames, slice):
            raise ArrayError(
                f"Footplants are cut with a slice such as footplants[10:120], got {frames!r}."
            )
        try:
            return Footplants(self.planted[frames])
        except TypeError:
            raise ArrayError(
                f"Footplants must be cut at whole frames, such as footplants[10:120], got "
                f"{frames!r}."
            ) from None

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(spans)} {kind}" for kind, spans in self.intervals().items())
        return f"Footplants({self.n_frames} frames: {counts})"


def contacts_for(footplants: object, n_frames: int, name: str = "footplants") -> Footplants:
    """Contacts that a caller gave, if they have one row per frame of their motion."""
    plants = of_kind(footplants, Footplants, name)
    if plants.n_frames != n_frames:
        raise ArrayError(
            f"`{name}` must have one row per frame of the motion ({n_frames}), got "
            f"{plants.n_frames}. Detect them with ml.detect_footplants(motion)."
        )
    return plants


def _pairs(spans: object, kind: str) -> list[tuple[int, int]]:
    """First and last frames of plants as a caller gave them."""
    try:
        return [(index(first), index(last)) for first, last in spans]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ArrayError(
            f"`intervals[{kind!r}]` must list first and last frames such as [(3, 9), (20, 31)], "
            f"got {spans!r}."
        ) from None


def _why_no_plant(kind: str, first: int, last: int, n_frames: int) -> str:
    """Why a plant cannot be of a motion of ``n_frames``."""
    if first > last:
        return (
            f"A plant of {kind} must end at or after its first frame, got first {first} and last "
            f"{last}. Swap the two frames."
        )
    has = f"frames 0 to {n_frames - 1}" if n_frames else "no frames"
    return (
        f"A plant of {kind} must lie in the motion, which has {has}, got frames {first} to {last}. "
        "Cut it at the motion's ends or leave it out."
    )


def column_runs(flags: BoolArray) -> tuple[tuple[tuple[int, int], ...], ...]:
    """First and last index of every run of True in each column. Shape (F, P)."""
    return tuple(runs_of(flags[:, k]) for k in range(flags.shape[1]))


def runs_of(flags: BoolArray) -> tuple[tuple[int, int], ...]:
    """First and last index of every run of True in a one-dimensional array."""
    flags = np.asarray(flags, dtype=bool)
    if not len(flags):
        return ()
    edges = (np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist()
    if flags[0]:
        edges.insert(0, 0)
    if flags[-1]:
        edges.append(len(flags))
    return tuple((first, stop - 1) for first, stop in zip(edges[::2], edges[1::2], strict=True))
