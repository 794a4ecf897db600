"""register(): from motions to a registration curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from motionloom._arrays import FloatArray, flag, whole
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.errors import RegistrationError
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.motion import Motion
from motionloom.registration.alignment import fit_alignment
from motionloom.registration.constraints import ConstraintMatch, match_constraints
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.distance import Aligned, DistanceGrid, distance_grid
from motionloom.registration.inputs import (
    check_settings,
    matched_motions,
    repaired_motions,
)
from motionloom.registration.long_clips import MOST_CELLS, LongGrid, find_long_path
from motionloom.registration.pair_curve import PairCurve, fit_pair, path_between_pins
from motionloom.registration.splines import Spline, adjust_increasing, fit_spline
from motionloom.registration.timewarp import (
    TimePath,
    find_corner_path,
    find_open_path,
    find_path_through,
)

__all__ = ["register"]

GRID_RATE = 30.0
"""Frames per second that the grid looks at, as in [KG03]_; more says nothing new about a body."""


@dataclass(frozen=True, slots=True)
class _Settings:
    ends: str
    slope_limit: int
    epsilon: float
    knot_s: float
    window_s: float
    refine: bool
    cover: float
    least_s: float


@dataclass(frozen=True, slots=True, eq=False)
class _Sampled:
    """A motion at the grid's rate."""

    points: FloatArray
    roots: FloatArray


def register(
    motions: Sequence[Motion],
    *,
    ends: Literal["open", "match"] = "open",
    at: tuple[int, int] | None = None,
    pins: Sequence[tuple[int, int]] = (),
    footplants: Sequence[Footplants] | None = None,
    reference: int | None = None,
    refine: bool = False,
    slope_limit: int = 3,
    epsilon: float = 0.33,
    knot_s: float = 0.27,
    window_s: float = 0.17,
    cover: float = 0.6,
    least_s: float = 0.0,
    body: BodyMap | None = None,
    repair_knees: bool | None = True,
    match: bool = True,
) -> RegistrationCurve:
    """The registration curve of two or more motions: timing, alignment and matched plants.

    Parameters
    ----------
    motions
        Two or more; others than the first are matched to its skeleton and rate, and noted.
    ends
        ``"open"`` finds the part the motions share and crops them to it; ``"match"`` forces first
        frames together and last frames together.
    at
        A pair of frames, at the first motion's rate, that must match; the curve is grown from it
        both ways. Two motions only.
    pins
        More pairs of frames that should match, in time order. Two motions only. They are met where
        the curve can bend so quickly; pins that ask for sudden changes of rate are missed by some
        frames.
    footplants
        Contacts of every motion, in its own frames; detected where not given.
    reference
        Motion that the others are brought to; where not given, the one nearest to all others, of
        two the first.
    refine
        Move the times to a small part of a frame. For near-copies: between different takes it
        follows style.
    slope_limit
        Most frames in a row that one motion may stand while the other goes on.
    epsilon
        Smallest ratio of two motions' rates along the curve.
    knot_s, window_s
        Seconds between control points, and of the window in which frames are compared.
    cover
        With open ends, the least part of the shorter motion that must be kept.
    least_s
        With ``at``, the least seconds that the curve must go on either side of it.
    body
        Which joint is which; guessed where not given.
    repair_knees
        Whether knees that were captured bent backwards are repaired first; single glitched frames
        are interpolated in either case. None leaves captures entirely as they are.
    match
        If False, all motions must have the same joints, and bones of other lengths are left as
        they are.

    Returns
    -------
    RegistrationCurve
        Times, alignments and matched contacts over one parameter, with the motions.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> slow, fast = (synthetic.clip("walk", speed=v).motion for v in (1.1, 1.5))
    >>> curve = register([slow, fast])
    >>> curve.frames(0.5 * curve.u_range[1]).shape
    (2,)
    """
    check_settings(
        ends=ends,
        slope_limit=slope_limit,
        epsilon=epsilon,
        knot_s=knot_s,
        window_s=window_s,
        cover=cover,
        least_s=least_s,
    )
    settings = _Settings(
        ends, slope_limit, epsilon, knot_s, window_s, flag(refine, "refine"), cover, least_s
    )
    matched, notes = matched_motions(
        motions, at, pins, footplants=footplants, body=body, match=match
    )
    clips, roles = list(matched.motions), matched.body
    if reference is not None:
        reference = whole(reference, "reference", least=0, most=len(clips) - 1)
    if repair_knees is not None:
        knees = flag(repair_knees, "repair_knees")
        clips = repaired_motions(clips, roles, notes, knees=knees)
    stride = max(1, round(clips[0].fps / GRID_RATE))
    rate = clips[0].fps / stride
    longest = 2.0 * max(clip.n_frames for clip in clips)  # a longer window compares no more
    half = max(0, round(0.5 * (min(window_s * rate, longest) - 1.0)))
    among = [clip.skeleton for clip in clips]
    clouds = [point_cloud(clip, body=roles, among=among) for clip in clips]
    weights = clouds[0].weights
    sampled = [
        _Sampled(cloud.points[::stride], clip.root_positions[::stride])
        for cloud, clip in zip(clouds, clips, strict=True)
    ]
    if len(clips) == 2:
        reference = reference or 0
        step = -1 if reference else 1  # the reference comes first
        pair = _register_two(
            _Grids(sampled[::step], weights, half),
            sampled[::step],
            weights,
            settings,
            None if at is None else (at[reference], at[1 - reference]),
            [(pin[reference], pin[1 - reference]) for pin in pins],
            stride,
            rate,
        )
        times = Spline(pair.times.points[:, ::step] * stride)
        costs: tuple[float, ...] = (0.0, float(np.sqrt(pair.path.mean_cost)))[::step]
        alignments: list[Spline | None] = [None, pair.alignment][::step]
    else:
        grids = _Grids(sampled, weights, half)
        if reference is None:
            reference = _nearest_to_all(grids, len(clips), settings)
        times, alignments, costs = _register_many(
            grids, sampled, weights, settings, reference, stride, rate
        )
    spacing = _mean_spacing(times)
    curve = RegistrationCurve(
        motions=tuple(clips),
        footplants=matched.footplants,
        times=times,
        alignment=tuple(alignments),
        matches={},
        reference=reference,
        frames_per_knot=spacing,
        costs=costs,
        notes=tuple(notes),
        body=roles,
    )
    return _with_matches(curve)


