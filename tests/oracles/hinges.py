"""What a clip shows of the hinge of a knee."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat
from tests.oracles.quat import rotate


def shown(
    positions: FloatArray,
    world: FloatArray,
    leg: tuple[int, int, int],
    ball: FloatArray,
    bent: float,
) -> tuple[FloatArray, int]:
    """Sums of axes by the foot, of unit axes of bent knees and of thighs (3, 3); bent frames."""
    hip, knee, ankle = leg
    thigh, shank = positions[:, knee] - positions[:, hip], positions[:, ankle] - positions[:, knee]
    back = quat.conjugate(world[:, hip])
    ahead = rotate(world[:, ankle], np.tile(ball, (len(world), 1)))
    across = np.cross(thigh, shank)
    size = np.linalg.norm(across, axis=-1)
    chosen = np.arctan2(size, np.sum(thigh * shank, axis=-1)) > bent
    units = across / np.maximum(size, 1e-12)[:, None]
    sums = (
        rotate(back, np.cross(ahead, shank)).sum(axis=0),
        rotate(back, units)[chosen].sum(axis=0),
        rotate(back, thigh).sum(axis=0),
    )
    return np.stack(sums), int(chosen.sum())
