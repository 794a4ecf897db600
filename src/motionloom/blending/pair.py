"""Pair: two clips made ready to be joined."""

from __future__ import annotations

from dataclasses import dataclass

from motionloom._arrays import IntArray
from motionloom.features.footplants import detect_footplants
from motionloom.features.repair import repair_capture, resample_repaired
from motionloom.features.verify import QualityCheck
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.motion.root_motion import travel_on_root

__all__ = ["Pair", "pair_of"]


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


def pair_of(
    a: Motion,
    b: Motion,
    *,
    footplants: tuple[Footplants, Footplants] | None = None,
    body: BodyMap | None = None,
    repair_knees: bool = True,
) -> Pair:
    """The clips made ready; B takes A's rate.

    Parameters
    ----------
    a, b
        Clips on one skeleton.
    footplants
        Contacts of A, and of B at A's rate; detected where not given.
    body
        Roles of the joints; guessed where not given.
    repair_knees
        Whether knees captured bent backwards are repaired.
    """
    notes: list[str] = []
    if abs(b.fps - a.fps) > 1e-3 * a.fps:
        b, repairs = resample_repaired(b, a.fps)
        notes += [f"B: {note}" for note in repairs]
    b = b.replace(fps=a.fps)
    body = BodyMap.guess(a.skeleton) if body is None else body
    ready, glitches = [], []
    for name, clip in (("A", a), ("B", b)):
        travelling = travel_on_root(clip, body=body)
        if travelling is not clip:
            notes.append(f"{name}: travel and heading moved to the root bone")
        repaired = repair_capture(travelling, body=body, knees=repair_knees)
        notes += [f"{name}: {note}" for note in repaired.notes]
        ready.append(repaired.motion)
        glitches.append(repaired.glitches)
    plants = footplants or (
        detect_footplants(ready[0], body=body),
        detect_footplants(ready[1], body=body),
    )
    return Pair(
        ready[0],
        ready[1],
        plants,
        (glitches[0], glitches[1]),
        body,
        QualityCheck(ready, footplants=plants, body=body),
        tuple(notes),
    )
