"""What captured clips do themselves: each joint's own maxima, which results are judged against."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import audit_signals as signals
from audit_signals import Array, Heel, Points

ABOVE_FLOOR_M = 0.015
SLIDE_M_S = 0.25
OFF_FLOOR_M = 0.06
FALL_M_S2 = 5.0
"""A body whose middle falls with at least this is in flight, not hovering."""
BRAKE_S = 0.15


@dataclass(eq=False)
class Own:
    """A clip's own maxima. Frames of capture glitches and their neighbours are left out."""

    points: Points
    glitches: NDArray[np.bool_] = field(init=False)
    """(F, N)"""
    turn: dict[str, float] = field(init=False)
    """Bone to the joint, degrees per second."""
    speed: dict[str, float] = field(init=False)
    accel: dict[str, float] = field(init=False)
    knee_least: float = field(init=False)
    knee_most: float = field(init=False)
    knee_rate: float = field(init=False)
    pelvis: float = field(init=False)
    chest_p95: float = field(init=False)
    brake: float = field(init=False)
    lowest: float = field(init=False)
    """Lowest height of a sole point."""
    contact_slide: float = field(init=False)
    low_slide: float = field(init=False)
    feet: Feet = field(init=False)
    """With the clip's own heels."""

    def __post_init__(self) -> None:
        points = self.points
        self.glitches = signals.excluded_frames(points)
        near = widen(self.glitches, 1)
        fps, keys = points.fps, points.keys
        steps = ~(near[1:] | near[:-1])
        any_step = ~widen(self.glitches.any(axis=1)[:, None], 1)[:, 0]
        any_step = any_step[1:] & any_step[:-1]
        self.turn = _largest(keys, signals.bone_turns(points) * fps, steps)
        self.speed = _largest(keys, signals.relative_speeds(points), steps)
        calm = any_step[1:] & any_step[:-1]
        self.accel = _largest(keys, signals.accelerations(points), calm[:, None])
        flexion = signals.knee_flexion(points)
        legs = ~near[:, [n for n, key in enumerate(keys) if key.endswith(LEG)]].any(axis=1)
        legs = legs if legs.any() else ~legs
        self.knee_least = float(flexion[legs].min())
        self.knee_most = float(flexion[legs].max())
        rate = np.abs(np.diff(flexion, axis=0)).max(axis=1) * fps
        self.knee_rate = masked_max(rate, legs[1:] & legs[:-1])
        self.pelvis = masked_max(signals.pelvis_turn(points) * fps, any_step)
        chest = signals.chest_turn(points) * fps
        self.chest_p95 = float(np.percentile(chest, 95.0))
        self.brake = float(braking(points).max(initial=0.0))
        heels = [signals.fit_heel(points, side) for side in signals.SIDES]
        self.feet = Feet(points, heels)
        good = ~near.any(axis=1)
        heights = self.feet.soles[..., 1]
        self.lowest = float(heights[good].min() if good.any() else heights.min())
        self.contact_slide = max((s[0] for s in self.feet.contact_slides()), default=0.0)
        self.low_slide = max((s[0] for s in self.feet.low_slides(self.feet.floors)), default=0.0)
        self._swayed: dict[int, float] = {}

    def sway(self, seconds: float) -> float:
        """Largest range of the body's heading within so many seconds, degrees."""
        window = max(2, min(round(seconds * self.points.fps) + 1, len(self.points.positions)))
        if window not in self._swayed:
            heading = signals.heading(self.points)
            parts = np.lib.stride_tricks.sliding_window_view(heading, window)
            self._swayed[window] = float(np.ptp(parts, axis=1).max())
        return self._swayed[window]


LEG = ("hip", "knee", "ankle", "toe")


def masked_max(values: Array, keep: NDArray[np.bool_]) -> float:
    return float(values[keep].max(initial=0.0)) if keep.any() else float(values.max(initial=0.0))


def _largest(keys: list[str], values: Array, keep: NDArray[np.bool_]) -> dict[str, float]:
    largest = np.where(keep, values, 0.0).max(axis=0, initial=0.0)
    return dict(zip(keys, largest.tolist(), strict=True))


