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

    def zeros(self, *shapes: tuple[int, ...]) -> list[FloatArray]:
        """Arrays of zeros of these shapes; a new one where nothing is left for it."""
        pieces = []
        for shape in shapes:
            size = math.prod(shape)
            if size > len(self._left):
                pieces.append(np.zeros(shape))
                continue
            pieces.append(self._left[:size].reshape(shape))
            self._left = self._left[size:]
        return pieces
