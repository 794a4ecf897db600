"""How near two forms of the same measures in single precision must be."""

import numpy as np

from motionloom.tables.score.columns import COLUMNS, column

FLOAT32 = 1e-5
"""Part of a number that sums of some hundred single precision numbers may lose."""
FEET_IN = 3e-5
ZMP_IN = 2e-3
"""Accelerations magnify what single precision loses."""
ACCELERATION = 2e-3
SQUARES = {"spread_m": 1e-6, "root_spread": 1e-4}
"""Small differences of large sums, under a root: their squares agree, in m2 and in (m/s)2."""
COUNTED = ("planted", "disagreement", "scored", "unsupported", "bare")
LEAST = {
    **dict.fromkeys(("foot_in", "foot_worst_in"), FEET_IN),
    **dict.fromkeys(("zmp_max_in", "zmp_p95_in", "zmp_mean_in"), ZMP_IN),
    **dict.fromkeys(("peak_acc", "com_acc"), ACCELERATION),
    "speed_ratio": 10 * FLOAT32,
    "ballistic": 10 * FLOAT32,
    "disagreement_weighted": 10 * FLOAT32,
}


def assert_columns_near(got, expected):
    """Columns agree: counts exactly, the rest within single precision."""
    assert got.shape == expected.shape
    assert np.isfinite(got).all()
    for name in COUNTED:
        assert (got[:, column(name)] == expected[:, column(name)]).all(), name
    for c, name in enumerate(COLUMNS):
        a, b = (columns[:, c].astype(np.float64) for columns in (got, expected))
        if name in SQUARES:
            assert (np.abs(a**2 - b**2) <= SQUARES[name]).all(), name
        elif name not in COUNTED:
            close = LEAST.get(name, FLOAT32) + FLOAT32 * np.abs(b)
            assert (np.abs(a - b) <= close).all(), name
