"""Punches and kicks asked for by where they reach: error of the blend, of linear weights, of the
nearest clip."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import motionloom as ml
from studies.captured_clips import Protocol, bounds, errors, interval_text, protocol, sampled
from studies.report import Figure

WAYS = ("measured", "linear weights", "nearest clip")


class Family(NamedTuple):
    """Examples of one action, and what is measured of them."""

    motions: list[ml.Motion]
    names: tuple[str, ...]


class Asked(NamedTuple):
    """Asked values, and what each way to answer them has. Degrees and centimetres, (P,)."""

    wanted: np.ndarray
    got: dict[str, np.ndarray]
    blend: ml.Blend


def family(folder: Path, plan: Protocol) -> Family:
    motions = []
    for file, peak, mirrored in plan["examples"]:
        whole = ml.load(folder / file, fps=60.0 if "143_" in file else None)
        first = max(0, round(peak - plan["before_s"] * whole.fps))
        part = whole[first : round(peak + plan["after_s"] * whole.fps)]
        motions.append(ml.mirror(part) if mirrored else part)
    return Family(motions, tuple(f"{plan['end']}.{name}" for name in plan["names"]))


def in_units(values: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Radians in degrees, metres in centimetres."""
    factors = [180.0 / np.pi if name.endswith("direction") else 100.0 for name in names]
    return np.asarray(values) * factors


def answers(
    curve: ml.RegistrationCurve, names: tuple[str, ...], wanted: list[np.ndarray]
) -> list[Asked]:
    """What blends have that are asked for values in the region of the examples."""
    space = ml.parametrize(curve, list(names))
    n = len(curve.motions)
    own = space.values[:n]
    linear = ml.parametrize(curve, dict(zip(names, own.T.tolist(), strict=True)))
    scale = np.maximum(np.ptp(own, axis=0), 1e-9)
    asked = []
    for values in wanted:
        point = dict(zip(names, values.tolist(), strict=True))
        blends = [ml.blend(curve, each.weights(clamp=True, **point)) for each in (space, linear)]
        got = [_measured(blend.motion, names) for blend in blends]
        nearest = int(np.argmin(np.linalg.norm((own - values) / scale, axis=1)))
        rows = [in_units(row, names) for row in (*got, own[nearest])]
        asked.append(Asked(in_units(values, names), dict(zip(WAYS, rows, strict=True)), blends[0]))
    return asked


def _measured(motion: ml.Motion, names: tuple[str, ...]) -> np.ndarray:
    return np.array([ml.measure(motion, name) for name in names])


def grid_of(curve: ml.RegistrationCurve, names: tuple[str, ...], n: int) -> list[np.ndarray]:
    """Values on a grid over the examples' ranges that their blends can reach."""
    space = ml.parametrize(curve, list(names))
    axes = [np.linspace(*space.range(name), n + 2)[1:-1] for name in names]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(names))
    return [p for p in points if space.contains(**dict(zip(names, p.tolist(), strict=True)))]


def left_out(case: Family) -> list[tuple[Asked, float, float]]:
    """Each example asked of the others, where they reach it, with pose errors in centimetres.

    The errors are those of the blend and of the nearest clip, against the example.
    """
    rows = []
    for k, truth in enumerate(case.motions):
        others = case.motions[:k] + case.motions[k + 1 :]
        curve = ml.register(others, ends="match")
        wanted = _measured(truth, case.names)
        point = dict(zip(case.names, wanted.tolist(), strict=True))
        if not ml.parametrize(curve, list(case.names)).contains(**point):
            continue
        (asked,) = answers(curve, case.names, [wanted])
        own = in_units(np.array([_measured(each, case.names) for each in others]), case.names)
        apart = (own - asked.wanted) / np.maximum(np.ptp(own, axis=0), 1e-9)
        nearest = others[int(np.argmin(np.linalg.norm(apart, axis=1)))]
        rows.append((asked, _pose_cm(truth, asked.blend.motion), _pose_cm(truth, nearest)))
    return rows


def _pose_cm(truth: ml.Motion, other: ml.Motion) -> float:
    """Distance of joints on average, after a registration of the two, one rigid fit."""
    pair = ml.register([truth, other], ends="match", repair_knees=None)
    frames = pair.frames(np.linspace(*pair.u_range, truth.n_frames))
    a, b = (
        sampled(motion, frames[:, k]).world_positions() for k, motion in enumerate((truth, other))
    )
    return 100.0 * errors(a, b)[0]


def reach_figures(folder: Path, half: str) -> list[Figure]:
    plan = protocol("registration_reach")
    figures = []
    for title, each in plan[half].items():
        case = family(folder, each)
        curve = ml.register(case.motions, ends="match")
        asked = answers(curve, case.names, grid_of(curve, case.names, plan["grid"]))
        passed = sum(one.blend.verification.passed for one in asked)
        for p, name in enumerate(case.names):
            unit = "degrees" if name.endswith("direction") else "cm"
            figures += _error_figures(f"{title}: {name} asked for", unit, asked, p, passed)
        rows = left_out(case)
        if rows:
            figures.append(_left_out_figure(title, rows, case.names))
    return figures


def _error_figures(title: str, unit: str, asked: list[Asked], p: int, passed: int) -> list[Figure]:
    off = {way: np.array([abs(a.got[way][p] - a.wanted[p]) for a in asked]) for way in WAYS}
    low, high = (f(a.wanted[p] for a in asked) for f in (min, max))
    spread = interval_text(bounds(off["measured"], np.mean))
    return [
        Figure(
            f"{title}: mean error",
            float(off["measured"].mean()),
            unit,
            baseline,
            float(off[baseline].mean()),
            lower_is_better=True,
            note=f"{spread}; {len(asked)} values from {low:.1f} to {high:.1f}; worst "
            f"{off['measured'].max():.1f} and {off[baseline].max():.1f}; {passed} of {len(asked)} "
            "blends pass the check",
        )
        for baseline in WAYS[1:]
    ]


def _left_out_figure(
    title: str, rows: list[tuple[Asked, float, float]], names: tuple[str, ...]
) -> Figure:
    """Poses of examples asked of the others."""
    ours, nearest = (np.array([row[k] for row in rows]) for k in (1, 2))
    off = {
        way: [
            float(np.mean([abs(asked.got[way][p] - asked.wanted[p]) for asked, _, _ in rows]))
            for p in range(len(names))
        ]
        for way in WAYS
    }
    text = "; ".join(
        f"{way}: " + ", ".join(f"{value:.1f}" for value in values) for way, values in off.items()
    )
    return Figure(
        f"{title}: an example asked of the others, joints",
        float(ours.mean()),
        "cm",
        "nearest clip",
        float(nearest.mean()),
        lower_is_better=True,
        note=f"{interval_text(bounds(ours, np.mean))}; {len(rows)} examples within reach of the "
        f"others; errors of {', '.join(name.split('.')[1] for name in names)}: {text}",
    )
