"""The quality check of a retargeted motion: each body role against itself in the source."""

from __future__ import annotations

import numpy as np

from motionloom.features.checks.failed import failed_checks
from motionloom.features.checks.judge import MOST_FOUND, judge
from motionloom.features.checks.limits import (
    DRAG,
    SLIDE,
    Limits,
    drag_length,
    floor_heights,
    measure_limits,
)
from motionloom.features.checks.rig import CheckRig, rig_of_body
from motionloom.features.checks.series import Series, measure_series, new_series
from motionloom.features.jumps import find_jumps
from motionloom.features.verify import COPIED_MORE, Verification, glitch_mask, new_glitches
from motionloom.motion.body import ROLES
from motionloom.motion.contacts import Footplants
from motionloom.motion.knees import find_knees
from motionloom.motion.motion import Motion
from motionloom.retargeting.neutral import Stance

__all__ = ["verify_retarget"]

MORE_SPEED = 1.2
"""Speeds and accelerations may grow so much more than the distance from the pelvis does: spines of
one and of five joints bend at other places."""
SAME_HEIGHT_M = 0.005
"""Feet in the air are as high as the source's to within this: a drag of the source is measured up
to so much higher than one of the result."""


def verify_retarget(
    made: Motion, source: Motion, footplants: Footplants, stance: Stance, target: Stance
) -> Verification:
    """Whether every body role moves as it does in the source.

    Bones of both skeletons differ, so joints with the same role are compared: rotations in the
    world, speeds relative to the pelvis and scaled by the distance from it. Contacts are compared
    like copied frames: they may slide as far as the source's, and 15 % more.

    Parameters
    ----------
    made, source
        The retargeted motion, and the motion that it came from.
    footplants
        Contacts of both.
    stance, target
        Roles and feet of the source and of the result.
    """
    body, target_body = stance.body, target.body
    roles = [
        role
        for role in ROLES
        if role not in ("pelvis", "spine")
        and getattr(body, role) is not None
        and getattr(target_body, role) is not None
    ]
    rigs = [_by_roles(m, each, roles) for m, each in ((source, stance), (made, target))]
    scale = _leg(made, rigs[1]) / max(_leg(source, rigs[0]), 1e-9)
    theirs, ours = (_series(rig, m) for rig, m in zip(rigs, (source, made), strict=True))
    theirs = theirs._replace(
        soles=scale * theirs.soles, lowest=scale * theirs.lowest, pelvis=scale * theirs.pelvis
    )
    if "neck" in roles and "head" not in roles:  # such a neck turns as the source's head does
        neck = 1 + roles.index("neck")
        theirs.turn[:, neck] = np.maximum(theirs.turn[:, neck], theirs.head)
    reaches = _reach(made, rigs[1]) / np.maximum(_reach(source, rigs[0]), 1e-3)
    reaches = np.maximum(reaches, scale)
    for n, role in enumerate(roles, start=1):  # after the pelvis
        if role.endswith("toe"):  # rigs draw feet of very different lengths
            side = 0 if role.startswith("left") else 1
            reaches[n] = max(reaches[n], _foot_length(target, side) / _foot_length(stance, side))
    reaches *= MORE_SPEED
    jumps, own_jumps = find_jumps(made, body=target_body), find_jumps(source, body=body)
    passed_on = glitch_mask(made, [jump.frame for jump in own_jumps])
    none = glitch_mask(source, [])
    limits = measure_limits(rigs[0], theirs, footplants.planted, source.fps, none)
    limits.body[DRAG] = max(
        drag_length(theirs.soles[:, k : k + 2], limits.floor[k : k + 2] + SAME_HEIGHT_M, made.fps)
        for k in (0, 2)
    )
    limits = _over_floor(limits, floor_heights(ours, footplants.planted))._replace(
        speed=reaches * limits.speed, bend=reaches * limits.bend
    )
    allowed = COPIED_MORE * np.stack(
        [theirs.turn, reaches * theirs.speed, reaches * theirs.bend], axis=-1
    )
    found = np.zeros((MOST_FOUND, 5))
    n = judge(
        ours, limits, footplants.planted, made.fps, 0, made.n_frames - 1, none, np.zeros(0), True,
        allowed, found,
    )  # fmt: skip
    failed = failed_checks(rigs[1], made.skeleton.names, found[:n])
    failed += new_glitches(jumps, passed_on, 0, made.n_frames - 1)
    return Verification(not failed, tuple(failed), (), jumps)


def _by_roles(motion: Motion, stance: Stance, roles: list[str]) -> CheckRig:
    """A rig that judges joints by role, relative to the pelvis, with the feet of a stance."""
    body = stance.body
    knees = find_knees(motion.skeleton, body, motion=motion)
    rig = rig_of_body(motion.skeleton, body, knees, stance.feet)
    pelvis = int(rig.judged[0])
    joints = [pelvis, *(int(getattr(body, role)) for role in roles)]
    return rig._replace(
        parents=np.full_like(rig.parents, pelvis),
        judged=np.array(joints, dtype=np.int64),
        carriers=np.zeros(0, dtype=np.int64),
    )


def _series(rig: CheckRig, motion: Motion) -> Series:
    """What is measured of a motion, rotations in the world."""
    positions, world = motion.world_pose()
    out = new_series(rig, motion.n_frames)
    measure_series(rig, motion.fps, positions, world, world, out)
    return out


def _leg(motion: Motion, rig: CheckRig) -> float:
    """Mean length of both legs, metres."""
    if not len(rig.legs):
        return 1.0
    positions = motion.world_positions()[0]
    return float(
        np.mean(
            [
                np.linalg.norm(positions[knee] - positions[hip])
                + np.linalg.norm(positions[ankle] - positions[knee])
                for hip, knee, ankle in rig.legs
            ]
        )
    )


def _foot_length(stance: Stance, side: int) -> float:
    """From ankle to ball, metres."""
    return max(float(np.linalg.norm(stance.feet[side].ball)), 1e-3)


def _reach(motion: Motion, rig: CheckRig) -> np.ndarray:
    """Mean distance of judged joints from the pelvis, metres. (N,)."""
    positions = motion.world_positions()[:, rig.judged]
    return np.asarray(np.linalg.norm(positions - positions[:, :1], axis=-1).mean(axis=0))


def _over_floor(limits: Limits, floors: np.ndarray) -> Limits:
    """Limits of the source with its soles over the floors (4,) of the result.

    A heel is compared over the floor of its ball: one that digs in whenever it stands would
    otherwise be its own floor.
    """
    body = np.array(limits.body)
    body[SLIDE] *= COPIED_MORE
    balls = np.array([1, 1, 3, 3])
    return limits._replace(
        sole=floors[balls] + np.minimum(limits.sole - limits.floor[balls], 0.0),
        floor=floors,
        highest=floors,
        body=body,
    )
