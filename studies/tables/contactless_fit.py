"""Whether a score of motions without contacts carries over to subjects that it never saw.

    python -m studies.tables.contactless_fit

Good are captured seconds, bad are blends of three or four windows of the same subject drawn at
random: [I6] had people label such blends, nobody labelled ours. A logistic regression on the mean
logarithm of the joints' largest accelerations is fitted to CMU 143 and measured on 16 and 69;
compared with the largest acceleration of any joint. It does not carry over: blends are smoother
than captured walks and runs, and how lively captured seconds are differs more between subjects.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.tables.collection.frames import Frames, frames_of
from motionloom.tables.evaluation.roc import measure_auc
from motionloom.tables.paper.pose_forms import mean_of_positions
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.score.score import peaks_of
from studies.baselines.logistic import fit_logistic
from studies.captured_clips import mocap
from studies.report import Figure, write_report
from tests.oracles.blend_kernel import track_of

LENGTH_S, COUNT, SEED = 1.0, 250, 4
SUBJECTS = {"143": 60.0, "16": None, "69": None}
"""Subjects, and the rate of those whose files state another; the first is fitted to."""


def subject_frames(folder: Path, subject: str, fps: float | None) -> Frames:
    """Takes of a subject."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = sorted((folder / "cmu_bvh").glob(f"{subject}_*.bvh"))[:24]
        motions = [ml.load(file, fps=fps) if fps else ml.load(file) for file in files]
        named = [m.replace(name=f.stem) for m, f in zip(motions, files, strict=True)]
        return frames_of([ml.resample(m, fps=60.0) for m in named])


def features(frames: Frames) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The feature, the largest acceleration, and whether it is captured, of seconds. (n,) each."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    length = round(LENGTH_S * frames.fps)
    windows = frames.windows(length)
    draws = []
    for number in range(2 * COUNT):
        good = number % 2 == 0
        rows = rng.choice(windows, 1 if good else int(rng.integers(3, 5)))
        recipe = Recipe(tuple(int(row) for row in rows), length)
        body, track = mean_of_positions(frames, recipe, bones=False).body, track_of(frames, recipe)
        cos, sin = np.cos(track.heading)[:, None], np.sin(track.heading)[:, None]
        x, z = body[..., 0], body[..., 2]
        level = track.ground[:, None]
        world = np.stack(
            [cos * x + sin * z + level[..., 0], body[..., 1], cos * z - sin * x + level[..., 1]],
            axis=-1,
        )
        peaks = peaks_of(world, frames.fps)
        draws.append((float(np.log1p(peaks).mean()), float(peaks.max()), good))
    feature, largest, good = (np.array(each) for each in zip(*draws, strict=True))
    return feature, largest, good


def run() -> tuple[list[Figure], dict[str, object]]:
    """All figures, and the fit."""
    folder = mocap()
    if folder is None:
        return [], {"contactless": "real clips not found (set MOTIONLOOM_MOCAP)"}
    figures, about = [], dict[str, object]()
    for number, (subject, fps) in enumerate(SUBJECTS.items()):
        feature, largest, good = features(subject_frames(folder, subject, fps))
        if number == 0:
            model = fit_logistic(feature[:, None], good)
            about["contactless: weight fitted to 143"] = float(model.weights[0] / model.scale[0])
        chance = model.logit(feature[:, None])
        area = measure_auc(good, chance)
        other = measure_auc(good, -largest)
        called = 100.0 * float(np.mean(chance[good.astype(bool)] > 0.0))
        wrong = 100.0 * float(np.mean(chance[~good.astype(bool)] > 0.0))
        figures.append(
            Figure(
                f"contactless score, subject {subject}: area under the ROC curve",
                area.value,
                "",
                "largest acceleration of any joint",
                other.value,
                note=f"{area}; called natural: {called:.0f} % of captured seconds, {wrong:.0f} % "
                f"of blends{' (fitted to these)' if number == 0 else ''}",
            )
        )
    return figures, about


def main() -> int:
    figures, about = run()
    print(about)
    write_report("contactless", figures, about=about)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
