"""Series features: numbers that describe a window of motion, the same for left and right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from studies.measures.body_series import FPS, JOINTS, BodySeries

__all__ = ["Features", "series_features"]

BANDS = ((0.0, 3.0), (3.0, 6.0), (6.0, 10.0), (10.0, 15.0), (15.0, 30.5))
"""Hz."""
SEAM = 3
"""Frames on each side of a seam that count as it."""
LOW_M, SLOW_M_S = 0.05, 0.15
"""A toe is low, or slow, below these."""
NONE = 1e-4


class Features(NamedTuple):
    """Numbers by window."""

    values: FloatArray
    """(n, F)"""
    names: tuple[str, ...]
    """``family: joint, statistic``. (F,)"""


def series_features(series: BodySeries) -> Features:
    """Everything that is measured of windows.

    Families: speed, acceleration, jerk, spin, spectrum (energy of accelerations by band), context
    (relative to the captured frames around), seam (at the two joins), posture, feet, root. Joints
    on both sides of the body give the mean of both and how far they differ.
    """
    inside = slice(series.context, series.joints.shape[1] - series.context)
    size = np.linalg.norm(series.accelerations, axis=-1).astype(np.float64)  # (n, T, 17)
    columns: dict[str, FloatArray] = {}
    columns |= _movement(series, size, inside)
    columns |= _spectrum(series, inside)
    if series.context:
        columns |= _against_context(series, size, inside)
    paired = _both_sides(columns)
    paired |= _feet(series, inside) | _root(series, inside)
    return Features(np.stack(list(paired.values()), axis=1), tuple(paired))


def _movement(series: BodySeries, size: FloatArray, inside: slice) -> dict[str, FloatArray]:
    """Statistics (n, 17) of speed, acceleration, jerk, spin and posture."""
    speed = np.linalg.norm(series.velocities[:, inside], axis=-1)
    hard = size[:, inside]
    jerk = np.linalg.norm(np.diff(series.accelerations[:, inside], axis=1), axis=-1) * FPS
    spin = series.spins[:, inside]
    spread = series.joints[:, inside].std(axis=1)
    return {
        "speed: mean": speed.mean(axis=1),
        "speed: max": speed.max(axis=1),
        "speed: deviation": speed.std(axis=1),
        "acceleration: mean": np.log(hard.mean(axis=1) + NONE),
        "acceleration: max": np.log(hard.max(axis=1) + NONE),
        "acceleration: lowest tenth": np.log(np.quantile(hard, 0.1, axis=1) + NONE),
        "jerk: mean": np.log(jerk.mean(axis=1) + NONE),
        "jerk: max over mean": np.log((jerk.max(axis=1) + NONE) / (jerk.mean(axis=1) + NONE)),
        "spin: mean": spin.mean(axis=1),
        "spin: max": spin.max(axis=1),
        "posture: spread": np.linalg.norm(spread, axis=-1),
        "posture: height": series.joints[:, inside, :, 1].mean(axis=1),
    }


def _spectrum(series: BodySeries, inside: slice) -> dict[str, FloatArray]:
    """Energy (n, 17) of accelerations by band, logarithms; bands that were filtered out are not.

    What is left in those is a shadow of what was there, which logarithms would show.
    """
    signal = series.accelerations[:, inside].astype(np.float64)
    n = signal.shape[1]
    taper = np.hanning(n)[:, None, None]
    power = np.square(np.abs(np.fft.rfft(signal * taper, axis=1))).sum(axis=-1)
    at = np.fft.rfftfreq(n, 1.0 / FPS)
    return {
        f"spectrum: {low:g} to {high:g} Hz": np.log(
            power[:, (at >= low) & (at < high)].mean(axis=1) + NONE
        )
        for low, high in BANDS
        if series.below_hz is None or low < series.below_hz
    }


def _against_context(series: BodySeries, size: FloatArray, inside: slice) -> dict[str, FloatArray]:
    """How (n, 17) the inside compares with the frames around it, and what happens at the seams."""
    total, c = size.shape[1], series.context
    around = np.r_[: c - 1, total - c + 1 : total]
    jerk = np.linalg.norm(np.diff(series.accelerations, axis=1), axis=-1)
    middle = size[:, inside].mean(axis=1)
    columns = {
        "context: acceleration": np.log((middle + NONE) / (size[:, around].mean(axis=1) + NONE)),
        "context: jerk": np.log(
            (jerk[:, inside].mean(axis=1) + NONE) / (jerk[:, around[:-1]].mean(axis=1) + NONE)
        ),
    }
    for name, seam, away in (("first", c, 1), ("last", total - c - 1, -1)):
        near = slice(seam - SEAM, seam + SEAM + 1)
        columns[f"seam: {name}, acceleration"] = np.log(
            (size[:, near].max(axis=1) + NONE) / (middle + NONE)
        )
        after = slice(*sorted((seam + away, seam + 8 * away)))
        before = slice(*sorted((seam - away, seam - 8 * away)))
        columns[f"seam: {name}, jerk inside over outside"] = np.log(
            (jerk[:, after].mean(axis=1) + NONE) / (jerk[:, before].mean(axis=1) + NONE)
        )
    return columns


def _both_sides(columns: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Values (n,) by joint: of pairs the mean of both sides, and how far they differ."""
    out: dict[str, FloatArray] = {}
    for name, values in columns.items():
        family, _, statistic = name.partition(": ")
        for k, joint in enumerate(JOINTS):
            if not joint.startswith(("left_", "right_")):
                out[f"{family}: {joint}, {statistic}"] = values[:, k]
            elif joint.startswith("left_"):
                part = joint.removeprefix("left_")
                other = JOINTS.index(f"right_{part}")
                both = values[:, [k, other]]
                out[f"{family}: {part}, {statistic}"] = both.mean(axis=1)
                out[f"{family}: {part}, {statistic}, sides differ"] = np.abs(both @ [1.0, -1.0])
    return out


