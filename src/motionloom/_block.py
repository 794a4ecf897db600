"""Memory that is given out piece by piece."""

from __future__ import annotations

import math

import numpy as np

from motionloom._arrays import FloatArray


class Block:
    """Zeros that are given out piece by piece: memory for work that is done with all at once.

    Systems give out large pages of large blocks where they have them, and C libraries hand what
    is freed of many arrays back to the system, only to ask for it again: of one long clip that
    takes as long as a third of the work on it.

    Parameters
    ----------
    size
        Numbers in it.
    """

    def __init__(self, size: int) -> None:
        self._left = np.zeros(size)

    def zeros(self, *shape: int) -> FloatArray:
        """An array of zeros; a new one where nothing is left for it."""
        size = math.prod(shape)
        if size > len(self._left):
            return np.zeros(shape)
        piece, self._left = self._left[:size], self._left[size:]
        return piece.reshape(shape)
