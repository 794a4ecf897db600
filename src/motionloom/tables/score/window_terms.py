"""Window terms: one window's rows of numbers, read from a collection's frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._core import Record, kernel, record
from motionloom.tables.collection.frames import FloatArray32

__all__ = ["IntArray32", "TermArrays", "TermSource"]

IntArray32 = npt.NDArray[np.int32]

_terms_of = kernel("ml_window_terms")

# Rows of a window's terms.
HEADING, STEP, FEET, COM, STANDS, LIFT, POWER, PACE, TRAVEL = 0, 1, 3, 7, 10, 12, 14, 15, 16
"""Step of heading; step of the root (x, z); balls (x, z) twice; centre of mass (x, y, z); whether
each ball stands; heights of the balls; squared size of the posture, of its step and of the root's
velocity."""
N_ROWS = 17
N_SEGMENTS = 16
"""Segments of :func:`mass_segments`."""

TURN_M = 0.3
"""A turn of the root counts in the root's speed like a step on a circle of this radius."""


class TermArrays(NamedTuple):
    """Terms of W windows: P = T + 2 pads frames each, in single precision."""

    rows: FloatArray32
    """All that is not posture, time last. (W, 17, P)"""
    posture: FloatArray32
    """Segments about the centre of mass, times the root of their masses: x of all, then y, then z;
    time first. (W, P, 48)"""
    anchors: FloatArray32
    """Plant under the left foot as seen from the body, x and z, then right; 0 without. (W, 4, P)"""
    spans: IntArray32
    """First and last frame of each plant within the window: foot, plant. (W, 2, M, 2)"""
    ahead: FloatArray32
    """Foot's direction (x, z) as seen from the body in the plant's middle frame. (W, 2, M, 2)"""
    counts: IntArray32
    """Number of plants per foot. (W, 2)"""
    reach: IntArray32
    """Frames that the clip has before and after the window, at most the pad. (W, 2)"""


class TermSource:
    """What terms of any window of a collection are read from.

    Parameters
    ----------
    source
        The collection, as the core reads it.
    """

    def __init__(self, source: Record) -> None:
        self.record = source
        self._into: tuple[TermArrays, Record] | None = None

    def slots(self, length: int, pad: int, fps: float, out: TermArrays) -> Record:
        """Where terms are written to, as the core writes; made once for the same arrays."""
        into = self._into
        if into is None or into[0] is not out:
            into = self._into = out, _slots(length, pad, fps, out)
        return into[1]

    def put(self, row: int, slot: int, length: int, pad: int, fps: float, out: TermArrays) -> None:
        """Write the terms of the window that starts at ``row`` into place ``slot`` of ``out``."""
        _terms_of(self.record, self.slots(length, pad, fps, out), row, slot)


def _slots(length: int, pad: int, fps: float, out: TermArrays) -> Record:
    """Where terms are written to, as the core writes."""
    return record(
        "ml_term_slots",
        n_windows=len(out.rows),
        n_padded=out.rows.shape[2],
        n_plants=out.spans.shape[2],
        length=length,
        pad=pad,
        fps=fps,
        turns=np.zeros((2, out.rows.shape[2])),
        **out._asdict(),
    )
