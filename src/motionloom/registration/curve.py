"""RegistrationCurve: which frames of several motions belong together, and how they stand.

Times are fitted to uniform quadratic B-splines that increase. ``n`` control points give a curve
over ``u`` in [0, n - 2]; on span ``i``, with ``t = u - i``:
``S = ((1-t)^2 p_i + (1 + 2t - 2t^2) p_{i+1} + t^2 p_{i+2}) / 2``.

Which foot plant of one motion is which of the others: section 4.4 and Appendix B of [KG03]_. Two
copies of the appendix disagree, and both have misprints; what was decided, and why, stands in
docs/papers/registration.md.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray, IntArray, finite_numbers, frozen, of_kind, whole
from motionloom._core import kernel
from motionloom._records import one_line, record
from motionloom.body.body_map import ROLES, BodyMap
from motionloom.errors import ArrayError, FormatError, MotionLoomError
from motionloom.files.limits import limits_for
from motionloom.files.reading import open_file, parse_json, path_of
from motionloom.files.writing import write_whole
from motionloom.formats.archives import archive
from motionloom.formats.archives.npz import Bundle, pack_array, write_members
from motionloom.formats.file_clip import FileClip
from motionloom.formats.text import shown
from motionloom.motion.motion import KINDS, Footplants, Motion, Skeleton, contacts_for
from motionloom.registration.gait_cycles import UncutClips
from motionloom.rotation.quat import PlanarTransform


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
@record
class RegistrationCurve:
    """K motions in correspondence: times, alignment, and matched plants.

    The parameter ``u`` counts average frames: over one unit of it the motions advance by one frame
    on average.

    Attributes
    ----------
    motions : tuple of Motion
        Same skeleton, same rate.
    footplants : tuple of Footplants
        Contacts of every motion.
    times : Spline
        Frame of every motion over the curve. (n, K)
    alignment : tuple
        For each motion its turn and the offset of its root from the reference's, (n, 3); None for
        the reference, which stays where it is.
    matches : Mapping
        Plants that belong together, per kind (left heel, ...), in ``u``.
    reference : int
        Index of the motion to which the others are aligned.
    frames_per_knot : float
        Average frames between control points.
    costs : tuple of float
        Root mean square distance of each motion's frames from the reference's, metres.
    notes : tuple of str
        What was decided.
    body : BodyMap or None
        Roles of the joints; None where they are to be guessed.
    uncut : UncutClips or None
        The clips that the motions were cut from by ``cycles``, with which blends are compared;
        None where the motions are not cut.
    """

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    times: Spline
    alignment: tuple[Spline | None, ...]
    matches: Mapping[str, tuple[ConstraintMatch, ...]]
    reference: int
    frames_per_knot: float
    costs: tuple[float, ...]
    notes: tuple[str, ...] = ()
    body: BodyMap | None = None
    uncut: UncutClips | None = None

    @property
    def u_range(self) -> tuple[float, float]:
        """First and last parameter."""
        return 0.0, self.times.u_end * self.frames_per_knot

    def frames(self, u: FloatArray | float) -> FloatArray:
        """Frame number of every motion at ``u`` (...), fractional. (..., K).

        Returns
        -------
        (..., K) array
            One number for each motion.
        """
        u = finite_numbers(u, "u")
        last = np.array([m.n_frames - 1.0 for m in self.motions])
        return np.clip(self.times(np.asarray(u) / self.frames_per_knot), 0.0, last)

    def rates(self, u: FloatArray | float) -> FloatArray:
        """Frames that every motion goes per unit of ``u``. (..., K).

        Returns
        -------
        (..., K) array
            One number for each motion.
        """
        return (
            self.times.slope(finite_numbers(u, "u") / self.frames_per_knot) / self.frames_per_knot
        )

    def alignments(self, u: FloatArray | float) -> PlanarTransform:
        """Transforms that align every motion with the reference at ``u``. Fields (..., K).

        Returns
        -------
        PlanarTransform
            One transform for each motion.
        """
        u = finite_numbers(u, "u")
        at = u / self.frames_per_knot
        frames = self.frames(u)
        roots = roots_at(self.motions[self.reference], frames[..., self.reference])
        each = [
            PlanarTransform.identity()
            if spline is None
            else transform_at(spline(at), roots_at(motion, frames[..., k]), roots)
            for k, (spline, motion) in enumerate(zip(self.alignment, self.motions, strict=True))
        ]
        return PlanarTransform(
            np.stack([np.broadcast_to(t.theta, u.shape) for t in each], axis=-1),
            np.stack([np.broadcast_to(t.x0, u.shape) for t in each], axis=-1),
            np.stack([np.broadcast_to(t.z0, u.shape) for t in each], axis=-1),
        )

    def u_of(self, k: int, frame: FloatArray | float) -> FloatArray:
        """Parameter at which motion ``k`` is at ``frame``; nan outside the curve.

        Returns
        -------
        array
            Shaped like ``frame``.
        """
        k = whole(k, "k", least=0, most=len(self.motions) - 1)
        low, high = self.times(np.array([0.0, self.times.u_end]))[:, k]
        frame = finite_numbers(frame, "frame")
        u = self.times.inverse(k, frame) * self.frames_per_knot
        inside = (frame >= low - 1e-9) & (frame <= high + 1e-9)
        return np.where(inside, np.clip(u, *self.u_range), np.nan)

    def save(self, path: str | Path) -> None:
        """Write the curve, with its motions, into one versioned file.

        Examples
        --------
        >>> import tempfile
        >>> import motionloom as ml
        >>> curve = ml.register([ml.synthetic.clip(kind).motion for kind in ("walk", "jog")])
        >>> with tempfile.TemporaryDirectory() as place:
        ...     curve.save(f"{place}/gaits.mlreg")
        ...     len(RegistrationCurve.load(f"{place}/gaits.mlreg").motions)
        2
        """
        names = (each.name for each in dataclasses.fields(self))
        write_curve(path, {name: getattr(self, name) for name in names})

    @staticmethod
    def load(path: str | Path, *, max_memory: int | str | None = None) -> RegistrationCurve:
        """The curve that :meth:`save` wrote.

        Parameters
        ----------
        path
            The file.
        max_memory
            Memory that reading may take, as in :func:`motionloom.load`.

        Returns
        -------
        RegistrationCurve
            The same curve, with its motions.

        Raises
        ------
        FormatError
            The file cannot be read, is no registration curve, or takes more memory.
        """
        return RegistrationCurve(**read_curve(path, max_memory=max_memory))

    def shifted(
        self,
        first_frames: tuple[int, ...],
        motions: tuple[Motion, ...],
        footplants: tuple[Footplants, ...],
    ) -> RegistrationCurve:
        """The same curve for the whole clips of which its motions are parts.

        Parameters
        ----------
        first_frames
            Frame of each whole clip at which its part begins.
        motions, footplants
            The whole clips.

        Returns
        -------
        RegistrationCurve
            A new curve; this one stays as it is.
        """
        for name, value in (("motions", motions), ("footplants", footplants)):
            if not isinstance(value, tuple | list) or len(value) != len(self.motions):
                raise ArrayError(
                    f"`{name}` must have one entry per motion of the curve ({len(self.motions)}), "
                    f"got {value!r}."
                )
        shift = frozen(first_frames, "first_frames", (len(self.motions),), np.int64)
        for k, (motion, plants) in enumerate(zip(motions, footplants, strict=True)):
            of_kind(motion, Motion, f"motions[{k}]")
            contacts_for(plants, motion.n_frames, f"footplants[{k}]")
            if not 0 <= shift[k] <= motion.n_frames - self.motions[k].n_frames:
                raise ArrayError(
                    f"`first_frames[{k}]` must be where motion {k} of the curve "
                    f"({self.motions[k].n_frames} frames) begins in the whole clip "
                    f"({motion.n_frames} frames), got {shift[k]}."
                )
        points = self.times.points + shift
        return dataclasses.replace(
            self,
            motions=tuple(motions),
            footplants=tuple(footplants),
            times=Spline(points),
            uncut=None,
        )

    def __repr__(self) -> str:
        names = ", ".join(m.name or f"motion {k}" for k, m in enumerate(self.motions))
        count = f"{len(self.motions)} motions"
        listed = names if len(names) <= 80 else count
        return one_line(f"RegistrationCurve({listed}; {self.u_range[1]:.0f} average frames)")


def transform_at(
    values: FloatArray, roots: FloatArray, reference_roots: FloatArray
) -> PlanarTransform:
    """The transform that turns by ``values[..., 0]`` and puts the root next to the reference's.

    Parameters
    ----------
    values : (..., 3)
        From the alignment spline: turn, and offset (x, z) from the reference's root.
    roots, reference_roots : (..., 3)
        Where both roots are in their own coordinates there, metres.
    """
    theta = values[..., 0]
    turned = PlanarTransform(theta, 0.0, 0.0).apply(roots)
    place = reference_roots - turned
    return PlanarTransform(theta, place[..., 0] + values[..., 1], place[..., 2] + values[..., 2])


def roots_at(motion: Motion, frames: FloatArray) -> FloatArray:
    """Root positions at fractional frames. (..., 3)."""
    low = np.minimum(np.floor(frames).astype(np.int64), motion.n_frames - 1)
    high = np.minimum(low + 1, motion.n_frames - 1)
    t = (frames - low)[..., None]
    below, above = motion.root_positions[low], motion.root_positions[high]
    return np.asarray(below + t * (above - below))


# --- Uniform quadratic B-splines that increase: the one curve to which times are fitted

_adjust = kernel("ml_spline_adjust")
_solve = kernel("ml_spline_solve")

SMOOTHING = 1e-6
"""Weight of the third differences: it only decides where a span holds no sample, and it leaves
quadratics alone."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Spline:
    """A curve in K dimensions over u in [0, n - 2].

    Attributes
    ----------
    points : array
        Control points. (n, K)
    """

    points: FloatArray

    @property
    def u_end(self) -> float:
        """Last parameter; the first is 0."""
        return float(len(self.points) - 2)

    def __call__(self, u: FloatArray | float) -> FloatArray:
        """Values at ``u`` (...), outside the domain those of the nearest end. (..., K)."""
        span, t = self._span(u)
        p, t = self.points, t[..., None]
        return np.asarray(
            0.5
            * (
                (1.0 - t) ** 2 * p[span]
                + (1.0 + 2.0 * t - 2.0 * t * t) * p[span + 1]
                + t * t * p[span + 2]
            )
        )

    def slope(self, u: FloatArray | float) -> FloatArray:
        """Derivatives by u. (..., K).

        Returns
        -------
        (..., K) array
            One slope for each dimension.
        """
        span, t = self._span(u)
        p, t = self.points, t[..., None]
        return np.asarray((1.0 - t) * (p[span + 1] - p[span]) + t * (p[span + 2] - p[span + 1]))

    def inverse(self, k: int, values: FloatArray | float) -> FloatArray:
        """Parameters at which dimension ``k``, which must increase, takes ``values``.

        Beyond the ends the curve is taken to go on straight; where it begins or ends flat, as a
        curve of clips of few frames may, at a slope of 1.

        Returns
        -------
        array
            Shaped like ``values``.
        """
        p = self.points[:, k]
        v = np.asarray(values, dtype=np.float64)
        ends = 0.5 * (p[:-1] + p[1:])  # value at u = 0, 1, .., n - 2
        span = np.clip(np.searchsorted(ends, v, side="right") - 1, 0, len(p) - 3)
        b = p[span + 1] - p[span]
        a = 0.5 * (p[span + 2] - p[span + 1] - b)
        c = v - ends[span]
        # a t^2 + b t = c in the form that does not cancel.
        root = np.sqrt(np.maximum(b * b + 4.0 * a * c, 0.0))
        t = np.where(c == 0.0, 0.0, 2.0 * c / np.where(b + root > 0.0, b + root, 1.0))
        low, high = v < ends[0], v > ends[-1]
        u = span + t
        first, last = (rise if rise > 0.0 else 1.0 for rise in (p[1] - p[0], p[-1] - p[-2]))
        u = np.where(low, (v - ends[0]) / first, u)
        return np.where(high, self.u_end + (v - ends[-1]) / last, u)

    def _span(self, u: FloatArray | float) -> tuple[IntArray, FloatArray]:
        u = np.clip(np.asarray(u, dtype=np.float64), 0.0, self.u_end)
        span = np.minimum(np.floor(u).astype(np.int64), len(self.points) - 3)
        return span, u - span


