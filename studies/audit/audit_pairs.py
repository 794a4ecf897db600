"""Results that the audit makes of clips directly: transitions, clean-up, blends, splices, loops."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.retargeting.match import match_clips
from studies.audit.audit_cases import Made, own_verdict
from studies.audit.audit_check import FLOORS_M, Copied, Failure, Result, Sources, check
from studies.audit.audit_clips import TRUE_FPS, contacts, heels_of, load, own_of, path_of, subject
from studies.audit.audit_own import Own
from studies.audit.audit_points import points_of
from studies.audit.audit_protocol import Case
from studies.audit.audit_signals import Points

STANDS = 0.3
"""A loop of a clip that travels must go at least this part of its speed."""
TRAVELS_M_S = 0.4
NEAR_S = 1.0
"""The floor of a clip near a joint is that of the stances so many seconds around it."""


def matched(case: Case) -> tuple[list[ml.Motion], list[ml.Footplants]]:
    """Both clips on the first one's skeleton and rate, as the command line has them."""
    names = [case["a"], case["b"]]
    clips = match_clips(
        [load(name) for name in names],
        footplants=[contacts(name) for name in names],
        bodies=[ml.BodyMap.guess(load(name).skeleton, motion=load(name)) for name in names],
        names=names,
    )
    return list(clips.motions), list(clips.footplants)


def owns(first: str, motions: list[ml.Motion], plants: list[ml.Footplants]) -> list[Own]:
    """What clips on the skeleton of the first one do themselves."""
    heels = heels_of(first)
    return [Own(points_of(m, p), heels) for m, p in zip(motions, plants, strict=True)]


def transition(case: Case) -> list[Made]:
    motions, plants = matched(case)
    joined = ml.transition(*motions, footplants=(plants[0], plants[1]))
    motion, planted = joined.motion, joined.footplants
    clips = owns(case["a"], motions, plants)
    clips, floor = on_one_floor(clips, motions[1], motion, places_of(joined, motion))
    result = Result(
        points_of(motion, planted), _copied(joined, motion), joined.span,
        provenance=joined.provenance, clips=clips,
    )  # fmt: skip
    failures = check(result, Sources(clips)) + floor
    return [Made(motion, own_verdict([joined], motion, motions), failures, planted)]


def on_one_floor(
    clips: list[Own], second: ml.Motion, result: ml.Motion, places: tuple[int, int]
) -> tuple[list[Own], list[Failure]]:
    """The clips with the second where the result has it.

    A failure where that is not the floor of the first, as the stances near the joint show it.

    Parameters
    ----------
    clips
        First and second.
    second
        The second as a motion; its last frame is that of the result.
    result
        The transition.
    places
        Frames of the clips at which the joint leaves the first and enters the second.
    """
    up = float(result.root_positions[-1, 1] - second.root_positions[-1, 1])
    points = clips[1].points
    moved = replace(points, positions=points.positions + np.array([0.0, up, 0.0]))
    levels = [_level(own, at) for own, at in zip(clips, places, strict=True)]
    off = abs(levels[1] + up - levels[0])
    failures = []
    if off > FLOORS_M:
        frame = result.n_frames - 1
        failures.append(Failure("floor", "body", frame, float(off), FLOORS_M))
    return [clips[0], Own(moved, clips[1].heels)], failures


def _level(own: Own, at: int) -> float:
    """Height at which a clip stands near a frame; nan where it does not, or on a step."""
    near = round(NEAR_S * own.points.fps)
    rows = slice(max(0, at - near), at + near + 1)
    stands = own.feet.stands[rows]
    level = float(np.median(own.feet.lowest[rows][stands])) if stands.any() else float("nan")
    on_floor = np.abs(level - own.feet.floors).max() < FLOORS_M
    return level if on_floor else float("nan")


def places_of(joined: ml.Transition, motion: ml.Motion) -> tuple[int, int]:
    """Frames of the clips at the first and the last blended frame."""
    times = [joined.provenance.body.times_in(k)[at] for k, at in enumerate(joined.span)]
    return round(float(times[0]) * motion.fps), round(float(times[1]) * motion.fps)


def _copied(joined: ml.Transition, motion: ml.Motion) -> list[Copied]:
    first, last = joined.span
    times = joined.provenance.body
    after = round(float(times.times_in(1)[last]) * motion.fps) + 1
    start = round(float(times.times_in(0)[first]) * motion.fps) - first
    return [Copied(0, first, 0, start), Copied(last + 1, motion.n_frames, 1, after)]


