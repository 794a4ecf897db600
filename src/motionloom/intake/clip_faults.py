"""Find faults of a clip: a T-pose in front, knees bent backwards, a root bone that lies still."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.anatomy import (
    LEAST_FLEXION,
    SIDES,
    Knee,
    describe_backward_knee,
    find_knees,
    local_flexion,
)
from motionloom.body.body_map import BodyMap
from motionloom.errors import SkeletonMismatchError
from motionloom.findings import Finding, Level
from motionloom.motion.edit import pick
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

JUMP_DEG = 12.0
"""Least turn of some joint from the T-pose into the clip; captured frames follow smoothly."""
JUMP_RATIO = 7.0
"""Least ratio of that turn to the usual turns in the frames that follow: added T-poses of 146 real
clips have 12 and more, and the arms that swing out of a captured one (three_pirouette) 4.3."""
LEVEL_ARM = np.sin(np.radians(25.0))
"""An arm is held out level when its slope is below this."""
AT_REST_DEG = 1.0
LONGEST_FRAMES = 24
"""Leading frames that are searched: a T-pose that is held longer is a part of the take."""
KNEE_FRAMES = 60
"""Frames of a clip that are enough to find the hinges of its knees."""
BROKEN = 2.0 * LEAST_FLEXION
"""A knee bent backwards by more than this looks broken: a warning, not a note."""
KNEE_FIX = "Functions that make motion repair it; repair_knees=False keeps it."
STILL_M, TRAVELS_M = 0.01, 0.2
"""A root that strays less than the first over the ground lies still; a pelvis that strays more
than the second travels."""


def count_t_pose_frames(motion: Motion, body: BodyMap) -> int:
    """How many leading frames are a T-pose, or the rest pose, that jumps into the real motion.

    Zero where there is no jump: a performer who starts in a T-pose and moves out of it is motion.
    Zero for clips of one or two frames, which have no motion to tell from, and for things that
    are not people.

    Parameters
    ----------
    motion
        Y up, F frames.
    body
        Which joint is which.
    """
    arms = _arms(body)
    if motion.n_frames < 3 or arms is None:
        return 0
    few = motion.local_quats[:LONGEST_FRAMES]
    turns = np.degrees(quat.angle_between(few[1:], few[:-1])).max(axis=1)  # (up to 23,)
    moved = np.flatnonzero(turns > 1e-3)
    if not moved.size:
        return 0
    held = int(moved[0]) + 1
    # Glitches often follow the T-pose, so the usual turn is the median, not the largest.
    usual = float(np.median(turns[held:])) if turns[held:].size else 0.0
    if turns[held - 1] < max(JUMP_DEG, JUMP_RATIO * usual):
        return 0
    return held if _is_at_rest(motion) or _is_t(motion, arms) else 0


def _arms(body: BodyMap) -> tuple[tuple[int, int], ...] | None:
    """Shoulder and the farthest joint of each arm; None where an arm is missing."""
    arms = []
    for side in ("left", "right"):
        top = getattr(body, f"{side}_shoulder")
        end = getattr(body, f"{side}_wrist")
        if end is None:
            end = getattr(body, f"{side}_elbow")
        if top is None or end is None:
            return None
        arms.append((int(top), int(end)))
    return tuple(arms)


def _is_at_rest(motion: Motion) -> bool:
    turned = quat.angle_between(motion.local_quats[0], motion.skeleton.rest_quats)
    return bool(np.degrees(turned).max() < AT_REST_DEG)


def _is_t(motion: Motion, arms: tuple[tuple[int, int], ...]) -> bool:
    """Whether in the first frame both arms are held out level, away from one another."""
    positions = motion[:1].world_positions()
    directions: list[FloatArray] = []
    for top, end in arms:
        arm = positions[0, end] - positions[0, top]
        length = float(np.linalg.norm(arm))
        if length == 0.0:
            return False
        directions.append(arm / length)
    left, right = directions
    level = max(abs(left[1]), abs(right[1])) < LEVEL_ARM
    return bool(level and left @ right < -0.8)


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
    step = -(-motion.n_frames // KNEE_FRAMES)
    try:
        knees = find_knees(motion.skeleton, body, motion=pick(motion, slice(None, None, step)))
    except SkeletonMismatchError:  # feet that show no direction
        return []
    findings = []
    for side, knee in zip(SIDES, knees, strict=True):
        flexion = local_flexion(motion, knee)
        if flexion.min() < LEAST_FLEXION:
            findings.append(_knee_finding(side, knee, flexion, motion))
    return findings


def _knee_finding(side: str, knee: Knee, flexion: FloatArray, motion: Motion) -> Finding:
    worst = int(np.argmin(flexion))
    where = f"frame {worst}, {motion.skeleton.names[knee.knee]}"
    level: Level = "warning" if flexion[worst] < BROKEN else "note"
    return Finding(level, where, f"{describe_backward_knee(side, flexion)}.", KNEE_FIX)


def root_bone_findings(motion: Motion, body: BodyMap) -> list[Finding]:
    """A note where the travel of a clip is on the pelvis and its root bone lies still.

    Parameters
    ----------
    motion
        The clip, Y up.
    body
        Roles of its joints.
    """
    moving = motion.joint_translations
    if not body.pelvis or moving is None:
        return []
    chain = list(motion.skeleton.chain(body.pelvis)[1:])
    still = np.ptp(motion.root_positions[:, [0, 2]], axis=0).max() < STILL_M
    way = float(np.ptp(moving[:, chain].sum(axis=1), axis=0).max())
    if not still or way < TRAVELS_M:
        return []
    root, pelvis = motion.skeleton.names[0], motion.skeleton.names[body.pelvis]
    return [
        Finding(
            "note",
            root,
            f"the root bone lies still and {pelvis} travels {way:.1f} m in it.",
            "Functions that make motion move travel and heading to the root bone.",
        )
    ]
