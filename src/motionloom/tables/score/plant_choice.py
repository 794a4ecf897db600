"""Plant choice: which plants of blended windows a transition keeps, and how far feet miss them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._elementary import cos, sin
from motionloom.tables.collection.frames import Frames

__all__ = ["BALLS", "CHOSEN_LEAST", "ChosenPlant", "Plants", "choose_plants", "plants_of"]

BALLS = (1, 3)
"""Columns of the balls of the left and right foot among the points of :class:`Frames`."""
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


def choose_plants(
    feet: FloatArray, candidates: Sequence[Sequence[tuple[int, int, FloatArray]]]
) -> list[ChosenPlant]:
    """Plants to keep, by rising error, none overlapping another of the same foot. The plain form.

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
