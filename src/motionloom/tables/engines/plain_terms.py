"""Plain terms: what judging blends needs, as arrays and numbers that any machine can read.

Nothing here, nor in what builds on it, needs more than numpy and PyTorch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Constants", "PlainRanking", "PlainTerms", "load_terms", "save_terms"]

FloatArray32 = npt.NDArray[np.float32]
IntArray32 = npt.NDArray[np.int32]


class Constants(NamedTuple):
    """Numbers of the measures that do not depend on the windows."""

    gravity: float
    flight_load: float
    inch: float
    turn_m: float


class PlainTerms(NamedTuple):
    """Terms of W windows, P frames each with those before and after; see ``Terms``."""

    rows: FloatArray32
    """(W, 17, P)"""
    posture: FloatArray32
    """(W, P, 48)"""
    anchors: FloatArray32
    """(W, 4, P)"""
    spans: IntArray32
    """(W, 2, M, 2)"""
    ahead: FloatArray32
    """(W, 2, M, 2)"""
    counts: IntArray32
    """(W, 2)"""
    reach: IntArray32
    """(W, 2)"""
    weights: FloatArray32
    """(4, 4, P)"""
    taps: FloatArray32
    """Without the noughts at their end. (3, 2 half + 1)"""
    sole: FloatArray32
    """(4,)"""
    masses: FloatArray32
    """(S,)"""
    length: int
    pad: int
    roll: int
    fps: float
    low: float
    constants: Constants

    @property
    def half(self) -> int:
        """Frames on either side of one that its acceleration looks at."""
        return self.pad - 1

    @property
    def n_windows(self) -> int:
        """Number of windows W."""
        return len(self.rows)


class PlainRanking(NamedTuple):
    """Weights of columns and of their logarithms; see ``Ranking``."""

    linear: FloatArray32
    """(C,)"""
    log: FloatArray32
    """(C,)"""


def save_terms(path: Path, terms: PlainTerms, **more: Any) -> None:
    """Write terms, and other arrays by name, as a compressed ``.npz`` file."""
    fields = {**terms._asdict(), "constants": np.array(terms.constants)}
    arrays: dict[str, Any] = {f"terms.{name}": value for name, value in fields.items()}
    np.savez_compressed(path, **arrays, **more)


def load_terms(path: Path) -> tuple[PlainTerms, dict[str, npt.NDArray[np.generic]]]:
    """Terms, and the other arrays by name, from a file that :func:`save_terms` wrote."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    fields = {
        name: value if value.ndim else value.item()
        for name in PlainTerms._fields
        for value in [arrays.pop(f"terms.{name}")]
    }
    fields["constants"] = Constants(*(float(x) for x in fields["constants"]))
    return PlainTerms(**fields), arrays
