"""Foot events and the phase between them."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.features.footplants.sync_markers import sync_markers
from motionloom.motion.motion import Footplants


def markers(n=60, **spans):
    return sync_markers(Footplants.from_intervals(spans, n))


def test_events_are_where_feet_come_down_and_leave():
    found = markers(left_heel=((20, 29),), left_toe=((25, 39),), right_toe=((0, 9), (40, 59)))
    events = [(m.frame, m.side, m.event) for m in found.events]
    assert events == [
        (10, "right", "up"),
        (20, "left", "down"),
        (40, "left", "up"),
        (40, "right", "down"),
    ]


def test_the_phase_is_zero_at_the_first_left_foot_and_goes_half_a_cycle_to_the_other():
    found = markers(right_heel=((10, 14), (30, 34)), left_heel=((20, 24), (40, 44), (50, 54)))
    phase = found.phase
    assert phase[[10, 20, 30, 40, 50]] == pytest.approx([-0.5, 0.0, 0.5, 1.0, 2.0])
    assert phase[25] == pytest.approx(0.25)
    assert np.isnan(phase[:10]).all() and np.isnan(phase[51:]).all()
    assert np.isfinite(phase[10:51]).all()


@pytest.mark.parametrize(
    "spans",
    [{"left_heel": ((20, 24),)}, {"right_heel": ((10, 14), (30, 34))}, {"left_heel": ((0, 24),)}],
)
def test_without_two_steps_and_a_left_one_there_is_no_phase(spans):
    assert np.isnan(markers(**spans).phase).all()
