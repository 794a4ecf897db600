"""measure(): what a motion does as a number: speed, turn, a hand's or foot's reach and speed."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, of_kind
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.facing import facing
from motionloom.errors import ArrayError
from motionloom.motion.kinematics import velocities
from motionloom.motion.motion import Motion
from motionloom.rotation.planar import PlanarTransform

ENDS = ("left_wrist", "right_wrist", "left_ankle", "right_ankle")
"""Joints that reach, by their roles."""
REACHES = ("height", "forward", "side", "direction")
"""What is measured of a reach."""
OF_ENDS = (*REACHES, "speed")
NAMES = ("speed", "turn", *(f"{end}.{what}" for end in ENDS for what in OF_ENDS))
AT_REST_S = 0.1
"""Seconds at the start over which heading and place of the body are taken."""


def measure(motion: Motion, name: str, *, body: BodyMap | None = None) -> float:
    """A property of a whole motion as a number.

    Parameters
    ----------
    motion
        The motion.
    name
        ``"speed"``, metres per second along the ground; ``"turn"``, radians from the first to the
        last frame, positive to the left. Or where a hand or foot reaches, at the moment when it is
        farthest from the pelvis over the ground: ``"right_wrist.height"`` over the ground,
        ``"right_wrist.forward"`` and ``"right_wrist.side"`` from where the pelvis was at the start,
        in metres, the side positive to the left, and ``"right_wrist.direction"``, the angle of the
        two in radians, 0 straight on and positive to the left. Or how forceful a punch or kick is:
        ``"right_wrist.speed"``, the largest speed of the joint against the pelvis, metres per
        second. The same for ``left_wrist``, ``left_ankle`` and ``right_ankle``.
    body
        Roles of the joints; guessed where not given.

    Returns
    -------
    float
        In metres, seconds and radians.

    Raises
    ------
    ArrayError
        There is no such property, or the motion is too short for it.
    SkeletonMismatchError
        The skeleton lacks a joint that is needed.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk", speed=1.4).motion
    >>> round(measure(walk, "speed"), 1)
    1.4
    """
    of_kind(motion, Motion, "motion")
    if not isinstance(name, str) or name not in NAMES:
        raise ArrayError(
            f"`name` must be speed, turn, or one of {', '.join(ENDS)} with one of "
            f"{', '.join(OF_ENDS)}, such as 'right_wrist.height', got {name!r}."
        )
    if motion.n_frames < 2:
        raise ArrayError(f"`motion` must have two frames or more, got {motion.n_frames}.")
    body = roles_for(motion.skeleton, body)
    if name == "speed":
        path = motion.root_positions[:, ::2]
        way = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        return way * motion.fps / (motion.n_frames - 1)
    if name == "turn":
        headings = facing(motion, body=body)
        return float(headings[-1] - headings[0])
    end, reach = name.split(".")
    if reach == "speed":
        return _fastest(motion, end, body)
    side, height, forward = _reach(motion, end, body)
    values = {
        "height": height, "forward": forward, "side": side,
        "direction": float(np.arctan2(side, forward)),
    }  # fmt: skip
    return values[reach]


def _reach(motion: Motion, end: str, body: BodyMap) -> tuple[float, float, float]:
    """Left, up and ahead, metres, of a joint where it is farthest from the pelvis, level."""
    (joint,) = body.require(end, task=f"measuring {end}")
    positions = motion.world_positions()
    pelvis = positions[:, body.pelvis or 0]
    n = max(1, round(AT_REST_S * motion.fps))
    heading = float(np.mean(facing(motion, body=body)[:n]))
    back = PlanarTransform(-heading, 0.0, 0.0)
    from_body: FloatArray = back.apply(positions[:, joint] - pelvis)  # (F, 3)
    farthest = int(np.argmax(np.hypot(from_body[:, 0], from_body[:, 2])))
    reached = back.apply(positions[farthest, joint] - pelvis[:n].mean(axis=0))
    return float(reached[0]), float(positions[farthest, joint, 1]), float(reached[2])


def _fastest(motion: Motion, end: str, body: BodyMap) -> float:
    """Largest speed of a joint against the pelvis, metres per second."""
    (joint,) = body.require(end, task=f"measuring {end}")
    positions = motion.world_positions()
    rates = velocities(positions[:, joint] - positions[:, body.pelvis or 0], motion.fps)
    return float(np.linalg.norm(rates, axis=-1).max())
