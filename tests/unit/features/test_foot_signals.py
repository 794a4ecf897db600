"""Signals of feet: slopes of their tracks."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.features.foot_signals import line_slopes


def test_slopes_of_a_line_are_its_own_and_of_a_curve_those_of_the_fitted_line():
    time = np.arange(20) / 50.0
    assert line_slopes(3.0 * time - 1.0, 5, 50.0) == pytest.approx(np.full(20, 3.0))
    # The line fitted to five points of a parabola has the slope of its middle.
    bowed = line_slopes(time**2, 5, 50.0)
    assert bowed[2:-2] == pytest.approx(2.0 * time[2:-2])
    assert bowed[:2] == pytest.approx([2.0 * time[2]] * 2)
    assert bowed[-2:] == pytest.approx([2.0 * time[-3]] * 2)
