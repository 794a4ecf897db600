"""Do punches of somebody who stands fall on steps? Own time against ``align=True``.

For every punch: its moment between the step before and the step after it, 0 to 1. The length of the
mean of these as directions is 0 where punches fall anywhere, and 1 where all fall at one moment.
Punches are found from wrists that are far ahead of their shoulders, steps from contacts.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing.posture import hip_frames
from studies.captured_clips import bounds, interval_text
from studies.report import Figure
from studies.splicing.splicing_apart import RATE

PUNCHERS = ("143_23", "141_14")
LEGS = (
    "143_17", "83_27", "113_19", "141_07", "143_32", "143_38", "141_25", "113_25", "69_01", "16_15",
)  # fmt: skip
"""Stairs, then walks."""
FAR_M, APART_S = 0.28, 0.4


def whole(folder: Path, name: str) -> ml.Motion:
    where = "cmu_bvh" if (folder / "cmu_bvh" / f"{name}.bvh").is_file() else "audit"
    return ml.load(folder / where / f"{name}.bvh", fps=RATE.get(name.split("_")[0]))


def punches(motion: ml.Motion, body: ml.BodyMap) -> list[float]:
    """Frames at which a wrist is farthest ahead of its shoulder."""
    positions = motion.world_positions()
    hips = hip_frames(positions, body)
    near, strokes = round(APART_S * motion.fps), []
    for side in ("left", "right"):
        wrist, shoulder = (getattr(body, f"{side}_{role}") for role in ("wrist", "shoulder"))
        ahead = quat.rotate(hips, positions[:, wrist] - positions[:, shoulder])[:, 2]
        strokes += [
            float(k)
            for k in range(len(ahead))
            if ahead[k] > FAR_M and ahead[k] == ahead[max(0, k - near) : k + near + 1].max()
        ]
    return sorted(strokes)


def moments(folder: Path, upper: str, lower: str, *, align: bool) -> list[float]:
    """Where punches are between two steps, 0 to 1."""
    legs = whole(folder, lower)
    body = ml.BodyMap.guess(legs.skeleton)
    action = ml.retarget(ml.resample(whole(folder, upper), fps=legs.fps), legs)
    spliced = ml.splice(action, legs, align=align)
    planted = spliced.footplants.planted
    downs = set()
    for side in (slice(0, 2), slice(2, 4)):
        on = np.asarray(planted[:, side].any(axis=1))
        downs |= set((np.flatnonzero(on[1:] & ~on[:-1]) + 1).tolist())
    steps, frames = np.array(sorted(downs), dtype=float), spliced.timewarp.frames
    strokes = []
    for punch in punches(action, body):
        if frames[0] < punch < frames[-1]:
            at = float(np.interp(punch, frames, np.arange(len(frames))))
            k = int(np.searchsorted(steps, at))
            if 0 < k < len(steps):
                strokes.append((at - steps[k - 1]) / (steps[k] - steps[k - 1]))
    return strokes


def together(strokes: np.ndarray) -> float:
    """Length of the mean direction of moments (N,)."""
    return float(np.abs(np.exp(2j * np.pi * strokes).mean()))


def beat_figures(folder: Path) -> list[Figure]:
    rows = {
        align: np.array(
            [m for u in PUNCHERS for low in LEGS for m in moments(folder, u, low, align=align)]
        )
        for align in (False, True)
    }
    return [
        Figure(
            "punches of somebody who stands, align=True: fall at one moment between steps",
            together(rows[True]),
            "of 1",
            "own time",
            together(rows[False]),
            value_goal=0.8,
            note=f"{interval_text(bounds(rows[True], together))}, own time "
            f"{interval_text(bounds(rows[False], together))}; {len(rows[True])} punches on "
            f"{len(PUNCHERS) * len(LEGS)} pairs of clips",
        )
    ]
