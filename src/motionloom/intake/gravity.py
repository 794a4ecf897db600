"""The frame rate held against gravity: in the air a body falls at 9.81 m/s2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.features.balance import centre_of_mass
from motionloom.findings import Finding
from motionloom.intake.legs import LegTracks
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.motion.source import Floor

__all__ = ["RateCheck", "check_rate", "rate_finding"]

GRAVITY = 9.81
KNOWN_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 120.0, 240.0)
CREDIBLE = (8.0, 11.5)
"""Measured falls that a right rate gives, m/s2; masses by table and noise take their share."""
NO_FALL = 5.0
"""Slower falls are no falls: someone on a stair, a stool or a ladder."""
CLEARANCE_M = 0.05
"""Both feet are this far over where they stand when a body is in the air."""
LEAST_FRAMES = 7
LEAST_S = 0.05


@dataclass(frozen=True, slots=True)
class RateCheck:
    """How fast the body falls in its flights, if the rate is what the file says."""

    fall: float
    """Median over the flights, m/s2."""
    flights: int
    fps: float
    """Rate at which it would fall at 9.81 m/s2, snapped to a known rate where one is near."""

    @property
    def is_credible(self) -> bool:
        """Whether the stated rate may be right."""
        return CREDIBLE[0] <= self.fall <= CREDIBLE[1]


def check_rate(motion: Motion, body: BodyMap, tracks: LegTracks, floor: Floor) -> RateCheck | None:
    """The check over all flights of a clip; None where it never leaves the ground.

    The centre of mass of each flight is fitted with a parabola. The length of a flight is asked
    for in frames more than in seconds, because seconds are what is in question.
    """
    falls, lengths = [], []
    for first, last in _find_flights(tracks, floor):
        span = slice(first * tracks.step, last * tracks.step + 1)
        heights = centre_of_mass(motion[span], body=body)[:, 1]
        fall = _fit_fall(heights, motion.fps)
        if fall is not None and fall >= NO_FALL:
            falls.append(fall)
            lengths.append(len(heights))
    if not falls:
        return None
    fall = _weighted_median(np.array(falls), np.array(lengths, dtype=np.float64))
    return RateCheck(fall, len(falls), _snapped(motion.fps * np.sqrt(GRAVITY / fall)))


def rate_finding(check: RateCheck, fps: float, *, said: bool) -> Finding:
    """What to say of the check: a warning where a rate that only the file says is not credible."""
    flights = "one flight" if check.flights == 1 else f"{check.flights} flights"
    text = f"at {fps:g} frames per second the body falls at {check.fall:.1f} m/s2 in {flights}"
    if check.is_credible:
        return Finding("note", "frame rate", f"{text}: the rate agrees with gravity.")
    return Finding(
        "note" if said else "warning",
        "frame rate",
        f"{text}, where gravity gives 9.8.",
        f"Pass fps={check.fps:g} if that is the true rate.",
    )


def _find_flights(tracks: LegTracks, floor: Floor) -> list[tuple[int, int]]:
    """First and last track frame of every stretch in which neither foot touches the floor."""
    rest = floor.slope_x * tracks.balls[..., 0] + floor.slope_z * tracks.balls[..., 2]
    balls = tracks.balls[..., 1] - rest - np.array([floor.left_height, floor.right_height])
    # A heel can stand while its ball is up, and the ankle shows it.
    ankles = tracks.ankles[..., 1] - rest
    ankles = ankles - np.quantile(ankles, 0.1, axis=0)
    up = np.minimum(balls, ankles).min(axis=1) > CLEARANCE_M
    least = max(LEAST_FRAMES / tracks.step, LEAST_S * tracks.fps)
    return [(a, b) for a, b in runs_of(up) if b - a + 1 >= least]


def _fit_fall(heights: FloatArray, fps: float) -> float | None:
    """Downward acceleration of the best parabola through heights at a rate, m/s2."""
    t = np.arange(len(heights)) / fps
    t = t - t.mean()
    columns = np.stack([np.ones_like(t), t, -0.5 * t * t], axis=1)
    solved = np.linalg.lstsq(columns, heights, rcond=None)[0]
    return float(solved[2])


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    order = np.argsort(values)
    share = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(share, 0.5)])


def _snapped(fps: float) -> float:
    near = min(KNOWN_RATES, key=lambda rate: abs(np.log(rate / fps)))
    return near if abs(np.log(near / fps)) < 0.1 else round(float(fps), 1)
