"""Cycles: where a clip or a curve repeats itself, and the closed cycle cut from a clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.finalize import (
    Finalized,
    Window,
    ease_to,
    finalize,
    legs_missing,
    put_into,
)
from motionloom.errors import RegistrationError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Footplants, Motion, runs_of
from motionloom.motion.provenance import Provenance
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.timewarp import DistanceGrid, distance_grid, point_cloud
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform, ease

TRAVELS_M_S = 0.5
"""A body that covers less ground than this stands."""
TRAVEL_S = 1.0
"""A clip travels if it does so for this long without a stop, or for most of a shorter clip."""
MIN_SPEED, MIN_MEAN_SPEED = 0.4, 0.75
"""Slowest frame and mean of a travelling cycle, as parts of the clip's travelling speed."""
POOR_M = 0.06
"""First and last pose of a cycle that differ by more (rms) are not the same phase of a step."""
FADE_S = 0.3
"""Seconds before a seam and after the beginning in which feet that are held, and repairs, ease
off."""
MOST_SHIFT_M = 0.12
"""A cycle is moved by at most so much, for feet that stand over its seam, metres."""
MAX_TRIES = 12
"""Cycles that are tried, best first, until one passes the quality check."""


# --- A closed cycle


class Cycle(NamedTuple):
    """A cycle of a clip, closed: its last frame is its first, moved by ``closure``."""

    motion: Motion
    captured: Motion
    """The frames of the clip, as they are."""
    planted: BoolArray
    """Their contacts. (F, 4)"""
    closure: PlanarTransform
    first: int
    """Frame of the clip that it begins with."""
    seam: int
    """Frames before the end over which the pose is led back to the first one."""
    share: FloatArray
    """How much of a change every frame takes: 1 in the seam, and less and less over the fades
    before it and after the beginning. (F,)"""

    def laps(self, count: int) -> Motion:
        """The cycle played several times, each lap where the one before ends."""
        return _laps(self.motion, self.closure, count)

    def finished(self, check: QualityCheck, body: BodyMap, *, clean: bool) -> Finalized:
        """Two laps with feet held over the step from the end to the beginning, which is checked.

        Only frames of the seam and of its fades are changed and judged.
        """
        length = len(self.share) - 1
        share, loose = np.zeros(2 * length + 1), np.zeros(2 * length + 1, dtype=bool)
        after = int(np.argmin(self.share))  # the least is between the fades
        share[after : length + 1] = self.share[after:]
        share[length : length + after] = self.share[:after]
        loose[length - self.seam + 1 : length] = True
        frames = self.first + np.arange(2 * length + 1, dtype=np.float64)[:, None] % length
        labels = np.concatenate([self.planted[:-1], self.planted])
        window = Window(_laps(self.captured, self.closure, 2), share, loose)
        return finalize(
            self.laps(2),
            Footplants(labels),
            check,
            body=body,
            clean=clean,
            provenance=Provenance.of_clips(
                [self.motion.name], self.motion.fps, frames, np.ones_like(frames), share > 0.0
            ),
            window=window,
        )

    def lap_of(self, done: Finalized) -> tuple[Motion, BoolArray]:
        """One lap of the result of :meth:`finished`, and its contacts."""
        length = len(self.share) - 1
        after = int(np.argmin(self.share))
        begins = transform(done.motion[length : length + after + 1], self.closure.inverse())
        lap = put_into(self.captured, begins[:after] if after else begins[:1], 0)
        lap = put_into(lap, done.motion[after + 1 : length + 1], after + 1)
        planted = np.array(self.planted)
        planted[: after + 1] = done.footplants.planted[length : length + after + 1]
        planted[after + 1 :] = done.footplants.planted[after + 1 : length + 1]
        planted[-1] = planted[0]
        return lap.replace(name=self.motion.name, source=self.motion.source), planted


def _laps(motion: Motion, closure: PlanarTransform, count: int) -> Motion:
    laps, place = [], PlanarTransform.identity()
    for k in range(count):
        lap = transform(motion, place)
        laps.append(lap if k == count - 1 else lap[:-1])
        place = closure @ place
    return concatenate(laps)


def close(motion: Motion, closure: PlanarTransform, seam: int) -> Motion:
    """Lead the end of a motion to its beginning, moved by ``closure``, over ``seam`` frames."""
    goal, n = transform(motion[:1], closure), motion.n_frames
    share = ease((n - 1 - np.arange(n)) / min(seam, n - 1))  # 0 before the seam, 1 at the end
    turns = quat.log(quat.multiply(goal.local_quats[0], quat.conjugate(motion.local_quats[-1])))
    gap = goal.root_positions[0] - motion.root_positions[-1]
    moving = motion.joint_translations
    if moving is not None:
        moving = moving + share[:, None, None] * (moving[0] - moving[-1])
    return motion.replace(
        root_positions=motion.root_positions + share[:, None] * gap,
        local_quats=quat.multiply(quat.exp(share[:, None, None] * turns), motion.local_quats),
        joint_translations=moving,
    )


