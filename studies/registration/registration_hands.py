"""Hands on objects: how fast held wrists of blends move, with hands held and without."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import motionloom as ml
from motionloom.cleanup.hands import WRISTS
from studies.captured_clips import Protocol, protocol
from studies.report import Figure

GOAL_CM_S = 1.0


class Marked(NamedTuple):
    """A part of a clip, and when its hands are on an object, seconds of the part."""

    motion: ml.Motion
    holds: dict[str, list[tuple[float, float]]]


class Compared(NamedTuple):
    """One blend with and without held hands."""

    held: ml.Blend
    free: ml.Blend
    speeds: np.ndarray
    """Of held wrists, cm/s, hands held and not. (N, 2)"""
    bend: float
    """Largest acceleration of a joint over that with hands not held."""


def marked(folder: Path, entry: Protocol) -> Marked:
    """A part of a clip by its entry of the protocol."""
    name = entry["clip"] if "/" in entry["clip"] else f"cmu_bvh/{entry['clip']}"
    whole = ml.load(folder / f"{name}.bvh", fps=60.0 if "143_" in name else None)
    first, last = (round(second * whole.fps) for second in entry["part"])
    part = whole[first:last]
    start_s = first / whole.fps
    holds = {
        wrist: [(low - start_s, high - start_s) for low, high in entry[wrist]]
        for wrist in WRISTS
        if wrist in entry
    }
    return Marked(ml.mirror(part) if entry.get("mirrored") else part, holds)


def compared(parts: list[Marked], weights: list[list[float]]) -> list[Compared]:
    """Blends of the parts."""
    motions = [part.motion for part in parts]
    # Under another name the same intervals are matched and nothing is held.
    free = [{f"{name} free": spans for name, spans in part.holds.items()} for part in parts]
    curves = [
        ml.register(motions, ends="match", constraints=each)
        for each in ([part.holds for part in parts], free)
    ]
    return [_compare(*(ml.blend(curve, w) for curve in curves)) for w in weights]


def _compare(held: ml.Blend, free: ml.Blend) -> Compared:
    body = ml.BodyMap.guess(held.motion.skeleton)
    places = [blend.motion.world_positions() for blend in (held, free)]
    rows = []
    for hold in held.hands:
        joint = getattr(body, hold.role)
        frames = slice(hold.first, hold.last + 1)
        rows += [np.linalg.norm(np.diff(place[frames, joint], axis=0), axis=-1) for place in places]
    speeds = np.stack([np.concatenate(rows[k::2]) for k in range(2)], axis=-1)
    bends = [np.linalg.norm(np.diff(place, n=2, axis=0), axis=-1).max() for place in places]
    return Compared(held, free, 100.0 * held.motion.fps * speeds, float(bends[0] / bends[1]))


def hand_figures(folder: Path, half: str) -> list[Figure]:
    plan = protocol("registration_hands")
    weights = [[1.0 - w, w] for w in plan["weights"]]
    rows: list[Compared] = []
    named = []
    for name, entries in plan[half].items():
        case = compared([marked(folder, entry) for entry in entries], weights)
        fastest = max(row.speeds[:, 1].max() for row in case)
        named.append(f"{name} {fastest:.0f} cm/s")
        rows += case
    speeds = np.concatenate([row.speeds for row in rows])
    holds = [hold for row in rows for hold in row.held.hands]
    passed = [
        sum(each.verification.passed for each in blends)
        for blends in ([row.held for row in rows], [row.free for row in rows])
    ]
    return [
        Figure(
            "hands on objects: fastest held wrist",
            float(speeds[:, 0].max()),
            "cm/s",
            "hands not held",
            float(speeds[:, 1].max()),
            lower_is_better=True,
            value_goal=GOAL_CM_S,
            note=f"{len(rows)} blends, {len(holds)} holds; not held: " + "; ".join(named),
        ),
        Figure(
            "hands on objects: farthest that a wrist is moved",
            100.0 * max(hold.moved_m for hold in holds),
            "cm",
            lower_is_better=True,
            note=f"median {100.0 * np.median([hold.moved_m for hold in holds]):.1f} cm; out of "
            f"reach by {100.0 * max(hold.missed_m for hold in holds):.1f} cm at most",
        ),
        Figure(
            "hands on objects: largest acceleration over that with hands not held, worst",
            max(row.bend for row in rows),
            "",
            lower_is_better=True,
            note=f"median {np.median([row.bend for row in rows]):.2f}",
        ),
        Figure(
            "hands on objects: blends that pass the quality check",
            float(passed[0]),
            f"of {len(rows)}",
            "hands not held",
            float(passed[1]),
        ),
    ]
