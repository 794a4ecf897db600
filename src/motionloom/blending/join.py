"""Where two clips can be joined, and the join itself: A, a blend around one place, then B."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, whole
from motionloom._records import record
from motionloom.blending.evaluate import Evaluated, evaluate, walk_parameters
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, RegistrationError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Copied, Verification
from motionloom.features.glitches.repair import repair_capture
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.kinematics import velocities
from motionloom.motion.motion import Motion
from motionloom.motion.result_motion import joined_name
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.distance import distance_grid
from motionloom.registration.grids import GRID_RATE
from motionloom.registration.register import register
from motionloom.retargeting.match import MatchedClips
from motionloom.rotation.easing import ease
from motionloom.rotation.planar import PlanarTransform

MAX_PLACES = 12
"""How many places are ranked; they are tried in order until one passes the quality check."""
COMPARED_S = 0.17
"""Length of the window over which the frames of A and B are compared, seconds."""
FEET_WEIGHT_M = 0.05
"""Cost of a window in which all plants disagree, as metres of pose distance."""
MOVING_M_S = 0.3
"""A body whose root is faster than this, in metres per second, is moving."""
CONTEXT = 12
"""Unblended frames on each side of a blend that are checked together with it."""


# --- The two clips


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two repaired clips on one skeleton and at one rate, ready to be joined."""

    a: Motion
    b: Motion
    footplants: tuple[Footplants, Footplants]
    glitches: tuple[IntArray, IntArray]
    """Frames with glitches that could not be repaired."""
    body: BodyMap
    check: QualityCheck
    """Compares any result with the two clips."""
    notes: tuple[str, ...]
    """What matching and repair changed."""

    @classmethod
    def of(cls, matched: MatchedClips, *, repair_knees: bool = True) -> Pair:
        """Repair two matched clips; ``repair_knees`` includes knees captured bent backwards."""
        a, b = (
            repair_capture(clip, body=matched.body, knees=repair_knees) for clip in matched.motions
        )
        first, second = matched.footplants
        return cls(
            a.motion,
            b.motion,
            (first, second),
            (a.glitches, b.glitches),
            matched.body,
            QualityCheck([a.motion, b.motion], footplants=(first, second), body=matched.body),
            (
                *matched.named_notes(("A", "B")),
                *(f"A: {note}" for note in a.notes),
                *(f"B: {note}" for note in b.notes),
            ),
        )


# --- Places


@dataclass(frozen=True, slots=True)
@record
class Candidate:
    """A place to go from one clip to the other, and what it costs.

    Attributes
    ----------
    frame_a, frame_b : int
        Frames of the two clips at which they are joined.
    cost : float
        Sum of the parts, metres; lower is better.
    pose : float
        Root mean square distance of the bodies over the window, metres.
    feet : float
        Part of the window in which planted feet disagree, in metres of pose distance.
    both_moving : bool
        Whether both bodies travel there; standing poses match easily.
    """

    frame_a: int
    frame_b: int
    cost: float
    pose: float
    feet: float
    both_moving: bool


