"""How the audit makes a result of each kind, and judges it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.motion.edit import sample
from motionloom.rotation import quat
from studies.audit.audit_check import Copied, Failure, Result, Sources, check
from studies.audit.audit_clips import Library, library
from studies.audit.audit_points import points_of
from studies.audit.audit_protocol import PREFIX, Case
from studies.audit.audit_signals import SIDES, Array, Points, heading, toe_of

CONTEXT_S = 0.2
"""Captured time before and after a synthesized part that is judged with it."""
LOW_TOE_M = 0.025
"""A toe is low within this of its clip's lowest twentieth."""


@dataclass(eq=False)
class Made:
    """A result with what the check needs."""

    motion: ml.Motion
    passed: bool
    """By motionloom's own check."""
    failures: list[Failure]
    footplants: ml.Footplants | None = None
    label: str = ""
    figures: dict[str, float] = field(default_factory=dict)


@dataclass
class Outcome:
    """What became of a case; small, so that it can go from process to process."""

    kind: str
    number: int
    part: int
    label: str
    passed: bool
    refusal: str
    """Why there is no result; empty where there is one."""
    failures: list[Failure]
    figures: dict[str, float]
    seconds: float

    @property
    def case(self) -> str:
        """What ``./bench audit --case`` takes."""
        return f"{self.kind}:{self.number}" + (f".{self.part}" if self.part else "")


def run_case(kind: str, number: int, case: Case) -> list[Outcome]:
    """Make and judge a case. A stream has one outcome per order, all others have one."""
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = make(kind, case)
    except ml.MotionLoomError as error:
        seconds = time.perf_counter() - started
        return [Outcome(kind, number, 0, label_of(case), False, str(error), [], {}, seconds)]
    seconds = (time.perf_counter() - started) / len(results)
    return [
        Outcome(kind, number, part, result.label or label_of(case), result.passed, "",
                result.failures, result.figures, seconds)
        for part, result in enumerate(results)
    ]  # fmt: skip


def make(kind: str, case: Case) -> list[Made]:
    """The results of a case."""
    from studies.audit import audit_pairs

    makers: dict[str, Callable[[Case], list[Made]]] = {
        "table": table_transition,
        "stream": stream,
        "fill": fill,
        **audit_pairs.MAKERS,
    }
    return makers[maker_of(kind)](case)


def maker_of(kind: str) -> str:
    """What a kind makes, whichever clips it uses: the first word of it."""
    return kind.removeprefix(PREFIX).split("-")[0]


def label_of(case: Case) -> str:
    """The case in a few words."""
    if "source" in case:
        (a, s), (b, t) = case["source"], case["target"]
        return f"{a}:{s} to {b}:{t}"
    if "first" in case:
        return f"{case['clip']} {case['first']}-{case['first'] + 59}"
    return (
        f"{case['a']} to {case['b']}" if "a" in case else str(case.get("clip", case.get("start")))
    )


def own_verdict(results: Sequence[Any], motion: ml.Motion, sources: Sequence[ml.Motion]) -> bool:
    """Whether motionloom's own check passes: that of the results, else of the motion."""
    verifications = [v for r in results if (v := getattr(r, "verification", None)) is not None]
    if verifications:
        return all(bool(v.passed) for v in verifications)
    return bool(ml.verify(motion, sources=list(sources)))


def table_transition(case: Case) -> list[Made]:
    place = library(case["collection"])
    ends = []
    for clip, frame in (case["source"], case["target"]):
        ends.append((clip, min(int(frame), place.motion(clip).n_frames - 1)))
    joined = place.table.transition(*ends, lead_s=CONTEXT_S, follow_s=CONTEXT_S)
    clips = list(dict.fromkeys([*joined.clips, ends[0][0], ends[1][0]]))
    first, last = joined.span
    left, left_frame = place.table.frames.place_of(joined.recipe.rows[0])
    length = joined.recipe.length
    right, right_frame = place.table.frames.place_of(joined.recipe.rows[-1] + length - 1)
    copied = [
        Copied(0, first, clips.index(left), left_frame - first),
        Copied(last + 1, joined.motion.n_frames, clips.index(right), right_frame + 1),
    ]
    windows = [place.table.frames.place_of(row) for row in joined.recipe.rows]
    used = [Copied(first, last + 1, clips.index(clip), frame) for clip, frame in windows]
    result = Result(
        points_of(joined.motion, joined.footplants), copied, joined.span, used,
        joined.provenance, [place.own(clip) for clip in joined.provenance.sources],
    )  # fmt: skip
    failures = check(result, Sources([place.own(clip) for clip in clips]))
    passed = own_verdict([joined], joined.motion, [place.motion(clip) for clip in clips])
    return [Made(joined.motion, passed, failures, joined.footplants)]


def stream(case: Case) -> list[Made]:
    """A minute of a live character with many orders: one result per order."""
    place = library(case["collection"])
    table, fps = place.table, place.table.frames.fps
    rng = np.random.default_rng(case["seed"])
    ids = [clip for clip in place.collection.ids if place.motion(clip).n_frames >= table.length]
    live = table.stream((case["start"], 0))
    every, count = round(case["every_s"] * fps), round(case["seconds"] * fps)
    poses, orders = [], [""]
    for step in range(count):
        if step and step % every == 0:
            clip = ids[int(rng.integers(len(ids)))]
            frame = int(rng.integers(place.motion(clip).n_frames))
            live.go(frame=(clip, frame))
            orders.append(f"{clip}:{frame}")
        poses.append(live.step())
    motion = ml.Motion(
        place.collection.frames.skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        fps,
    )
    planted = np.array([pose.planted for pose in poses])
    made = [pose.made_of for pose in poses]
    return _judge_orders(place, motion, ml.Footplants(planted), made, every, orders)


