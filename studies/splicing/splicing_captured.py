"""Splices of clips as they were captured: pace, arms, lean, and its notes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.motion.edit import sample
from motionloom.rotation import quat
from studies.captured_clips import bounds, interval_text, loaded, protocol
from studies.report import Figure
from studies.splicing.gait_phase import METHODS, Method
from studies.splicing.splicing_truth import body_of, lean_kept

PACES = (0.5, 2.0)
PACE_GOAL, ARM_GOAL, LEAN_GOAL = 95.0, 1.3, 2.0


@dataclass(frozen=True)
class Taken:
    """One splice and the action it was made of."""

    names: str
    paced: float
    """Percent of frames at which the action runs at 0.5 to 2 times its own pace."""
    pace: tuple[float, float]
    arms: float
    """Fastest turn of an arm joint, against the fastest in the part of the action used."""
    mean_arms: float
    """The same of the mean turn."""
    lean: float
    retained: float
    """Percent of the lower clip's frames in the result."""
    own_time: bool


def arm_turns(motion: ml.Motion, body: ml.BodyMap) -> np.ndarray:
    """Angles that shoulders, elbows and wrists turn by from frame to frame. (F - 1, 6)."""
    roles = [
        f"{side}_{part}" for side in ("left", "right") for part in ("shoulder", "elbow", "wrist")
    ]
    local = motion.local_quats[:, [getattr(body, role) for role in roles]]
    turns = quat.multiply(quat.conjugate(local[:-1]), local[1:])
    return np.asarray(
        2.0 * np.arctan2(np.linalg.norm(turns[..., 1:], axis=-1), np.abs(turns[..., 0]))
    )


def taken(folder: Path, upper: str, lower: str, method: Method) -> Taken:
    body, below = body_of(folder, lower), loaded(folder, lower)
    spliced = ml.splice(loaded(folder, upper), below, method=method, body=body)
    source = ml.resample(loaded(folder, upper), fps=below.fps)
    frames = spliced.timewarp.frames
    pace = np.diff(frames)
    used = source[int(frames[0]) : int(np.ceil(frames[-1])) + 1]
    ours, theirs = arm_turns(spliced.motion, body), arm_turns(used, body)
    return Taken(
        f"{upper} on {lower}",
        100.0 * float(np.mean((pace >= PACES[0]) & (pace <= PACES[1]))),
        (float(pace.min()), float(pace.max())),
        float(ours.max() / theirs.max()),
        float(ours.mean() / theirs.mean()),
        lean_kept(sample(source, frames), spliced.motion, body),
        100.0 * spliced.motion.n_frames / below.n_frames,
        spliced.timewarp.kept_own_time,
    )


def worst_of(rows: list[Taken], name: str, *, most: bool) -> Taken:
    return (max if most else min)(rows, key=lambda row: getattr(row, name))


def captured_figures(folder: Path) -> tuple[list[Figure], dict[str, object]]:
    plan = protocol("splicing_captured")
    figures: list[Figure] = []
    named: dict[str, object] = {}
    for method in METHODS[1:]:
        rows, refused = [], []
        for upper in plan["upper"]:
            for lower in plan["lower"]:
                try:
                    rows.append(taken(folder, upper, lower, method))
                except ml.MotionLoomError as error:
                    refused.append(f"{upper} on {lower}: {error}")
        full = method == "full"
        in_step = [row for row in rows if not row.own_time]
        slow, arms = worst_of(rows, "paced", most=False), worst_of(rows, "arms", most=True)
        paces = np.array([row.pace for row in in_step])
        figures += [
            Figure(
                f"as captured, {method}: frames at 0.5 to 2 times the action's pace, worst pair",
                slow.paced,
                "%",
                value_goal=PACE_GOAL if full else None,
                note=f"{len(rows)} pairs, {len(in_step)} kept in step, paces {paces.min():.2f} to "
                f"{paces.max():.2f}; worst {slow.names}",
            ),
            Figure(
                f"as captured, {method}: fastest arm against the action's own, worst pair",
                arms.arms,
                "x",
                lower_is_better=True,
                value_goal=ARM_GOAL if full else None,
                note=f"{arms.names}; mean arm speed "
                f"{np.mean([row.mean_arms for row in in_step]):.2f}x, worst "
                f"{max(row.mean_arms for row in rows):.2f}x",
            ),
        ]
        if not full:
            continue
        standing = [row for row in rows if row.names.split()[0] in plan["stand"]]
        # Standing people and pushes keep less of their lean, by design.
        leaning = [row for row in in_step if row.names.split()[0] not in plan["push"]]
        lean, leans = worst_of(leaning, "lean", most=True), np.array([row.lean for row in leaning])
        figures += [
            Figure(
                "as captured: actions without gait that keep their own time",
                100.0 * float(np.mean([row.own_time for row in standing])),
                "%",
                value_goal=100.0,
                note=f"{len(standing)} pairs",
            ),
            Figure(
                "as captured: mean lean of actions that walk lost, worst pair",
                lean.lean,
                "degrees",
                lower_is_better=True,
                value_goal=LEAN_GOAL,
                note=f"{lean.names}; mean {leans.mean():.2g} "
                f"{interval_text(bounds(leans, lambda v: float(v.mean())))}",
            ),
            Figure(
                "as captured: frames of the lower clip kept, median",
                float(np.median([row.retained for row in rows])),
                "%",
                note="the rest has no action left; when_short='loop' or 'hold' fills it",
            ),
        ]
        if refused:
            named["refused"] = "; ".join(refused)
    return figures, named
