"""Legs that follow their feet."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.rotation import quat
from motionloom.tables.synthesis.synthesis import Rig
from tests.oracles.limbs import knee_place, knee_span
from tests.oracles.quat import multiply, rotate

HELD_REACH, FREE_REACH, SOFT = 0.985, 0.995, 0.03
STRAIGHT, CALM = 0.98, 0.006
LOWEST, SPREAD, SEAM, STEEPEST, ROLL = 0.08, 12, 10, 0.7, 9


def leg_lengths(positions: FloatArray, leg: IntArray) -> FloatArray:
    """Thigh and shank, metres. (2,)."""
    return np.linalg.norm(np.diff(positions[0, leg], axis=0), axis=-1)


def lower_root(
    positions: FloatArray, legs: IntArray, held: IntArray, shifts: FloatArray
) -> FloatArray:
    """How far the body comes down in every frame, metres. (L,)."""
    n = len(positions)
    needs = np.zeros(n)
    for side in range(2):
        hip, _, ankle = legs[side]
        full = leg_lengths(positions, legs[side]).sum()
        way = positions[:, ankle] - positions[:, hip]
        reach = np.maximum(np.linalg.norm(way, axis=-1), HELD_REACH * full)
        x, y, z = (way + shifts[side]).T
        left = reach**2 - x**2 - z**2
        need = np.where(left > 0.0, -y - np.sqrt(np.maximum(left, 0.0)), LOWEST * full)
        need = np.where(held[side] < 0, 0.0, np.minimum(need, LOWEST * full))
        needs = np.maximum(needs, need)
    t = np.arange(n)
    part = np.maximum(1.0 - (np.abs(t[:, None] - t) / (SPREAD + 1.0)) ** 2, 0.0)
    seam = np.minimum(np.minimum(t, n - 1 - t) / SEAM, 1.0)
    return np.asarray((part**2 * needs).max(axis=1) * seam**2 * (3.0 - 2.0 * seam))


def follow_feet(
    rig: Rig,
    side: int,
    held: IntArray,
    shifts: FloatArray,
    tilts: FloatArray,
    drops: FloatArray,
    positions: FloatArray,
    world: FloatArray,
    quats: FloatArray,
) -> tuple[FloatArray, float]:
    """Local rotations (L, J, 4) with one leg following its foot; how far a held ankle missed."""
    hip, knee, ankle = rig.legs[side]
    thigh, shank = leg_lengths(positions, rig.legs[side])
    full, out, missed = thigh + shank, np.array(quats), 0.0
    moved = np.sum(shifts**2, axis=-1) + drops**2 + tilts**2 >= 1e-16
    spans = np.maximum(np.linalg.norm(positions[:, ankle] - positions[:, hip], axis=-1), 1e-6)

    def placed(t: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Ankle seen from the hip, ball seen from the ankle, and rotation of the foot."""
        target = positions[t, ankle] - positions[t, hip] + [0.0, drops[t], 0.0] + shifts[t]
        foot = world[t, ankle]
        ball = rotate(foot, rig.soles[side, 1])
        if tilts[t] > 0.0:
            up = _heel_up(rotate(foot, rig.soles[side, 0]) - ball, tilts[t])
            return target + ball - rotate(up, ball), rotate(up, ball), multiply(up, foot)
        return target, ball, foot

    needs = np.zeros(len(quats))
    for t in np.flatnonzero(moved & (held >= 0)):
        needs[t] = _angle(*placed(t)[:2], max(spans[t], HELD_REACH * full))
    rolls = _spread(needs)
    for t in np.flatnonzero(moved | (rolls > 0.0)):
        knee_now = positions[t, knee] - positions[t, hip]
        ankle_now = positions[t, ankle] - positions[t, hip]
        target, ball, foot = placed(t)
        before = float(spans[t])
        if rolls[t] > 0.0:
            turn = _roll(target, ball, rolls[t])
            target, foot = target + ball - rotate(turn, ball), multiply(turn, foot)
        wanted = float(np.linalg.norm(target))
        span = _eased(before, _calmed(before, wanted, full), max(before, FREE_REACH * full), full)
        if span < before:
            span = float(knee_span(*(np.array([v]) for v in (before, span, thigh, shank)), SOFT)[0])
        if held[t] >= 0:
            missed = max(missed, abs(wanted - span))
        aim = target * (span / wanted)
        pole = rotate(world[t, hip], rig.poles[side])
        place = knee_place(
            *(v[None] for v in (aim, ankle_now, knee_now, pole)),
            np.array([thigh]),
            np.array([shank]),
        )[0]
        swing = quat.between_vectors(knee_now, place)
        fold = quat.between_vectors(rotate(swing, ankle_now - knee_now), aim - place)
        q_hip = multiply(swing, world[t, hip])
        q_knee = multiply(multiply(fold, swing), world[t, knee])
        above = world[t, rig.parents[hip]]
        for joint, parent, own in (
            (hip, above, q_hip),
            (knee, q_hip, q_knee),
            (ankle, q_knee, foot),
        ):
            q = multiply(quat.conjugate(parent), own)
            q /= np.linalg.norm(q) * (1.0 if q @ out[t, joint] >= 0.0 else -1.0)
            out[t, joint] = q
    return out, missed


def _eased(before: float, wanted: float, reach: float, full: float) -> float:
    low = max(before, reach - SOFT * full)
    left = reach - low
    if wanted <= low or left < 1e-9:
        return min(wanted, low)
    return float(low + left * (1.0 - np.exp(-(wanted - low) / left)))


def _calmed(before: float, wanted: float, full: float) -> float:
    straight = (max(before, wanted) / full - STRAIGHT) / (1.0 - STRAIGHT)
    if straight <= 0.0:
        return wanted
    change = wanted - before
    return before + change * abs(change) / (abs(change) + CALM * min(straight, 1.0))


def _heel_up(heel: FloatArray, angle: float) -> FloatArray:
    """Turn that raises a heel seen from its ball."""
    axis = np.array([-heel[2], 0.0, heel[0]])
    size = np.linalg.norm(axis)
    return quat.IDENTITY if size < 1e-6 else quat.from_axis_angle(axis / size, angle)


def _angle(ankle: FloatArray, ball: FloatArray, reach: float) -> float:
    """Angle about the ball that brings the ankle within reach of the hip."""
    hip = -(ankle + ball)  # seen from the ball
    far, foot = np.linalg.norm(hip), np.linalg.norm(ball)
    if ankle @ ankle <= reach**2 or min(far, foot) < 1e-6:
        return 0.0
    cosines = [-(ball @ hip) / (far * foot), (foot**2 + far**2 - reach**2) / (2.0 * foot * far)]
    now, wanted = np.arccos(np.clip(cosines, -1.0, 1.0))
    return float(np.clip(now - wanted, 0.0, STEEPEST))


def _spread(needs: FloatArray) -> FloatArray:
    """Angles that are as large as needed, and grow and go slowly; none at the seams. (L,)."""
    t = np.arange(len(needs))
    width = np.minimum(np.minimum(t, t[::-1]), ROLL + 1.0)
    part = np.maximum(1.0 - (np.abs(t[:, None] - t) / np.maximum(width, 1e-9)) ** 2, 0.0)
    return np.asarray((part**2 * needs).max(axis=1))


def _roll(ankle: FloatArray, ball: FloatArray, angle: float) -> FloatArray:
    """Turn about the ball that takes the ankle towards the hip."""
    axis = np.cross(ankle + ball, ball)
    size = np.linalg.norm(axis)
    return quat.IDENTITY if size < 1e-9 else quat.from_axis_angle(axis / size, -angle)
