"""One animation curve of an FBX file: keys with constant, linear and cubic segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel

CONSTANT, CUBIC = 0x2, 0x8

_NO_TANGENTS = np.zeros((0, 4))

_values = kernel("ml_keyed_values")


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The keys of one number in time."""

    times: FloatArray
    """Strictly increasing, seconds. Shape (N,)."""
    values: FloatArray
    """Shape (N,)."""
    flags: IntArray
    """How the segment after each key goes. Shape (N,)."""
    tangents: FloatArray | None
    """As :func:`~motionloom.formats.fbx.fbx_tangents.tangents_of` gives them; None where no segment
    is cubic. Shape (N, 4)."""

    def sample(self, at: FloatArray) -> FloatArray:
        """Values at times ``at`` (F,), constant before the first key and after the last."""
        if len(at) == len(self.times) and np.array_equal(at, self.times):
            return self.values
        tangents = _NO_TANGENTS if self.tangents is None else self.tangents
        out = np.zeros(len(at))
        _values(
            len(self.times), self.times, self.values, self.flags, len(tangents), tangents,
            len(at), at, out,
        )  # fmt: skip
        return out
