"""Captured windows played in the time of a gap."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.tables.index.contexts import contexts, displacements
from motionloom.tables.synthesis.gap_windows import matching_windows


@pytest.mark.parametrize("count", [1, 4])
def test_as_many_windows_as_asked_for_are_found_and_the_captured_one_first(kinds_frames, count):
    row, length = 40, 30
    ends = np.array([row]), np.array([row + length - 1])
    question = (
        contexts(kinds_frames, ends[0], side="start")[0],
        contexts(kinds_frames, ends[1], side="end")[0],
        displacements(kinds_frames, *ends)[0],
    )
    nothing = np.zeros((0, 2), dtype=np.int64)
    found = matching_windows(kinds_frames, length, question, count=count, spans=nothing)
    assert len(found.rows) == len(found.lengths) == len(found.distances) == count
    assert (found.rows[0], found.lengths[0]) == (row, length)
    assert found.distances[0] < 1e-3
    assert (np.diff(found.distances) >= 0.0).all()
    left_out = np.array([[row - 100, row + 100]])
    others = matching_windows(kinds_frames, length, question, count=count, spans=left_out)
    assert (np.abs(others.rows - row) > 60).all()
