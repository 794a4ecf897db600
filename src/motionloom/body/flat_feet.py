"""How a foot lies in its joint's frame when it is flat on the ground."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import BALL_BEFORE_ANKLE, HEEL_BEHIND_ANKLE, FootOffsets, foot_offsets
from motionloom.body.flat_foot import ANKLE_OVER_BALL
from motionloom.body.limb_bones import AHEAD, SIDES, UP
from motionloom.body.stature import stature
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat


@dataclass(frozen=True, slots=True, eq=False)
class RestStance:
    """A skeleton's rest pose, turned upright to face +Z, and the neutral stance made of it."""

    skeleton: Skeleton
    body: BodyMap
    positions: FloatArray
    """World positions of the rest pose. Shape (J, 3)."""
    quats: FloatArray
    """World rotations of the rest pose. Shape (J, 4)."""
    neutral: FloatArray
    """World rotations with trunk and limbs neutral. Shape (J, 4)."""
    stands: bool
    """Whether the rest pose is a standing pose."""


LEAST_FLAT_S = 0.2
"""A foot must stand on heel and ball for this long in all for its stance to be believed."""
LEAST_TILT = np.radians(5.0)
"""A clip's flat feet overrule a standing rest pose where they differ from it by more than this."""
STILL_M_S = 0.25
"""A foot whose ankle or ball is faster than this does not stand, whatever its contacts are."""
LEAST_FALL = 0.1
"""Of the frames in which a foot stands, this part may be flatter than flat: noise."""
SAME_LENGTH = 0.02
"""Feet whose lengths differ by less than this part fall by the same angle when they are flat."""
STEEPEST = 0.97
"""Sine of the steepest fall from ankle to ball of a flat foot; some rigs have tall, short feet."""


def find_flat_feet(
    stance: RestStance, clip: Motion | None, planted: BoolArray | None
) -> tuple[FootOffsets, FootOffsets]:
    """Left and right foot with the direction that is up when they are flat.

    A standing rest pose shows it; but a foot that rests in line with a spread leg (CMU's do, rolled
    by 20 degrees) is flat when the leg is upright. A clip in which heel and ball stand overrules
    that where it clearly differs. Where the rest pose is no pose, only the clip shows it, and a
    clip may be danced on tiptoe: the flattest that either foot stands is flat, because no heel is
    below the floor. Where nothing shows it, toes point ahead with no roll against the shank.

    Parameters
    ----------
    stance
        The rest pose, and the neutral stance as far as it is known: feet go with the shanks.
    clip, planted
        A motion on the skeleton, and which of its foot points stand (F, 4).
    """
    skeleton, body = stance.skeleton, stance.body
    try:
        feet = foot_offsets(skeleton, body, motion=clip)
    except SkeletonMismatchError:
        likely = [_likely_foot(stance, side) for side, _ in SIDES]
        feet = (likely[0], likely[1])
    height = stature(skeleton, body)
    if stance.stands:
        at_rest = [_up_at_rest(stance, foot, height) for foot in feet]
        left, right = (
            foot if up is None else _with_up(foot, up, height)
            for foot, up in zip(feet, at_rest, strict=True)
        )
        feet = (left, right)
    if clip is not None and planted is not None:
        still = [_is_still(clip, foot) for foot in feet]
        seen = [
            _up_when_standing(clip, foot, planted[:, 2 * k] & planted[:, 2 * k + 1] & still[k])
            for k, foot in enumerate(feet)
        ]
        tilts = [
            0.0 if up is None else float(np.arccos(np.clip(up @ foot.up, -1.0, 1.0)))
            for foot, up in zip(feet, seen, strict=True)
        ]
        if max(tilts) > LEAST_TILT:
            left, right = (
                foot if up is None else _with_up(foot, up, height)
                for foot, up in zip(feet, seen, strict=True)
            )
            feet = (left, right)
        if not stance.stands:
            balls = [planted[:, 2 * k + 1] & still[k] for k in range(2)]
            feet = _off_tiptoe(clip, feet, (balls[0], balls[1]), height)
    return feet


def _off_tiptoe(
    clip: Motion,
    feet: tuple[FootOffsets, FootOffsets],
    stands: tuple[BoolArray, BoolArray],
    height: float,
) -> tuple[FootOffsets, FootOffsets]:
    """The feet, of which those that are clearly steeper than either foot ever stands are tilted."""
    least = []
    for foot, frames in zip(feet, stands, strict=True):
        steep = np.inf
        if frames.sum() >= max(3.0, LEAST_FLAT_S * clip.fps):
            ups = quat.rotate(quat.conjugate(clip.world_quats()[frames, foot.ankle]), UP)
            steep = float(np.quantile(-ups @ foot.ball, LEAST_FALL) / np.linalg.norm(foot.ball))
        least.append(steep)
    lengths = [float(np.linalg.norm(foot.ball)) for foot in feet]
    if abs(lengths[0] - lengths[1]) < SAME_LENGTH * max(lengths):
        least = [min(least)] * 2
    left, right = (
        _tilted(foot, fall, height)
        if np.arcsin(_fall(foot, foot.up)) - np.arcsin(np.clip(fall, 0.0, 1.0)) > LEAST_TILT
        else foot
        for foot, fall in zip(feet, least, strict=True)
    )
    return left, right


