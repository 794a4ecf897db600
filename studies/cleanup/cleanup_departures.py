"""Departures from footskate clean-up of 2002, each switched off: what gets worse, or does not.

    ./study cleanup --departures

Walks and runs with skate, and blends, that nothing was tuned on. What fails the check is released
as always, so a switch shows in the contacts that are still held, in knees and in failed checks.
``docs/papers/registration.md`` lists the departures under 16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest import mock

import numpy as np

import motionloom as ml
from motionloom.cleanup import footskate, holds, solve
from motionloom.cleanup.holds import Hold
from motionloom.motion.contacts import Footplants
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Motion
from studies.report import Figure

FIRST_S = 0.05
"""Seconds at the start of a plant from which its place is taken."""
ENDLESS = 1e9


def _from_first_frames(
    holds: tuple[Hold, ...], points: np.ndarray, _: np.ndarray, fps: float
) -> tuple[np.ndarray, np.ndarray]:
    """Places of the points at the start of their plants."""
    n = max(1, round(FIRST_S * fps))
    return _strays(
        holds, points, [points[h.span[0] : h.span[0] + n, h.kind].mean(0) for h in holds]
    )


def _on_one_floor(
    holds: tuple[Hold, ...], points: np.ndarray, moving: np.ndarray, fps: float
) -> tuple[np.ndarray, np.ndarray]:
    """Every plant of a heel, and every one of a ball, at one height."""
    places, _ = TARGETS(holds, points, moving, fps)
    kinds = np.array([hold.kind for hold in holds], dtype=int)
    for kind in set(kinds.tolist()):
        places[kinds == kind, 1] = np.median(places[kinds == kind, 1])
    return _strays(holds, points, list(places))


def _strays(
    holds: tuple[Hold, ...], points: np.ndarray, places: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The places and how far each point strays from its own. (N, 3), (N,)"""
    far = [
        float(np.linalg.norm(points[h.span[0] : h.span[1] + 1, h.kind] - place, axis=-1).max())
        for h, place in zip(holds, places, strict=True)
    ]
    return np.array(places).reshape(-1, 3), np.array(far)


def _without_roll(*arguments: object, roll: bool, **options: object) -> object:
    return PLACE(*arguments, roll=False, **options)  # type: ignore[arg-type]


def _unbraked(*arguments: object, **options: object) -> object:
    with mock.patch.object(solve, "FREE_M_S2", ENDLESS):
        return SOLVE(*arguments, **options)  # type: ignore[arg-type]


def _twitching(*arguments: object, **options: object) -> object:
    with mock.patch.object(solve, "FREE_M_S2", ENDLESS):
        return PLACE(*arguments, **options)  # type: ignore[arg-type]


@contextmanager
def _without_lifts() -> Iterator[None]:
    with (
        mock.patch.object(footskate, "_raised", lambda *_: None),
        mock.patch.object(footskate, "lifted", lambda *_: None),
    ):
        yield


def _not_calmed(motion: Motion, pose: object, placed: object, solved: object, _: object) -> tuple:
    motion = ml.Motion(
        motion.skeleton, solved.parts.root, solved.parts.local, motion.fps,  # type: ignore[attr-defined]
        joint_translations=solved.parts.moving,  # type: ignore[attr-defined]
    )  # fmt: skip
    return placed, solved, motion, 0


TARGETS, PLACE, SOLVE = footskate.fit_targets, footskate.place_feet, footskate.solve_body
WAYS: dict[str, Callable[[], object]] = {
    "place of the first frames": lambda: mock.patch.object(
        footskate, "fit_targets", _from_first_frames
    ),
    "one height for all plants": lambda: mock.patch.object(footskate, "fit_targets", _on_one_floor),
    "foot does not roll over its ball": lambda: mock.patch.object(
        footskate, "place_feet", _without_roll
    ),
    "root not lowered": lambda: mock.patch.object(solve, "_drop", lambda *_: None),
    "offsets without their slope": lambda: mock.patch.object(holds, "STOP_S", 0.0),
    "knee not braked": lambda: mock.patch.object(footskate, "solve_body", _unbraked),
    "foot not raised": _without_lifts,
    "twitching foot turns in full": lambda: mock.patch.object(footskate, "place_feet", _twitching),
    "hips do not take up jerks of knees": lambda: mock.patch.object(
        solve, "quiet_knees", lambda feet, reach, shift, solved, fps, **_: (shift, solved(shift))
    ),
    "legs not calmed": lambda: mock.patch.object(footskate, "calm_body", _not_calmed),
}


def knee_jerk(motion: Motion) -> float:
    """Largest acceleration of a knee, m/s2."""
    body = ml.BodyMap.guess(motion.skeleton)
    track = motion.world_positions()[:, [body.left_knee, body.right_knee]]
    return float(np.linalg.norm(np.diff(track, 2, axis=0), axis=-1).max()) * motion.fps**2


def departure_figures(cases: list[tuple[Motion, Footplants]]) -> list[Figure]:
    """All switches on all cases; contacts held, checks and knees next to ours."""
    ours: tuple[float, int, np.ndarray] | None = None
    figures = []
    for way, switched in {"ours": nullcontext, **WAYS}.items():
        with switched():  # type: ignore[attr-defined]
            results = [ml.clean_footskate(motion, labels) for motion, labels in cases]
        held = 100.0 * float(
            np.mean(
                [
                    result.footplants.planted.sum() / labels.planted.sum()
                    for result, (_, labels) in zip(results, cases, strict=True)
                ]
            )
        )
        passed = sum(result.verification.passed for result in results)
        jerks = np.array([knee_jerk(result.motion) for result in results])
        if ours is None:
            ours = held, passed, jerks
            continue
        figures.append(
            Figure(
                f"departure 16: {way}: labelled time held",
                held,
                "%",
                "ours",
                ours[0],
                note=f"{passed} of {len(cases)} pass the check, ours {ours[1]}; largest knee "
                f"acceleration {np.mean(jerks / ours[2]):.2f} times ours on average, "
                f"{np.max(jerks / ours[2]):.2f} at most",
            )
        )
    return figures


def cases_of(folder: Path, skate: dict, blends: dict) -> list[tuple[Motion, Footplants]]:
    """Skated walks and runs, and blends half and half, with the contacts to hold."""
    cases = []
    for clip in (name for family in skate["reported"].values() for name in family):
        source = ml.load(folder / clip)
        cases.append((corrupt(source, travel=skate["travel"]), ml.detect_footplants(source)))
    for pair in blends["pairs"]:
        sources = [ml.load(folder / clip) for clip in pair]
        blend = ml.blend(ml.register(sources), [0.5, 0.5], clean=False)
        if blend.footplants.planted.any():
            cases.append((blend.motion, blend.footplants))
    return cases
