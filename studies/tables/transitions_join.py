"""Transitions between two frames whose own clips are left out, compared with what was captured.

    ./study transitions join [--windows N]

The seconds of ``protocols/transitions_inbetween.json``: only the frames at both ends of a second
are known, and how they move outside it. The take and its sisters are left out, so that a blend of
the two windows themselves is not possible. Windows are found by their ends alone; where a second
leads over the ground is not asked for. Every method then meets both ends in the same way, by the
kernel that the table uses (postures and velocities bent, feet held), and is put where the second
starts; what it misses at its end over the ground is spread evenly.

The table's candidate is the mean of the two nearest windows, pinned. "searched" is the best by the
table's ranking of all blends of up to so many windows, over 24 medoids
of other takes, between the windows that begin and end most alike.
"""

from __future__ import annotations

import dataclasses
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from motionloom.rotation import quat
from motionloom.tables.index.contexts import contexts, spans_of
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.synthesis import synthesize
from studies.measures.window_batch import WindowBatch
from studies.report import Figure
from studies.tables.inbetween_methods import Bench, Made, Query, window_of
from studies.tables.inbetween_plans import WORDS, less_error, report_on, searched_rows
from studies.tables.natural_candidates import LENGTH
from studies.tables.natural_truth import from_start, seen_joints
from studies.tables.transitions_natural import over_takes

FAMILY = "eased"
SETS = (("143", "report"), ("143", "transitions"), ("69", "report"))
OURS = "the table's captured windows"
METHODS = (
    OURS,
    "nearest window",
    "2-way",
    "searched, 3 ways",
    "searched, 4 ways",
    "inertialization",
    "motion matching",
    "interpolation",
)
GOAL_CM = 5.0


class Windows:
    """Windows of other takes that begin, end, and both, like a second."""

    def __init__(self, bench: Bench, query: Query) -> None:
        frames, first = bench.frames, np.array([query.row])
        out = spans_of(frames, list(query.left_out))
        start = contexts(frames, first, side="start")[0]
        end = contexts(frames, first + LENGTH - 1, side="end")[0]
        self.start = int(bench.index.nearest(start, None, count=1, exclude=out).rows[0])
        self.end = int(bench.index.nearest(None, end, count=1, exclude=out).rows[0])
        both = bench.index.nearest(start, end, count=2, apart=LENGTH // 4, exclude=out)
        self.both = [int(row) for row in both.rows]


def answers(bench: Bench, at: QueryEngine, query: Query, out: list[int]) -> dict[str, Made]:
    """Errors of every method for one second."""
    frames, row = bench.frames, query.row
    windows, ends = Windows(bench, query), (query.row, query.row + LENGTH - 1)
    pair = [windows.both[0], windows.both[-1]]

    def searched(ways: int) -> Recipe:
        rows = searched_rows(at, windows.start, windows.end, out, ways=ways)
        return Recipe(rows, LENGTH, FAMILY)

    recipes = {
        OURS: Recipe((row, *pair, row), LENGTH, FAMILY, pinned=True),
        "nearest window": Recipe((row, pair[0], row), LENGTH, FAMILY, pinned=True),
        "2-way": Recipe((windows.start, windows.end), LENGTH, FAMILY),
        "searched, 3 ways": searched(3),
        "searched, 4 ways": searched(4),
    }
    truth = WindowBatch.of_rows(frames, [row], LENGTH)
    every = np.arange(frames.skeleton.n_joints)
    batches = {}
    for name, recipe in recipes.items():
        results = synthesize(frames, recipe, rig=bench.rig, ends=ends)
        batches[name] = window_of(
            frames, results.heading, results.root_positions, results.local_quats
        )
    batches["inertialization"] = bench.inertialized_window(query, pair[0], truth)
    batches["motion matching"] = bench.matched_window(query)
    joints = {name: led_to_end(batch, truth) for name, batch in batches.items()}
    joints["interpolation"] = bench.interpolated(query)
    real = seen_joints(truth, every, None)[0]
    return {name: bench.judged(joints[name], real, query) for name in METHODS}


def led_to_end(results: WindowBatch, truth: WindowBatch) -> np.ndarray:
    """Joints (T, J, 3) seen from the start, turned and moved evenly to end where the truth does.

    Steps are turned with the body: who has to face another way goes there.
    """
    u = np.linspace(0.0, 1.0, LENGTH)
    asked, asked_ground = from_start(truth)
    heading, ground = from_start(results)
    turn = u * (np.mod(asked[0, -1] - heading[0, -1] + np.pi, 2.0 * np.pi) - np.pi)
    x, z = np.diff(ground[0], axis=0).T
    cos, sin = np.cos(turn[:-1]), np.sin(turn[:-1])
    walked = np.zeros((LENGTH, 2))
    walked[1:] = np.cumsum(np.stack([cos * x + sin * z, cos * z - sin * x], axis=1), axis=0)
    walked += u[:, None] * (asked_ground[0, -1] - walked[-1])
    turns = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), heading[0] + turn)
    joints = quat.rotate(turns[:, None], results.body[0].astype(np.float64))
    joints[..., [0, 2]] += walked[:, None]
    return joints


def figures_of(
    key: tuple[str, str], results: list[dict[str, Made]], takes: np.ndarray
) -> list[Figure]:
    """Means, and differences with their bounds over takes."""
    label = f"CMU {key[0]}, {WORDS[key[1]]}"
    errors = {name: np.array([each[name].error for each in results]) for name in METHODS}
    figures = []
    for name in METHODS:
        low, high = over_takes(errors[name], takes)
        figures.append(
            Figure(
                f"{label}: joint error, {name}",
                float(errors[name].mean()),
                "cm",
                lower_is_better=True,
                value_goal=GOAL_CM if name == OURS else None,
                note=f"[{low:.2f}, {high:.2f}] over {len(np.unique(takes))} takes, {len(results)} "
                f"windows; median {np.median(errors[name]):.2f}; low toes "
                f"{np.nanmean([each[name].toes for each in results]):.0f} cm/s",
            )
        )
    pairs = [(OURS, name) for name in METHODS[1:]]
    pairs += [("searched, 3 ways", "2-way"), ("searched, 4 ways", "2-way")]
    for ours, other in pairs:
        less = less_error(label, ours, other, errors[ours] - errors[other], takes)
        figures.append(dataclasses.replace(less, value_goal=0.0 if ours == OURS else None))
    return figures


if __name__ == "__main__":
    report_on("transitions_join", SETS, answers, figures_of)