def _tilted(foot: FootOffsets, fall: float, height: float) -> FootOffsets:
    """The foot tilted in its own plane until it falls by an angle with this sine."""
    along = foot.ball / np.linalg.norm(foot.ball)
    across = foot.up - (foot.up @ along) * along
    across /= np.linalg.norm(across)
    fall = max(fall, 0.0)
    return _with_up(foot, np.sqrt(1.0 - fall * fall) * across - fall * along, height)


def _is_still(clip: Motion, foot: FootOffsets) -> BoolArray:
    """Frames in which neither the ankle nor the ball moves. Shape (F,)."""
    positions, world = clip.world_pose()
    ankle = positions[:, foot.ankle]
    ball = ankle + quat.rotate(world[:, foot.ankle], foot.ball)
    if len(ankle) < 2:
        return np.ones(len(ankle), dtype=bool)
    steps = [np.linalg.norm(np.gradient(path, axis=0), axis=-1) for path in (ankle, ball)]
    return np.asarray(np.maximum(*steps) * clip.fps < STILL_M_S)


def _up_when_standing(clip: Motion, foot: FootOffsets, flat: BoolArray) -> FloatArray | None:
    """World up in the ankle's frame in the better half of the frames where the foot stands flat."""
    if flat.sum() < max(3.0, LEAST_FLAT_S * clip.fps):
        return None
    ups = quat.rotate(quat.conjugate(clip.world_quats()[flat, foot.ankle]), UP)
    away = np.linalg.norm(ups - np.median(ups, axis=0), axis=-1)
    up = ups[np.argsort(away)[: (len(ups) + 1) // 2]].mean(axis=0)
    up /= np.linalg.norm(up)
    return up if 0.0 < _fall(foot, up) < STEEPEST else None


def _up_at_rest(stance: RestStance, foot: FootOffsets, height: float) -> FloatArray | None:
    """Up in the ankle's frame in a standing rest pose, None where that shows no flat foot."""
    knee = int(stance.skeleton.chain(foot.ankle)[-2])
    shank = stance.positions[foot.ankle] - stance.positions[knee]
    spread = float(np.arctan2(abs(shank[0]), -shank[1]))
    upright = quat.rotate(stance.neutral[foot.ankle], foot.ball)  # with the legs upright
    roll = float(np.arctan2(abs(upright[0]), max(-upright[1], 1e-12)))
    in_line = spread > np.radians(5.0) and roll < 0.3 * spread
    turned = (stance.neutral if in_line else stance.quats)[foot.ankle]
    up = quat.rotate(quat.conjugate(turned), UP)
    over = -float(foot.ball @ up)
    return up if over > 0.3 * ANKLE_OVER_BALL * height and _fall(foot, up) < STEEPEST else None


def _fall(foot: FootOffsets, up: FloatArray) -> float:
    """Sine of the angle at which the foot falls from ankle to ball."""
    return -float(foot.ball @ up) / max(float(np.linalg.norm(foot.ball)), 1e-12)


def _with_up(foot: FootOffsets, up: FloatArray, height: float) -> FootOffsets:
    """The foot with another direction for up, and the heel and forward direction that follow."""
    forward = foot.ball - (foot.ball @ up) * up
    forward /= max(float(np.linalg.norm(forward)), 1e-12)
    heel = (foot.ball @ up) * up - HEEL_BEHIND_ANKLE * height * forward
    return dataclasses.replace(foot, up=up, forward=forward, heel=heel)


def _likely_foot(stance: RestStance, side: str) -> FootOffsets:
    """A foot whose toes point ahead and down as feet do, not rolled against the shank."""
    skeleton, body, neutral = stance.skeleton, stance.body, stance.neutral
    ankle, toe = int(getattr(body, f"{side}_ankle")), getattr(body, f"{side}_toe")
    height = stature(skeleton, body)
    ahead = BALL_BEFORE_ANKLE * height * AHEAD - ANKLE_OVER_BALL * height * UP
    ball = quat.rotate(quat.conjugate(neutral[ankle]), ahead)
    if toe is not None and np.any(skeleton.offsets[toe]):
        ball = skeleton.offsets[toe]
        sin = min(ANKLE_OVER_BALL * height / float(np.linalg.norm(ball)), 0.7)
        ahead = np.sqrt(1.0 - sin * sin) * AHEAD - sin * UP
    turn = quat.between_vectors(quat.rotate(neutral[ankle], ball), ahead)
    back = quat.conjugate(quat.multiply(turn, neutral[ankle]))
    up, forward = quat.rotate(back, UP), quat.rotate(back, AHEAD)
    heel = (ball @ up) * up - HEEL_BEHIND_ANKLE * height * forward
    return FootOffsets(ankle, toe, heel, ball, 0.5 * np.linalg.norm(ball) * forward, up, forward)
