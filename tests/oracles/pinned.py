"""Captured windows bent to leave one row and to arrive at another, and their terms."""

from __future__ import annotations

import numpy as np

from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.terms import (
    COM,
    FEET,
    HEADING,
    LIFT,
    N_ROWS,
    PACE,
    POWER,
    STANDS,
    STEP,
    TRAVEL,
    TURN_M,
    TermArrays,
)
from tests.oracles.blend_kernel import blend_rotations

REACH_S, GLIDE_S, SHORTEST_S, EASE_S = 4 / 60, 50 / 60, 20 / 60, 50 / 60
SWING = np.radians(7.0)
UP = np.array([0.0, 1.0, 0.0])


def eased(u):
    u = np.clip(u, 0.0, 1.0)
    return u * u * (3.0 - 2.0 * u)


def slope(t, time):
    return t * np.maximum(1.0 - t / time, 0.0) ** 2


def next_to(frames: Frames, row: int, way: int) -> int:
    """A row outside the passage that velocities are differences from."""
    clip = frames.clip_at(row)
    low, high = int(frames.starts[clip]), int(frames.starts[clip + 1]) - 1
    other = int(np.clip(row + way * max(1, int(REACH_S * frames.fps + 0.5)), low, high))
    if other == row:
        other = row - way
    return other if low <= other <= high else row


def root_at(frames: Frames, row: int, way: int) -> np.ndarray:
    """Height, and velocities of turn, side, ahead and height, a frame."""
    other = next_to(frames, row, way)
    gone = other - row or 1
    x, z = frames.ground[other] - frames.ground[row]
    cos, sin = np.cos(frames.heading[row]), np.sin(frames.heading[row])
    height = float(frames.body[row, 0, 1])
    return np.array(
        [
            height,
            (frames.heading[other] - frames.heading[row]) / gone,
            (cos * x - sin * z) / gone,
            (sin * x + cos * z) / gone,
            (float(frames.body[other, 0, 1]) - height) / gone,
        ]
    )


def spin_at(frames: Frames, row: int, way: int) -> np.ndarray:
    """Rotation vectors a frame, (J, 3)."""
    other = next_to(frames, row, way)
    now, then = (quat.normalize(frames.quats[at].astype(np.float64)) for at in (row, other))
    return quat.log(quat.multiply(quat.conjugate(now), then)) / (other - row or 1)


def bent_windows(frames: Frames, rows, at: np.ndarray, weights: np.ndarray, ends):
    """Headings, roots and rotations of ``ml_passage_make``, feet as they come out."""
    length = len(at)
    sides = ((0, -1, ends[0]), (length - 1, 1, ends[1]))
    lacks = [
        root_at(frames, row, way)
        - sum(w * root_at(frames, int(x), way) for w, x in zip(weights[:, t], at[t], strict=True))
        for t, way, row in sides
    ]
    t, end = np.arange(length), length - 1
    a = 1.0 - eased((t - 0.5) / (GLIDE_S * frames.fps))
    b = 1.0 - eased((end - t + 0.5) / (GLIDE_S * frames.fps))
    heading, place = [float(frames.heading[ends[0]])], [np.array(frames.ground[ends[0]])]
    for k in range(1, length):
        step = a[k] * lacks[0][1:4] + b[k] * lacks[1][1:4]
        for w, now, before in zip(weights[:, k], at[k], at[k - 1], strict=True):
            x, z = frames.ground[now] - frames.ground[before]
            cos, sin = np.cos(frames.heading[before]), np.sin(frames.heading[before])
            turn = frames.heading[now] - frames.heading[before]
            step = step + w * np.array([turn, cos * x - sin * z, sin * x + cos * z])
        cos, sin = np.cos(heading[-1]), np.sin(heading[-1])
        turn, side, ahead = step
        place.append(place[-1] + np.array([cos * side + sin * ahead, cos * ahead - sin * side]))
        heading.append(heading[-1] + turn)
    time, u = min(EASE_S * frames.fps, end), t / end
    along = (lacks[1][0] - lacks[0][0]) / end
    height = np.einsum("nt,tn->t", weights, frames.body[at, 0, 1].astype(np.float64))
    height = height + (1.0 - u) * lacks[0][0] + u * lacks[1][0]
    height = height + (lacks[0][4] - along) * slope(t, time)
    height = height - (lacks[1][4] - along) * slope(end - t, time)
    psi, ground = np.array(heading), np.array(place)
    root = np.stack([ground[:, 0], height, ground[:, 1]], axis=1)
    return psi, root, bent_rotations(frames, blend_rotations(rows, at, weights, psi), at, weights,
                                     psi, sides)  # fmt: skip