def command(case: Case) -> list[Made]:
    """``motionloom transition A B -o OUT``, refused where it writes nothing."""
    motions, plants = matched(case)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "joined.bvh"
        rates = [f"--source-fps={who}_*={fps:g}" for who, fps in TRUE_FPS.items()
                 if who in (subject(case["a"]), subject(case["b"]))]  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "motionloom", "transition", str(path_of(case["a"])),
             str(path_of(case["b"])), "-o", str(target), "--json", *rates],
            capture_output=True, text=True,
        )  # fmt: skip
        if not target.exists():
            raise ml.MotionLoomError((done.stderr or done.stdout).strip()[-300:])
        motion = ml.load(target)
    first, last = json.loads(done.stdout)["transitions"][0]["span"]
    # What follows the blend is the end of the second clip.
    after = motions[1].n_frames - (motion.n_frames - last - 1)
    clips = owns(case["a"], motions, plants)
    clips, floor = on_one_floor(clips, motions[1], motion, (first, after))
    copied = [Copied(0, first, 0, 0), Copied(last + 1, motion.n_frames, 1, after)]
    result = Result(points_of(motion), copied, (first, last))
    return [Made(motion, True, check(result, Sources(clips)) + floor)]


def clean(case: Case) -> list[Made]:
    motion, plants = load(case["clip"]), contacts(case["clip"])
    cleanup = ml.clean_footskate(motion, plants)
    points = points_of(cleanup.motion, cleanup.footplants)
    result = Result(points, [Copied(0, motion.n_frames, 0, 0)])
    failures = check(result, Sources([own_of(case["clip"])]))
    passed = own_verdict([cleanup], cleanup.motion, [motion])
    return [Made(cleanup.motion, passed, failures, cleanup.footplants)]


def blend(case: Case) -> list[Made]:
    motions, plants = matched(case)
    curve = ml.register(motions, footplants=plants)
    blended = ml.blend(curve, [0.5, 0.5])
    motion, planted = blended.motion, blended.footplants
    failures = check(Result(points_of(motion, planted)), Sources(owns(case["a"], motions, plants)))
    return [Made(motion, own_verdict([blended], motion, motions), failures, planted)]


def splice(case: Case) -> list[Made]:
    spliced = ml.splice(upper=load(case["a"]), lower=load(case["b"]))
    motions, plants = matched({"a": case["b"], "b": case["a"]})
    points = points_of(spliced.motion, spliced.footplants)
    root = np.diff(spliced.motion.root_positions, 2, axis=0) * points.fps**2  # captured
    copied = [Copied(0, spliced.motion.n_frames, 0, 0)]
    result = Result(points, copied, hips_jerk=np.linalg.norm(root, axis=-1))
    failures = check(result, Sources(owns(case["b"], motions, plants)), splice=True)
    passed = own_verdict([spliced], spliced.motion, motions)
    return [Made(spliced.motion, passed, failures, spliced.footplants)]


def loop(case: Case) -> list[Made]:
    motion = load(case["clip"])
    cycle = ml.loop(motion, footplants=contacts(case["clip"]))
    own = own_of(case["clip"])
    once = points_of(cycle.motion, cycle.footplants)
    length = cycle.motion.n_frames - 1
    again = cycle.closure.apply(once.positions[1:])
    planted = cycle.footplants.planted
    twice = replace(
        once,
        positions=np.concatenate([once.positions, again]),
        contacts=np.concatenate([planted, planted[1:]]),
        marks=None,
    )
    first = cycle.span[0]
    copied = [Copied(0, length + 1, 0, first), Copied(length + 1, 2 * length + 1, 0, first + 1)]
    failures = check(Result(twice, copied), Sources([own]))
    failures += _standing(own.points, once)
    return [Made(cycle.motion, own_verdict([cycle], cycle.motion, [motion]), failures)]


def _standing(clip: Points, cycle: Points) -> list[Failure]:
    """A cycle that stands although its clip travels."""
    paces = []
    for points in (clip, cycle):
        ground = points.positions[:, points.roles["pelvis"]][:, [0, 2]]
        step = max(1, min(round(0.2 * points.fps), len(ground) - 1))
        pace = np.linalg.norm(ground[step:] - ground[:-step], axis=-1) * points.fps / step
        paces.append(float(np.median(pace)))
    limit = STANDS * paces[0]
    if paces[0] > TRAVELS_M_S and paces[1] < limit:
        return [Failure("standing loop", "pelvis", 0, paces[1], limit)]
    return []


def retarget(case: Case) -> list[Made]:
    source, rig = load(case["a"]), load(case["b"])
    retargeted = ml.retarget(source, rig, footplants=contacts(case["a"]))
    own, rig_own = own_of(case["a"]), own_of(case["b"])
    points = points_of(retargeted, contacts(case["a"]))
    scale = points.leg_length / own.points.leg_length
    result = Result(points, [Copied(0, retargeted.n_frames, 0, 0)])
    failures = check(result, Sources([own], scale=scale, slack=1.3, rig=rig_own))
    # A retarget reports its own check in the findings; `verify` alone knows no source here.
    passed = not any("failed check" in finding.problem for finding in retargeted.source.findings)
    return [Made(retargeted, passed, failures, contacts(case["a"]))]


MAKERS = {
    "transition": transition,
    "command": command,
    "clean": clean,
    "blend": blend,
    "splice": splice,
    "loop": loop,
    "retarget": retarget,
}