def fit_spline(
    u: FloatArray,
    values: FloatArray,
    n_points: int,
    *,
    weights: FloatArray | None = None,
    ends: FloatArray | None = None,
) -> Spline:
    """Least-squares spline through samples.

    Parameters
    ----------
    u : (N,)
        Parameters in [0, n_points - 2].
    values : (N, K)
        Values that the curve should take there.
    n_points
        Control points, at least 3.
    weights : (N,), optional
        Of the squared errors.
    ends : (2, K), optional
        Values that the curve must take at both ends, exactly.
    """
    span = np.clip(np.floor(u).astype(np.int64), 0, n_points - 3)
    t = u - span
    basis = 0.5 * np.stack([(1 - t) ** 2, 1 + 2 * t - 2 * t * t, t * t], axis=-1)  # (N, 3)
    w = np.ones(len(u)) if weights is None else weights
    bands = np.zeros((4, n_points))  # upper form: bands[3 - d, j] is element (j - d, j)
    right = np.zeros((n_points, values.shape[1]))
    for a in range(3):
        np.add.at(right, span + a, (w * basis[:, a])[:, None] * values)
        for b in range(a, 3):
            np.add.at(bands[3 - (b - a)], span + b, w * basis[:, a] * basis[:, b])
    smooth = SMOOTHING * float(w.mean())
    third = (1.0, -3.0, 3.0, -1.0) if n_points > 3 else ()
    for a, x in enumerate(third):
        for b in range(a, 4):
            bands[3 - (b - a), b : n_points - 3 + b] += smooth * x * third[b]
    bands[3] += 1e-12 * float(bands[3].max())
    if ends is None:
        _solve(*right.shape, bands, right)
        return Spline(right)
    # Two equality rows, by the Schur complement of the banded system.
    rows = np.zeros((n_points, 2))
    rows[:2, 0] = rows[-2:, 1] = 0.5
    solved = np.hstack([right, rows])
    _solve(*solved.shape, bands, solved)
    free, influence = solved[:, :-2], solved[:, -2:]
    multiplier = np.linalg.solve(rows.T @ influence, rows.T @ free - ends)
    return Spline(free - influence @ multiplier)


