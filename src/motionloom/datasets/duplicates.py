"""Duplicates: clips of a data set with the same motion, renamed, moved, turned or re-timed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.datasets.fingerprints import POINTS, POSES

ALIKE = 0.15
"""Fingerprints that differ by less than this part of how far the body's points stray are of one
motion. The same takes in two formats differ by 0.05 to 0.09; the nearest of 280 captured clips that
are different takes differ by 0.21."""
LEAST_STRAY = 0.004
"""Points that stray less than this, in statures, stand still: noise decides how alike they are."""
BLOCK = 512


def find_duplicates(prints: Sequence[FloatArray | None], digests: Sequence[str]) -> list[int]:
    """Number of the first clip with the same motion, for every clip; its own where there is none.

    Parameters
    ----------
    prints
        Fingerprints, each one row of numbers; None for clips without.
    digests
        Of the files; copies are duplicates whatever they hold. Empty where unknown.

    Examples
    --------
    >>> find_duplicates([None, None, None], ["a", "b", "a"])
    [0, 1, 0]
    """
    groups = _Groups(len(prints))
    first: dict[str, int] = {}
    for n, digest in enumerate(digests):
        if digest:
            groups.join(n, first.setdefault(digest, n))
    numbers = [n for n, each in enumerate(prints) if each is not None]
    if len(numbers) > 1:
        rows = np.stack([each for each in prints if each is not None])
        for a, b in alike_pairs(rows):
            groups.join(numbers[a], numbers[b])
    return [groups.head(n) for n in range(len(prints))]


def alike_pairs(rows: FloatArray) -> list[tuple[int, int]]:
    """Pairs of fingerprints (N, D) of one motion.

    Each is taken about its own mean pose: rigs that differ by a bone hold the body differently all
    the time. Of clips sorted by how far their points stray, only near ones are compared.
    """
    poses = rows.reshape(len(rows), POSES, -1)
    centred = (poses - poses.mean(axis=1, keepdims=True)).reshape(len(rows), -1)
    power = np.einsum("nd,nd->n", centred, centred)
    stray = np.sqrt(power / (POSES * len(POINTS)))
    order = np.argsort(stray, kind="stable")
    order = order[stray[order] > LEAST_STRAY]
    centred, power, stray = centred[order], power[order], stray[order]
    # |a - b| >= ||a| - |b||: rows whose lengths differ by more cannot be alike.
    stops = np.searchsorted(stray, stray * (1.0 + ALIKE) ** 2 + 1e-12, side="right")
    pairs = []
    for begin in range(0, len(order), BLOCK):
        end = min(begin + BLOCK, len(order))
        for start in range(begin, int(stops[begin:end].max()), BLOCK):
            stop = min(start + BLOCK, len(order))
            products = centred[begin:end] @ centred[start:stop].T
            apart = power[begin:end, None] + power[None, start:stop] - 2.0 * products
            size = np.sqrt(power[begin:end, None] * power[None, start:stop])
            near = apart < (1.05 * ALIKE) ** 2 * size
            for i, j in np.argwhere(near):
                a, b = begin + int(i), start + int(j)
                if a < b and _distance(centred[a], centred[b]) < ALIKE:
                    pairs.append((int(order[a]), int(order[b])))
    return sorted((min(pair), max(pair)) for pair in pairs)


def _distance(a: FloatArray, b: FloatArray) -> float:
    """Difference of two rows as a part of their size; sums in one order on every machine."""
    size = float(np.sqrt(np.sum(a * a) * np.sum(b * b)))
    return float(np.sqrt(np.sum((a - b) ** 2) / size)) if size > 0.0 else 0.0


class _Groups:
    """Numbers that belong together; the lowest is the head."""

    def __init__(self, n: int) -> None:
        self._heads = list(range(n))

    def head(self, n: int) -> int:
        while self._heads[n] != n:
            self._heads[n] = self._heads[self._heads[n]]
            n = self._heads[n]
        return n

    def join(self, a: int, b: int) -> None:
        a, b = self.head(a), self.head(b)
        self._heads[max(a, b)] = min(a, b)
