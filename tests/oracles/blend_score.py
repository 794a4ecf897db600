"""A blend scored the straightforward way: the kernel must give the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.body.anatomy import ball_height
from motionloom.body.masses import mass_segments
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.columns import INCH
from motionloom.tables.score.recipe import weights_of
from motionloom.tables.score.stance import (
    BALLS,
    CHOSEN_LEAST,
    SMOOTH_S,
    Plants,
    Stand,
    clear_feet,
    measure_balance,
)
from motionloom.tables.score.terms import sole_of


class ChosenPlant(NamedTuple):
    """One plant that a blend keeps."""

    foot: int
    """0 left, 1 right."""
    first: int
    """Frames of the blend, both in it."""
    last: int
    place: FloatArray
    """Where the ball stands, x and z, metres. (2,)"""
    error: float
    """Mean distance of the blended ball from there over these frames, metres."""
    window: int
    """Which of the blended windows it comes from."""


def choose_plants(
    feet: FloatArray, candidates: Sequence[Sequence[tuple[int, int, FloatArray]]]
) -> list[ChosenPlant]:
    """Plants to keep, by rising error, none overlapping another of the same foot.

    [I7]_ section 4: a priority queue by error; a plant is taken if its frames are still free.

    Parameters
    ----------
    feet : (F, 2, 2)
        Balls of the blend over the ground: frame, foot, (x, z).
    candidates
        For each blended window the plants in it as ``(foot, first, places)``, with ``places``
        (n, 2): where in the blend's world its frames ``first`` to ``first + n - 1`` put the plant.
    """
    queue = []
    for window, plants in enumerate(candidates):
        for foot, first, places in plants:
            place = places.mean(axis=0)
            last = first + len(places) - 1
            errors = np.linalg.norm(feet[first : last + 1, foot] - place, axis=-1)
            plant = ChosenPlant(foot, first, last, place, float(errors.mean()), window)
            queue.append((plant.error, first, window, plant))
    taken = np.zeros((2, len(feet)), dtype=bool)
    chosen = []
    for *_, plant in sorted(queue, key=lambda entry: entry[:3]):
        frames = slice(plant.first, plant.last + 1)
        if not taken[plant.foot, frames].any():
            taken[plant.foot, frames] = True
            chosen.append(plant)
    return chosen


def measure_blend(
    frames: Frames,
    plants: Plants,
    rows: Sequence[int],
    length: int,
    *,
    family: str = "bernstein",
    times: IntArray | None = None,
) -> dict[str, float]:
    """Columns of a blend of the windows that start at ``rows``, the straightforward way.

    ``times`` (L, N) are the frames of the windows that go together; by default the same of all.

    The kernel must give the same. Columns that only weigh differences between the windows are not
    among them.
    """
    half = max(2, int(0.5 * SMOOTH_S * frames.fps))
    pad = half + 1
    lead, follow = _reach(frames, rows[0], length, pad)[0], _reach(frames, rows[-1], length, pad)[1]
    if times is None:
        times = np.tile(np.arange(length)[:, None], (1, len(rows)))
    made = len(times)
    weights = np.zeros((len(rows), lead + made + follow))
    weights[:, lead : lead + made] = weights_of(family, len(rows), made)
    weights[0, :lead] = 1.0
    weights[-1, lead + made :] = 1.0
    # Windows without weight outside the blend are not read there: their clips may have ended.
    at = np.pad(times.T, ((0, 0), (lead, follow)), mode="edge") + np.array(rows)[:, None]
    at[0, :lead] = rows[0] + np.arange(-lead, 0)
    at[-1, lead + made :] = rows[-1] + length + np.arange(follow)
    heading, ground = _walk(frames, at, weights)
    share = weights[:, :, None, None]
    body = np.sum(share * frames.body[at], axis=0)
    points = np.sum(share * frames.points[at], axis=0)
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    centres = segments.centres(_in_world(body, heading, ground))
    feet = _in_world(points, heading, ground)[:, BALLS][..., [0, 2]]
    window = slice(lead, lead + made)
    candidates, ahead = plant_candidates(
        frames, plants, rows, heading[window], ground[window], times=times
    )
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
    scored = range(lead, lead + made)
    standing = ball_height(frames.skeleton, frames.body_map)
    balance = measure_balance(
        centres, segments.masses, stands, sole, frames.fps, scored,
        clear=clear_feet(points[:, BALLS, 1], standing),
    )  # fmt: skip
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
        "ballistic": balance.ballistic,
    }


def _turned(level: FloatArray, angle: FloatArray) -> FloatArray:
    """(x, z) turned about +Y: positive angles carry +Z towards +X."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = level[..., 0], level[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)


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


def plant_candidates(
    frames: Frames,
    plants: Plants,
    rows: Sequence[int],
    heading: FloatArray,
    ground: FloatArray,
    *,
    times: IntArray | None = None,
) -> tuple[list[list[tuple[int, int, FloatArray]]], dict[tuple[int, int, int], FloatArray]]:
    """Plants of every window where a blend puts them, and which way their feet point there."""
    candidates, ahead = [], {}
    for window, row in enumerate(rows):
        mine = []
        at = row + (np.arange(len(heading)) if times is None else times[:, window])
        for foot in (0, 1):
            ids = plants.ids[at, foot]
            for plant in np.unique(ids[ids >= 0]):
                held = np.flatnonzero(ids == plant)
                if len(np.unique(at[held])) < CHOSEN_LEAST:
                    continue
                away = plants.places[plant] - frames.ground[at[held]]
                seen = _turned(away, -frames.heading[at[held]])
                places = _turned(seen, heading[held]) + ground[held]
                middle = (held[0] + held[-1]) // 2
                turn = heading[middle] - frames.heading[at[middle]]
                ahead[window, foot, int(held[0])] = _turned(plants.ahead[plant], turn)
                mine.append((foot, int(held[0]), places))
        candidates.append(mine)
    return candidates, ahead
