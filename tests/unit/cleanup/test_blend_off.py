import numpy as np
import pytest

from motionloom.cleanup.legs import (
    blend_off,
    highest_nearby,
    nearness,
    spread_smoothly,
)
from motionloom.rotation.quat import ease
from tests.oracles import blend_off as plain

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


def runs(rng, n):
    """Flags that come in runs."""
    return np.repeat(rng.random(n) < 0.4, rng.integers(1, 9, size=n))[:n]


@pytest.mark.parametrize("n", [0, 1, 2, 7, 200])
@pytest.mark.parametrize(("length", "stop"), [(1.0, 1.0), (12.0, 5.0), (4.5, 9.0), (300.0, 7.0)])
def test_offsets_run_out_as_in_the_plain_form(n, length, stop):
    rng = np.random.Generator(np.random.PCG64(n))
    for width in (1, 3, 4, 9):
        values = rng.normal(size=(n, width))
        for held in (runs(rng, n), np.zeros(n, dtype=bool), np.ones(n, dtype=bool)):
            out = blend_off(values, held, length=length, stop=stop)
            expected = plain.blend_off(values, held, length=length, stop=stop)
            assert np.abs(out - expected).max(initial=0.0) < EXACT
            near = plain.nearness(held, length)
            assert np.abs(nearness(held, length) - near).max(initial=0.0) < EXACT


@pytest.mark.parametrize("n", [1, 2, 7, 200])
@pytest.mark.parametrize("half", [1, 2, 6, 31, 700])
def test_windows_are_smoothed_and_searched_as_in_the_plain_form(n, half):
    rng = np.random.Generator(np.random.PCG64(n))
    for shape in ((n,), (n, 3), (n, 4, 3)):
        values = rng.normal(size=shape)
        out = spread_smoothly(values, half)
        assert out.shape == shape
        assert np.abs(out - plain.spread_smoothly(values, half)).max() < EXACT
    for values in (rng.normal(size=n), np.zeros(n), -np.ones(n), rng.integers(0, 3, size=n)):
        assert np.array_equal(highest_nearby(values, half), plain.highest_nearby(values, half))


def test_a_half_window_is_not_much_longer_than_the_clip():
    assert np.array_equal(
        spread_smoothly(np.arange(9.0), 10**9), spread_smoothly(np.arange(9.0), 1000)
    )


def test_without_frames_there_is_nothing_to_smooth():
    assert spread_smoothly(np.zeros((0, 3)), 4).shape == (0, 3)
    assert highest_nearby(np.zeros(0), 4).shape == (0,)


def slope_after(values, first, last):
    """First step out of a hold that runs out very slowly."""
    held = np.zeros(len(values), dtype=bool)
    held[first : last + 1] = True
    out = blend_off(values[:, None], held, length=1e7, stop=1e7)[:, 0]
    return out[last + 1] - out[last] if last + 1 < len(values) else out[first] - out[first - 1]


def test_the_rate_at_an_edge_is_that_of_three_steps_of_the_hold_or_as_many_as_it_has():
    values = np.array([0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0])
    assert slope_after(values, 1, 5) == pytest.approx((25 - 4) / 3, abs=1e-5)
    assert slope_after(values, 4, 5) == pytest.approx(9.0, abs=1e-5)
    assert slope_after(values, 5, 5) == pytest.approx(0.0, abs=1e-5)
    assert slope_after(values, 0, 1) == pytest.approx(1.0, abs=1e-5)
    assert slope_after(values, 1, 6) == pytest.approx((16 - 1) / 3, abs=1e-5)
    assert slope_after(values, 4, 6) == pytest.approx((36 - 16) / 2, abs=1e-5)
    assert slope_after(values, 5, 6) == pytest.approx(11.0, abs=1e-5)
    assert slope_after(values, 6, 6) == pytest.approx(0.0, abs=1e-5)
