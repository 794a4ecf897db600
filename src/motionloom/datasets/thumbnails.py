"""Thumbnails: a few poses of a clip in some hundred bytes, for a page of thousands of clips."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.features.glitches.glitch_frames import body_joints
from motionloom.motion.skeleton import Skeleton

POSES = 16
"""Over the whole clip, in equal times."""
MOST_JOINTS = 40


def make_thumbnail(positions: FloatArray, skeleton: Skeleton, body: BodyMap) -> dict[str, Any]:
    """Poses of a body seen from the side that shows most of its travel.

    Parameters
    ----------
    positions : (F, J, 3)
        Joints in the world, metres.
    skeleton
        Of the clip.
    body
        Its roles; fingers and props are left out.

    Returns
    -------
    dict
        ``bones``, pairs of points; ``head``, a point or None; ``poses``, base64 of bytes: across
        and up of every point of every pose, from 0 to 255 over the picture, 255 high.
    """
    joints = body_joints(skeleton, body)[:MOST_JOINTS]
    row = {joint: n for n, joint in enumerate(joints)}
    bones = [
        [row[int(skeleton.parents[joint])], row[joint]]
        for joint in joints
        if int(skeleton.parents[joint]) in row
    ]
    frames = np.round(np.linspace(0, len(positions) - 1, POSES)).astype(np.int64)
    poses = positions[frames][:, joints]
    middle = poses.mean(axis=1)
    around = poses - middle[:, None]
    across = _side(around, joints, body)
    flat = np.stack([around @ across, poses[..., 1] - poses[..., 1].min()], axis=-1)
    size = max(float(flat[..., 1].max()), 2.0 * float(np.abs(flat[..., 0]).max()), 1e-6)
    flat[..., 0] = 0.5 + flat[..., 0] / size
    flat[..., 1] = flat[..., 1] / size
    whole = np.clip(np.round(255.0 * flat), 0, 255).astype(np.uint8)
    poses_text = base64.b64encode(whole.tobytes()).decode("ascii")
    head = None if body.head is None else row.get(body.head)
    return {"bones": bones, "head": head, "poses": poses_text}


def _side(around: FloatArray, joints: list[int], body: BodyMap) -> FloatArray:
    """The level direction (3,) in which a body, half from the side, is drawn across."""
    left, right = body.left_hip, body.right_hip
    if left in joints and right in joints:
        line = around[:, joints.index(left)] - around[:, joints.index(right)]
        line = line / np.maximum(np.linalg.norm(line, axis=1, keepdims=True), 1e-9)
        mean = line.mean(axis=0)
        angle = np.arctan2(-mean[2], mean[0]) + 0.3 * np.pi
        return np.array([np.sin(angle), 0.0, np.cos(angle)])
    return np.array([1.0, 0.0, 0.0])
