"""The quality check of a retargeted motion: each body role against itself in the source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, running_maximum
from motionloom.body.anatomy import find_knees
from motionloom.body.body_map import ROLES
from motionloom.body.neutral import Stance
from motionloom.features.checks.source_limits import (
    COPIED_MORE,
    LANDS,
    QUICK_M_S,
    STANDS,
    CheckedMotion,
    CheckRig,
    Limits,
    Series,
    contact_slides,
    drag_lengths,
    floor_heights,
    judge,
    measure_limits,
    measure_series,
    new_series,
    no_grounds,
    rig_of_body,
)
from motionloom.features.checks.verification import (
    MOST_FOUND,
    FailedCheck,
    Verification,
    failed_checks,
)
from motionloom.features.glitches.glitch_frames import Glitch, find_glitches, glitch_mask
from motionloom.motion.motion import Footplants, Motion

MORE_SPEED = 1.2
"""Speeds and accelerations may grow so much more than the distance from the pelvis does: spines of
one and of five joints bend at other places."""
DEEPEST_M = 0.03
"""A heel is at most so far under its ball's floor in the source: one that seems deeper is measured
on a rest pose whose feet are not flat."""
FLOATING_M = 0.06
"""Soles of the result stand at most so far above or below those of the source, in its size."""
SAME_HEIGHT_M, SAME_SPEED = 0.005, 1.2
"""Feet in the air are as high and as fast as the source's to within these: a drag of the source is
measured so much higher and slower than one of the result, which ends at sharp limits."""


def verify_retarget(
    retargeted: Motion, source: Motion, footplants: Footplants, stance: Stance, target: Stance
) -> Verification:
    """Whether every body role moves as it does in the source.

    Bones of both skeletons differ, so joints with the same role are compared: rotations in the
    world, speeds relative to the pelvis and scaled by the distance from it. Contacts are compared
    like copied frames: they may slide as far as the source's, and 15 % more.

    Parameters
    ----------
    retargeted, source
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
    rigs = [_by_roles(m, each, roles) for m, each in ((source, stance), (retargeted, target))]
    scale = _leg(retargeted, rigs[1]) / max(_leg(source, rigs[0]), 1e-9)
    theirs, ours = (_series(rig, m) for rig, m in zip(rigs, (source, retargeted), strict=True))
    theirs = theirs._replace(
        soles=scale * theirs.soles, lowest=scale * theirs.lowest, pelvis=scale * theirs.pelvis
    )
    if "neck" in roles and "head" not in roles:  # such a neck turns as the source's head does
        neck = 1 + roles.index("neck")
        theirs.turn[:, neck] = np.maximum(theirs.turn[:, neck], theirs.head)
    planted, fps = footplants.planted, retargeted.fps
    none = glitch_mask(source, [])
    limits = measure_limits(rigs[0], theirs, planted, fps, none)
    floors, stands = (
        floor_heights(ours.soles, ours.lowest, planted, part) for part in (LANDS, STANDS)
    )
    rise = float(np.median(floors - limits.floor))
    reaches = _reaches(retargeted, source, rigs, scale)
    limits = _over_floor(limits, floors)._replace(
        highest=stands,
        slide=COPIED_MORE * _slides(theirs, planted, rigs, scale, fps),
        drag=drag_lengths(theirs.soles, limits.floor + SAME_HEIGHT_M, SAME_SPEED * fps),
        speed=reaches * limits.speed,
        bend=reaches * limits.bend,
        quick=np.full_like(limits.speed, QUICK_M_S),
    )
    copied = np.stack([theirs.turn, reaches * theirs.speed, reaches * theirs.bend], axis=-1)
    allowed = COPIED_MORE * running_maximum(copied, 1)  # in that frame or next to it
    rows = np.zeros((MOST_FOUND, 5))
    checked = CheckedMotion(ours, planted, fps, 0, retargeted.n_frames - 1, none)
    n = judge(checked, limits, allowed, no_grounds(), rows)
    failed = failed_checks(rigs[1], retargeted.skeleton.names, rows[:n])
    if abs(rise) > FLOATING_M:
        failed.append(FailedCheck("floating", "body", 0, 100.0 * rise, 100.0 * FLOATING_M, "cm"))
    glitches = find_glitches(retargeted, body=target_body)
    passed_on = glitch_mask(retargeted, [each.frame for each in find_glitches(source, body=body)])
    new = [glitch for glitch in glitches if not passed_on[glitch.frame]]
    failed += _new_glitches(new, retargeted.skeleton.names, rigs[1], ours.bend, allowed[..., 2])
    return Verification(not failed, tuple(failed), (), glitches)


