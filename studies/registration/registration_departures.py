"""Departures from the paper, each switched off: what gets worse, or does not.

    ./study registration departures

The paper's own way stands in for ours, one departure at a time: in clips bent both ways, whose
poses are the same (alignment), and in half-and-half blends and transitions of random
pairs of captured clips (ends, contacts, poses, whole frames). ``docs/papers/registration.md`` names
the departures by the numbers that the figures begin with. Last, the force of punches and kicks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path
from unittest import mock

import numpy as np

import motionloom as ml
from motionloom.blending import blend as blending
from motionloom.blending import join
from motionloom.motion.contacts import KINDS
from motionloom.motion.motion import Motion
from motionloom.registration import constraints, curve, pair_curve
from motionloom.registration.constraints import Interval
from motionloom.registration.pair_curve import median_filter
from motionloom.registration.splines import Spline, fit_spline
from motionloom.rotation import quat
from motionloom.rotation.planar import PlanarTransform
from studies.captured_clips import FPS, cloud, loaded, protocol, sampled
from studies.registration.registration_placement import Bent
from studies.registration.registration_reach import force_figures
from studies.registration.registration_transitions import made, plants_of
from studies.report import Figure

EVERY = 5
"""Of the hundred random pairs of each subject, every so many are blended."""
KNOT_FRAMES = 4
"""Samples between knots: the paper has a knot for every 3 to 5."""
FAR_M = 10.0
"""Bent clips are also registered so far from the origin."""
WEIGHTS = ((0.25, 0.75), (1.5, -0.5))
LEAST_BONE_M = 0.05


def departure_figures(folder: Path, half: str) -> list[Figure]:
    """All figures."""
    pairs = [
        pair for subject in protocol("transitions")["pairs"].values() for pair in subject[::EVERY]
    ]
    return [
        *alignment_figures(folder, half),
        *end_figures(folder, pairs),
        *match_figures(folder, pairs),
        *pose_figures(folder, pairs),
        *whole_frame_figures(folder, pairs),
        *force_figures(folder, half),
    ]


# Alignment: knots (7) and what is splined (8)


@dataclass(frozen=True)
class _Denser:
    """A spline with more control points over the same parameter."""

    spline: Spline
    factor: float

    def __call__(self, at: np.ndarray | float) -> np.ndarray:
        return self.spline(np.asarray(at) * self.factor)


def _paper_knots(u: np.ndarray, samples: np.ndarray, n_points: int) -> _Denser:
    """An alignment curve with a knot for every so many samples, as in the paper."""
    spans = max(n_points - 2, 1, len(samples) // KNOT_FRAMES)
    factor = spans / (n_points - 2)
    return _Denser(fit_spline(u * factor, samples, spans + 2), factor)


def _paper_samples(grid: object, cells: np.ndarray, *_: object, **__: object) -> np.ndarray:
    """Turn and place of Eq. 1 along the path, the turn unwrapped, outliers removed. (N, 3)"""
    theta, offset = grid.alignment(*cells.T)  # type: ignore[attr-defined]
    return median_filter(np.column_stack([np.unwrap(theta), offset]), 5)


def _paper_transform(values: np.ndarray, *_: object) -> PlanarTransform:
    return PlanarTransform(values[..., 0], values[..., 1], values[..., 2])


@contextmanager
def _splined_transforms() -> Iterator[None]:
    """The spline is fitted to (theta, x0, z0)."""
    with (
        mock.patch.object(pair_curve, "alignment_samples", _paper_samples),
        mock.patch.object(curve, "transform_at", _paper_transform),
    ):
        yield


def alignment_figures(folder: Path, half: str) -> list[Figure]:
    ways: dict[str, Callable[[], object]] = {
        "7: a knot of the alignment for every 4 samples": lambda: mock.patch.object(
            pair_curve, "fit_alignment", _paper_knots
        ),
        "8: (theta, x0, z0) splined": _splined_transforms,
    }
    rows: dict[tuple[str, float], list[float]] = {}
    for number, name in enumerate(protocol("bends")[half]):
        case = Bent(folder, name, number)
        for away in (0.0, FAR_M):
            copies = [ml.move(each, x=away, z=away) for each in case.copies]
            for way in ("ours", *ways):
                with ways.get(way, nullcontext)():  # type: ignore[attr-defined]
                    registered = ml.register(copies, ends="match")
                    rows.setdefault((way, away), []).append(_apart_cm(registered))
    return [
        Figure(
            f"departure {way}, {where}: clips bent both ways apart, aligned",
            float(np.mean(rows[way, away])),
            "cm",
            "ours",
            float(np.mean(rows["ours", away])),
            lower_is_better=True,
            note=f"worst {max(rows[way, away]):.2f} and {max(rows['ours', away]):.2f}; "
            f"{len(rows[way, away])} clips",
        )
        for way in ways
        for away, where in ((0.0, "as captured"), (FAR_M, "14 m from the origin"))
    ]


def _apart_cm(registered: ml.RegistrationCurve) -> float:
    """Mean distance of the points of both copies, aligned; they have the same poses."""
    u = np.arange(*registered.u_range)
    frames, moved = registered.frames(u), registered.alignments(u)
    placed = [
        _of(moved, k).apply(cloud(sampled(motion, frames[:, k])))
        for k, motion in enumerate(registered.motions)
    ]
    return 100.0 * float(np.linalg.norm(placed[1] - placed[0], axis=-1).mean())


def _of(moved: PlanarTransform, k: int) -> PlanarTransform:
    """The transforms of one motion, for points (N, P, 3)."""
    return PlanarTransform(moved.theta[:, k, None], moved.x0[:, k, None], moved.z0[:, k, None])


# Ends of blends (4, 23)


def end_figures(folder: Path, pairs: Sequence[Sequence[str]]) -> list[Figure]:
    ways: dict[str, tuple[str, Callable[[], object]]] = {
        "ours": ("open", nullcontext),
        "first and last frames matched": ("match", nullcontext),
        "nothing left out at the ends": (
            "open",
            lambda: mock.patch.multiple(
                blending, frames_to_trim=lambda *_: (0, 0), _ends_that_fail=lambda *_: (0, 0)
            ),
        ),
        "steps not scaled to the end of the curve": (
            "open",
            lambda: mock.patch.object(blending, "_ending_at", lambda at, _: at),
        ),
    }
    passed: dict[str, list[bool]] = {way: [] for way in ways}
    costs: dict[str, list[float]] = {way: [] for way in ways}
    failures = dict.fromkeys(ways, 0)
    left_out = 0
    for a, b in pairs:
        clips = [loaded(folder, a), loaded(folder, b)]
        plants = [plants_of(folder, a), plants_of(folder, b)]
        for way, (ends, switched) in ways.items():
            try:
                registered = ml.register(clips, footplants=plants, ends=ends)
                with switched():  # type: ignore[attr-defined]
                    result = ml.blend(registered, [0.5, 0.5])
            except ml.MotionLoomError:
                passed[way].append(False)
                continue
            passed[way].append(result.verification.passed)
            failures[way] += len(result.verification.failed)
            costs[way].append(100.0 * max(registered.costs))
            left_out += way == "ours" and any(result.trimmed)
    return [
        Figure(
            f"departure 23: {way}: blends that pass the check",
            float(sum(passed[way])),
            f"of {len(pairs)}",
            "ours",
            float(sum(passed["ours"])),
            note=f"matched frames {np.median(costs[way]):.1f} cm apart in the median, ours "
            f"{np.median(costs['ours']):.1f}; {failures[way]} failed checks in all, ours "
            f"{failures['ours']}; ours leaves frames out in {left_out}",
        )
        for way in list(ways)[1:]
    ]


# Constraint matches (9, 10, 11, 24)


def _subsumes_printed(i: Sequence[Interval], j: Sequence[Interval], near: float) -> bool:
    """Without the condition that the first plants overlap."""
    if len(j) < 2:
        return False
    next_start = i[1][0] if len(i) > 1 else inf
    return i[0][1] > j[1][0] + near and next_start > j[1][1] + near


def _subsumes_other_copy(i: Sequence[Interval], j: Sequence[Interval], near: float) -> bool:
    """As the other copy of the appendix has it: i's first begins and ends later than j's second."""
    return len(j) > 1 and i[0][0] > j[1][0] + near and i[0][1] > j[1][1] + near


def _overlap_printed(left: Sequence[list[Interval]], split: frozenset[int]) -> float:
    """Every interval counts over both plants where nothing is split."""
    spans = [
        plants[0] if k in split or len(plants) < 2 else (plants[0][0], plants[1][1])
        for k, plants in enumerate(left)
    ]
    return sum(
        max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
        for k, a in enumerate(spans)
        for b in spans[k + 1 :]
    )


def _gap_printed(plant: Interval, served: Sequence[Sequence[Interval]]) -> Interval:
    """Eq. 10 with the denominator that is printed, the length of the first plant."""
    starts, ends = [], []
    for other in served:
        first, second = other[0], other[1]
        reaches_third = len(other) > 2 and other[2][0] < plant[1]
        until = second[1] if reaches_third else plant[1]
        scale = (until - plant[0]) / (first[1] - first[0])
        starts.append(plant[0] + scale * (first[1] - first[0]))
        ends.append(plant[0] + scale * (second[0] - first[0]))
    return sum(starts) / len(starts), sum(ends) / len(ends)


def _without_one(left: Sequence[list[Interval]], _: float) -> list[list[Interval]]:
    """Only one plant is discarded where several begin and end alike."""
    earliest = min(range(len(left)), key=lambda k: left[k][0])
    return [plants[1:] if k == earliest else plants for k, plants in enumerate(left)]


MATCH_WAYS: dict[str, tuple[str, Callable[..., object]]] = {
    "9: without the condition that was added": ("_subsumes", _subsumes_printed),
    "9: subsumption as in the other copy": ("_subsumes", _subsumes_other_copy),
    "10: nothing split counts over both plants": ("_overlap", _overlap_printed),
    "11: gaps with the denominator that is printed": ("_gap", _gap_printed),
    "24: only one plant is discarded at a time": ("_without_earliest", _without_one),
}


def match_figures(folder: Path, pairs: Sequence[Sequence[str]]) -> list[Figure]:
    """Kinds of contacts whose matches change, and the time of contacts that is matched."""
    plants: list[list[list[Interval]]] = []
    for (a, b), (c, _) in pairwise(pairs):
        for names in ((a, b), (a, b, c)):
            if len({name.split("_")[0] for name in names}) > 1:
                continue
            try:
                registered = ml.register(
                    [loaded(folder, name) for name in names],
                    footplants=[plants_of(folder, name) for name in names],
                )
            except ml.MotionLoomError:
                continue
            plants += [_plants_of_kind(registered, kind) for kind in KINDS]
    ours = [constraints.match_constraints(each) for each in plants]
    split = sum(
        len(matched) > min(map(len, each)) for matched, each in zip(ours, plants, strict=True)
    )
    figures = []
    for way, (name, other) in MATCH_WAYS.items():
        with mock.patch.object(constraints, name, other):
            theirs = [constraints.match_constraints(each) for each in plants]
        differ = sum(a != b for a, b in zip(ours, theirs, strict=True))
        backward = sum(e < s for each in theirs for m in each for s, e in m.intervals)
        figures.append(
            Figure(
                f"departure {way}: contacts of a kind that are matched otherwise",
                float(differ),
                f"of {len(plants)}",
                note=f"time of contacts matched {_covered(plants, theirs):.1f} %, ours "
                f"{_covered(plants, ours):.1f}; {backward} intervals end before they begin; more "
                f"matches than plants, so one is split, in {split}",
            )
        )
    return figures


def _plants_of_kind(registered: ml.RegistrationCurve, kind: str) -> list[list[Interval]]:
    """Plants of every motion in the curve's parameter."""
    ends = registered.times(np.array([0.0, registered.times.u_end]))
    each_motion = []
    for k, plants in enumerate(registered.footplants):
        spans = np.array(plants.intervals()[kind], dtype=float).reshape(-1, 2)
        spans = np.clip(spans, ends[0, k], ends[1, k])
        inside = registered.u_of(k, spans[spans[:, 1] > spans[:, 0]])
        each_motion.append([(float(start), float(end)) for start, end in inside])
    return each_motion