def adjust_increasing(
    spline: Spline, *, epsilon: float = 0.33, ends: FloatArray | None = None, smallest: float = 1e-3
) -> Spline:
    """The nearest spline whose dimensions all increase, none faster than another by 1 / epsilon.

    Equation 5 of [KG03]_ for the base motion that needs the least change. The paper projects on
    the violated faces once, with a sign misprinted; with three or more motions that can leave a
    violation, so every step is projected exactly on the cone.

    Parameters
    ----------
    spline
        K dimensions, one per motion.
    epsilon
        Smallest ratio of two motions' rates, in (0, 1).
    ends : (2, K), optional
        Values to keep at both ends.
    smallest
        Least step of the base motion from one control point to the next, frames.
    """
    points = spline.points
    if ends is None:
        return Spline(_least_adjusted(points, epsilon, smallest))
    tighter = epsilon
    for _ in range(10):
        best = _least_adjusted(points, tighter, smallest)
        # Stretching each dimension so that its ends fit again can break a ratio a little.
        low, high = 0.5 * (best[0] + best[1]), 0.5 * (best[-1] + best[-2])
        points = ends[0] + (best - low) * (ends[1] - ends[0]) / (high - low)
        if _keeps_ratios(points, epsilon):
            return Spline(points)
        tighter = min(1.05 * tighter, 0.99)
    straight = (np.arange(len(points)) - 0.5)[:, None] / (len(points) - 2)
    return Spline(ends[0] + straight * (ends[1] - ends[0]))


