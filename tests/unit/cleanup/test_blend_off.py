import numpy as np
import pytest

from motionloom.cleanup.blend_off import blend_off, ease, nearness, spread_smoothly

EXACT = 1e-12


def ramp(n=60, first=20, last=30, slope=0.01):
    values, held = np.zeros((n, 2)), np.zeros(n, dtype=bool)
    held[first : last + 1] = True
    values[:, 0] = 0.05 + slope * (np.arange(n) - last)
    values[:, 1] = -0.02
    return values, held


def test_held_values_are_met_exactly():
    values, held = ramp()
    out = blend_off(values, held, length=12, stop=5)
    assert np.array_equal(out[held], values[held])


def test_nothing_is_left_beyond_the_length():
    values, held = ramp()
    out = blend_off(values, held, length=12, stop=5)
    assert not out[:9].any()
    assert not out[42:].any()
    assert out[10, 1] != 0.0


def test_the_slope_of_a_hold_goes_on_beyond_its_edge():
    values, held = ramp(slope=0.01)
    out = blend_off(values, held, length=24, stop=12)[:, 0]
    steps = np.diff(out)
    assert steps[30] == pytest.approx(0.01, abs=1.5e-3)
    assert np.abs(np.diff(steps)).max() < 0.01  # a flat start would jump by the slope itself


def test_a_value_that_is_flat_within_its_hold_leaves_flat():
    values, held = ramp(slope=0.0)
    out = blend_off(values, held, length=12, stop=5)
    assert (np.diff(out[30:43, 0]) <= EXACT).all()


def test_holds_close_together_are_joined_without_a_visit_to_zero():
    held = np.zeros(40, dtype=bool)
    held[[5, 6, 7, 8, 24, 25, 26]] = True
    values = np.full((40, 1), 0.03)
    out = blend_off(values, held, length=10, stop=4)[:, 0]
    assert out[8:25] == pytest.approx(0.03)
    apart = blend_off(values, held, length=5, stop=4)[:, 0]
    assert apart[16] == 0.0


def test_a_hold_at_the_end_of_the_clip_runs_out_on_one_side_only():
    values, held = ramp(first=50, last=59)
    out = blend_off(values, held, length=12, stop=5)
    assert np.array_equal(out[50:], values[50:])
    assert not out[:39].any()


def test_without_holds_there_is_no_offset():
    assert not blend_off(np.ones((9, 3)), np.zeros(9, dtype=bool), length=4, stop=2).any()


def test_nearness_is_one_when_held_and_zero_from_the_length_on():
    held = np.zeros(30, dtype=bool)
    held[10:13] = True
    near = nearness(held, 6)
    assert (near[held] == 1.0).all()
    assert not near[19:].any()
    assert not near[:5].any()
    assert near[14] == pytest.approx(float(ease(np.array(2 / 6))))
    assert not nearness(np.zeros(5, dtype=bool), 6).any()


def test_smoothing_keeps_constants_sums_and_exact_zeros():
    assert spread_smoothly(np.full((20, 3), 2.5), 4) == pytest.approx(2.5)
    bump = np.zeros(41)
    bump[20] = 1.0
    smooth = spread_smoothly(bump, 5)
    assert smooth.sum() == pytest.approx(1.0)
    assert not smooth[:15].any()
    assert not smooth[26:].any()
    assert np.array_equal(spread_smoothly(bump, 0), bump)
