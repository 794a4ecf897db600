"""Alignments along a path: outliers, directions, ends."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.registration.alignment import alignment_samples, median_filter, transform_at
from motionloom.rotation.planar import PlanarTransform


class Known:
    """A grid whose alignments are given along the diagonal."""

    def __init__(self, theta, offset):
        self.theta, self.offset = theta, offset

    def alignment(self, i, j):
        return self.theta[i], self.offset[i]


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


def test_samples_say_where_the_root_is_seen_from_the_references_root():
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


def test_the_median_has_the_full_width_inside_and_shrinks_towards_the_ends():
    values = np.array([9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 0.0])[:, None]
    assert median_filter(values, 5)[:, 0].tolist() == [9.0, 8.0, 7.0, 3.0, 3.0, 3.0, 0.0]
    assert median_filter(values[:2], 5)[:, 0].tolist() == [9.0, 1.0]
    assert median_filter(values, 1).tolist() == values.tolist()
