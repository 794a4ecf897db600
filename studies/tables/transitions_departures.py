"""Departures from the papers of quick transitions, each switched off: what gets worse, or does not.

    ./study transitions departures

CMU subject 143, 42 takes at 60 Hz. Distances for clusters; time alignment of their medoids, also of
subject 69; weights and steps of random blends; and tables of 24 clusters, ours and the papers',
with 200 random pairs of frames each.
``docs/papers/transitions.md`` names the departures by the numbers that the figures begin with.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import itertools
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest import mock

import numpy as np

import motionloom as ml
from motionloom.tables.collection.frames import Frames
from motionloom.tables.evaluation.trials import random_places
from motionloom.tables.index import clusters, windows
from motionloom.tables.paper import plant_queue, time_alignment
from motionloom.tables.paper.plant_queue import FARTHEST, Plant
from motionloom.tables.paper.pose_forms import nested_rotations
from motionloom.tables.score.recipe import Recipe, rows_at
from studies.captured_clips import mocap
from studies.measures.coverage import measure_spread
from studies.report import Figure, write_report
from studies.tables.natural_candidates import frames_of_subject
from studies.tables.transitions_paper import collection_143
from tests.oracles.blend_kernel import track_of

LENGTH, STRIDE, MEDOIDS = 60, 5, 50
RECIPES, CLUSTERS, PAIRS, SEED = 300, 24, 200, 5
FAST_M_S = 0.5
"""Windows that go at least so fast show how far a blend gets."""

# Clusters: distances and samples


@contextmanager
def _embedded_by(power: float) -> Iterator[None]:
    """Affinities from a power of the distances, by their median as ours."""
    points, measured = clusters._spectral_points, clusters.distances

    def embedding(*arguments: object) -> np.ndarray:
        with mock.patch.object(clusters, "distances", lambda a, b: measured(a, b) ** power):
            return points(*arguments)  # type: ignore[arg-type]

    with mock.patch.object(clusters, "_spectral_points", embedding):
        yield


def cluster_figures(frames: Frames) -> list[Figure]:
    ways: dict[str, Callable[[], object]] = {
        "ours": nullcontext,
        "sum of squares, as in 2007": lambda: _embedded_by(2.0),
        "fourth root of it, as in 2006": lambda: _embedded_by(0.5),
        "every frame compared, 60 Hz": lambda: mock.patch.object(windows, "RATE_HZ", 60.0),
    }
    spread = {}
    for way, switched in ways.items():
        with switched():  # type: ignore[attr-defined]
            clustered = clusters.find_clusters(
                frames, length=LENGTH, clusters=MEDOIDS, stride=STRIDE
            )
        apart = 100.0 * measure_spread(frames, clustered.medoids, length=LENGTH).mean()
        spread[way] = apart, clustered
    return [
        Figure(
            f"departure 16: {way}: nearest of {MEDOIDS} medoids",
            float(spread[way][0]),
            "cm",
            "ours",
            float(spread["ours"][0]),
            lower_is_better=True,
            note=f"clusters of {spread[way][1].sizes[0]} to {spread[way][1].sizes[-1]} windows, "
            f"ours {spread['ours'][1].sizes[0]} to {spread['ours'][1].sizes[-1]}",
        )
        for way in list(ways)[1:]
    ]


# Medoids: time alignment (4)


def alignment_figures(of_subject: dict[str, Frames]) -> list[Figure]:
    """Pairs of medoids whose match from corner to corner is the diagonal, by both costs."""
    figures = []
    for subject, frames in of_subject.items():
        medoids = clusters.find_clusters(
            frames, length=LENGTH, clusters=MEDOIDS, stride=STRIDE
        ).medoids
        grids = [
            time_alignment.match_windows(frames, Recipe(pair, LENGTH))[0]
            for pair in itertools.combinations(np.asarray(medoids).tolist(), 2)
        ]
        root, square = (np.mean([_diagonal(grid**power) for grid in grids]) for power in (1, 2))
        figures.append(
            Figure(
                f"departure 4: matches of {MEDOIDS} medoids that are diagonal, {subject}",
                100.0 * float(root), "%", "squared distances", 100.0 * float(square),
                note=f"{len(grids)} pairs, cost of a frame: the distance of its poses",
            )
        )  # fmt: skip
    return figures


def _diagonal(grid: np.ndarray) -> bool:
    cells = time_alignment.match_grid(grid, borders=False)
    return bool(len(cells) == len(grid) and (cells[:, 0] == cells[:, 1]).all())


# Blends: weights (5) and steps of the root (6)


def blend_figures(frames: Frames) -> list[Figure]:
    rng = np.random.Generator(np.random.PCG64(SEED))
    rows = frames.windows(LENGTH)
    drawn = [tuple(rng.choice(rows, int(rng.integers(2, 5))).tolist()) for _ in range(RECIPES)]
    jumps = {family: [_jump(frames, r, family) for r in drawn] for family in ("bernstein", "eased")}
    way = np.concatenate(
        [[0.0], np.cumsum(np.linalg.norm(np.diff(frames.ground, axis=0), axis=-1))]
    )
    going = rows[way[rows + LENGTH - 1] - way[rows] > FAST_M_S * LENGTH / frames.fps]
    shares = [_ways(frames, tuple(rng.choice(going, 2).tolist())) for _ in range(RECIPES)]
    paper, ours = np.array(shares).T
    return [
        Figure(
            "departure 5: Bernstein weights: speed of a joint changes at the first frame by",
            float(np.median(jumps["bernstein"])),
            "cm/s",
            "eased",
            float(np.median(jumps["eased"])),
            lower_is_better=True,
            note=f"the joint that changes most, median of {RECIPES} blends; 95 % below "
            f"{np.percentile(jumps['bernstein'], 95):.0f} and "
            f"{np.percentile(jumps['eased'], 95):.0f}",
        ),
        Figure(
            "departure 6: steps added as captured: way of a blend over the mean of its windows'",
            float(np.median(paper)),
            "",
            "by the heading",
            float(np.median(ours)),
            note=f"median of {len(shares)} blends of two windows, both faster than {FAST_M_S} m/s; "
            f"one in ten below {np.percentile(paper, 10):.2f} and {np.percentile(ours, 10):.2f}",
        ),
    ]


def _jump(frames: Frames, rows: tuple[int, ...], family: str) -> float:
    """Change of a joint's speed, seen from the body, where the blend leaves its source, cm/s."""
    body = nested_rotations(frames, Recipe(rows, LENGTH, family)).body
    source = frames.body[rows[0] : rows[0] + 2].astype(np.float64)
    off = (body[1] - body[0]) - (source[1] - source[0])
    return 100.0 * frames.fps * float(np.linalg.norm(off, axis=-1).max())