def _least_adjusted(points: FloatArray, epsilon: float, smallest: float) -> FloatArray:
    """Control points adjusted with the base motion that moves them least."""
    best, least = points, np.inf
    work, moved = np.zeros((3, points.shape[1])), np.zeros(1)
    for base in range(points.shape[1]):
        candidate = np.array(points, dtype=np.float64, order="C")
        _adjust(*candidate.shape, candidate, base, epsilon, smallest, work, moved)
        if moved[0] < least:
            best, least = candidate, float(moved[0])
    return best


def _keeps_ratios(points: FloatArray, epsilon: float) -> bool:
    steps = np.diff(points, axis=0)
    if steps.min() <= 0.0:
        return False
    ratio = steps[:, :, None] / steps[:, None, :]  # (n, K, base)
    within = (ratio >= 0.999 * epsilon) & (ratio <= 1.001 / epsilon)
    return bool(within.all(axis=(0, 1)).any())


# --- Constraint matches: which foot plant of one motion is which of the others

Interval = tuple[float, float]

SAME = 1e-9
"""Two times are the same if they differ by at most this part of the whole extent."""


@dataclass(frozen=True, slots=True)
@record
class ConstraintMatch:
    """One plant, or part of one, in every motion, as intervals of the curve's parameter.

    Attributes
    ----------
    intervals : tuple of Interval
        Start and end in each motion, in the order of the motions.
    """

    intervals: tuple[Interval, ...]

    def interval(self, weights: Sequence[float]) -> Interval:
        """When the blend with these weights holds the plant; empty if the end is not after.

        Returns
        -------
        Interval
            Where it begins and ends, in the parameter of the curve.
        """
        start = sum(w * i[0] for w, i in zip(weights, self.intervals, strict=True))
        end = sum(w * i[1] for w, i in zip(weights, self.intervals, strict=True))
        return start, end


