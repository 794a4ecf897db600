"""loop(): the best cycle in a clip, with a smooth seam."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, flag, known_options, of_kind, positive
from motionloom._records import record
from motionloom.blending.cycle_feet import Cycle, closed_cycle, hold_feet, verify_laps
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.root_motion import travel_on_root
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.finalize import legs_missing
from motionloom.errors import RegistrationError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.series import series_of
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.features.glitches.repair import repair_capture
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.contacts import Footplants, contacts_for, runs_of
from motionloom.motion.motion import Motion
from motionloom.registration.distance import DistanceGrid, distance_grid
from motionloom.rotation.planar import PlanarTransform

TRAVELS = 0.5
"""A body that covers less than this in a second (metres) stands."""
TRAVEL_S = 1.0
"""A clip travels if it does so for this long without a stop, or for most of a shorter clip."""
POOR_M = 0.06
"""First and last pose of a cycle that differ by more (rms) are not the same phase of a step."""
SLIDES_M = 0.03
"""A contact that the seam moves farther than this is not labelled as one, metres."""
TRIES = 12
"""Cycles that are tried, best first, until one passes the quality check."""
SLOWEST, SLOW = 0.4, 0.75
"""Slowest frame and average of a travelling cycle, as parts of the clip's travelling speed."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Loop:
    """A cycle: its last frame is its first one, moved on by ``closure``."""

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    """First and last frame of the cycle in the clip it was cut from."""
    match: FloatArray
    """How well a cycle that starts at each frame of the clip closes, metres rms; nan where none
    fits. (F,)"""
    cost: float
    """How well this one closed before its seam was hidden, metres rms."""
    closure: PlanarTransform
    """What one cycle moves the body by."""
    notes: tuple[str, ...] = ()
    """What was decided (whether the cycle travels, glitches avoided), and failed checks."""
    verification: Verification = field(default_factory=lambda: Verification(True))
    """Quality check of two laps against the clip."""
    cleanup: CleanupReport | None = None
    """What holding the feet changed in one lap; None with ``clean=False``."""

    @property
    def period_s(self) -> float:
        """Seconds of one cycle."""
        return self.motion.duration_s

    @property
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


class LoopOptions(TypedDict, total=False):
    """Keyword arguments of :func:`motionloom.loop` that few callers need."""

    repair_knees: bool
    clean: bool


def loop(
    motion: Motion,
    *,
    shortest_s: float = 0.5,
    longest_s: float = 3.0,
    seam_s: float = 0.2,
    moving: bool | None = None,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    **options: Unpack[LoopOptions],
) -> Loop:
    """The cycle of a clip that closes best, with planted feet held over its seam.

    Feet are held in several laps together, and the middle lap is the result, so that it can be
    repeated without a seam.

    Parameters
    ----------
    motion
        A clip with at least one whole cycle in it.
    shortest_s, longest_s
        How long a cycle may be.
    seam_s
        Seconds before the end over which the pose is led back to the first one.
    moving
        Use only cycles in which the body travels, at about the clip's own travelling speed; with
        False, any cycle. By default True for clips that travel for a second or more: otherwise
        half a second of standing closes best.
    footplants
        Contacts of the clip; detected where not given.
    body
        Which joint is which; guessed where not given.
    repair_knees
        Whether knees that were captured bent backwards are repaired first (True by default).
    clean
        If False, feet are left as the seam has them.

    Returns
    -------
    Loop
        With the cycle, its contacts, what one lap moves the body by, and the quality check.

    Raises
    ------
    RegistrationError
        The clip is shorter than a cycle, or does not travel although ``moving`` is True.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> cycle = loop(synthetic.clip("walk").motion)
    >>> bool(np.allclose(cycle.motion.local_quats[0, 1:], cycle.motion.local_quats[-1, 1:]))
    True
    """
    of_kind(motion, Motion, "motion")
    for value, name in ((seam_s, "seam_s"), (shortest_s, "shortest_s"), (longest_s, "longest_s")):
        positive(value, name)
    moving = None if moving is None else flag(moving, "moving")
    known_options("loop", _Settings, options)
    settings = _Settings(**options)
    body = roles_for(motion.skeleton, body)
    if footplants is None:
        plants = detect_footplants(motion, body=body)
    else:
        plants = contacts_for(footplants, motion.n_frames)
    fps, n = motion.fps, motion.n_frames
    low, high = max(2, round(min(shortest_s * fps, n))), round(min(n - 1, longest_s * fps))
    if high < low:
        raise RegistrationError(
            f"A cycle takes at least {shortest_s:g} s; the clip has {motion.duration_s:.2f} s. "
            "Use a longer clip or a smaller `shortest_s`."
        )
    motion, notes = _prepared(motion, body, settings)
    check = QualityCheck([motion], footplants=[plants], body=body)
    seam = max(2, round(min(seam_s * fps, n)))
    taken = _first_sound(_Search.of(motion, body, (low, high), moving, seam), check)
    notes += taken.notes
    cycle, verification, cleanup = taken.cycle, taken.verification, None
    labels = np.array(plants.planted[cycle.first : cycle.first + cycle.motion.n_frames])
    planted = _true_labels(cycle.motion, labels, check, seam)
    closed, closure = cycle.motion, cycle.closure
    if settings.clean and (missing := legs_missing(body)):
        notes.append(f"feet are not held: the skeleton has no {', '.join(missing)}")
    elif settings.clean:
        labels[-1] = labels[0]
        held = hold_feet(cycle, labels, check, body=body)
        if held is None or len(held.verification.failed) > len(verification.failed):
            notes.append("feet are not held: the cycle would not close or fail the quality check")
        else:
            closed, verification, cleanup = held.motion, held.verification, held.cleanup
            planted, closure = held.footplants.planted, held.closure
    notes += [f"failed check: {each}" for each in verification.failed]
    return Loop(
        closed,
        Footplants(planted),
        (cycle.first, cycle.first + cycle.motion.n_frames - 1),
        taken.match,
        taken.cost,
        closure,
        tuple(notes),
        verification,
        cleanup,
    )


