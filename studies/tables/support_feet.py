"""Whether the foot that carries the body stays where it is in blends of two captured windows.

    python -m studies.tables.support_feet

Two seconds of one subject, drawn at random among those whose first frames look alike, are blended.
A frame counts as sliding where a ball is low and the slowest low ball moves faster than 30 cm/s.
Compared: captured seconds, the blend as it is, feet held by the plants of single windows (as the
papers do, seams first), and the product, which first holds what most windows agree on where the
blend has it. Subject 143 was looked at while this was written, the others were not.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.body.feet import foot_points
from motionloom.motion.motion import Motion
from motionloom.tables.collection.frames import Frames, clip_speeds, frames_of
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.synthesis import Rig, Synthesis, rig_of, synthesize
from studies.captured_clips import mocap
from studies.report import Figure, write_report
from tests.oracles.synthesis import synthesize as synthesize_plain

COUNT, TRIED, SEED = 120, 40, 5
SUBJECTS = {
    "143": ("cmu_bvh", 60.0),
    "69": ("cmu_bvh", None),
    "16": ("cmu_bvh", None),
    "113": ("audit", None),
    "127": ("audit", None),
}
"""Subjects, their folder, and the rate of those whose files state another."""
LOW_M, FAST = 0.02, 0.30
"""Height above where a ball stands up to which it is low, and from which speed on it slides."""
OURS, SINGLE = "what windows agree on first", "plants of single windows"


def subject_frames(folder: Path, subject: str) -> Frames:
    """Takes of a subject, at 60 Hz."""
    place, fps = SUBJECTS[subject]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = sorted((folder / place).glob(f"{subject}_*.bvh"))[:24]
        motions = [ml.load(file, fps=fps) if fps else ml.load(file) for file in files]
    named = [m.replace(name=f.stem) for m, f in zip(motions, files, strict=True)]
    return frames_of([ml.resample(m, fps=60.0) for m in named])


def drawn_pairs(frames: Frames, length: int) -> list[tuple[int, int]]:
    """Windows, and of some others the one whose first frame is nearest in posture."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    windows = frames.windows(length)
    pairs = []
    for source in rng.choice(windows, COUNT):
        others = rng.choice(windows, TRIED)
        apart = np.linalg.norm(frames.body[others] - frames.body[source], axis=-1).mean(axis=-1)
        apart[np.abs(others - source) < length] = np.inf
        pairs.append((int(source), int(others[np.argmin(apart)])))
    return pairs


def stance_heights(frames: Frames) -> np.ndarray:
    """Where the balls of each clip stand. (C, 2)."""
    heights = np.zeros((frames.n_clips, 2))
    for clip in range(frames.n_clips):
        rows = slice(int(frames.starts[clip]), int(frames.starts[clip + 1]))
        for side, ball in enumerate((1, 3)):
            height, stands = frames.points[rows, ball, 1], frames.planted[rows, ball]
            heights[clip, side] = np.median(height[stands]) if stands.any() else height.min()
    return heights


def sliding_frames(points: np.ndarray, fps: float, heights: np.ndarray) -> np.ndarray:
    """For every frame with a low ball whether the slowest of them slides. (n,)."""
    balls = points[:, [1, 3]]
    speeds = np.linalg.norm(np.diff(balls[..., [0, 2]], axis=0), axis=-1) * fps
    slowest = np.where(balls[1:, :, 1] < heights + LOW_M, speeds, np.inf).min(axis=1)
    return np.asarray(slowest[np.isfinite(slowest)] > FAST)


def points_of(frames: Frames, result: Synthesis) -> np.ndarray:
    """Heels and balls of synthesized frames. (L, 4, 3)."""
    motion = Motion(frames.skeleton, result.root_positions, result.local_quats, frames.fps)
    return np.asarray(foot_points(motion, body=frames.body_map))


def measure(frames: Frames, rig: Rig, pairs: list[tuple[int, int]]) -> dict[str, float]:
    """Share of sliding frames by who made them, per cent."""
    length, heights = round(frames.fps), stance_heights(frames)
    slides: dict[str, list[np.ndarray]] = {}
    for source, target in pairs:
        recipe = Recipe((source, target), length)
        clips = [frames.clip_at(row) for row in recipe.rows]
        floor = heights[clips].max(axis=0)
        speed = max(float(clip_speeds(frames, clip)[0]) for clip in clips)
        captured = foot_points(frames.motion(source, source + length - 1), body=frames.body_map)
        ways = {
            "captured": np.asarray(captured),
            "as blended": points_of(frames, synthesize(frames, recipe, rig=rig, feet=False)),
            SINGLE: points_of(frames, synthesize_plain(frames, recipe, rig, speed, agree=False)),
            OURS: points_of(frames, synthesize(frames, recipe, rig=rig)),
        }
        for name, points in ways.items():
            low = heights[clips[0]] if name == "captured" else floor
            slides.setdefault(name, []).append(sliding_frames(points, frames.fps, low))
    return {name: 100.0 * float(np.concatenate(each).mean()) for name, each in slides.items()}


def main() -> int:
    folder = mocap()
    if folder is None:
        print("real clips not found (set MOTIONLOOM_MOCAP)")
        return 0
    figures = []
    for subject in SUBJECTS:
        frames = subject_frames(folder, subject)
        shares = measure(frames, rig_of(frames), drawn_pairs(frames, round(frames.fps)))
        figures.append(
            Figure(
                f"CMU {subject}: frames on a foot that slides faster than 30 cm/s",
                shares[OURS],
                "%",
                SINGLE,
                shares[SINGLE],
                lower_is_better=True,
                note=f"captured {shares['captured']:.1f}, as blended {shares['as blended']:.1f}; "
                f"{COUNT} blends of two windows",
            )
        )
    write_report("support_feet", figures, about={})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
