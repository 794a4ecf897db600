"""Weights for wanted parameters, fast enough for a moving pointer."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.parameters import ParameterSpace
from motionloom.errors import ArrayError

INSIDE = 1e-9
FLAT = 1e-9
MOST_CORNERS = 4000


class QuickWeights:
    """The weights of ``space.weights(clamp=True, ...)``, from all simplices of the samples.

    The mixture of nearest samples is a vertex of a linear program, and a vertex mixes one sample
    more than there are parameters. There are few samples, so all simplices are inverted in advance.
    """

    def __init__(self, space: ParameterSpace) -> None:
        self.space = space
        n, p = space.values.shape
        self._scale = np.maximum(np.ptp(space.values, axis=0), 1e-9)
        self._samples = space.values / self._scale
        corners = np.array(list(combinations(range(n), p + 1)), dtype=np.int64).reshape(-1, p + 1)
        rows = np.concatenate(
            [self._samples[corners], np.ones((len(corners), p + 1, 1))], axis=-1
        ).swapaxes(1, 2)  # (T, p + 1, p + 1)
        sound = np.abs(np.linalg.det(rows)) > FLAT
        few = len(corners) <= MOST_CORNERS
        self._corners = corners[sound] if few else corners[:0]
        self._inverses = np.linalg.inv(rows[sound]) if few else rows[:0]

    def find(self, wanted: Mapping[str, float]) -> FloatArray:
        """Weights (K,) of the examples; the nearest ones for parameters out of reach."""
        if set(wanted) != set(self.space.names):
            raise ArrayError(f"Every parameter must be given once: {', '.join(self.space.names)}.")
        target = np.array([wanted[name] for name in self.space.names]) / self._scale
        shares = self._inverses @ np.append(target, 1.0)  # (T, p + 1)
        inside = (shares >= -INSIDE).all(axis=1)
        if not inside.any():
            return self.space.weights(clamp=True, **wanted)
        apart = np.sum((self._samples - target) ** 2, axis=1)
        cost = np.where(inside, np.sum(shares * apart[self._corners], axis=1), np.inf)
        best = int(np.argmin(cost))
        mixed = np.clip(shares[best], 0.0, None) @ self.space.sample_weights[self._corners[best]]
        return np.asarray(mixed / mixed.sum())
