"""Forward kinematics and velocities: local rotations to world positions."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, frozen, of_kind
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton, forward_into
from motionloom.rotation import quat


def forward_kinematics(
    skeleton: Skeleton | Motion,
    root_positions: FloatArray | None = None,
    local_quats: FloatArray | None = None,
    *,
    joint_translations: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """World positions (F, J, 3) and world rotations (F, J, 4) of every joint.

    Parameters
    ----------
    skeleton
        J joints; or a motion alone, which has all of the following.
    root_positions : (F, 3)
        Root joint in the world, metres.
    local_quats : (F, J, 4)
        Every joint in its parent, unit, wxyz.
    joint_translations : (F, J, 3), optional
        Where joints also slide in their parents: takes the place of ``skeleton.offsets``.

    Returns
    -------
    positions, quats : (F, J, 3), (F, J, 4)
        In the world, metres and unit quaternions.

    Examples
    --------
    >>> leg = Skeleton(["hip", "knee"], [-1, 0], [[0, 0, 0], [0, -0.4, 0]])
    >>> positions, _ = forward_kinematics(leg, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 2, 1)))
    >>> positions[0, 1].tolist()
    [0.0, -0.4, 0.0]
    """
    if isinstance(skeleton, Motion):
        if any(each is not None for each in (root_positions, local_quats, joint_translations)):
            raise ArrayError(
                "A motion must be given alone: it has its own positions and rotations."
            )
        return skeleton.world_pose()
    skeleton = of_kind(skeleton, Skeleton, "skeleton")
    n_joints = skeleton.n_joints
    if root_positions is None or local_quats is None:
        raise ArrayError("`root_positions` and `local_quats` must be given with a skeleton.")
    try:
        local_quats = np.ascontiguousarray(local_quats, dtype=np.float64)
        root_positions = np.ascontiguousarray(root_positions, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArrayError(
            f"`root_positions` and `local_quats` must be arrays of numbers ({error})."
        ) from error
    if local_quats.ndim != 3 or local_quats.shape[1:] != (n_joints, 4):
        raise ArrayError(
            f"`local_quats` must have shape (F, {n_joints}, 4), got {local_quats.shape}."
        )
    n_frames = len(local_quats)
    if root_positions.shape != (n_frames, 3):
        raise ArrayError(
            f"`root_positions` must have shape ({n_frames}, 3), got {root_positions.shape}."
        )
    if joint_translations is not None:
        joint_translations = frozen(
            joint_translations, "joint_translations", (n_frames, n_joints, 3)
        )
    out = np.zeros((n_frames, n_joints, 3)), np.zeros((n_frames, n_joints, 4))
    return forward_into(skeleton, root_positions, local_quats, joint_translations, out)


def local_from_world(skeleton: Skeleton, world_quats: FloatArray) -> FloatArray:
    """Local rotations (F, J, 4) whose forward kinematics has these world rotations."""
    local = np.array(world_quats, dtype=np.float64)
    parents = skeleton.parents[1:]
    local[:, 1:] = quat.multiply(quat.conjugate(world_quats[:, parents]), world_quats[:, 1:])
    return local


def velocities(values: FloatArray, fps: float) -> FloatArray:
    """Rate of change per second along the first axis, the same shape.

    Central differences inside, one-sided at the two ends; zeros for a single frame.
    """
    values = np.asarray(values)
    out = np.zeros(values.shape, dtype=np.result_type(values.dtype, np.float32))
    if len(values) > 1:
        out[0], out[-1] = values[1] - values[0], values[-1] - values[-2]
        np.subtract(values[2:], values[:-2], out=out[1:-1])
        out[1:-1] /= 2.0
        out *= fps
    return out


def angular_velocities(quats: FloatArray, fps: float) -> FloatArray:
    """Angular velocities (F, ..., 3) of rotations (F, ..., 4) in the world, radians per second.

    As :func:`velocities`: the turn from the frame before to the frame after, by the shorter way,
    over the time between them; one-sided at the two ends; zeros for a single frame.
    """
    quats = np.asarray(quats, dtype=np.float64)
    out = np.zeros((*quats.shape[:-1], 3))
    if len(quats) > 1:
        out[1:-1] = _turn(quats[:-2], quats[2:]) / 2.0
        out[0], out[-1] = _turn(quats[0], quats[1]), _turn(quats[-2], quats[-1])
        out *= fps
    return out


def _turn(before: FloatArray, after: FloatArray) -> FloatArray:
    """The rotation vector that carries ``before`` to ``after``, in the world."""
    return quat.log(quat.multiply(after, quat.conjugate(before)))
