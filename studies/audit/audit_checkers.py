"""The two checks that the thresholds study measures: the audit's own and motionloom's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import motionloom as ml
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.motion.provenance import Provenance
from studies.audit import audit_signals as signals
from studies.audit.audit_check import Copied, Failure, Result, Sources, check
from studies.audit.audit_feet import SOLES, runs
from studies.audit.audit_own import Own
from studies.audit.audit_points import points_of

BACKWARDS_DEG = -5.0
SPIN_DEG_S = 1500.0
PELVIS_DEG_S = 900.0
SINK_M = 0.025
SLIDE_M = 0.055
"""Limits of the independent check of a clip without sources."""
Checker = Callable[[ml.Motion, Sequence["Captured"], ml.Footplants, int | None], list[Failure]]
"""Judges a motion against its sources, with the contacts that it claims. The last argument is where
its frames are in the first source if they are given as copied from it."""


class Captured:
    """A captured clip, or a part of one, that motion is compared with."""

    def __init__(self, motion: ml.Motion, footplants: ml.Footplants) -> None:
        self.motion, self.footplants = motion, footplants
        self.own = Own(points_of(motion, footplants))


def clip_failures(motion: ml.Motion) -> list[Failure]:
    """The independent check of a clip on its own: defects that no person moves with."""
    own = Own(points_of(motion, ml.detect_footplants(motion)))
    points, fps = own.points, motion.fps
    turns = signals.bone_turns(points)
    glitches = signals.glitch_frames(points)
    failures = []
    for n, key in enumerate(points.keys):
        for first, stop in runs(glitches[:, n]):
            value = float(turns[max(0, first - 1) : stop, n].max())
            failures.append(Failure("glitch", key, first, value, signals.GLITCH_DEG))
        fast = turns[:, n] * fps > SPIN_DEG_S
        for first, stop in runs(fast):
            value = float(turns[first:stop, n].max() * fps)
            failures.append(Failure("turn", key, first, value, SPIN_DEG_S))
    for n, side in enumerate(signals.SIDES):
        flexion = signals.knee_flexion(points)[:, n]
        for first, stop in runs(flexion < BACKWARDS_DEG):
            value = float(flexion[first:stop].min())
            failures.append(Failure("knee backwards", f"{side}_knee", first, value, BACKWARDS_DEG))
    pelvis = signals.pelvis_turn(points) * fps
    for first, _ in runs(pelvis > PELVIS_DEG_S):
        failures.append(Failure("pelvis turn", "pelvis", first, float(pelvis[first]), PELVIS_DEG_S))
    heights = own.feet.soles[..., 1]
    for k, sole in enumerate(SOLES):
        limit = float(own.feet.floors[k]) - SINK_M
        for first, stop in runs(heights[:, k] < limit):
            failures.append(
                Failure("sinking", sole, first, float(heights[first:stop, k].min()), limit)
            )
    for slide, k, frame in own.feet.contact_slides():
        if slide > SLIDE_M:
            failures.append(Failure("contact slide", SOLES[k], frame, slide, SLIDE_M))
    return failures


def independent(
    motion: ml.Motion,
    sources: Sequence[Captured],
    labels: ml.Footplants,
    copied_from: int | None = None,
) -> list[Failure]:
    """The audit's check: of a clip on its own, or of a result."""
    if not sources:
        return clip_failures(motion)
    copied = [] if copied_from is None else [Copied(0, motion.n_frames, 0, copied_from)]
    result = Result(points_of(motion, labels), copied)
    return check(result, Sources([source.own for source in sources]))


SAME_AS = {
    "one-frame flip": "flip",
    "one-frame jump": "jump",
    "rotation speed": "turn",
    "acceleration": "accel",
    "capture glitch": "glitch",
    "knee bent backwards": "knee backwards",
    "knee folded": "knee overbent",
    "sole below the floor": "sinking",
    "sliding contact": "contact slide",
    "dragged foot": "low slide",
}
"""Checks of ``ml.verify`` by the names that the audit has for them."""


@lru_cache(maxsize=8)
def _quality_check(sources: tuple[Captured, ...]) -> QualityCheck:
    return QualityCheck(
        [source.motion for source in sources], footplants=[source.footplants for source in sources]
    )


def motionlooms(
    motion: ml.Motion,
    sources: Sequence[Captured],
    labels: ml.Footplants,
    copied_from: int | None = None,
) -> list[Failure]:
    """The product's own check."""
    if not sources:
        verdict = ml.verify(motion)
    else:
        provenance = None
        if copied_from is not None:  # every frame counts as changed: all are judged
            provenance = Provenance.of_edit("clip", motion.fps, copied_from, motion.n_frames)
        quality_check = _quality_check(tuple(sources))
        verdict = quality_check.verify(motion, footplants=labels, provenance=provenance)
    return [
        Failure(SAME_AS.get(f.check, f.check), f.joint, f.frame, f.value, f.limit)
        for f in verdict.failed
    ]


CHECKERS: dict[str, Checker] = {"independent": independent, "motionloom": motionlooms}