def match_constraints(motions: Sequence[Sequence[Interval]]) -> tuple[ConstraintMatch, ...]:
    """Plants of one kind, matched across motions; a long one is split to serve several.

    Parameters
    ----------
    motions
        For each motion its disjoint plants, as (start, end) in the curve's parameter.

    Examples
    --------
    >>> a, b = [(0, 100), (150, 200)], [(5, 40), (60, 95), (150, 190)]
    >>> matches = match_constraints([a, b])
    >>> [tuple((round(s, 1), round(e, 1)) for s, e in m.intervals) for m in matches]
    [((0, 38.9), (5, 40)), ((61.1, 100), (60, 95)), ((150, 200), (150, 190))]
    """
    left = [sorted(plants) for plants in motions]
    matches: list[ConstraintMatch] = []
    near = _tolerance(left)
    while left and all(left):
        firsts = [plants[0] for plants in left]
        if not _connected(firsts, near):
            left = _without_earliest(left, near)
            continue
        split = _best_partition(left, near)
        served = [plants for k, plants in enumerate(left) if k not in split]
        matched, rest = [], []
        for k, plants in enumerate(left):
            if k in split:
                gap_start, gap_end = _gap(plants[0], served)
                matched.append((plants[0][0], gap_start))
                rest.append([(gap_end, plants[0][1]), *plants[1:]])
            else:
                matched.append(plants[0])
                rest.append(plants[1:])
        matches.append(ConstraintMatch(tuple(matched)))
        left = rest
    return tuple(matches)


def _tolerance(motions: Sequence[Sequence[Interval]]) -> float:
    """Below this, differences of times are rounding errors, which must not decide a match."""
    times = [time for plants in motions for plant in plants for time in plant]
    return SAME * (max(times) - min(times)) if times else 0.0


def _without_earliest(left: Sequence[list[Interval]], near: float) -> list[list[Interval]]:
    """The plants without the earliest first one, in every motion that has it."""
    start, end = min(plants[0] for plants in left)
    return [
        plants[1:]
        if abs(plants[0][0] - start) <= near and abs(plants[0][1] - end) <= near
        else plants
        for plants in left
    ]


def _best_partition(left: Sequence[list[Interval]], near: float) -> frozenset[int]:
    """The motions to split so that plants overlap most.

    Of several that are equally good, the one that splits the fewest and earliest plants: the order
    of the motions must not decide.
    """
    partitions = {_partition(left, seed, near) for seed in range(len(left))}
    overlaps = {split: _overlap(left, split) for split in partitions}
    enough = max(overlaps.values()) - near * len(left) ** 2
    return min(
        (split for split, overlap in overlaps.items() if overlap >= enough),
        key=lambda split: (len(split), sorted(left[k] for k in split)),
    )


def _subsumes(i: Sequence[Interval], j: Sequence[Interval], near: float) -> bool:
    """Whether i's first plant overlaps j's first two, and i's second comes too late for j's second.

    Then only splitting i's first can serve j's second.
    """
    if len(j) < 2:
        return False
    next_start = i[1][0] if len(i) > 1 else inf
    return i[0][0] < j[0][1] - near and i[0][1] > j[1][0] + near and next_start > j[1][1] + near


def _connected(intervals: Sequence[Interval], near: float) -> bool:
    """Whether the union is one interval; touching counts."""
    ordered = sorted(intervals)
    end = ordered[0][1]
    for start, stop in ordered[1:]:
        if start > end + near:
            return False
        end = max(end, stop)
    return True


def _partition(left: Sequence[list[Interval]], seed: int, near: float) -> frozenset[int]:
    """The motions whose first plant is split, grown from a seed; empty where nothing splits."""
    everyone = range(len(left))
    split = {seed} | {k for k in everyone if not _subsumes(left[seed], left[k], near)}
    while True:
        joining = {
            k
            for k in everyone
            if k not in split and not all(_subsumes(left[s], left[k], near) for s in split)
        }
        if not joining:
            break
        split |= joining
    return frozenset() if len(split) == len(left) else frozenset(split)


