"""Mass fit: body masses with which captured motion keeps its balance best; and the file of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, finite, frozen, items, of_kind
from motionloom._core import kernel
from motionloom._records import record
from motionloom.body.masses import SEGMENT_NAMES, mass_parts, mass_segments
from motionloom.errors import ArrayError, FormatError
from motionloom.features.balance import FLIGHT_LOAD, GRAVITY
from motionloom.files.reading import csv_rows, path_of
from motionloom.files.writing import write_bytes
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.score.stance import SMOOTH_S, Plants, plants_of
from motionloom.tables.score.terms import sole_of

LEAST = 0.2
"""No segment becomes lighter than this part of Winter's value."""
LEAST_STRENGTH = 1.0
"""Weaker ties to Winter's masses drive single segments to absurd values."""
MOST_ROWS = 20_000
STEP = 1e-3
"""Part of a factor by which it is changed to see what that does."""
ROUNDS, LEAST_GAIN = 40, 1e-5
"""Of the fit, and what the last one gains. Misses have corners where supports change, so the last
digits of a fit mean nothing."""
DAMPING, MOST_DAMPING = 1e-3, 1e6
UNITS = 1_000_000
"""Fitted masses are whole numbers of these parts of body mass. The fit uses BLAS and LAPACK, whose
last digits differ between machines: by less than 1e-9 of a mass where it was tried."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class MassFit:
    """Masses fitted to captured motion, and what they gain on the frames they were fitted to.

    Attributes
    ----------
    masses : array
        Parts of body mass to six decimals, which sum to one; left equals right. Pelvis, abdomen,
        thorax, head, then upper arm, forearm, hand, thigh, shank and foot of the left side, and of
        the right. (16,)
    before : float
        Root mean square distance of the zero moment point from the support, metres, with the
        masses of Winter's average body.
    after : float
        The same with the fitted ones.
    """

    masses: FloatArray
    before: float
    after: float

    def save(self, path: str | Path) -> None:
        """Write a CSV file, a segment a line, that :func:`motionloom.read_masses` reads back.

        Parameters
        ----------
        path
            The file. It appears whole or not at all.
        """
        write_masses(path, self.masses)


def fit_masses(
    collection: Collection, *, clips: Iterable[str] | None = None, strength: float = 1.0
) -> MassFit:
    """Masses of body segments that best explain how a captured subject keeps the balance.

    Distances of the zero moment point from the support are made small while masses stay near those
    of Winter's average body, the same on both sides [SKG03]_. Pass ``.masses`` to
    :func:`motionloom.build_table` or :func:`motionloom.score`. Machines may differ in the last
    digits of a fit, which rounding hides but for rare ties: save the masses to use them on others.
    Clips of several subjects, or of few movements, say little about one body.

    Parameters
    ----------
    collection
        Captured clips of one subject.
    clips
        Ids of the clips to fit to; all by default.
    strength
        How firmly masses are tied to Winter's, 1 or more.

    Returns
    -------
    MassFit
        The masses, and the distances before and after.

    Raises
    ------
    ArrayError
        No clip has a frame on planted feet an eighth of a second from its ends, or an argument is
        wrong.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     ml.save(ml.synthetic.clip("walk", fps=30).motion, Path(place) / "walk.bvh")
    ...     lib = ml.Collection.ingest(place, out=Path(place) / "lib.mlc", fps=30)
    ...     fit = fit_masses(lib)
    >>> fit.masses.shape, fit.after <= fit.before
    ((16,), True)
    """
    frames = of_kind(collection, Collection, "collection").frames
    if clips is None:
        return fit_frames(frames, strength=strength)
    names = items(clips, "clips", "ids of clips")
    unknown = [name for name in names if not isinstance(name, str) or name not in frames.ids]
    if unknown or not names:
        got = f"{unknown[0]!r:.60}" if unknown else "none"
        raise ArrayError(f"`clips` must be ids of the collection's clips, got {got}.")
    numbers = tuple(sorted({frames.ids.index(name) for name in names}))
    return fit_frames(frames, clips=numbers, strength=strength)


def fit_frames(
    frames: Frames, *, clips: tuple[int, ...] | None = None, strength: float = 1.0
) -> MassFit:
    """As :func:`fit_masses`, of clips that are named by their numbers."""
    if not finite(strength, "strength") >= LEAST_STRENGTH:
        raise ArrayError(
            f"`strength` must be at least {LEAST_STRENGTH:g}, got {strength:g}: with less the fit "
            "gives single segments absurd masses."
        )
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    moments = _Moments.of(frames, clips)
    groups = _both_sides(segments.names)
    n_groups = int(groups.max()) + 1
    before = moments.misses(segments.masses)
    scale = float(np.sqrt(np.mean(before**2)))
    if scale == 0.0:
        return _fit_of(segments.masses, 0.0, 0.0)
    thinned = moments.thinned(MOST_ROWS)
    n_rows = len(thinned.corners)

    def residuals(factors: FloatArray) -> FloatArray:
        misses = thinned.misses(segments.masses * factors[groups])
        tied = np.sqrt(strength / n_groups) * (factors - 1.0)
        return np.concatenate([misses / (scale * np.sqrt(n_rows)), tied])

    masses = segments.masses * _least_squares(residuals, np.ones(n_groups), LEAST)[groups]
    masses = _rounded(masses / masses.sum(), groups)
    after = moments.misses(masses)
    return _fit_of(masses, scale, float(np.sqrt(np.mean(after**2))))


def _fit_of(masses: FloatArray, before: float, after: float) -> MassFit:
    return MassFit(frozen(masses, "masses", (len(SEGMENT_NAMES),)), before, after)


def _rounded(masses: FloatArray, groups: IntArray) -> FloatArray:
    """The masses to six decimals, with their sum; the heaviest single segment takes the rest."""
    units = np.rint(UNITS * masses)
    single = np.bincount(groups)[groups] == 1
    units[np.argmax(np.where(single, masses, 0.0))] += UNITS - units.sum()
    return np.asarray(units / UNITS)


def _least_squares(
    residuals: Callable[[FloatArray], FloatArray], start: FloatArray, lowest: float
) -> FloatArray:
    """Factors (G,), none below ``lowest``, with the smallest sum of squared residuals.

    Gauss and Newton's steps, damped as far as it takes for the sum to fall (Marquardt 1963).
    """
    factors, damping = start, DAMPING
    now = residuals(factors)
    for _ in range(ROUNDS):
        changes = STEP * factors
        slopes = np.stack(
            [(residuals(factors + step) - now) / step.sum() for step in np.diag(changes)], axis=1
        )  # (n, G)
        slope, curve = slopes.T @ now, slopes.T @ slopes
        free = np.flatnonzero((factors > lowest) | (slope < 0.0))
        before = now @ now
        while True:
            damped = curve[np.ix_(free, free)] + damping * np.diag(curve[free, free])
            tried = np.array(factors)
            tried[free] = np.maximum(factors[free] - np.linalg.solve(damped, slope[free]), lowest)
            misses = residuals(tried)
            gain = before - misses @ misses
            if gain > 0.0:
                factors, now, damping = tried, misses, 0.1 * damping
                break
            damping *= 10.0
            if damping > MOST_DAMPING:
                return factors
        if gain < LEAST_GAIN * before:
            break
    return factors


def support_misses(
    frames: Frames, masses: FloatArray, *, clips: tuple[int, ...] | None = None
) -> FloatArray:
    """Distances of the zero moment point from the support in all frames that stand, metres."""
    return _Moments.of(frames, clips).misses(masses)


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """What the zero moment point of every frame that stands is made of, segment by segment."""

    push: FloatArray
    """(n, S)"""
    turn: FloatArray
    """(n, S, 2)"""
    corners: FloatArray32
    """Corners of the support. (n, 10, 2)"""
    counts: IntArray
    """(n,)"""

    @classmethod
    def of(cls, frames: Frames, clips: tuple[int, ...] | None) -> _Moments:
        segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
        plants = plants_of(frames)
        sole = sole_of(frames.skeleton, frames.body_map, frames.points[0].astype(np.float64))
        half = max(2, int(0.5 * SMOOTH_S * frames.fps))
        time = np.arange(-half, half + 1) / frames.fps
        fit = np.linalg.pinv(np.vander(time, 4, increasing=True))
        parts = []
        for clip in range(frames.n_clips) if clips is None else clips:
            first, last = int(frames.starts[clip]), int(frames.starts[clip + 1])
            if last - first < 2 * half + 1:
                continue
            centres = segments.centres(frames.motion(first, last - 1).world_positions())
            windows = np.lib.stride_tricks.sliding_window_view(centres, 2 * half + 1, axis=0)
            place, bent = windows @ fit[0], 2.0 * (windows @ fit[2])
            rows = np.arange(first + half, last - half)
            push = bent[..., 1] + GRAVITY
            turn = np.stack(
                [place[..., c] * push - place[..., 1] * bent[..., c] for c in (0, 2)], axis=-1
            )
            stands = push @ segments.masses >= FLIGHT_LOAD * GRAVITY
            stands &= (plants.ids[rows] >= 0).any(axis=1)
            corners, counts = _support(plants, rows[stands], sole)
            parts.append((push[stands], turn[stands], corners, counts))
        if not any(len(push) for push, *_ in parts):
            raise ArrayError(
                "The clips must hold a frame on planted feet, at least an eighth of a second from "
                "both ends of its clip. Choose others."
            )
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def misses(self, masses: FloatArray) -> FloatArray:
        """Distances (n,) of the zero moment point with these masses."""
        points = np.einsum("ns...,s->n...", self.turn, masses) / (self.push @ masses)[:, None]
        return misses_of_hulls(points.astype(np.float32), self.corners, self.counts)

    def thinned(self, most: int) -> _Moments:
        step = max(1, -(-len(self.push) // most))
        return _Moments(
            self.push[::step],
            self.turn[::step],
            np.ascontiguousarray(self.corners[::step]),
            np.ascontiguousarray(self.counts[::step]),
        )


def _support(plants: Plants, rows: IntArray, sole: FloatArray) -> tuple[FloatArray32, IntArray]:
    """Hull corners (n, 10, 2) of the feet that stand in rows, and their numbers (n,)."""
    ids = plants.ids[rows]
    ahead, places = plants.ahead[ids], plants.places[ids]  # (n, 2, 2); nonsense where -1
    across = np.stack([-ahead[..., 1], ahead[..., 0]], axis=-1)
    soles = np.stack(
        [
            places + end * ahead + edge * sole[2] * across
            for end in (-sole[0], sole[1])
            for edge in (-1.0, 1.0)
        ],
        axis=2,
    )
    return hulls_of_feet(np.ascontiguousarray(soles, dtype=np.float32), ids >= 0)


def _both_sides(names: tuple[str, ...]) -> IntArray:
    """Number of the pair (or single segment) that each segment belongs to."""
    plain = [name.removeprefix("left_").removeprefix("right_") for name in names]
    order = {name: k for k, name in enumerate(dict.fromkeys(plain))}
    return np.array([order[name] for name in plain])


MOST_CORNERS = 10
"""Places for the corners of two soles' hull."""
_of_feet = kernel("ml_hull_of_feet")
_misses = kernel("ml_hull_misses")


