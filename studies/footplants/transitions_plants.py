"""Foot plants by thresholds and by the learned classifier: embedded clips, and clips marked by eye.

    ./study transitions plants

The classifier learns from embedded clips alone, of other seeds and turns than those measured here.
Marked clips are never learned from.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.tables.collection.learned_plants import plants_by
from studies.footplants.footplants import (
    PROTOCOLS,
    embedded,
    f1,
    heels_and_toes,
    loaded,
    marked_plants,
    mocap,
    protocol,
    read_marks,
)
from studies.measures.plant_score import score_footplants
from studies.report import Figure, write_report


def learned(motion: Motion) -> Footplants:
    return plants_by("learned", motion, BodyMap.guess(motion.skeleton))


def run() -> list[Figure]:
    figures = []
    corrupted = protocol("corrupted")["corrupted"]
    for case, noise in (("clean", {}), ("5 mm noise, drift, skate", corrupted)):
        by_rules, by_learning = embedded(noise, ml.detect_footplants), embedded(noise, learned)
        for row, point in enumerate(("heel", "toe")):
            ours = f1(sum(c[row] for c in by_rules.values()))
            theirs = f1(sum(c[row] for c in by_learning.values()))
            name = f"plants, embedded, {case}: {point} F1, thresholds"
            figures.append(Figure(name, ours, "", "learned", theirs))
    folder = mocap()
    return figures if folder is None else figures + marked(folder)


def marked(folder: Path) -> list[Figure]:
    marks = read_marks(PROTOCOLS / "plants_marked.csv")
    clips = [entry for entry in protocol("clips")["clips"] if entry["clip"] in marks]
    figures = []
    for half, entries in (("thresholds tuned on", clips[::2]), ("not tuned on", clips[1::2])):
        totals = {}
        for entry in entries:
            motion = loaded(folder, entry)
            truth, window = marked_plants(marks[entry["clip"]], entry, motion.n_frames)
            for name, detect in (("rules", ml.detect_footplants), ("learned", learned)):
                detected = detect(motion)[window]
                for within in (2, 4):
                    score = score_footplants(truth, detected, within=within, shortest=3)
                    key = name, within
                    totals[key] = totals.get(key, 0) + heels_and_toes(score)
                agree = np.array([np.mean(truth.planted == detected.planted)])
                totals[name] = totals.get(name, 0) + agree
        about = f"plants, {len(entries)} marked clips, {half}"
        for within in (2, 4):
            for row, point in enumerate(("heel", "toe")):
                ours, theirs = (f1(totals[name, within][row]) for name in ("rules", "learned"))
                name = f"{about}: {point} F1 within {within} frames, thresholds"
                figures.append(Figure(name, ours, "", "learned", theirs))
        ours, theirs = (float(totals[name][0]) / len(entries) for name in ("rules", "learned"))
        figures.append(
            Figure(f"{about}: frames that agree, thresholds", ours, "", "learned", theirs)
        )
    return figures


if __name__ == "__main__":
    write_report("transitions_plants", run(), about={})