# --- The best cycle of a clip


class FoundCycle(NamedTuple):
    """The cycle that a search has chosen."""

    cycle: Cycle
    verification: Verification
    notes: list[str]
    """What was decided, and why."""
    match: FloatArray
    """Closing distance of the best cycle from each frame, metres rms; nan if none fits. (F,)"""
    cost: float
    """Closing distance of the chosen one, before its seam was blended."""


@dataclass(frozen=True, slots=True, eq=False)
class CycleSearch:
    """A clip in which cycles are looked for, compared with itself on a grid of samples."""

    motion: Motion
    grid: DistanceGrid
    stride: int
    """Frames from one sample of the grid to the next."""
    half: int
    """Half the window over which samples are compared."""
    lengths: tuple[int, int]
    """Shortest and longest cycle, samples."""
    speed: FloatArray
    """Ground speed of the pelvis over half a second, m/s. (F,)"""
    travel_speed: float
    """Travelling speed of the clip, m/s; 0 where it does not travel."""
    glitches: BoolArray
    """Frames with a capture glitch. (F,)"""
    moving: bool | None
    """Whether cycles must travel; None: if the clip does, and if any cycle can."""
    seam: int
    """Frames over which a cycle is closed."""
    planted: BoolArray
    """Contacts of the clip. (F, 4)"""
    body: BodyMap
    repaired: Motion
    """The clip as frames next to the ends of a cycle have it."""

    @classmethod
    def of(
        cls,
        motion: Motion,
        planted: BoolArray,
        body: BodyMap,
        lengths: tuple[int, int],
        *,
        moving: bool | None,
        seam: int,
        repairs: bool,
    ) -> CycleSearch:
        """A search for cycles of ``lengths`` frames, shortest and longest."""
        stride = max(1, round(motion.fps / 60.0))
        half = max(1, round(0.06 * motion.fps / stride))
        cloud = point_cloud(motion, body=body)
        points = cloud.points[::stride]
        glitches = np.zeros(motion.n_frames, dtype=bool)
        glitches[[glitch.frame for glitch in find_glitches(motion, body=body)]] = True
        return cls(
            motion,
            distance_grid(points, points, cloud.weights, half_window=half),
            stride,
            half,
            (int(np.ceil(lengths[0] / stride)), int(lengths[1] / stride)),
            *_travel(motion, body),
            glitches,
            moving,
            seam,
            planted,
            body,
            repair_capture(motion, body=body).motion if repairs else motion,
        )

    def best(self, check: QualityCheck) -> FoundCycle:
        """The cycle that closes best and passes the check, else the one that fails least."""
        refused: list[tuple[int, int]] = []
        taken: tuple[_Span, Cycle, Verification, list[str]] | None = None
        while len(refused) < MAX_TRIES:
            notes: list[str] = []
            span = self._choose(refused, notes)
            if span is None:
                break
            cycle = self._closed(span)
            verification = cycle.finished(check, self.body, clean=False).verification
            if taken is None or len(verification.failed) < len(taken[2].failed):
                taken = (span, cycle, verification, notes)
            if verification.passed:
                break
            refused.append((span.start, span.stop))
        assert taken is not None  # the first search finds a cycle or raises
        span, cycle, verification, notes = taken
        if refused and verification.passed:
            notes.append(f"{len(refused)} cycles that close better fail the quality check")
        match = _at_frames(span.strip, self.stride, self.motion.n_frames)
        cost = float(np.sqrt(self.grid.cost[span.stop, span.start]))
        return FoundCycle(cycle, verification, notes, match, cost)

    def _closed(self, span: _Span) -> Cycle:
        """The closed cycle between two samples."""
        theta, slide = self.grid.alignment(np.array([span.stop]), np.array([span.start]))
        closure = PlanarTransform(float(theta[0]), float(slide[0, 0]), float(slide[0, 1]))
        first, last = span.start * self.stride, span.stop * self.stride
        seam = min(self.seam, last - first)
        planted = np.array(self.planted[first : last + 1])
        fade = min(round(FADE_S * self.motion.fps), max(0, (last - first - seam) // 2 - 1))
        captured, at = self.motion[first : last + 1], np.arange(last - first + 1)
        share = np.maximum(ease(at / (fade + 1)), ease((len(at) - 1 - seam - at) / (fade + 1)))
        made = ease_to(captured, self.repaired[first : last + 1], share)
        closure = self._where_feet_stand(closure, made, planted, seam)
        named = close(made, closure, seam).replace(name=f"{self.motion.name} loop".strip())
        planted[-1] = planted[0]
        return Cycle(named, captured, planted, closure, first, seam, share)

    def _where_feet_stand(
        self, closure: PlanarTransform, motion: Motion, planted: BoolArray, seam: int
    ) -> PlanarTransform:
        """The closure, moved so that feet that stand over the seam stand in one place."""
        if legs_missing(self.body):
            return closure
        if planted.all(axis=0).any():  # a foot that stands all the time does not travel
            return PlanarTransform.identity()
        columns = np.flatnonzero(planted[-1 - seam :].all(axis=0) & planted[0])
        if not len(columns):
            return closure
        points = foot_points(motion, body=self.body)[[0, -1]][:, columns]
        apart = (points[1] - closure.apply(points[0])).mean(axis=0)
        if np.hypot(apart[0], apart[2]) > MOST_SHIFT_M:
            return closure
        return PlanarTransform(0.0, float(apart[0]), float(apart[2])) @ closure

    def _choose(self, refused: Sequence[tuple[int, int]], notes: list[str]) -> _Span | None:
        """The cycle that closes best and is not refused; what was decided is added to ``notes``.

        None if every cycle has been refused.
        """
        travels = self.travel_speed > 0.0 if self.moving is None else self.moving
        span = None
        for must_travel in (True, False) if travels and self.moving is None else (travels,):
            span = self._without_glitches(must_travel, refused, notes)
            if span is not None:
                break
        if span is None and refused:
            return None
        if span is None:
            raise RegistrationError(
                f"`moving` needs a cycle of {self.lengths[0] * self.stride} or more frames in "
                f"which the body travels at {TRAVELS_M_S:g} m/s or more; the clip has none. Leave "
                "`moving` out, or use a longer clip."
            )
        if must_travel and self.travel_speed:
            notes.append(f"only travelling cycles: the body travels at {self.travel_speed:.2f} m/s")
        elif travels and not must_travel:
            notes.append("no cycle travels all the time: cycles that stand were allowed")
        closes = float(np.sqrt(self.grid.cost[span.start, span.stop]))
        if closes > POOR_M:
            notes.append(
                f"first and last pose differ by {100 * closes:.0f} cm: the clip has no full cycle"
            )
        return span

    def _without_glitches(
        self, must_travel: bool, refused: Sequence[tuple[int, int]], notes: list[str]
    ) -> _Span | None:
        """The best cycle without glitches, unless the best of all closes far better."""
        usual = self.travel_speed or TRAVELS_M_S
        too_slow = self.speed < MIN_SPEED * usual if must_travel else np.zeros_like(self.glitches)
        any_cycle, clean = (
            _best_cycle(
                self.grid.cost,
                self.lengths,
                self.half,
                self.stride,
                forbidden,
                self.speed,
                MIN_MEAN_SPEED * usual if must_travel else 0.0,
                refused,
            )
            for forbidden in (too_slow, too_slow | self.glitches)
        )
        if any_cycle is None:
            return None
        if clean is not None and clean.cost <= 2.0 * any_cycle.cost + 0.5 * POOR_M:
            if (clean.start, clean.stop) != (any_cycle.start, any_cycle.stop):
                notes.append("a cycle that closes better has capture glitches and was left out")
            return clean
        first, last = any_cycle.start * self.stride, any_cycle.stop * self.stride
        count = int(self.glitches[first : last + 1].sum())
        notes.append(
            f"{count} frames of the cycle have capture glitches: cycles without close badly"
        )
        return any_cycle


class _Span(NamedTuple):
    """A cycle: its first and last sample, and how well it closes."""

    start: int
    stop: int
    cost: float
    """Closing distance, metres rms, with a penalty for windows cut by the ends of the clip."""
    strip: FloatArray
    """Closing distance of the best cycle from every sample. (S,)"""


def _best_cycle(
    cost: FloatArray,
    lengths: tuple[int, int],
    half: int,
    stride: int,
    forbidden: BoolArray,
    speed: FloatArray,
    slowest: float,
    refused: Sequence[tuple[int, int]],
) -> _Span | None:
    """The cycle that closes best of those without forbidden frames and fast enough on average."""
    n = len(cost)
    bad = np.concatenate([[0], np.cumsum(forbidden)])
    covered = np.concatenate([[0.0], np.cumsum(speed)])
    strip = np.full(n, np.nan)
    best, span = np.inf, None
    for i in range(n):
        stops = np.arange(i + lengths[0], min(n, i + lengths[1] + 1))
        first, ends = i * stride, stops * stride + 1
        mean = (covered[ends] - covered[first]) / (ends - first)
        stops = stops[(bad[ends] == bad[first]) & (mean >= slowest)]
        for start, stop in refused:
            if abs(i - start) <= half:
                stops = stops[np.abs(stops - stop) > half]
        if not len(stops):
            continue
        j = stops[np.argmin(cost[i, stops])]
        # Windows cut by the clip's ends compare repeated frames and look better than they are.
        cut = max(0, half - i) + max(0, j + half - (n - 1))
        value = float(np.sqrt(cost[i, j]))
        strip[i] = value
        if value * (1.0 + 0.1 * cut) < best:
            best, span = value * (1.0 + 0.1 * cut), (i, int(j))
    return None if span is None else _Span(*span, best, strip)


def _travel(motion: Motion, body: BodyMap) -> tuple[FloatArray, float]:
    """Ground speed (F,) of the pelvis, and the travelling speed of the clip, 0 if it stands."""
    pelvis = 0 if body.pelvis is None else body.pelvis
    path = motion.world_positions()[:, pelvis][:, [0, 2]]
    speed = _speeds(path, max(1, round(0.25 * motion.fps)), motion.fps)
    over_a_second = _speeds(path, max(1, round(0.5 * motion.fps)), motion.fps)
    travels = speed > TRAVELS_M_S
    longest = max((last - first + 1 for first, last in runs_of(travels)), default=0)
    enough = min(TRAVEL_S * motion.fps, 0.6 * motion.n_frames)
    if longest < enough or over_a_second.max() <= TRAVELS_M_S:
        return speed, 0.0
    return speed, float(np.median(speed[travels]))


def _speeds(path: FloatArray, half: int, fps: float) -> FloatArray:
    """Distance (F,) from ``half`` frames before to ``half`` frames after each frame, per second."""
    frames = np.arange(len(path))
    before, after = np.maximum(frames - half, 0), np.minimum(frames + half, len(path) - 1)
    apart = np.linalg.norm(path[after] - path[before], axis=-1)
    return np.asarray(apart * fps / np.maximum(after - before, 1))


def _at_frames(strip: FloatArray, stride: int, n: int) -> FloatArray:
    """Costs (F,) at every frame from those at every sample; nan where none is known."""
    match = np.full(n, np.nan)
    frames = np.arange(n)
    sampled = np.arange(len(strip)) * stride
    is_finite = np.isfinite(strip)
    if is_finite.any():
        inside = (frames >= sampled[is_finite].min()) & (frames <= sampled[is_finite].max())
        match[inside] = np.interp(frames[inside], sampled[is_finite], strip[is_finite])
    return match


# --- The cycle of a curve, for live control

CURVE_RATE = 30.0
"""Samples per second at which a curve is compared with itself."""
MAX_SAMPLES_PER_FRAME = 8.0
"""For clips with only a few frames per second."""
MIN_CYCLE_S = 0.5


def find_cycle(curve: RegistrationCurve) -> tuple[float, float]:
    """Parameters, in average frames, at which a cycle along the curve best begins and ends.

    At both of them every example has nearly the same pose: the sum of their distances is smallest.
    The ends of the curve are kept if they close about as well, as those of cut cycles do.
    """
    first, last = curve.u_range
    fps = curve.motions[0].fps
    n = max(3, round((last - first) * min(CURVE_RATE / fps, MAX_SAMPLES_PER_FRAME)))
    u = np.linspace(first, last, n)
    frames = np.round(curve.frames(u)).astype(np.int64)
    total: FloatArray = np.zeros((n, n))
    for k, motion in enumerate(curve.motions):
        cloud = point_cloud(motion)
        points = cloud.points[frames[:, k]]
        total += distance_grid(points, points, cloud.weights, half_window=2).cost
    spacing = (last - first) / (n - 1) / fps  # seconds of the mean motion per sample
    shortest = max(2, round(MIN_CYCLE_S / spacing))
    if shortest >= n:
        return first, last
    too_short = shortest > np.subtract.outer(np.arange(n), np.arange(n)).T
    cost = np.where(too_short, np.inf, total)
    best = float(cost.min())
    # Half as much again, plus 2 cm per example, is a difference that nobody sees.
    if total[0, n - 1] <= 1.5 * best + len(curve.motions) * 0.02**2:
        return first, last
    start, stop = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return float(u[start]), float(u[stop])
