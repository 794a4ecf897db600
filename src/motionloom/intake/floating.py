"""Bodies that float: no foot reaches the floor for longer than a jump lasts, and none stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.findings import Finding
from motionloom.intake.floor import floor_heights
from motionloom.intake.leg_tracks import LegTracks
from motionloom.motion.contacts import runs_of
from motionloom.motion.source import Floor

CLEAR_M = 0.03
"""A ball this far over the floor does not touch it."""
LONGEST_FLIGHT_S = 1.0
"""Nobody stays in the air longer than this: it takes a jump of 1.2 m."""
UPRIGHT = 0.6
"""A pelvis lower over the feet than this part of the leg's length sits, kneels or lies."""


@dataclass(frozen=True, slots=True)
class Floating:
    """A stretch of a clip in which nothing that is seen carries the body."""

    first: int
    last: int
    """Frames of the motion."""
    seconds: float
    low_m: float
    high_m: float
    """Lowest height of the feet over the floor in every second: the least and the most."""


def find_floating(tracks: LegTracks, floor: Floor) -> list[Floating]:
    """Stretches in which an upright body touches no floor, stands on nothing, and cannot fly.

    A foot that stands still stands on something, a stair or a platform, however high it is.
    """
    clearance = (tracks.balls[..., 1] - floor_heights(floor, tracks.balls)).min(axis=1)
    flight = max(1, round(LONGEST_FLIGHT_S * tracks.fps))
    upright = _upright(tracks)
    stretches = []
    for first, last in runs_of((clearance > CLEAR_M) & ~_stands(tracks)):
        if last - first + 1 <= flight or upright[first : last + 1].mean() < 0.5:
            continue
        seconds = np.lib.stride_tricks.sliding_window_view(clearance[first : last + 1], flight)
        lowest = seconds.min(axis=1)
        stretches.append(
            Floating(
                first * tracks.step,
                last * tracks.step,
                (last - first + 1) / tracks.fps,
                float(lowest.min()),
                float(lowest.max()),
            )
        )
    return stretches


def floating_findings(stretches: list[Floating]) -> list[Finding]:
    """One warning per stretch."""
    return [
        Finding(
            "warning",
            f"frames {one.first} to {one.last}",
            f"the body floats {100 * one.low_m:.0f} to {100 * one.high_m:.0f} cm above the floor "
            f"for {one.seconds:.1f} s: no foot touches it and none stands still.",
            "The height of the root drifts, or the body hangs on something that is not in the "
            "file. Foot contacts there are guessed from the body's acceleration.",
        )
        for one in stretches
    ]


def _stands(tracks: LegTracks) -> BoolArray:
    """Frames in which a ball stands still for a while. Shape (N,)."""
    stands = np.zeros(len(tracks.balls), dtype=bool)
    for spans in tracks.standing:
        for first, stop in spans:
            stands[first:stop] = True
    return stands


def _upright(tracks: LegTracks) -> BoolArray:
    """Frames in which the pelvis is about a leg's length above the lower foot. Shape (N,)."""
    reach = np.linalg.norm(tracks.pelvis[:, None] - tracks.ankles, axis=-1)
    leg: FloatArray = np.quantile(reach, 0.95)
    above = tracks.pelvis[:, 1] - tracks.ankles[..., 1].min(axis=1)
    return np.asarray(above > UPRIGHT * leg)
