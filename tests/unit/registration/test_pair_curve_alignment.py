"""Alignments along a path: outliers, directions, ends."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.registration.curve import transform_at
from motionloom.registration.pair_curve import alignment_samples, median_filter
from motionloom.rotation.quat import PlanarTransform


class Known:
    """A grid whose turns belong to the reference's frames, and whose slides to the motion's."""

    def __init__(self, theta, offset):
        self.theta, self.offset = theta, offset

    def alignment(self, i, j):
        return self.theta[i], self.offset[j]


def scene(turn):
    """A walk and its noisy alignments, all seen in a world turned by an angle."""
    rng = np.random.default_rng(5)
    n = 40
    world = PlanarTransform(turn, 0.0, 0.0)
    reference = np.stack([0.03 * np.arange(n), np.ones(n), 0.05 * np.arange(n)], axis=-1)
    roots = rng.normal(size=(n, 3))
    theta = 0.3 + 0.1 * rng.normal(size=n)
    offset = np.zeros((n, 3))
    offset[:, [0, 2]] = rng.normal(size=(n, 2))
    cells = np.stack([np.arange(n)] * 2, axis=-1)
    grid = Known(theta + turn, world.apply(offset)[:, [0, 2]])
    return alignment_samples(grid, cells, roots, world.apply(reference)), world


def test_turning_the_world_turns_the_samples():
    samples, _ = scene(0.0)
    turned, world = scene(1.1)
    assert turned[:, 0] == pytest.approx(samples[:, 0] + 1.1)
    offsets = np.stack([samples[:, 1], 0.0 * samples[:, 0], samples[:, 2]], axis=-1)
    assert turned[:, 1:] == pytest.approx(world.apply(offsets)[:, [0, 2]])


def test_samples_hold_where_the_root_is_seen_from_the_references_root():
    n = 6
    cells = np.stack([np.arange(n)] * 2, axis=-1)
    reference = np.stack([np.zeros(n), np.ones(n), np.arange(n, dtype=float)], axis=-1)
    roots = np.tile([2.0, 1.0, 0.0], (n, 1))
    grid = Known(np.full(n, np.pi / 2), np.tile([0.5, 4.0], (n, 1)))
    samples = alignment_samples(grid, cells, roots, reference, width=1)
    # A quarter turn carries (2, 0) to (0, -2); shifted it is at (0.5, 2).
    expected = np.stack([np.full(n, np.pi / 2), np.full(n, 0.5), 2.0 - np.arange(n)], axis=-1)
    assert samples == pytest.approx(expected)
    back = transform_at(samples[2], roots[2], reference[2])
    assert (back.theta, back.x0, back.z0) == pytest.approx((np.pi / 2, 0.5, 4.0))


def test_medians_are_taken_along_and_across_the_way_that_the_reference_goes():
    """The same in plain vectors: two directions on the ground, the root offset measured in both."""
    rng = np.random.default_rng(8)
    n, width = 30, 5
    start, end = np.array([3.0, 1.0, -2.0]), np.array([5.0, 0.7, 0.5])
    reference = start + np.linspace(0.0, 1.0, n)[:, None] * (end - start)
    reference[1] += [0.4, 0.0, -0.9]  # neither end: the way goes from the first to the last
    reference[-2] += [-0.7, 0.0, 0.5]
    roots = rng.normal(size=(n + 2, 3))
    offset = rng.normal(size=(n + 2, 2))
    cells = np.stack([np.arange(n), 2 + np.arange(n)], axis=-1)
    samples = alignment_samples(Known(np.zeros(n), offset), cells, roots, reference)
    apart = (roots[:, [0, 2]] + offset)[2:] - reference[:, [0, 2]]
    ahead = (end - start)[[0, 2]] / np.hypot(*(end - start)[[0, 2]])
    aside = np.array([ahead[1], -ahead[0]])
    expected = sum(
        np.outer(plain_median(apart @ way, width), way) for way in (ahead, aside)
    )  # each frame's offset in metres along x and z
    assert samples[:, 0].tolist() == [0.0] * n
    assert samples[:, 1:] == pytest.approx(expected, abs=1e-12)


def test_turns_are_unwrapped_before_their_median():
    n = 9
    turns = 3.0 + 0.1 * np.arange(n)
    wrapped = np.where(turns > np.pi, turns - 2.0 * np.pi, turns)
    cells = np.stack([np.arange(n)] * 2, axis=-1)
    places = np.stack([np.zeros(n), np.ones(n), np.arange(n, dtype=float)], axis=-1)
    samples = alignment_samples(Known(wrapped, np.zeros((n, 2))), cells, places, places)
    assert samples[:, 0] == pytest.approx(turns)


def test_a_transform_puts_the_root_at_its_offset_from_the_references():
    values = np.array([[0.4, 1.5, -2.5], [-1.3, 0.25, 4.0]])
    roots = np.array([[2.0, 0.9, -1.0], [0.3, 1.1, 5.0]])
    reference = np.array([[-4.0, 1.3, 6.0], [7.0, 0.2, -3.0]])
    transform = transform_at(values, roots, reference)
    assert transform.theta == pytest.approx(values[:, 0])
    expected = reference[:, [0, 2]] + values[:, 1:]
    assert transform.apply(roots)[:, [0, 2]] == pytest.approx(expected)


def plain_median(values, width):
    """The middle one of each frame and as many to either side, fewer towards the ends."""
    n, found = len(values), []
    for k in range(n):
        reach = min(width // 2, k, n - 1 - k)
        found.append(sorted(values[k - reach : k + reach + 1])[reach])
    return np.array(found)


@pytest.mark.parametrize("width", [1, 3, 5, 7])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 13])
def test_every_median_is_the_middle_one_of_its_window(n, width):
    values = np.random.default_rng(n).permutation(3 * n).astype(float).reshape(n, 3)
    expected = np.stack([plain_median(column, width) for column in values.T], axis=-1)
    assert median_filter(values, width).tolist() == expected.tolist()
    assert median_filter(values[::-1], width).tolist() == expected[::-1].tolist()


def test_the_median_has_the_full_width_inside_and_shrinks_towards_the_ends():
    values = np.array([9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 0.0])[:, None]
    assert median_filter(values, 5)[:, 0].tolist() == [9.0, 8.0, 7.0, 3.0, 3.0, 3.0, 0.0]
    assert median_filter(values[:2], 5)[:, 0].tolist() == [9.0, 1.0]
    assert median_filter(values, 1).tolist() == values.tolist()
