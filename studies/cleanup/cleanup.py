"""Footskate clean-up: what it holds, what it moves, how knees take it, and how fast it is.

    ./study cleanup            every figure, of the clips that nothing was tuned on
    ./study cleanup --tuned    the same of the clips that thresholds were tuned on

The peer is the plain way: every plant's ankle pinned where the plant begins, legs by the same
inverse kinematics, no blending around it.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.footskate import fastest_contact
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import (
    Footplants,
    Motion,
    local_from_world,
    runs_of,
    solve_limb,
)
from motionloom.rotation import quat
from studies.captured_clips import Protocol, mocap, protocol
from studies.report import Figure, write_report

ROUNDS = 25
PEER = "pinned ankles"


@dataclass(frozen=True)
class Row:
    """One clip cleaned. Metres, seconds."""

    drift: float
    """Largest extent of a held point in any axis."""
    held: float
    """Part of the labelled frames that is held."""
    speed: float
    """Fastest contact over the source's own."""
    change: float
    """Mean way of a joint."""
    knee: float
    """Acceleration of the knees, 95th percentile, over the source's."""
    root: float
    """The same of the root."""


def loaded(path: Path) -> Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ml.load(path)


def acceleration(motion: Motion, joints: list[int]) -> float:
    """95th percentile of the joints' acceleration, m/s2."""
    track = motion.world_positions()[:, joints]
    return float(
        np.percentile(np.linalg.norm(np.diff(track, 2, axis=0), axis=-1), 95) * motion.fps**2
    )


def fastest(motion: Motion, plants: Footplants) -> float:
    """Speed of the fastest contact, m/s; 0 where nothing stands."""
    return fastest_contact(foot_points(motion), plants.planted, motion.fps)[0] or 0.0


def drift_of(motion: Motion, footplants: Footplants) -> float:
    points, worst = foot_points(motion), 0.0
    for k, spans in enumerate(footplants.intervals().values()):
        for first, last in spans:
            worst = max(worst, float(np.ptp(points[first : last + 1, k], axis=0).max()))
    return worst


def measured(
    source: list[Motion], before: Motion, after: Motion, labels: Footplants, held: Footplants
) -> Row:
    """A cleaned motion, the one it was made from and the captured one(s)."""
    body = BodyMap.guess(before.skeleton)
    knees = list(body.require("left_knee", "right_knee", task="knees"))
    own = [fastest(m, ml.detect_footplants(m)) for m in source]
    change = np.linalg.norm(after.world_positions() - before.world_positions(), axis=-1)
    return Row(
        drift_of(after, held),
        float(held.planted.sum() / labels.planted.sum()),
        fastest(after, labels) / max(own),
        float(change.mean()),
        acceleration(after, knees) / mean(acceleration(m, knees) for m in source),
        acceleration(after, [0]) / mean(acceleration(m, [0]) for m in source),
    )


def pinned(motion: Motion, footplants: Footplants) -> Motion:
    """The plain way: ankles stay where their plant begins, and jump back when it ends."""
    body = BodyMap.guess(motion.skeleton)
    positions, quats = motion.world_pose()
    quats = np.array(quats)
    for k, side in ((0, "left"), (2, "right")):
        hip, knee, ankle = (getattr(body, f"{side}_{role}") for role in ("hip", "knee", "ankle"))
        target = np.array(positions[:, ankle])
        for first, last in runs_of(np.asarray(footplants.planted[:, k : k + 2].any(axis=1))):
            target[first : last + 1] = target[first]
        hinge = quat.rotate(quats[:, hip], np.array([1.0, 0.0, 0.0]))
        limb = solve_limb(positions[:, hip], positions[:, knee], positions[:, ankle], target, hinge)
        quats[:, hip] = quat.multiply(limb.q_upper, quats[:, hip])
        quats[:, knee] = quat.multiply(limb.q_lower, quats[:, knee])
    return motion.replace(local_quats=local_from_world(motion.skeleton, quats))


def bounds(values: np.ndarray, *, rounds: int, seed: int) -> str:
    """Mean of resampled clips, the middle 95 %."""
    rng = np.random.Generator(np.random.PCG64(seed))
    means = rng.choice(values, size=(rounds, len(values))).mean(axis=1)
    return "95 % within {:.2f}..{:.2f}".format(*np.percentile(means, [2.5, 97.5]))


