"""The kernel's measures in plain numpy: for motions that are no blend, and to test the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.body.masses import mass_segments
from motionloom.features.balance import FLIGHT_LOAD, GRAVITY
from motionloom.features.support import ROLL_S
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.columns import INCH
from motionloom.tables.score.plant_choice import BALLS, CHOSEN_LEAST, Plants, choose_plants
from motionloom.tables.score.terms import SMOOTH_S, sole_of
from motionloom.tables.score.window_weights import weights_of

__all__ = ["Balance", "Stand", "measure_balance", "measure_blend"]


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
    """How far the motion is from free fall: weight carried, and angular momentum gained."""


def measure_balance(
    centres: FloatArray,
    masses: FloatArray,
    stands: Sequence[Stand],
    sole: FloatArray,
    fps: float,
    scored: range,
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
    known = carried & stood
    points = np.stack([x, z], axis=1)
    gaps = [_outside(points[f], corners[f][used[f]]) for f in np.flatnonzero(known)]
    bare = carried & ~stood
    near = _near_plants(frames, stands, round(ROLL_S * fps))
    peak = float(np.linalg.norm(acceleration, axis=1).max()) if len(frames) else 0.0
    return Balance(
        np.array(gaps),
        int(np.count_nonzero(bare & ~near)),
        int(np.count_nonzero(bare)),
        peak,
        _fall(momentum[frames], push, float(sole[3])),
    )


def measure_blend(
    frames: Frames,
    plants: Plants,
    rows: Sequence[int],
    length: int,
    *,
    family: str = "bernstein",
) -> dict[str, float]:
    """Columns of a blend of the windows that start at ``rows``, the straightforward way.

    The kernel must give the same. Columns that only weigh differences between the windows are not
    among them.
    """
    half = max(2, int(0.5 * SMOOTH_S * frames.fps))
    pad = half + 1
    lead, follow = _reach(frames, rows[0], length, pad)[0], _reach(frames, rows[-1], length, pad)[1]
    time = np.arange(-lead, length + follow)
    weights = np.zeros((len(rows), len(time)))
    weights[:, lead : lead + length] = weights_of(family, len(rows), length)
    weights[0, :lead] = 1.0
    weights[-1, lead + length :] = 1.0
    # Windows without weight outside the blend are not read there: their clips may have ended.
    inside = np.clip(time, 0, length - 1)
    at = np.array([row + inside for row in rows])
    at[0, :lead] = rows[0] + time[:lead]
    at[-1, lead + length :] = rows[-1] + time[lead + length :]
    heading, ground = _walk(frames, at, weights)
    share = weights[:, :, None, None]
    body = np.sum(share * frames.body[at], axis=0)
    points = np.sum(share * frames.points[at], axis=0)
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    centres = segments.centres(_in_world(body, heading, ground))
    feet = _in_world(points, heading, ground)[:, BALLS][..., [0, 2]]
    window = slice(lead, lead + length)
    candidates, ahead = _candidates(frames, plants, rows, heading[window], ground[window])
    chosen = choose_plants(feet[window], candidates)
    stands = [
        Stand(
            plant.foot,
            plant.first + lead,
            plant.last + lead,
            plant.place,
            ahead[plant.window, plant.foot, plant.first],
        )
        for plant in chosen
    ]
    sole = sole_of(frames.skeleton, frames.body_map, frames.points[0].astype(np.float64))
    scored = range(lead, lead + length)
    balance = measure_balance(centres, segments.masses, stands, sole, frames.fps, scored)
    n_frames = [plant.last - plant.first + 1 for plant in chosen]
    errors = [plant.error for plant in chosen]
    planted = sum(n_frames)
    outside = balance.outside if len(balance.outside) else np.zeros(1)
    return {
        "foot_in": float(np.dot(errors, n_frames)) / max(planted, 1) / INCH,
        "foot_worst_in": max(errors, default=0.0) / INCH,
        "planted": planted,
        "zmp_max_in": float(outside.max()) / INCH,
        "zmp_p95_in": float(np.quantile(outside, 0.95)) / INCH,
        "zmp_mean_in": float(outside.mean()) / INCH,
        "scored": len(balance.outside),
        "unsupported": balance.unsupported,
        "bare": balance.bare,
        "com_acc": balance.peak,
        "ballistic": 0.0 if planted else balance.ballistic,
    }


def _turned(level: FloatArray, angle: FloatArray) -> FloatArray:
    """(x, z) turned about +Y: positive angles carry +Z towards +X."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = level[..., 0], level[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)


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


def _reach(frames: Frames, row: int, length: int, most: int) -> tuple[int, int]:
    """Frames that the clip has before and after a window, at most ``most``."""
    clip = frames.clip_at(row)
    before = row - int(frames.starts[clip])
    after = int(frames.starts[clip + 1]) - row - length
    return min(most, before), min(most, after)


def _walk(frames: Frames, at: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Heading (L,) and ground (L, 2) of a blend from blended steps, from 0."""
    turns = np.diff(frames.heading[at], axis=1)
    heading = np.concatenate([[0.0], np.cumsum(np.sum(weights[:, 1:] * turns, axis=0))])
    steps = _turned(np.diff(frames.ground[at], axis=1), -frames.heading[at[:, :-1]])
    step = np.sum(weights[:, 1:, None] * steps, axis=0)
    walked = np.cumsum(_turned(step, heading[:-1]), axis=0)
    return heading, np.concatenate([np.zeros((1, 2)), walked])


def _in_world(seen: FloatArray, heading: FloatArray, ground: FloatArray) -> FloatArray:
    """Points (L, P, 3) seen from the body where they are in the world."""
    level = _turned(seen[..., [0, 2]], heading[:, None]) + ground[:, None]
    return np.stack([level[..., 0], seen[..., 1], level[..., 1]], axis=-1)


def _candidates(
    frames: Frames, plants: Plants, rows: Sequence[int], heading: FloatArray, ground: FloatArray
) -> tuple[list[list[tuple[int, int, FloatArray]]], dict[tuple[int, int, int], FloatArray]]:
    """Plants of every window where a blend puts them, and which way their feet point there."""
    candidates, ahead = [], {}
    length = len(heading)
    for window, row in enumerate(rows):
        mine = []
        for foot in (0, 1):
            ids = plants.ids[row : row + length, foot]
            for plant in np.unique(ids[ids >= 0]):
                held = np.flatnonzero(ids == plant)
                if len(held) < CHOSEN_LEAST:
                    continue
                away = plants.places[plant] - frames.ground[row + held]
                seen = _turned(away, -frames.heading[row + held])
                places = _turned(seen, heading[held]) + ground[held]
                middle = (held[0] + held[-1]) // 2
                turn = heading[middle] - frames.heading[row + middle]
                ahead[window, foot, int(held[0])] = _turned(plants.ahead[plant], turn)
                mine.append((foot, int(held[0]), places))
        candidates.append(mine)
    return candidates, ahead
