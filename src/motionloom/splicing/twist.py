"""Twist: how far shoulders turn against hips, and what of it a splice gets back.

A torso that moves as the locomotion's does no longer winds up for a throw; the paper names this its
first limit. So the twist that the action makes on top of its own gait is added to the
locomotion's.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._filters import running_maximum
from motionloom.body.body_map import BodyMap
from motionloom.rotation import quat
from motionloom.rotation.easing import smoothstep
from motionloom.splicing.posture import SWAY_S, Posed, hip_frames
from motionloom.splicing.smoothing import smooth_points

MATTERS = np.radians(8.0)
"""Lost twist that is reported; a walk's own shoulders turn about so much."""
UPRIGHT = np.cos(np.radians(45.0))
"""A trunk that is bent deeper has no twist to speak of."""
FULLY = np.cos(np.radians(30.0))
"""A trunk that is bent less has all of its twist."""
OWN = np.radians([4.0, 10.0])
"""Twists smaller than the first are those of single steps; larger ones than the second are what the
action does."""
AROUND_S = 0.3
"""Seconds before and after a large twist that belong to it."""
PIVOT_S = 1.0
"""Seconds to either side over which the heading of a standing body is averaged: hips that turn
faster, turn with the shoulders on feet that stay."""
MOST_PIVOT, MOST_TWIST = np.radians(20.0), np.radians(50.0)
"""How far hips turn on feet that stay, and how far shoulders turn against hips."""


def twists(positions: FloatArray, body: BodyMap) -> FloatArray:
    """Turn of the shoulders against the hips, radians; zero where the trunk is bent. (F,)."""
    joints = body.require(
        "left_shoulder", "right_shoulder", "left_hip", "right_hip", task="measuring a twist"
    )
    left, right, left_hip, right_hip = (positions[:, j] for j in joints)
    across = quat.rotate(hip_frames(positions, body), left - right)
    trunk = left + right - left_hip - right_hip
    upright = trunk[:, 1] > UPRIGHT * np.linalg.norm(trunk, axis=-1)
    return np.where(upright, np.arctan2(-across[:, 2], across[:, 0]), 0.0)


def kept_twist(action: Posed, spliced: Posed, body: BodyMap, *, walks: bool) -> FloatArray:
    """Turn of the shoulders to the left that the action makes beyond its gait, radians. (N,).

    The action's twist is that of its gait and that of what it does. Its gait is in step with the
    locomotion, so the share of the first is found by regression on the locomotion's twist: all of
    it for a motion on itself, and next to none for an action that stands.

    Parameters
    ----------
    action, spliced
        The action at the splice's times, and the splice so far, whose torso moves as the
        locomotion's.
    body
        Which joint is which.
    walks
        Whether the action was captured walking. On a standing body the turn of the hips on the feet
        counts too.
    """
    fps = spliced.motion.fps
    theirs, ours = (_twist_about_mean(posed, body) for posed in (action, spliced))
    if not walks:
        theirs, ours = theirs + _pivots(action, body), ours + _pivots(spliced, body)
    gait = float(theirs @ ours) / max(float(ours @ ours), 1e-12)
    theirs = theirs - np.clip(gait, 0.0, 1.0) * ours
    half = max(1, round(AROUND_S * fps))
    size = running_maximum(np.abs(theirs), half)
    share = smoothstep(np.clip((size - OWN[0]) / (OWN[1] - OWN[0]), 0.0, 1.0))
    return _smooth(_at_most(share * theirs, MOST_TWIST), fps, SWAY_S, 2)


def _twist_about_mean(posed: Posed, body: BodyMap) -> FloatArray:
    """Twists of a trunk, fading where it is bent, about their mean. (N,)."""
    positions = posed.positions
    joints = body.require(
        "left_shoulder", "right_shoulder", "left_hip", "right_hip", task="measuring a twist"
    )
    left, right, left_hip, right_hip = (positions[:, j] for j in joints)
    trunk = left + right - left_hip - right_hip
    up = trunk[:, 1] / np.maximum(np.linalg.norm(trunk, axis=-1), 1e-9)
    upright = smoothstep(np.clip((up - UPRIGHT) / (FULLY - UPRIGHT), 0.0, 1.0))
    angles = twists(positions, body)
    mean = float(np.average(angles, weights=upright + 1e-9))
    return np.asarray(upright * (angles - mean))


def _pivots(posed: Posed, body: BodyMap) -> FloatArray:
    """Fast turns of the hips to the left, radians. (N,)."""
    left, right = body.require("left_hip", "right_hip", task="measuring a twist")
    across = posed.positions[:, left] - posed.positions[:, right]
    heading = np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))
    slow = _smooth(heading, posed.motion.fps, PIVOT_S, 1)
    return _at_most(heading - slow, MOST_PIVOT)


def _smooth(values: FloatArray, fps: float, half_width_s: float, degree: int) -> FloatArray:
    """Values (N,) by local regression. (N,)."""
    return smooth_points(values[:, None], fps, half_width_s=half_width_s, degree=degree)[:, 0]


def _at_most(values: FloatArray, most: float) -> FloatArray:
    """Values held below ``most``, small ones kept."""
    return np.asarray(most * np.tanh(values / most))


def lost_twist(action: FloatArray, spliced: FloatArray, body: BodyMap) -> list[str]:
    """A note where the action's shoulders twist more than the splice's, from world positions."""
    theirs, ours = (float(np.ptp(twists(positions, body))) for positions in (action, spliced))
    if theirs <= ours + MATTERS:
        return []
    return [
        f"the action twists its shoulders through {np.degrees(theirs):.0f} degrees, the splice "
        f"through {np.degrees(ours):.0f}, because the torso moves as the locomotion's does; "
        "method='time' keeps it"
    ]
