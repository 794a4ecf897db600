"""Feet that carry the body, travel and soles against clips: the plain form of check_support.c."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.quality_check import Support
from motionloom.features.checks.source_limits import Series
from motionloom.features.checks.verification import ASTRAY, LAUNCH, SLIP, SOLE, STALL
from tests.oracles.soles import runs

Rows = dict[tuple[int, int], tuple[int, float, float]]
MOMENTS = np.linspace(-0.05, 0.05, 9)


def frames_in(seconds: float, fps: float, least: int) -> int:
    return max(round(seconds * fps), least)


def line_slopes(values: FloatArray, half: int, fps: float) -> FloatArray:
    """Slopes of lines through up to ``2 half + 1`` rows around each row."""
    out = np.zeros_like(values)
    for t in range(len(values)):
        rows = np.arange(max(t - half, 0), min(t + half, len(values) - 1) + 1)
        if len(rows) > 1:
            flat = values[rows].reshape(len(rows), -1)
            out[t] = (np.polyfit(rows, flat, 1)[0] * fps).reshape(values.shape[1:])
    return out


def seen(ground: FloatArray, heading: FloatArray) -> FloatArray:
    """Vectors (F, ..., 2) over the ground, to the left of a heading and along it."""
    sine, cosine = (f(heading).reshape(-1, *[1] * (ground.ndim - 2)) for f in (np.sin, np.cos))
    x, z = ground[..., 0], ground[..., 1]
    return np.stack([cosine * x - sine * z, sine * x + cosine * z], axis=-1)


def five_points(ends: FloatArray) -> FloatArray:
    """Points from heel to ball, of heels and balls (F, 4, 3). (F, 2, 5, 3)."""
    heel, ball = ends[:, 0::2, None], ends[:, 1::2, None]
    return np.asarray(heel + np.linspace(0.0, 1.0, 5)[:, None] * (ball - heel))


def measure_support(series: Series, fps: float, leg: float) -> Support:
    """What feet and body do in every frame."""
    soles, mass, n = series.soles, series.mass, len(series.heading)
    near, step = frames_in(1.0, fps, 1), frames_in(1.0, fps / 30.0, 1)
    fall, carry = frames_in(0.1, fps, 2), frames_in(0.12, fps, 1)
    falls = np.zeros(n, dtype=np.uint8)
    for t in range(n):
        rows = np.arange(max(t - fall, 0), min(t + fall + 1, n))
        if len(rows) > 2:
            falls[t] = 2.0 * np.polyfit(rows - t, mass[rows, 1], 2)[0] * fps**2 < -5.0
    levels = np.where(falls, np.nan, soles[..., 1].min(axis=1))
    points = five_points(soles)
    velocity = five_points(line_slopes(soles, frames_in(1.0 / 30.0, fps, 1), fps))
    speed = np.linalg.norm(velocity[..., [0, 2]], axis=-1)
    slowest, share = np.full((n, 2), -1, dtype=np.int8), np.zeros((n, 2))
    for t in range(n):
        around = [u for u in range(t - near, t + near + 1, step) if 0 <= u < n]
        heights = levels[around]
        low = (np.abs(points[t, ..., 1][..., None] - heights) < 0.025 * leg / 0.8).any(axis=-1)
        middles = [
            points[t, f, low[f]][:, [0, 2]].mean(axis=0) if low[f].any() else None for f in (0, 1)
        ]
        for f in (0, 1):
            if low[f].any():
                rises = 1e3 * (np.abs(velocity[t, f, :, 1]) >= 0.3)
                slowest[t, f] = np.where(low[f], speed[t, f] + rises, np.inf).argmin()
                share[t, f] = 1.0
        if middles[0] is not None and middles[1] is not None:
            line = middles[0] - middles[1]
            part = (mass[t, [0, 2]] - middles[1]) @ line / max(line @ line, 0.01**2)
            share[t] = np.clip(part, 0.0, 1.0), 1.0 - np.clip(part, 0.0, 1.0)
    travel = np.zeros((n, 2))
    for t in range(n):
        a, b = max(t - carry, 0), min(t + carry, n - 1)
        travel[t] = (series.pelvis[b] - series.pelvis[a])[[0, 2]] * fps / max(b - a, 1)
    ground = seen(velocity[..., [0, 2]], series.heading)
    velocity = np.stack([ground[..., 0], velocity[..., 1], ground[..., 1]], axis=-1)
    return Support(
        velocity, share, seen(travel, series.heading), series.heading, soles, slowest, falls
    )


class Told(NamedTuple):
    """What a clip tells of a frame of a result."""

    feet: FloatArray
    """nan where the foot is in the air. (2, 9, 2)"""
    travel: FloatArray
    """(9, 2)"""
    rate: float
    lows: FloatArray
    """(4,)"""


def rate_at(at: FloatArray, t: int, half: int, usual: float) -> float:
    """How fast a clip plays at a frame; less than 0 backwards."""
    a = b = t
    while a > 0 and t - a < half and abs(at[a] - at[a - 1]) <= 3.0 * usual:
        a -= 1
    while b + 1 < len(at) and b - t < half and abs(at[b + 1] - at[b]) <= 3.0 * usual:
        b += 1
    return (at[b] - at[a]) / (b - a) / usual if b > a else 1.0


def told(
    source: Support, source_fps: float, result: Support, fps: float, at: FloatArray, t: int
) -> Told | None:
    """What a clip tells of frame ``t`` of a result; None where it does not play."""
    n = len(source.heading)
    if not np.isfinite(at[t]):
        return None
    rate = rate_at(at, t, frames_in(0.1, fps, 1), source_fps / fps)
    way, rate = -1.0 if rate < 0.0 else 1.0, min(abs(rate), 1.25)
    feet, travel = np.full((2, 9, 2), np.nan), np.zeros((9, 2))
    for i, away in enumerate(MOMENTS):
        place = np.clip(at[t] + away * source_fps, 0.0, n - 1.0)
        if abs(place - round(place)) < 1e-6:  # what is next to a frame is not known of it
            place = round(place)
        g = int(place)
        after, part = g + (place > g), place - g
        travel[i] = way * (source.travel[g] + part * (source.travel[after] - source.travel[g]))
        for f in (0, 1):
            low = {u for u in (g, after) if is_low(source, u, f)}
            k = result.slowest[t, f]
            if k < 0 or not low:
                continue
            a, b = (g if g in low else after), (after if after in low else g)
            va, vb = (source.velocity[u, f, k][[0, 2]] for u in (a, b))
            feet[f, i] = way * rate * (va + part * (vb - va))
    half, here = frames_in(0.5, source_fps, 1), round(float(np.clip(at[t], 0.0, n - 1.0)))
    first = min(max(here - half, 0), max(n - 1 - 2 * half, 0))  # a second, if the clip has one
    lows = source.soles[first : first + 2 * half + 1, :, 1].min(axis=0)
    return Told(feet, travel, rate, lows)


def is_low(source: Support, g: int, f: int) -> bool:
    k = source.slowest[g, f]
    return bool(k >= 0 and np.hypot(*source.velocity[g, f, k][[0, 2]]) < 1.2)


def off_line(p: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """From the nearest point between a and b to p."""
    line = b - a
    part = np.clip((p - a) @ line / (line @ line), 0.0, 1.0) if line @ line else 0.0
    return np.asarray(p - a - part * line)


def off_hull(p: FloatArray, points: Sequence[FloatArray]) -> FloatArray:
    """From the nearest point of a convex hull to p."""
    if len(points) > 2:
        angles = np.sort([np.arctan2(*(q - p)[::-1]) for q in points])
        gaps = np.diff(np.r_[angles, angles[0] + 2.0 * np.pi])
        if gaps.max() < np.pi:
            return np.zeros(2)
    lines = [off_line(p, a, b) for a, b in combinations(points, 2)]
    return min(lines or [p - points[0]], key=np.linalg.norm)


class Judge:
    """Failures of a result by check and joint."""

    def __init__(
        self,
        result: Support,
        fps: float,
        clips: Sequence[tuple[Support, float, FloatArray]],
        judged: BoolArray,
    ) -> None:
        self.result, self.fps, self.judged, self.rows = result, fps, judged, Rows()
        self.told = [
            [each for clip in clips if (each := told(clip[0], clip[1], result, fps, clip[2], t))]
            for t in range(len(judged))
        ]
        for joint in (0, 1, 2):
            self._foot(joint)
        for t in np.flatnonzero(judged):
            if self.told[t]:
                self._travel(int(t))
                self._soles(int(t))

    def _note(self, check: int, joint: int, frame: int, value: float, limit: float) -> None:
        worst = self.rows.get((check, joint))
        if worst is None or abs(value - limit) > abs(worst[1] - worst[2]):
            self.rows[check, joint] = (frame, float(value), float(limit))

    def _slowest(self, t: int, f: int) -> FloatArray | None:
        k = self.result.slowest[t, f]
        return None if k < 0 else self.result.velocity[t, f, k]

    def _beyond(self, t: int, f: int) -> tuple[int, FloatArray, float]:
        """How a foot carries, and its velocity beyond that of the clips."""
        v, nothing = self._slowest(t, f), (0, np.zeros(2), np.inf)
        if v is None or self.result.falls[t] or not self.judged[t] or not self.told[t]:
            return nothing
        u, speed = v[[0, 2]], float(np.hypot(v[0], v[2]))
        if speed >= 1.2 or abs(v[1]) >= 0.3:
            return nothing
        other = self._slowest(t, 1 - f)
        stands = other is not None and np.hypot(other[0], other[2]) < 0.15
        if stands and all(np.isnan(each.feet[f]).all() for each in self.told[t]):
            return nothing
        middles, still = [], True
        best = [u] if speed < 0.03 else []
        for each in self.told[t]:
            known = each.feet[f]
            still &= bool((np.hypot(*known.T) < 0.15).all())
            for i in np.flatnonzero(~np.isnan(known[:, 0])):
                nxt = i + 1 if i < 8 and not np.isnan(known[i + 1, 0]) else i
                best.append(off_line(u, known[i], known[nxt]))
            if not np.isnan(known[4, 0]):
                middles.append(known[4])
        if len(middles) > 1:
            best.append(off_hull(u, middles))
        off = min(best or [u], key=np.linalg.norm)
        return 1 + still, off, speed

    def _foot(self, joint: int) -> None:
        n = len(self.judged)
        carries, off = np.zeros(n, dtype=bool), np.zeros((n, 2))
        for t in range(n):
            feet = [self._beyond(t, f) for f in (0, 1)]
            if joint < 2:
                least = 1 if self.result.share[t, joint] >= 0.3 else 2
                carries[t], off[t] = feet[joint][0] >= least, feet[joint][1]
            else:
                carries[t] = feet[0][0] > 0 or feet[1][0] > 0
                off[t] = min(feet, key=lambda foot: foot[2])[1]
        sine, cosine = np.sin(self.result.heading), np.cos(self.result.heading)
        x, z = off.T
        steps = np.stack([cosine * x + sine * z, cosine * z - sine * x], axis=1) / self.fps
        ways = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
        step, window = frames_in(1.0, self.fps / 60.0, 1), frames_in(0.6, self.fps, 1)
        for a, b in runs(carries):
            if b - a < 0.05 * self.fps:
                continue
            worst = (0.0, a)
            for s in range(a, b + 1, step):
                for e in range(s + step, min(b, s + window) + 1, step):
                    worst = max(
                        worst,
                        (float(np.hypot(*(ways[e] - ways[s]))), (s + e) // 2),
                        key=lambda w: w[0],
                    )
            if worst[0] > 0.025:
                self._note(SLIP, joint, worst[1], worst[0], 0.025)

    def _travel(self, t: int) -> None:
        v = self.result.travel[t]
        speed, here = float(np.hypot(*v)), self.told[t]
        speeds = [np.hypot(*each.travel.T) for each in here]
        least = min(s.min() * np.clip(e.rate, 0.7, 1.0) for s, e in zip(speeds, here, strict=True))
        most = max(s.max() * max(e.rate, 1.0) for s, e in zip(speeds, here, strict=True))
        if speed < 0.8 * least - 0.1:
            self._note(STALL, -1, t, speed, 0.8 * least - 0.1)
        if speed > 1.2 * most + 0.1:
            self._note(LAUNCH, -1, t, speed, 1.2 * most + 0.1)
        points = [np.zeros(2), *(1.2 * each.travel[i] for each in here for i in (0, 4, 8))]
        away = float(np.linalg.norm(off_hull(v, points)))
        if away > 0.25 + 0.25 * most:
            self._note(ASTRAY, -1, t, away, 0.25 + 0.25 * most)

    def _soles(self, t: int) -> None:
        low = np.min([each.lows for each in self.told[t]], axis=0) - 0.025
        for k, height in enumerate(self.result.soles[t, :, 1]):
            if height < low[k]:
                self._note(SOLE, k, t, float(height), float(low[k]))
