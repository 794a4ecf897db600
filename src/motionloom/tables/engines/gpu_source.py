"""The fused kernel's source, what it is compiled for, and the arrays that it reads."""

from __future__ import annotations

import ctypes
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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


PARTS = ("lanes.cuh", "blend.cuh", "feet.cuh", "balance.cuh", "search.cu")
"""In this order they are one file: compilers at run time know no folders to include from."""
N_COLUMNS = 19
N_ROWS = 17
WARPS = 16
"""Blends that a block scores at a time."""
BLOCKS = 2
"""Blocks that should fit on a multiprocessor together."""
UNROLL = 2
"""Segments whose posture is read at a time."""
POINTERS = (
    *("terms", "anchors", "ahead", "weights", "spans", "counts", "reach", "stands"),
    *("sources", "targets", "between", "shortlist", "coarse_sources", "coarse_targets"),
    *("recipes", "out"),
)
NUMBERS = (
    *("n_targets", "n_between", "n_short", "n_coarse", "n_blends"),
    *("two", "three", "four", "roll"),
)
"""Fields of ``Job`` in ``blend.cuh``, in their order."""


class Build(NamedTuple):
    """What a kernel is compiled for: shapes, and columns that count."""

    length: int
    pad: int
    padded: int
    plants: int
    segments: int
    linears: int
    """Bits of columns that count."""
    logs: int
    """Bits of columns whose logarithm counts."""
    needs: int
    """Bits of columns to measure."""
    short: bool
    """Whether four-way blends come from a shortlist."""
    constants: tuple[float, ...]
    warps: int = WARPS
    blocks: int = BLOCKS
    unroll: int = UNROLL

    def defines(self) -> dict[str, str]:
        """Names and values to compile with."""
        gravity, flight_load, inch, turn_m = (f"{value!r}f" for value in self.constants)
        return {
            "LENGTH": str(self.length),
            "PAD": str(self.pad),
            "HALF": str(self.pad - 1),
            "PADDED": str(self.padded),
            "PLANTS": str(self.plants),
            "SEGMENTS": str(self.segments),
            "LINEARS": hex(self.linears),
            "LOGS": hex(self.logs),
            "NEEDS": hex(self.needs),
            "SHORT": str(int(self.short)),
            "WARPS": str(self.warps),
            "BLOCKS": str(self.blocks),
            "UNROLL": str(self.unroll),
            "GRAVITY": gravity,
            "FLIGHT_LOAD": flight_load,
            "INCH": inch,
            "TURN_M": turn_m,
        }

    def slots(self, lanes: int) -> int:
        """Frames that a warp of ``lanes`` holds."""
        return -(-self.padded // lanes) * lanes

    @property
    def n_terms(self) -> int:
        """Numbers that a window has in every frame."""
        return N_ROWS + 3 * self.segments

    def shared_bytes(self, lanes: int, warps: int) -> int:
        """Shared memory of a block: sums that its blends share, and memory for each warp."""
        slots, most = self.slots(lanes), 4 * self.plants
        memory = 7 * slots + 3 * 2 * (self.pad - 1) + most * (3 + 4 + 2 * 4 + 2 * 2) + 16 + 4
        return 4 * (self.n_terms * slots + warps * memory)


def build_for(
    terms: PlainTerms, ranking: PlainRanking | None = None, *, short: bool = False
) -> Build:
    """What a kernel must be compiled for; without a ranking it measures every column."""
    every = (1 << N_COLUMNS) - 1
    linears = logs = every
    if ranking is not None:
        linears, logs = (_bits(weights) for weights in ranking)
    return Build(
        terms.length,
        terms.pad,
        terms.rows.shape[2],
        terms.spans.shape[2],
        len(terms.masses),
        linears,
        logs,
        linears | logs,
        short,
        tuple(terms.constants),
    )


def _bits(weights: np.ndarray) -> int:
    return sum(1 << c for c in range(N_COLUMNS) if weights[c] != 0.0)


def source() -> str:
    """The whole source."""
    folder = files(__package__).joinpath("cuda")
    return "\n".join(
        f'#line 1 "{name}"\n{folder.joinpath(name).read_text(encoding="ascii")}' for name in PARTS
    )


def job_type(n_taps: int, n_segments: int) -> type[ctypes.Structure]:
    """``Job`` of ``blend.cuh``."""
    fields: list[tuple[str, object]] = [(name, ctypes.c_void_p) for name in POINTERS]
    fields.append(("first_pair", ctypes.c_longlong))
    fields += [(name, ctypes.c_int) for name in NUMBERS]
    fields += [
        ("fps", ctypes.c_float),
        ("low", ctypes.c_float),
        ("sole", ctypes.c_float * 4),
        ("taps", ctypes.c_float * (3 * n_taps)),
        ("inverse_masses", ctypes.c_float * n_segments),
        ("linear", ctypes.c_float * N_COLUMNS),
        ("log", ctypes.c_float * N_COLUMNS),
    ]
    return type("Job", (ctypes.Structure,), {"_fields_": fields})