def _new_glitches(
    glitches: Sequence[Glitch],
    names: Sequence[str],
    rig: CheckRig,
    bend: FloatArray,
    most: FloatArray,
) -> list[FailedCheck]:
    """Glitches in which a joint accelerates (F, N) more than it may by the source (F, N)."""
    columns = {names[joint]: n for n, joint in enumerate(rig.checked.tolist())}
    by_joint: dict[str, FailedCheck] = {}
    for glitch in glitches:
        near = slice(max(glitch.frame - 2, 0), glitch.frame + 3)
        n = columns.get(glitch.joint)
        if n is None or bend[near, n].max() > most[near, n].max():
            failed = FailedCheck("capture glitch", glitch.joint, glitch.frame, 1.0, 0.0, "")
            by_joint.setdefault(glitch.joint, failed)
    return list(by_joint.values())


def _by_roles(motion: Motion, stance: Stance, roles: list[str]) -> CheckRig:
    """A rig that judges joints by role, relative to the pelvis, with the feet of a stance."""
    body = stance.body
    knees = find_knees(motion.skeleton, body, motion=motion)
    rig = rig_of_body(motion.skeleton, body, knees, stance.feet)
    pelvis = int(rig.checked[0])
    joints = [pelvis, *(int(getattr(body, role)) for role in roles)]
    return rig._replace(
        parents=np.full_like(rig.parents, pelvis),
        checked=np.array(joints, dtype=np.int64),
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


def _reaches(
    retargeted: Motion, source: Motion, rigs: Sequence[CheckRig], scale: float
) -> FloatArray:
    """How many times as fast as in the source each checked joint may move. (N,).

    By its mean distance from the pelvis, and for toes also by the length of the foot, which rigs
    draw very differently.
    """
    ways, feet = [], []
    for motion, rig in ((source, rigs[0]), (retargeted, rigs[1])):
        positions = motion.world_positions()
        checked = positions[:, rig.checked]
        ways.append(np.linalg.norm(checked - checked[:, :1], axis=-1).mean(axis=0))
        parents = np.array(motion.skeleton.parents)[rig.checked]
        feet.append(np.linalg.norm(checked - positions[:, parents], axis=-1).mean(axis=0))
    reaches = np.maximum(ways[1] / np.maximum(ways[0], 1e-3), scale)
    toes = np.isin(np.array(retargeted.skeleton.parents)[rigs[1].checked], rigs[1].legs[:, 2])
    longer = feet[1] / np.maximum(feet[0], 1e-3)
    return np.asarray(MORE_SPEED * np.where(toes, np.maximum(reaches, longer), reaches))


def _slides(
    theirs: Series, planted: BoolArray, rigs: Sequence[CheckRig], scale: float, fps: float
) -> FloatArray:
    """How far contacts of the source slide, had it feet as long as the result's.

    A foot that turns on its ball moves its heel; a longer one moves it farther.
    """
    lengths = [np.linalg.norm(rig.soles[:, 0] - rig.soles[:, 1], axis=-1) for rig in rigs]
    longer = np.maximum(lengths[1] / np.maximum(scale * lengths[0], 1e-3), 1.0)
    soles = np.array(theirs.soles)
    soles[:, 0::2] = soles[:, 1::2] + longer[:, None] * (soles[:, 0::2] - soles[:, 1::2])
    return contact_slides(soles, planted, fps)


def _over_floor(limits: Limits, floors: FloatArray) -> Limits:
    """Limits of the source with its soles over the floors (4,) of the result.

    A heel is compared over the floor of its ball: one that digs in whenever it stands would
    otherwise be its own floor. One that seems to dig in deep in the source is no reason to.
    """
    balls = np.array([1, 1, 3, 3])
    deepest = np.array([-DEEPEST_M, -np.inf, -DEEPEST_M, -np.inf])
    return limits._replace(
        sole=floors[balls] + np.clip(limits.sole - limits.floor[balls], deepest, 0.0), floor=floors
    )
