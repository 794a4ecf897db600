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

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from motionloom.motion.kinematics import forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.synthesis.synthesis import Synthesis
from studies.captured_clips import mocap
from studies.measures.window_batch import WindowBatch
from studies.report import Figure, write_report
from studies.tables.inbetween_methods import Bench, Made, Query
from studies.tables.inbetween_plans import CLUSTERS, WORDS, Plan, searched_rows
from studies.tables.natural_candidates import GAPS, LENGTH
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


def figures_of(windows: str, answered: list[dict[str, Made]], takes: np.ndarray) -> list[Figure]:
    """Means over windows, and the difference with its bounds over takes."""
    label = f"CMU 143, {WORDS[windows]}, take and sisters left out"
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
        less = errors["fill"] - errors[way]
        low, high = over_takes(less, takes)
        figures.append(
            Figure(
                f"{label}: error of fill less that of {way}",
                float(less.mean()),
                "cm",
                lower_is_better=True,
                value_goal=0.0,
                note=f"[{low:+.2f}, {high:+.2f}] over takes; nearer in {np.mean(less < 0):.0%}",
            )
        )
    return figures


def run(windows: int | None = None) -> list[Figure]:
    """All figures; none without the real clips."""
    folder = mocap()
    if folder is None:
        print("No real clips: set MOTIONLOOM_MOCAP.")
        return []
    plan = Plan(folder, "143")
    figures: list[Figure] = []
    for which in WORDS:
        answered, takes = [], []
        for name, query, out in plan.queries(which, windows):
            answered.append(answers(plan.bench, plan.engine, query, out))
            takes.append(name)
        figures += figures_of(which, answered, np.array(takes))
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--windows", type=int)
    asked = parser.parse_args()
    write_report(
        "transitions_fill",
        run(asked.windows),
        about={"windows": asked.windows or "all", "protocol": GAPS.name, "medoids": CLUSTERS},
    )