def find_places(pair: Pair, half: int, *, moving: bool) -> tuple[Candidate, ...]:
    """The best places for a blend of ``2 * half + 1`` frames, best first.

    Short clips get places with fewer frames around them than the blend asks for.
    """
    a, b = pair.a, pair.b
    shorter = min(a.n_frames, b.n_frames)
    most = (shorter - 1) // 2 - 1
    if most < 2:
        raise RegistrationError(
            f"Clips must have at least 7 frames for a transition, got {a.n_frames} and "
            f"{b.n_frames}. Use longer clips."
        )
    # The search samples clips at the grid's rate; the margins must leave it at least one sample.
    stride = max(1, round(a.fps / GRID_RATE))
    margin = min(int(np.ceil(1.4 * half)), most, max(0, (shorter - stride) // 2))
    return find_candidates(
        (a, b),
        pair.footplants,
        margin=margin,
        count=MAX_PLACES,
        moving=moving,
        avoid=pair.glitches,
        body=pair.body,
    )


def named_place(pair: Pair, at: tuple[int, int]) -> Candidate:
    """The place that the caller named; its cost is that of the best place within 8 frames."""
    clips = (pair.a, pair.b)
    at = (whole(at[0], "at[0]"), whole(at[1], "at[1]"))
    for name, frame, clip in zip("AB", at, clips, strict=True):
        if not 2 <= frame <= clip.n_frames - 3:
            raise ArrayError(
                f"`at` must leave two frames on both sides; {frame} does not, in clip "
                f"{name} of {clip.n_frames} frames."
            )
    near_a, near_b = (slice(max(0, frame - 8), frame + 9) for frame in at)
    best = find_candidates(
        (pair.a[near_a], pair.b[near_b]),
        (pair.footplants[0][near_a], pair.footplants[1][near_b]),
        margin=0,
        count=1,
        body=pair.body,
    )[0]
    return Candidate(at[0], at[1], best.cost, best.pose, best.feet, best.both_moving)


def find_candidates(
    clips: tuple[Motion, Motion],
    plants: tuple[Footplants, Footplants],
    *,
    margin: int,
    count: int = 8,
    moving: bool = False,
    avoid: tuple[IntArray, IntArray] | None = None,
    body: BodyMap | None = None,
) -> tuple[Candidate, ...]:
    """The best places to leave A and enter B, best first: local minima of their distance grid.

    Parameters
    ----------
    clips, plants
        A and B, on one skeleton at one rate, and their plants.
    margin
        Frames that each clip must still have on both sides of the place.
    count
        How many to give at most.
    moving
        Only places where both bodies travel, where there are any.
    avoid
        Glitched frames of A and of B: no place within ``margin`` frames of one, where others are.
    body
        Which joint is which; guessed where not given.
    """
    a, b = clips
    stride = max(1, round(a.fps / GRID_RATE))
    half = max(1, round(0.5 * (COMPARED_S * a.fps / stride - 1.0)))
    among = (a.skeleton, b.skeleton)
    cloud_a, cloud_b = (point_cloud(clip, body=body, among=among) for clip in clips)
    grid = distance_grid(
        cloud_a.points[::stride], cloud_b.points[::stride], cloud_a.weights, half_window=half
    )
    pose = np.sqrt(grid.cost)
    planted_a, planted_b = (each.planted[::stride] for each in plants)
    feet = FEET_WEIGHT_M * _disagreement(planted_a, planted_b, half=half)
    total = pose + feet

    rows, columns = (np.arange(size) * stride for size in total.shape)
    inside_a = (rows >= margin) & (rows <= a.n_frames - 1 - margin)
    inside_b = (columns >= margin) & (columns <= b.n_frames - 1 - margin)
    allowed = _cells(inside_a, inside_b)
    if not allowed.any():
        raise RegistrationError(
            f"Clips must have {margin} frames on both sides of a transition; they have "
            f"{a.n_frames} and {b.n_frames} in all. Use a shorter `length_s` or longer clips."
        )
    travel = _cells(_moving(a)[::stride], _moving(b)[::stride])
    if moving and (allowed & travel).any():
        allowed &= travel
    if avoid is not None:
        clear = _cells(_clear(rows, avoid[0], margin), _clear(columns, avoid[1], margin))
        if (allowed & clear).any():
            allowed &= clear
    return tuple(
        Candidate(
            int(rows[i]),
            int(columns[j]),
            float(total[i, j]),
            float(pose[i, j]),
            float(feet[i, j]),
            bool(travel[i, j]),
        )
        for i, j in _local_minima(total, allowed)[:count]
    )


def _cells(rows: BoolArray, columns: BoolArray) -> BoolArray:
    """Cells of the grid whose row and column both qualify. (n, m)."""
    return np.asarray(rows[:, None] & columns[None, :])


def _clear(frames: IntArray, glitches: IntArray, margin: int) -> BoolArray:
    """Which frames have no glitch within ``margin`` frames. (N,)."""
    if not len(glitches):
        return np.ones(len(frames), dtype=bool)
    return np.asarray(np.abs(frames[:, None] - glitches[None, :]).min(axis=1) > margin)


def _moving(motion: Motion) -> BoolArray:
    """Frames in which the root travels, its ground speed averaged over 0.3 s. (F,)."""
    speed = np.linalg.norm(velocities(motion.root_positions, motion.fps)[:, [0, 2]], axis=-1)
    width = max(1, round(min(0.3 * motion.fps, motion.n_frames)))
    return np.asarray(np.convolve(speed, np.ones(width) / width, mode="same") > MOVING_M_S)


def _disagreement(a: BoolArray, b: BoolArray, *, half: int) -> FloatArray:
    """Share of plant flags that differ, averaged over diagonal windows. (n, m)."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    differ = (x @ (1.0 - y).T + (1.0 - x) @ y.T) / x.shape[1]
    padded = np.pad(differ, half, mode="edge")
    n, m = differ.shape
    total = np.zeros_like(differ)
    for d in range(2 * half + 1):
        total += padded[d : d + n, d : d + m]
    return np.asarray(total / (2 * half + 1))


def _local_minima(total: FloatArray, allowed: BoolArray) -> IntArray:
    """Allowed cells (N, 2) that no neighbour undercuts, lowest cost first."""
    cost = np.where(allowed, total, np.inf)
    padded = np.pad(cost, 1, constant_values=np.inf)
    n, m = cost.shape
    lowest = np.isfinite(cost)
    for di in (0, 1, 2):
        for dj in (0, 1, 2):
            if (di, dj) != (1, 1):
                lowest &= cost <= padded[di : di + n, dj : dj + m]
    cells = np.argwhere(lowest)
    return np.asarray(cells[np.argsort(cost[tuple(cells.T)], kind="stable")])


# --- The join at a place


class Join(NamedTuple):
    """A, the blend and B as one clip; feet are not held yet."""

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    """First and last blended frame."""
    frames: FloatArray
    """Frame of A and of B at every blended frame. (N, 2)"""
    placement: PlanarTransform
    """Transforms B's coordinates into those of the result."""

    def copied(self, low: int = 0, high: int | None = None) -> list[Copied]:
        """Which of the frames ``low`` to ``high`` are copies of A (source 0) or B (source 1)."""
        high = self.motion.n_frames if high is None else high
        first, last = self.span
        enters_b = round(float(self.frames[-1, 1]))
        return [
            Copied(0, first + 1 - low, 0, low),
            Copied(last + 1 - low, high - low, 1, enters_b + 1),
        ]

    def verify(self, check: QualityCheck) -> Verification:
        """Check the blended frames and a little of A and B around them."""
        first, last = self.span
        low, high = max(0, first - CONTEXT), min(self.motion.n_frames, last + CONTEXT + 1)
        return check.verify(
            self.motion[low:high],
            footplants=self.footplants[low:high],
            span=(first - low, last - low),
            copied=self.copied(low, high),
            held=False,
        )


def join_at(pair: Pair, place: Candidate, half: int, *, timewarp: bool) -> Join:
    """Join A and B at a place by a blend of up to ``2 * half + 1`` frames.

    With ``timewarp`` the clips follow each other's time inside the blend; otherwise both play
    frame by frame.
    """
    a, b, (plants_a, plants_b) = pair.a, pair.b, pair.footplants
    curve = _curve(pair, place, half, timewarp)
    u = _parameters(curve, place, half)
    n = len(u)
    weight_of_a = ease(np.arange(n) / (n - 1))
    weights = np.stack([weight_of_a, 1.0 - weight_of_a], axis=-1)
    frames = curve.frames(u)
    leaves_a, enters_b = round(float(frames[0, 0])), round(float(frames[-1, 1]))
    blend = _standing_on_a(evaluate(curve, u, weights, name=joined_name(a, "to", b)))
    placement = _at(blend.placement, -1) @ _at(blend.alignments, (-1, 1))
    inner = [blend.motion[1:-1]] if n > 2 else []
    motion = concatenate([a[: leaves_a + 1], *inner, transform(b, placement)[enters_b:]])
    planted = np.concatenate(
        [
            plants_a.planted[: leaves_a + 1],
            blend.footplants.planted[1:-1],
            plants_b.planted[enters_b:],
        ]
    )
    return Join(
        motion.replace(name=blend.motion.name, source=a.source.for_result()),
        Footplants(planted),
        (leaves_a, leaves_a + n - 1),
        frames,
        placement,
    )


def _curve(pair: Pair, place: Candidate, half: int, timewarp: bool) -> RegistrationCurve:
    """The registration of the parts of A and B that a blend at this place can need."""
    reach = 3 * half + 12
    clips, at = (pair.a, pair.b), (place.frame_a, place.frame_b)
    low_a, low_b = (max(0, frame - reach) for frame in at)
    part_a, part_b = slice(low_a, at[0] + reach + 1), slice(low_b, at[1] + reach + 1)
    curve = register(
        [pair.a[part_a], pair.b[part_b]],
        at=(at[0] - low_a, at[1] - low_b),
        footplants=(pair.footplants[0][part_a], pair.footplants[1][part_b]),
        slope_limit=2 if timewarp else 0,
        epsilon=0.5,
        window_s=COMPARED_S,
        least_s=2.0 * half / pair.a.fps,
        body=pair.body,
        repair_knees=None,
        match=False,
    )
    return curve.shifted((low_a, low_b), clips, pair.footplants)


def _parameters(curve: RegistrationCurve, place: Candidate, half: int) -> FloatArray:
    """Parameters of the blended frames, so that the blend starts and ends on whole frames.

    From the place the curve is walked back towards A and on towards B with the weights that each
    frame will have. Both ends are then shifted by less than a frame: the first onto a frame of A,
    the last onto a frame of B. Where the clips are too short, the blend takes fewer frames.
    """
    times, end = curve.times, curve.times.u_end
    middle = 0.5 * (float(times.inverse(0, place.frame_a)) + float(times.inverse(1, place.frame_b)))
    middle = min(max(middle, 0.0), end)
    half = min(half, max(motion.n_frames for motion in curve.motions))  # a step plays one frame
    for h in range(half, 0, -1):
        w = ease(np.arange(2 * h + 1) / (2 * h))
        weights = np.stack([w, 1.0 - w], axis=-1)
        back = walk_parameters(times.points, weights[h::-1].copy(), middle, -1.0, 0.0, False)
        on = walk_parameters(times.points, weights[h:].copy(), middle, 1.0, end, False)
        if len(back) == h + 1 and len(on) == h + 1:
            snapped = _snapped(curve, np.concatenate([back[::-1], on[1:]]), h)
            if snapped is not None:
                return snapped * curve.frames_per_knot
    raise RegistrationError(
        f"A blend needs more frames around frame {place.frame_a} of A and {place.frame_b} of B. "
        "Choose another place with `at`, or leave `at` out."
    )


def _snapped(curve: RegistrationCurve, u: FloatArray, h: int) -> FloatArray | None:
    """``u`` moved onto whole frames at its ends; None if it would then run backwards."""
    times, end = curve.times, curve.times.u_end
    first = np.round(float(times(u[0])[0]))
    last = np.round(float(times(u[-1])[1]))
    shift_first = float(times.inverse(0, first)) - u[0]
    shift_last = float(times.inverse(1, last)) - u[-1]
    i = np.arange(-h, h + 1)
    moved = u + np.where(i <= 0, shift_first * ease((i + h) / h), shift_last * ease((h - i) / h))
    if np.diff(moved).min() <= 0.0 or moved[0] < -1e-9 or moved[-1] > end + 1e-9:
        return None
    return np.asarray(np.clip(moved, 0.0, end))


def _standing_on_a(blend: Evaluated) -> Evaluated:
    """The blend, moved so that its first frame stands where A stands."""
    back = (_at(blend.placement, 0) @ _at(blend.alignments, (0, 0))).inverse()
    return Evaluated(
        transform(blend.motion, back),
        blend.footplants,
        back @ blend.placement,
        blend.alignments,
        blend.wide_joints,
    )


def _at(transforms: PlanarTransform, index: int | tuple[int, int]) -> PlanarTransform:
    """One transform of an array of them."""
    return PlanarTransform(
        *(float(np.asarray(x)[index]) for x in (transforms.theta, transforms.x0, transforms.z0))
    )
