"""A truth that the method does not see: action and walk captured apart, and both at once.

One performer walks; carries something, in other takes; and walks while carrying, in further ones.
The action of one take is spliced onto the plain walk, and the result is compared with *other* takes
of the performer doing both: joints seen from the pelvis, at equal phase (``gait_phase``).
The reverse too: arms that swing freely on the legs of somebody who carried. Copied joints are the
baseline. Takes differ among themselves, so an action as captured is compared with the same truth:
no splice can be expected to be nearer than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from studies.captured_clips import Protocol, bounds, interval_text, protocol
from studies.report import Figure
from studies.splicing.gait_phase import (
    FPS,
    METHODS,
    distances,
    mean_cycle,
    phases,
    torso_and_arms,
)

ARMS_GOAL = 0.5
FREE = "free arms"
"""The kind of the reverse: arms that swing freely, on the legs of somebody who carried."""
RATE = {"143": 60.0, "141": 60.0}
"""Subjects whose headers do not have the true rate."""


@dataclass(frozen=True)
class Row:
    """One splice by every method, against the captured truth."""

    who: str
    kind: str
    stands: bool
    """Whether the action was captured standing; its last frame is held."""
    torso: tuple[float, ...]
    """Mean distance of spine, neck and shoulders, cm, by method."""
    arms: tuple[float, ...]
    """The same of elbows and wrists."""
    arms_alone: float
    """The same of a splice of the arms alone, ``where="arms"``."""
    phase: tuple[float, ...]
    """Mean offset of the action's phase from the locomotion's, by method, percent of a cycle."""
    floor: tuple[float, float]
    """Torso and arms of the action as captured; NaN where it stood."""


@lru_cache(maxsize=100)
def part(folder: Path, name: str, first_s: float, last_s: float) -> ml.Motion:
    """Some seconds of a clip at 60 Hz."""
    where = "cmu_bvh" if (folder / "cmu_bvh" / f"{name}.bvh").is_file() else "audit"
    whole = ml.load(folder / where / f"{name}.bvh", fps=RATE.get(name.split("_")[0]))
    cut = whole[round(first_s * whole.fps) : round(last_s * whole.fps) + 1]
    return ml.resample(cut, fps=FPS) if abs(cut.fps - FPS) > 1e-3 else cut


def rows_of(folder: Path, plan: Protocol) -> list[Row]:
    """Every action of a set on every walk of it."""
    rows = []
    for take in plan["upper"]:
        others = plan["upper"] if plan["truth"] == "upper" else plan["truth"]
        for walk in plan["lower"]:
            rest = [other for other in others if other not in (take, walk)]
            if take == walk or not rest:
                continue
            truth = [part(folder, *other) for other in rest]
            row = measured(part(folder, *take), part(folder, *walk), truth, plan)
            rows += [] if row is None else [row]
    return rows


def measured(
    upper: ml.Motion, lower: ml.Motion, truth: list[ml.Motion], plan: Protocol
) -> Row | None:
    """One splice by every method; None where the legs do not walk."""
    body = ml.BodyMap.guess(lower.skeleton)
    legs, own = phases(lower, body), phases(upper, body)
    if np.isnan(legs).all():
        return None
    cycle = mean_cycle(truth, body)
    torso, arms = torso_and_arms(body)
    options: dict[str, Any] = {"when_short": "hold"} if plan.get("stands") else {}
    splices = [ml.splice(upper, lower, method=method, **options) for method in METHODS]
    alone = ml.splice(upper, lower, where="arms", **options).motion
    return Row(
        plan["who"],
        plan["kind"],
        bool(plan.get("stands")),
        tuple(distances(each.motion, legs, cycle, body, torso) for each in splices),
        tuple(distances(each.motion, legs, cycle, body, arms) for each in splices),
        distances(alone, legs, cycle, body, arms),
        tuple(_phase_off(each, own, legs) for each in splices),
        (distances(upper, own, cycle, body, torso), distances(upper, own, cycle, body, arms)),
    )


def _phase_off(splices: ml.Splice, own: np.ndarray, legs: np.ndarray) -> float:
    """Mean distance between the phases of the legs of both clips, percent of a cycle."""
    at = np.round(splices.timewarp.frames).astype(int)
    off = np.mod(own[at] - legs[: len(at)] + 0.5, 1.0) - 0.5
    return 100.0 * float(np.abs(off).mean())


def ratio(pairs: np.ndarray) -> float:
    """Sum of the first column over that of the second."""
    return float(pairs[:, 0].sum() / pairs[:, 1].sum())


def beyond(rows: np.ndarray) -> float:
    """Of the error beyond that of captured takes, the share that is left; columns: ours, copied,
    captured. Errors add as squares."""
    ours, copied, floor = (rows**2).mean(axis=0)
    return float(np.sqrt(max(ours - floor, 0.0) / max(copied - floor, 1e-12)))


def apart_figures(folder: Path) -> list[Figure]:
    """Figures of performers that settings were chosen on, and of the others."""
    plan = protocol("splicing_apart")
    rows = [row for each in plan["sets"] for row in rows_of(folder, each)]
    figures: list[Figure] = []
    for role in ("develop", "report"):
        some = [row for row in rows if row.who in plan[role]]
        title = f"apart, {role} ({', '.join(plan[role])})"
        figures += _figures_of([row for row in some if not row.stands], title)
        figures += _action_figures([row for row in some if not row.stands], title)
        stood = [row for row in some if row.stands]
        figures += _error_figures(stood, f"{title}, from standing", goal=None)
    for who, kind in sorted({(row.who, row.kind) for row in rows}):
        figures += _kind_figures(rows, who, kind)
    return figures


def _figures_of(rows: list[Row], title: str) -> list[Figure]:
    full, naive = METHODS.index("full"), METHODS.index("naive")
    table = np.array([(r.arms[full], r.arms[naive], r.floor[1]) for r in rows])
    lags = np.array([r.phase for r in rows])
    return [
        *_error_figures(rows, title, goal=ARMS_GOAL),
        Figure(
            f"{title}: arms, error beyond that of captured takes, of copied joints'",
            beyond(table),
            "x",
            lower_is_better=True,
            value_goal=ARMS_GOAL,
            note=f"{interval_text(bounds(table, beyond))}; captured takes differ by "
            f"{table[:, 2].mean():.2f} cm, {table[:, 2].mean() / table[:, 1].mean():.2f} of the "
            "error of copied joints: no splice of one take can be nearer to the others",
        ),
        Figure(
            f"{title}: phase of the action off the legs', mean",
            float(lags[:, full].mean()),
            "% of a cycle",
            "copied joints",
            float(lags[:, naive].mean()),
            lower_is_better=True,
            note=interval_text(bounds(lags[:, full], lambda v: float(v.mean()))),
        ),
    ]


def _error_figures(rows: list[Row], title: str, goal: float | None) -> list[Figure]:
    naive = METHODS.index("naive")
    figures = []
    for name in ("torso", "arms"):
        errors = np.array([getattr(row, name) for row in rows])
        for method in METHODS[1:]:
            both = errors[:, [METHODS.index(method), naive]]
            limit = goal if method == "full" and name == "arms" else None
            figures.append(_ratio_figure(f"{title}: {name}, {method}", both, limit))
    alone = np.array([(row.arms_alone, row.arms[naive]) for row in rows])
    figures.append(_ratio_figure(f"{title}: arms, where='arms'", alone, None))
    return figures


def _ratio_figure(title: str, both: np.ndarray, goal: float | None) -> Figure:
    return Figure(
        f"{title}: error of copied joints'",
        ratio(both),
        "x",
        lower_is_better=True,
        value_goal=goal,
        note=f"{interval_text(bounds(both, ratio))}; {both[:, 0].mean():.2f} cm against "
        f"{both[:, 1].mean():.2f}; {len(both)} splices",
    )


def _action_figures(rows: list[Row], title: str) -> list[Figure]:
    """Arms of actions, without the reverse: arms that swing freely gain most."""
    some = [row for row in rows if row.kind != FREE]
    naive, full = METHODS.index("naive"), METHODS.index("full")
    arms = np.array([(row.arms[full], row.arms[naive]) for row in some])
    alone = np.array([(row.arms_alone, row.arms[naive]) for row in some])
    return [
        _ratio_figure(f"{title}: arms of actions alone, full", arms, ARMS_GOAL),
        _ratio_figure(f"{title}: arms of actions alone, where='arms'", alone, ARMS_GOAL),
    ]


def _kind_figures(rows: list[Row], who: str, kind: str) -> list[Figure]:
    """Torso and arms of one set by every method, and those of captured takes."""
    some = [row for row in rows if (row.who, row.kind) == (who, kind)]
    figures = []
    for place, name in enumerate(("torso", "arms")):
        floor = np.array([row.floor[place] for row in some])
        captured = f"; captured takes {floor.mean():.2f}" if np.isfinite(floor).all() else ""
        errors: dict[str, list[float]] = {
            m: [getattr(r, name)[METHODS.index(m)] for r in some] for m in METHODS
        }
        if name == "arms":
            errors["where='arms'"] = [row.arms_alone for row in some]
        copied = np.array(errors.pop("naive"))
        figures += [
            Figure(
                f"apart: {who}, {kind}: {name}, {method}",
                ratio(np.stack([values, copied], axis=-1)),
                "x",
                lower_is_better=True,
                note=f"{np.mean(values):.2f} cm against {copied.mean():.2f}{captured}; "
                f"{len(some)} splices",
            )
            for method, values in errors.items()
        ]
    return figures
