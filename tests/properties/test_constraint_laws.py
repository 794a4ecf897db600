"""Laws 18, 19 and 27: matched plants are one per motion, in order, and inside real plants."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from motionloom.registration.curve import ConstraintMatch, match_constraints


@st.composite
def plants(draw, most=6):
    n = draw(st.integers(0, most))
    # Plants crowded into a few whole numbers often overlap equally well: ties are part of the law.
    latest = draw(st.sampled_from([14, 30, 200]))
    edges = sorted(draw(st.sets(st.integers(0, latest), min_size=2 * n, max_size=2 * n)))
    return [(float(edges[2 * k]), float(edges[2 * k + 1])) for k in range(n)]


families = st.lists(plants(), min_size=2, max_size=4)


@given(families)
def test_matches_are_one_per_motion_in_order_and_inside_real_plants(family):
    last = [-1.0] * len(family)
    for match in match_constraints(family):
        assert len(match.intervals) == len(family)
        for k, (start, end) in enumerate(match.intervals):
            assert last[k] - 1e-9 <= start <= end + 1e-9
            last[k] = end
            assert any(a - 1e-9 <= start and end <= b + 1e-9 for a, b in family[k])


@given(plants(), st.integers(2, 4))
def test_equal_motions_match_plant_by_plant(one, n):
    matches = match_constraints([one] * n)
    assert [m.intervals[0] for m in matches] == one


# Two motions start with the same plant, and not all overlap: which is dropped must not depend on
# the order.
SAME_FIRST_PLANT = [
    [(0, 1), (3, 4), (6, 9), (10, 12)],
    [(4, 6), (7, 9)],
    [(0, 1), (2, 3), (5, 7), (8, 10), (12, 14)],
    [(0, 3), (5, 6), (10, 14)],
]
# After a split two times are equal but for rounding, which differs with the scale of time.
EQUAL_BUT_FOR_ROUNDING = [
    [(0, 1), (3, 4), (5, 6), (7, 9), (10, 11), (13, 14)],
    [(0, 6)],
    [(0, 2), (5, 6), (10, 11)],
]


@given(families)
@example(SAME_FIRST_PLANT)
def test_the_order_of_motions_does_not_matter(family):
    here = [m.intervals for m in match_constraints(family)]
    for order in permutations(range(len(family))):
        there = [m.intervals for m in match_constraints([family[k] for k in order])]
        assert len(here) == len(there)
        for a, b in zip(here, there, strict=True):
            assert np.allclose([a[k] for k in order], b)


@given(families, st.floats(0.1, 5), st.floats(-50, 50))
@example(EQUAL_BUT_FOR_ROUNDING, 3.708100973774864, 47.90719038451992)
def test_stretching_time_stretches_the_matches(family, scale, shift):
    stretched = [[(scale * a + shift, scale * b + shift) for a, b in m] for m in family]
    here, there = match_constraints(family), match_constraints(stretched)
    assert len(here) == len(there)
    for a, b in zip(here, there, strict=True):
        expected = scale * np.array(a.intervals) + shift
        assert np.allclose(expected, b.intervals, atol=1e-6)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (
            [[(0, 100), (150, 200)], [(5, 40), (60, 95), (150, 190)]],
            [[(0, 38.889), (5, 40)], [(61.111, 100), (60, 95)], [(150, 200), (150, 190)]],
        ),
        (
            [[(0, 10), (12, 20)], [(0, 6), (9, 18)]],
            [[(0, 10), (0, 6)], [(12, 20), (9, 18)]],
        ),
        (
            [[(0, 100)], [(0, 20), (30, 60), (70, 100)]],
            [[(0, 20), (0, 20)], [(30, 60), (30, 60)], [(70, 100), (70, 100)]],
        ),
        (
            [[(0, 10), (30, 40)], [(0, 10), (15, 20), (30, 40)]],
            [[(0, 10), (0, 10)], [(30, 40), (30, 40)]],
        ),
    ],
)
def test_the_worked_examples_come_out(family, expected):
    found = [m.intervals for m in match_constraints(family)]
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert np.allclose(a, b, atol=1e-3)


@given(st.floats(-1, 2))
def test_a_blend_holds_a_plant_at_the_mixed_times(w):
    match = ConstraintMatch(((0.0, 10.0), (4.0, 20.0)))
    start, end = match.interval([1 - w, w])
    assert (start, end) == (pytest.approx(4 * w), pytest.approx(10 + 10 * w))