def gate_figures(name: str, rows: list[Row], plain: list[Row], plan: Protocol) -> list[Figure]:
    """What was promised, for one family of clips."""
    names = [field.name for field in dataclasses.fields(Row)]
    ours = {name: np.array([getattr(row, name) for row in rows]) for name in names}
    peer = {name: np.array([getattr(row, name) for row in plain]) for name in names}
    spread = bounds(ours["knee"], rounds=plan["bootstrap"], seed=plan["seed"])

    def low(
        what: str,
        value: float,
        unit: str,
        theirs: float | None,
        goal: float | None,
        note: str = "",
    ) -> Figure:
        figure = Figure(f"{name}: {what}", float(value), unit, lower_is_better=True, note=note)
        if theirs is not None:
            figure = dataclasses.replace(figure, baseline=PEER, baseline_value=float(theirs))
        return dataclasses.replace(figure, value_goal=goal)

    return [
        low("drift of held points, worst clip", 1e3 * ours["drift"].max(), "mm", None, 1.0,
            f"{PEER}: {1e3 * peer['drift'].max():.0f}"),
        Figure(f"{name}: labelled time held, worst clip", float(ours["held"].min()), "",
               value_goal=0.8),
        low("fastest contact over the source's, worst clip", ours["speed"].max(), "",
            peer["speed"].max(), 1.0),
        low("joint change, mean", 1e2 * ours["change"].mean(), "cm", None, 1.2,
            f"worst clip {1e2 * ours['change'].max():.2f}"),
        low("knee acceleration over the source's, mean", ours["knee"].mean(), "",
            peer["knee"].mean(), 1.35, f"worst clip {ours['knee'].max():.2f}; {spread}"),
        low("root acceleration over the source's, mean", ours["root"].mean(), "", None, None),
    ]  # fmt: skip


def skate_figures(folder: Path, which: str) -> tuple[list[Figure], dict[str, str]]:
    plan = protocol("cleanup_skate")
    figures, table = [], {}
    for family, clips in plan[which].items():
        rows, plain = [], []
        for clip in clips:
            source = loaded(folder / clip)
            labels = ml.detect_footplants(source)
            skated = corrupt(source, travel=plan["travel"])
            result = ml.clean_footskate(skated, labels)
            rows.append(measured([source], skated, result.motion, labels, result.footplants))
            stuck = pinned(skated, labels)
            plain.append(measured([source], skated, stuck, labels, labels))
            table[clip] = " ".join(f"{k} {v:.4g}" for k, v in dataclasses.asdict(rows[-1]).items())
        figures += gate_figures(f"{family}s, travel x {plan['travel']}", rows, plain, plan)
    return figures, table


def blend_figures(folder: Path) -> list[Figure]:
    """Blends half and half, cleaned with the plants that they carry."""
    rows, plain, before = [], [], []
    for pair in protocol("cleanup_blends")["pairs"]:
        sources = [loaded(folder / clip) for clip in pair]
        blend = ml.blend(ml.register(sources), [0.5, 0.5], clean=False)
        if not blend.footplants.planted.any():
            continue
        result = ml.clean_footskate(blend.motion, blend.footplants)
        both = (sources, blend.motion)
        rows.append(measured(*both, result.motion, blend.footplants, result.footplants))
        stuck = pinned(blend.motion, blend.footplants)
        plain.append(measured(*both, stuck, blend.footplants, blend.footplants))
        before.append(drift_of(blend.motion, blend.footplants))
    figures = gate_figures("blends", rows, plain, protocol("cleanup_skate"))
    slide = Figure("blends: extent of planted points before, mean", 1e2 * mean(before), "cm")
    return [slide, *figures]


def speed_figures(folder: Path | None) -> list[Figure]:
    plan, figures = protocol("cleanup_skate"), []
    clips = [] if folder is None else [loaded(folder / clip) for clip in plan["timed"]]
    for motion in clips or [ml.synthetic.clip("walk").motion]:
        labels, body = ml.detect_footplants(motion), BodyMap.guess(motion.skeleton)
        skated = corrupt(motion, travel=plan["travel"])
        ml.clean_footskate(skated, labels, body=body)
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            ml.clean_footskate(skated, labels, body=body)
            times.append(time.perf_counter() - start)
        figures.append(
            Figure(
                f"time per frame, {motion.name}, {motion.n_frames} frames",
                1e3 * min(times) / motion.n_frames,
                "ms",
                lower_is_better=True,
                value_goal=0.02,
                note=f"{motion.skeleton.n_joints} joints, best of {ROUNDS}",
            )
        )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuned", action="store_true", help="the clips that were tuned on")
    options = parser.parse_args()
    folder, figures = mocap(), list[Figure]()
    about: dict[str, str] = {}
    if folder is None:
        about["clips"] = "no motion-capture folder: set MOTIONLOOM_MOCAP; speed on an embedded clip"
    else:
        which = "tuned" if options.tuned else "reported"
        figures, table = skate_figures(folder, which)
        figures += blend_figures(folder)
        about |= table
    figures += speed_figures(folder)
    write_report("cleanup_tuned" if options.tuned else "cleanup", figures, about=about)


if __name__ == "__main__":
    main()
