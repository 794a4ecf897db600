"""Edges of footplants: the instants at which a point comes to rest and leaves, below the noise.

A speed threshold is crossed some frames too late or too early, the more so the longer noise makes
one smooth. Here each edge is weighed again on the positions themselves. Before the edge the point
stands, but for a slow drift; after it, it moves as things with mass do: its position is continuous,
its velocity too but for a small kick, its acceleration is free. Both are Gaussian processes, so the
evidence for an edge at any instant has a closed form, and the mean over it is the estimate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.features.footplants.foot_signals import noise_level
from motionloom.motion.contacts import column_runs

_windows = kernel("ml_edge_windows")
_evidence = kernel("ml_edge_evidence")

OUT_S, IN_S = 0.085, 0.16
"""How far an edge may move outwards and inwards, seconds. A foot that is set down gently is slow
long before it stands, so rough plants are rather too long."""
OUTSIDE_S, INSIDE_S = 0.05, 0.12
"""How much more of the track is looked at, on either side of the search."""
DRIFTS = (0.01, 0.1)
"""Least and most speed that a standing point may have, m/s. Captured ones creep at 0.04 to 0.1."""
SURE_S = 0.025
"""Plants are taken for certain this far inside their edges."""
LEAST_SPACE = 4
"""Frames on either side of an edge for which another point must stand, to see the edge from it."""
FINE_HZ = 60.0
"""Rate at which edges are weighed in clips that are faster."""
DENSITIES = np.array([0.2, 8.0, 150.0])
"""How lively a moving point may be along one axis: hardly, as a rolling heel, as a swinging foot.
Spectral densities of its acceleration, m2/s3; 150 is 55 m/s2 that last 0.05 s. Axes are weighed
apart, since a heel that rolls off moves along one of them only."""
IMPACT = 0.06
"""Seconds of such acceleration that a touch-down can stop at once. Nothing leaves with a jerk."""
CUT = 4.0
"""Log odds that a plant which reaches the end of a clip goes on beyond it, rather than beginning
at one given instant within the search: plants last some 30 frames, clips cut them anywhere."""
CAUTION = 1.15
"""The noise is known within a tenth or so; to have too little of it costs more than too much."""
NOISY = 0.002
"""From this noise on, metres, a heel whose ball stands is looked at by its height alone."""
ROLLS = np.array([8.0, 20.0, 60.0, 200.0])
"""How lively such a heel may be, in the unit of ``DENSITIES``."""
CUT_ROLLING = 2.0
"""Log odds that such a heel stood before its ball did, like ``CUT``."""
STILL = 0.0015
"""No point stands stiller than this, metres: captured feet give."""


def refine_edges(
    planted: BoolArray,
    points: FloatArray,
    noise: FloatArray,
    sway: FloatArray,
    fps: float,
    *,
    shortest: float,
) -> BoolArray:
    """``planted`` with both edges of every plant moved to where the evidence is best.

    Parameters
    ----------
    planted : (F, P)
        Plants found roughly.
    points : (F, P, 3)
        The points, slide taken out, metres.
    noise : (P, 2)
        Noise of each point, per coordinate over the ground and upwards, metres.
    sway : (P, L)
        What of the noise upwards is not white: autocovariance by lag in frames, square metres.
    fps
        Frames per second.
    shortest
        Frames that a plant must keep; one that would keep fewer stays as it is.
    """
    rest = points, noise, sway, fps, shortest
    alone = _refine(planted, np.zeros_like(planted), *rest, again=False)
    seen_from = _shrunk(alone, max(1, round(SURE_S * fps)))
    return _refine(alone, seen_from, *rest, again=True)


def _refine(
    planted: BoolArray,
    seen_from: BoolArray,
    points: FloatArray,
    noise: FloatArray,
    sway: FloatArray,
    fps: float,
    shortest: float,
    *,
    again: bool,
) -> BoolArray:
    """Both edges of every plant weighed; ``again``: only those seen from a standing point."""
    refined = np.zeros_like(planted)
    n_frames = len(planted)
    apart = _noise_apart(points, seen_from)
    for p, runs in enumerate(column_runs(planted)):
        tracks = _tracks(p, seen_from, points, noise, sway, apart)
        drift = _drift(runs, points[:, p], float(noise[p].mean()), fps)
        firsts = _first_frames(runs, tracks, drift, fps, impact=IMPACT, again=again)
        flipped = [(n_frames - 1 - last, n_frames - 1 - first) for first, last in runs[::-1]]
        back = [t._replace(points=t.points[::-1], usable=t.usable[::-1]) for t in tracks]
        lasts = _first_frames(flipped, back, drift, fps, impact=0.0, again=again)[::-1]
        for run, first, flipped_last in zip(runs, firsts, lasts, strict=True):
            last = n_frames - 1 - flipped_last
            if last - first + 1 < shortest:
                first, last = run
            refined[first : last + 1, p] = True
    return refined


def _shrunk(planted: BoolArray, frames: int) -> BoolArray:
    """Plants less some frames at both ends, but for ends that the clip cuts."""
    shrunk = planted.copy()
    for shift in range(1, frames + 1):
        shrunk[shift:] &= planted[:-shift]
        shrunk[:-shift] &= planted[shift:]
    return shrunk


class Track(NamedTuple):
    """One way to see a point: in the world, or from another point that stands."""

    points: FloatArray
    """Shape (F, 3)."""
    usable: BoolArray
    """Whether what it is seen from stands. Shape (F,)."""
    noise: FloatArray
    """Per coordinate over the ground and upwards. Shape (2,)."""
    sway: FloatArray
    """Noise upwards that is not white: its autocovariance by lag, m2. Shape (L,)."""
    alone: bool
    rolls: bool = False
    """Whether it is that of a heel while its ball stands: it goes up and down, and nowhere else."""


def _noise_apart(points: FloatArray, stands: BoolArray) -> FloatArray:
    """Noise (P, P, 2) of each point seen from each other one, where either stands at all."""
    n_points = points.shape[1]
    pairs = np.array(
        [
            (p, q)
            for p, q in combinations(range(n_points), 2)
            if stands[:, p].any() or stands[:, q].any()
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    apart = np.zeros((n_points, n_points, 2))
    if len(pairs):
        p, q = pairs.T
        apart[p, q] = apart[q, p] = noise_level(points[:, p] - points[:, q])
    return apart


def _tracks(
    p: int,
    planted: BoolArray,
    points: FloatArray,
    noise: FloatArray,
    sway: FloatArray,
    apart: FloatArray,
) -> list[Track]:
    """The ways to see point ``p``, least noisy first.

    Noise of the root, or of anything above a foot, moves all points alike. Seen from a point that
    stands meanwhile, such noise is gone.
    """
    tracks = [Track(points[:, p], np.ones(len(points), dtype=bool), noise[p], sway[p], True)]
    for q in range(planted.shape[1]):
        stands = planted[:, q]
        if q != p and stands.any():
            seen = points[:, p] - points[:, q]
            both = sway[p] + sway[q]
            level = np.hypot(apart[p, q], [0.0, np.sqrt(both[0])])
            tracks.append(Track(seen, stands, level, both, False))
    # The worse of both directions counts: heels come and go upwards.
    tracks.sort(key=lambda track: float(track.noise.max()))
    if p % 2 == 0 and float(noise[p].max()) > NOISY:
        tracks.insert(0, Track(points[:, p], planted[:, p + 1], noise[p], sway[p], False, True))
    return tracks


def _drift(runs: Sequence[tuple[int, int]], track: FloatArray, noise: float, fps: float) -> float:
    """Speed per axis at which this point creeps while it stands, beyond what noise explains."""
    squares = []
    for first, last in runs:
        trim = (last - first + 1) // 5
        part = track[first + trim : last + 1 - trim]
        n = len(part)
        if n >= 5:
            time = (np.arange(n) - 0.5 * (n - 1)) / fps
            spread = float(time @ time)
            slope = time @ part / spread
            squares.append(float(np.mean(slope**2)) - noise**2 / spread)
    return float(np.clip(np.sqrt(max(np.median(squares), 0.0)), *DRIFTS)) if squares else DRIFTS[1]


def _first_frames(
    runs: Sequence[tuple[int, int]],
    tracks: list[Track],
    drift: float,
    fps: float,
    *,
    impact: float,
    again: bool,
) -> list[int]:
    """First planted frame of every run, weighed again."""
    # Fast clips are weighed on means of neighbouring frames: half a frame at 60 Hz is fine enough.
    block = max(1, round(fps / FINE_HZ))
    rate = fps / block
    widest_out, widest_in = max(1, round(OUT_S * rate)), max(1, round(IN_S * rate))
    outside, inside = max(2, round(OUTSIDE_S * rate)), max(2, round(INSIDE_S * rate))
    firsts = [first for first, _ in runs]
    groups: dict[tuple[int, int, int, int, int], list[int]] = defaultdict(list)
    for i, (first, last) in enumerate(runs):
        # Half of the plant belongs to its other edge, half of the gap to the plant before.
        space_in = (last - first + 1) // (2 * block)
        space_out = first // block if i == 0 else (first - runs[i - 1][1] - 1) // (2 * block)
        seen, space_out, space_in = _best_sight(tracks, first, space_out, space_in, block)
        earliest = min(widest_out, max(space_out - 1, 0))
        latest = min(widest_in, max(space_in - 1, 0))
        before, after = min(earliest + outside, space_out), min(latest + inside, space_in)
        if after >= 2 and (before or latest) and not (again and tracks[seen].alone):
            groups[seen, before, after, earliest, latest].append(i)
    for (seen, before, after, earliest, latest), members in groups.items():
        edges = np.array([firsts[i] for i in members])
        seen_points = np.ascontiguousarray(tracks[seen].points)
        ground, height = edge_windows(seen_points, edges, before, after, block)
        shifts = np.arange(-2 * earliest, 2 * latest + 1) / 2.0
        rests, creep = after - 1 - shifts, round(drift, 3)
        log_evidence = np.zeros((len(members), len(shifts)))
        rolls = tracks[seen].rolls
        densities = ROLLS if rolls else DENSITIES
        for part, noise in zip((ground, height), tracks[seen].noise, strict=True):
            if rolls and part is ground:
                continue
            colour = np.zeros(before + after)
            if part is height:
                sampled = CAUTION**2 * tracks[seen].sway[: len(colour) * block : block]
                colour[: len(sampled)] = sampled
            white = max(float(noise) ** 2 - colour[0] / CAUTION**2, 0.0)
            sigma = round(max(CAUTION * float(np.sqrt(white / block)), STILL), 4)
            log_evidence += edge_evidence(
                part, rests, densities, sigma, creep, rate, impact, colour
            )
        if not before:
            log_evidence[:, 0] += CUT_ROLLING if rolls else CUT
        weight = np.exp(log_evidence - log_evidence.max(axis=1, keepdims=True))
        mean = (weight @ shifts) / weight.sum(axis=1)
        if not before:  # cut plants go on beyond the clip unless that is the less likely
            mean = np.where(weight[:, 0] > 0.5 * weight.sum(axis=1), 0.0, mean)
        for i, shift in zip(members, mean, strict=True):
            firsts[i] += int(np.ceil(shift * block - 1e-9))
    return firsts


def _best_sight(
    tracks: list[Track], first: int, space_out: int, space_in: int, block: int
) -> tuple[int, int, int]:
    """The least noisy track that can be used about frame ``first``, and the frames it leaves."""
    for n, track in enumerate(tracks):
        if track.alone:
            return n, space_out, space_in
        # Frames beyond either space do not count, and a long clip has many.
        before, after = max(first - space_out * block, 0), first + space_in * block
        out = _leading(track.usable[before:first][::-1]) // block
        within = _leading(track.usable[first:after]) // block
        if track.rolls and out < min(space_out, LEAST_SPACE) and within >= LEAST_SPACE:
            return n, 0, within  # the ball stood no earlier, and before it any height is possible
        if out >= min(space_out, LEAST_SPACE) and within >= min(space_in, LEAST_SPACE):
            return n, out, within
    raise AssertionError("a point can always be seen in the world")


def _leading(flags: BoolArray) -> int:
    """How many flags are set before the first that is not."""
    return len(flags) if flags.all() else int(np.argmin(flags))


def edge_windows(
    points: FloatArray, edges: IntArray, before: int, after: int, block: int
) -> tuple[FloatArray, FloatArray]:
    """The track about each of M edges, over the ground (W, M, 2) and upwards (W, M, 1).

    Parameters
    ----------
    points : (F, 3)
        The track, metres.
    edges : (M,)
        First frames of plants.
    before, after
        Blocks outside and inside the plant; W is their sum.
    block
        Frames that are taken together, as their mean.

    Windows run from inside the plant outwards and begin at 0. Each is turned about the vertical so
    that the point leaves along its first axis.
    """
    n, width = len(edges), before + after
    ground, height = np.zeros((width, n, 2)), np.zeros((width, n, 1))
    points = np.ascontiguousarray(points, dtype=np.float64)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    _windows(len(points), points, n, edges, before, after, block, ground, height)
    return ground, height


def edge_evidence(
    tracks: FloatArray,
    rests: FloatArray,
    densities: FloatArray,
    sigma: float,
    drift: float,
    fps: float,
    impact: float,
    sway: FloatArray,
) -> FloatArray:
    """Log evidence (M, K) of M tracks (W, M, A) for each of K instants of coming to rest.

    Tracks run from inside the plant outwards and begin near 0. ``rests`` (K,) are the instants in
    frames from the innermost one. Axes are independent, and each may move at any of the
    ``densities``. Up to the instant the point stands whatever the density, so those frames are
    eliminated once for all densities and later instants, and only the other frames are factored
    each time. Noise has a white part of size ``sigma`` and a part with the autocovariance ``sway``
    by lag (at least W values).
    """
    n, n_tracks, n_axes = tracks.shape
    n_columns = n_tracks * n_axes
    work = np.zeros(3 * n * n + n + (2 * n + 2 + len(densities)) * n_columns)
    out = np.zeros((n_tracks, len(rests)))
    tracks, rests, densities, sway = (
        np.ascontiguousarray(each, dtype=np.float64)
        for each in (tracks, rests, densities, sway[:n])
    )
    _evidence(
        n, n_tracks, n_axes, tracks, len(rests), rests, np.argsort(rests),
        len(densities), densities, sigma, drift, fps, impact, sway, work, out,
    )  # fmt: skip
    return out
