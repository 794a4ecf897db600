from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.synthetic import SyntheticClip


@pytest.fixture(scope="session")
def walk() -> SyntheticClip:
    return ml.synthetic.clip("walk", duration_s=1.5)


@pytest.fixture(scope="session")
def rod() -> ml.Motion:
    """Something that is no person: three joints in a row."""
    skeleton = ml.Skeleton(
        ["a", "b", "c"],
        [-1, 0, 1],
        [[0, 0, 0], [0, 1, 0], [0, 1, 0]],
        end_parents=[2],
        end_offsets=[[0, 0.5, 0]],
    )
    return ml.Motion(skeleton, np.zeros((8, 3)), np.tile(quat.IDENTITY, (8, 3, 1)), fps=30)