def _covered(plants: list[list[list[Interval]]], matches: list[tuple]) -> float:
    """Percent of the time of all plants that is in a match."""
    whole = sum(end - start for each in plants for motion in each for start, end in motion)
    held = sum(
        max(end - start, 0.0)
        for each in matches
        for match in each
        for start, end in match.intervals
    )
    return 100.0 * held / whole


# Poses (15, points)


def pose_figures(folder: Path, pairs: Sequence[Sequence[str]]) -> list[Figure]:
    """Against normalised weighted sums of quaternions, and averaged points."""
    apart: dict[tuple[float, float], list[np.ndarray]] = {w: [] for w in WEIGHTS}
    bones: list[np.ndarray] = []
    for a, b in pairs:
        clips = [loaded(folder, name) for name in (a, b)]
        try:
            registered = ml.register(clips)
        except ml.MotionLoomError:
            continue
        u = np.arange(*registered.u_range, registered.motions[0].fps / FPS)
        frames, moved = registered.frames(u), registered.alignments(u)
        each = [sampled(clip, frames[:, k]) for k, clip in enumerate(registered.motions)]
        pair = quat.make_continuous(
            np.moveaxis(np.stack([m.local_quats[:, 1:] for m in each]), 0, -2)
        )  # fmt: skip
        pair = _same_side(pair)
        for weights in WEIGHTS:
            w = np.broadcast_to(np.array(weights), pair.shape[:-1])
            plain = quat.normalize(np.einsum("...kc,k->...c", pair, np.array(weights)))
            off = quat.log(quat.multiply(quat.conjugate(plain), quat.mean(pair, w)))
            apart[weights].append(np.degrees(2.0 * np.linalg.norm(off, axis=-1)).ravel())
        bones.append(_bone_ratios(each, moved))
    figures = []
    for weights, values in apart.items():
        angles = np.concatenate(values)
        figures.append(
            Figure(
                f"departure 15: mean rotations off normalised sums, weights {weights}",
                float(angles.max()),
                "degrees",
                note=f"largest; 99 % below {np.percentile(angles, 99):.2f}",
            )
        )
    ratios = np.concatenate(bones)
    figures.append(
        Figure(
            "points blended as they are: length of bones over the captured",
            float(ratios.mean()),
            "",
            note=f"half and half; one bone in a hundred below {np.percentile(ratios, 1):.2f}, "
            f"shortest {ratios.min():.2f}",
        )
    )
    return figures


