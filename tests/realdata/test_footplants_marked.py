"""Footplants against those marked by eye from drawn tracks of captured clips."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.motion import KINDS, Footplants
from tests.support.clips import at_most_60_hz
from tests.support.places import PROTOCOLS
from tests.support.tables import PlantScore, score_footplants

WITHIN = 2
SHORTEST = 3
GOAL = 0.9
BIAS = 1.0
"""Frames by which the median edge may be early or late."""
PARTNER = 8
"""Frames within which a found edge is taken for that of a mark."""


def marked_clips(mocap: Path) -> list[tuple[Footplants, Footplants]]:
    """Plants as marked and as found, within the frames that were marked."""
    marks: dict[str, dict[str, list[tuple[int, int]]]] = {}
    with (PROTOCOLS / "plants_marked.csv").open(newline="") as stream:
        for row in csv.DictReader(stream, skipinitialspace=True):
            spans = marks.setdefault(row["clip"], {kind: [] for kind in KINDS})
            spans[row["kind"]].append((int(row["first"]), int(row["last"])))
    pairs = []
    for entry in json.loads((PROTOCOLS / "plants_clips.json").read_text())["clips"]:
        motion = at_most_60_hz(mocap / entry["clip"], entry.get("fps"))
        window = slice(entry["first"], entry["last"] + 1)
        spans = {kind: tuple(found) for kind, found in marks[entry["clip"]].items()}
        truth = Footplants.from_intervals(spans, motion.n_frames)
        pairs.append((truth[window], ml.detect_footplants(motion)[window]))
    return pairs


@pytest.fixture(scope="module")
def pairs(mocap: Path) -> list[tuple[Footplants, Footplants]]:
    return marked_clips(mocap)


@pytest.mark.parametrize("point", ["heel", "toe"])
@pytest.mark.parametrize("half", [0, 1], ids=["tuned on", "not tuned on"])
def test_nine_of_ten_marked_plants_are_found_to_two_frames(
    pairs: list[tuple[Footplants, Footplants]], half: int, point: str
) -> None:
    total = PlantScore()
    for truth, found in pairs[half::2]:
        score = score_footplants(truth, found, within=WITHIN, shortest=SHORTEST)
        total = total + score[f"left_{point}"] + score[f"right_{point}"]
    assert total.f1 >= GOAL, total


@pytest.mark.parametrize("edge", [0, 1], ids=["first", "last"])
def test_plants_begin_and_end_neither_early_nor_late(
    pairs: list[tuple[Footplants, Footplants]], edge: int
) -> None:
    late = []
    for truth, found in pairs:
        edges = (0, truth.n_frames - 1)
        for kind, spans in truth.intervals().items():
            there = [span[edge] for span in found.intervals()[kind]]
            for span in spans:
                if span[edge] not in edges and there:
                    nearest = min(there, key=lambda frame: abs(frame - span[edge]))
                    late += [nearest - span[edge]] * (abs(nearest - span[edge]) <= PARTNER)
    assert len(late) > 150
    assert abs(np.median(late)) <= BIAS