def _judge_orders(
    place: Library,
    motion: ml.Motion,
    contacts: ml.Footplants,
    made: list[ml.MadeOf],
    every: int,
    orders: list[str],
) -> list[Made]:
    ids = list(place.collection.ids)
    sources = Sources([place.own(clip) for clip in ids])
    context = round(CONTEXT_S * motion.fps)
    whole = points_of(motion, contacts)
    originals = [place.motion(clip) for clip in ids]
    passed_whole = bool(ml.verify(motion, sources=originals, footplants=contacts))
    results = []
    for n, order in enumerate(orders[1:], start=1):
        first, stop = n * every - context, min((n + 1) * every + context, motion.n_frames)
        used = [
            Copied(n, n + 1, int(clip), int(frame))
            for n, each in enumerate(made[first:stop])
            for clip, frame in zip(each.clips, each.frames, strict=True)
        ]
        failures = check(Result(whole.part(first, stop), used=used), sources)
        part = motion[first:stop]
        # A stream as a whole passes or not; if not, each order is asked for itself.
        passed = passed_whole or bool(
            ml.verify(part, sources=originals, footplants=contacts[first:stop])
        )
        results.append(Made(part, passed, failures, contacts[first:stop], f"order {n}: {order}"))
    return results


def fill(case: Case) -> list[Made]:
    place = library(case["collection"])
    clip = case["clip"]
    motion = place.motion(clip)
    gap = place.table.length - 2
    first = min(int(case["first"]), motion.n_frames - gap - 2)
    last = first + gap - 1
    filled = place.table.fill(motion, first, last, exclude=[clip])
    clips = list(dict.fromkeys([clip, *filled.provenance.sources[1:]]))
    context = round(CONTEXT_S * motion.fps)
    start, stop = max(0, first - context), min(motion.n_frames, last + 1 + context)
    planted = np.zeros((motion.n_frames, 4), dtype=bool)
    planted[first : last + 1] = filled.footplants.planted[first : last + 1]
    part = points_of(filled.motion[start:stop], ml.Footplants(planted[start:stop]))
    copied = [
        Copied(0, first - start, 0, start),
        Copied(last + 1 - start, stop - start, 0, last + 1),
    ]
    result = Result(part, copied, (first - start, last - start))
    failures = check(result, Sources([place.own(name) for name in clips]))
    passed = own_verdict([filled], filled.motion, [place.motion(name) for name in clips])
    points = points_of(motion)
    joints = points.judged
    truth = motion.world_positions()[first : last + 1, joints]
    ways = {
        "fill": filled.motion.world_positions()[first : last + 1, joints],
        "slerp": _slerp(motion, first, last)[:, joints],
        "nearest window": _nearest(place, motion, filled, first, last)[:, joints],
    }
    figures = {
        f"{name} cm": 100.0 * float(np.linalg.norm(way - truth, axis=-1).mean())
        for name, way in ways.items()
    }
    for name, each in (("fill", filled.motion), ("captured", motion)):
        speed = low_toe_speed(points, each.world_positions()[first - 1 : last + 2])
        if speed is not None:
            figures[f"{name} toes cm/s"] = 100.0 * speed
    return [Made(filled.motion[start:stop], passed, failures, None, figures=figures)]


def low_toe_speed(points: Points, positions: Array) -> float | None:
    """Mean speed of toes that are low, m/s; None where none is."""
    speeds = []
    for side in SIDES:
        toe = toe_of(points, side)
        if toe is None:
            continue
        low = np.percentile(points.positions[:, toe, 1], 5.0) + LOW_TOE_M
        steps = np.linalg.norm(np.diff(positions[:, toe][:, [0, 2]], axis=0), axis=-1)
        speeds.append(points.fps * steps[positions[1:, toe, 1] < low])
    slow = np.concatenate(speeds) if speeds else np.zeros(0)
    return float(slow.mean()) if len(slow) else None


def _slerp(motion: ml.Motion, first: int, last: int) -> Array:
    """The gap with straight lines and slerp. (N, J, 3)"""
    a, b = first - 1, last + 1
    u = (np.arange(first, last + 1) - a) / (b - a)
    root = motion.root_positions[a] * (1.0 - u)[:, None] + motion.root_positions[b] * u[:, None]
    quats = quat.slerp(motion.local_quats[a : a + 1], motion.local_quats[b : b + 1], u[:, None])
    return np.asarray(ml.forward_kinematics(motion.skeleton, root, quats)[0])


def _nearest(place: Library, motion: ml.Motion, filled: Any, first: int, last: int) -> Array:
    """The nearest captured window in the gap's time, placed where the gap starts. (N, J, 3)"""
    made_of = filled.provenance
    clip = made_of.sources[int(made_of.body.clip[first, 0])]  # the nearest comes first
    inside = made_of.body.time[first : last + 1, 0] * motion.fps
    ends = 2.0 * inside[[0, -1]] - inside[[1, -2]]
    other = sample(place.motion(clip), np.concatenate([ends[:1], inside, ends[1:]]))
    other_points, here = points_of(other), points_of(motion[first - 1 : last + 2])
    turn = np.radians(heading(here)[0] - heading(other_points)[0])
    spin = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), turn)
    pelvis = other_points.roles["pelvis"]
    ground = np.array([1.0, 0.0, 1.0])
    moved = quat.rotate(spin, other_points.positions - other_points.positions[0, pelvis] * ground)
    placed = moved + here.positions[0, pelvis] * ground
    return placed[1:-1, : motion.skeleton.n_joints]
