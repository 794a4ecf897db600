"""Straight ways between moments, against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.transitions.likeness.ends import Line

# From (1, 2) to the right at 0.1 m a frame, turning by a quarter turn in ten frames.
LINE = Line(
    np.array([np.pi / 2]),
    np.array([[1.0, 2.0]]),
    np.array([np.pi / 20]),
    np.array([[0.1, 0.0]]),
)


def test_a_line_goes_on_evenly():
    heading, ground = LINE.at(np.array([0.0, 10.0]))
    assert heading == pytest.approx(np.array([[np.pi / 2, np.pi]]))
    assert ground == pytest.approx(np.array([[[1.0, 2.0], [2.0, 2.0]]]))


def test_what_lies_ahead_of_a_line_is_seen_ahead():
    # At frame 0 the line faces +X: a metre further along x is a metre ahead (z).
    # At frame 10 it faces -Z, with its left at -X: there it is a metre to the right.
    heading = np.array([[np.pi / 2 + 0.2, np.pi]])
    ground = np.array([[[2.0, 2.0], [3.0, 2.0]]])
    turn, seen = LINE.seen(heading, ground, np.array([0.0, 10.0]))
    assert turn == pytest.approx(np.array([[0.2, 0.0]]))
    assert seen == pytest.approx(np.array([[[0.0, 1.0], [-1.0, 0.0]]]), abs=1e-12)
