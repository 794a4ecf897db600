"""Knees that were captured bent backwards: found at load, repaired only where motion is made."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import SIDES
from motionloom.body.knees import (
    LEAST_FLEXION,
    Knee,
    describe_backward_knee,
    find_knees,
    local_flexion,
)
from motionloom.errors import SkeletonMismatchError
from motionloom.findings import Finding, Level
from motionloom.motion.edit import pick
from motionloom.motion.motion import Motion

LOOKED_AT = 60
"""Frames of a clip that are enough to find the hinges of its knees."""
SEEN = 2.0 * LEAST_FLEXION
"""A knee bent backwards by more than this looks broken: a warning, not a note."""
FIX = "Functions that make motion repair it; repair_knees=False keeps it."


def knee_findings(motion: Motion, body: BodyMap) -> list[Finding]:
    """A finding per knee that bends backwards; empty for bodies without legs.

    Parameters
    ----------
    motion
        The clip, Y up.
    body
        Roles of its joints.
    """
    needed = [f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle")]
    if any(getattr(body, role) is None for role in needed):
        return []
    step = -(-motion.n_frames // LOOKED_AT)
    try:
        knees = find_knees(motion.skeleton, body, motion=pick(motion, slice(None, None, step)))
    except SkeletonMismatchError:  # feet that show no direction
        return []
    findings = []
    for side, knee in zip(SIDES, knees, strict=True):
        flexion = local_flexion(motion, knee)
        if flexion.min() < LEAST_FLEXION:
            findings.append(_finding(side, knee, flexion, motion))
    return findings


def _finding(side: str, knee: Knee, flexion: FloatArray, motion: Motion) -> Finding:
    worst = int(np.argmin(flexion))
    where = f"frame {worst}, {motion.skeleton.names[knee.knee]}"
    level: Level = "warning" if flexion[worst] < SEEN else "note"
    return Finding(level, where, f"{describe_backward_knee(side, flexion)}.", FIX)
