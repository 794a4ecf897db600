"""Live control: how fast planted points move, with feet held and without, and what that costs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.registration.curve import RegistrationCurve
from studies.captured_clips import generator, loaded, protocol
from studies.report import Figure


class Played(NamedTuple):
    """A live blend, steered."""

    speeds: np.ndarray
    """Of points that are planted in two frames in a row, cm/s."""
    planted: float
    """Part of frames and points."""
    bends: np.ndarray
    """Accelerations of all joints, m/s^2."""
    own_ms: np.ndarray
    """Processor time of every step."""


def steering(n_motions: int, seconds: float, fps: float, *seed: int) -> np.ndarray:
    """Weights (F, K) that go from one random mixture to the next in two seconds."""
    stops = np.arange(0.0, seconds + 2.0, 2.0)
    rows = generator(*seed).dirichlet(np.full(n_motions, 0.5), len(stops))
    at = np.arange(round(seconds * fps)) / fps
    return np.stack([np.interp(at, stops, column) for column in rows.T], axis=-1)


def played(curve: RegistrationCurve, weights: np.ndarray, *, hold_feet: bool) -> Played:
    live, poses, own = ml.control(curve, hold_feet=hold_feet), [], []
    for w in weights:
        start = time.thread_time()
        poses.append(live.step(w))
        own.append(1e3 * (time.thread_time() - start))
    motion = ml.Motion(
        curve.motions[0].skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        curve.motions[0].fps,
    )
    planted = np.array([pose.planted for pose in poses])
    steps = np.linalg.norm(np.diff(foot_points(motion), axis=0), axis=-1)
    bends = np.diff(motion.world_positions(), n=2, axis=0) * motion.fps**2
    return Played(
        100.0 * motion.fps * steps[planted[1:] & planted[:-1]],
        float(planted.mean()),
        np.linalg.norm(bends, axis=-1),
        np.array(own[100:]),
    )


def live_figures(folder: Path, half: str) -> list[Figure]:
    plan = protocol("registration_live")
    rows = []
    for number, (name, clips) in enumerate(plan[half].items()):
        motions = [ml.resample(loaded(folder, clip), fps=plan["fps"]) for clip in clips]
        curve = ml.register(motions)
        weights = steering(len(clips), plan["seconds"], plan["fps"], plan["seed"], number)
        rows.append((name, *(played(curve, weights, hold_feet=way) for way in (True, False))))
    held, free = (np.concatenate([row[k].speeds for row in rows]) for k in (1, 2))
    labelled = [row[1].planted / row[2].planted for row in rows]
    rough = [
        float(np.quantile(row[1].bends, 0.999) / np.quantile(row[2].bends, 0.999)) for row in rows
    ]
    own, plain = (np.concatenate([row[k].own_ms for row in rows]) for k in (1, 2))
    worst = int(np.argmax(rough))
    return [
        Figure(
            "live control: fastest planted point",
            float(held.max()),
            "cm/s",
            "feet not held",
            float(free.max()),
            lower_is_better=True,
            value_goal=1.0,
            note=f"{len(rows)} groups of clips, {len(held)} steps of planted points; not held: "
            f"median {np.median(free):.1f}, 95 % {np.quantile(free, 0.95):.1f}",
        ),
        Figure(
            "live control: labelled contacts that are held, worst group",
            100.0 * min(labelled),
            "%",
            lower_is_better=False,
            note="; ".join(
                f"{row[0]} {100 * part:.1f}" for row, part in zip(rows, labelled, strict=True)
            ),
        ),
        Figure(
            "live control: acceleration of joints (99.9 %) over that with feet not held, worst",
            rough[worst],
            "",
            lower_is_better=True,
            note=f"{rows[worst][0]}; mean of groups {np.mean(rough):.2f}",
        ),
        Figure(
            "live control: p99 of a step, own processor time",
            float(np.quantile(own, 0.99)),
            "ms",
            "feet not held",
            float(np.quantile(plain, 0.99)),
            lower_is_better=True,
            value_goal=0.2,
            note=f"median {np.median(own):.3f} and {np.median(plain):.3f} ms",
        ),
    ]
