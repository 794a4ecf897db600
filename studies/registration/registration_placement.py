"""Placement: clips bent both ways give themselves back; held-out clips rebuilt from neighbours."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.timewarp import distance_grid
from studies.captured_clips import (
    FPS,
    bent,
    bounds,
    cloud,
    errors,
    generator,
    interval_text,
    loaded,
    protocol,
    random_warp,
    sampled,
)
from studies.registration.registration_linear import linear_blend, one_fit, straight_times
from studies.report import Figure

WEIGHTS = np.linspace(0.0, 1.0, 11)


class Bent:
    """A clip, its two bent and warped copies, and their curve."""

    def __init__(self, folder: Path, name: str, number: int) -> None:
        plan = protocol("registration_bends")
        rng = generator(plan["seed"], number)
        self.clip = ml.resample(loaded(folder, name), fps=FPS)
        self.warps = [
            random_warp(self.clip.n_frames, rng, slopes=tuple(plan["slopes"])) for _ in range(2)
        ]
        self.copies = [
            sampled(bent(self.clip, side * plan["turn_rad"]), frames)
            for side, frames in zip((1, -1), self.warps, strict=True)
        ]
        self.curve = ml.register(self.copies, ends="match")

    def original_frames(self, frames: np.ndarray) -> np.ndarray:
        """Mean position of the copies in the clip, at their own frames (N, 2)."""
        each = [
            np.interp(frames[:, k], np.arange(len(warp)), warp) for k, warp in enumerate(self.warps)
        ]
        return np.asarray(np.mean(each, axis=0))

    def blend_errors(self, curve: RegistrationCurve) -> tuple[float, float]:
        blended = ml.blend(curve, [0.5, 0.5], clean=False)
        truth = sampled(self.clip, self.original_frames(blended.curve.frames(blended.u)))
        return errors(cloud(truth), cloud(blended.motion))

    def linear_errors(self) -> tuple[float, float]:
        blended = linear_blend(self.copies, [0.5, 0.5])
        frames = np.repeat(np.arange(blended.n_frames)[:, None], 2, axis=1)
        return errors(cloud(sampled(self.clip, self.original_frames(frames))), cloud(blended))


def bend_figures(folder: Path, half: str) -> list[Figure]:
    """Against linear blending, and with each step left out."""
    plan = protocol("registration_bends")
    rows: dict[str, list[tuple[float, float]]] = {}
    for number, name in enumerate(plan[half]):
        case = Bent(folder, name, number)
        errors = {
            "ours": case.blend_errors(case.curve),
            "linear": case.linear_errors(),
            "without time warp": case.blend_errors(straight_times(case.curve)),
            "without alignment curve": case.blend_errors(one_fit(case.curve)),
        }
        for key, value in errors.items():
            rows.setdefault(key, []).append(value)
    cm = {key: 100.0 * np.array(values) for key, values in rows.items()}  # (clips, world/pose)
    left_out = [key for key in cm if key.startswith("without")]
    figures = []
    for column, (what, goal) in enumerate((("world", 0.06), ("pose", 0.2))):
        ours, linear = cm["ours"][:, column], cm["linear"][:, column]
        spread = bounds(np.stack([ours, linear], axis=-1), ratio_of_means)
        figures.append(
            Figure(
                f"bent both ways, half and half: {what} error over linear's",
                ratio_of_means(np.stack([ours, linear], axis=-1)),
                "",
                lower_is_better=True,
                value_goal=goal,
                note=f"{interval_text(spread)}; {len(ours)} clips; {ours.mean():.2f} and "
                f"{linear.mean():.2f} cm",
            )
        )
        figures += [
            Figure(
                f"  {key}: {what} error",
                float(cm[key][:, column].mean()),
                "cm",
                "all steps",
                float(ours.mean()),
                lower_is_better=True,
            )
            for key in left_out
        ]
    return figures


def ratio_of_means(rows: np.ndarray) -> float:
    return float(rows[:, 0].mean() / rows[:, 1].mean())


def rebuilt_error(target: np.ndarray, rebuilt: Motion) -> float:
    """World error of a result against the target's points (N, P, 3), where it fits best.

    The result may start anywhere: librosa's open-ended DTW finds where, and forgives timing for
    every method alike; one rigid fit then places it.
    """
    import librosa

    points = cloud(rebuilt)
    cost = distance_grid(target, points, np.ones(target.shape[1])).cost
    path = librosa.sequence.dtw(C=cost, subseq=True)[1][::-1]
    return errors(target[path[:, 0]], points[path[:, 1]])[0]


def rebuild(folder: Path, target: str, neighbours: list[str], part: float) -> dict[str, float]:
    """World errors, metres, of a held-out clip's middle rebuilt from two neighbours."""
    clip, a, b = (ml.resample(loaded(folder, n), fps=FPS) for n in (target, *neighbours))
    curve = ml.register([a, b])
    weights = [[1.0 - w, w] for w in WEIGHTS]
    blended = [ml.blend(curve, w, clean=False).motion for w in weights]
    linear = [linear_blend([a, b], w) for w in weights]
    # The same frames for everyone: as many as the shortest result can cover.
    n = int(part * min(m.n_frames for m in [*blended, *linear]))
    first = (clip.n_frames - n) // 2
    held_out = cloud(clip[max(first, 0) : first + n])
    ours = [rebuilt_error(held_out, m) for m in blended]
    theirs = [rebuilt_error(held_out, m) for m in linear]
    equal = len(WEIGHTS) // 2
    return {
        "best": min(ours),
        "equal": ours[equal],
        "linear best": min(theirs),
        "linear equal": theirs[equal],
    }


def rebuild_figures(folder: Path) -> list[Figure]:
    plan = protocol("registration_rebuilds")
    rows = [rebuild(folder, case["held_out"], case["from"], plan["part"]) for case in plan["cases"]]
    figures = []
    for name, goal in (("best", 0.75), ("equal", 0.45)):
        pair = np.array([[row[name], row[f"linear {name}"]] for row in rows])
        middle = float(np.median(pair[:, 0] / pair[:, 1]))
        figures.append(
            Figure(
                f"held-out clips rebuilt, {name} weights: world error over linear's",
                ratio_of_means(pair),
                "",
                lower_is_better=True,
                value_goal=goal,
                note=f"{interval_text(bounds(pair, ratio_of_means))}; {len(pair)} cases; "
                f"{100 * pair[:, 0].mean():.1f} and {100 * pair[:, 1].mean():.1f} cm; median of "
                f"ratios {middle:.2f}",
            )
        )
    return figures
