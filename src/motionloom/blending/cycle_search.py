"""Where in a clip a cycle closes best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.blending.cycle_feet import Cycle, closed_cycle, verify_laps
from motionloom.body.body_map import BodyMap
from motionloom.errors import RegistrationError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.registration.distance import DistanceGrid, distance_grid
from motionloom.rotation.planar import PlanarTransform

TRAVELS = 0.5
"""A body that covers less than this in a second (metres) stands."""
TRAVEL_S = 1.0
"""A clip travels if it does so for this long without a stop, or for most of a shorter clip."""
POOR_M = 0.06
"""First and last pose of a cycle that differ by more (rms) are not the same phase of a step."""
TRIES = 12
"""Cycles that are tried, best first, until one passes the quality check."""
SLOWEST, SLOW = 0.4, 0.75
"""Slowest frame and average of a travelling cycle, as parts of the clip's travelling speed."""


class CycleSearch(NamedTuple):
    """Where cycles are looked for."""

    motion: Motion
    grid: DistanceGrid
    stride: int
    """Frames from one sample of the grid to the next."""
    half: int
    lengths: tuple[int, int]
    """Shortest and longest cycle, samples."""
    frames: _CycleFrames
    moving: bool | None
    seam: int

    @classmethod
    def of(
        cls, motion: Motion, body: BodyMap, lengths: tuple[int, int], moving: bool | None, seam: int
    ) -> CycleSearch:
        """The search in a clip, whose cycles have ``lengths`` frames and a ``seam`` of so many."""
        stride = max(1, round(motion.fps / 60.0))
        cloud = point_cloud(motion, body=body)
        points = cloud.points[::stride]
        half = max(1, round(0.06 * motion.fps / stride))
        grid = distance_grid(points, points, cloud.weights, half_window=half)
        low, high = lengths
        samples = (int(np.ceil(low / stride)), int(high / stride))
        return cls(motion, grid, stride, half, samples, _CycleFrames.of(motion, body), moving, seam)

    def cycle(self, best: _CycleSpan) -> Cycle:
        """The closed cycle between two samples."""
        theta, slide = self.grid.alignment(np.array([best.stop]), np.array([best.start]))
        closure = PlanarTransform(float(theta[0]), float(slide[0, 0]), float(slide[0, 1]))
        first, last = best.start * self.stride, best.stop * self.stride
        closed = closed_cycle(self.motion[first : last + 1], closure, self.seam)
        named = closed.replace(name=f"{self.motion.name} loop".strip())
        return Cycle(named, closure, first, self.seam)


class FoundCycle(NamedTuple):
    """The cycle that is used."""

    cycle: Cycle
    verification: Verification
    notes: list[str]
    match: FloatArray
    cost: float


def first_sound(search: CycleSearch, check: QualityCheck) -> FoundCycle:
    """The cycle that closes best of those that pass the check, else the one that fails least."""
    refused: list[tuple[int, int]] = []
    taken: tuple[_CycleSpan, Cycle, Verification, list[str]] | None = None
    while len(refused) < TRIES:
        reasons: list[str] = []
        best = _choose_cycle(
            search.grid.cost, search.lengths, search.half, search.stride, search.frames,
            search.moving, reasons, refused,
        )  # fmt: skip
        if best is None:
            break
        cycle = search.cycle(best)
        verification = verify_laps(cycle, check)
        if taken is None or len(verification.failed) < len(taken[2].failed):
            taken = (best, cycle, verification, reasons)
        if verification.passed:
            break
        refused.append((best.start, best.stop))
    assert taken is not None  # the first search finds a cycle or raises
    best, cycle, verification, reasons = taken
    if refused and verification.passed:
        reasons.append(f"{len(refused)} cycles that close better fail the quality check")
    match = _at_frames(best.strip, search.stride, search.motion.n_frames)
    cost = float(np.sqrt(search.grid.cost[best.stop, best.start]))
    return FoundCycle(cycle, verification, reasons, match, cost)