def _feet(series: BodySeries, inside: slice) -> dict[str, FloatArray]:
    """Heights and speeds (n,) of toes, flexion of knees."""
    toes = [JOINTS.index("left_toe"), JOINTS.index("right_toe")]
    height = series.joints[:, inside][:, :, toes, 1]
    speed = np.linalg.norm(series.velocities[:, inside][:, :, toes][..., [0, 2]], axis=-1)
    low = height < np.quantile(height, 0.05, axis=1, keepdims=True) + LOW_M
    slide = np.where(low, speed, 0.0).sum(axis=1) / np.maximum(low.sum(axis=1), 1)
    stands = low & (speed < SLOW_M_S)
    flexion = _knee_flexion(series, inside)
    changes = np.abs(np.diff(stands.astype(int), axis=1)).sum(axis=1)
    values = {
        "lowest height": height.min(axis=1),
        "highest height": height.max(axis=1),
        "speed while low": slide,
        "slowest tenth of ground speed": np.quantile(speed, 0.1, axis=1),
        "share of frames planted": stands.mean(axis=1),
        "plants and lifts": changes.astype(np.float64),
        "straightest knee": flexion.min(axis=1),
        "most bent knee": flexion.max(axis=1),
        "fastest knee": np.abs(np.diff(flexion, axis=1)).max(axis=1) * FPS,
    }
    out = {}
    for name, both in values.items():
        out[f"feet: {name}"] = both.mean(axis=1)
        out[f"feet: {name}, sides differ"] = np.abs(both @ [1.0, -1.0])
    lower = height.min(axis=2)
    out["feet: highest of the lower foot"] = lower.max(axis=1)
    out["feet: deviation of the lower foot"] = lower.std(axis=1)
    out["feet: share with both planted"] = stands.all(axis=2).mean(axis=1)
    out["feet: share with one planted"] = stands.any(axis=2).mean(axis=1)
    return out


def _knee_flexion(series: BodySeries, inside: slice) -> FloatArray:
    """Radians, 0 for a straight leg. (n, T, 2)."""
    joints = series.joints[:, inside].astype(np.float64)
    angles = []
    for side in ("left", "right"):
        hip, knee, ankle = (joints[:, :, JOINTS.index(f"{side}_{part}")] for part in
                            ("hip", "knee", "ankle"))  # fmt: skip
        thigh, shank = knee - hip, ankle - knee
        sizes = np.linalg.norm(thigh, axis=-1) * np.linalg.norm(shank, axis=-1)
        angles.append(np.arccos(np.clip((thigh * shank).sum(axis=-1) / sizes, -1.0, 1.0)))
    return np.stack(angles, axis=-1)


def _root(series: BodySeries, inside: slice) -> dict[str, FloatArray]:
    """How (n,) the pelvis goes and the body turns."""
    pace = series.velocities[:, inside, 0].astype(np.float64)
    ground = np.linalg.norm(pace[..., [0, 2]], axis=-1)
    rise = series.joints[:, inside, 0, 1]
    turn = series.turns[:, inside]
    spread = series.joints[:, inside, :, :][:, :, [7, 8]]  # ankles
    stride = np.linalg.norm(spread[:, :, 0, ::2] - spread[:, :, 1, ::2], axis=-1)
    return {
        "root: lowest over mean speed": ground.min(axis=1) / (ground.mean(axis=1) + 0.05),
        "root: deviation of speed": ground.std(axis=1),
        "root: range of height": rise.max(axis=1) - rise.min(axis=1),
        "root: sideways speed": np.abs(pace[..., 0]).mean(axis=1),
        "root: turn, mean": np.abs(turn).mean(axis=1),
        "root: turn, deviation": turn.std(axis=1),
        "root: widest stride": stride.max(axis=1),
        "root: narrowest stride": stride.min(axis=1),
        "root: mean stride": stride.mean(axis=1),
    }
