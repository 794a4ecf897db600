"""Pair: two clips made ready to be joined."""

from __future__ import annotations

from dataclasses import dataclass

from motionloom._arrays import IntArray
from motionloom.body.body_map import BodyMap
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.retargeting.match import MatchedClips

NAMES = ("A", "B")


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two clips on one skeleton, at one rate, travelling on their roots, repaired."""

    a: Motion
    b: Motion
    footplants: tuple[Footplants, Footplants]
    glitches: tuple[IntArray, IntArray]
    """Frames that are glitched and could not be repaired."""
    body: BodyMap
    check: QualityCheck
    """Of everything that is made from the two."""
    notes: tuple[str, ...]
    """What was done to make them ready."""


def pair_of(matched: MatchedClips, *, repair_knees: bool = True) -> Pair:
    """Two matched clips with their captures repaired.

    Parameters
    ----------
    matched
        The clips, on one skeleton and at one rate.
    repair_knees
        Whether knees captured bent backwards are repaired.
    """
    notes = matched.named_notes(NAMES)
    ready, glitches = [], []
    for name, clip in zip(NAMES, matched.motions, strict=True):
        repaired = repair_capture(clip, body=matched.body, knees=repair_knees)
        notes += [f"{name}: {note}" for note in repaired.notes]
        ready.append(repaired.motion)
        glitches.append(repaired.glitches)
    first, second = matched.footplants
    return Pair(
        ready[0],
        ready[1],
        (first, second),
        (glitches[0], glitches[1]),
        matched.body,
        QualityCheck(ready, footplants=(first, second), body=matched.body),
        tuple(notes),
    )
