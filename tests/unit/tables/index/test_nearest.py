"""Nearest centres and codes: the same for a point alone and among others."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.tables.index import kmeans as module
from motionloom.tables.index.contexts import encoded
from motionloom.tables.index.kmeans import nearest
from tests.oracles import centres as plain
from tests.oracles.windows import encoded as plain_encoded

FLOAT64 = 1e-12


def points_of(seed, n, width, offset=0.0):
    rng = np.random.Generator(np.random.PCG64(seed))
    return (rng.normal(size=(n, width)) + offset).astype(np.float32)


@pytest.mark.parametrize("width", [1, 7, 300])
@pytest.mark.parametrize("offset", [0.0, 50.0])
def test_the_nearest_is_that_of_differences_in_double_precision(width, offset):
    points, centres = points_of(1, 200, width, offset), points_of(2, 40, width, offset)
    expected, squared = plain.nearest(points, centres)
    number, distance = nearest(points, centres)
    assert np.array_equal(number, expected)
    assert np.allclose(distance, np.sqrt(squared), rtol=FLOAT64, atol=0.0)


@pytest.mark.parametrize("count", [1, 7, 8, 31, 32, 33, 64, 100])
def test_the_nearest_may_be_any_of_any_number(count):
    centres = points_of(20, count, 9)
    points = np.concatenate([centres + np.float32(0.01), points_of(21, 50, 9)])
    expected, squared = plain.nearest(points, centres)
    number, distance = nearest(points, centres)
    assert np.array_equal(number, expected)
    assert np.array_equal(number[:count], np.arange(count))
    assert np.allclose(distance, np.sqrt(squared), rtol=FLOAT64, atol=0.0)


@pytest.mark.parametrize("count", [5, 40])
def test_without_slack_only_the_largest_product_is_looked_at(count):
    points, centres = points_of(22, 30, 6), points_of(23, count, 6)
    product = points_of(24, 30, count)
    product[3] = np.nan  # nothing is the largest of these
    product[4, 1:] = np.nan
    number, squared = np.zeros(30, dtype=np.int64), np.zeros(30)
    arrays = (points, points, centres, product, 0.0, 0.0, number, squared)
    kernel("ml_centre_decide")(30, 6, count, *arrays)
    there = np.delete(np.arange(30), [3, 4])
    assert np.array_equal(number[there], product[there].argmax(axis=1))
    assert (number[3], number[4]) == (0, 0)
    assert np.isinf(squared[3])
    assert np.isfinite(np.delete(squared, 3)).all()


def test_a_point_gets_the_same_numbers_alone_and_among_others(monkeypatch):
    points, centres = points_of(3, 300, 333), points_of(4, 21, 333)
    centres[11:] = centres[:10] + np.float32(1e-7)  # as near as a product of theirs can tell
    number, distance = nearest(points, centres)
    for size in (1, 2, 7, 64):
        some = [nearest(points[k : k + size], centres) for k in range(0, 300, size)]
        assert np.array_equal(np.concatenate([n for n, _ in some]), number)
        assert np.array_equal(np.concatenate([d for _, d in some]), distance)
    for tile in (100, 21, 20, 1):  # several points at a time, one, and less than one
        monkeypatch.setattr(module, "TILE", tile)
        assert np.array_equal(nearest(points, centres)[0], number)
        assert np.array_equal(nearest(points, centres)[1], distance)


def test_centres_that_a_product_takes_for_equal_are_distinguished():
    centres = points_of(5, 6, 200)
    centres[3:] = centres[:3]
    centres[3:, 0] += np.float32(1e-5)
    points = centres.copy()
    number, distance = nearest(points, centres)
    assert number.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.array_equal(distance, np.zeros(6))


def test_of_equal_centres_the_first_is_taken():
    centres = np.repeat(points_of(6, 1, 30), 4, axis=0)
    assert nearest(points_of(7, 5, 30), centres)[0].tolist() == [0] * 5


def test_no_points_have_no_nearest():
    number, distance = nearest(points_of(8, 0, 5), points_of(9, 2, 5))
    assert len(number) == len(distance) == 0


def test_a_point_that_is_no_number_is_infinitely_far_from_the_first_centre():
    points = points_of(8, 3, 5)
    points[1, 2] = np.nan
    number, distance = nearest(points, points_of(9, 1, 5))
    assert number.tolist() == [0, 0, 0]
    assert np.isinf(distance).tolist() == [False, True, False]


@pytest.mark.parametrize(("n", "width", "count"), [(50, 77, 40), (3, 5, 41), (1, 1, 1), (0, 4, 20)])
def test_codes_are_those_of_plain_sums(n, width, count):
    moments, mean = points_of(13, n, width), points_of(14, 1, width)[0]
    axes, steps = points_of(15, count, width), np.linspace(0.02, 0.3, count, dtype=np.float32)
    found = encoded(moments, mean, axes, steps)
    assert found.shape == (n, count)
    assert np.array_equal(found, plain_encoded(moments, mean, axes, steps))


def test_codes_round_halves_to_even_and_end_at_127():
    values = np.array([[0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 1e9, -1e9, np.nan]])
    moments = values.astype(np.float32).T
    one = np.ones(1, dtype=np.float32)
    codes = encoded(moments, np.zeros(1, dtype=np.float32), one[None], one)
    assert codes[:, 0].tolist() == [0, 2, 2, 0, -2, 126, 127, 127, -127, 0]


def test_codes_are_the_same_alone_and_among_others():
    moments, mean = points_of(10, 400, 77), points_of(11, 1, 77)[0]
    axes, steps = points_of(12, 40, 77), np.full(40, 1e-3, dtype=np.float32) * 100
    codes = encoded(moments, mean, axes, steps)
    for size in (1, 3, 50):
        some = [encoded(moments[k : k + size], mean, axes, steps) for k in range(0, 400, size)]
        assert np.array_equal(np.concatenate(some), codes)
    exact = (moments.astype(np.float64) - mean) @ axes.T.astype(np.float64) / steps
    assert np.abs(np.clip(exact, -127, 127) - codes).max() < 0.5 + 1e-3
    assert {-127, 127} <= set(codes.ravel().tolist())


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_numbers_and_codes_do_not_depend_on_the_number_of_threads(threads):
    points, centres = points_of(16, 500, 40), points_of(17, 33, 40)
    mean, axes, steps = points_of(18, 1, 40)[0], points_of(19, 24, 40), np.full(24, 0.1, np.float32)
    parts = [points[k : k + 61] for k in range(0, 500, 61)]
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda part: nearest(part, centres), parts))
        codes = list(pool.map(lambda part: encoded(part, mean, axes, steps), parts))
    number, distance = nearest(points, centres)
    assert np.concatenate([n for n, _ in found]).tobytes() == number.tobytes()
    assert np.concatenate([d for _, d in found]).tobytes() == distance.tobytes()
    assert np.concatenate(codes).tobytes() == encoded(points, mean, axes, steps).tobytes()