@dataclass(frozen=True, slots=True)
class _Settings:
    """The options of a loop, checked."""

    repair_knees: bool = True
    clean: bool = True

    def __post_init__(self) -> None:
        for each in fields(self):
            flag(getattr(self, each.name), each.name)


def _prepared(motion: Motion, body: BodyMap, settings: _Settings) -> tuple[Motion, list[str]]:
    """The clip with its travel on the root and its glitches repaired, and notes on both."""
    notes = []
    led = travel_on_root(motion, body=body)
    if led is not motion:
        notes.append("the root bone carries travel and heading, on the ground under the pelvis")
    repaired = repair_capture(led, body=body, knees=settings.repair_knees)
    return repaired.motion, [*notes, *repaired.notes]


class _Search(NamedTuple):
    """Where cycles are looked for."""

    motion: Motion
    grid: DistanceGrid
    stride: int
    """Frames from one sample of the grid to the next."""
    half: int
    lengths: tuple[int, int]
    """Shortest and longest cycle, samples."""
    frames: _Frames
    moving: bool | None
    seam: int

    @classmethod
    def of(
        cls, motion: Motion, body: BodyMap, lengths: tuple[int, int], moving: bool | None, seam: int
    ) -> _Search:
        stride = max(1, round(motion.fps / 60.0))
        cloud = point_cloud(motion, body=body)
        points = cloud.points[::stride]
        half = max(1, round(0.06 * motion.fps / stride))
        grid = distance_grid(points, points, cloud.weights, half_window=half)
        low, high = lengths
        samples = (int(np.ceil(low / stride)), int(high / stride))
        return cls(motion, grid, stride, half, samples, _Frames.of(motion, body), moving, seam)

    def cycle(self, best: _Cycle) -> Cycle:
        """The closed cycle between two samples."""
        theta, slide = self.grid.alignment(np.array([best.stop]), np.array([best.start]))
        closure = PlanarTransform(float(theta[0]), float(slide[0, 0]), float(slide[0, 1]))
        first, last = best.start * self.stride, best.stop * self.stride
        closed = closed_cycle(self.motion[first : last + 1], closure, self.seam)
        named = closed.replace(name=f"{self.motion.name} loop".strip())
        return Cycle(named, closure, first, self.seam)


class _Taken(NamedTuple):
    """The cycle that is used."""

    cycle: Cycle
    verification: Verification
    notes: list[str]
    match: FloatArray
    cost: float


def _first_sound(search: _Search, check: QualityCheck) -> _Taken:
    """The cycle that closes best of those that pass the check, else the one that fails least."""
    refused: list[tuple[int, int]] = []
    taken: tuple[_Cycle, Cycle, Verification, list[str]] | None = None
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
    return _Taken(cycle, verification, reasons, match, cost)


def _true_labels(cycle: Motion, planted: BoolArray, check: QualityCheck, seam: int) -> BoolArray:
    """Contacts of the cycle without those that its seam moves over the ground. (F, 4)."""
    planted = np.array(planted)
    rig = check.rig_for(cycle)
    if len(rig.legs):
        soles = series_of(rig, cycle).soles
        for column in range(4):
            for first, last in runs_of(planted[:, column]):
                ground = soles[first : last + 1, column][:, [0, 2]]
                if last >= cycle.n_frames - seam and np.ptp(ground, axis=0).max() > SLIDES_M:
                    planted[max(first, cycle.n_frames - seam) : last + 1, column] = False
    planted[-1] = planted[0]
    return planted


class _Frames(NamedTuple):
    """What decides which frames a cycle may have."""

    speed: FloatArray
    """Ground speed of the pelvis over half a second, m/s. (F,)"""
    pace: float
    """Travelling speed of the clip, m/s; 0 where it does not travel."""
    glitches: BoolArray
    """Frames with a capture glitch. (F,)"""

    @classmethod
    def of(cls, motion: Motion, body: BodyMap) -> _Frames:
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


class _Cycle(NamedTuple):
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
    frames: _Frames,
    moving: bool | None,
    notes: list[str],
    refused: Sequence[tuple[int, int]],
) -> _Cycle | None:
    """The cycle that closes best of those that are allowed; ``notes`` get what was decided.

    None where all that are left were refused before.
    """
    travels = frames.pace > 0.0 if moving is None else moving
    best = None
    for wanted in (True, False) if travels and moving is None else (travels,):
        slow = frames.speed < SLOWEST * (frames.pace or TRAVELS) if wanted else False
        slowest = SLOW * (frames.pace or TRAVELS) if wanted else 0.0
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
    if wanted and frames.pace:
        notes.append(f"only travelling cycles: the body travels at {frames.pace:.2f} m/s")
    elif travels and not wanted:
        notes.append("no cycle travels all the time: cycles that stand were allowed")
    closes = float(np.sqrt(cost[best.start, best.stop]))
    if closes > POOR_M:
        notes.append(
            f"first and last pose differ by {100 * closes:.0f} cm: the clip has no full cycle"
        )
    return best


def _without_glitches(
    any_cycle: _Cycle | None,
    clean: _Cycle | None,
    frames: _Frames,
    stride: int,
    notes: list[str],
) -> _Cycle | None:
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
) -> _Cycle | None:
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
    return None if span is None else _Cycle(*span, best, strip)


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
