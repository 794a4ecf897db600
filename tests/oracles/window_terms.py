"""Terms of a window, read from the frames of a collection in double precision."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.masses import mass_segments
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.stance import CHOSEN_LEAST, Plants
from motionloom.tables.score.terms import TURN_M


def seen(level: FloatArray, heading: FloatArray) -> FloatArray:
    """(x, z) in the world (n, 2) as bodies of these headings (n,) see it."""
    cos, sin = np.cos(heading), np.sin(heading)
    x, z = level[..., 0], level[..., 1]
    return np.stack([cos * x - sin * z, sin * x + cos * z], axis=-1)


def window_terms(
    frames: Frames, plants: Plants, row: int, length: int, pad: int, most: int
) -> dict[str, np.ndarray]:
    """The fields of ``TermArrays`` of one window; of each foot at most ``most`` plants."""
    clip = frames.clip_at(row)
    lead = min(pad, row - int(frames.starts[clip]))
    follow = min(pad, int(frames.starts[clip + 1]) - row - length)
    at = np.arange(row - lead, row + length + follow)
    inside = slice(pad - lead, pad + length + follow)
    rows = np.zeros((17, length + 2 * pad))
    turn = np.diff(frames.heading[at], prepend=frames.heading[at[0]])
    step = np.zeros((len(at), 2))
    step[1:] = seen(np.diff(frames.ground[at], axis=0), frames.heading[at[:-1]])
    rows[0, inside], rows[1:3, inside] = turn, step.T
    rows[16, inside] = ((TURN_M * turn) ** 2 + np.square(step).sum(axis=1)) * frames.fps**2
    for foot in (0, 1):
        ball = frames.points[at, 2 * foot + 1]
        rows[3 + 2 * foot : 5 + 2 * foot, inside] = ball[:, [0, 2]].T
        rows[12 + foot, inside] = ball[:, 1]
        rows[10 + foot, inside] = plants.ids[at, foot] >= 0
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    centres = segments.centres(frames.body[at].astype(np.float64))
    com = np.einsum("s,nsc->nc", segments.masses, centres)
    rows[7:10, inside] = com.T
    about = np.sqrt(segments.masses)[:, None] * (centres - com[:, None])
    posture = np.zeros((length + 2 * pad, 48))
    posture[inside] = about.transpose(0, 2, 1).reshape(len(at), -1)
    rows[14, inside] = np.square(posture[inside]).sum(axis=1)
    moved = np.diff(posture[inside], axis=0, prepend=posture[inside][:1])
    rows[15, inside] = np.square(moved).sum(axis=1)
    anchors = np.zeros((4, length + 2 * pad))
    spans = np.zeros((2, most, 2), dtype=int)
    ahead, counts = np.zeros((2, most, 2)), np.zeros(2, dtype=int)
    for foot in (0, 1):
        ids = plants.ids[row : row + length, foot]
        edges = [0, *(np.flatnonzero(np.diff(ids)) + 1), length]
        for first, end in pairwise(edges):
            plant, k = ids[first], counts[foot]
            if plant < 0 or end - first < CHOSEN_LEAST or k == most:
                continue
            held = np.arange(row + first, row + end)
            away = plants.places[plant] - frames.ground[held]
            anchors[2 * foot : 2 * foot + 2, pad + first : pad + end] = seen(
                away, frames.heading[held]
            ).T
            middle = frames.heading[row + (first + end - 1) // 2]
            ahead[foot, k] = seen(plants.ahead[plant], middle)
            spans[foot, k] = first, end - 1
            counts[foot] += 1
    return {
        "rows": rows,
        "posture": posture,
        "anchors": anchors,
        "spans": spans,
        "ahead": ahead,
        "counts": counts,
        "reach": np.array([lead, follow]),
    }
