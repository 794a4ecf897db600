"""How legs are rewritten."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat
from tests.oracles.quat import multiply


def turned_joint(
    local: FloatArray,
    world: FloatArray,
    parent_world: FloatArray,
    turn_parent: FloatArray,
    turn: FloatArray,
) -> FloatArray:
    """Local rotation of a joint after world turns of its parent and itself. Shapes (F, 4)."""
    above = multiply(turn_parent, parent_world)
    made = multiply(quat.conjugate(above), multiply(turn, world))
    return np.where(np.sum(made * local, axis=-1, keepdims=True) < 0.0, -made, made)
