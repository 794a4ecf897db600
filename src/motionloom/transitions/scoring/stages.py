"""Stages of judging a blend: the columns that each fills, as ranges for compiled code."""

from __future__ import annotations

import numpy as np

from motionloom.transitions.scoring.columns import (
    COLUMNS,
    COM_COLUMN,
    N_FEET_COLUMNS,
    N_PLANT_COLUMNS,
    POSTURE_BEGIN,
    POSTURE_END,
)

__all__ = ["ALL", "BALANCE", "FALL", "FEET", "PLANTS", "POSTURE", "STEPS", "TRAVEL"]

# Arrays, not numbers: a kernel is compiled once for all of them.
PLANTS = np.array([0, N_PLANT_COLUMNS])
STEPS = np.array([N_PLANT_COLUMNS, N_FEET_COLUMNS])
FEET = np.array([0, N_FEET_COLUMNS])
TRAVEL = np.array([COM_COLUMN, COM_COLUMN + 1])
POSTURE = np.array([POSTURE_BEGIN, POSTURE_END])
BALANCE = np.array([N_FEET_COLUMNS, POSTURE_BEGIN])
FALL = np.array([COM_COLUMN + 1, len(COLUMNS)])
ALL = np.array([0, len(COLUMNS)])
