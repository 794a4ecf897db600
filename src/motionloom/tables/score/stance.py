"""Stance: where feet stand in a collection, and how well a motion balances over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray, cos, sin
from motionloom._core import constant
from motionloom.features.balance import FLIGHT_LOAD, GRAVITY, ROLL_S
from motionloom.motion.motion import runs_of
from motionloom.tables.collection.frames import Frames

BALLS = (1, 3)
"""Columns of the balls of the left and right foot among the points of :class:`Frames`."""
SMOOTH_S = 0.25
"""Window of the cubic fits behind accelerations (15 frames at 60 a second)."""
FLIGHT_S = constant("ML_FLIGHT_S")
"""Seconds of the shortest flight that is measured."""
CLEAR_M = 0.05
"""In a flight both balls are this far above where they stand: lower ones may still push off or
land."""
CHOSEN_LEAST = 2
"""Frames that a plant must share with a window to count in it: one frame does not stand."""


class Plants(NamedTuple):
    """Plants of both feet in all clips of a collection: where, which way, from when to when."""

    ids: npt.NDArray[np.int32]
    """Number of the plant that each row's left and right foot is in; -1 in none. (R, 2)"""
    places: FloatArray
    """Mean ball of each plant in its clip's own world: x and z, metres. (P, 2)"""
    ahead: FloatArray
    """Which way the foot points, heel to ball over the ground, (x, z) of length one. (P, 2)"""
    spans: IntArray
    """First and last row. (P, 2)"""


def plants_of(frames: Frames) -> Plants:
    """Plants of every clip, from the runs in which a ball stands.

    A plant is named by its number; runs never cross from one clip into the next.
    """
    ids = np.full((frames.n_rows, len(BALLS)), -1, dtype=np.int32)
    firsts, lasts, feet = [], [], []
    count = 0
    for foot, ball in enumerate(BALLS):
        first, last = _runs_within(np.asarray(frames.planted[:, ball]), frames.starts)
        numbers = np.zeros(frames.n_rows + 1, dtype=np.int32)
        numbers[first] += 1
        inside = np.zeros(frames.n_rows + 1, dtype=np.int32)
        np.add.at(inside, first, 1)
        np.add.at(inside, last + 1, -1)
        standing = np.cumsum(inside)[:-1] > 0
        ids[:, foot] = np.where(standing, np.cumsum(numbers)[:-1] + count - 1, -1)
        firsts.append(first)
        lasts.append(last)
        feet.append(np.full(len(first), foot))
        count += len(first)
    spans = np.stack([np.concatenate(firsts), np.concatenate(lasts)], axis=1)
    places, ahead = _mean_feet(frames, spans, np.concatenate(feet))
    return Plants(ids, places, ahead, spans)


def _runs_within(flags: BoolArray, starts: IntArray) -> tuple[IntArray, IntArray]:
    """First and last row of every run that stays inside one clip."""
    begins = flags.copy()
    begins[1:] &= ~flags[:-1]
    inner = starts[1:-1]
    begins[inner] |= flags[inner]
    ends = flags.copy()
    ends[:-1] &= ~flags[1:]
    ends[inner - 1] |= flags[inner - 1]
    return np.flatnonzero(begins), np.flatnonzero(ends)


