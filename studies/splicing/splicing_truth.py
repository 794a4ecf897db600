"""Splices of walks whose right answer is known: torso, arms, phase of the arms, lean."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.motion.edit import sample
from motionloom.motion.motion import Motion
from studies.captured_clips import FPS, bounds, interval_text, loaded, protocol
from studies.report import Figure
from studies.splicing.gait_phase import METHODS, Method, torso_and_arms

TORSO_GOAL, ARMS_GOAL, LAG_GOAL, LEAN_GOAL = 0.15, 0.5, 2.0, 2.0
LONGEST_LAG_S = 0.4
"""Lags are looked for within this: less than half a stride, so that a peak is the nearest one."""


@dataclass(frozen=True)
class Errors:
    """One splice and what it should be."""

    torso: float
    """Mean distance of spine, neck and shoulders from the truth, cm."""
    arms: float
    """The same of elbows and wrists."""
    lag: float
    """How far the arms' swing against the legs is from the lower clip's own, frames at 30 Hz."""
    lean: float
    """Angle between the mean directions of the action's torso and the splice's, degrees."""


@lru_cache(maxsize=100)
def body_of(folder: Path, name: str) -> BodyMap:
    return BodyMap.guess(loaded(folder, name).skeleton)


def hip_axes(positions: np.ndarray, body: BodyMap) -> np.ndarray:
    """Rows: from the right hip to the left, up made square to it, and forward. (F, 3, 3)."""
    x = positions[:, body.left_hip] - positions[:, body.right_hip]
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    y = np.array([0.0, 1.0, 0.0]) - x * x[:, 1:2]
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def mean_shoulders(positions: np.ndarray, body: BodyMap) -> np.ndarray:
    """Both shoulders from the first spine joint, seen from the hips, on the average. (2, 3)."""
    points = positions[:, body.require("left_shoulder", "right_shoulder", task="a posture")]
    relative = points - positions[:, [body.spine[0]]]
    return np.asarray(np.einsum("fij,fpj->fpi", hip_axes(positions, body), relative).mean(axis=0))


def truth(action: Motion, legs: Motion, body: BodyMap) -> np.ndarray:
    """Joints of the lower clip's body with the action's mean posture. (F, J, 3)."""
    theirs, own = action.world_positions(), legs.world_positions()
    turn, _ = Rotation.align_vectors(mean_shoulders(theirs, body), mean_shoulders(own, body))
    axes = hip_axes(own, body)
    about = np.einsum("fji,jk,fkl->fil", axes, turn.as_matrix(), axes)
    pivot = own[:, [body.spine[0]]]
    return np.asarray(pivot + np.einsum("fij,fpj->fpi", about, own - pivot))


def arm_lag(motion: Motion, body: BodyMap) -> float:
    """Frames at 30 Hz by which the arms' swing is late against the opposite legs'."""
    positions = ml.resample(motion, fps=FPS).world_positions()
    forward = hip_axes(positions, body)[:, 2]

    def swing(one: str, other: str) -> np.ndarray:
        a, b = body.require(one, other, task="a swing")
        values = np.einsum("fi,fi->f", positions[:, a] - positions[:, b], forward)
        return np.asarray((values - values.mean()) / max(values.std(), 1e-9))

    arms, legs = swing("left_wrist", "right_wrist"), swing("right_knee", "left_knee")
    most = min(round(LONGEST_LAG_S * FPS), len(arms) // 2)
    lags = np.arange(-most, most + 1)
    n = len(arms)
    score = np.array(
        [
            np.mean(arms[max(k, 0) : n + min(k, 0)] * legs[max(-k, 0) : n - max(k, 0)])
            for k in lags.tolist()
        ]
    )
    best = int(np.argmax(score))
    if 0 < best < len(lags) - 1:  # the peak of the parabola through three samples
        low, mid, high = score[best - 1 : best + 2]
        return float(lags[best] + 0.5 * (low - high) / (low - 2.0 * mid + high))
    return float(lags[best])


def lean_kept(action: Motion, result: Motion, body: BodyMap) -> float:
    """Degrees between the mean directions of two torsos."""
    a, b = (mean_shoulders(m.world_positions(), body).mean(axis=0) for m in (action, result))
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))


def spliced(folder: Path, upper: str, lower: str, method: Method) -> Errors:
    body = body_of(folder, lower)
    above, below = loaded(folder, upper), loaded(folder, lower)
    result = ml.splice(above, below, method=method, body=body)
    legs, action = below[: result.motion.n_frames], sample(above, result.timewarp.frames)
    off = np.linalg.norm(result.motion.world_positions() - truth(action, legs, body), axis=-1)
    torso, arms = torso_and_arms(body)
    return Errors(
        100.0 * float(off[:, torso].mean()),
        100.0 * float(off[:, arms].mean()),
        abs(arm_lag(result.motion, body) - arm_lag(legs, body)),
        lean_kept(action, result.motion, body),
    )


def ratio(rows: np.ndarray) -> float:
    """Mean of the first column over that of the second."""
    return float(rows[:, 0].mean() / rows[:, 1].mean())


def truth_figures(folder: Path) -> list[Figure]:
    plan = protocol("splicing_truth")
    pairs: list[tuple[str, str]] = plan["pairs"]
    rows = {m: [spliced(folder, a, b, m) for a, b in pairs] for m in METHODS}
    column = {
        (m, name): np.array([getattr(row, name) for row in rows[m]])
        for m in METHODS
        for name in ("torso", "arms", "lag", "lean")
    }
    figures = []
    for name, goal in (("torso", TORSO_GOAL), ("arms", ARMS_GOAL)):
        for method in METHODS[1:]:
            both = np.stack([column[method, name], column["naive", name]], axis=-1)
            low_high = bounds(both, ratio)
            upper = name == "torso"
            figures.append(
                Figure(
                    f"{name}, {method}: error against naive's" + (", upper bound" * upper),
                    low_high[1] if upper else ratio(both),
                    "x",
                    lower_is_better=True,
                    value_goal=goal if method == "full" else None,
                    note=f"{ratio(both):.3g} {interval_text(low_high)}; "
                    f"{column[method, name].mean():.2f} cm against "
                    f"{column['naive', name].mean():.2f}; {len(pairs)} pairs",
                )
            )
    clips = {name: arm_lag(loaded(folder, name), body_of(folder, name)) for name in plan["walks"]}
    own = np.array([abs(clips[upper] - clips[lower]) for upper, lower in pairs])
    for method in METHODS:
        lags, leans = column[method, "lag"], column[method, "lean"]
        full = method == "full"
        worst = pairs[int(np.argmax(lags))]
        figures.append(
            Figure(
                f"phase of arms against legs, {method}: off the lower clip's own, mean",
                float(lags.mean()),
                "frames",
                lower_is_better=True,
                value_goal=LAG_GOAL if full else None,
                note=f"{interval_text(bounds(lags, lambda v: float(v.mean())))} at 30 Hz; "
                f"{np.mean(lags <= LAG_GOAL):.0%} within {LAG_GOAL:g}; worst {lags.max():.1f} "
                f"({worst[0]} on {worst[1]}); the pairs' clips as captured differ by "
                f"{own.mean():.2f}, {np.mean(own <= LAG_GOAL):.0%} within {LAG_GOAL:g}",
            )
        )
        figures.append(
            Figure(
                f"mean lean of the action, {method}: lost, worst pair",
                float(leans.max()),
                "degrees",
                lower_is_better=True,
                value_goal=LEAN_GOAL if full else None,
                note=f"median {np.median(leans):.2g}",
            )
        )
    return figures
