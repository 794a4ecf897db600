"""Where feet are to be, and where ankles go with them."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.legs import AnkleTarget, Foot
from motionloom.motion.motion import runs_of
from tests.oracles.ankles import place_ankle
from tests.oracles.blend_off import highest_nearby, nearness, spread_smoothly
from tests.oracles.legs import brake_knee, free_from, soft_span

SOFT_PART, HARD_PART = 0.022, 0.004
ROUNDING_M = 1e-9


def held_reach(foot: Foot, reach: FloatArray) -> FloatArray:
    """How far from the hip a held ankle may be, metres. Shape (F,)."""
    return np.maximum(foot.bones[2], (1.0 - HARD_PART) * reach)


def ground_under(held: BoolArray, places: FloatArray) -> FloatArray:
    """Height at which heel and ball stand, straight from hold to hold. Shape (F, 2)."""
    heights = np.full(held.shape, -np.inf)
    for k in range(2):
        at = np.flatnonzero(held[:, k])
        if at.size:
            heights[:, k] = np.interp(np.arange(len(held)), at, places[at, k, 1])
    return heights


def lift_out(
    before: FloatArray, after: FloatArray, ground: FloatArray, pull: FloatArray, half: int
) -> FloatArray:
    """How far to raise a free foot so that clean-up pushes no point into the ground. Shape (F,)."""
    depth = (np.minimum(before, ground) - after).max(axis=1)
    depth = np.where(depth > ROUNDING_M, depth, 0.0)
    if half and depth.any():
        depth = spread_smoothly(highest_nearby(depth, half), half)
    return np.asarray(depth * (1.0 - pull))


def aim_foot(
    foot: Foot,
    reach: FloatArray,
    lift: FloatArray,
    *,
    length: float,
    stop: float,
    free_change: float,
    roll: bool,
    half: int,
) -> tuple[AnkleTarget, dict[str, FloatArray]]:
    """The plain form of the kernel: what it writes of one foot."""
    near, ground = held_reach(foot, reach), ground_under(foot.held, foot.places)
    pull = nearness(foot.standing, stop)
    ankle = place_ankle(
        foot, near, ground, length=length, stop=stop, free_change=free_change, roll=roll
    )
    target = foot.ankle + ankle.shift
    before = np.stack([foot.heel[:, 1], foot.ball[:, 1]], axis=1)
    now = target[:, None, 1] + ankle.levers[..., 1]
    target[:, 1] += lift_out(before, now, ground, pull, half) + lift
    made = {"held_reach": near, "pull": pull, "ground": ground, "targets": target}
    return ankle, {**made, "points": target[:, None] + ankle.levers}


def aim_leg(
    foot: Foot,
    shift: FloatArray,
    target: FloatArray,
    reach: FloatArray,
    *,
    length: float,
    free_change: float,
) -> FloatArray:
    """Where an ankle goes. Shape (F, 3)."""
    hip = foot.hip + shift
    way = target - hip
    wanted = np.linalg.norm(way, axis=-1)
    part = SOFT_PART + (HARD_PART - SOFT_PART) * nearness(foot.standing, length)
    span = np.where(foot.standing, wanted, soft_span(foot.bones[2], wanted, reach, part))
    for first, last in runs_of(foot.standing):
        for edge, on in ((first, -1), (last, 1)):
            free = free_from(foot.standing, edge, on, length)
            if last > first and (wanted - span > ROUNDING_M)[free].any():
                span = brake_knee(foot.bones, span, reach, edge, on, len(free), free_change, length)
    return np.asarray(hip + way * (span / np.maximum(wanted, 1e-12))[:, None])