def _mean_feet(frames: Frames, spans: IntArray, feet: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean ball (P, 2) and direction (P, 2) of plants, in the clips' own worlds."""
    if not len(spans):
        return np.zeros((0, 2)), np.zeros((0, 2))
    length = spans[:, 1] - spans[:, 0] + 1
    edges = np.concatenate([[0], np.cumsum(length)[:-1]])
    rows = np.repeat(spans[:, 0] - edges, length) + np.arange(length.sum())
    foot = np.repeat(feet, length)
    points = frames.points[rows].astype(np.float64)
    which = np.arange(len(rows))
    ball, heel = points[which, 2 * foot + 1], points[which, 2 * foot]
    turn = frames.heading[rows]
    c, s = cos(turn), sin(turn)

    def in_world(seen: FloatArray) -> FloatArray:
        x, z = seen[:, 0], seen[:, 2]
        return np.stack([c * x + s * z, c * z - s * x], axis=1)

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(np.add.reduceat(values, edges, axis=0) / length[:, None])

    places = mean(in_world(ball) + frames.ground[rows])
    ahead = mean(in_world(ball - heel))
    norm = np.linalg.norm(ahead, axis=1, keepdims=True)
    # A foot that stands on end points nowhere; forward is as good as any.
    return places, np.where(norm > 1e-6, ahead / np.maximum(norm, 1e-6), [0.0, 1.0])


class Stand(NamedTuple):
    """A foot that stands."""

    foot: int
    first: int
    last: int
    place: FloatArray
    """Ball, x and z. (2,)"""
    ahead: FloatArray
    """Direction of the foot, of length one. (2,)"""


class Balance(NamedTuple):
    """The zero moment point of a motion against what it stands on."""

    outside: FloatArray
    """Distance from the support in frames that stand on something, metres. (n,)"""
    unsupported: int
    """Frames neither in flight nor within 0.1 s of a plant."""
    bare: int
    """Frames neither in flight nor in a plant."""
    peak: float
    """Largest acceleration of the centre of mass, m/s2."""
    ballistic: float
    """How far the worst flight is from free fall: weight carried, and angular momentum gained. A
    motion that never stands is one flight."""


def measure_balance(
    centres: FloatArray,
    masses: FloatArray,
    stands: Sequence[Stand],
    sole: FloatArray,
    fps: float,
    scored: range,
    *,
    clear: BoolArray | None = None,
) -> Balance:
    """Balance of a motion in the frames ``scored``, where accelerations can be known.

    Parameters
    ----------
    centres : (F, S, 3)
        Segments in the world, metres.
    masses : (S,)
        Parts of body mass.
    stands
        Feet that stand, in frames of ``centres``.
    sole : (4,)
        Heel behind the ball, tip before it, half the breadth, stature; metres.
    fps
        Frames a second.
    scored
        Frames wanted; those too near the ends are left out.
    clear : (F,)
        Frames in which both feet are clear of the ground, from :func:`clear_feet`; by default all.
    """
    half = max(2, int(0.5 * SMOOTH_S * fps))
    first = max(scored.start, half + 1)
    last = min(scored.stop, len(centres) - half - 1)
    com = np.einsum("s,fsc->fc", masses, centres)
    about = centres - com[:, None]
    # Momentum from one frame to the next, then in a frame as the mean of both sides.
    between = fps * np.einsum("s,fsc->fc", masses, np.cross(about[:-1], about[1:]))
    momentum = np.zeros_like(com)
    momentum[1:-1] = 0.5 * (between[1:] + between[:-1])
    value, slope, bend = _cubic_rows(half, fps)
    frames = np.arange(first, max(last, first))
    around = frames[:, None] + np.arange(-half, half + 1)
    place, acceleration = (np.einsum("k,fkc->fc", taps, com[around]) for taps in (value, bend))
    gained = np.einsum("k,fkc->fc", slope, momentum[around])
    push = acceleration[:, 1] + GRAVITY
    height = place[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        x = place[:, 0] + (gained[:, 2] - height * acceleration[:, 0]) / push
        z = place[:, 2] + (-gained[:, 0] - height * acceleration[:, 2]) / push
    carried = push >= FLIGHT_LOAD * GRAVITY
    corners, used = _soles(frames, stands, sole)
    stood = used.any(axis=1)
    measurable = carried & stood
    points = np.stack([x, z], axis=1)
    gaps = [_outside(points[f], corners[f][used[f]]) for f in np.flatnonzero(measurable)]
    bare = carried & ~stood
    near = _near_plants(frames, stands, round(ROLL_S * fps))
    peak = float(np.linalg.norm(acceleration, axis=1).max()) if len(frames) else 0.0
    return Balance(
        np.array(gaps),
        int(np.count_nonzero(bare & ~near)),
        int(np.count_nonzero(bare)),
        peak,
        max(
            (
                _fall(momentum[frames[span]], push[span], float(sole[3]))
                for span in _flights(frames, stands, scored, fps, clear)
            ),
            default=0.0,
        ),
    )


def clear_feet(balls: FloatArray, standing: float) -> BoolArray:
    """Frames in which both balls are clear of the ground, by their heights (F, 2). (F,)."""
    return np.asarray((balls > standing + CLEAR_M).all(axis=1))


def _flights(
    frames: IntArray,
    stands: Sequence[Stand],
    scored: range,
    fps: float,
    clear: BoolArray | None,
) -> list[slice]:
    """Places among frames of flights: long enough, and far from plants and from the ends."""
    if not any(stand.last - stand.first + 1 >= CHOSEN_LEAST for stand in stands):
        return [slice(0, len(frames))]
    roll = round(ROLL_S * fps)
    free = (frames >= scored.start + roll) & (frames < scored.stop - roll)
    free &= ~_near_plants(frames, stands, roll)
    if clear is not None:
        free &= clear[frames]
    shortest = int(FLIGHT_S * fps + 0.5)
    return [slice(a, b + 1) for a, b in runs_of(free) if b - a + 1 >= shortest]


def _cubic_rows(half: int, fps: float) -> FloatArray:
    time = np.arange(-half, half + 1) / fps
    fit = np.linalg.pinv(np.vander(time, 4, increasing=True))
    return np.stack([fit[0], fit[1], 2.0 * fit[2]])


def _soles(
    frames: IntArray, stands: Sequence[Stand], sole: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Corners of the soles of both feet (n, 8, 2), and which of them carry (n, 8)."""
    corners = np.zeros((len(frames), 8, 2))
    used = np.zeros((len(frames), 8), dtype=bool)
    heel, tip, half_width = sole[:3]
    for stand in stands:
        within = (frames >= stand.first) & (frames <= stand.last)
        along, across = stand.ahead, np.array([-stand.ahead[1], stand.ahead[0]])
        four = slice(4 * stand.foot, 4 * stand.foot + 4)
        corners[within, four] = [
            stand.place + end * along + edge * half_width * across
            for end in (-heel, tip)
            for edge in (-1.0, 1.0)
        ]
        used[within, four] = True
    return corners, used


def _outside(point: FloatArray, corners: FloatArray) -> float:
    """Distance (exact) of a point from the convex hull of corners (n, 2); 0 inside.

    A point is inside where no half turn is without a corner, and outside its nearest place of the
    hull lies on the line between two corners; lines within the hull are no nearer.
    """
    away = corners - point
    angles = np.sort(np.arctan2(away[:, 1], away[:, 0]))
    if np.diff(np.append(angles, angles[0] + 2.0 * np.pi)).max() <= np.pi:
        return 0.0
    edge = away[None] - away[:, None]  # (n, n, 2)
    size = np.sum(edge**2, axis=-1)
    u = -np.sum(away[:, None] * edge, axis=-1) / np.where(size > 0.0, size, 1.0)
    nearest = away[:, None] + np.clip(u, 0.0, 1.0)[..., None] * edge
    return float(np.linalg.norm(nearest, axis=-1).min())


def _near_plants(frames: IntArray, stands: Sequence[Stand], roll: int) -> BoolArray:
    near = np.zeros(len(frames), dtype=bool)
    for stand in stands:
        near |= (frames >= stand.first - roll) & (frames <= stand.last + roll)
    return near


def _fall(momentum: FloatArray, push: FloatArray, tall: float) -> float:
    if not len(push):
        return 0.0
    level = momentum[:, [0, 2]]
    turning = np.linalg.norm(level - level.mean(axis=0), axis=1).max()
    return float(np.abs(push).mean() / GRAVITY + turning / (tall * np.sqrt(GRAVITY * tall)))
