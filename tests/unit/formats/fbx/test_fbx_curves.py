"""Animation curves: every kind of segment, and the frames that keys ask for."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.errors import ArrayError, FormatError
from motionloom.formats.fbx.fbx_animation import clock_of_keys
from motionloom.formats.fbx.fbx_curves import Curve, Keys, tangents_of
from tests.oracles.keyed import values_at

USER, WEIGHTED = 0x408, 0x03000408


def curve(
    flags: int | list[int], slopes: list[float], values: list[float], packed: int = 0
) -> Curve:
    n = len(values)
    times = np.arange(n, dtype=float)
    kinds = np.broadcast_to(np.array(flags, dtype=np.int64), (n,)).copy()
    data = np.tile([*slopes, 0.0, 0.0], (n, 1))
    weights = np.full(n, packed, dtype=np.int64)
    keys = Keys(times, np.array(values), kinds, data, weights, np.arange(n) == n - 1)
    return Curve(times, np.array(values), kinds, tangents_of(keys))


def test_constant_keeps_the_first_key_or_takes_the_next() -> None:
    at = np.array([0.0, 0.5, 1.0, 1.5, 5.0])
    assert curve(0x2, [0, 0], [3.0, 5.0]).sample(at).tolist() == [3, 3, 5, 5, 5]
    assert curve(0x102, [0, 0], [3.0, 5.0]).sample(at).tolist() == [3, 5, 5, 5, 5]


def test_linear_is_straight_and_constant_outside() -> None:
    at = np.array([-1.0, 0.25, 1.5, 9.0])
    assert curve(0x4, [0, 0], [0.0, 4.0, 2.0]).sample(at).tolist() == [0, 1, 3, 2]


def test_cubic_is_the_hermite_spline_of_its_slopes() -> None:
    u = np.linspace(0.0, 1.0, 11)
    expected = (u**3 - 2 * u**2 + u) * 2.0 + (3 * u**2 - 2 * u**3) + (u**3 - u**2) * -1.0
    assert np.allclose(curve(USER, [2.0, -1.0], [0.0, 1.0]).sample(u), expected)


def test_weighted_tangents_of_a_third_are_plain_ones() -> None:
    u = np.linspace(0.0, 1.0, 11)
    third = 3333 | 3333 << 16
    plain = curve(USER, [2.0, -1.0], [0.0, 1.0]).sample(u)
    assert np.allclose(curve(WEIGHTED, [2.0, -1.0], [0.0, 1.0], third).sample(u), plain)


def test_weighted_tangents_are_bezier_segments() -> None:
    right, left = 6000 / 9999, 2000 / 9999
    s = np.linspace(0.0, 1.0, 21)
    x = 3 * (1 - s) ** 2 * s * right + 3 * (1 - s) * s**2 * (1 - left) + s**3
    y = 3 * (1 - s) ** 2 * s * (2.0 * right) + 3 * (1 - s) * s**2 * (1 + left) + s**3
    sampled = curve(WEIGHTED, [2.0, -1.0], [0.0, 1.0], 6000 | 2000 << 16).sample(x)
    assert np.allclose(sampled, y, atol=1e-9)


@pytest.mark.parametrize("flags", [0x108, 0x2108, 0x6108, 0x208])
def test_computed_tangents_keep_a_straight_line_straight_inside(flags: int) -> None:
    at = np.linspace(1.0, 3.0, 9)
    assert np.allclose(curve(flags, [0.0, 0.0], [0.0, 1.0, 2.0, 3.0, 4.0]).sample(at), at)


def test_progressive_tangents_do_not_overshoot() -> None:
    values = [0.0, 0.0, 10.0, 10.5, 3.0]
    sampled = curve(0x6108, [0, 0], values).sample(np.linspace(0.0, 4.0, 200))
    assert sampled.min() >= 0.0
    assert sampled.max() <= 10.5


def random_keys(rng: np.random.Generator, n: int) -> Keys:
    modes = [0x2, 0x102, 0x4, USER, WEIGHTED, 0x108, 0x2108, 0x1108, 0x6108, 0x208]
    flags = rng.choice(modes, n).astype(np.int64)
    slopes = np.where((flags & 0x200)[:, None] > 0, 0.1, 1.0) * rng.normal(size=(n, 4))
    times = np.cumsum(rng.uniform(0.01, 1.0, n))
    values = rng.normal(size=n).round(1)
    packed = rng.integers(0, 1 << 32, n)
    return Keys(times, values, flags, slopes, packed, np.arange(n) == n - 1)


@pytest.mark.parametrize("seed", range(20))
def test_sampling_is_that_of_the_plain_form_bit_for_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = random_keys(rng, 1 + seed)
    tangents = tangents_of(keys) if seed % 5 else None
    at = np.concatenate([np.linspace(-1.0, 12.0, 300), rng.permutation(keys.times)])
    sampled = Curve(keys.times, keys.values, keys.flags, tangents).sample(at)
    expected = values_at(keys.times, keys.values, keys.flags, tangents, at)
    assert sampled.tobytes() == expected.tobytes()


def test_tangents_of_many_curves_are_those_of_each() -> None:
    rng = np.random.default_rng(5)
    each = [random_keys(rng, n) for n in (2, 3, 9, 2, 30)]
    parts = ("times", "values", "flags", "slopes", "packed", "is_last")
    together = Keys(*(np.concatenate([getattr(keys, part) for keys in each]) for part in parts))
    inner = ~together.is_last
    expected = np.concatenate([tangents_of(keys) for keys in each])
    assert tangents_of(together)[inner].tobytes() == expected[inner].tobytes()


def test_sampling_refuses_tangents_of_other_keys() -> None:
    keys = random_keys(np.random.default_rng(0), 4)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        Curve(keys.times, keys.values, keys.flags, np.zeros((3, 4))).sample(np.zeros(2))


def test_a_key_for_every_frame_gives_the_frames() -> None:
    keys = 2.0 + np.arange(50) / 59.94
    clock = clock_of_keys(keys, None, 59.94, 1000)
    assert (clock.fps, len(clock.times)) == (59.94, 50)


def test_sparse_keys_are_filled_in_at_the_stated_rate() -> None:
    clock = clock_of_keys(np.array([0.0, 0.1, 0.5, 1.0]), None, 30.0, 1000)
    assert (clock.fps, len(clock.times)) == (30.0, 31)


def test_keys_off_the_stated_frames_give_their_own_rate() -> None:
    clock = clock_of_keys(np.arange(20) / 25.0, None, 30.0, 1000)
    assert (clock.fps, len(clock.times)) == (25.0, 20)


def test_the_span_of_a_stack_cuts_its_keys() -> None:
    clock = clock_of_keys(np.arange(91) / 30.0, (1.0, 2.0), 30.0, 1000)
    assert (clock.times[0], len(clock.times)) == (1.0, 31)


def test_too_many_frames_are_refused() -> None:
    with pytest.raises(FormatError, match="frames"):
        clock_of_keys(np.array([0.0, 1.0, 1e5]), None, 120.0, 5000)
