"""Does the check of support and travel find faults, and does it leave captured motion alone?

Captured clips are warped alike: turned, moved, time-warped by up to 15 %, read at 30 frames per
second, every joint off by 0.5 mm. Such a clip is a result whose source and times are known. Faults
are put into it one at a time: slides of the body or of one foot while it stands, stalls, launches,
reversals. Every second clip was developed on; figures of the others are reported apart.

usage: ./study trust-check [--every N] [--half 0|1] [--seed N] [--list]
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import sample
from motionloom.motion.motion import Motion
from motionloom.motion.provenance import Provenance
from studies.captured_clips import mocap

FPS = 30.0
WARP = 0.15
"""Rates of a warped clip are within so much of one."""
NOISE_M = 5e-4
SLIDE_M = 0.06
LONGEST_S = 12.0
"""The middle of longer clips is taken."""
SEED = 20261119
FOLDERS = ("audit", "bandai_bvh", "cmu_bvh", "lafan1", "mixamo_like")
TRUE_FPS = {"141": 60.0, "143": 60.0}
LEADING = 8
SUPPORT = (
    "foot slip", "stall", "launch", "direction", "sole below the floor", "hovering",
    "no foot stands",
)  # fmt: skip
RESULT = Path(__file__).parent / "results" / "trust_check.json"
ACTIVITIES = {
    "stairs": ("stair", "ladder", "step over", "stepping up"),
    "back and side": ("back", "sideway", "sidestep", "walk-left", "walk-right"),
    "dance": ("dance", "hopscotch", "macarena", "ballet", "twist", "airplane", "spin"),
    "hop": ("hop", "jump", "leap"),
    "sneak": ("sneak", "creep", "toes", "tired", "careful"),
    "sport": (
        "basketball",
        "golf",
        "box",
        "kick",
        "punch",
        "throw",
        "soccer",
        "acrobat",
        "cartwheel",
    ),
    "run": ("run", "jog", "dash", "sprint"),
    "walk": ("walk", "pacing", "stride", "turn"),
}


class Warped(NamedTuple):
    """A clip, and a result made of it alone."""

    check: QualityCheck
    motion: Motion
    provenance: Provenance
    positions: np.ndarray
    world: np.ndarray
    planted: np.ndarray
    """Contacts of the source at the times that play. (F, 4)"""
    body: BodyMap


def clips() -> Iterator[tuple[str, str, Path]]:
    """Name, activity and file of every clip, the same clips for everybody."""
    folder = mocap()
    if folder is None:
        raise SystemExit("The captured clips are not here: set MOTIONLOOM_MOCAP to their folder.")
    index = {
        row["file"]: row["description"].lower()
        for row in csv.DictReader((folder / "INDEX.csv").open())
    }
    files = sorted(path for name in FOLDERS for path in (folder / name).glob("*.bvh"))
    for path in files:
        words = f"{index.get(f'{path.parent.name}/{path.name}', '')} {path.stem.lower()}"
        kinds = (kind for kind, names in ACTIVITIES.items() if any(name in words for name in names))
        yield path.stem, next(kinds, "action"), path


def load(path: Path) -> Motion:
    """The middle of a clip at the rate at which it was captured, without its bad first frames."""
    clip = ml.load(path, fps=TRUE_FPS.get(path.stem.split("_")[0]))[LEADING:]
    longest = round(LONGEST_S * clip.fps)
    first = max(0, (clip.n_frames - longest) // 2)
    return clip[first : first + longest]


def warped(clip: Motion, rng: np.random.Generator) -> Warped:
    """A clip turned, moved, warped in time, and read at 30 frames per second."""
    end = (clip.n_frames - 1) / clip.fps
    n = int(end * FPS)
    knots = rng.uniform(1.0 - WARP, 1.0 + WARP, max(3, int(end / 0.8) + 2))
    rates = np.interp(np.linspace(0.0, len(knots) - 1.0, n), np.arange(len(knots)), knots)
    seconds = np.concatenate([[0.0], np.cumsum(rates[1:])]) / FPS
    seconds = seconds[seconds <= end]
    motion = sample(clip, seconds * clip.fps, fps=FPS)
    motion = ml.move(motion, heading=rng.uniform(-np.pi, np.pi), x=rng.normal(), z=rng.normal())
    frames = seconds[:, None] * FPS
    provenance = Provenance.of_clips([clip.name or "clip"], FPS, frames, np.ones_like(frames))
    positions, world = motion.world_pose()
    positions = positions + rng.normal(0.0, NOISE_M, positions.shape)
    plants = detect_footplants(clip)
    at = np.minimum(np.round(seconds * clip.fps).astype(int), clip.n_frames - 1)
    check = QualityCheck([clip], footplants=[plants])
    body = BodyMap.guess(clip.skeleton)
    return Warped(check, motion, provenance, positions, world, plants.planted[at], body)


def judged(made: Warped, positions: np.ndarray) -> Verification:
    """What the check says of a warped clip with these joint positions."""
    none = Footplants(np.zeros((made.motion.n_frames, 4), dtype=bool))
    return made.check.verify(
        made.motion, footplants=none, provenance=made.provenance, held=False,
        pose=(positions, made.world),
    )  # fmt: skip


def found(
    made: Warped, positions: np.ndarray, checks: tuple[str, ...], span: tuple[int, int]
) -> bool:
    """Whether one of the checks alarms within half a second of a span."""
    around = round(0.5 * FPS)
    return any(
        each.check in checks and span[0] - around <= each.frame <= span[1] + around
        for each in judged(made, positions).failed
    )


def _ramp(n: int, first: int, length: int) -> np.ndarray:
    u = np.clip((np.arange(n) - first) / length, 0.0, 1.0)
    return u * u * (3.0 - 2.0 * u)


def stance(made: Warped, rng: np.random.Generator) -> tuple[int, int, int] | None:
    """Side, first frame and length of a time in which a foot stands under the body."""
    length = int(rng.integers(round(0.15 * FPS), round(0.4 * FPS) + 1))
    stands = made.planted.reshape(-1, 2, 2).any(axis=2)
    body, places = made.body, made.positions
    ankles = places[:, [body.left_ankle, body.right_ankle]][..., [0, 2]]
    away = np.linalg.norm(ankles - places[:, [body.pelvis]][..., [0, 2]], axis=-1)
    nearer = (away <= away[:, ::-1]) | ~stands[:, ::-1]
    fine = stands & nearer
    ok = np.stack([np.convolve(fine[:, s], np.ones(length + 2), "valid") for s in (0, 1)], axis=1)
    places_in = np.argwhere(ok > length + 1.5)
    if not len(places_in):
        return None
    first, side = places_in[rng.integers(len(places_in))]
    return int(side), int(first) + 1, length


def body_slide(made: Warped, rng: np.random.Generator) -> tuple[np.ndarray, tuple[int, int]] | None:
    """The whole body slides 6 cm while a foot stands."""
    place = stance(made, rng)
    if place is None:
        return None
    _, first, length = place
    angle = rng.uniform(0.0, 2.0 * np.pi)
    way = SLIDE_M * np.array([np.sin(angle), 0.0, np.cos(angle)])
    moved = made.positions + _ramp(made.motion.n_frames, first, length)[:, None, None] * way
    return moved, (first, first + length)


def foot_slide(made: Warped, rng: np.random.Generator) -> tuple[np.ndarray, tuple[int, int]] | None:
    """A foot slides 6 cm while it stands, and comes back while it swings."""
    place = stance(made, rng)
    if place is None:
        return None
    side, first, length = place
    n, name = made.motion.n_frames, ("left", "right")[side]
    stands = made.planted[:, 2 * side : 2 * side + 2].any(axis=1)
    free = np.flatnonzero(~stands[first + length :])
    back = first + length + (int(free[0]) + 2 if len(free) else n)
    angle = rng.uniform(0.0, 2.0 * np.pi)
    way = SLIDE_M * np.array([np.sin(angle), 0.0, np.cos(angle)])
    share = _ramp(n, first, length) - _ramp(n, back, round(0.25 * FPS))
    moved = np.array(made.positions)
    ankle, knee = getattr(made.body, f"{name}_ankle"), getattr(made.body, f"{name}_knee")
    for joint in made.motion.skeleton.carried_by([ankle]):
        moved[:, joint] += share[:, None] * way
    moved[:, knee] += 0.5 * share[:, None] * way
    return moved, (first, first + length)


def travel_changed(
    made: Warped, rng: np.random.Generator, change: complex
) -> tuple[np.ndarray, tuple[int, int]] | None:
    """For half a second the body goes with its velocity times a number: complex ones turn it."""
    fps, length = FPS, round(0.5 * FPS)
    pelvis = made.positions[:, made.body.pelvis]
    steps = np.diff(pelvis[:, 0] + 1j * pelvis[:, 2], prepend=pelvis[0, 0] + 1j * pelvis[0, 2])
    smooth = np.convolve(np.abs(steps) * fps, np.ones(5) / 5.0, "same")
    goes = np.convolve(smooth > 0.6, np.ones(length + 6), "valid") > length + 5.5
    places = np.flatnonzero(goes)
    if not len(places):
        return None
    first = int(places[rng.integers(len(places))]) + 3
    share = _ramp(len(steps), first, 3) - _ramp(len(steps), first + length - 3, 3)
    shift = np.cumsum(steps * share * (change - 1.0))
    moved = np.array(made.positions)
    moved[..., 0] += shift.real[:, None]
    moved[..., 2] += shift.imag[:, None]
    return moved, (first, first + length)


def lifted(
    made: Warped, rng: np.random.Generator, by: float = 0.05
) -> tuple[np.ndarray, tuple[int, int]] | None:
    """The body is lifted by 5 cm for 0.3 s while a foot stands."""
    place = stance(made, rng)
    length = round(0.3 * FPS)
    if place is None or place[1] + length >= made.motion.n_frames:
        return None
    first = place[1]
    share = _ramp(made.motion.n_frames, first - 2, 2) - _ramp(
        made.motion.n_frames, first + length, 2
    )
    return made.positions + share[:, None, None] * np.array([0.0, by, 0.0]), (first, first + length)


FAULTS = {
    "body slides 6 cm": (body_slide, ("foot slip",)),
    "foot slides 6 cm": (foot_slide, ("foot slip",)),
    "stall to 30 %": (lambda m, r: travel_changed(m, r, 0.3), ("stall",)),
    "launch to 180 %": (lambda m, r: travel_changed(m, r, 1.8), ("launch",)),
    "reversal": (lambda m, r: travel_changed(m, r, -1.0), ("direction",)),
    "sideways": (lambda m, r: travel_changed(m, r, 1j), ("direction",)),
    "lifted by 5 cm": (lifted, ("hovering", "no foot stands")),
    "lifted by 8 cm": (partial(lifted, by=0.08), ("hovering", "no foot stands")),
}


def measured(path: Path, kind: str, seed: list[int], times: int, only: str) -> dict:
    """Alarms of a warped clip, and which faults are found."""
    rng = np.random.default_rng(seed)
    made = warped(load(path), rng)
    alarms = [each for each in judged(made, made.positions).failed if each.check in SUPPORT]
    out = {
        "kind": kind,
        "seconds": made.motion.n_frames / FPS,
        "alarms": [(each.check, each.joint, each.frame, each.value, each.limit) for each in alarms],
        "faults": defaultdict(list),
    }
    for name, (make, checks) in FAULTS.items():
        for _ in range(times if only in name else 0):
            fault = make(made, rng)
            if fault is not None:
                out["faults"][name].append(found(made, fault[0], checks, fault[1]))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="every Nth clip")
    parser.add_argument("--half", type=int, choices=(0, 1), help="only clips developed on, or not")
    parser.add_argument("--times", type=int, default=2, help="faults of each kind in a clip")
    parser.add_argument("--only", default="", help="faults whose names contain this")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--list", action="store_true", help="print every alarm")
    parser.add_argument(
        "--save", action="store_true", help="write studies/results/trust_check.json"
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    began, results = time.perf_counter(), {}
    for number, (name, kind, path) in enumerate(clips()):
        half = number % 2
        if (given.half is not None and half != given.half) or (number // 2) % given.every:
            continue
        try:
            got = measured(path, kind, [given.seed, number], given.times, given.only)
        except (ml.MotionLoomError, TypeError, ValueError) as problem:
            print(f"{path.parent.name}/{name}: left out: {problem}")
            continue
        got["half"] = half
        results[f"{path.parent.name}/{name}"] = got
        if given.list and got["alarms"]:
            print(
                path.parent.name,
                name,
                kind,
                *(f"{c} {j} f{f} {v:.2f}>{most:.2f}" for c, j, f, v, most in got["alarms"]),
                sep=" | ",
                flush=True,
            )
    print(f"{len(results)} clips, {time.perf_counter() - began:.0f} s")
    summary = {
        str(half): figures([r for r in results.values() if r["half"] == half]) for half in (0, 1)
    }
    print(json.dumps(summary, indent=1))
    if given.save:
        RESULT.write_text(json.dumps({"seed": given.seed, **summary}, indent=1) + "\n")


def figures(results: list[dict]) -> dict:
    """Alarms by check, and faults found, by activity too."""
    alarmed = Counter(check for each in results for check in {a[0] for a in each["alarms"]})
    faults: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for each in results:
        for name, hits in each["faults"].items():
            for hit in hits:
                for group in ("all", each["kind"]):
                    faults[name][group][0] += int(hit)
                    faults[name][group][1] += 1
    return {
        "clips": len(results),
        "seconds": round(sum(each["seconds"] for each in results)),
        "clips with alarms": sum(bool(each["alarms"]) for each in results),
        "alarms": dict(alarmed),
        "kinds with slips": dict(
            Counter(r["kind"] for r in results if any(a[0] == "foot slip" for a in r["alarms"]))
        ),
        "found of": {
            name: {k: f"{a}/{b}" for k, (a, b) in groups.items()} for name, groups in faults.items()
        },
    }


if __name__ == "__main__":
    main()
