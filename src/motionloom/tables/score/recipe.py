"""Recipe: the windows of a multi-way blend, and how much of each is in every frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from motionloom._arrays import FloatArray, IntArray, flag, frozen, items, one_of, whole
from motionloom._core import constant, integer
from motionloom._records import record
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import Frames

EASE = constant("ML_WARP_EASE")
"""Part of the length over which an eased time gathers speed, and again loses it."""


def bernstein(n_ways: int, length: int) -> FloatArray:
    """Bernstein weights of N windows over T frames, as the papers take them. Shape (N, T).

    The first frame is all of the first window, the last one all of the last; every frame's weights
    sum to one.

    Examples
    --------
    >>> bernstein(3, 3).tolist()
    [[1.0, 0.25, 0.0], [0.0, 0.5, 0.0], [0.0, 0.25, 1.0]]
    """
    return _bernstein_at(n_ways, _time(n_ways, length))


def eased(n_ways: int, length: int) -> FloatArray:
    """Bernstein weights at a time that starts and stops gently. Shape (N, T).

    The papers' weights leave the first window at full speed: the first frame's velocity jumps by
    N - 1 times the distance of the first two poses a second. Here it does not, for a blend that is
    a third faster in its middle.
    """
    t = _time(n_ways, length)
    fastest = 1.0 / (1.0 - EASE)
    ramp = 0.5 * fastest / EASE
    near = np.minimum(t, 1.0 - t)
    gone = np.where(near < EASE, ramp * near**2, fastest * (near - 0.5 * EASE))
    return _bernstein_at(n_ways, np.where(t <= 0.5, gone, 1.0 - gone))


def hat(n_ways: int, length: int) -> FloatArray:
    """Weights that go from one window to the next in straight lines. Shape (N, T).

    Every window but the first and last is alone for one moment, so an intermediary shows as it is.
    """
    t = _time(n_ways, length) * (n_ways - 1)
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(t[None] - np.arange(n_ways)[:, None])))


FAMILIES: dict[str, Callable[[int, int], FloatArray]] = {
    "bernstein": bernstein,
    "eased": eased,
    "hat": hat,
}


def weights_of(family: str, n_ways: int, length: int) -> FloatArray:
    """Weights (N, T) of a family by its name."""
    return FAMILIES[one_of(family, FAMILIES, "family")](n_ways, length)


def _time(n_ways: int, length: int) -> FloatArray:
    if n_ways < 1 or length < 2:
        raise ArrayError(
            f"A blend must have at least one window and two frames, got {n_ways} and {length}."
        )
    return np.linspace(0.0, 1.0, length)


def _bernstein_at(n_ways: int, t: FloatArray) -> FloatArray:
    degree = n_ways - 1
    # By products: powers of numpy depend on the processor.
    late, early = ([np.ones_like(t)] for _ in range(2))
    for _ in range(degree):
        late.append(late[-1] * t)
        early.append(early[-1] * (1.0 - t))
    return np.stack([comb(degree, i) * early[degree - i] * late[i] for i in range(n_ways)])


MOST_WAYS = integer("ML_MOST_WAYS")
"""Windows of a blend, at most: the source, the target and two intermediaries."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Recipe:
    """Windows to blend: the source first, the target last, intermediaries between.

    Attributes
    ----------
    rows : tuple of int
        First row of every window in the collection's frames.
    length : int
        Frames in a window.
    family : str
        Name of the weights, one of :data:`FAMILIES`.
    times : array of int or None
        Frame of every window at every frame of the blend; None for all at the same. (L, N)
    pinned : bool
        Whether windows between the first and the last are averaged and bent to leave the one and
        arrive at the other, in place of a blend of all.

    Examples
    --------
    >>> Recipe((0, 40, 300), 60).n_ways
    3
    """

    rows: tuple[int, ...]
    length: int
    family: str = "bernstein"
    times: IntArray | None = None
    pinned: bool = False

    def __post_init__(self) -> None:
        several = items(self.rows, "rows", f"the first rows of 1 to {MOST_WAYS} windows")
        rows = tuple(whole(row, f"rows[{k}]") for k, row in enumerate(several))
        if not 1 <= len(rows) <= MOST_WAYS:
            raise ArrayError(f"A recipe must have 1 to {MOST_WAYS} windows, got {len(rows)}.")
        object.__setattr__(self, "length", whole(self.length, "length", least=2))
        if flag(self.pinned, "pinned") and len(rows) < 3:
            raise ArrayError(f"A pinned recipe must have 3 or 4 windows, got {len(rows)}.")
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
        """How much of each window is in every frame. (N, L).

        Returns
        -------
        (N, L) array
            They sum to 1 in every frame.
        """
        if self.pinned:
            weights = np.zeros((self.n_ways, self.n_frames))
            weights[1:-1] = 1.0 / (self.n_ways - 2)
            return weights
        return weights_of(self.family, self.n_ways, self.n_frames)


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
