"""Whether blends of rotations and blends of positions rank recipes alike.

    ./study transitions forms [--pairs N]

[I6] blends joint rotations, [I7] joint positions. Random pairs of windows of CMU subject 143,
random recipes of up to four ways each; every blend is scored by the paper's sum of foot error and
zero moment point, the straightforward way, on the poses of each form. Spearman's rank correlation
over all recipes, and within a pair, where a search would choose among them. And how often time
alignment ([I6], [I7]) of two medoids is anything but frame to frame.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import spearmanr

from motionloom._arrays import FloatArray
from motionloom.body.proportions import mass_segments
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.paper.pose_forms import mean_of_positions, nested_rotations
from motionloom.tables.paper.time_alignment import aligned
from motionloom.tables.score.columns import INCH
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.score.stance import Plants, Stand, measure_balance, plants_of
from motionloom.tables.score.terms import sole_of
from studies.captured_clips import mocap
from studies.report import Figure, write_report
from studies.report import table as report_table
from studies.tables.transitions_reach import frames_143
from tests.oracles.blend_kernel import Track, track_of
from tests.oracles.blend_score import choose_plants, plant_candidates

LENGTH = 60
PAIRS, EACH = 12, 60
EDGE = 8
"""Frames at both ends whose accelerations are not known from the blend alone."""
SEED = 0
CLUSTERS, ALIGNED = 50, 300


def paper_inches(
    frames: Frames, plants: Plants, recipe: Recipe, track: Track, body: FloatArray
) -> float:
    """The paper's sum of a blend with these joints, seen from the body. (L, J, 3)."""
    cos, sin = np.cos(track.heading)[:, None], np.sin(track.heading)[:, None]
    x, z = body[..., 0], body[..., 2]
    world = np.stack(
        [
            cos * x + sin * z + track.ground[:, :1],
            body[..., 1],
            cos * z - sin * x + track.ground[:, 1:],
        ],
        axis=-1,
    )
    toes = [frames.body_map.left_toe, frames.body_map.right_toe]
    feet = world[:, toes][..., [0, 2]]
    candidates, ahead = plant_candidates(frames, plants, recipe.rows, track.heading, track.ground)
    chosen = choose_plants(feet, candidates)
    stands = [
        Stand(p.foot, p.first, p.last, p.place, ahead[p.window, p.foot, p.first]) for p in chosen
    ]
    segments = mass_segments(frames.skeleton.n_joints, frames.body_map)
    sole = sole_of(frames.skeleton, frames.body_map, frames.points[0].astype(np.float64))
    scored = range(EDGE, LENGTH - EDGE)
    centres = segments.centres(world)
    balance = measure_balance(centres, segments.masses, stands, sole, frames.fps, scored)
    lasting = [p.last - p.first + 1 for p in chosen]
    foot = float(np.dot([p.error for p in chosen], lasting)) / max(sum(lasting), 1)
    return (foot + float(balance.outside.max(initial=0.0))) / INCH


def run(*, pairs: int = PAIRS) -> tuple[list[Figure], dict[str, object]]:
    """All figures, and what to say about them."""
    folder = mocap()
    if folder is None:
        return [], {"forms": "real clips not found (set MOTIONLOOM_MOCAP)"}
    frames = frames_143(folder)
    plants = plants_of(frames)
    rng = np.random.Generator(np.random.PCG64(SEED))
    windows = frames.windows(LENGTH)
    scores = np.zeros((pairs, EACH, 3))
    for k in range(pairs):
        source, target = rng.choice(windows, 2)
        for m in range(EACH):
            between = rng.choice(windows, int(rng.integers(0, 3)))
            recipe = Recipe((source, *between, target), LENGTH)
            track = track_of(frames, recipe)
            forms = (
                nested_rotations(frames, recipe).body,
                mean_of_positions(frames, recipe).body,
                mean_of_positions(frames, recipe, bones=False).body,
            )
            scores[k, m] = [paper_inches(frames, plants, recipe, track, body) for body in forms]
    figures = []
    for name, one in (("positions, bones restored", 1), ("plain positions", 2)):
        pooled = spearmanr(scores[..., 0].ravel(), scores[..., one].ravel()).statistic
        within = [spearmanr(scores[k, :, 0], scores[k, :, one]).statistic for k in range(pairs)]
        figures.append(
            Figure(
                f"rotations against {name}: Spearman",
                float(pooled),
                "",
                value_goal=0.96 if one == 1 else None,
                note=f"within a pair {np.mean(within):.3f} (least {np.min(within):.3f}); median "
                f"sums {np.median(scores[..., 0]):.2f} and {np.median(scores[..., one]):.2f} in",
            )
        )
    figures += alignment_figures(frames)
    return figures, {"forms: recipes": f"{pairs} random pairs x {EACH}, 2 to 4 ways, seed {SEED}"}


def alignment_figures(frames: Frames) -> list[Figure]:
    """Random pairs of medoids: how many are matched frame to frame, and how long the others get."""
    medoids = np.asarray(find_clusters(frames, length=LENGTH, clusters=CLUSTERS).medoids)
    rng = np.random.Generator(np.random.PCG64(SEED))
    pairs = [rng.choice(medoids, 2, replace=False) for _ in range(ALIGNED)]
    diagonal = np.tile(np.arange(LENGTH)[:, None], (1, 2))
    figures = []
    for name, borders in (("corner to corner", False), ("from border minima", True)):
        lengths, same = [], 0
        for s, t in pairs:
            times = aligned(frames, Recipe((int(s), int(t)), LENGTH), borders=borders).times
            plain = times is None or np.array_equal(times, diagonal)
            same += plain
            lengths += [] if plain or times is None else [len(times)]
        figures.append(
            Figure(
                f"pairs of medoids that time alignment, {name}, leaves frame to frame",
                100.0 * same / len(pairs),
                "%",
                note=f"{len(pairs)} pairs of {CLUSTERS} medoids; the others take "
                f"{np.median(lengths) if lengths else LENGTH:.0f} frames in the median, not "
                f"{LENGTH}",
            )
        )
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=None, help="only so many")
    options = parser.parse_args()
    figures, about = run(pairs=options.pairs or PAIRS)
    if options.pairs is None:
        write_report("transitions_forms", figures, about=about)
    else:
        print(report_table(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
