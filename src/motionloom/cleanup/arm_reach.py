"""Arms: how far they reach, and their rotations when a wrist is led to a target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.blend_off import blend_off, nearness
from motionloom.cleanup.leg_reach import damped_span, soft_span
from motionloom.motion.limbs import solve_limb
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

STOP_S = 0.05
"""A hand that is let go takes up its own speed over this long, seconds."""
SOFT_PART = 0.1
"""Away from a hold, an arm is damped from this part of its reach before full stretch."""
BENT = 0.96
"""A place is chosen so that held arms stay as bent as at this part of their length, or as they
are: near full stretch a centimetre turns an elbow by twenty degrees."""
ROUNDS = 64
"""Times that a place is moved into the reach of every frame in turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """One arm of a motion, as it is. Shapes (F, 3), metres."""

    joints: tuple[int, int, int]
    """Shoulder, elbow, wrist."""
    shoulder: FloatArray
    elbow: FloatArray
    wrist: FloatArray
    hinge: FloatArray
    """World axis that the elbow bends about, for frames in which the arm is straight."""
    span: FloatArray
    """Shoulder to wrist. Shape (F,)."""
    reach: FloatArray
    """Farthest that the wrist may be taken from the shoulder. Shape (F,)."""
    easy_reach: FloatArray
    """As far as it goes with a bent elbow, or as it goes now. Shape (F,)."""


def arm_of(role: str, body: BodyMap, pose: tuple[FloatArray, FloatArray]) -> Arm:
    """The arm of the wrist ``role``; ``pose`` are world positions and rotations."""
    side = role.split("_")[0]
    joints = body.require(f"{side}_shoulder", f"{side}_elbow", role, task=f"holding {role}")
    shoulder, elbow, wrist = (pose[0][:, joint] for joint in joints)
    upper, lower = elbow - shoulder, wrist - elbow
    turn = pose[1][:, joints[0]]
    axis = quat.rotate(quat.conjugate(turn), np.cross(upper, lower)).sum(axis=0)
    size = float(np.linalg.norm(axis))
    if size < 1e-9:  # never bent: any axis across the arm
        axis = np.cross(quat.rotate(quat.conjugate(turn[:1]), upper[:1])[0], (0.3, 0.8, 0.5))
        size = max(float(np.linalg.norm(axis)), 1e-9)
    hinge = quat.rotate(turn, np.broadcast_to(axis / size, upper.shape))
    above, below, span = (
        np.linalg.norm(bone, axis=-1) for bone in (upper, lower, wrist - shoulder)
    )
    # The arm opens as far as a damped knee does: never straight, never less than it has been.
    reach = damped_span(above, below, span, above + below)
    easy = np.maximum(span, BENT * (above + below))
    named = joints[0], joints[1], joints[2]
    return Arm(named, shoulder, elbow, wrist, hinge, span, reach, easy)


def place_in_reach(arm: Arm, first: int, last: int) -> FloatArray:
    """Where (3,) the wrist is held from ``first`` to ``last``: its mean place, if in easy reach.

    The points within reach of every frame's shoulder are an intersection of balls. Projections
    on the ball that is missed most end in it where there is one.
    """
    frames = slice(first, last + 1)
    place = arm.wrist[frames].mean(axis=0)
    for _ in range(ROUNDS):
        way = place - arm.shoulder[frames]
        far = np.linalg.norm(way, axis=-1) - arm.easy_reach[frames]
        worst = int(np.argmax(far))
        if far[worst] <= 1e-6:
            break
        place = place - way[worst] * (far[worst] / np.linalg.norm(way[worst]))
    return np.asarray(place)


def led_arm(
    motion: Motion,
    arm: Arm,
    quats: FloatArray,
    offsets: FloatArray,
    held: BoolArray,
    blend_s: float,
) -> FloatArray:
    """Local rotations of the motion with the wrist moved by ``offsets`` where it is held.

    Parameters
    ----------
    motion, arm
        The motion, and the arm in it.
    quats : (F, J, 4)
        World rotations.
    offsets : (F, 3)
        Of the wrist in held frames, metres.
    held : (F,)
        Frames in which they must be met; they run out around.
    blend_s
        Seconds over which they run out.
    """
    fps, local = motion.fps, np.array(motion.local_quats)
    led = blend_off(offsets, held, length=max(blend_s * fps, 1.0), stop=max(STOP_S * fps, 1.0))
    way = arm.wrist + led - arm.shoulder
    wanted = np.maximum(np.linalg.norm(way, axis=-1), 1e-9)
    part = SOFT_PART * (1.0 - nearness(held, max(blend_s * fps, 1.0)))
    eased = soft_span(arm.span, wanted, arm.reach, np.maximum(part, 1e-6))
    span = np.where(held, np.minimum(wanted, arm.reach), eased)
    target = arm.shoulder + way * (span / wanted)[:, None]
    moved = np.flatnonzero(np.abs(led).max(axis=1) > 0.0)
    if not len(moved):
        return local
    solved = solve_limb(
        *(each[moved] for each in (arm.shoulder, arm.elbow, arm.wrist, target, arm.hinge)),
        straight=0.0,
    )
    parents = motion.skeleton.parents
    turned = (
        (arm.joints[0], None, solved.q_upper),
        (arm.joints[1], solved.q_upper, solved.q_lower),
        (arm.joints[2], solved.q_lower, None),  # the hand keeps its rotation in the world
    )
    for joint, above, own in turned:
        world = quats[moved, joint]
        world = world if own is None else quat.multiply(own, world)
        if parents[joint] >= 0:
            parent = quats[moved, parents[joint]]
            parent = parent if above is None else quat.multiply(above, parent)
            world = quat.multiply(quat.conjugate(parent), world)
        local[moved, joint] = world
    return local
