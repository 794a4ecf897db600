"""Feet of a live motion, held where they come down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import Record
from motionloom.rotation import quat
from tests.oracles.kinematics import forward_kinematics
from tests.oracles.limbs import solve_leg
from tests.oracles.quat import multiply, rotate

RETURN, RISE, FOLLOW, PART = 14.0, 16.0, 2.5, 0.4
SOFT, STEEPEST, LOWEST, FARTHEST, RAISED = 0.025, 0.6, 0.10, 0.25, 0.12


def spring(rate: float, seconds: float, value: FloatArray, speed: FloatArray):
    """A critically damped spring that goes to 0."""
    left, more = np.exp(-rate * seconds), speed + rate * value
    return (value + more * seconds) * left, (speed - rate * more * seconds) * left


@dataclass
class Foot:
    """One foot of a frame."""

    hip: FloatArray
    ankle: FloatArray
    levers: FloatArray  # (2, 3)
    shift: FloatArray
    turn: FloatArray  # (4,)
    bones: tuple[float, float, float]
    span: float = 0.0

    def point(self, k: int) -> FloatArray:
        return self.ankle + self.shift + rotate(self.turn, self.levers[k])

    def put(self, k: int, place: FloatArray) -> None:
        self.shift = self.shift + place - self.point(k)

    def leg(self, sink: float) -> FloatArray:
        return self.ankle + self.shift - self.hip + np.array([0.0, sink, 0.0])

    def measure(self) -> None:
        thigh, shank, now = self.bones
        full, wanted = thigh + shank, float(np.linalg.norm(self.leg(0.0)))
        high = max(now, (1.0 - SOFT) * full)
        left, self.span = PART * (full - high), wanted
        if wanted > high:
            self.span = (
                high + left * (1.0 - np.exp((high - wanted) / left)) if left > 1e-9 else high
            )

    def depth(self) -> float:
        x, y, z = self.leg(0.0)
        if np.linalg.norm((x, y, z)) - self.span < 1e-9:
            return 0.0
        left = self.span**2 - x**2 - z**2
        return np.inf if left <= 0.0 else -y - np.sqrt(left)


class Stance:
    """The plain form of ``ml_stance_hold``."""

    def __init__(self, record: Record, skeleton) -> None:
        self.skeleton, self.fields = skeleton, record.copied()
        self.held, self.loose = np.zeros((2, 4), dtype=bool)
        self.places = np.zeros((4, 3))
        self.shifts, self.speeds = np.zeros((2, 2, 6))
        self.sink = self.sinking = 0.0
        self.slide, self.begun = np.zeros(3), False
        self.dt = 1.0 / self.fields["fps"]

    def hold(self, root, quats, planted):
        root = root + self.slide
        positions, world = forward_kinematics(self.skeleton, root[None], quats[None])
        self.at, self.world = positions[0], world[0]
        before = self.shifts.copy()
        feet = [self._foot(side, planted) for side in range(2)]
        self._lower(feet)
        for side, foot in enumerate(feet):
            if self._any(side):
                self.shifts[side] = *foot.shift, *quat.log(foot.turn)
                self.speeds[side] = (self.shifts[side] - before[side]) / self.dt * self.begun
        quats = np.array(quats)
        for side, foot in enumerate(feet):
            self._follow(side, foot, quats)
        shifts = [foot.shift for side, foot in enumerate(feet) if self._any(side)]
        if shifts:
            follow = (1.0 - np.exp(-FOLLOW * self.dt)) * np.mean(shifts, axis=0)
            self.slide = self.slide + follow * [1.0, 0.0, 1.0]
        self.begun = True
        return root - [0.0, self.sink, 0.0], quats, self.held.copy()

    def _any(self, side: int) -> bool:
        return bool(self.held[2 * side : 2 * side + 2].any())

    def _foot(self, side: int, planted) -> Foot:
        self.shifts[side], self.speeds[side] = spring(
            RETURN, self.dt, self.shifts[side], self.speeds[side]
        )
        own = slice(2 * side, 2 * side + 2)
        self.loose[own] &= planted[own]
        self.held[own] &= planted[own] & ~self.loose[own]
        foot = self._read(side)
        if self.held[own].all():
            lever, place = (
                foot.levers[0] - foot.levers[1],
                self.places[own][0] - self.places[own][1],
            )
            if lever[1] - place[1] >= RAISED * np.linalg.norm(lever):
                self.held[2 * side], self.loose[2 * side] = False, True
        heel, ball = self.held[own]
        if heel and ball:
            lever = rotate(foot.turn, foot.levers[1] - foot.levers[0])
            arc = quat.between_vectors(lever, self.places[own][1] - self.places[own][0])
            foot.turn = multiply(arc, foot.turn)
        if heel or ball:
            foot.put(int(ball), self.places[own][int(ball)])
        for k in range(2):
            if planted[own][k] and not self.loose[own][k] and not self.held[own][k]:
                self.places[2 * side + k] = foot.point(k)
                self.held[2 * side + k] = True
        foot.measure()
        far = np.hypot(foot.shift[0], foot.shift[2]) > FARTHEST
        if self._any(side) and (far or foot.depth() > LOWEST * sum(foot.bones[:2])):
            self.loose[own], self.held[own] = planted[own], False
            foot = self._read(side)
            foot.measure()
        return foot

    def _read(self, side: int) -> Foot:
        hip, knee, ankle = self.fields["legs"][side]
        levers = rotate(self.world[ankle], self.fields["levers"][side])
        thigh, shank, now = (
            float(np.linalg.norm(self.at[a] - self.at[b]))
            for a, b in ((knee, hip), (ankle, knee), (ankle, hip))
        )
        shift, turn = self.shifts[side, :3].copy(), quat.exp(self.shifts[side, 3:])
        return Foot(self.at[hip], self.at[ankle], levers, shift, turn, (thigh, shank, now))

    def _lower(self, feet) -> None:
        before = self.sink
        self.sink, self.sinking = spring(RISE, self.dt, self.sink, self.sinking)
        for rises in (False, True):
            for side, foot in enumerate(feet):
                on_ball = not self.held[2 * side]
                if not self._any(side) or (on_ball and not rises):
                    continue
                if on_ball:
                    self._rise(side, foot)
                if foot.depth() > self.sink:
                    self.sink = foot.depth()
                    self.sinking = (self.sink - before) / self.dt * self.begun

    def _rise(self, side: int, foot: Foot) -> None:
        leg = foot.leg(self.sink)
        if np.linalg.norm(leg) - foot.span < 1e-9:
            return
        lever = rotate(foot.turn, foot.levers[1])
        back, up = -lever, -(leg + lever)
        axis = np.cross(back, up)
        a, b, size = (np.linalg.norm(v) for v in (back, up, axis))
        wanted = np.arccos(np.clip((a**2 + b**2 - foot.span**2) / (2 * a * b), -1.0, 1.0))
        angle = np.clip(np.arctan2(size, back @ up) - wanted, 0.0, STEEPEST)
        foot.turn = multiply(quat.from_axis_angle(axis / size, angle), foot.turn)
        foot.put(1, self.places[2 * side + 1])

    def _follow(self, side: int, foot: Foot, quats) -> None:
        joints = self.fields["legs"][side]
        hip, _knee, _ankle = joints
        lowered = self.at[joints] - [0.0, self.sink, 0.0]
        leg, parents = foot.leg(self.sink), self.skeleton.parents
        target = lowered[0] + min(foot.span / np.linalg.norm(leg), 1.0) * leg
        pole = rotate(self.world[hip], self.fields["poles"][side])
        solved = solve_leg(*(v[None] for v in (*lowered, target, pole)), 0.0)
        upper, lower = solved.q_upper[0], solved.q_lower[0]
        above = [self.world[parents[joint]] for joint in joints]
        above[1], above[2] = multiply(upper, above[1]), multiply(lower, above[2])
        turns = (upper, lower, foot.turn)
        for joint, parent, turn in zip(joints, above, turns, strict=True):
            quats[joint] = multiply(quat.conjugate(parent), multiply(turn, self.world[joint]))
