"""Repair of knees that were captured bent backwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.feet import SIDES
from motionloom.body.knees import Knee, find_knees, hinge_flexion, local_flexion
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.rotation.easing import smoothstep

LEAST_FLEXION = np.radians(-5.0)
"""A knee bent backwards by more than this is a capture defect: healthy knees stop at about it."""
ROUND = np.radians(5.0)
"""A repaired knee turns round over this angle instead of at once: ankles move by under 1 mm."""
UNTOUCHED = np.radians(20.0)
"""Frames bent by more than this stay as they are when others of the clip are repaired."""
BARELY = np.radians(-1.0)
"""A clip whose knees never go below this is left as it is."""


class KneeRepair(NamedTuple):
    """A motion whose knees bend forwards only, and what was repaired."""

    motion: Motion
    notes: tuple[str, ...]
    """One line per repaired knee with frames and angle; empty where nothing was wrong."""


def repair_knees(
    motion: Motion,
    *,
    body: BodyMap | None = None,
    knees: tuple[Knee, Knee] | None = None,
    pose: tuple[FloatArray, FloatArray] | None = None,
) -> KneeRepair:
    """The motion with knees that bend forwards only; hips, ankles and feet stay where they are.

    A leg bent backwards by an angle is bent forwards by it, which leaves its span, and so the
    ankle, alone. Near full stretch the angle is rounded so that a knee which passed through it
    turns round smoothly; ankles move by under a millimetre there.

    Parameters
    ----------
    motion
        Any clip with legs; one without comes back as it is.
    body
        Roles of its joints; guessed by default.
    knees
        From :func:`find_knees`; found in the clip by default.
    pose
        ``motion.world_pose()``, where the caller has it already.
    """
    body = roles_for(motion.skeleton, body)
    needed = [f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle")]
    if any(getattr(body, role) is None for role in needed):
        return KneeRepair(motion, ())
    knees = find_knees(motion.skeleton, body, motion=motion) if knees is None else knees
    if all(local_flexion(motion, knee).min() > BARELY for knee in knees):
        return KneeRepair(motion, ())
    positions, world = motion.world_pose() if pose is None else pose
    quats, notes = np.array(motion.local_quats), []
    parents = motion.skeleton.parents
    for side, knee in zip(SIDES, knees, strict=True):
        flexion, axis, thigh, shank = hinge_flexion(knee, positions, world)
        if flexion.min() > BARELY:
            continue
        wanted = _rounded(flexion)
        frames = np.flatnonzero(np.abs(wanted - flexion) > 1e-9)
        before, after = (
            np.arctan2(shank * np.sin(angle), thigh + shank * np.cos(angle))
            for angle in (flexion, wanted)
        )
        turn = quat.from_axis_angle(axis[frames], (before - after)[frames])
        fold = quat.from_axis_angle(axis[frames], (before - after + wanted - flexion)[frames])
        hip_parent = world[frames, parents[knee.hip]] if knee.hip else quat.IDENTITY
        for joint, above, own in (
            (knee.hip, hip_parent, quat.multiply(turn, world[frames, knee.hip])),
            (
                knee.knee,
                quat.multiply(turn, world[frames, parents[knee.knee]]),
                quat.multiply(fold, world[frames, knee.knee]),
            ),
            (
                knee.ankle,
                quat.multiply(fold, world[frames, parents[knee.ankle]]),
                world[frames, knee.ankle],
            ),
        ):
            quats[frames, joint] = quat.multiply(quat.conjugate(above), own)
        if flexion.min() < LEAST_FLEXION:
            notes.append(describe_backward_knee(side, flexion))
    if np.array_equal(quats, motion.local_quats):
        return KneeRepair(motion, ())
    return KneeRepair(motion.replace(local_quats=quat.make_continuous(quats)), tuple(notes))


def _rounded(flexion: FloatArray) -> FloatArray:
    """Flexion folded to the forward side, smooth near 0, unchanged above ``UNTOUCHED``."""
    u = np.clip((flexion - ROUND) / (UNTOUCHED - ROUND), 0.0, 1.0)
    share = 1.0 - smoothstep(u)
    return np.asarray(flexion + share * (np.sqrt(flexion**2 + ROUND**2) - flexion))


def describe_backward_knee(side: str, flexion: FloatArray) -> str:
    """One line: which knee bends backwards, by how much, in how many frames and where worst."""
    worst = int(np.argmin(flexion))
    many = int((flexion < LEAST_FLEXION).sum())
    return (
        f"the {side} knee bends backwards by more than {-np.degrees(LEAST_FLEXION):.0f} degrees in "
        f"{many} of {len(flexion)} frames, most in frame {worst} "
        f"({-np.degrees(flexion[worst]):.0f} degrees)"
    )
