"""Constraint matches: plants of a blend against the clip it must give back, with and without."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import motionloom as ml
from studies.captured_clips import bounds, interval_text, protocol
from studies.registration.registration_placement import Bent
from studies.report import Figure


def label_errors(case: Bent) -> dict[str, float]:
    """Part of frames and points labelled otherwise than in the clip, for each way to label."""
    blend = ml.blend(case.curve, [0.5, 0.5], clean=False)
    truth = labels_at(
        ml.detect_footplants(case.clip), case.original_frames(blend.curve.frames(blend.u))
    )
    either, both = (
        how.reduce(
            [
                labels_at(plants, blend.curve.frames(blend.u)[:, k])
                for k, plants in enumerate(case.curve.footplants)
            ]
        )
        for how in (np.logical_or, np.logical_and)
    )
    ways = {
        "matched": blend.footplants.planted,
        "planted in either": either,
        "planted in both": both,
        "detected in the blend": ml.detect_footplants(blend.motion).planted,
    }
    return {name: float((labels != truth).mean()) for name, labels in ways.items()}


def labels_at(plants: ml.Footplants, frames: np.ndarray) -> np.ndarray:
    """Planted between two planted frames, as matched intervals mean it. (N, 4)"""
    low = np.clip(np.floor(frames + 1e-9).astype(int), 0, plants.n_frames - 1)
    high = np.clip(np.ceil(frames - 1e-9).astype(int), 0, plants.n_frames - 1)
    return np.asarray(plants.planted[low] & plants.planted[high])


def constraint_figures(folder: Path, half: str) -> list[Figure]:
    plan = protocol("registration_bends")
    rows = [label_errors(Bent(folder, name, k)) for k, name in enumerate(plan[half])]
    percent = {name: 100.0 * np.array([row[name] for row in rows]) for name in rows[0]}
    ours = percent.pop("matched")
    return [
        Figure(
            "plants of a blend: frames labelled wrongly, constraints matched",
            float(ours.mean()),
            "%",
            f"without: {name}",
            float(values.mean()),
            lower_is_better=True,
            note=f"{interval_text(bounds(ours, np.mean))}; {len(ours)} clips",
        )
        for name, values in percent.items()
    ]
