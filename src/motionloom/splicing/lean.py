"""Lean: what of the action's mean posture a splice gets back.

A torso that moves as the locomotion's torso does is also held as that one is. The action's posture,
shoulders seen from the hips and averaged, is given back by one turn. Three shares of it belong to
the legs and not to the action: a small turn to the side, which is the way's; the lean of somebody
who merely stands; and the lean of hips whose legs are far behind, as in a push.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.rotation.easing import smoothstep
from motionloom.splicing.body_parts import Part
from motionloom.splicing.posture import Posed, hip_frames, nearest_rotation

BEND_S = 0.5
"""Seconds over which slow bends are separated from sway."""
BENT = np.radians([5.0, 20.0])
"""Torsos less apart than the first sway alike; those more apart than the second bend otherwise."""
MIDDLE = 10.0
"""How much farther out than the held points the one amid them is set, to count more."""
TO_THE_SIDE = np.radians([8.0, 20.0])
"""Shoulders lead into a turn of the way by less than the first angle; who holds them turned by more
than the second, does so on purpose."""
STANDING, STOOPING = np.radians([7.0, 18.0]), np.radians([4.0, 10.0])
"""Standing people lean farther back, or to a side, than walking ones by less than the first angle;
more than the second is part of the action. They seldom lean farther forward."""
LEGS, HIPS = np.radians([14.0, 20.0]), np.radians([10.0, 25.0])
"""Legs of walkers and runners lean forward by less than the first angles more than others, and
their hips are tilted so little. Who pushes has the feet far behind and hips that are tilted by
more: the locomotion's legs do not carry that lean."""


def posture_turn(
    action: Posed, reference: Posed, part: Part, body: BodyMap, *, walks: bool
) -> FloatArray:
    """Turn in the hips' axes that gives the action's mean posture back. (4,).

    Parameters
    ----------
    action
        The action at the splice's times.
    reference
        The torso as it is held now: the splice so far, or the locomotion under arms and heads.
    part
        What was taken from the action.
    body
        Which joint is which.
    walks
        Whether the action was captured walking.
    """
    theirs, ours = (_seen(posed, part, body).mean(axis=0) for posed in (action, reference))
    unsupported = _unsupported(action, reference, body)
    back = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), -unsupported)
    turn = nearest_rotation(_with_middle(quat.rotate(back, theirs)), _with_middle(ours))
    pitch, yaw, roll = quat.log(turn)
    if unsupported > 0.0:  # nobody pushes leaning back
        pitch = max(pitch, 0.0)
    yaw *= _share(abs(yaw), TO_THE_SIDE)
    if not walks:
        pitch *= _share(abs(pitch), STOOPING if pitch > 0.0 else STANDING)
        roll *= _share(abs(roll), STANDING)
    return quat.exp(np.array([pitch, yaw, roll]))


def bend_turns(
    action: Posed, reference: Posed, part: Part, body: BodyMap, turn: FloatArray
) -> FloatArray:
    """Turns in the hips' axes that give slow deep bends back too, after ``turn``. (N, 4)."""
    theirs, ours = (_seen(posed, part, body) for posed in (action, reference))
    return _bends(theirs, quat.rotate(turn, ours), reference.motion)


def _seen(posed: Posed, part: Part, body: BodyMap) -> FloatArray:
    """The part's held points from its pivot, in the hips' axes. (N, P, 3)."""
    relative = posed.positions[:, part.held] - posed.positions[:, [part.pivot]]
    return quat.rotate(hip_frames(posed.positions, body)[:, None], relative)


def _unsupported(action: Posed, reference: Posed, body: BodyMap) -> float:
    """How much of the action's lean its own legs carry and the other ones do not, radians."""
    legs = _leg_lean(action, body) - _leg_lean(reference, body)
    if legs <= LEGS[0]:
        return 0.0
    hips = max(_hip_tilt(action, reference, body), 0.0)
    return hips * _share(legs, LEGS) * _share(hips, HIPS)


def _leg_lean(posed: Posed, body: BodyMap) -> float:
    """How far the hips are ahead of the feet on average, as an angle; radians."""
    joints = [body.left_ankle, body.right_ankle, body.left_hip, body.right_hip]
    if None in joints:
        return 0.0
    left, right, left_hip, right_hip = (posed.positions[:, j] for j in joints)
    leg = 0.5 * (left_hip + right_hip - left - right)
    seen = quat.rotate(hip_frames(posed.positions, body), leg).mean(axis=0)
    return float(np.arctan2(seen[2], seen[1]))


def _hip_tilt(action: Posed, reference: Posed, body: BodyMap) -> float:
    """How far the action's pelvis is tilted forward against the other one, radians."""
    (pelvis,) = body.require("pelvis", task="splicing")
    means = []
    for posed in (action, reference):
        seen = quat.multiply(hip_frames(posed.positions, body), posed.quats[:, pelvis])
        means.append(quat.normalize(quat.make_continuous(seen).mean(axis=0)))
    return float(quat.log(quat.multiply(means[0], quat.conjugate(means[1])))[0])


def _share(angle: float, between: FloatArray) -> float:
    """0 up to the first angle, 1 from the second on, smooth in between."""
    low, high = between
    return float(smoothstep(np.clip((angle - low) / (high - low), 0.0, 1.0)))


def _with_middle(points: FloatArray) -> FloatArray:
    """The points and the one amid them, which counts most. (P + 1, 3).

    On one skeleton that changes nothing. Bodies of other proportions cannot match in every point,
    and then the way the part leans matters more than where each shoulder is.
    """
    return np.concatenate([points, MIDDLE * points.mean(axis=0, keepdims=True)])


def _bends(theirs: FloatArray, ours: FloatArray, motion: Motion) -> FloatArray:
    """Turns from our slow direction of the part to theirs, where they are far apart. (N, 4).

    Where both merely sway nothing is turned: there the sway is the locomotion's.
    """
    slow_theirs, slow_ours = (_slowly(points.mean(axis=1), motion.fps) for points in (theirs, ours))
    turn = quat.between_vectors(slow_ours, slow_theirs)
    angle = 2.0 * np.arctan2(np.linalg.norm(turn[:, 1:], axis=-1), np.abs(turn[:, 0]))
    share = smoothstep(np.clip((angle - BENT[0]) / (BENT[1] - BENT[0]), 0.0, 1.0))
    return quat.slerp(np.broadcast_to(quat.IDENTITY, turn.shape), turn, share)


def _slowly(direction: FloatArray, fps: float) -> FloatArray:
    """Vectors (N, 3) averaged over about half a second."""
    width = max(1, min(round(BEND_S * fps), len(direction))) | 1
    padded = np.pad(direction, ((width // 2, width // 2), (0, 0)), mode="edge")
    window = np.hanning(width + 2)[1:-1]
    return np.stack(
        [np.convolve(padded[:, c], window / window.sum(), mode="valid") for c in range(3)], axis=-1
    )