def _overlap(left: Sequence[list[Interval]], split: frozenset[int]) -> float:
    """How well the plants lie over one another if these are split.

    Where nothing splits the first plants alone count: read to the letter, the paper would extend
    them all over their second plants, which always wins, and nothing would ever be split.
    """
    spans = [
        plants[0] if k in split or not split else (plants[0][0], plants[1][1])
        for k, plants in enumerate(left)
    ]
    return sum(
        max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
        for k, a in enumerate(spans)
        for b in spans[k + 1 :]
    )


def _gap(plant: Interval, served: Sequence[Sequence[Interval]]) -> Interval:
    """Where a plant is cut: the mean of the cuts by the served motions' own gaps (Eq. 10)."""
    starts, ends = [], []
    for other in served:
        first, second = other[0], other[1]
        reaches_third = len(other) > 2 and other[2][0] < plant[1]
        until = second[1] if reaches_third else plant[1]
        scale = (until - plant[0]) / (second[1] - first[0])
        starts.append(plant[0] + scale * (first[1] - first[0]))
        ends.append(plant[0] + scale * (second[0] - first[0]))
    return sum(starts) / len(starts), sum(ends) / len(ends)


# --- The file of a curve

SCHEMA = 1
HEADER = "registration.json"
LONGEST_HEADER = 1 << 21
MOST_MOTIONS = 1024
LARGEST = 1e12
"""Far beyond every time and distance."""
SMALLEST_STEP = 1e-9
"""Frames from one control point to the next, at least; a registration keeps to 3e-4, and with a
small `epsilon` to less."""
BEYOND = 1.0
"""Frames by which a curve may leave its motions, by rounding."""
SAME_FPS = 1.001e-3
"""Motions whose rates differ by at most this part are registered as they are."""
SAME_SPACING = 1e-6
UNCUT = "uncut_"
"""Prefix of the archive members that hold the clips before they were cut."""
OBJECTS = 1 << 16
"""Bytes of memory for a motion besides its arrays and names."""
COPIES = 3
"""Arrays as large as the control points while a curve is checked and kept."""


def write_curve(path: str | Path, curve: Mapping[str, Any]) -> None:
    """Write the fields of a curve, with motions and plants; the same curve gives the same bytes."""
    members = _clip_members(curve["motions"], curve["footplants"])
    uncut = curve["uncut"]
    if uncut is not None:
        members |= _clip_members(uncut.motions, uncut.footplants, UNCUT)
    for k, aligning in enumerate(curve["alignment"]):
        if aligning is not None:
            members[f"alignment{k}.npy"] = pack_array(aligning.points)
    members["times.npy"] = pack_array(curve["times"].points)
    header = {
        "format": "motionloom registration",
        "schema": SCHEMA,
        "motions": len(curve["motions"]),
        "reference": curve["reference"],
        "frames_per_knot": curve["frames_per_knot"],
        "costs": list(curve["costs"]),
        "notes": list(curve["notes"]),
        "body": None if curve["body"] is None else dataclasses.asdict(curve["body"]),
        "matches": {
            kind: [[list(pair) for pair in match.intervals] for match in matches]
            for kind, matches in curve["matches"].items()
        },
        "uncut": uncut is not None,
        "first_frames": [] if uncut is None else list(uncut.first_frames),
    }
    text = json.dumps(header, allow_nan=False, indent=1).encode("ascii")
    write_whole(
        path_of(path, "path"), lambda stream: write_members(stream, {HEADER: text, **members})
    )


def _clip_members(
    motions: Sequence[Motion], footplants: Sequence[Footplants], prefix: str = ""
) -> dict[str, bytes]:
    """Members of the file that hold motions and their contacts."""
    members = {}
    for k, (motion, plants) in enumerate(zip(motions, footplants, strict=True)):
        packed = BytesIO()
        archive.write(FileClip(motion, unit_m=1.0, up="y"), packed)
        members[f"{prefix}motion{k}.mlm"] = packed.getvalue()
        members[f"{prefix}planted{k}.npy"] = pack_array(plants.planted)
    return members


