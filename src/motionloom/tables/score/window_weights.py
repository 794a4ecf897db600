"""Weights: how much of each window is in every frame of a multi-way blend."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

from motionloom._arrays import FloatArray, one_of
from motionloom.errors import ArrayError

__all__ = ["FAMILIES", "bernstein", "eased", "hat", "weights_of"]

EASE = 0.25
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
