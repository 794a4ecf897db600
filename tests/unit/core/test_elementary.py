"""Elementary functions of the core against those of Python, and at their edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motionloom._core import kernel

RNG = np.random.Generator(np.random.PCG64(14))
BOTH = RNG.choice([-1.0, 1.0], 20_000)
SPREAD = 10.0 ** RNG.uniform(-12.0, 0.0, 20_000)
CASES = {
    "ml_sin_of": (math.sin, BOTH * 10.0 ** RNG.uniform(-9.0, 6.0, 20_000), 2.5),
    "ml_cos_of": (math.cos, BOTH * 10.0 ** RNG.uniform(-9.0, 6.0, 20_000), 2.5),
    "ml_acos_of": (math.acos, RNG.uniform(-1.0, 1.0, 20_000), 3.0),
    "ml_asin_of": (math.asin, BOTH * SPREAD, 3.0),
    "ml_exp_of": (math.exp, RNG.uniform(-700.0, 709.0, 20_000), 2.0),
    "ml_log_of": (math.log, 10.0 ** RNG.uniform(-300.0, 300.0, 20_000), 2.5),
    "ml_log1p_of": (math.log1p, BOTH * 0.9 * SPREAD, 3.0),
    "ml_tanh_of": (math.tanh, BOTH * 25.0 * SPREAD, 9.0),
}
"""Reference (itself within 1 unit of the truth), arguments, units in the last place allowed."""


@pytest.mark.parametrize("name", CASES)
def test_errors_stay_within_the_stated_bounds(name: str) -> None:
    reference, x, allowed = CASES[name]
    out = np.zeros(len(x))
    kernel(name)(len(x), x, out)
    wanted = np.array([reference(each) for each in x])
    assert (np.abs(out - wanted) / np.spacing(np.abs(wanted))).max() < allowed


def test_the_arc_tangent_is_right_in_all_quadrants_and_at_all_sizes() -> None:
    sizes = 10.0 ** RNG.uniform(-300.0, 300.0, 20_000)
    y, x = RNG.normal(size=20_000) * sizes, RNG.normal(size=20_000) * sizes
    y[::2] *= SPREAD[::2]
    out = np.zeros(len(x))
    kernel("ml_atan2_of")(len(x), y, x, out)
    wanted = np.array([math.atan2(*each) for each in zip(y, x, strict=True)])
    assert (np.abs(out - wanted) / np.spacing(np.abs(wanted))).max() < 3.0


EDGES = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-310, 1e308)


def test_the_arc_tangent_keeps_the_signs_of_zero_and_of_infinity() -> None:
    for y in EDGES:
        for x in EDGES:
            out, wanted = np.zeros(1), math.atan2(y, x)
            kernel("ml_atan2_of")(1, np.array([y]), np.array([x]), out)
            if math.isnan(wanted):
                assert math.isnan(out[0])
            else:
                assert math.isclose(out[0], wanted, rel_tol=1e-15, abs_tol=0.0), (y, x)
                assert math.copysign(1.0, out[0]) == math.copysign(1.0, wanted), (y, x)


def test_edges_have_the_values_that_c_gives_them() -> None:
    for name, x, wanted in (
        ("ml_exp_of", -math.inf, 0.0),
        ("ml_exp_of", 800.0, math.inf),
        ("ml_exp_of", -745.0, 5e-324),
        ("ml_log_of", 0.0, -math.inf),
        ("ml_log_of", math.inf, math.inf),
        ("ml_log_of", 5e-324, math.log(5e-324)),
        ("ml_log1p_of", -1.0, -math.inf),
        ("ml_log1p_of", 1e-300, 1e-300),
        ("ml_tanh_of", -math.inf, -1.0),
        ("ml_sin_of", 0.0, 0.0),
        ("ml_cos_of", 0.0, 1.0),
        ("ml_acos_of", 1.0, 0.0),
        ("ml_acos_of", -1.0, math.pi),
    ):
        out = np.zeros(1)
        kernel(name)(1, np.array([x]), out)
        assert out[0] == wanted, name
    for name, x in (("ml_log_of", -1.0), ("ml_acos_of", 1.1), ("ml_sin_of", math.inf)):
        out = np.zeros(1)
        kernel(name)(1, np.array([x]), out)
        assert math.isnan(out[0]), name


def test_huge_angles_stay_within_the_circle() -> None:
    x = BOTH * 10.0 ** RNG.uniform(6.0, 308.0, 20_000)
    sine, cosine = np.zeros(len(x)), np.zeros(len(x))
    kernel("ml_sin_of")(len(x), x, sine)
    kernel("ml_cos_of")(len(x), x, cosine)
    assert np.abs(sine**2 + cosine**2 - 1.0).max() < 1e-15
