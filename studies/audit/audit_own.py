"""What captured clips do themselves: each joint's own maxima, which results are judged against."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from studies.audit import audit_signals as signals
from studies.audit.audit_feet import Feet, Heel, find_heels
from studies.audit.audit_signals import Array, Points

BRAKE_S = 0.15


@dataclass(eq=False)
class Own:
    """A clip's own maxima. Frames of capture glitches and their neighbours are left out."""

    points: Points
    heels: list[Heel | None] | None = None
    """Of its skeleton; None: as the clip shows them."""
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

    def __post_init__(self) -> None:
        points = self.points
        self.glitches = signals.excluded_frames(points)
        near = widen(self.glitches, 1)
        fps, keys = points.fps, points.keys
        steps = ~(near[1:] | near[:-1])
        any_step = ~widen(self.glitches.any(axis=1)[:, None], 1)[:, 0]
        any_step = any_step[1:] & any_step[:-1]
        _, usable = signals.bone_directions(points)
        turn = _largest(keys, signals.bone_turns(points) * fps, steps)
        self.turn = {key: turn[key] for key, use in zip(keys, usable, strict=True) if use}
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
        self.feet = Feet(points, self.heels or find_heels(points))
        good = ~near.any(axis=1)
        heights = self.feet.soles[..., 1]
        self.lowest = float(heights[good].min() if good.any() else heights.min())
        self.contact_slide = max((s[0] for s in self.feet.contact_slides()), default=0.0)
        self.low_slide = max((s[0] for s in self.feet.low_slides(self.feet.floors)), default=0.0)
        self._swayed: dict[int, float] = {}

    @cached_property
    def near_glitches(self) -> NDArray[np.bool_]:
        """Glitches and the two frames before and after each. (F, N)"""
        return widen(self.glitches, 2)

    @cached_property
    def bone_turns(self) -> Array:
        """Degrees that each bone turns from frame to frame. (F - 1, N)"""
        return signals.bone_turns(self.points)

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


def braking(points: Points) -> Array:
    """How quickly the pelvis loses ground speed over 0.15 s, m/s2."""
    ground = points.positions[:, points.roles["pelvis"]][:, [0, 2]]
    step = max(1, round(BRAKE_S * points.fps))
    wide = max(1, round(0.03 * points.fps))
    if len(ground) < step + wide + 1:
        return np.zeros(1)
    speed = np.linalg.norm(ground[wide:] - ground[:-wide], axis=-1) * points.fps / wide
    return (speed[:-step] - speed[step:]) * points.fps / step
