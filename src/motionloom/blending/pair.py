"""Pair: two clips made ready to be joined."""

from __future__ import annotations

from dataclasses import dataclass

from motionloom._arrays import IntArray
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.features.footplants import detect_footplants
from motionloom.features.repair import repair_capture, resample_repaired
from motionloom.features.verify import QualityCheck
from motionloom.motion.body import BodyMap, roles_for
from motionloom.motion.contacts import Footplants, contacts_for
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
    if not a.skeleton.same_joints(b.skeleton):
        raise SkeletonMismatchError(
            f"Clips must have the same joints to be joined; {a!r} and {b!r} have not. "
            "Use ml.retarget(b, a.skeleton) first."
        )
    notes: list[str] = []
    body = roles_for(a.skeleton, body)
    if abs(b.fps - a.fps) > 1e-3 * a.fps:
        b, repairs = resample_repaired(b, a.fps)
        notes += [f"B: {note}" for note in repairs]
    b = b.replace(fps=a.fps)
    ready, glitches = [], []
    for name, clip in (("A", a), ("B", b)):
        travelling = travel_on_root(clip, body=body)
        if travelling is not clip:
            notes.append(f"{name}: travel and heading moved to the root bone")
        repaired = repair_capture(travelling, body=body, knees=repair_knees)
        notes += [f"{name}: {note}" for note in repaired.notes]
        ready.append(repaired.motion)
        glitches.append(repaired.glitches)
    plants = _plants(ready, footplants, body)
    return Pair(
        ready[0],
        ready[1],
        plants,
        (glitches[0], glitches[1]),
        body,
        QualityCheck(ready, footplants=plants, body=body),
        tuple(notes),
    )


def _plants(
    clips: list[Motion], footplants: tuple[Footplants, Footplants] | None, body: BodyMap
) -> tuple[Footplants, Footplants]:
    """Contacts of both clips: those given, checked, or detected ones."""
    if footplants is None:
        first, second = (detect_footplants(clip, body=body) for clip in clips)
        return first, second
    if not isinstance(footplants, tuple | list) or len(footplants) != 2:
        raise ArrayError(
            f"`footplants` must be the contacts of A and of B, got {type(footplants).__name__}."
        )
    first, second = (
        contacts_for(plants, clip.n_frames, f"footplants[{k}]")
        for k, (plants, clip) in enumerate(zip(footplants, clips, strict=True))
    )
    return first, second
