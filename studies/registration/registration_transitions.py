"""Transitions between random clips of one skeleton: the gate, and what each step brings."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from unittest import mock

import numpy as np

import motionloom as ml
from motionloom.blending import join
from motionloom.blending.transition import Transition
from motionloom.body.anatomy import foot_points
from motionloom.features.glitches.glitch_frames import SEEN_M, find_sudden_turns
from motionloom.motion.motion import Motion, velocities
from motionloom.registration.curve import RegistrationCurve
from studies.captured_clips import bounds, interval_text, loaded, protocol
from studies.registration.registration_linear import one_fit
from studies.report import Figure

ALLOWED = 1.05


@dataclass(frozen=True)
class Steps:
    """A transition held against its sources: ratios of the largest steps per frame."""

    pair: str
    seam: float
    inside: float
    root: float
    inside_used: float
    """Against the frames of the sources that the blend is made of, not against all of them."""
    root_used: float
    slide: float
    """Mean ground speed of points labelled planted during the blend, m/s; nan without any."""


@lru_cache(maxsize=200)
def plants_of(folder: Path, name: str) -> ml.Footplants:
    return ml.detect_footplants(loaded(folder, name))


@lru_cache(maxsize=200)
def speeds(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    return joint_speed(loaded(folder, name)), root_speed(loaded(folder, name))


def joint_speed(motion: Motion) -> np.ndarray:
    """Fastest joint from each frame to the next, m/s. (F - 1,)"""
    steps = np.diff(motion.world_positions(), axis=0)
    return np.asarray(np.linalg.norm(steps, axis=-1).max(axis=1) * motion.fps)


def root_speed(motion: Motion) -> np.ndarray:
    steps = np.diff(motion.root_positions[:, [0, 2]], axis=0)
    return np.asarray(np.linalg.norm(steps, axis=-1) * motion.fps)


def used(t: Transition, k: int) -> slice:
    """Steps of source ``k`` in the blend, one more at both ends."""
    frames = t.provenance.body[t.span[0] : t.span[1] + 1].times_in(k) * t.motion.fps
    first, last = np.nanmin(frames), np.nanmax(frames)
    return slice(max(0, int(first) - 1), int(np.ceil(last)) + 1)


def measured(folder: Path, a: str, b: str, t: Transition) -> Steps:
    first, last = t.span
    joints, root = joint_speed(t.blended), root_speed(t.blended)
    (joints_a, root_a), (joints_b, root_b) = speeds(folder, a), speeds(folder, b)
    seams = joints[[max(first - 1, 0), first, last - 1, min(last, len(joints) - 1)]]
    whole = max(joints_a.max(), joints_b.max())
    part = max(joints_a[used(t, 0)].max(), joints_b[used(t, 1)].max())
    root_part = max(root_a[used(t, 0)].max(), root_b[used(t, 1)].max())
    points = velocities(foot_points(t.blended), t.blended.fps)[first : last + 1]
    ground = np.linalg.norm(points[..., [0, 2]], axis=-1)
    planted = t.footplants.planted[first : last + 1]
    return Steps(
        f"{a} to {b}",
        float(seams.max() / whole),
        float(joints[first:last].max() / whole),
        float(root[first:last].max() / max(root_a.max(), root_b.max())),
        float(joints[first:last].max() / part),
        float(root[first:last].max() / root_part),
        float(ground[planted].mean()) if planted.any() else float("nan"),
    )


def made(
    folder: Path, a: str, b: str, *, at: tuple[int, int] | None = None, timewarp: bool = True
) -> Transition:
    return ml.transition(
        loaded(folder, a),
        loaded(folder, b),
        at=at,
        timewarp=timewarp,
        footplants=(plants_of(folder, a), plants_of(folder, b)),
    )


def faults(folder: Path, name: str) -> str:
    """The worst jump of a clip that shows, in words; empty where there is none."""
    shown = [jump for jump in find_sudden_turns(loaded(folder, name)) if jump.swing_m >= SEEN_M]
    return f"{name}: {shown[0]}" if shown else ""


def gate_figures(folder: Path, *, every: int = 1) -> tuple[list[Figure], dict[str, object]]:
    """Figures of the gate, and what to report with them."""
    plan = protocol("registration_transitions")
    figures: list[Figure] = []
    named: dict[str, object] = {}
    steps: list[Steps] = []
    failed: list[str] = []
    faulty: list[Steps] = []
    n_pairs = 0
    for subject, pairs in plan["pairs"].items():
        own: list[Steps] = []
        bad_clips = {
            c: said_ for c in {c for p in pairs for c in p} if (said_ := faults(folder, c))
        }
        for a, b in pairs[::every]:
            n_pairs += 1
            try:
                result = measured(folder, a, b, made(folder, a, b))
            except ml.MotionLoomError as error:
                failed.append(f"{a} to {b}: {error}")
                continue
            (faulty if {a, b} & bad_clips.keys() else own).append(result)
        steps += own
        if bad_clips:
            named[f"data faults, subject {subject}"] = "; ".join(sorted(bad_clips.values()))
    columns = {
        name: np.array([getattr(s, name) for s in steps])
        for name in ("seam", "inside", "root", "inside_used", "root_used")
    }
    figures.append(
        Figure(
            "transitions made", float(n_pairs - len(failed)), f"of {n_pairs}", value_goal=n_pairs
        )
    )
    for name, what, goal in (
        ("seam", "joint step at the seams over the sources' largest", 1.0),
        ("inside", "joint step inside over the sources' largest", ALLOWED),
        ("root", "root speed inside over the sources' largest", ALLOWED),
        ("inside_used", "joint step inside over the used parts' largest", None),
        ("root_used", "root speed inside over the used parts' largest", None),
    ):
        values = columns[name]
        over = int((values > ALLOWED).sum())
        worst_pair = steps[int(values.argmax())].pair
        figures.append(
            Figure(
                f"transitions: worst {what}",
                float(values.max()),
                "",
                lower_is_better=True,
                value_goal=goal,
                note=f"median {np.median(values):.2f} {interval_text(bounds(values, np.median))}; "
                f"{over} of {len(values)} above {ALLOWED}; worst {worst_pair}",
            )
        )
    worst = sorted(steps, key=lambda s: -max(s.inside_used, s.root_used))[:8]
    named["worst against the used parts"] = "; ".join(
        f"{s.pair} (joint {s.inside_used:.2f}, root {s.root_used:.2f})" for s in worst
    )
    if faulty:
        shown = [s.pair for s in faulty if max(s.inside, s.root) > ALLOWED]
        named["pairs with a faulty clip"] = (
            f"{len(faulty)} made and not counted, {len(shown)} of them above {ALLOWED} {shown}"
        )
    if failed:
        named["transitions that failed"] = "; ".join(failed)
    return figures, named


def left_out_figures(folder: Path, *, every: int = 3) -> list[Figure]:
    """The same places with a step left out."""
    plan = protocol("registration_transitions")
    rows: dict[str, list[Steps]] = {"all steps": [], "time warp": [], "alignment curve": []}
    for pairs in plan["pairs"].values():
        for a, b in pairs[::every]:
            try:
                whole = made(folder, a, b)
                place = whole.candidates[0].frame_a, whole.candidates[0].frame_b
                ways = {
                    "all steps": whole,
                    "time warp": made(folder, a, b, at=place, timewarp=False),
                }
                with rigid_curve(place):
                    ways["alignment curve"] = made(folder, a, b, at=place)
            except ml.MotionLoomError:
                continue
            for name, t in ways.items():
                rows[name].append(measured(folder, a, b, t))
    figures = []
    for column, what, unit in (
        ("inside_used", "95th percentile of the joint step inside over the used parts'", ""),
        ("root_used", "95th percentile of the root speed inside over the used parts'", ""),
        ("slide", "mean speed of planted points during the blend", "m/s"),
    ):
        value = {
            name: float(
                np.nanmean([getattr(s, column) for s in some])
                if column == "slide"
                else np.quantile([getattr(s, column) for s in some], 0.95)
            )
            for name, some in rows.items()
        }
        figures += [
            Figure(
                f"transitions without {name}: {what}",
                value[name],
                unit,
                "all steps",
                value["all steps"],
                lower_is_better=True,
                note=f"{len(rows[name])} pairs",
            )
            for name in ("time warp", "alignment curve")
        ]
    return figures


def rigid_curve(place: tuple[int, int]) -> AbstractContextManager[object]:
    """Transitions inside are aligned once, at their place, in place of all along."""
    whole = join._curve

    def once(*arguments: object) -> RegistrationCurve:
        curve = whole(*arguments)  # type: ignore[arg-type]
        return one_fit(curve, at=float(curve.u_of(0, place[0])))

    return mock.patch.object(join, "_curve", once)
