"""Captured windows bent to leave one row and to arrive at another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from tests.oracles.blend_kernel import blend_rotations

REACH_S, GLIDE_S, SHORTEST_S, EASE_S = 4 / 60, 50 / 60, 20 / 60, 50 / 60
QUICK_S, SLOW_S = 10 / 60, 0.15
SWING = np.radians(7.0)
UP = np.array([0.0, 1.0, 0.0])


def eased(u):
    u = np.clip(u, 0.0, 1.0)
    return u * u * (3.0 - 2.0 * u)


def slope(t, time):
    return t * np.maximum(1.0 - t / time, 0.0) ** 2


def smooth(values: np.ndarray, fps: float) -> np.ndarray:
    """Series (L, ...) without what is fast."""
    half = int(SLOW_S * fps)
    apart = np.subtract.outer(np.arange(len(values)), np.arange(len(values)))
    parts = np.maximum(1.0 - np.square(apart / (half + 1)), 0.0) ** 2
    return np.einsum("tu,u...->t...", parts / parts.sum(axis=1, keepdims=True), values)


class End(NamedTuple):
    """One end of a passage."""

    t: int
    way: int
    """Outwards in time."""
    row: int
    own: tuple[int, ...]
    """Rows of the windows."""
    shares: np.ndarray
    reach: int

    @property
    def main(self) -> int:
        """The window that counts most."""
        return self.own[int(np.argmax(self.shares))]


def outside(frames: Frames, row: int, way: int) -> int:
    clip = frames.clip_at(row)
    return int(row - frames.starts[clip] if way < 0 else frames.starts[clip + 1] - 1 - row)


def ends_of(frames: Frames, at: np.ndarray, weights: np.ndarray, ends) -> list[End]:
    out = []
    for t, way, row in ((0, -1, ends[0]), (len(at) - 1, 1, ends[1])):
        own = tuple(int(x) for x in at[t])
        counts = [outside(frames, r, way) or outside(frames, r, -way) for r in (row, *own)]
        reach = min([max(1, int(REACH_S * frames.fps + 0.5)), *counts])
        out.append(End(t, way, int(row), own, weights[:, t], reach))
    return out


def way_between(frames: Frames, before: int, now: int) -> np.ndarray:
    """Turn, way sideways and ahead, and rise, from one row to another."""
    x, z = frames.ground[now] - frames.ground[before]
    cos, sin = np.cos(frames.heading[before]), np.sin(frames.heading[before])
    rise = float(frames.body[now, 0, 1]) - float(frames.body[before, 0, 1])
    turn = frames.heading[now] - frames.heading[before]
    return np.array([turn, cos * x - sin * z, sin * x + cos * z, rise])


def velocity(frames: Frames, row: int, end: End) -> np.ndarray:
    """The same a frame, measured outside an end, or inside where a clip ends there."""
    way = end.way if outside(frames, row, end.way) else -end.way
    return way_between(frames, row, row + way * end.reach) / (way * end.reach)


def window_steps(frames: Frames, rows: np.ndarray) -> np.ndarray:
    """Steps (L, 4) of a window, with heights instead of rises."""
    first = rows[0] - 1 if outside(frames, int(rows[0]), -1) else rows[0]
    befores = np.concatenate([[first], rows[:-1]])
    nows = np.concatenate([[first + 1], rows[1:]])
    steps = np.array(
        [way_between(frames, int(a), int(b)) for a, b in zip(befores, nows, strict=True)]
    )
    steps[:, 3] = frames.body[rows, 0, 1]
    return steps


def carrier_of(weights: np.ndarray) -> int | None:
    """The window that counts most in all frames, if there are several."""
    most = [i for i, own in enumerate(weights) if np.all(own >= weights.max(axis=0))]
    return most[0] if most and len(weights) > 1 else None


def goes_on(frames: Frames, end: End) -> bool:
    return outside(frames, end.row, end.way) > 0 and outside(frames, end.main, end.way) > 0


def course(frames: Frames, at: np.ndarray, weights: np.ndarray, ends: list[End]):
    """Headings (L,) and roots (L, 3)."""
    fps, length, last = frames.fps, len(at), len(at) - 1
    own = np.stack([window_steps(frames, rows) for rows in at.T])
    steps, carrier = np.einsum("nt,ntc->tc", weights, own), carrier_of(weights)
    if carrier is not None:
        steps = own[carrier] + smooth(steps - own[carrier], fps)
    lacks = [
        velocity(frames, end.row, end)
        - sum(w * velocity(frames, row, end) for w, row in zip(end.shares, end.own, strict=True))
        for end in ends
    ]
    t = np.arange(length)
    u, ease, quick = t / last, min(EASE_S * fps, last), min(QUICK_S * fps, last)
    a, b = 1.0 - eased((t - 0.5) / (GLIDE_S * fps)), 1.0 - eased((last - t + 0.5) / (GLIDE_S * fps))
    off = [float(frames.body[end.row, 0, 1]) - steps[end.t, 3] for end in ends]
    along = (off[1] - off[0]) / last
    steps[:, :3] += np.outer(a, lacks[0][:3]) + np.outer(b, lacks[1][:3])
    steps[:, 3] += (1.0 - u) * off[0] + u * off[1]
    steps[:, 3] += (lacks[0][3] - along) * slope(t, ease)
    steps[:, 3] -= (lacks[1][3] - along) * slope(last - t, ease)
    left = []
    for end, k in zip(ends, (1, last), strict=True):
        inside = np.append(steps[k, :3], steps[k, 3] - steps[k - 1, 3])
        pairs = ((end.row, end.row + end.way), (end.main, end.main + end.way),
                 (end.main - end.way, end.main))  # fmt: skip
        if not goes_on(frames, end):
            left.append(np.zeros(4))
            continue
        asked, outer, inner = (way_between(frames, *sorted(pair)) for pair in pairs)
        left.append(asked - outer + inner - inside)
    a, b = 1.0 - eased((t - 1.0) / quick), 1.0 - eased((last - t) / quick)
    steps[:, :3] += np.outer(a, left[0][:3]) + np.outer(b, left[1][:3])
    steps[:, 3] += left[0][3] * slope(t, quick) - left[1][3] * slope(last - t, quick)
    psi = frames.heading[ends[0].row] + np.cumsum(np.append(0.0, steps[1:, 0]))
    cos, sin = np.cos(psi[:-1]), np.sin(psi[:-1])
    aside, ahead = steps[1:, 1], steps[1:, 2]
    root = np.zeros((length, 3))
    root[:, 1] = steps[:, 3]
    root[0, [0, 2]] = frames.ground[ends[0].row]
    root[1:, 0] = root[0, 0] + np.cumsum(cos * aside + sin * ahead)
    root[1:, 2] = root[0, 2] + np.cumsum(cos * ahead - sin * aside)
    return psi, root


def pose_of(frames: Frames, row: int, psi: float = 0.0) -> np.ndarray:
    quats = quat.normalize(frames.quats[row].astype(np.float64))
    quats[0] = quat.multiply(quat.from_axis_angle(UP, np.array(psi)), quats[0])
    return quats


def from_to(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return quat.log(quat.multiply(quat.conjugate(a), b))


def of_halves(vectors: np.ndarray) -> np.ndarray:
    """Rotations by their vector parts."""
    sizes = np.linalg.norm(vectors, axis=-1, keepdims=True)
    first = np.sqrt(np.maximum(1.0 - sizes**2, 0.0))
    return np.concatenate([first, vectors / np.maximum(sizes, 1.0)], axis=-1)


def alike(other: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors of the same rotations that are nearer to others: either way round."""
    angles = np.linalg.norm(vectors, axis=-1, keepdims=True)
    turned = vectors * (1.0 - 2.0 * np.pi / np.maximum(angles, 1e-9))
    off, also = (np.linalg.norm(each - other, axis=-1, keepdims=True) for each in (vectors, turned))
    return np.where((angles > 1e-9) & (also < off), turned, vectors)


