"""A minute of a live character: freezes, failed checks, orders met, latencies, slip."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import motionloom as ml
from studies.audit.audit_clips import Library, library
from studies.trust.draw import Case
from studies.trust.independent import GROUND, Array, Bools, Origin, judge, runs
from studies.trust.made import cached_body, told_by
from studies.trust.points import body_of

SECONDS = 60.0
AFTER_S = 1.0
"""Played after the minute without another order: frames are judged with those after them."""
ORDER_S = (1.0, 4.0)
PATIENCE_S = 5.0
"""Longer than between orders: none is followed by a transition that fails the quality check."""
FROZEN_S, FROZEN_RAD, FROZEN_M = 0.1, 1e-6, 1e-6
FAST_M_S, JUST_S = 0.8, 0.15
"""A freeze: a pose that stops within so long after the body went so fast."""


def minute(case: Case) -> dict[str, Any]:
    """Play a minute with a random order every one to four seconds."""
    place = library(case["collection"])
    rng = np.random.default_rng(case["seed"])
    ids = [c for c in place.collection.ids if place.motion(c).n_frames > place.table.length]

    def anywhere() -> tuple[str, int]:
        clip = ids[int(rng.integers(len(ids)))]
        return clip, int(rng.integers(place.motion(clip).n_frames))

    fps = place.table.frames.fps
    live = place.table.stream((ids[int(rng.integers(len(ids)))], 0), patience_s=PATIENCE_S)
    poses, spent = [], []
    orders = met = flawed = 0
    goal, waits = ("", 0), False
    next_order = 0
    n = round(SECONDS * fps)
    for step in range(n + round(AFTER_S * fps)):
        if step == next_order and step < n:
            goal, waits = anywhere(), True
            live.go(frame=goal)
            orders += 1
            next_order += round(float(rng.uniform(*ORDER_S)) * fps)
        started = time.perf_counter()
        poses.append(live.step())
        spent.append(1000.0 * (time.perf_counter() - started))
        flawed += live.flawed and step < n
        if waits and shows(place, poses[-1], goal):
            met, waits = met + 1, False
    motion = ml.Motion(
        place.collection.frames.skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        fps,
    )
    ms = np.array(spent)
    provenance = live.provenance(poses)
    return {
        "passed": True,
        "orders": orders, "orders met": int(met),
        "freezes": len(freezes(motion[:n])),
        "failed checks": [
            str(each) for each in failed_checks(place, motion, poses, provenance) if each.frame < n
        ],
        "flawed s": round(flawed / fps, 2),
        "p50 ms": round(float(np.median(ms)), 3), "p95 ms": round(float(np.quantile(ms, 0.95)), 3),
        "p99 ms": round(float(np.quantile(ms, 0.99)), 3), "worst ms": round(float(ms.max()), 3),
        **judged(place, motion[:n], provenance[:n]),
    }  # fmt: skip


def shows(place: Library, pose: Any, goal: tuple[str, int]) -> bool:
    """Whether a pose is of the clip of an order alone, at its frame or after it."""
    made, clip = pose.made_of, place.collection.ids.index(goal[0])
    return len(made.clips) == 1 and made.clips[0] == clip and made.frames[0] >= goal[1]


def freezes(motion: ml.Motion) -> list[tuple[int, int]]:
    """Times in which nothing moves, just after the body travelled."""
    turned = 1.0 - np.abs((motion.local_quats[1:] * motion.local_quats[:-1]).sum(axis=2))
    moved = np.linalg.norm(np.diff(motion.root_positions, axis=0), axis=1)
    still: Bools = (turned.max(axis=1) < FROZEN_RAD**2) & (moved < FROZEN_M)
    speed: Array = np.linalg.norm(np.diff(motion.root_positions[:, GROUND], axis=0), axis=1)
    speed = speed * motion.fps
    just = round(JUST_S * motion.fps)
    return [
        (first, last)
        for first, last in runs(still)
        if (last - first + 1) / motion.fps >= FROZEN_S
        and first > 0
        and speed[max(0, first - just) : first].max() > FAST_M_S
    ]


def failed_checks(
    place: Library, motion: ml.Motion, poses: list[Any], provenance: ml.Provenance
) -> tuple[Any, ...]:
    """What motionloom's own check finds in the minute."""
    plants = ml.Footplants(np.array([pose.planted for pose in poses]))
    sources = [place.motion(clip) for clip in place.collection.ids]
    return ml.verify(motion, sources=sources, footplants=plants, provenance=provenance).failed


def judged(place: Library, motion: ml.Motion, provenance: ml.Provenance) -> dict[str, Any]:
    """By the independent check."""
    names = list(place.collection.ids)
    indices = [names.index(name) for name in provenance.sources]
    told = told_by(provenance, indices)
    origins = [Origin(cached_body(place.motion(names[k])), seconds) for k, seconds in told]
    alarms = judge(body_of(motion), origins)
    slips = [alarm.value for alarm in alarms if alarm.kind == "support"]
    return {
        "rejected spans": len(alarms),
        "slip cm": round(100.0 * max(slips, default=0.0), 1),
        "alarms": [alarm._asdict() for alarm in alarms[:20]],
        "map": "provenance",
    }
