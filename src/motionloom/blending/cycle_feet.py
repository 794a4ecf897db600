"""A cycle played round and round: closed exactly, checked at its seam, its feet held."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import foot_points
from motionloom.body.stature import stature
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.contact_speeds import fastest_contact
from motionloom.cleanup.finalize import finalize, legs_missing
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Copied, Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.rotation.easing import ease
from motionloom.rotation.planar import PlanarTransform

AROUND_S = 1.0
"""Seconds of other laps on both sides of the one that is used: clean-up reaches no farther."""
OPEN_M = 0.01
"""A cleaned lap whose ends differ by more is not used."""
MOST_CHANGE = 0.06
"""A cycle in which a joint would move farther than this part of the body's height is not held:
what closes so badly has one foot in two places, as on one step of a stair and on the next. In clips
of CMU subjects 16, 69, 83 and 143, cycles that close move joints by up to 0.046."""


class Cycle(NamedTuple):
    """A closed cycle and where it comes from."""

    motion: Motion
    closure: PlanarTransform
    """Takes its first frame to its last one."""
    first: int
    """Frame of the clip that it begins with."""
    seam: int
    """Frames before the end over which it is led back."""

    def laps(self, count: int) -> Motion:
        """The cycle played several times, each lap where the one before ends."""
        laps, place = [], PlanarTransform.identity()
        for k in range(count):
            lap = transform(self.motion, place)
            laps.append(lap if k == count - 1 else lap[:-1])
            place = self.closure @ place
        return concatenate(laps)

    def copied(self, count: int) -> list[Copied]:
        """Frames of the laps that come from the clip."""
        length = self.motion.n_frames - 1
        return [
            Copied(k * length, (k + 1) * length + (k == count - 1), 0, self.first)
            for k in range(count)
        ]


class HeldCycle(NamedTuple):
    """A cycle whose feet are held."""

    motion: Motion
    footplants: Footplants
    closure: PlanarTransform
    verification: Verification
    cleanup: CleanupReport


def closed_cycle(motion: Motion, closure: PlanarTransform, seam: int) -> Motion:
    """The motion with its end led to its beginning, moved by ``closure``."""
    goal, n = transform(motion[:1], closure), motion.n_frames
    left = ease((n - 1 - np.arange(n)) / min(seam, n - 1))  # 0 far from the end, 1 at it
    turns = quat.log(quat.multiply(goal.local_quats[0], quat.conjugate(motion.local_quats[-1])))
    gap = goal.root_positions[0] - motion.root_positions[-1]
    moving = motion.joint_translations
    if moving is not None:
        moving = moving + left[:, None, None] * (moving[0] - moving[-1])
    return motion.replace(
        root_positions=motion.root_positions + left[:, None] * gap,
        local_quats=quat.multiply(quat.exp(left[:, None, None] * turns), motion.local_quats),
        joint_translations=moving,
    )


def verify_laps(
    cycle: Cycle, check: QualityCheck, planted: BoolArray | None = None
) -> Verification:
    """The check of two laps, which includes the step from the end to the beginning.

    ``planted`` (F, 4) are the contacts that are held; none by default.
    """
    laps = cycle.laps(2)
    labels = np.zeros((laps.n_frames, 4), dtype=bool)
    if planted is not None:
        labels = np.concatenate([planted[:-1], planted])
    return check.verify(
        laps, footplants=Footplants(labels), copied=cycle.copied(2), held=planted is not None
    )


def hold_feet(
    cycle: Cycle, planted: BoolArray, check: QualityCheck, *, body: BodyMap, failures: int
) -> HeldCycle | str:
    """The cycle with planted feet held, also over its seam; or in words why it cannot be.

    Several laps are cleaned together, and the middle one is used: there every contact that goes
    over the seam is whole, and what clean-up changes is the same in every lap.

    Parameters
    ----------
    cycle
        The cycle, closed.
    planted : (F, 4)
        Its contacts; the last row is the first.
    check
        Of the clip.
    body
        Roles of its joints.
    failures
        Failed checks of the cycle as it is: with more it is not held.
    """
    if missing := legs_missing(body):
        return f"the skeleton has no {', '.join(missing)}"
    if planted.all(axis=0).any():
        # A foot that stands all the time does not travel from lap to lap.
        still = PlanarTransform.identity()
        cycle = cycle._replace(motion=closed_cycle(cycle.motion, still, cycle.seam), closure=still)
    length, fps = cycle.motion.n_frames - 1, cycle.motion.fps
    before = int(np.ceil(AROUND_S * fps / length))
    count = 2 * before + 1
    labels = np.concatenate([*[planted[:-1]] * count, planted[-1:]])
    done = finalize(
        cycle.laps(count), Footplants(labels), check, body=body, copied=cycle.copied(count)
    )
    if done.cleanup is None:
        return "the cycle would fail the quality check"
    place = PlanarTransform.identity()
    for _ in range(before):
        place = cycle.closure @ place
    first = before * length
    middle = transform(done.motion[first : first + length + 1], place.inverse())
    ends = transform(middle[:1], cycle.closure).world_positions() - middle[-1:].world_positions()
    if np.linalg.norm(ends, axis=-1).max() > OPEN_M:
        return "the cycle would not close"
    seam = max(cycle.seam, round(0.5 * length))  # a few millimetres, over half a lap
    held = np.array(done.footplants.planted[first : first + length + 1])
    held[-1] = held[0]
    closed = cycle._replace(motion=closed_cycle(middle, cycle.closure, seam))
    motion = closed.motion.replace(name=cycle.motion.name, source=cycle.motion.source)
    moved = np.linalg.norm(motion.world_positions() - cycle.motion.world_positions(), axis=-1)
    if moved.max() > MOST_CHANGE * stature(motion.skeleton, body):
        joint = motion.skeleton.names[int(moved.max(axis=0).argmax())]
        return f"{joint} would move by {100.0 * moved.max():.0f} cm, as the ends differ too much"
    report = _of_one_lap(done.cleanup, first, length)
    speed, worst = fastest_contact(foot_points(motion, body=body), held, fps)
    report = dataclasses.replace(report, contact_speed_after=speed, worst_after=worst)
    verification = verify_laps(closed, check, held)
    if len(verification.failed) > failures:
        return "the cycle would fail the quality check"
    return HeldCycle(motion, Footplants(held), cycle.closure, verification, report)


def _of_one_lap(report: CleanupReport, first: int, length: int) -> CleanupReport:
    """The report with the contacts of one lap, in its frames.

    A contact that goes over the seam is listed with the lap in which it begins; one that lasts for
    a whole lap or longer is listed with all of that lap.
    """
    plants = tuple(
        dataclasses.replace(
            each,
            first=max(each.first - first, 0),
            last=each.last - first if each.first >= first else min(each.last - first, length),
            held=None
            if each.held is None
            else (max(each.held[0] - first, 0), each.held[1] - first),
        )
        for each in report.plants
        if first <= each.first < first + length
        or (each.first < first and each.last >= first + length)
    )
    worst_before, worst_after = (
        None if worst is None else ((worst[0] - first) % length, worst[1])
        for worst in (report.worst_before, report.worst_after)
    )
    return dataclasses.replace(
        report, plants=plants, worst_before=worst_before, worst_after=worst_after
    )