def _same_side(quats: np.ndarray) -> np.ndarray:
    """The second of two quaternions with the sign that is nearer to the first. (..., 2, 4)"""
    sign = np.where(np.sum(quats[..., 0, :] * quats[..., 1, :], axis=-1) < 0.0, -1.0, 1.0)
    return np.stack([quats[..., 0, :], sign[..., None] * quats[..., 1, :]], axis=-2)


def _bone_ratios(each: list[Motion], moved: PlanarTransform) -> np.ndarray:
    """Lengths of bones between averaged, aligned joints over those of the skeleton. (N,)"""
    skeleton = each[0].skeleton
    placed = [_of(moved, k).apply(motion.world_positions()) for k, motion in enumerate(each)]
    mean = 0.5 * (placed[0] + placed[1])
    length = np.linalg.norm(skeleton.offsets, axis=-1)
    joints = [j for j in range(1, skeleton.n_joints) if length[j] > LEAST_BONE_M]
    parents = np.asarray(skeleton.parents)[joints]
    made_of = np.linalg.norm(mean[:, joints] - mean[:, parents], axis=-1)
    return (made_of / length[joints]).ravel()


# Transitions between whole frames (14)


def whole_frame_figures(folder: Path, pairs: Sequence[Sequence[str]]) -> list[Figure]:
    """How far a blend that begins and ends at a whole u would be from whole frames of its clips."""
    off: list[float] = []
    cm: list[float] = []
    for a, b in pairs:
        seen: list[tuple] = []
        parameters = join._parameters

        def watched(*arguments, seen=seen, parameters=parameters):  # type: ignore[no-untyped-def]
            u = parameters(*arguments)
            seen.append((arguments[0], u))
            return u

        with mock.patch.object(join, "_parameters", watched):
            made(folder, a, b)
        registered, u = seen[-1]
        for k, at in ((0, u[0]), (1, u[-1])):
            whole, rounded = registered.frames(np.array([at, round(float(at))]))[:, k]
            off.append(abs(float(rounded - whole)))
            clip = registered.motions[k]
            two = sampled(clip, np.array([whole, rounded])).world_positions()
            cm.append(100.0 * float(np.linalg.norm(two[1] - two[0], axis=-1).max()))
    return [
        Figure(
            "departure 14: u rounded, frames of the clips off whole ones",
            float(np.mean(off)),
            "frames",
            note=f"largest {max(off):.2f}; the farthest joint is {np.mean(cm):.1f} cm from where "
            f"it was captured, at most {max(cm):.1f}; {len(off)} seams",
        )
    ]