def read_curve(path: str | Path, *, max_memory: int | str | None = None) -> dict[str, Any]:
    """The fields of the curve in a file that :func:`write_curve` wrote.

    ``max_memory`` is the memory that reading may take, as in :func:`motionloom.load`.
    """
    path, limits = path_of(path, "path"), limits_for(max_memory)
    try:
        with open_file(path, limits.max_bytes) as stream:
            return _read(Bundle(stream, limits))
    except FormatError as error:
        raise error.at(path) from error
    except (ArrayError, KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise FormatError(
            f"The file must hold a registration curve ({error}).",
            path=path,
            fix="Register the motions again.",
        ) from error


def _read(bundle: Bundle) -> dict[str, Any]:
    header = _header(bundle)
    n_motions, reference = header["motions"], header["reference"]
    motions, plants = _clips(bundle, n_motions)
    times = Spline(_points(bundle, "times", n_motions))
    spacing = _checked_times(times, motions, header["frames_per_knot"])
    alignment = tuple(
        None if k == reference else Spline(_points(bundle, f"alignment{k}", 3))
        for k in range(n_motions)
    )
    if any(a is not None and len(a.points) != len(times.points) for a in alignment):
        raise FormatError("Times and alignments must have as many control points.")
    last_u = times.u_end * spacing
    listed = header.get("matches")
    others = [kind for kind in listed if kind not in KINDS] if isinstance(listed, dict) else []
    matches = {kind: _matches(header, kind, n_motions, last_u) for kind in (*KINDS, *others)}
    costs, notes = header.get("costs"), header.get("notes")
    if not isinstance(costs, list) or len(costs) != n_motions or not all(map(_is_number, costs)):
        raise FormatError("`costs` must be one number for each motion.", where=HEADER)
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise FormatError("`notes` must be texts.", where=HEADER)
    return {
        "motions": motions,
        "footplants": plants,
        "times": times,
        "alignment": alignment,
        "matches": matches,
        "reference": reference,
        "frames_per_knot": spacing,
        "costs": tuple(float(cost) for cost in costs),
        "notes": tuple(notes),
        "body": _body(header.get("body"), motions[0].skeleton),
        "uncut": _uncut(bundle, header, motions),
    }


def _clips(
    bundle: Bundle, n_motions: int, prefix: str = ""
) -> tuple[tuple[Motion, ...], tuple[Footplants, ...]]:
    """Motions on one skeleton and at one rate, and their contacts."""
    motions = tuple(_motion(bundle, k, prefix) for k in range(n_motions))
    plants = tuple(_plants(bundle, k, prefix) for k in range(n_motions))
    for motion, planted in zip(motions, plants, strict=True):
        if planted.n_frames != motion.n_frames or not motions[0].skeleton.same_joints(
            motion.skeleton
        ):
            raise FormatError("Motions must share a skeleton, and plants cover their motion.")
        if abs(motion.fps - motions[0].fps) > SAME_FPS * motions[0].fps:
            raise FormatError("Motions must share a rate.")
    return motions, plants


def _uncut(
    bundle: Bundle, header: dict[str, Any], motions: tuple[Motion, ...]
) -> UncutClips | None:
    """The clips that the motions were cut from; files of older versions have none."""
    is_cut = header.get("uncut", False)
    if type(is_cut) is not bool:
        raise FormatError("`uncut` must be true or false.", where=HEADER)
    if not is_cut:
        return None
    clips, plants = _clips(bundle, len(motions), UNCUT)
    firsts = header.get("first_frames", [0] * len(motions))
    if not isinstance(firsts, list) or len(firsts) != len(motions):
        raise FormatError("`first_frames` must be one frame for each motion.", where=HEADER)
    for first, clip, motion in zip(firsts, clips, motions, strict=True):
        if not clip.skeleton.same_joints(motion.skeleton) or clip.n_frames < motion.n_frames:
            raise FormatError(
                "Uncut clips must have the skeleton of the motions cut from them, and no fewer "
                "frames."
            )
        if type(first) is not int or not 0 <= first <= clip.n_frames - motion.n_frames:
            raise FormatError(
                f"`first_frames` must be frames of the uncut clips, got {shown(firsts)}.",
                where=HEADER,
            )
    return UncutClips(clips, plants, tuple(firsts))


def _body(roles: object, skeleton: Skeleton) -> BodyMap | None:
    """Roles of joints; files of older versions have none."""
    if roles is None:
        return None
    if not isinstance(roles, dict) or not set(roles) <= set(ROLES):
        raise FormatError("`body` must give joints to known roles.", where=HEADER)
    joints: dict[str, Any] = {
        role: tuple(joint) if isinstance(joint, list) else joint for role, joint in roles.items()
    }
    try:
        return BodyMap(**joints).checked_for(skeleton)
    except MotionLoomError as error:
        raise FormatError(f"`body` must fit the skeleton ({error}).", where=HEADER) from error


def _header(bundle: Bundle) -> dict[str, Any]:
    """The header; the number of motions and the reference in it are checked."""
    text = bundle.member(HEADER)
    if len(text) > LONGEST_HEADER:
        raise FormatError(
            f"The header must have at most {LONGEST_HEADER} bytes, got {len(text)}.", where=HEADER
        )
    header: dict[str, Any] = parse_json(text, bundle.budget, where=HEADER)
    if not isinstance(header, dict) or header.get("format") != "motionloom registration":
        raise FormatError("The header must say that this is a registration curve.", where=HEADER)
    schema = header.get("schema")
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        raise FormatError(
            f"The file has schema {repr(schema)[:40]}; this motionloom reads up to {SCHEMA}.",
            where=HEADER,
            fix="Install a newer motionloom.",
        )
    n_motions, reference = header.get("motions"), header.get("reference")
    if type(n_motions) is not int or not 2 <= n_motions <= MOST_MOTIONS:
        raise FormatError("The header must name two or more motions.", where=HEADER)
    if type(reference) is not int or not 0 <= reference < n_motions:
        raise FormatError("The reference must be one of the motions.", where=HEADER)
    return header


def _checked_times(times: Spline, motions: tuple[Motion, ...], spacing: object) -> float:
    """The average frames between control points, if the curve goes forwards inside of its motions.

    How many frames a blend has depends on it.
    """
    where = "array 'times'"
    if np.diff(times.points, axis=0).min() < SMALLEST_STEP:
        raise FormatError("Times must increase.", where=where)
    ends = times(np.array([0.0, times.u_end]))
    last = np.array([motion.n_frames - 1.0 for motion in motions])
    if ends[0].min() < -BEYOND or (ends[1] > last + BEYOND).any():
        raise FormatError("Times must be frames of the motions.", where=where)
    average = float((ends[1] - ends[0]).mean()) / times.u_end
    if not _is_number(spacing) or abs(float(str(spacing)) - average) > SAME_SPACING * average:
        raise FormatError(
            f"`frames_per_knot` must be what the times say, {average:g}, got {repr(spacing)[:40]}.",
            where=HEADER,
        )
    return float(str(spacing))


def _matches(
    header: dict[str, Any], kind: str, n_motions: int, last_u: float
) -> tuple[ConstraintMatch, ...]:
    """Plants of one kind that belong together, as intervals of the curve's parameter."""
    listed = header.get("matches")
    if not isinstance(listed, dict) or not isinstance(listed.get(kind), list):
        raise FormatError(f"`matches` must list the plants of {kind}.", where=HEADER)
    matches = []
    for match in listed[kind]:
        if not isinstance(match, list) or len(match) != n_motions:
            raise FormatError("A match must have a plant of each motion.", where=HEADER)
        for plant in match:
            if not isinstance(plant, list) or len(plant) != 2 or not all(map(_is_number, plant)):
                raise FormatError("A plant must be a start and an end.", where=HEADER)
            if min(plant) < -BEYOND or max(plant) > last_u + BEYOND:
                raise FormatError(
                    f"Plants must lie on the curve, 0 to {last_u:g}, got {shown(plant)}.",
                    where=HEADER,
                )
        matches.append(ConstraintMatch(tuple((float(a), float(b)) for a, b in match)))
    return tuple(matches)


def _is_number(value: object) -> bool:
    return (type(value) is int or type(value) is float) and -LARGEST <= value <= LARGEST


def _motion(bundle: Bundle, k: int, prefix: str) -> Motion:
    """A motion of the file; all of them together take what the file may take."""
    packed, budget = bundle.member(f"{prefix}motion{k}.mlm"), bundle.budget
    inner = Bundle(BytesIO(packed), bundle.limits, budget)
    motion = archive.read_bundle(inner).motion  # its arrays and names stay taken
    budget.give_back(len(packed))
    budget.take(OBJECTS, f"{prefix}motion {k}")
    return motion


def _plants(bundle: Bundle, k: int, prefix: str) -> Footplants:
    name = f"{prefix}planted{k}"
    planted = bundle.array(name)
    bundle.budget.take(planted.nbytes, "its plants", f"array {name!r}")
    if planted.dtype != np.bool_ or (planted.size and planted.view(np.uint8).max() > 1):
        raise FormatError("Plants must be true or false.", where=f"array {name!r}")
    return Footplants(planted)


def _points(bundle: Bundle, key: str, columns: int) -> FloatArray:
    numbers = bundle.numbers(key, (None, columns))
    bundle.budget.take(COPIES * 8 * numbers.size, "its curve", f"array {key!r}")
    points = np.array(numbers, dtype=np.float64)
    if len(points) < 3:
        raise FormatError(
            f"There must be three control points or more, got {len(points)}.",
            where=f"array {key!r}",
        )
    return points
