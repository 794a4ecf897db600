"""Tracks of the legs alone, at a modest rate: all that floor and flights need, for little."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import foot_offsets
from motionloom.body.proportions import stature
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

RATE = 120.0
"""Frames per second that are enough to see a foot stand or fly: short flights take a tenth."""
LEAST_RATE = 30.0
MANY = 1200
"""Frames that are enough to tell a floor and a rate: longer clips are looked at more thinly."""


LEAST_PLANT_S = 0.1


@dataclass(frozen=True, eq=False)
class LegTracks:
    """Pelvis, ankles and balls of the feet in the world, every ``step``-th frame."""

    fps: float
    step: int
    pelvis: FloatArray
    """Shape (N, 3)."""
    ankles: FloatArray
    """Left and right. Shape (N, 2, 3)."""
    balls: FloatArray
    """Left and right. Shape (N, 2, 3)."""

    @cached_property
    def standing(self) -> tuple[IntArray, IntArray]:
        """Stretches in which the left and the right ball stand still for a body of that speed.

        First track frame and the one past the last. Shapes (P, 2).
        """
        span = max(1, round(0.03 * self.fps))
        body_speed = np.linalg.norm(_rate(self.pelvis[:, ::2], span, self.fps), axis=-1)
        limit = np.clip(0.2 * body_speed, 0.25, 1.5) ** 2
        left, right = (self._stretches(side, span, limit) for side in (0, 1))
        return left, right

    def _stretches(self, side: int, span: int, limit: FloatArray) -> IntArray:
        velocity = _rate(self.balls[:, side], span, self.fps)
        still = np.zeros(len(velocity) + 2, dtype=bool)
        still[1:-1] = np.einsum("fc,fc->f", velocity, velocity) < limit
        edges = np.flatnonzero(still[1:] != still[:-1]).reshape(-1, 2)
        return np.asarray(edges[edges[:, 1] - edges[:, 0] >= LEAST_PLANT_S * self.fps])


def track_legs(motion: Motion, body: BodyMap) -> LegTracks | None:
    """Tracks at 120 frames per second or less; None where no leg was made out."""
    pelvis, ankles = body.pelvis, (body.left_ankle, body.right_ankle)
    if pelvis is None or ankles[0] is None or ankles[1] is None:
        return None
    left, right = ankles[0], ankles[1]
    toes = (body.left_toe, body.right_toe)
    step = max(1, round(motion.fps / RATE))
    step = max(step, min(-(-motion.n_frames // MANY), int(motion.fps / LEAST_RATE)))
    wanted = [pelvis, left, right, *(toe for toe in toes if toe is not None)]
    joints, part = _part(motion.skeleton, wanted)
    moving = motion.joint_translations
    positions, quats = forward_kinematics(
        part,
        motion.root_positions[::step],
        motion.local_quats[::step, joints],
        joint_translations=None if moving is None else moving[::step, joints],
    )
    at = {int(joint): i for i, joint in enumerate(joints)}
    balls = []
    for side, (ankle, toe) in enumerate(zip((left, right), toes, strict=True)):
        if toe is not None:
            balls.append(positions[:, at[toe]])
        else:
            ball = _ball(motion, body, side)
            balls.append(positions[:, at[ankle]] + quat.rotate(quats[:, at[ankle]], ball))
    return LegTracks(
        motion.fps / step,
        step,
        positions[:, at[pelvis]],
        positions[:, [at[left], at[right]]],
        np.stack(balls, axis=1),
    )


def _rate(values: FloatArray, span: int, fps: float) -> FloatArray:
    """Velocity over ``span`` frames either way; one-sided at the ends."""
    n = len(values)
    padded = np.concatenate([values[:1]] * span + [values] + [values[-1:]] * span)
    at = np.arange(n)
    frames = np.minimum(at + span, n - 1) - np.maximum(at - span, 0)
    return (padded[2 * span :] - padded[:n]) * (fps / frames)[:, None]


def _ball(motion: Motion, body: BodyMap, side: int) -> FloatArray:
    """The ball of a foot without a toe joint, in the ankle's frame. Shape (3,)."""
    try:
        if stature(motion.skeleton, body) > 0.0:
            return foot_offsets(motion.skeleton, body, motion=motion)[side].ball
    except SkeletonMismatchError:
        pass
    return np.zeros(3)  # a stump of a leg: its ankle is all that can stand


def _part(skeleton: Skeleton, wanted: list[int]) -> tuple[IntArray, Skeleton]:
    """The joints between the root and the wanted ones, and the skeleton that they make up."""
    joints = sorted({joint for end in wanted for joint in skeleton.chain(end)})
    place = {joint: i for i, joint in enumerate(joints)}
    parents = [place.get(int(skeleton.parents[joint]), -1) for joint in joints]
    part = Skeleton(
        tuple(skeleton.names[joint] for joint in joints),
        np.array(parents),
        skeleton.offsets[joints],
    )
    return np.array(joints), part
