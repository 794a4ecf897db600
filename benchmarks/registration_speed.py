"""Speed: every part next to a peer or the plain numpy form, in turns, best of several rounds."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.timewarp import (
    LongGrid,
    distance_grid,
    find_corner_path,
    find_long_path,
    point_cloud,
)
from report import Figure, write_report
from studies.captured_clips import FPS, cloud, generator, loaded, mocap, protocol
from studies.registration.registration_linear import dtw_baselines

ROUNDS = 40
"""Other work on the machine only ever makes a round slower, so many are taken."""
N_FRAMES, N_POINTS, HALF_WINDOW = 600, 40, 2


def best_of(*jobs: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Seconds of each job: the best of several rounds in turns, after one that is not counted."""
    taken = np.full((rounds, len(jobs)), np.inf)
    for job in jobs:
        job()
    for row in taken:
        for k, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            row[k] = time.perf_counter() - start
    return [float(seconds) for seconds in taken.min(axis=0)]


def numpy_grid(
    a: np.ndarray, b: np.ndarray, weights: np.ndarray, half_window: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distance, turn and slide of all cells as numpy writes them: products, then shifted sums."""
    k, w = half_window, weights / weights.sum()
    v = np.full(2 * k + 1, 1.0 / (2 * k + 1))  # weights of the window's frames
    root = np.sqrt(w)[:, None]
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a * root, -1, 0), np.moveaxis(b * root, -1, 0)

    def diagonals(product: np.ndarray) -> np.ndarray:
        n, m = product.shape
        padded = np.pad(product, k, mode="edge")
        return sum(v[d] * padded[d : d + n, d : d + m] for d in range(2 * k + 1))

    def windows(row: np.ndarray) -> np.ndarray:
        padded = np.pad(row, k, mode="edge")
        return sum(v[d] * padded[d : d + len(row)] for d in range(2 * k + 1))

    dots = diagonals(np.hstack([ax, az]) @ np.hstack([bx, bz]).T)
    crosses = diagonals(np.hstack([ax, -az]) @ np.hstack([bz, bx]).T)
    heights = diagonals(ay @ by.T)
    (xa, za), (xb, zb) = ((windows(p[..., 0] @ w), windows(p[..., 2] @ w)) for p in (a, b))
    spread_a = windows((ax**2 + ay**2 + az**2).sum(axis=1)) - xa**2 - za**2
    spread_b = windows((bx**2 + by**2 + bz**2).sum(axis=1)) - xb**2 - zb**2
    dots = dots - np.outer(xa, xb) - np.outer(za, zb)
    crosses = crosses - np.outer(xa, zb) + np.outer(za, xb)
    left = spread_a[:, None] + spread_b - 2.0 * heights - 2.0 * np.hypot(crosses, dots)
    theta = np.arctan2(crosses, dots)
    cos, sin = np.cos(theta), np.sin(theta)
    x0 = xa[:, None] - cos * xb - sin * zb
    z0 = za[:, None] + sin * xb - cos * zb
    return np.maximum(left, 0.0), theta, x0, z0


def wandering_points(n_frames: int, *seed: int) -> np.ndarray:
    steps = generator(*seed).normal(size=(n_frames, N_POINTS, 3))
    return np.cumsum(0.01 * steps, axis=0)


def long_walk(n_frames: int, *, turn: float = 0.0, fps: float = FPS) -> Motion:
    """An embedded walk of so many frames, a lap after a lap."""
    clip = ml.resample(
        ml.synthetic.clip("walk", turn=turn, duration_s=n_frames / fps + 1.0).motion, fps=fps
    )
    return clip[:n_frames]


def grid_figures() -> list[Figure]:
    a, b = wandering_points(N_FRAMES, 1), wandering_points(N_FRAMES, 2)
    weights = np.ones(N_POINTS)
    ours = distance_grid(a, b, weights, half_window=HALF_WINDOW)
    plain = numpy_grid(a, b, weights, HALF_WINDOW)
    assert np.allclose(ours.cost, plain[0], atol=1e-9), "the plain form means something else"
    baselines = dtw_baselines()
    jobs: list[Callable[[], object]] = [
        lambda: distance_grid(a, b, weights, half_window=HALF_WINDOW),
        lambda: numpy_grid(a, b, weights, HALF_WINDOW),
        lambda: find_corner_path(ours.cost),
        *(lambda path=path: path(ours.cost) for path in baselines.values()),
    ]
    grid, numpy_form, path, *theirs = (1e3 * seconds for seconds in best_of(*jobs))
    size = f"{N_FRAMES} x {N_FRAMES}"
    return [
        Figure(
            f"grid {size}, {N_POINTS} points x {2 * HALF_WINDOW + 1} frames",
            grid,
            "ms",
            "numpy form",
            numpy_form,
            lower_is_better=True,
            ratio_goal=10.0,
        ),
        *(
            Figure(
                f"DTW {size}, slope limit 3",
                path,
                "ms",
                name,
                seconds,
                lower_is_better=True,
                ratio_goal=1.0 if name in ("tslearn", "librosa") else None,
            )
            for name, seconds in zip(baselines, theirs, strict=True)
        ),
    ]


def register_figures() -> list[Figure]:
    a, b = long_walk(N_FRAMES), long_walk(N_FRAMES, turn=0.3)
    clouds = [point_cloud(m) for m in (a, b)]
    plants = [ml.detect_footplants(m) for m in (a, b)]
    whole, given, grid = (
        1e3 * seconds
        for seconds in best_of(
            lambda: ml.register([a, b]),
            lambda: ml.register([a, b], footplants=plants),
            lambda: distance_grid(
                clouds[0].points, clouds[1].points, clouds[0].weights, half_window=HALF_WINDOW
            ),
        )
    )
    n_points = clouds[0].points.shape[1]
    return [
        Figure(
            f"register two clips of {N_FRAMES} frames at 30 Hz, plants given, over the grid's time",
            given / grid,
            "x",
            lower_is_better=True,
            value_goal=3.0,
            note=f"{given:.1f} ms, grid of {n_points} points {grid:.1f} ms",
        ),
        Figure(
            f"register two clips of {N_FRAMES} frames at 30 Hz, plants detected",
            whole / grid,
            "x",
            lower_is_better=True,
            note=f"{whole:.1f} ms",
        ),
    ]


def blend_figures(folder: Path | None) -> list[Figure]:
    if folder is None:
        walks = [long_walk(N_FRAMES, turn=turn) for turn in (-0.6, -0.2, 0.2, 0.6)]
    else:
        walks = [loaded(folder, name) for name in ("69_01", "69_03", "69_04", "69_05")]
    curve = ml.register(walks)
    n_joints = walks[0].skeleton.n_joints
    weights = [0.4, 0.3, 0.2, 0.1]
    n = len(ml.blend(curve, weights, clean=False).u)
    (batch,) = best_of(lambda: ml.blend(curve, weights, clean=False), rounds=3 * ROUNDS)
    wall, own = live_steps(curve)
    (middle, slow), (own_middle, own_slow) = (np.quantile(t, [0.5, 0.99]) for t in (wall, own))
    name = f"control step, 4 clips, {n_joints} joints"
    return [
        Figure(
            f"blend of 4 clips, {n_joints} joints, per pose in a batch",
            1e6 * batch / n,
            "us",
            lower_is_better=True,
            value_goal=15.0,
            note=f"{n} poses, everything from weights to Motion and its plants",
        ),
        Figure(
            f"{name}: p99",
            float(slow),
            "ms",
            lower_is_better=True,
            value_goal=0.2,
            note=f"feet held; {own_slow:.3f} ms of its own processor time",
        ),
        Figure(
            f"{name}: p50",
            float(middle),
            "ms",
            lower_is_better=True,
            note=f"{own_middle:.3f} ms of its own processor time",
        ),
    ]


def live_steps(curve: RegistrationCurve) -> tuple[list[float], list[float]]:
    """Milliseconds of every step of a steered blend: on the clock, and of its own thread."""
    live = ml.control(curve)
    weights = generator(4).dirichlet(np.ones(len(curve.motions)), 4000)
    wall, own = [], []
    for w in weights:
        start, own_start = time.perf_counter(), time.thread_time()
        live.step(w)
        own.append(1e3 * (time.thread_time() - own_start))
        wall.append(1e3 * (time.perf_counter() - start))
    return wall[1000:], own[1000:]  # the first laps fill caches


def cleanup_figures() -> list[Figure]:
    from motionloom.motion.corrupt import corrupt

    walk = long_walk(1200, fps=60.0)
    plants = ml.detect_footplants(walk)
    skated = corrupt(walk, travel=1.15)
    (seconds,) = best_of(lambda: ml.clean_footskate(skated, plants))
    return [
        Figure(
            "clean-up per frame, plants given",
            1e3 * seconds / walk.n_frames,
            "ms",
            lower_is_better=True,
            value_goal=0.02,
            note=f"{walk.n_frames} frames",
        )
    ]


def growth_figures() -> list[Figure]:
    """How cost grows when the frames double; 2 is linear, 4 quadratic."""
    short, long = (
        [long_walk(n, turn=turn) for turn in (0.0, 0.3)] for n in (N_FRAMES, 2 * N_FRAMES)
    )
    curves = [ml.register(pair) for pair in (short, long)]
    plants = [ml.detect_footplants(pair[0]) for pair in (short, long)]
    weights = np.ones(N_POINTS)
    points = [wandering_points(n, 3) for n in (N_FRAMES, 2 * N_FRAMES)]
    parts: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "blend": tuple(lambda c=c: ml.blend(c, [0.5, 0.5], clean=False) for c in curves),  # type: ignore[dict-item]
        "clean-up": tuple(  # type: ignore[dict-item]
            lambda m=m[0], p=p: ml.clean_footskate(m, p)
            for m, p in zip((short, long), plants, strict=True)
        ),
        "plants": tuple(lambda m=m[0]: ml.detect_footplants(m) for m in (short, long)),  # type: ignore[dict-item]
        "grid": tuple(lambda p=p: distance_grid(p, p, weights) for p in points),  # type: ignore[dict-item]
    }
    figures = []
    for name, (once, twice) in parts.items():
        first, second = best_of(once, twice, rounds=9)
        figures.append(
            Figure(
                f"{name}: time with twice the frames",
                second / first,
                "x",
                lower_is_better=True,
                value_goal=None if name == "grid" else 2.5,
                note=f"{1e3 * first:.1f} and {1e3 * second:.1f} ms",
            )
        )
    return figures


def long_figures(folder: Path | None) -> list[Figure]:
    """A path found piece by piece next to the whole grid's, and ten minutes against ten."""
    figures = []
    if folder is not None:
        plan = protocol("registration_long")
        a, b = (
            np.concatenate([cloud(ml.resample(loaded(folder, n), fps=FPS)) for n in plan[which]])
            for which in ("first", "second")
        )
        whole = find_corner_path(distance_grid(a, b, np.ones(a.shape[1])).cost)
        grid = LongGrid(a, b, np.ones(a.shape[1]), HALF_WINDOW)
        path = find_long_path(
            grid, find_corner_path, slope_limit=3, to_corner=True, most_cells=len(a) * len(b) // 25
        )
        same = set(map(tuple, whole.cells.tolist())) & set(map(tuple, path.cells.tolist()))
        figures.append(
            Figure(
                "long clips, piece by piece: cells in common with the whole grid's path",
                100.0 * len(same) / len(whole.cells),
                "%",
                value_goal=100.0,
                note=f"{len(a)} and {len(b)} real frames, coarse by 5",
            )
        )
    script = (
        "import time, tracemalloc, motionloom as ml, registration_speed as s\n"
        "a, b = (s.long_walk(18000, turn=t) for t in (0.0, 0.01))\n"
        "plants = [ml.Footplants(s.np.zeros((18000, 4), dtype=bool))] * 2\n"
        "tracemalloc.start()\n"
        "start = time.perf_counter()\n"
        "ml.register([a, b], footplants=plants)\n"
        "taken = time.perf_counter() - start\n"
        "print(tracemalloc.get_traced_memory()[1] / 1e6, taken)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    megabytes, seconds = (float(word) for word in done.stdout.split())
    figures.append(
        Figure(
            "ten minutes against ten minutes at 30 Hz: memory",
            megabytes,
            "MB",
            "whole grid",
            3 * 18000**2 * 8 / 1e6,
            lower_is_better=True,
            note=f"{seconds:.1f} s",
        )
    )
    return figures


def speed_figures(folder: Path | None) -> list[Figure]:
    return [
        *grid_figures(),
        *register_figures(),
        *blend_figures(folder),
        *cleanup_figures(),
        *growth_figures(),
        *long_figures(folder),
    ]


def main() -> int:
    figures = speed_figures(mocap())
    about = {"rounds": f"best of {ROUNDS} in turns, one thread for matrix products"}
    write_report("registration_speed", figures, about=about)
    return 0 if all(figure.met is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
