"""Terms: windows as rows of numbers whose weighted sum is the blend's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import TableError
from motionloom.features.support import HALF_WIDTH
from motionloom.motion.body import stature
from motionloom.motion.feet import TIP_BEFORE_BALL, ball_height
from motionloom.motion.masses import mass_segments
from motionloom.transitions.frames import FloatArray32, Frames
from motionloom.transitions.plant_choice import CHOSEN_LEAST, Plants, plants_of
from motionloom.transitions.weights import weights_of

__all__ = [
    "MOST_WAYS",
    "TermArrays",
    "TermSource",
    "Terms",
    "build_terms",
    "term_source",
    "terms_into",
    "terms_of",
]

IntArray32 = npt.NDArray[np.int32]

MOST_WAYS = 4

# Rows of a window's terms.
HEADING, STEP, FEET, COM, STANDS, LIFT, POWER, PACE, TRAVEL = 0, 1, 3, 7, 10, 12, 14, 15, 16
"""Step of heading; step of the root (x, z); balls (x, z) twice; centre of mass (x, y, z); whether
each ball stands; heights of the balls; squared size of the posture, of its step and of the root's
velocity."""
N_ROWS = 17
N_SEGMENTS = 16
"""Segments of :func:`mass_segments`; a constant, so that loops over them unroll."""

TURN_M = 0.3
"""A turn of the root counts in the root's speed like a step on a circle of this radius."""
SMOOTH_S = 0.25
"""Window of the cubic fits behind accelerations (15 frames at 60 a second)."""


LOW_M = 0.03
"""A ball within this of the height at which it stands is low."""


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


class TermSource(NamedTuple):
    """What terms of any window of a collection are read from."""

    heading: FloatArray
    ground: FloatArray
    body: FloatArray32
    points: FloatArray32
    starts: IntArray
    plant_ids: npt.NDArray[np.int32]
    plant_places: FloatArray
    plant_ahead: FloatArray
    joints: IntArray
    """Joints that make each segment, padded with 0. (S, 4)"""
    parts: FloatArray32
    """How much of them, padded with 0. (S, 4)"""
    masses: FloatArray32
    """Parts of body mass. (S,)"""


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Windows of one length as terms, and what judging their blends needs to know.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.transitions.frames import frames_of
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
        """Overwrite one window by the one that starts at ``row``: for windows met at run time."""
        terms_into(source, row, slot, self.length, self.pad, self.fps, self.arrays)


def term_source(frames: Frames, plants: Plants | None = None) -> TermSource:
    """Arrays that :func:`terms_into` reads; plants are found where not given."""
    plants = plants_of(frames) if plants is None else plants
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    n_most = int(np.count_nonzero(segments.weights, axis=1).max())
    joints = np.argsort(segments.weights == 0.0, axis=1, kind="stable")[:, :n_most]
    parts = np.take_along_axis(segments.weights, joints, axis=1)
    return TermSource(
        frames.heading,
        frames.ground,
        frames.body,
        frames.points,
        frames.starts,
        plants.ids,
        plants.places,
        plants.ahead,
        joints.astype(np.int64),
        parts.astype(np.float32),
        segments.masses.astype(np.float32),
    )


