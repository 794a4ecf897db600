"""Timing: known warps recovered, and plants of different takes mapped on each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.motion.motion import KINDS, Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.timewarp import distance_grid
from studies.captured_clips import (
    FPS,
    bounds,
    cloud,
    generator,
    interval_text,
    loaded,
    moved_anywhere,
    moving_part,
    noisy,
    protocol,
    random_warp,
    rms,
    sampled,
)
from studies.registration.registration_linear import dtw_baselines
from studies.report import Figure

GOALS = {0.0: 0.05, 0.5: 0.12}
GROSS = 8.0
"""Frames at 30 Hz; an event farther off was matched with another step."""


def warp_errors(motion: Motion, degrees: float, *seed: int) -> dict[str, float]:
    """Rms error in frames of every way to find a known warp."""
    plan = protocol("registration_warps")
    rng = generator(*seed)
    frames = random_warp(motion.n_frames, rng, slopes=tuple(plan["slopes"]))
    a = noisy(motion, degrees, rng)
    b = noisy(moved_anywhere(sampled(motion, frames), rng), degrees, rng)
    errors = {}
    for name, refine in (("refined", True), ("default", False)):
        curve = ml.register([a, b], ends="match", refine=refine, footplants=no_plants(a, b))
        pairs = curve.frames(np.linspace(*curve.u_range, 4 * motion.n_frames))
        errors[name] = off(pairs, frames)
    even = np.linspace(0.0, 1.0, len(frames))
    straight = np.stack([even * (motion.n_frames - 1), even * (len(frames) - 1)], axis=-1)
    errors["straight line"] = off(straight, frames)
    points_a, points_b = cloud(a), cloud(b)
    weights = np.ones(points_a.shape[1])
    for half in (0, 2):
        cost = distance_grid(points_a, points_b, weights, half_window=half).cost
        for name, path in dtw_baselines().items():
            errors[f"{name}, {2 * half + 1}-frame grid"] = off(path(cost), frames)
    return errors


def no_plants(*motions: Motion) -> list[ml.Footplants]:
    """Plants do not bear on timing; leaving them out saves their detection."""
    return [ml.Footplants(np.zeros((m.n_frames, 4), dtype=bool)) for m in motions]


def off(pairs: np.ndarray, frames: np.ndarray) -> float:
    return rms(pairs[:, 0] - np.interp(pairs[:, 1], np.arange(len(frames)), frames))


def warp_figures(folder: Path, half: str) -> list[Figure]:
    plan = protocol("registration_warps")
    figures = []
    for degrees, goal in GOALS.items():
        rows = [
            warp_errors(moving_part(loaded(folder, name)), degrees, plan["seed"], number, take)
            for number, name in enumerate(plan[half])
            for take in range(plan["warps_each"])
        ]
        table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        overall = {name: rms(values) for name, values in table.items()}
        baselines = [name for name in overall if "grid" in name]
        best = min(baselines, key=lambda name: overall[name])
        noise = f", {degrees:g} degree noise" if degrees else ""
        per_clip = table["refined"].reshape(len(plan[half]), -1)
        spread = interval_text(bounds(per_clip, rms))
        worst = plan[half][int(np.argmax(per_clip.max(axis=1)))]
        figures.append(
            Figure(
                f"known warp{noise}: rms, refine=True",
                overall["refined"],
                "frames",
                best,
                overall[best],
                lower_is_better=True,
                value_goal=goal,
                note=f"{spread}; {len(plan[half])} clips; median {np.median(per_clip):.3g}, worst "
                f"{per_clip.max():.2g} ({worst})",
            )
        )
        figures.append(
            Figure(
                f"known warp{noise}: rms, default",
                overall["default"],
                "frames",
                "straight line",
                overall["straight line"],
                lower_is_better=True,
                note="; ".join(f"{name} {overall[name]:.2f}" for name in sorted(baselines)),
            )
        )
    return figures


def plant_events(plants: ml.Footplants, n_frames: int) -> dict[tuple[str, str], np.ndarray]:
    """Frames at which a point comes down or goes up inside the clip."""
    events = {}
    for kind in KINDS:
        spans = plants.intervals()[kind]
        for name, side in (("down", 0), ("up", 1)):
            at = np.array([span[side] for span in spans], dtype=np.float64)
            events[kind, name] = at[(at > 0) & (at < n_frames - 1)]
    return events


def mapped_errors(
    curve: RegistrationCurve, plants: list[ml.Footplants], *, part: str, straight: bool
) -> np.ndarray:
    """Distance of every mapped event of A from the nearest of its kind in B, 30 Hz frames.

    ``part`` is "toe" for the balls of the feet, "heel", or empty for both.
    """
    a, b = curve.motions
    per_frame = FPS / a.fps
    ends = curve.frames(np.array(curve.u_range))
    events = [plant_events(p, m.n_frames) for p, m in zip(plants, (a, b), strict=True)]
    errors = []
    for kind, frames in events[0].items():
        if part not in kind[0]:
            continue
        for frame in frames[(frames >= ends[0, 0]) & (frames <= ends[1, 0])]:
            if straight:
                mapped = float(np.interp(frame, ends[:, 0], ends[:, 1]))
            else:
                mapped = float(curve.frames(curve.u_of(0, frame))[1])
            margin = min(mapped, b.n_frames - 1 - mapped) * per_frame
            if margin >= GROSS and len(events[1][kind]):
                errors.append(np.abs(events[1][kind] - mapped).min() * per_frame)
    return np.array(errors)


def one_foot(plants: ml.Footplants, side: str) -> ml.Footplants:
    """The contacts of one foot."""
    planted = np.array(plants.planted)
    planted[:, slice(2, 4) if side == "left" else slice(0, 2)] = False
    return ml.Footplants(planted)


def take_figures(folder: Path, half: str) -> list[Figure]:
    """Plants of one take carried to another, by poses alone and with times drawn to contacts."""
    plan = protocol("registration_takes")
    clips = {name: loaded(folder, name) for name in plan[half]}
    plants = {name: ml.detect_footplants(clip) for name, clip in clips.items()}
    pairs = [(a, b) for k, a in enumerate(plan[half]) for b in plan[half][k + 1 :]]

    def curves(sync: bool, side: str | None = None) -> list[RegistrationCurve]:
        sides = {k: p if side is None else one_foot(p, side) for k, p in plants.items()}
        return [
            ml.register([clips[a], clips[b]], footplants=[sides[a], sides[b]], sync_contacts=sync)
            for a, b in pairs
        ]

    def errors_of(
        registered: list[RegistrationCurve], part: str, straight: bool
    ) -> list[np.ndarray]:
        return [
            mapped_errors(curve, [plants[a], plants[b]], part=part, straight=straight)
            for curve, (a, b) in zip(registered, pairs, strict=True)
        ]

    plain, synced = curves(False), curves(True)
    figures = []
    for part, what in (("toe", "balls of the feet"), ("", "balls and heels")):
        line = errors_of(plain, part, True)
        figures += event_figures(
            f"plants of another take, {what}", errors_of(plain, part, False), line
        )
        figures += event_figures(
            f"plants of another take, sync_contacts, {what}", errors_of(synced, part, False), line
        )
    crossed: list[np.ndarray] = []
    for side, other in (("left", "right"), ("right", "left")):
        crossed += errors_of(curves(True, side), f"{other}_toe", False)
    both = [np.concatenate(errors_of(plain, "toe", False))]
    figures += event_figures(
        "plants of another take, times drawn to the other foot's contacts only", crossed, both,
        baseline="poses alone",
    )  # fmt: skip
    return figures


def event_figures(
    name: str, ours: list[np.ndarray], line: list[np.ndarray], *, baseline: str = "straight line"
) -> list[Figure]:
    """Median error and gross errors, by pairs of clips."""

    def median(some: list[np.ndarray]) -> float:
        values = np.concatenate(some)
        return float(np.median(values[values <= GROSS]))

    def drawn_median(numbers: np.ndarray) -> float:
        return median([ours[int(k)] for k in numbers])

    values, others = np.concatenate(ours), np.concatenate(line)
    gross, line_gross = int((values > GROSS).sum()), int((others > GROSS).sum())
    spread = bounds(np.arange(len(ours)), drawn_median)
    return [
        Figure(
            f"{name}: median error",
            median(ours),
            "frames",
            baseline,
            median(line),
            lower_is_better=True,
            value_goal=0.6,
            note=f"{interval_text(spread)}; {len(ours)} pairs, {len(values)} events; "
            f"rms {rms(values[values <= GROSS]):.2f} and {rms(others[others <= GROSS]):.2f}",
        ),
        Figure(
            f"{name}: gross errors (> 8 frames)",
            100.0 * gross / len(values),
            "%",
            baseline,
            100.0 * line_gross / len(others),
            lower_is_better=True,
            value_goal=100.0 * line_gross / len(others),
            note=f"{gross} of {len(values)} events; {line_gross} of {len(others)} by the baseline",
        ),
    ]
