"""Rankings: weights by name, and costs."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.tables.score.columns import COLUMNS, Ranking


def test_costs_add_up_and_weights_cannot_be_written():
    ranking = Ranking.of({COLUMNS[0]: 2.0}, {COLUMNS[1]: 3.0})
    columns = np.zeros((2, len(COLUMNS)), dtype=np.float32)
    columns[0, :2] = [0.5, np.e - 1.0]
    columns[1, :2] = [1.0, -4.0]  # logarithms begin at zero
    assert ranking.cost(columns) == pytest.approx([4.0, 2.0])
    for weights in (ranking.linear, ranking.log):
        with pytest.raises(ValueError, match="read-only"):
            weights[0] = 1.0
