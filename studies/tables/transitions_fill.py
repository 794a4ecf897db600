"""A missing second filled, and the same second by a table's transition: which is nearer the truth.

    ./study transitions fill [--windows N]

Windows, takes and sisters are those of ``protocols/transitions_inbetween.json``. ``fill`` knows
both sides of the gap and must meet both. A transition knows a frame to leave and a frame to arrive
at, and where it arrives on the ground is its own affair. It takes the second after the one and
before the other from their clips; here these are cut out, so it gets the captured windows that
begin and end most alike. All recipes of up to 4 ways over 24 medoids are judged by naturalness;
windows of the take and its sisters are left out everywhere. It is measured as it comes, put where
the second starts, and led into the second's end as the other methods are.
"""

from __future__ import annotations

import dataclasses
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from motionloom.motion.kinematics import forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.synthesis.synthesis import Synthesis
from studies.measures.window_batch import WindowBatch
from studies.report import Figure
from studies.tables.inbetween_methods import Bench, Made, Query
from studies.tables.inbetween_plans import WORDS, less_error, report_on, searched_rows
from studies.tables.natural_candidates import LENGTH
from studies.tables.natural_truth import seen_joints
from studies.tables.transitions_natural import over_takes
from tests.oracles.tables import synthesize

WAYS = ("fill", "table's transition, led into the end", "table's transition as it comes")


def seen_from_start(frames, synthesis: Synthesis) -> np.ndarray:
    """Joints (T, J, 3) of a transition as seen from its own start."""
    positions, _ = forward_kinematics(
        frames.skeleton, synthesis.root_positions, synthesis.local_quats
    )
    origin = np.array([synthesis.root_positions[0, 0], 0.0, synthesis.root_positions[0, 2]])
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.array(-synthesis.heading[0]))
    return quat.rotate(turn, positions - origin)


def answers(bench: Bench, at: QueryEngine, query: Query, out: list[int]) -> dict[str, Made]:
    """Errors of both ways for one second."""
    frames, alike = bench.frames, bench.windows(query)
    rows = searched_rows(at, int(alike["start"][0]), int(alike["end"][0]), out)
    every = np.arange(frames.skeleton.n_joints)
    truth = WindowBatch.of_rows(frames, [query.row], LENGTH)
    real = seen_joints(truth, every, None)[0]
    blend = WindowBatch.of_blends(frames, rows, LENGTH, family=at.family)
    joints = (
        bench.filled(query)["fill"],
        seen_joints(blend, every, truth)[0],
        seen_from_start(frames, synthesize(at, rows)),
    )
    by_way = {way: bench.judged(each, real, query) for way, each in zip(WAYS, joints, strict=True)}
    return by_way | {"captured": bench.judged(real, real, query)}


def figures_of(
    key: tuple[str, str], answered: list[dict[str, Made]], takes: np.ndarray
) -> list[Figure]:
    """Means over windows, and the difference with its bounds over takes."""
    label = f"CMU {key[0]}, {WORDS[key[1]]}, take and sisters left out"
    errors = {way: np.array([answer[way].error for answer in answered]) for way in WAYS}
    figures = []
    for way in WAYS:
        low, high = over_takes(errors[way], takes)
        root = np.mean([answer[way].root for answer in answered])
        figures.append(
            Figure(
                f"{label}: joint error, {way}",
                float(errors[way].mean()),
                "cm",
                lower_is_better=True,
                note=f"[{low:.2f}, {high:.2f}] over {len(np.unique(takes))} takes, "
                f"{len(answered)} windows; median {np.median(errors[way]):.2f}; root {root:.1f}",
            )
        )
    for way in (*WAYS, "captured"):
        toes = np.nanmean([answer[way].toes for answer in answered])
        figures.append(
            Figure(f"{label}: speed of low toes, {way}", float(toes), "cm/s", lower_is_better=True)
        )
    for way in WAYS[1:]:
        less = less_error(label, "fill", way, errors["fill"] - errors[way], takes)
        figures.append(dataclasses.replace(less, value_goal=0.0))
    return figures


if __name__ == "__main__":
    report_on("transitions_fill", [("143", which) for which in WORDS], answers, figures_of)
