"""Robot clips in ``.npz``: mjlab's keys, or ours, on the robot of a MuJoCo model."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError, FormatError
from motionloom.formats.archives.npz import Bundle
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.robots.mjcf import read_mjcf
from motionloom.formats.robots.robot_tree import RobotTree

KEYS = ("qpos", "joint_pos")


def read_robot(bundle: Bundle, options: ReadOptions) -> FileClip:
    """The clip in a bundle with ``qpos``, or with mjlab's ``joint_pos`` and ``body_pos_w``."""
    if options.skeleton is None:
        raise FormatError(
            "The file holds joint positions; the robot's bones are in its MuJoCo model.",
            fix='Pass it: ml.load(FILE, skeleton="g1.xml").',
        )
    tree = RobotTree.of(read_mjcf(options.skeleton))
    if tree.skeleton.n_joints > bundle.limits.max_joints:
        raise FormatError(f"At most {bundle.limits.max_joints} joints can be read.")
    _check_names(bundle, tree)
    qpos = _qpos(bundle, tree)
    if len(qpos) > bundle.limits.max_frames or not len(qpos):
        raise FormatError(f"1 to {bundle.limits.max_frames} frames can be read, got {len(qpos)}.")
    bundle.budget.check_poses(len(qpos), tree.skeleton.n_joints, sliding=tree.slides)
    try:
        motion = tree.motion(qpos, bundle.number("fps"))
    except ArrayError as error:
        raise FormatError(str(error)) from error
    return FileClip(motion, unit_m=1.0, up="z")


def _check_names(bundle: Bundle, tree: RobotTree) -> None:
    if "joint_names" not in bundle.keys:
        return
    names = bundle.texts("joint_names")
    wanted = [joint.name for joint in tree.model.joints if joint.type != "free"]
    if names != wanted:
        raise FormatError(
            f"The joints must be those of the model ({', '.join(wanted[:4])} ...), got "
            f"{', '.join(names[:4])} ...",
            where="array 'joint_names'",
            fix="Pass the model that the file was made for.",
        )


def _qpos(bundle: Bundle, tree: RobotTree) -> FloatArray:
    """``qpos``, or put together of the first body's pose and the joints."""
    order = bundle.texts("quat_order") if "quat_order" in bundle.keys else ["wxyz"]
    if order != ["wxyz"]:
        raise FormatError(f"Quaternions must be wxyz, the file says {order}.")
    if "qpos" in bundle.keys:
        return np.asarray(bundle.numbers("qpos", (None, tree.n_qpos)), dtype=np.float64)
    free = tree.model.joints[0].type == "free"
    joints = bundle.numbers("joint_pos", (None, tree.n_qpos - (7 if free else 0)))
    if not free:
        return np.asarray(joints, dtype=np.float64)
    n_bodies = len(tree.model.names)
    places = bundle.numbers("body_pos_w", (len(joints), n_bodies, 3))[:, 0]
    turns = bundle.numbers("body_quat_w", (len(joints), n_bodies, 4))[:, 0]
    return np.concatenate([places, turns, joints], axis=1).astype(np.float64)