def widen(flags: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """Flags and the ``by`` frames before and after each. (F, N)"""
    wide = flags.copy()
    for k in range(1, by + 1):
        wide[k:] |= flags[:-k]
        wide[:-k] |= flags[k:]
    return wide


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First frame and the one after the last of every run of true flags."""
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def braking(points: Points) -> Array:
    """How quickly the pelvis loses ground speed over 0.15 s, m/s2."""
    ground = points.positions[:, points.roles["pelvis"]][:, [0, 2]]
    step = max(1, round(BRAKE_S * points.fps))
    wide = max(1, round(0.03 * points.fps))
    if len(ground) < step + wide + 1:
        return np.zeros(1)
    speed = np.linalg.norm(ground[wide:] - ground[:-wide], axis=-1) * points.fps / wide
    return (speed[:-step] - speed[step:]) * points.fps / step


@dataclass(eq=False)
class Feet:
    """The soles of a clip, given where its heels are."""

    points: Points
    heels: list[Heel | None]
    soles: Array = field(init=False)
    """(F, 4, 3)"""
    floors: Array = field(init=False)
    """Height at which each sole point stands. (4,)"""

    def __post_init__(self) -> None:
        self.soles = signals.sole_points(self.points, self.heels)
        slow = self.ground_speed < SLIDE_M_S
        slow = np.r_[slow[:1], slow]
        floors = []
        for k in (1, 3):  # heels are where balls are when a foot stands, and stand less often
            heights = self.soles[:, k, 1]
            floors.append(np.percentile(heights[slow[:, k]] if slow[:, k].any() else heights, 5.0))
        self.floors = np.repeat(floors, 2)

    @property
    def ground_speed(self) -> Array:
        """(F - 1, 4)"""
        steps = np.diff(self.soles[..., [0, 2]], axis=0)
        return np.linalg.norm(steps, axis=-1) * self.points.fps

    def contact_slides(self) -> list[tuple[float, int, int]]:
        """How far every labelled contact moves over the ground: metres, sole point, frame."""
        contacts = self.points.contacts
        found = []
        for k in range(0 if contacts is None else 4):
            assert contacts is not None
            for first, stop in runs(contacts[:, k]):
                ground = self.soles[first:stop, k][:, [0, 2]]
                thin = ground[:: max(1, len(ground) // 60)]
                apart = np.linalg.norm(thin[:, None] - thin[None], axis=-1)
                worst = int(np.argmax(np.linalg.norm(ground - ground[len(ground) // 2], axis=-1)))
                found.append((float(apart.max()), k, first + worst))
        return found

    def low_slides(self, floors: Array) -> list[tuple[float, int, int]]:
        """Ways over the ground of sole points that are fast at the floor: metres, point, frame."""
        low = self.soles[..., 1] < floors + ABOVE_FLOOR_M
        fast = self.ground_speed > SLIDE_M_S
        found = []
        for k in range(4):
            for first, stop in runs(fast[:, k] & low[1:, k] & low[:-1, k]):
                way = self.ground_speed[first:stop, k].sum() / self.points.fps
                found.append((float(way), k, (first + stop) // 2))
        return found

    def hovers(self, floor: float) -> list[tuple[float, int]]:
        """Spans in which everything is off the floor and the body does not fall: seconds, frame."""
        positions = self.points.positions
        lowest = np.minimum(positions[..., 1].min(axis=1), self.soles[..., 1].min(axis=1))
        middle = positions[:, self.points.judged, 1].mean(axis=1)
        found = []
        for first, stop in runs(lowest > floor + OFF_FLOOR_M):
            if stop - first < 4:
                continue
            times = np.arange(stop - first) / self.points.fps
            fall = -2.0 * np.polyfit(times, middle[first:stop], 2)[0]
            if fall < FALL_M_S2:
                found.append(((stop - first) / self.points.fps, (first + stop) // 2))
        return found