class _Grids:
    """Distance grids between sampled motions, made when first asked for."""

    def __init__(self, sampled: Sequence[_Sampled], weights: FloatArray, half: int) -> None:
        self._sampled, self._weights, self._half = sampled, weights, half
        self._made: dict[tuple[int, int], DistanceGrid] = {}

    def __call__(self, a: int, b: int) -> DistanceGrid:
        if (a, b) not in self._made:
            report_step("comparing clips", len(self._made), len(self._sampled) ** 2)
            self._made[a, b] = distance_grid(
                self._sampled[a].points,
                self._sampled[b].points,
                self._weights,
                half_window=self._half,
            )
        return self._made[a, b]

    def long(self, a: int, b: int) -> LongGrid:
        """The same for clips whose whole grid would be too large."""
        return LongGrid(self._sampled[a].points, self._sampled[b].points, self._weights, self._half)


def _register_two(
    grids: _Grids,
    sampled: Sequence[_Sampled],
    weights: FloatArray,
    settings: _Settings,
    at: tuple[int, int] | None,
    pins: Sequence[tuple[int, int]],
    stride: int,
    rate: float,
) -> PairCurve:
    n, m = (len(clip.points) for clip in sampled)
    if n * m > MOST_CELLS and at is None and not pins:
        long = grids.long(0, 1)
        path = find_long_path(
            long,
            lambda cost: _path(cost, settings, []),
            slope_limit=settings.slope_limit,
            to_corner=settings.ends == "match",
        )
        return _fit(long, path, sampled[0], sampled[1], weights, settings, rate)
    grid = grids(0, 1)
    marks = [(min(i // stride, n - 1), min(j // stride, m - 1)) for i, j in pins]
    if at is not None:
        marks = sorted({*marks, (min(at[0] // stride, n - 1), min(at[1] // stride, m - 1))})
    path = _path(grid.cost, settings, marks, int(np.ceil(settings.least_s * rate)) + 1)
    given = [*pins, *([at] if at is not None else [])]
    exact = [(i / stride, j / stride) for i, j in given]
    return _fit(grid, path, sampled[0], sampled[1], weights, settings, rate, exact)


def _path(
    cost: FloatArray, settings: _Settings, marks: list[tuple[int, int]], at_least: int = 1
) -> TimePath:
    limit = settings.slope_limit
    n, m = cost.shape
    if settings.ends == "match":
        corners = [(0, 0), *marks, (n - 1, m - 1)]
        pins = [p for k, p in enumerate(corners) if k == 0 or p != corners[k - 1]]
        if len(pins) == 2:
            return find_corner_path(cost, slope_limit=limit)
        return path_between_pins(cost, pins, slope_limit=limit)
    if not marks:
        return find_open_path(cost, slope_limit=limit, cover=settings.cover)
    first = find_path_through(cost, *marks[0], slope_limit=limit, at_least=at_least)
    if len(marks) == 1:
        return first
    before = first.cells[: int(np.flatnonzero((first.cells == marks[0]).all(axis=1))[0])]
    middle = path_between_pins(cost, marks, slope_limit=limit)
    last = find_path_through(cost, *marks[-1], slope_limit=limit, at_least=at_least)
    after = last.cells[int(np.flatnonzero((last.cells == marks[-1]).all(axis=1))[0]) + 1 :]
    cells = np.concatenate([before, middle.cells, after])
    return TimePath(cells, float(cost[tuple(cells.T)].sum()))


def _fit(
    grid: Aligned,
    path: TimePath,
    reference: _Sampled,
    other: _Sampled,
    weights: FloatArray,
    settings: _Settings,
    rate: float,
    pins: Sequence[tuple[float, float]] = (),
) -> PairCurve:
    clouds = (reference.points, other.points, weights) if settings.refine else None
    return fit_pair(
        grid,
        path,
        other.roots,
        reference.roots,
        frames_per_knot=max(settings.knot_s * rate, 1.0),
        epsilon=settings.epsilon,
        clouds=clouds,
        pins=pins,
    )


def _nearest_to_all(grids: _Grids, n_clips: int, settings: _Settings) -> int:
    """The motion whose frames lie nearest to the others' on average."""
    cost = np.zeros((n_clips, n_clips))
    for a in range(n_clips):
        for b in range(a + 1, n_clips):
            cost[a, b] = cost[b, a] = _path(grids(a, b).cost, settings, []).mean_cost
    return int(np.argmin(cost.sum(axis=1)))


def _register_many(
    grids: _Grids,
    sampled: Sequence[_Sampled],
    weights: FloatArray,
    settings: _Settings,
    reference: int,
    stride: int,
    rate: float,
) -> tuple[Spline, list[Spline | None], tuple[float, ...]]:
    """Every motion against the reference, then all on the reference's frames (section 4.2)."""
    others = [k for k in range(len(sampled)) if k != reference]
    paths = {k: _path(grids(reference, k).cost, settings, []) for k in others}
    if settings.ends == "open":
        paths = _cropped(grids, paths, reference, settings)
    pairs = {
        k: _fit(grids(reference, k), path, sampled[reference], sampled[k], weights, settings, rate)
        for k, path in paths.items()
    }
    first = max(float(p.times(0.0)[0]) for p in pairs.values())
    last = min(float(p.times(p.times.u_end)[0]) for p in pairs.values())
    if last - first < 2.0:
        raise RegistrationError(
            f"The motions share only {max(last - first, 0.0) / rate:.2f} s of the reference "
            f"(motion {reference}). Choose clips of the same action, or name another `reference`."
        )
    frames = np.linspace(first, last, max(round(last - first) + 1, 3))
    rows: list[FloatArray] = []
    carried: list[FloatArray | None] = []
    for k in range(len(sampled)):
        if k == reference:
            rows.append(frames)
            carried.append(None)
        else:
            u = pairs[k].times.inverse(0, frames)
            rows.append(pairs[k].times(u)[:, 1])
            carried.append(pairs[k].alignment(u))
    values = np.stack(rows, axis=-1)  # (N, K)
    length = float((values[-1] - values[0]).mean())
    n_points = 2 + max(1, int(np.ceil(length / max(settings.knot_s * rate, 1.0))))
    u = np.linspace(0.0, n_points - 2.0, len(frames))
    ends = values[[0, -1]]
    times = fit_spline(u, values, n_points, ends=ends)
    times = adjust_increasing(times, epsilon=settings.epsilon, ends=ends)
    alignments: list[Spline | None] = [
        None if c is None else fit_alignment(u, c, n_points) for c in carried
    ]
    costs = tuple(
        0.0 if k == reference else float(np.sqrt(pairs[k].path.mean_cost))
        for k in range(len(sampled))
    )
    return Spline(times.points * stride), alignments, costs


def _cropped(
    grids: _Grids, paths: dict[int, TimePath], reference: int, settings: _Settings
) -> dict[int, TimePath]:
    """Paths over the part of the reference that all motions share, ends forced together."""
    first = max(int(p.cells[0, 0]) for p in paths.values())
    last = min(int(p.cells[-1, 0]) for p in paths.values())
    cropped = {}
    for k, path in paths.items():
        inside = path.cells[(path.cells[:, 0] >= first) & (path.cells[:, 0] <= last)]
        if last - first < 2 or len(inside) < 2:
            raise RegistrationError(
                f"The motions have no part in common: motion {k} shares with the reference "
                f"(motion {reference}) what others do not. Leave it out, or use ends='match'."
            )
        i, j = inside[0]
        n, m = inside[-1]
        cost = grids(reference, k).cost[i : n + 1, j : m + 1]
        part = find_corner_path(cost, slope_limit=settings.slope_limit)
        cropped[k] = TimePath(part.cells + np.array([i, j]), part.cost)
    return cropped


def _mean_spacing(times: Spline) -> float:
    """Average frames per unit of the spline's own parameter."""
    ends = times(np.array([0.0, times.u_end]))
    return float((ends[1] - ends[0]).mean()) / times.u_end


def _with_matches(curve: RegistrationCurve) -> RegistrationCurve:
    """The curve with the plants of its motions matched, kind by kind."""
    matches: dict[str, tuple[ConstraintMatch, ...]] = {}
    ends = curve.times(np.array([0.0, curve.times.u_end]))  # (2, K)
    for kind in KINDS:
        per_motion = []
        for k, plants in enumerate(curve.footplants):
            spans = np.array(plants.intervals()[kind], dtype=np.float64).reshape(-1, 2)
            spans = np.clip(spans, ends[0, k], ends[1, k])
            inside = curve.u_of(k, spans[spans[:, 1] > spans[:, 0]])
            per_motion.append([(float(start), float(end)) for start, end in inside])
        matches[kind] = match_constraints(per_motion)
    return dataclasses.replace(curve, matches=matches)