def terms_of(
    frames: Frames, rows: IntArray | list[int], length: int, *, family: str = "bernstein"
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
        Weights of the blends to judge, one of :data:`motionloom.transitions.weights.FAMILIES`.
    """
    first = np.asarray(rows, dtype=np.int64)
    clips = np.searchsorted(frames.starts, np.stack([first, first + length - 1]), side="right")
    bad = (clips[0] != clips[1]) | (first < 0) | (first + length > frames.n_rows)
    if bad.any():
        raise TableError(
            f"Windows of {length} frames must stay inside their clip; the one from row "
            f"{int(first[bad][0])} does not. Take rows from frames.windows(length)."
        )
    source = term_source(frames)
    terms = build_terms(frames, len(first), length, family=family)
    for slot, row in enumerate(first):
        terms.put(source, slot, int(row))
    return terms


def build_terms(frames: Frames, n_windows: int, length: int, *, family: str = "bernstein") -> Terms:
    """Room for the terms of ``n_windows`` windows, all zero, to be filled by :meth:`Terms.put`."""
    half = max(2, int(0.5 * SMOOTH_S * frames.fps))
    pad = half + 1
    padded = length + 2 * pad
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
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
        _sole(frames).astype(np.float32),
        ball_height(frames.skeleton, frames.body_map) + LOW_M,
        segments.masses.astype(np.float32),
    )


def _cubic_taps(half: int, fps: float) -> FloatArray:
    """Value, first and second derivative in the middle of a cubic fitted to 2 half + 1 frames.

    Ended by noughts, so that their number is a multiple of 4.
    """
    time = np.arange(-half, half + 1) / fps
    fit = np.linalg.pinv(np.vander(time, 4, increasing=True))
    taps = np.stack([fit[0], fit[1], 2.0 * fit[2]])
    return np.pad(taps, ((0, 0), (0, -len(time) % 4)))


def _padded_weights(family: str, length: int, pad: int) -> FloatArray:
    """Weights of 1 to 4 windows: before the blend all source, after it all target."""
    weights = np.zeros((MOST_WAYS, MOST_WAYS, length + 2 * pad))
    for n in range(1, MOST_WAYS + 1):
        weights[n - 1, :n, pad : pad + length] = weights_of(family, n, length)
        weights[n - 1, 0, :pad] = 1.0
        weights[n - 1, n - 1, pad + length :] = 1.0
    return weights


def _sole(frames: Frames) -> FloatArray:
    tall = stature(frames.skeleton, frames.body_map)
    feet = frames.points[0].astype(np.float64)
    heel = 0.5 * sum(float(np.linalg.norm(feet[2 * s + 1] - feet[2 * s])) for s in (0, 1))
    return np.array([heel, TIP_BEFORE_BALL * tall, HALF_WIDTH * tall, tall])


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def terms_into(
    source: TermSource,
    row: int,
    slot: int,
    length: int,
    pad: int,
    fps: float,
    out: TermArrays,
) -> None:
    """Write the terms of the window that starts at ``row`` into place ``slot`` of ``out``."""
    clip = np.searchsorted(source.starts, row, side="right") - 1
    lead = min(pad, row - source.starts[clip])
    follow = min(pad, source.starts[clip + 1] - row - length)
    out.reach[slot, 0] = lead
    out.reach[slot, 1] = follow
    rows = out.rows[slot]
    rows[:, : pad - lead] = np.float32(0.0)
    rows[:, pad + length + follow :] = np.float32(0.0)
    posture = out.posture[slot]
    posture[: pad - lead] = np.float32(0.0)
    posture[pad + length + follow :] = np.float32(0.0)
    _root_into(source, row, pad, pad - lead, pad + length + follow, fps, rows)
    _posture_into(source, row, pad, pad - lead, pad + length + follow, rows, posture)
    _plants_into(source, row, slot, length, pad, out)


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def _root_into(
    source: TermSource, row: int, pad: int, begin: int, end: int, fps: float, rows: FloatArray32
) -> None:
    """Steps and feet of frames ``begin`` to ``end - 1`` of a padded window."""
    heading, ground, points = source.heading, source.ground, source.points
    cos = np.cos(heading[row - pad + begin])
    sin = np.sin(heading[row - pad + begin])
    for t in range(begin, end):
        r = row - pad + t
        turn, x, z = 0.0, 0.0, 0.0
        if t > begin:
            turn = heading[r] - heading[r - 1]
            dx, dz = ground[r, 0] - ground[r - 1, 0], ground[r, 1] - ground[r - 1, 1]
            x, z = cos * dx - sin * dz, sin * dx + cos * dz
            cos, sin = np.cos(heading[r]), np.sin(heading[r])
        rows[HEADING, t] = turn
        rows[STEP, t] = x
        rows[STEP + 1, t] = z
        rows[TRAVEL, t] = ((TURN_M * turn) ** 2 + x * x + z * z) * fps * fps
        for s in range(2):
            rows[FEET + 2 * s, t] = points[r, 2 * s + 1, 0]
            rows[FEET + 2 * s + 1, t] = points[r, 2 * s + 1, 2]
            rows[LIFT + s, t] = points[r, 2 * s + 1, 1]
            rows[STANDS + s, t] = 1.0 if source.plant_ids[r, s] >= 0 else 0.0


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract", "reassoc"})
def _posture_into(
    source: TermSource,
    row: int,
    pad: int,
    begin: int,
    end: int,
    rows: FloatArray32,
    posture: FloatArray32,
) -> None:
    """Centre of mass and segments about it, of frames ``begin`` to ``end - 1``."""
    joints, parts, masses, body = source.joints, source.parts, source.masses, source.body
    roots = np.sqrt(masses)
    for t in range(begin, end):
        frame, now = body[row - pad + t], posture[t]
        power, pace = np.float32(0.0), np.float32(0.0)
        for c in range(3):
            middle = np.float32(0.0)
            for g in range(N_SEGMENTS):
                x = np.float32(0.0)
                for k in range(joints.shape[1]):
                    x += parts[g, k] * frame[joints[g, k], c]
                now[c * N_SEGMENTS + g] = x
                middle += masses[g] * x
            rows[COM + c, t] = middle
            for g in range(N_SEGMENTS):
                x = roots[g] * (now[c * N_SEGMENTS + g] - middle)
                now[c * N_SEGMENTS + g] = x
                power += x * x
        if t > begin:
            before = posture[t - 1]
            for k in range(3 * N_SEGMENTS):
                step = now[k] - before[k]
                pace += step * step
        rows[POWER, t] = power
        rows[PACE, t] = pace


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def _plants_into(
    source: TermSource, row: int, slot: int, length: int, pad: int, out: TermArrays
) -> None:
    """Spans of the plants in a window, and where each frame's body sees them."""
    most = out.spans.shape[2]
    for s in range(2):
        count, t = 0, 0
        for u in range(length):
            out.anchors[slot, 2 * s, pad + u] = 0.0
            out.anchors[slot, 2 * s + 1, pad + u] = 0.0
        while t < length:
            plant = source.plant_ids[row + t, s]
            first = t
            while t < length and source.plant_ids[row + t, s] == plant:
                t += 1
            if plant < 0 or t - first < CHOSEN_LEAST or count == most:
                continue
            middle = (first + t - 1) // 2
            for u in range(first, t):
                cos, sin = np.cos(source.heading[row + u]), np.sin(source.heading[row + u])
                dx = source.plant_places[plant, 0] - source.ground[row + u, 0]
                dz = source.plant_places[plant, 1] - source.ground[row + u, 1]
                out.anchors[slot, 2 * s, pad + u] = cos * dx - sin * dz
                out.anchors[slot, 2 * s + 1, pad + u] = sin * dx + cos * dz
                if u == middle:
                    ax, az = source.plant_ahead[plant, 0], source.plant_ahead[plant, 1]
                    out.ahead[slot, s, count, 0] = cos * ax - sin * az
                    out.ahead[slot, s, count, 1] = sin * ax + cos * az
            out.spans[slot, s, count, 0] = first
            out.spans[slot, s, count, 1] = t - 1
            count += 1
        out.counts[slot, s] = count
