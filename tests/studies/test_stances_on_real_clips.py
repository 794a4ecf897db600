"""Footplants of captured walks and runs, counted by stances that are found in another way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.motion import Motion
from studies.baselines.stances import find_extremes, find_stances
from tests.support.clips import at_most_60_hz, quietly_loaded
from tests.support.places import PROTOCOLS

PLAN = json.loads((PROTOCOLS / "plants_stances.json").read_text())
EARLIER_RATE = 30.0
LEAST_S = 0.03
"""A plant that shares less than this with a stance that a clip's end may cut is that of another."""

Stances = Mapping[str, Sequence[tuple[int, int]]]


def earlier_stances(path: Path, motion: Motion) -> dict[str, list[tuple[int, int]]]:
    """Landings of either foot with the next leaving, in frames of ``motion``.

    At 30 fps by the header's rate, even where that is wrong: so they were counted.
    """
    by_header = quietly_loaded(path)
    coarse = ml.resample(by_header, fps=EARLIER_RATE)
    longer = round(by_header.fps / EARLIER_RATE * motion.n_frames / by_header.n_frames)
    return {
        side: [
            (longer * int(landing), longer * int(leavings[leavings > landing][0]))
            for landing in landings
            if (leavings > landing).any()
        ]
        for side, (landings, leavings) in find_extremes(coarse).items()
    }


def missed_and_doubled(motion: Motion, stances: Stances, least_s: float = 0.0) -> np.ndarray:
    """Stances, those without a ball plant, those with several."""
    plants = ml.detect_footplants(motion).intervals()
    least = max(1.0, least_s * motion.fps)
    counts = np.zeros(3, dtype=int)
    for side, spans in stances.items():
        for first, last in spans:
            shared = [min(b, last) - max(a, first) + 1 for a, b in plants[f"{side}_toe"]]
            inside = sum(frames >= least for frames in shared)
            counts += [1, inside == 0, inside > 1]
    return counts


@pytest.mark.parametrize("gait", ["walk", "run"])
def test_of_the_stances_counted_earlier_one_is_missed_and_one_doubled_at_most(
    mocap: Path, gait: str
) -> None:
    plan = PLAN["earlier"]
    total = np.zeros(3, dtype=int)
    for entry in plan[gait]:
        path = mocap / entry["clip"]
        motion = at_most_60_hz(path, entry.get("fps"))
        total += missed_and_doubled(motion, earlier_stances(path, motion))
    stances, missed, doubled = total
    assert stances == plan["stances"][gait]
    assert missed <= 1
    assert doubled <= 1


@pytest.mark.parametrize(("gait", "stances"), [("walk", 122), ("run", 87)])
def test_in_all_gaits_of_subject_16_no_stance_is_missed_or_doubled(
    mocap: Path, gait: str, stances: int
) -> None:
    total = np.zeros(3, dtype=int)
    for entry in PLAN[gait]:
        motion = at_most_60_hz(mocap / entry["clip"])
        total += missed_and_doubled(motion, find_stances(motion), LEAST_S)
    assert list(total) == [stances, 0, 0]
