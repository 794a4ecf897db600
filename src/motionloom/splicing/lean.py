"""Lean and twist: how much of the action's posture a splice gets back.

A torso that moves as the locomotion's torso does is also held as that one is, and no longer winds
up for a throw; the paper names this its first limit. Two turns give the action's posture back.

The lean is one turn: the action's shoulders, seen from the hips and averaged. Three shares of it
belong to the legs and not to the action: a small turn to the side, with which shoulders lead into a
turn of the path; the lean of somebody who merely stands; and the lean of hips whose legs are far
behind, as in a push. The twist is a turn per frame: the one that the action makes on top of its own
gait is added to the locomotion's.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, running_maximum
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.rotation.quat import smoothstep
from motionloom.splicing.body_parts import Part
from motionloom.splicing.posture import SWAY_S, Posed, hip_frames, nearest_rotation
from motionloom.splicing.smoothing import smooth_points

BEND_S = 0.5
"""Seconds over which slow bends are separated from sway."""
BENT = np.radians([5.0, 20.0])
"""Torsos less apart than the first sway alike; those more apart than the second bend otherwise."""
MIDDLE = 10.0
"""How much farther out than the held points the one amid them is set, to count more."""
TO_THE_SIDE = np.radians([8.0, 20.0])
"""Shoulders lead into a turn of the path by less than the first angle; shoulders turned by more
than the second are part of the action."""
STANDING, STOOPING = np.radians([7.0, 18.0]), np.radians([4.0, 10.0])
"""Standing people lean farther back, or to a side, than walking ones by less than the first angle;
more than the second is part of the action. They seldom lean farther forward."""
LEGS, HIPS = np.radians([14.0, 20.0]), np.radians([10.0, 25.0])
"""Legs of walkers and runners lean forward by less than the first angles more than others, and
their hips are tilted so little. Somebody who pushes has the feet far behind and hips tilted by
more: the locomotion's legs do not carry that lean."""
MATTERS = np.radians(8.0)
"""Lost twist that is reported; shoulders turn about as far in a plain walk."""
UPRIGHT = np.cos(np.radians(45.0))
"""A trunk that is bent deeper has no twist to speak of."""
FULLY = np.cos(np.radians(30.0))
"""A trunk that is bent less has all of its twist."""
OWN = np.radians([4.0, 10.0])
"""Twists smaller than the first belong to single steps; twists larger than the second belong to the
action."""
AROUND_S = 0.3
"""Seconds before and after a large twist that belong to it."""
PIVOT_S = 1.0
"""Seconds to either side over which the heading of a standing body is averaged. Hips that turn
faster turn with the shoulders, on feet that stay."""
MOST_PIVOT, MOST_TWIST = np.radians(20.0), np.radians(50.0)
"""How far hips turn on feet that stay, and how far shoulders turn against hips."""


def posture_turn(
    action: Posed, reference: Posed, part: Part, body: BodyMap, *, walks: bool
) -> FloatArray:
    """Find the turn in the hips' axes that gives the action's mean posture back. (4,).

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


def _seen(posed: Posed, part: Part, body: BodyMap) -> FloatArray:
    """The part's held points from its pivot, in the hips' axes. (N, P, 3)."""
    relative = posed.positions[:, part.held] - posed.positions[:, [part.pivot]]
    return quat.rotate(hip_frames(posed.positions, body)[:, None], relative)


def _with_middle(points: FloatArray) -> FloatArray:
    """Append the mean of the points, which counts most. (P + 1, 3).

    On one skeleton that changes nothing. Bodies of other proportions cannot match in every point,
    and then the lean of the part matters more than the place of each shoulder.
    """
    return np.concatenate([points, MIDDLE * points.mean(axis=0, keepdims=True)])


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


def bend_turns(
    action: Posed, reference: Posed, part: Part, body: BodyMap, turn: FloatArray
) -> FloatArray:
    """Find turns in the hips' axes that give slow deep bends back, after ``turn``. (N, 4)."""
    theirs, ours = (_seen(posed, part, body) for posed in (action, reference))
    return _bends(theirs, quat.rotate(turn, ours), reference.motion)


def _bends(theirs: FloatArray, ours: FloatArray, motion: Motion) -> FloatArray:
    """Turns from our slow direction of the part to theirs, where they are far apart. (N, 4).

    Where both merely sway there is no turn, because the sway is the locomotion's.
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


def kept_twist(action: Posed, spliced: Posed, body: BodyMap, *, walks: bool) -> FloatArray:
    """Turn of the shoulders to the left that the action makes beyond its gait, radians. (N,).

    The action's twist is the sum of the twist of its gait and that of its movement. The gait is in
    step with the locomotion, so its share is found by regression on the locomotion's twist: all of
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
