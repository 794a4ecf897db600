import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from motionloom.synthetic.curves import keyed, peel, peel_end_rate, smooth_noise, soft_minimum

FLOAT64 = 1e-12


@pytest.mark.parametrize("n_keys", [2, 3, 5, 8])
def test_keyed_curves_are_clamped_cubic_splines(n_keys):
    rng = np.random.Generator(np.random.PCG64(n_keys))
    at = np.cumsum(rng.uniform(0.1, 1.0, n_keys))
    values, ends = rng.normal(size=(n_keys, 2)), rng.normal(size=(2, 2))
    u = np.linspace(at[0], at[-1], 200)
    spline = CubicSpline(at, values, bc_type=((1, ends[0]), (1, ends[1])))
    np.testing.assert_allclose(keyed(u, tuple(at), values, *ends), spline(u), atol=1e-10)


def test_keyed_curves_pass_their_keys_and_are_held_outside():
    values = np.array([1.0, 3.0, -2.0])
    got = keyed(np.array([-1.0, 0.0, 0.4, 1.0, 2.0]), (0.0, 0.4, 1.0), values)
    np.testing.assert_allclose(got, [1.0, 1.0, 3.0, -2.0, -2.0], atol=FLOAT64)


def test_a_heel_peels_off_from_rest_and_ends_at_its_end_rate():
    u = np.linspace(0.0, 1.0, 100001)
    rise = peel(u, 0.2)
    assert rise[0] == 0.0 and rise[-1] == pytest.approx(1.0)
    rate = np.gradient(rise, u)
    assert rate[0] < 1e-3
    assert rate[-1] == pytest.approx(peel_end_rate(0.2), rel=1e-4)
    assert np.all(np.diff(rise) > 0.0)


def test_the_soft_minimum_is_below_both_and_near_the_lower():
    a, b = np.linspace(-1.0, 1.0, 101), np.linspace(1.0, -1.0, 101)
    low = soft_minimum(0.01, a, b)
    assert np.all(low <= np.minimum(a, b))
    assert np.abs(low - np.minimum(a, b)).max() == pytest.approx(0.01 * np.log(2.0))


def test_noise_is_of_unit_size_and_slow():
    rng = np.random.Generator(np.random.PCG64(0))
    times = np.arange(0.0, 400.0, 0.01)
    noise = smooth_noise(rng, times, 4)
    assert np.abs(noise.std(axis=0) - 1.0).max() < 0.15
    power = np.abs(np.fft.rfft(noise * np.hanning(len(times))[:, None], axis=0)) ** 2
    fast = np.fft.rfftfreq(len(times), 0.01) > 3.0
    assert power[fast].sum() < 1e-6 * power.sum()
