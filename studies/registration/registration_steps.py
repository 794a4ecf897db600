"""Steps of different takes: speeds of the feet in the distance, also against marks by eye."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.motion.motion import KINDS
from motionloom.registration.curve import RegistrationCurve
from studies.captured_clips import PROTOCOLS, loaded, protocol
from studies.registration.registration_timing import event_figures, mapped_errors
from studies.report import Figure

WITH_SPEEDS = {"foot_speeds": 1.0, "knot_s": 0.15}
"""Chosen on the tuned half of the takes."""
MARKED = ("16_15", "16_17", "69_01", "143_32")
"""Walks whose contacts were marked by eye, at 60 Hz."""

Clip = tuple[ml.Motion, ml.Footplants]


def marked_walks(folder: Path) -> dict[str, Clip]:
    """The marked parts of walks, with contacts as they were marked by eye."""
    with (PROTOCOLS / "plants_marked.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, skipinitialspace=True))
    entries = protocol("plants_clips")["clips"]
    clips = {}
    for name in MARKED:
        file = f"cmu_bvh/{name}.bvh"
        entry = next(each for each in entries if each["clip"] == file)
        motion = ml.resample(ml.load(folder / file, fps=entry.get("fps")), fps=60.0)
        spans = {
            kind: tuple(
                (int(row["first"]), int(row["last"]))
                for row in rows
                if row["clip"] == file and row["kind"] == kind
            )
            for kind in KINDS
        }
        window = slice(entry["first"], entry["last"] + 1)
        truth = ml.Footplants.from_intervals(spans, motion.n_frames)
        clips[name] = motion[window], truth[window]
    return clips


def speed_figures(folder: Path, half: str) -> list[Figure]:
    """Steps of takes carried to each other, and of walks of three people with marked contacts."""
    takes = {name: loaded(folder, name) for name in protocol("registration_takes")[half]}
    detected = {name: (clip, ml.detect_footplants(clip)) for name, clip in takes.items()}
    return _compared("plants of another take", detected) + _compared(
        "plants marked by eye, walks of three people", marked_walks(folder)
    )


def _compared(title: str, clips: dict[str, Clip]) -> list[Figure]:
    """Figures of one set of clips; contacts guide nothing, they are the measure."""
    pairs = list(combinations(clips.values(), 2))

    def off(curves: list[RegistrationCurve], part: str) -> list[np.ndarray]:
        return [
            mapped_errors(curve, [a[1], b[1]], part=part, straight=False)
            for curve, (a, b) in zip(curves, pairs, strict=True)
        ]

    def curves(**options: Any) -> list[RegistrationCurve]:
        return [ml.register([a[0], b[0]], footplants=[a[1], b[1]], **options) for a, b in pairs]

    plain, speeds = curves(), curves(**WITH_SPEEDS)
    figures = []
    for part, what in (("toe", "balls of the feet"), ("", "balls and heels")):
        figures += event_figures(
            f"{title}, foot speeds compared, {what}", off(speeds, part), off(plain, part),
            baseline="poses alone",
        )  # fmt: skip
    return figures
