"""Terms: windows as rows of numbers whose weighted sum is the blend's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record, constant, integer, kernel, record
from motionloom.body.anatomy import TIP_BEFORE_BALL, ball_height, norm, stature
from motionloom.body.body_map import BodyMap
from motionloom.body.masses import mass_segments
from motionloom.errors import TableError
from motionloom.features.balance import HALF_WIDTH
from motionloom.motion.motion import Skeleton
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.score.recipe import MOST_WAYS, weights_of
from motionloom.tables.score.stance import SMOOTH_S, Plants, plants_of

IntArray32 = npt.NDArray[np.int32]

_terms_of = kernel("ml_window_terms")

# Rows of a window's terms.
HEADING = integer("ML_TERM_HEADING")
"""Step of heading."""
STEP = integer("ML_TERM_STEP")
"""Step of the root (x, z)."""
FEET = integer("ML_TERM_FEET")
"""Balls (x, z), left and right."""
COM = integer("ML_TERM_COM")
"""Centre of mass (x, y, z)."""
STANDS = integer("ML_TERM_STANDS")
"""Whether each ball stands."""
LIFT = integer("ML_TERM_LIFT")
"""Heights of the balls."""
POWER = integer("ML_TERM_POWER")
"""Squared size of the posture."""
PACE = integer("ML_TERM_PACE")
"""The same of its step."""
TRAVEL = integer("ML_TERM_TRAVEL")
"""Squared size of the root's velocity."""
N_ROWS = integer("ML_TERM_ROWS")
N_SEGMENTS = integer("ML_SEGMENTS")
"""Segments of :func:`mass_segments`."""

TURN_M = constant("ML_ROOT_TURN_M")
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


LOW_M = 0.03
"""A ball within this of the height at which it stands is low."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Terms:
    """Windows of one length as terms, and what scoring their blends needs.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> terms = terms_of(frames_of([synthetic.clip("walk").motion]), [0, 10], 30)
    >>> terms.n_windows, terms.length
    (2, 30)
    """

    arrays: TermArrays
    length: int
    """Frames T of a window."""
    fps: float
    pad: int
    """Frames kept on either side, for accelerations at the ends."""
    taps: FloatArray32
    """Value, first and second derivative of a local cubic, ended by noughts. (3, 4 k)"""
    weights: FloatArray32
    """Weight of each window of a blend of N = 1 to 4, padded: ``weights[N - 1, i]``. (4, 4, P)"""
    sole: FloatArray32
    """Heel behind the ball, tip before it, half the foot's breadth, stature; metres. (4,)"""
    low: float
    """Height under which a ball is near the ground, metres."""
    masses: FloatArray32
    """Parts of body mass of the segments. (S,)"""

    @property
    def n_windows(self) -> int:
        """Number of windows W."""
        return len(self.arrays.rows)

    def put(self, source: TermSource, slot: int, row: int) -> None:
        """Overwrite one window by the one that starts at ``row``: for windows of queries."""
        source.put(row, slot, self.length, self.pad, self.fps, self.arrays)


def term_source(
    frames: Frames, plants: Plants | None = None, *, masses: FloatArray | None = None
) -> TermSource:
    """What :meth:`Terms.put` reads; plants are found where not given.

    ``masses`` (S,) stand for Winter's, in the order of :func:`mass_segments`.
    """
    plants = plants_of(frames) if plants is None else plants
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    masses = segments.masses if masses is None else masses
    segment, joints = np.nonzero(segments.weights)
    firsts = np.searchsorted(segment, np.arange(N_SEGMENTS + 1))
    source = record(
        "ml_term_source",
        n_rows=frames.n_rows,
        n_joints=frames.body.shape[1],
        n_clips=len(frames.starts) - 1,
        n_plants=len(plants.places),
        n_parts=len(joints),
        heading=np.ascontiguousarray(frames.heading, dtype=np.float64),
        ground=np.ascontiguousarray(frames.ground, dtype=np.float64),
        body=np.ascontiguousarray(frames.body, dtype=np.float32),
        points=np.ascontiguousarray(frames.points, dtype=np.float32),
        starts=np.ascontiguousarray(frames.starts, dtype=np.int64),
        plant_ids=np.ascontiguousarray(plants.ids, dtype=np.int32),
        plant_places=np.ascontiguousarray(plants.places, dtype=np.float64),
        plant_ahead=np.ascontiguousarray(plants.ahead, dtype=np.float64),
        firsts=np.ascontiguousarray(firsts, dtype=np.int64),
        joints=np.ascontiguousarray(joints, dtype=np.int64),
        parts=segments.weights[segment, joints].astype(np.float32),
        masses=masses.astype(np.float32),
    )
    return TermSource(source)