class _CycleFrames(NamedTuple):
    """What decides which frames a cycle may have."""

    speed: FloatArray
    """Ground speed of the pelvis over half a second, m/s. (F,)"""
    speed_of_travel: float
    """Travelling speed of the clip, m/s; 0 where it does not travel."""
    glitches: BoolArray
    """Frames with a capture glitch. (F,)"""

    @classmethod
    def of(cls, motion: Motion, body: BodyMap) -> _CycleFrames:
        pelvis = 0 if body.pelvis is None else body.pelvis
        path = motion.world_positions()[:, pelvis][:, [0, 2]]
        speed = _speeds(path, max(1, round(0.25 * motion.fps)), motion.fps)
        over = _speeds(path, max(1, round(0.5 * motion.fps)), motion.fps)
        glitches = np.zeros(motion.n_frames, dtype=bool)
        glitches[[glitch.frame for glitch in find_glitches(motion, body=body)]] = True
        travels = speed > TRAVELS
        longest = max((last - first + 1 for first, last in runs_of(travels)), default=0)
        enough = min(TRAVEL_S * motion.fps, 0.6 * motion.n_frames)
        moves = longest >= enough and over.max() > TRAVELS
        return cls(speed, float(np.median(speed[travels])) if moves else 0.0, glitches)


def _speeds(path: FloatArray, half: int, fps: float) -> FloatArray:
    """Distance (F,) from ``half`` frames before to ``half`` frames after each frame, per second."""
    frames = np.arange(len(path))
    before, after = np.maximum(frames - half, 0), np.minimum(frames + half, len(path) - 1)
    apart = np.linalg.norm(path[after] - path[before], axis=-1)
    return np.asarray(apart * fps / np.maximum(after - before, 1))


class _CycleSpan(NamedTuple):
    """Best cycle: first and last sample, its closing cost, and the best from every start (S,)."""

    start: int
    stop: int
    cost: float
    strip: FloatArray


def _choose_cycle(
    cost: FloatArray,
    lengths: tuple[int, int],
    half: int,
    stride: int,
    frames: _CycleFrames,
    moving: bool | None,
    notes: list[str],
    refused: Sequence[tuple[int, int]],
) -> _CycleSpan | None:
    """The cycle that closes best of those that are allowed; ``notes`` get what was decided.

    None where all that are left were refused before.
    """
    travels = frames.speed_of_travel > 0.0 if moving is None else moving
    best = None
    for wanted in (True, False) if travels and moving is None else (travels,):
        slow = frames.speed < SLOWEST * (frames.speed_of_travel or TRAVELS) if wanted else False
        slowest = SLOW * (frames.speed_of_travel or TRAVELS) if wanted else 0.0
        any_cycle, clean = (
            _best_cycle(
                cost, lengths, half, stride, slow | glitches, frames.speed, slowest, refused
            )
            for glitches in (np.zeros_like(frames.glitches), frames.glitches)
        )
        best = _without_glitches(any_cycle, clean, frames, stride, notes)
        if best is not None:
            break
    if best is None and refused:
        return None
    if best is None:
        raise RegistrationError(
            f"`moving` needs a cycle of {lengths[0] * stride} or more frames in which the body "
            f"travels at {TRAVELS:g} m/s or more; the clip has none. Leave `moving` out, or use a "
            "longer clip."
        )
    if wanted and frames.speed_of_travel:
        notes.append(
            f"only travelling cycles: the body travels at {frames.speed_of_travel:.2f} m/s"
        )
    elif travels and not wanted:
        notes.append("no cycle travels all the time: cycles that stand were allowed")
    closes = float(np.sqrt(cost[best.start, best.stop]))
    if closes > POOR_M:
        notes.append(
            f"first and last pose differ by {100 * closes:.0f} cm: the clip has no full cycle"
        )
    return best


def _without_glitches(
    any_cycle: _CycleSpan | None,
    clean: _CycleSpan | None,
    frames: _CycleFrames,
    stride: int,
    notes: list[str],
) -> _CycleSpan | None:
    """The cycle without glitches if it closes about as well as the best of all."""
    if any_cycle is None:
        return None
    if clean is not None and clean.cost <= 2.0 * any_cycle.cost + 0.5 * POOR_M:
        if clean.start != any_cycle.start or clean.stop != any_cycle.stop:
            notes.append("a cycle that closes better has capture glitches and was left out")
        return clean
    count = int(frames.glitches[any_cycle.start * stride : any_cycle.stop * stride + 1].sum())
    notes.append(f"{count} frames of the cycle have capture glitches: cycles without close badly")
    return any_cycle


def _best_cycle(
    cost: FloatArray,
    lengths: tuple[int, int],
    half: int,
    stride: int,
    forbidden: BoolArray,
    speed: FloatArray,
    slowest: float,
    refused: Sequence[tuple[int, int]],
) -> _CycleSpan | None:
    """The cycle that closes best of all without forbidden frames and fast enough on average."""
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
    return None if span is None else _CycleSpan(*span, best, strip)


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