def outer_pose(frames: Frames, row: int, end: End, away: int) -> np.ndarray:
    """Rotations outside an end; those inside turned round where a clip ends there."""
    if outside(frames, row, end.way) or away == 0:
        return pose_of(frames, row + end.way * away)
    here, inside = pose_of(frames, row), pose_of(frames, row - end.way * away)
    return quat.multiply(here, quat.multiply(quat.conjugate(inside), here))


def lack(frames: Frames, end: End, away: int) -> np.ndarray:
    """Rotation vectors (J, 3) from the windows' mean to the clip, outside an end."""
    main = outer_pose(frames, end.main, end, away)
    mean = np.zeros_like(main)
    for share, row in zip(end.shares, end.own, strict=True):
        own = outer_pose(frames, row, end, away)
        mean += share * np.where(np.sum(own * main, axis=-1, keepdims=True) < 0.0, -own, own)
    return from_to(quat.normalize(mean), outer_pose(frames, end.row, end, away))


def bent_rotations(frames, quats, at, weights, psi, ends):
    """Rotations with those of both ends, and their spins."""
    fps, length, last = frames.fps, len(at), len(at) - 1
    carrier = carrier_of(weights)
    if carrier is not None:
        own = np.stack(
            [pose_of(frames, int(r), p) for r, p in zip(at[:, carrier], psi, strict=True)]
        )
        halves = quat.multiply(quat.conjugate(own), quats)
        halves = np.where(halves[..., :1] < 0.0, -halves, halves)[..., 1:]
        quats = quat.multiply(own, of_halves(smooth(halves, fps)))
    off = [from_to(quats[end.t], pose_of(frames, end.row, psi[end.t])) for end in ends]
    off[1] = alike(off[0], off[1])
    t = np.arange(length)[:, None, None]
    bend = (1.0 - t / last) * off[0] + t / last * off[1]
    longest, shortest, quick = (min(s * fps, last) for s in (EASE_S, SHORTEST_S, QUICK_S))
    for end, sign, when in zip(ends, (1.0, -1.0), (t, last - t), strict=True):
        near = lack(frames, end, 0)
        spin = (alike(near, lack(frames, end, end.reach)) - near) / (end.way * end.reach)
        spin = spin - (off[1] - off[0]) / last
        size = np.maximum(np.linalg.norm(spin, axis=-1, keepdims=True), 1e-9)
        bend = bend + sign * spin * slope(when, np.clip(6.75 * SWING / size, shortest, longest))
    quats = quat.multiply(quats, quat.exp(bend))
    bend = np.zeros_like(bend)
    for end, sign, when in zip(ends, (1.0, -1.0), (t, last - t), strict=True):
        if not goes_on(frames, end):
            continue
        here, inner = (
            from_to(pose_of(frames, end.main - m * end.way, psi[k]), quats[k])
            for m, k in ((0, end.t), (1, end.t - end.way))
        )
        outer = from_to(*(outer_pose(frames, row, end, 1) for row in (end.main, end.row)))
        outer, inner = alike(here, outer), alike(here, inner)
        bend = bend + sign * end.way * (outer - 2.0 * here + inner) * slope(when, quick)
    return quat.multiply(quats, of_halves(0.5 * bend))


def bent_windows(frames: Frames, rows, at: np.ndarray, weights: np.ndarray, ends):
    """Headings, roots and rotations of ``ml_passage_make``, feet as they come out."""
    sides = ends_of(frames, at, weights, ends)
    psi, root = course(frames, at, weights, sides)
    quats = blend_rotations(rows, at, weights, psi)
    return psi, root, bent_rotations(frames, quats, at, weights, psi, sides)
