"""Spine, head and arms: curves locked to the gait's phase."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat
from motionloom.synthetic.curves import turned
from motionloom.synthetic.gait import Gait
from motionloom.synthetic.synthetic_skeleton import Rig

TWO_PI = 2.0 * np.pi


@dataclass(slots=True, eq=False)
class Arm:
    """Angles of one arm, radians, each (F,). At zero it hangs with the palm to the thigh."""

    flex: FloatArray
    """Upper arm forward."""
    out: FloatArray
    """Upper arm away from the body."""
    twist: FloatArray
    """Upper arm turned inward."""
    elbow: FloatArray
    pronate: FloatArray
    """Forearm turned, thumb inward."""
    wrist: FloatArray
    """Hand bent towards the palm."""
    shrug: FloatArray
    """Collar bone up."""
    reach: FloatArray
    """Collar bone forward."""

    def move(self, amount: FloatArray, **degrees: FloatArray | float) -> None:
        """Move the arm by a share ``amount`` (F,) towards these angles, in degrees."""
        for name, angle in degrees.items():
            now = getattr(self, name)
            setattr(self, name, now + amount * (np.deg2rad(angle) - now))


@dataclass(slots=True, eq=False)
class Upper:
    """The upper body over the pelvis; chest and head angles are relative to the heading."""

    chest_yaw: FloatArray
    chest_lean: FloatArray
    """Forward."""
    chest_roll: FloatArray
    """To the left."""
    head_yaw: FloatArray
    head_pitch: FloatArray
    """Downward."""
    head_roll: FloatArray
    left: Arm
    right: Arm


def swinging_upper(
    gait: Gait, phase: FloatArray, lean: FloatArray, look: FloatArray, noise: FloatArray
) -> Upper:
    """The upper body of somebody walking or running.

    Parameters
    ----------
    gait
        How far everything swings.
    phase : (F,)
        Gait cycles.
    lean : (F,)
        Into the curve, leftward positive.
    look : (F,)
        How far ahead of the heading the path will have turned when the eyes are there, radians.
    noise : (F, 16)
        Added to the angles, radians.
    """
    swing = np.cos(TWO_PI * phase)
    arms = []
    for side, shift in ((0, 0.5), (1, 0.0)):
        own = np.cos(TWO_PI * (phase - shift - 0.02))
        late = np.cos(TWO_PI * (phase - shift - 0.08))
        part = noise[:, 8 * side : 8 * side + 8]
        flex = gait.arm_mean + gait.arm * own + part[:, 0]
        arms.append(
            Arm(
                flex=flex,
                out=np.deg2rad(7.0) + 0.06 * gait.elbow + part[:, 1],
                twist=np.deg2rad(8.0) + 0.22 * gait.elbow + 0.12 * gait.arm * own + part[:, 2],
                elbow=gait.elbow + 0.5 * gait.elbow_swing * (1.0 + late) + part[:, 3],
                pronate=np.deg2rad(12.0) + part[:, 4],
                wrist=np.deg2rad(6.0) + part[:, 5],
                shrug=0.03 + 0.5 * part[:, 6],
                reach=0.10 * gait.arm * own + 0.5 * part[:, 7],
            )
        )
    still = np.zeros_like(phase)
    return Upper(
        chest_yaw=0.8 * gait.yaw * swing + 0.15 * look + noise[:, 0] * 0.5,
        chest_lean=gait.lean
        + np.deg2rad(1.0) * np.cos(2.0 * TWO_PI * (phase - 0.02))
        + 0.6 * noise[:, 5],
        chest_roll=0.9 * lean
        - 0.25 * gait.list * np.cos(TWO_PI * (phase - 0.2))
        + 0.4 * noise[:, 6],
        head_yaw=0.8 * look + 0.8 * noise[:, 7],
        head_pitch=still + np.deg2rad(3.0) + 0.2 * gait.lean + 0.5 * noise[:, 8],
        head_roll=0.35 * lean + 0.4 * noise[:, 9],
        left=arms[0],
        right=arms[1],
    )


def raise_guard(upper: Upper, amount: FloatArray) -> None:
    """Both hands up in front of the chin, as far as ``amount`` (F,) says, 0 to 1."""
    for arm in (upper.left, upper.right):
        arm.move(amount, flex=42.0, out=14.0, twist=22.0, elbow=118.0, pronate=10.0, wrist=0.0)


def pose_upper(
    rig: Rig, local: FloatArray, root_quats: FloatArray, heading: FloatArray, upper: Upper
) -> None:
    """Writes spine, neck, head and arms into ``local`` (F, J, 4)."""
    chest = turned("YZX", heading + upper.chest_yaw, -upper.chest_roll, upper.chest_lean)
    head = turned("YZX", heading + upper.head_yaw, -upper.head_roll, upper.head_pitch)
    _spread(rig, local, ("Spine", "Spine1", "Spine2"), root_quats, chest)
    _spread(rig, local, ("Neck", "Head"), chest, head)
    for side, sign, arm in (("Left", 1.0, upper.left), ("Right", -1.0, upper.right)):
        hang = 0.5 * np.pi - arm.out
        collar = turned("YZ", -sign * arm.reach, sign * arm.shrug)
        shoulder = turned("XZX", -arm.flex, -sign * hang, arm.twist)
        # Angles are meant relative to the chest: the collar bone's own turn is taken out again.
        local[:, rig.at(f"{side}Shoulder")] = collar
        local[:, rig.at(f"{side}Arm")] = quat.multiply(quat.conjugate(collar), shoulder)
        local[:, rig.at(f"{side}ForeArm")] = turned("YX", -sign * arm.elbow, arm.pronate)
        local[:, rig.at(f"{side}Hand")] = turned("Z", -sign * arm.wrist)


def _spread(
    rig: Rig, local: FloatArray, joints: tuple[str, ...], below: FloatArray, above: FloatArray
) -> None:
    """Shares the turn between two bodies equally among the joints that link them."""
    share = quat.exp(quat.log(quat.multiply(quat.conjugate(below), above)) / len(joints))
    for name in joints:
        local[:, rig.at(name)] = share
