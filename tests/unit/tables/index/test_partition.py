"""Partition: every point is in one list, that of the nearest centre, and more can be put in."""

import numpy as np
import pytest

from motionloom.tables.index.kmeans import extend_partition, find_partition

PER_LIST = 20
ROUNDING = 1e-5
"""Of distances of some 10, from products in single precision."""


@pytest.fixture(scope="module")
def points():
    rng = np.random.Generator(np.random.PCG64(2))
    kinds = rng.normal(0.0, 3.0, (30, 6))
    return (kinds[rng.integers(0, 30, 1500)] + rng.normal(0.0, 0.4, (1500, 6))).astype(np.float32)


@pytest.fixture(scope="module")
def heads(points):
    return np.clip(np.rint(10.0 * points[:, :4]), -127, 127).astype(np.int8)


@pytest.fixture(scope="module")
def lists(points, heads):
    names = np.arange(1000) * 2  # names need not be places
    return find_partition(points[:1000], names, heads[:1000], per_list=PER_LIST)


def check(lists, point_of, head_of):
    """Lists are ascending and whole, heads go with their names, points are where they belong."""
    names = lists.members.astype(np.int64)
    assert len(np.unique(names)) == len(names) == lists.list_first[-1]
    for group in range(len(lists.groups)):
        for k in range(lists.group_first[group], lists.group_first[group + 1]):
            span = slice(lists.list_first[k], lists.list_first[k + 1])
            assert (np.diff(names[span]) > 0).all()
            own = lists.centres[lists.group_first[group] : lists.group_first[group + 1]]
            for name, head in zip(names[span], lists.heads[span], strict=True):
                assert np.array_equal(head, head_of[name])
                apart = np.linalg.norm(lists.groups - point_of[name], axis=1)
                assert apart[group] <= apart.min() + ROUNDING
                apart = np.linalg.norm(own - point_of[name], axis=1)
                assert apart[k - lists.group_first[group]] <= apart.min() + ROUNDING


def test_every_point_is_in_the_nearest_list_of_the_nearest_group(lists, points, heads):
    assert 40 <= len(lists.centres) <= 60  # of 1000 points, 20 each
    assert 5 <= len(lists.groups) <= 7  # the root of the 50
    check(lists, dict(zip(range(0, 2000, 2), points[:1000], strict=True)),
          dict(zip(range(0, 2000, 2), heads[:1000], strict=True)))  # fmt: skip


def test_points_that_come_later_are_where_they_belong_too(lists, points, heads):
    now = lists.members.astype(np.int64) + 1  # all have other names now
    new = 5000 + np.arange(500)
    more = extend_partition(lists, now, points[1000:], new, heads[1000:])
    assert np.array_equal(more.centres, lists.centres)
    names = [*(np.arange(1000) * 2 + 1), *new]
    check(more, dict(zip(names, points, strict=True)), dict(zip(names, heads, strict=True)))
    assert len(more.members) == 1500


def test_members_that_are_gone_are_left_out(lists, points, heads):
    names = lists.members.astype(np.int64)
    now = np.where(names < 400, -1, names)
    nothing = np.zeros(0, dtype=np.int64)
    less = extend_partition(lists, now, points[:0], nothing, heads[:0])
    assert np.array_equal(np.sort(less.members), np.arange(400, 2000, 2))
