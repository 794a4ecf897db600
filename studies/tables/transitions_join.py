"""Transitions between two frames whose own clips are left out, compared with what was captured.

    ./study transitions join [--windows N]

The seconds of ``protocols/transitions_inbetween.json``: only the frames at both ends of a second
are known, and how they move outside it. The take and its sisters are left out, so that a blend of
the two windows themselves is not possible. Windows are found by their ends alone; where a second
leads over the ground is not asked for. Every method but interpolation then meets both ends in the
same way, by the kernel that the table uses (postures and velocities bent), and is put where the
second starts; what it misses at its end over the ground is spread evenly.

"our table" is what ``table.transition`` makes of the captured windows that it finds between the two
ends: the two nearest, pinned, feet held. Only these can be tried here: a blend of a table begins
with the second after the source and ends with the second before the target, which both are what is
to be found. "with similar blends" takes other blends wherever the table would not call the captured
windows natural: those that a table of the other takes returns between the windows that begin and
end most alike, bent to the ends. How source and target move, which naturalness is relative to, is
read from these windows. "searched" is the best by the table's ranking of all blends of up to so
many windows, over 24 medoids of other takes, between the windows that begin and end most alike.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from motionloom.rotation import quat
from motionloom.tables.choice import Choice
from motionloom.tables.index.contexts import contexts, spans_of
from motionloom.tables.index.neighbours import CAPTURED
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.natural import NATURAL, is_natural
from motionloom.tables.score.recipe import MOST_WAYS, Recipe
from motionloom.tables.synthesis.synthesis import Synthesis, synthesize
from studies.baselines.inertialize import played_window
from studies.baselines.motion_matching import matching_transition
from studies.captured_clips import over_takes, study_settings
from studies.measures.window_batch import WindowBatch
from studies.memory_table import MemoryTable, table_in_memory
from studies.report import Figure, write_report
from studies.tables.inbetween_methods import Bench, Made, Query, queries, window_of
from studies.tables.natural_candidates import GAPS, LENGTH, frames_of_subject
from studies.tables.natural_truth import from_start, seen_joints
from studies.tables.pinning import Pinning
from studies.tables.told_apart_seconds import CONTEXT_S, without

FAMILY = "eased"
SETS = (
    ("143", "report"),
    ("143", "transitions"),
    ("143", "fresh"),
    ("69", "report"),
    ("69", "fresh"),
)
OURS = "our table"
SIMILAR = "our table, with similar blends"
METHODS = (
    OURS,
    SIMILAR,
    "nearest window",
    "2-way",
    "searched, 3 ways",
    "searched, 4 ways",
    "inertialization",
    "motion matching",
    "interpolation",
)
GOAL_CM = 5.0
CLUSTERS = 24
WORDS = {
    "report": "random windows of takes not tuned on",
    "transitions": "windows of transition takes",
    "fresh": "other random windows, drawn after all choices",
}
"""Sets of seconds, in words."""


class Windows:
    """Windows of other takes that begin, end, and both, like a second."""

    def __init__(self, bench: Bench, query: Query) -> None:
        frames, first = bench.frames, np.array([query.row])
        out = spans_of(frames, list(query.left_out))
        start = contexts(frames, first, side="start")[0]
        end = contexts(frames, first + LENGTH - 1, side="end")[0]
        self.start = int(bench.index.nearest(start, None, count=1, exclude=out).rows[0])
        self.end = int(bench.index.nearest(None, end, count=1, exclude=out).rows[0])
        near = bench.index.nearest(start, end, count=CAPTURED, apart=LENGTH // 4, exclude=out)
        self.captured = [int(row) for row in near.rows]


def answers(bench: Bench, at: QueryEngine, query: Query) -> dict[str, Made]:
    """Errors of every method for one second."""
    frames, row = bench.frames, query.row
    windows, ends = Windows(bench, query), (query.row, query.row + LENGTH - 1)

    def searched(ways: int) -> Recipe:
        rows = searched_rows(at, windows, query.left_out, ways=ways)
        return Recipe(rows, LENGTH, FAMILY)

    recipes = {
        "nearest window": Recipe((row, windows.captured[0], row), LENGTH, FAMILY, pinned=True),
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
    batches |= {name: window_of(frames, result.heading, result.root_positions, result.local_quats)
                for name, result in pinned_answers(bench, at, query, windows).items()}  # fmt: skip
    joints = {name: led_to_end(batch, truth) for name, batch in batches.items()}
    joints["interpolation"] = bench.interpolated(query)
    real = seen_joints(truth, every, None)[0]
    return {name: bench.judged(joints[name], real, query) for name in METHODS}


def searched_rows(
    at: QueryEngine, windows: Windows, left_out: tuple[str, ...], *, ways: int
) -> tuple[int, ...]:
    """First rows of the best blend of up to so many windows, over medoids of other takes."""
    source, target = windows.start, windows.end
    medoids = [int(m) for m in at.arrays.medoids if at.frames.place_of(int(m))[0] not in left_out]
    recipes = [(source, target), *((source, a, target) for a in medoids)]
    if ways > 3:
        recipes += [(source, a, b, target) for a in medoids for b in medoids]
    return at.score(recipes).windows(0)


def pinned_answers(
    bench: Bench, engine: QueryEngine, query: Query, windows: Windows
) -> dict[str, Synthesis]:
    """What the table returns, and baselines that are no blends, pinned by the same kernel."""
    frames, ends = bench.frames, (query.row, query.row + LENGTH - 1)
    at = Pinning(frames, bench.rig, LENGTH, round(CONTEXT_S * frames.fps))
    rows = np.arange(windows.captured[0], windows.captured[0] + LENGTH)
    played = played_window(frames, rows, opening=ends[0], closing=ends[1])
    hop = matching_transition(
        bench.matches, *ends, LENGTH, exclude=spans_of(frames, list(query.left_out))
    )
    results = {
        name: at.pinned_motion(
            ends, at.surrounded(frames, each.motion(frames), before=ends[0], after=ends[1])
        )
        for name, each in (("inertialization", played), ("motion matching", hop))
    }
    captured = captured_recipe(query, windows)
    similar = with_similar_blends(bench, engine, query, windows)
    for name, recipe in ((OURS, captured), (SIMILAR, similar)):
        results[name] = synthesize(frames, recipe, rig=bench.rig, ends=ends, feet=True)
    return results


def captured_recipe(query: Query, windows: Windows) -> Recipe:
    """The captured windows that a table finds between the two ends, pinned."""
    return Recipe((query.row, *windows.captured, query.row), LENGTH, FAMILY, pinned=True)


def with_similar_blends(
    bench: Bench, engine: QueryEngine, query: Query, windows: Windows
) -> Recipe:
    """Captured windows where these are natural; else what a table of the other takes returns."""
    frames, captured = bench.frames, captured_recipe(query, windows)
    if is_natural(
        captured_columns(engine, captured), engine.reference((windows.start, windows.end))
    )[0]:
        return captured
    table = table_without(bench, query.left_out)
    source, target = frames.place_of(windows.start), frames.place_of(windows.end + LENGTH - 1)
    chosen = table.transition(source, target, longest_s=LENGTH / frames.fps).recipe
    if chosen.pinned:
        return captured
    rows = tuple(frames.row_of(*table.frames.place_of(row)) for row in chosen.rows)
    return Recipe(rows, LENGTH, chosen.family)


def captured_columns(engine: QueryEngine, recipe: Recipe) -> np.ndarray:
    """What the core measures of captured windows that are pinned. (1, C)."""
    rows = np.full((1, MOST_WAYS), -1, dtype=np.int64)
    rows[0, : len(recipe.rows)] = recipe.rows
    nothing = np.full((1, len(COLUMNS)), np.nan, dtype=np.float32)
    choice = Choice(rows, np.zeros(1), nothing, 0, np.ones(1, dtype=np.bool_))
    return np.array(engine.ranked(choice).columns)


_TABLES: dict[tuple[int, tuple[str, ...]], MemoryTable] = {}


def table_without(bench: Bench, left_out: tuple[str, ...]) -> MemoryTable:
    """The default table of a subject's other takes; those built are kept."""
    key = (id(bench), left_out)
    if key not in _TABLES:
        others = without(bench.frames, left_out)
        _TABLES[key] = table_in_memory(others, length=LENGTH, clusters=CLUSTERS, ranking=NATURAL)
    return _TABLES[key]


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
        less = errors[ours] - errors[other]
        low, high = over_takes(less, takes)
        figures.append(
            Figure(
                f"{label}: error of {ours} less that of {other}",
                float(less.mean()),
                "cm",
                lower_is_better=True,
                value_goal=0.0 if ours == OURS and other != SIMILAR else None,
                note=f"[{low:+.2f}, {high:+.2f}] over takes; nearer in {np.mean(less < 0):.0%}",
            )
        )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--windows", type=int, help="of each set; all by default")
    count = parser.parse_args().windows
    folder, _ = study_settings(GAPS)
    figures: list[Figure] = []
    for subject in dict.fromkeys(subject for subject, _ in SETS):
        bench = Bench(frames_of_subject(folder, subject))
        engine = table_in_memory(
            bench.frames, length=LENGTH, clusters=CLUSTERS, keep=4, ways=(2,), ranking=NATURAL
        ).query_engine
        for key in (key for key in SETS if key[0] == subject):
            asked = queries(bench.frames, subject, key[1], count)
            results = [answers(bench, engine, query) for _, query in asked]
            figures += figures_of(key, results, np.array([take for take, _ in asked]))
    about = {"windows": count or "all", "protocol": f"{GAPS}.json", "medoids": CLUSTERS}
    write_report("transitions_join" + ("" if count is None else "_quick"), figures, about=about)


if __name__ == "__main__":
    main()
