"""Laws of hulls: distances are those of the farthest direction, wherever the floor is (37)."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from studies.measures.hull import hull_distances, hull_of

FLOAT32_M = 1e-5

coordinates = st.floats(-2.0, 2.0, allow_nan=False, width=32).map(lambda v: round(v, 3))
places = npst.arrays(np.float64, st.tuples(st.integers(1, 8), st.just(2)), elements=coordinates)


def nearest_by_sampling(points, x, z):
    """Distance from the hull as the largest gap in many directions, and its own error."""
    angles = np.linspace(0.0, 2.0 * np.pi, 7201)
    directions = np.stack([np.cos(angles), np.sin(angles)])
    reach = ((points - [x, z]) @ directions).max(axis=0)
    slack = np.linalg.norm(points - [x, z], axis=1).max() * (angles[1] - angles[0])
    return max(0.0, float(-reach.min())), float(slack)


@given(places, coordinates, coordinates)
@settings(max_examples=150)
def test_distances_from_hulls_are_the_largest_gap_in_any_direction(points, x, z):
    got = float(hull_distances(hull_of(points), [(x, z)])[0])
    expected, slack = nearest_by_sampling(points, x, z)
    assert abs(got - expected) <= slack + FLOAT32_M


@given(places, coordinates, coordinates, st.floats(-3.0, 3.0), coordinates, coordinates)
@settings(max_examples=100)
def test_distances_move_with_the_floor(points, x, z, turn, dx, dz):
    def distance(cloud, point):
        return float(hull_distances(hull_of(cloud), point)[0])

    cos, sin = np.cos(turn), np.sin(turn)
    spin = np.array([[cos, sin], [-sin, cos]])
    here = distance(points, np.array([x, z]))
    there = distance(points @ spin.T + [dx, dz], spin @ [x, z] + [dx, dz])
    assert abs(here - there) < FLOAT32_M
