"""The stages of scoring cover every column."""

from __future__ import annotations

import numpy as np

from motionloom.transitions.scoring import stages
from motionloom.transitions.scoring.columns import COLUMNS


def columns(*names):
    return [c for name in names for c in range(*getattr(stages, name))]


def test_the_stages_of_scoring_cover_every_column_once():
    every = list(range(len(COLUMNS)))
    assert columns("ALL") == every
    assert columns("FEET") == columns("PLANTS", "STEPS")
    assert sorted(columns("FEET", "BALANCE", "POSTURE", "TRAVEL", "FALL")) == every
    assert np.array_equal(stages.FEET[0], 0)
