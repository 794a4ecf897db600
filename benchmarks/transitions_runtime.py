"""What a transition asked of a table costs, and how well its feet and its pace are kept.

    python benchmarks/transitions_runtime.py [--pairs N] [--table FILE]

CMU subject 143, 42 takes at 60 Hz; the pairs are those of ``protocols/transitions_reach.json``.
Without a table file one of 24 medoids is built in memory; times do not depend on the number. Times
are of one process after every pair was asked once, making the motion included. The gate holds
every transition, with 0.2 s of both clips around it, against the whole clips it was made from.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.rotation import quat
from motionloom.tables.collection.labels import Label
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.synthesis import synthesize
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_transition import TableTransition
from report import Figure, write_report
from report import table as report_table
from studies.baselines.inertialize import inertialized_transition
from studies.captured_clips import PROTOCOLS, frames_143, mocap
from studies.memory_table import table_in_memory
from tests.oracles.tables import synthesize as synthesized

LENGTH = 60
LOW_M = 0.025
"""A ball this close to the lowest it gets in the windows is low."""
LABELS = (("143_01", "run"), ("143_42", "run"), ("143_32", "walk"), ("143_38", "walk"))


def table_143(folder: Path) -> TransitionTable:
    frames = frames_143(folder)
    ends = dict(zip(frames.ids, np.diff(frames.starts) - 1, strict=True))
    labels = [Label(clip, name, 0, int(ends[clip])) for clip, name in LABELS]
    return table_in_memory(frames, length=LENGTH, clusters=24, ranking=NATURAL, labels=labels)


def timed(ask: Callable[[int], object], count: int) -> np.ndarray:
    """Milliseconds of each question, once all were asked before."""
    for n in range(count):
        ask(n)
    found = []
    for n in range(count):
        started = time.perf_counter()
        ask(n)
        found.append(time.perf_counter() - started)
    return 1e3 * np.array(found)


def speed_figures(table: TransitionTable, pairs: list, count: int) -> list[Figure]:
    def by(**options: object) -> Callable[[int], object]:
        return lambda n: table.transition(pairs[n][0], pairs[n][1], **options)  # type: ignore[arg-type]

    frames = table.frames
    at = table.query_engine
    recipes = [table.transition(*pair).recipe for pair in pairs[:count]]
    clips = {name: k for k, name in enumerate(frames.ids)}

    def inertialized(n: int) -> object:
        source, target = (frames.row_of(*place) for place in pairs[n])
        return inertialized_transition(frames, source, target, LENGTH)

    def by_registration(n: int) -> object:
        (a, s), (b, t) = pairs[n]
        one, other = (
            frames.motion(int(frames.starts[clips[c]]), int(frames.starts[clips[c] + 1]) - 1)
            for c in (a, b)
        )
        return ml.transition(one, other, at=(s, t), length_s=1.0)

    made = timed(lambda n: synthesized(at, recipes[n].rows), count)
    plain = timed(by(rescore=0), count)
    ways = {
        "transition, as the table has it": (plain, 0.5),
        "transition, 32 recipes re-scored": (timed(by(), count), 1.0),
        "transition to a label": (
            timed(lambda n: table.transition(pairs[n][0], label="run"), count),
            1.0,
        ),
        "transition, recipe refined": (timed(by(search="refine"), min(count, 40)), None),
        "transition by full search, refined": (timed(by(search=True), min(count, 40)), None),
        "inertialization, no feet": (timed(inertialized, count), None),
        "ml.transition at a given place": (_tried(by_registration, min(count, 15)), None),
    }
    figures = [
        Figure("frames alone, of a known recipe", float(np.median(made)), "ms",
               lower_is_better=True, note=_spread(made))
    ]  # fmt: skip
    for name, (times, goal) in ways.items():
        figures.append(
            Figure(
                name,
                float(np.median(times)),
                "ms",
                "paper",
                12.0,
                lower_is_better=True,
                value_goal=goal,
                note=_spread(times),
            )
        )
    return figures


def _tried(ask: Callable[[int], object], count: int) -> np.ndarray:
    """Times of those that exist: near a clip's end ml.transition has no place for a second."""

    def careful(n: int) -> object:
        try:
            return ask(n)
        except ml.MotionLoomError:
            return None

    return timed(careful, count)


def _spread(times: np.ndarray) -> str:
    return f"median of {len(times)}; 95 % under {np.percentile(times, 95):.2f}"


