"""Bodies in the air: those that float, and flights whose fall tells the frame rate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import constant
from motionloom.body.body_map import BodyMap
from motionloom.body.masses import mass_segments
from motionloom.findings import Finding
from motionloom.intake.floor import LegTracks, floor_heights
from motionloom.motion.edit import pick
from motionloom.motion.motion import Motion, runs_of
from motionloom.motion.provenance import Floor

CLEAR_M = 0.03
"""A ball this far over the floor does not touch it."""
LONGEST_FLIGHT_S = 1.0
"""A flight of this length takes a jump of 1.2 m, which is beyond any body."""
UPRIGHT = 0.6
"""A pelvis lower over the feet than this part of the leg's length sits, kneels or lies."""
GRAVITY = constant("ML_GRAVITY")
KNOWN_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 120.0, 240.0)
CREDIBLE = (8.0, 11.5)
"""Measured falls that a right rate gives, m/s2; masses by table and noise take their share."""
FALLS = (5.0, 500.0)
"""Slower falls are no falls: someone on a stair, a stool or a ladder. Faster ones are glitches."""
BALL_CLEARANCE_M = 0.03
ANKLE_CLEARANCE_M = 0.01
"""A heel can stand while its ball is up, and the ankle shows it; at landing it is hardly raised."""
LEAST_FRAMES = 5
LEAST_S = 0.04
NOISE_M = 0.0015
"""Of a captured centre of mass about a parabola; 0.2 to 2 mm were met in flights."""
USABLE = 0.35
"""A flight whose fall is less certain than this part of itself is too short to count."""
# A folder of clips mostly has one skeleton.
_segments = lru_cache(maxsize=4)(mass_segments)


@dataclass(frozen=True, slots=True)
class Floating:
    """A stretch of a clip in which the body stands on no foot and touches no floor."""

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


@dataclass(frozen=True, slots=True)
class RateCheck:
    """How fast the body falls in its flights, if the rate is what the file says."""

    fall: float
    """Weighted median over the flights, m/s2."""
    uncertainty: float
    """Standard error of ``fall`` as a part of it."""
    flights: int
    stated: float
    """Rate that is checked."""
    fps: float
    """Rate at which it would fall at 9.81 m/s2, snapped to a known rate where one is near."""

    @property
    def is_credible(self) -> bool:
        """Whether the stated rate is credible.

        Headers state half or twice the true rate. Any other difference can as well be feet
        that still touch, or an edited clip, so it takes more flights and a known rate to doubt it.
        """
        doubt = 1.0 + 1.5 * self.uncertainty
        if CREDIBLE[0] / doubt <= self.fall <= CREDIBLE[1] * doubt:
            return True
        if _is_octave(self.fps, self.stated):
            return False
        return self.flights < 3 or self.fps not in KNOWN_RATES


def check_rate(motion: Motion, body: BodyMap, tracks: LegTracks, floor: Floor) -> RateCheck | None:
    """The check over all flights of a clip; None where it never leaves the ground.

    The centre of mass of each flight is fitted with a parabola. How sure its fall is depends on
    the number of frames alone, not on seconds, which are what is in question.
    """
    falls, doubts = [], []
    for heights in _flight_heights(motion, body, tracks, floor):
        fall, error = _fit_fall(heights, motion.fps)
        if FALLS[0] <= fall <= FALLS[1] and error < USABLE * fall:
            falls.append(fall)
            # A tenth for the masses, which are a table's, and for a foot that is not quite off.
            doubts.append(np.hypot(error / fall, 0.1))
    if not falls:
        return None
    weights = np.array(doubts) ** -2.0
    fall = _weighted_median(np.array(falls), weights)
    doubt = float(weights.sum() ** -0.5)
    rate = _snapped(motion.fps * np.sqrt(GRAVITY / fall), 0.5 * doubt, motion.fps)
    return RateCheck(fall, doubt, len(falls), motion.fps, rate)


