"""What studies share: captured clips, protocols, known warps and bends, errors, bounds."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.motion.edit import sample
from motionloom.motion.motion import Motion, velocities
from motionloom.registration.timewarp import fit_planar_alignment, point_cloud
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform
from motionloom.tables.collection.frames import Frames, frames_of

HERE = Path(__file__).resolve().parent
PROTOCOLS = HERE / "protocols"
Protocol = dict[str, Any]
"""Settings, clips and pairs by name, as JSON holds them."""
FPS = 30.0
"""Errors of timing are in frames at this rate."""
LEADING = 8
"""Frames after the T-pose in which CMU captures can be wrong (trials of the data showed)."""
MOVING_M_S = 0.4
"""Timing is undefined where a body stands: clips for it are cut to where the root goes faster."""


def mocap() -> Path | None:
    configured = os.environ.get("MOTIONLOOM_MOCAP")
    folder = Path(configured) if configured else HERE.parent.parent / "shared" / "mocap"
    return folder if (folder / "INDEX.csv").is_file() else None


def study_settings(name: str) -> tuple[Path, Protocol]:
    """The folder of captured clips, and a study's protocol; ends the study without clips."""
    folder = mocap()
    if folder is None:
        raise SystemExit("The captured clips are not here: set MOTIONLOOM_MOCAP to their folder.")
    warnings.simplefilter("ignore", ml.MotionLoomWarning)
    return folder, protocol(name)


def protocol(name: str) -> Protocol:
    """What a study is asked of, as it was drawn or chosen: a file of ``protocols``."""
    settings: Protocol = json.loads((PROTOCOLS / f"{name}.json").read_text())
    return settings


def generator(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@lru_cache(maxsize=200)
def loaded(folder: Path, name: str) -> Motion:
    """A CMU clip without its bad first frames; subject 143 at the rate it was captured at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fps = 60.0 if name.startswith("143") else None
        return ml.load(folder / "cmu_bvh" / f"{name}.bvh", fps=fps)[LEADING:]


@lru_cache(maxsize=1)
def frames_143(folder: Path) -> Frames:
    """All takes of subject 143 at the rate they were captured at."""
    files = sorted((folder / "cmu_bvh").glob("143_*.bvh"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frames_of([ml.load(f, fps=60.0).replace(name=f.stem) for f in files])


def moving_part(motion: Motion, *, longest: int = 200) -> Motion:
    """The longest stretch at 30 Hz in which the root never stands, at most ``longest`` frames."""
    motion = ml.resample(motion, fps=FPS)
    speed = np.linalg.norm(velocities(motion.root_positions, FPS)[:, [0, 2]], axis=-1)
    goes = np.concatenate([[False], speed > MOVING_M_S, [False]])
    edges = np.flatnonzero(np.diff(goes.astype(int))).reshape(-1, 2)
    first, stop = edges[np.argmax(edges[:, 1] - edges[:, 0])]
    return motion[first : min(stop, first + longest)]


def random_warp(
    n_frames: int, rng: np.random.Generator, *, slopes: tuple[float, float], scale_s: float = 0.7
) -> np.ndarray:
    """Frames of the original at every frame of a copy that runs now slower, now faster. (N,)"""
    n_knots = int(n_frames / (scale_s * FPS * slopes[0])) + 3
    knots = rng.uniform(*slopes, n_knots)
    at = np.arange(int(n_frames / slopes[0]) + 2) / (scale_s * FPS)
    # Cubic ease between knots: smooth, and never outside the slopes asked for.
    k = np.minimum(at.astype(int), n_knots - 2)
    t = np.minimum(at - k, 1.0)
    slope = knots[k] + (3 * t**2 - 2 * t**3) * (knots[k + 1] - knots[k])
    frames = np.concatenate([[0.0], np.cumsum(slope)])
    n = int(np.searchsorted(frames, n_frames - 1))
    return np.asarray(frames[: n + 1] * (n_frames - 1) / frames[n])


def bent(motion: Motion, turn: float) -> Motion:
    """The motion with its path bent by ``turn`` radians in all, evenly along the way."""
    root = motion.root_positions
    steps = np.diff(root, axis=0)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps[:, [0, 2]], axis=-1))])
    theta = turn * way / way[-1]
    moved_root = np.array(root)
    moved_root[1:] = root[0] + np.cumsum(PlanarTransform(theta[:-1], 0.0, 0.0).apply(steps), axis=0)
    moved_root[:, 1] = root[:, 1]
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(PlanarTransform(theta, 0.0, 0.0).quat(), quats[:, 0])
    return motion.replace(root_positions=moved_root, local_quats=quats)


def noisy(motion: Motion, degrees: float, rng: np.random.Generator) -> Motion:
    """The motion with every joint turned at random in every frame."""
    if degrees == 0.0:
        return motion
    turns = np.radians(degrees) * rng.normal(size=(*motion.local_quats.shape[:2], 3))
    return motion.replace(local_quats=quat.multiply(motion.local_quats, quat.exp(turns)))


def moved_anywhere(motion: Motion, rng: np.random.Generator) -> Motion:
    heading, x, z = rng.uniform(-np.pi, np.pi), *rng.uniform(-5.0, 5.0, 2)
    return ml.move(motion, heading=heading, x=x, z=z)


def sampled(motion: Motion, frames: np.ndarray) -> Motion:
    return sample(motion, np.clip(frames, 0.0, motion.n_frames - 1.0))


def cloud(motion: Motion) -> np.ndarray:
    return point_cloud(motion).points


def errors(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Mean distance of matched points (N, P, 3), metres: after one rigid fit, after one a frame."""
    w = np.ones(a.shape[1])
    theta, offset, _ = fit_planar_alignment(
        a.reshape(-1, 3), b.reshape(-1, 3), np.ones(a.shape[0] * a.shape[1])
    )
    whole = PlanarTransform(theta, *offset).apply(b)
    theta, offset, _ = fit_planar_alignment(a, b, w)
    each = PlanarTransform(theta[:, None], offset[:, :1], offset[:, 1:]).apply(b)
    return (
        float(np.linalg.norm(a - whole, axis=-1).mean()),
        float(np.linalg.norm(a - each, axis=-1).mean()),
    )


def rms(values: np.ndarray | Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def bounds(
    rows: Sequence[object] | np.ndarray,
    statistic: Callable[[np.ndarray], float],
    *,
    rounds: int = 1000,
) -> tuple[float, float]:
    """95 % bootstrap bounds of a statistic over clips or pairs, drawn with replacement."""
    rng, rows = generator(95), np.asarray(rows)
    drawn = [statistic(rows[rng.integers(0, len(rows), len(rows))]) for _ in range(rounds)]
    return float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))


def over_takes(values: np.ndarray, takes: np.ndarray, *, rounds: int = 1000) -> tuple[float, float]:
    """95 % bounds of a mean, takes drawn with replacement."""
    rng = generator(95)
    names, which = np.unique(takes, return_inverse=True)
    total = np.bincount(which, weights=values)
    count = np.bincount(which).astype(float)
    drawn = rng.integers(0, len(names), (rounds, len(names)))
    means = total[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def interval_text(low_high: tuple[float, float]) -> str:
    return f"[{low_high[0]:.3g}, {low_high[1]:.3g}]"