def quality_figures(table: TransitionTable, pairs: list) -> tuple[list[Figure], dict[str, object]]:
    frames, at = table.frames, table.query_engine
    spans = zip(frames.starts[:-1], frames.starts[1:], strict=True)
    clips = {
        name: frames.motion(int(a), int(b) - 1)
        for name, (a, b) in zip(frames.ids, spans, strict=True)
    }
    passed, seams, low, held_speed, natural, notes = [], [], [], [], [], 0
    for src, dst in pairs:
        made = table.transition(src, dst, lead_s=0.2, follow_s=0.2)
        passed.append(made.verification.passed)
        notes += len(made.notes) > 0
        balls = _balls(made.motion, at.rig)
        leaves, enters = src[1] + made.plays[0], dst[1] - made.plays[1]
        seams.append(_seam_gaps(made, balls, clips[src[0]], leaves, clips[dst[0]], enters, at.rig))
        first, last = made.span
        some = balls[first : last + 1]
        speeds = np.linalg.norm(np.diff(some, axis=0), axis=-1) * frames.fps
        flat = np.linalg.norm(np.diff(some[..., ::2], axis=0), axis=-1) * frames.fps
        stands = made.footplants.planted[first : last + 1][:, [1, 3]]
        held_speed += list(speeds[stands[1:] & stands[:-1]])
        for side in range(2):
            points = [frames.points[r : r + LENGTH, 2 * side + 1, 1] for r in made.recipe.rows]
            under = np.min(points) + LOW_M
            height = np.maximum(some[1:, side, 1], some[:-1, side, 1])
            low += list(flat[height < under, side])
        natural.append(made.score.natural)
    gaps = 100.0 * np.array(seams)
    n = len(pairs)
    figures = [
        Figure("transitions that pass verify", 100.0 * np.mean(passed), "%", value_goal=100.0,
               note=f"{n} pairs, each joint against its whole clips; {notes} with a note"),
        Figure("feet at both seams within 1 cm", 100.0 * float(np.mean(gaps.max(axis=1) < 1.0)),
               "%", value_goal=90.0, note=f"farthest {gaps.max():.2g} cm; prototype: median 25"),
        Figure("low-toe speed", 100.0 * float(np.mean(low)), "cm/s", "captured",
               100.0 * _captured_low(table), lower_is_better=True, value_goal=20.0,
               note="prototype 32 to 57; free feet that go fast are lifted over 2.5 cm on purpose"),
        Figure("speed of balls labelled as planted", 100.0 * float(np.mean(held_speed)), "cm/s",
               lower_is_better=True,
               note=f"99 % under {100 * np.percentile(held_speed, 99):.1f}"),
        Figure("called natural by our score", 100.0 * float(np.mean(natural)), "%"),
    ]  # fmt: skip
    return figures, {"runtime: pairs": f"{n} of transitions_reach.json"}


def _balls(motion: ml.Motion, rig: object) -> np.ndarray:
    positions, world = motion.world_pose()
    legs, soles = rig.legs, rig.soles  # type: ignore[attr-defined]
    return np.stack(
        [
            positions[:, legs[s, 2]] + quat.rotate(world[:, legs[s, 2]], soles[s, 1])
            for s in range(2)
        ],
        axis=1,
    )


def _seam_gaps(
    made: TableTransition,
    balls: np.ndarray,
    source: ml.Motion,
    s: int,
    target: ml.Motion,
    t: int,
    rig: object,
) -> tuple[float, float]:
    """How far feet are at the first and last blended frame from where the clips have them, metres.

    The target's are carried over by its root, which the transition ends on.
    """
    first, last = made.span
    start = np.linalg.norm(balls[first] - _balls(source[s : s + 1], rig)[0], axis=-1).max()
    own = _balls(target[t : t + 1], rig)[0] - target.root_positions[t]
    turn = quat.multiply(made.motion.local_quats[last, 0], quat.conjugate(target.local_quats[t, 0]))
    carried = made.motion.root_positions[last] + quat.rotate(turn[None], own)
    return float(start), float(np.linalg.norm(balls[last] - carried, axis=-1).max())


def _captured_low(table: TransitionTable) -> float:
    """The same speed in captured windows, m/s."""
    frames = table.frames
    at = table.query_engine
    speeds: list[float] = []
    for row in frames.windows(LENGTH, stride=97):
        whole = synthesize(frames, Recipe((int(row),), LENGTH), rig=at.rig, feet=False)
        balls = _balls(whole.motion(frames), at.rig)
        flat = np.linalg.norm(np.diff(balls[..., ::2], axis=0), axis=-1) * frames.fps
        for side in range(2):
            under = frames.points[row : row + LENGTH, 2 * side + 1, 1].min() + LOW_M
            height = np.maximum(balls[1:, side, 1], balls[:-1, side, 1])
            speeds += list(flat[height < under, side])
    return float(np.mean(speeds))


def run(
    *, count: int | None = None, table: TransitionTable | None = None
) -> tuple[list[Figure], dict[str, object]]:
    """All figures, and what to say about them."""
    folder = mocap()
    if folder is None:
        return [], {"runtime": "real clips not found (set MOTIONLOOM_MOCAP)"}
    table = table_143(folder) if table is None else table
    asked = json.loads((PROTOCOLS / "transitions_reach.json").read_text())["pairs"][:count]
    pairs = [((a, s), (b, t)) for a, s, b, t in asked]
    figures = speed_figures(table, pairs, min(200, len(pairs)))
    more, about = quality_figures(table, pairs)
    of = f"{len(table.medoids)} clusters, {len(table.ends)} representatives"
    return figures + more, {**about, "runtime: table": of}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=None, help="only the first so many")
    parser.add_argument("--table", type=Path, default=None, help="a table of the takes")
    options = parser.parse_args()
    table = None if options.table is None else ml.TransitionTable.open(options.table)
    figures, about = run(count=options.pairs, table=table)
    if options.pairs is None:
        write_report("transitions_runtime", figures, about=about)
    else:
        print(report_table(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
