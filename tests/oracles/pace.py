"""How fast the joints of a clip go."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat
from motionloom.tables.collection.frames import FloatArray32


def fastest(
    heading: FloatArray, ground: FloatArray, quats: FloatArray32, body: FloatArray32, pelvis: int
) -> FloatArray:
    """Largest step, turn and ground step between neighbouring frames. (3,)."""
    if len(heading) < 2:
        return np.zeros(3)
    cos, sin = np.cos(heading)[:, None], np.sin(heading)[:, None]
    own = body.astype(np.float64)
    x = ground[:, :1] + cos * own[..., 0] + sin * own[..., 2]
    z = ground[:, 1:] + cos * own[..., 2] - sin * own[..., 0]
    steps = np.diff(np.stack([x, own[..., 1], z], axis=-1), axis=0)
    world = quats.astype(np.float64)
    up = np.array([0.0, 1.0, 0.0])
    world[:, 0] = quat.multiply(quat.from_axis_angle(up, heading), world[:, 0])
    same = np.abs(np.sum(world[1:] * world[:-1], axis=-1)).min()
    return np.array(
        [
            np.linalg.norm(steps, axis=-1).max(),
            2.0 * np.arccos(min(same, 1.0)),
            np.linalg.norm(steps[:, pelvis, ::2], axis=-1).max(),
        ]
    )