def rate_finding(check: RateCheck, *, stated: bool) -> Finding:
    """The result of the check; a warning where a rate that only the file states is not credible."""
    flights = "one flight" if check.flights == 1 else f"{check.flights} flights"
    text = f"at {check.stated:.6g} frames per second the body falls at {check.fall:.1f} m/s2"
    text = f"{text} in {flights}"
    if CREDIBLE[0] <= check.fall <= CREDIBLE[1]:
        return Finding("note", "frame rate", f"{text}: the rate agrees with gravity.")
    if check.is_credible:
        note = f"{text}, too few or too short to speak against the rate."
        return Finding("note", "frame rate", note)
    return Finding(
        "note" if stated else "warning",
        "frame rate",
        f"{text}, where gravity gives 9.8.",
        f"Pass fps={check.fps:g} if that is the true rate.",
    )


def _flight_heights(
    motion: Motion, body: BodyMap, tracks: LegTracks, floor: Floor
) -> list[FloatArray]:
    """Height of the centre of mass in every frame of each flight, metres."""
    step = tracks.step
    spans = [np.arange(a * step, b * step + 1) for a, b in _find_flights(tracks, floor)]
    if not spans:
        return []
    frames = np.concatenate(spans)  # all flights at once: many are short
    positions = pick(motion, frames).world_positions()
    heights = _segments(motion.skeleton.n_joints, body).centre(positions)[:, 1]
    return np.split(heights, np.cumsum([len(span) for span in spans])[:-1])


def _find_flights(tracks: LegTracks, floor: Floor) -> list[tuple[int, int]]:
    """First and last track frame of every stretch in which neither foot touches the floor."""
    rise = floor.slope_x * tracks.balls[..., 0] + floor.slope_z * tracks.balls[..., 2]
    balls = tracks.balls[..., 1] - rise - np.array([floor.left_height, floor.right_height])
    ankles = tracks.ankles[..., 1] - rise
    low = len(ankles) // 10
    ankles = ankles - np.partition(ankles, low, axis=0)[low]
    up = (balls > BALL_CLEARANCE_M) & (ankles > ANKLE_CLEARANCE_M)
    least = max(LEAST_FRAMES / tracks.step, LEAST_S * tracks.fps)
    return [(a, b) for a, b in runs_of(up.all(axis=1)) if b - a + 1 >= least]


def _fit_fall(heights: FloatArray, fps: float) -> tuple[float, float]:
    """Downward acceleration of the best parabola through the heights, and its error, m/s2."""
    n = len(heights)
    t = (np.arange(n) - 0.5 * (n - 1)) / fps
    bend = 0.5 * t * t
    bend = bend - bend.mean()  # square to the constant, and to t by symmetry
    power = float(bend @ bend)
    return -float(bend @ heights) / power, NOISE_M / power**0.5


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The value in the middle of the weights, between two where the middle falls between them."""
    order = np.argsort(values)
    weights = weights[order]
    middles = (np.cumsum(weights) - 0.5 * weights) / weights.sum()
    return float(np.exp(np.interp(0.5, middles, np.log(values[order]))))


def _snapped(fps: float, doubt: float, stated: float) -> float:
    """The known rate that ``fps`` most likely is; ``fps`` rounded where none is near.

    Halves and doubles of the stated rate are taken to be twenty times as likely as others.
    """
    # Runs with short flights were off by up to 15 % in one direction: more of them do not help.
    doubt = max(doubt, 0.06)

    def unlikeliness(rate: float) -> float:
        surprise = (np.log(rate / fps) / doubt) ** 2
        return float(surprise - (2.0 * np.log(20.0) if _is_octave(rate, stated) else 0.0))

    near = min(KNOWN_RATES, key=unlikeliness)
    return near if abs(np.log(near / fps)) < 2.5 * doubt else float(f"{fps:.3g}")


def _is_octave(rate: float, stated: float) -> bool:
    """Whether a rate is the stated one halved or doubled, once or more."""
    octaves = float(np.log2(rate / stated))
    return round(octaves) != 0 and abs(octaves - round(octaves)) < 0.02
