"""Mixtures of samples that give a point: by linear programming, or the nearest where none does."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray

SMALL = 1e-9
"""Parts of a mixture, and of its error, that count as none."""
ROUNDS = 50
"""Steps from corner to corner, per sample; a fit takes one or two."""
HEAVY = 1e4
"""Weight of the sum of a mixture, which must be 1, against its error."""


def exact_mixture(samples: FloatArray, target: FloatArray) -> FloatArray | None:
    """Parts (S,) of samples whose mean is the target, of all such that of the nearest samples.

    The parts are not negative, sum to 1, and few of them are above 0. None where the target is no
    mixture of the samples.

    Parameters
    ----------
    samples : (S, P)
        Points, in units of about 1.
    target : (P,)
        The point to be met.

    Examples
    --------
    >>> exact_mixture(np.array([[0.0], [1.0], [3.0]]), np.array([2.0])).tolist()
    [0.0, 0.5, 0.5]
    """
    away = samples - target
    n = len(away)
    rows = np.vstack([away.T, np.ones(n)])
    wanted = np.append(np.zeros(len(target)), 1.0)
    # First from a mixture of errors alone to one without any: the simplex method in two phases.
    table = np.hstack([rows, np.eye(len(rows)), wanted[:, None]])
    basis = np.arange(n, n + len(rows))
    errors = np.append(np.zeros(n), np.ones(len(rows)))
    if not _descend(table, basis, errors) or errors[basis] @ table[:, -1] > SMALL:
        return None
    for row in np.flatnonzero(basis >= n):
        others = np.flatnonzero(np.abs(table[row, :n]) > SMALL)
        if len(others):
            _exchange(table, basis, int(row), int(others[0]))
    needed = basis < n  # the others say again what these say
    table, basis = np.hstack([table[needed, :n], table[needed, -1:]]), basis[needed]
    if not _descend(table, basis, np.sum(away**2, axis=1)):
        return None
    mixture = np.zeros(n)
    mixture[basis] = np.maximum(table[:, -1], 0.0)
    return np.asarray(mixture / mixture.sum())


def _descend(table: FloatArray, basis: IntArray, costs: FloatArray) -> bool:
    """From corner to corner of a linear program while that is cheaper; whether it came to an end.

    By the rule of Bland (1977), the first of all that help, it never goes round in a circle.
    """
    for _ in range(ROUNDS * table.shape[1]):
        cheaper = np.flatnonzero(costs - costs[basis] @ table[:, :-1] < -SMALL)
        if not len(cheaper):
            return True
        enters = int(cheaper[0])
        bounds = np.flatnonzero(table[:, enters] > SMALL)
        if not len(bounds):
            return False
        ratios = table[bounds, -1] / table[bounds, enters]
        first = bounds[ratios <= ratios.min() + SMALL]
        _exchange(table, basis, int(first[np.argmin(basis[first])]), enters)
    return False


def _exchange(table: FloatArray, basis: IntArray, row: int, enters: int) -> None:
    """One column of the basis for another."""
    table[row] /= table[row, enters]
    others = np.arange(len(table)) != row
    table[others] -= table[others, enters, None] * table[row]
    basis[row] = enters


def closest_mixture(samples: FloatArray, target: FloatArray) -> FloatArray:
    """Parts (S,), not negative and of sum 1, whose mean of the samples is nearest to the target.

    By non-negative least squares, after Lawson and Hanson (1974).

    Parameters
    ----------
    samples : (S, P)
        Points, in units of about 1.
    target : (P,)
        The point to come near to.
    """
    rows = np.vstack([(samples - target).T, np.full(len(samples), HEAVY)])
    wanted = np.append(np.zeros(len(target)), HEAVY)
    least = 10.0 * max(rows.shape) * np.finfo(np.float64).eps * np.abs(rows).sum(axis=0).max()
    mixture, used = np.zeros(len(samples)), np.zeros(len(samples), dtype=bool)
    for _ in range(3 * len(samples)):
        slope = np.where(used, -np.inf, rows.T @ (wanted - rows @ mixture))
        if slope.max() <= least:
            break
        enters = int(np.argmax(slope))
        used[enters] = True
        while True:
            tried = np.zeros(len(samples))
            tried[used] = np.linalg.lstsq(rows[:, used], wanted, rcond=None)[0]
            below = used & (tried <= 0.0)
            if not below.any():
                break
            if below[enters]:
                return np.asarray(mixture / mixture.sum())  # it helps by no more than rounding
            share = np.min(mixture[below] / (mixture[below] - tried[below]))
            mixture = mixture + share * (tried - mixture)
            used &= mixture > SMALL
        mixture = tried
    return np.asarray(mixture / mixture.sum())