def _ways(frames: Frames, rows: tuple[int, ...]) -> tuple[float, float]:
    """Ways of a blend over the mean of its windows', steps as captured and seen from the body."""
    recipe = Recipe(rows, LENGTH)
    steps = np.diff(frames.ground[rows_at(frames, recipe)], axis=0)  # (L - 1, N, 2)
    mean = float(np.linalg.norm(steps, axis=-1).sum(axis=0).mean())
    added = np.einsum("tnc,nt->tc", steps, recipe.weights()[:, 1:])
    walked = np.diff(track_of(frames, recipe).ground, axis=0)
    paper, ours = (float(np.linalg.norm(each, axis=-1).sum()) / mean for each in (added, walked))
    return paper, ours


# Tables: plants of the papers' table (7, 8), weights of ours (5)


def _frame_by_frame(*arguments: object) -> list[Plant]:
    """Plants only where the foot is near in that very frame."""
    balls = arguments[4]
    plants = []
    for plant in CHOOSE(*arguments):  # type: ignore[arg-type]
        off = np.linalg.norm((balls[plant.first : plant.last + 1] - plant.place)[:, ::2], axis=1)  # type: ignore[index]
        near = np.flatnonzero(np.diff(np.concatenate([[False], off < FARTHEST[2007], [False]])))
        plants += [
            Plant(0.0, plant.first + int(first), plant.first + int(stop) - 1, plant.place)
            for first, stop in near.reshape(-1, 2)
        ]
    return plants


CHOOSE = plant_queue.choose_plants
FEET: dict[str, Callable[[], object]] = {
    "ours": nullcontext,
    "8: decided frame by frame": lambda: mock.patch.object(
        plant_queue, "choose_plants", _frame_by_frame
    ),
    "17: body not lowered": lambda: mock.patch.object(
        plant_queue, "lower_root", lambda rig, positions, *_: np.zeros(len(positions))
    ),
    "17: free feet not lifted, heels not tilted": lambda: mock.patch.object(
        plant_queue, "clear_ground", lambda rows, at, weights, foot, *_: np.zeros(len(at))
    ),
    "17: labels of moving points kept": lambda: mock.patch.object(
        plant_queue, "keep_true_labels", lambda *_: None
    ),
    "17: plants of one frame kept": lambda: mock.patch.object(plant_queue, "CHOSEN_LEAST", 1),
}


def table_figures(folder: Path) -> list[Figure]:
    with tempfile.TemporaryDirectory() as home:
        lib = collection_143(folder, Path(home))

        def built(name: str, **options: object) -> ml.TransitionTable:
            return ml.build_table(
                lib, out=Path(home) / f"{name}.mlt", clusters=CLUSTERS, progress=False, **options
            )  # type: ignore[arg-type]

        paper = built("paper", method="paper")
        places = random_places(paper, PAIRS, seed=SEED)
        figures = []
        ours: tuple[int, str] = 0, ""
        for way, switched in FEET.items():
            with switched():  # type: ignore[attr-defined]
                passed, failed = _checked(paper, places)
            if way == "ours":
                ours = passed, failed
                continue
            figures.append(
                Figure(
                    f"departure {way}: transitions of the papers' table that pass the check",
                    float(passed), f"of {PAIRS}", "ours", float(ours[0]),
                    note=f"failed checks: {failed}; ours: {ours[1]}",
                )
            )  # fmt: skip
        eased, plain = (_checked(built(w, weights=w), places) for w in ("eased", "bernstein"))
        figures.append(
            Figure(
                "departure 5: Bernstein weights in our table: transitions that pass the check",
                float(plain[0]), f"of {PAIRS}", "eased", float(eased[0]),
                note=f"failed checks: {plain[1]}; eased: {eased[1]}",
            )
        )  # fmt: skip
    return figures


def _checked(table: ml.TransitionTable, places: list) -> tuple[int, str]:
    """Transitions that pass the check, and the kinds of checks that others fail, in words."""
    passed, failed = 0, Counter[str]()
    for source, target in places:
        result = table.transition(source, target).verification
        passed += result.passed
        failed.update({each.check for each in result.failed})
    return passed, ", ".join(f"{check} {count}" for check, count in failed.most_common(4)) or "none"


def main() -> int:
    folder = mocap()
    if folder is None:
        print("real clips not found (set MOTIONLOOM_MOCAP)")
        return 0
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as home:
        frames = collection_143(folder, Path(home)).frames
    figures = [
        *cluster_figures(frames),
        *alignment_figures({"143": frames, "69": frames_of_subject(folder, "69")}),
        *blend_figures(frames),
        *table_figures(folder),
    ]
    write_report("transitions_departures", figures, about={})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