def bent_rotations(frames, quats, at, weights, psi, sides):
    """Rotations with those of both ends, and their spins."""
    length, end = len(at), len(at) - 1
    off, spin = [], []
    for t, way, row in sides:
        asked = quat.normalize(frames.quats[row].astype(np.float64))
        asked[0] = quat.multiply(quat.from_axis_angle(UP, np.array(psi[t])), asked[0])
        off.append(quat.log(quat.multiply(quat.conjugate(quats[t]), asked)))
        own = [w * spin_at(frames, int(x), way) for w, x in zip(weights[:, t], at[t], strict=True)]
        spin.append(spin_at(frames, row, way) - sum(own))
    t = np.arange(length)[:, None, None]
    u = t / end
    bend = (1.0 - u) * off[0] + u * off[1]
    longest, shortest = (min(s * frames.fps, end) for s in (EASE_S, SHORTEST_S))
    for k, sign in ((0, 1.0), (1, -1.0)):
        left = spin[k] - (off[1] - off[0]) / end
        size = np.maximum(np.linalg.norm(left, axis=-1, keepdims=True), 1e-9)
        time = np.clip(6.75 * SWING / size, shortest, longest)
        bend = bend + sign * left * slope(t if k == 0 else end - t, time)
    return quat.multiply(quats, quat.exp(bend))


def pinned_terms(arrays: TermArrays, fps: float, pad: int, ends, windows) -> TermArrays:
    """Terms of windows pinned between two, all given by their slots: one window of each array."""
    source, target = ends
    rows, posture = (np.array(part[source]) for part in (arrays.rows, arrays.posture))
    length = rows.shape[1] - 2 * pad
    first, last = pad, pad + length - 1
    rows[:, last + 1 :] = arrays.rows[target][:, last + 1 :]
    posture[last + 1 :] = arrays.posture[target][last + 1 :]
    reach = max(1, int(REACH_S * fps + 0.5))
    before = min([reach, arrays.reach[source, 0], *arrays.reach[windows, 0]])
    after = min([reach, arrays.reach[target, 1], *arrays.reach[windows, 1]])
    t, end = np.arange(length), length - 1
    inside = slice(first, last + 1)
    mean = arrays.rows[windows].mean(axis=0)
    a = 1.0 - eased((t - 0.5) / (GLIDE_S * fps))
    b = 1.0 - eased((end - t + 0.5) / (GLIDE_S * fps))
    for row in range(HEADING, FEET):
        lacks = np.zeros(2)
        if before:
            lead = slice(first - before + 1, first + 1)
            lacks[0] = (arrays.rows[source, row, lead] - mean[row, lead]).mean()
        if after:
            rest = slice(last + 1, last + 1 + after)
            lacks[1] = (arrays.rows[target, row, rest] - mean[row, rest]).mean()
        bent = mean[row, inside] + a * lacks[0] + b * lacks[1]
        rows[row, first + 1 : last + 1] = bent[1:]

    def bend(of_source, of_target, own):
        """Series with time first."""
        start, stop = of_source - own, of_target - own
        rises = (start[first] - start[first - before]) / before if before else 0.0 * start[0]
        falls = (stop[last + after] - stop[last]) / after if after else 0.0 * start[0]
        time, u = min(SHORTEST_S * fps, end), (t / end)[:, None]
        along = (stop[last] - start[first]) / end
        return (
            own[inside]
            + (1.0 - u) * start[first]
            + u * stop[last]
            + slope(t, time)[:, None] * (rises - along)
            - slope(end - t, time)[:, None] * (falls - along)
        )

    series = [*range(FEET, COM + 3), LIFT, LIFT + 1]
    rows[series, inside] = bend(
        arrays.rows[source, series].T, arrays.rows[target, series].T, mean[series].T
    ).T
    posture[inside] = bend(
        arrays.posture[source], arrays.posture[target], arrays.posture[windows].mean(axis=0)
    )
    rows[STANDS : STANDS + 2, inside] = mean[STANDS : STANDS + 2, inside]
    apart = np.square(arrays.posture[windows][:, inside] - posture[inside]).sum(axis=2)
    rows[POWER, inside] = np.square(posture[inside]).sum(axis=1) + apart.mean(axis=0)
    rows[PACE, inside] = mean[PACE, inside]
    scale = np.array([TURN_M, 1.0, 1.0])[:, None]
    steps = scale * rows[HEADING : STEP + 2, inside]
    off = scale * arrays.rows[windows][:, HEADING : STEP + 2, inside] - steps
    away = np.square(off).sum(axis=1).mean(axis=0)
    away[0] = 0.0
    rows[TRAVEL, inside] = (np.square(steps).sum(axis=0) + away) * fps * fps
    assert rows.shape[0] == N_ROWS
    return TermArrays(
        rows,
        posture,
        arrays.anchors[windows[0]],
        arrays.spans[windows[0]],
        arrays.ahead[windows[0]],
        arrays.counts[windows[0]],
        np.array([arrays.reach[source, 0], arrays.reach[target, 1]]),
    )