def hulls_of_feet(soles: FloatArray32, stands: BoolArray) -> tuple[FloatArray32, IntArray]:
    """Hull corners (n, 10, 2) of soles (n, 2, 4, 2) where they stand (n, 2); their numbers (n,)."""
    corners = np.zeros((len(soles), MOST_CORNERS, 2), dtype=np.float32)
    counts = np.zeros(len(soles), dtype=np.int64)
    _of_feet(len(soles), soles, np.ascontiguousarray(stands), corners, counts)
    return corners, counts


def misses_of_hulls(points: FloatArray32, corners: FloatArray32, counts: IntArray) -> FloatArray:
    """Distances (n,) of points (n, 2) from hulls, one each."""
    out = np.zeros(len(points))
    _misses(len(points), points, corners, counts, out)
    return out


HEADER = ("segment", "part")


def read_masses(path: str | Path) -> FloatArray:
    r"""Parts of body mass from a CSV file with the columns segment and part.

    Each of the 16 segments has one line, in any order. Parts may also be kilograms: they are
    divided by their sum.

    Parameters
    ----------
    path
        The file, as :meth:`motionloom.MassFit.save` writes it.

    Returns
    -------
    array
        The parts, for ``masses`` of :func:`motionloom.build_table`. (16,)

    Raises
    ------
    FormatError
        A segment is missing, unknown or listed twice, or its part is no possible one.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom.body.masses import SEGMENT_NAMES
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "masses.csv"
    ...     _ = file.write_text("".join(f"{name},5\n" for name in SEGMENT_NAMES))
    ...     read_masses(file)[0].item()
    0.0625
    """
    path = path_of(path, "path")
    parts: dict[str, float] = {}
    for line, cells in csv_rows(path):
        row = tuple(cell.strip() for cell in cells)
        if row == HEADER or not any(row):
            continue
        name, part = _row_of(row, path, line)
        if name in parts:
            raise FormatError(
                f"Each segment must have one line; {name} has a second.",
                path=path,
                where=f"line {line}",
            )
        parts[name] = part
    missing = [name for name in SEGMENT_NAMES if name not in parts]
    if missing:
        raise FormatError(
            f"The file must have a line for each of the {len(SEGMENT_NAMES)} segments; missing: "
            f"{', '.join(missing)}.",
            path=path,
        )
    try:
        return mass_parts([parts[name] for name in SEGMENT_NAMES])
    except ArrayError as error:
        raise FormatError(str(error), path=path) from error


def _row_of(row: tuple[str, ...], path: Path, line: int) -> tuple[str, float]:
    if len(row) != len(HEADER) or row[0] not in SEGMENT_NAMES:
        raise FormatError(
            f"A line must have a segment ({', '.join(SEGMENT_NAMES)}) and its part of body mass, "
            f"got {','.join(row)[:60]!r}.",
            path=path,
            where=f"line {line}",
        )
    try:
        return row[0], float(row[1])
    except ValueError:
        raise FormatError(
            f"A part of body mass must be a number, got {row[1][:40]!r}.",
            path=path,
            where=f"line {line}",
        ) from None


def write_masses(path: str | Path, masses: FloatArray) -> None:
    """Write a file that :func:`read_masses` reads back, digit for digit.

    ``masses`` must sum to one, but for rounding.
    """
    rows = zip(SEGMENT_NAMES, masses.tolist(), strict=True)
    lines = [",".join(HEADER), *(f"{name},{part!r}" for name, part in rows)]
    write_bytes(path_of(path, "path"), "\n".join([*lines, ""]).encode("ascii"))