def terms_of(
    frames: Frames,
    rows: IntArray | list[int],
    length: int,
    *,
    family: str = "bernstein",
    masses: FloatArray | None = None,
) -> Terms:
    """Terms of the windows of ``length`` frames that start at ``rows``.

    Parameters
    ----------
    frames
        All frames of a collection.
    rows : (W,)
        First rows; each window must stay inside its clip.
    length
        Frames T of a window.
    family
        Weights of the blends to score, one of :data:`~motionloom.tables.score.recipe.FAMILIES`.
    masses : (S,)
        Parts of body mass, as from :func:`motionloom.fit_masses`; Winter's by default.
    """
    first = np.asarray(rows, dtype=np.int64)
    clips = np.searchsorted(frames.starts, np.stack([first, first + length - 1]), side="right")
    bad = (clips[0] != clips[1]) | (first < 0) | (first + length > frames.n_rows)
    if bad.any():
        raise TableError(
            f"Windows of {length} frames must stay inside their clip; the one from row "
            f"{int(first[bad][0])} does not. Take rows from frames.windows(length)."
        )
    source = term_source(frames, masses=masses)
    terms = build_terms(frames, len(first), length, family=family, masses=masses)
    for slot, row in enumerate(first):
        terms.put(source, slot, int(row))
    return terms


def build_terms(
    frames: Frames,
    n_windows: int,
    length: int,
    *,
    family: str = "bernstein",
    masses: FloatArray | None = None,
) -> Terms:
    """Zeros for the terms of ``n_windows`` windows, to be filled by :meth:`Terms.put`."""
    half = max(2, int(0.5 * SMOOTH_S * frames.fps))
    pad = half + 1
    padded = length + 2 * pad
    if masses is None:
        masses = mass_segments(frames.skeleton.n_joints, frames.body_map).masses
    n_plants = max(8, -(-length // 12))
    arrays = TermArrays(
        np.zeros((n_windows, N_ROWS, padded), dtype=np.float32),
        np.zeros((n_windows, padded, 3 * N_SEGMENTS), dtype=np.float32),
        np.zeros((n_windows, 4, padded), dtype=np.float32),
        np.zeros((n_windows, 2, n_plants, 2), dtype=np.int32),
        np.zeros((n_windows, 2, n_plants, 2), dtype=np.float32),
        np.zeros((n_windows, 2), dtype=np.int32),
        np.zeros((n_windows, 2), dtype=np.int32),
    )
    return Terms(
        arrays,
        length,
        frames.fps,
        pad,
        _cubic_taps(half, frames.fps).astype(np.float32),
        _padded_weights(family, length, pad).astype(np.float32),
        sole_of(frames.skeleton, frames.body_map, frames.points[0].astype(np.float64)).astype(
            np.float32
        ),
        ball_height(frames.skeleton, frames.body_map) + LOW_M,
        masses.astype(np.float32),
    )


def _cubic_taps(half: int, fps: float) -> FloatArray:
    """Value, first and second derivative in the middle of a cubic fitted to 2 half + 1 frames.

    Ended by noughts, so that their number is a multiple of 4.
    """
    # Sums of powers are whole numbers: the normal equations are solved without rounding.
    at = range(-half, half + 1)
    one, two, four, six = (sum(k**power for k in at) for power in (0, 2, 4, 6))
    even, odd = one * four - two * two, two * six - four * four
    value = [(four - two * k**2) / even for k in at]
    slope = [fps * ((six * k - four * k**3) / odd) for k in at]
    bend = [2.0 * fps * fps * ((one * k**2 - two) / even) for k in at]
    return np.pad(np.array([value, slope, bend]), ((0, 0), (0, -len(at) % 4)))


def _padded_weights(family: str, length: int, pad: int) -> FloatArray:
    """Weights of 1 to 4 windows: before the blend all source, after it all target."""
    weights = np.zeros((MOST_WAYS, MOST_WAYS, length + 2 * pad))
    for n in range(1, MOST_WAYS + 1):
        weights[n - 1, :n, pad : pad + length] = weights_of(family, n, length)
        weights[n - 1, 0, :pad] = 1.0
        weights[n - 1, n - 1, pad + length :] = 1.0
    return weights


def sole_of(skeleton: Skeleton, body: BodyMap, points: FloatArray) -> FloatArray:
    """Heel behind the ball, tip before it, half the foot's breadth, stature. Shape (4,), metres.

    Parameters
    ----------
    skeleton, body
        Whose feet.
    points : (4, 3)
        Left heel, left ball, right heel, right ball in any frame: feet are rigid.
    """
    tall = stature(skeleton, body)
    heel = 0.5 * sum(norm(points[2 * s + 1] - points[2 * s]) for s in (0, 1))
    return np.array([heel, TIP_BEFORE_BALL * tall, HALF_WIDTH * tall, tall])
