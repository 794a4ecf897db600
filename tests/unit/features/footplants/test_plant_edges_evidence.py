"""Evidence for the edge of a plant: the compiled form against the plain one, and what it finds."""

import numpy as np
import pytest

from motionloom.features.footplants.plant_edges import edge_evidence
from tests.oracles import edge_evidence as plain

FLOAT64 = 1e-8
PACES = np.array([0.2, 8.0, 150.0])
RATE = 60.0


@pytest.mark.parametrize("impact", [0.0, 0.06])
@pytest.mark.parametrize("n_axes", [1, 2])
@pytest.mark.parametrize("sway", [0.0, 0.003])
def test_compiled_and_plain_forms_agree(impact, n_axes, sway):
    rng = np.random.Generator(np.random.PCG64(4))
    tracks = 0.01 * rng.normal(size=(22, 3, n_axes)).cumsum(axis=0)
    rests = np.arange(4.0, 20.0, 0.5)
    colour = sway**2 * np.maximum(1.0 - np.arange(22) / 9.0, 0.0)
    arguments = (tracks, rests, PACES, 0.002, 0.04, RATE, impact, colour)
    assert np.allclose(
        edge_evidence(*arguments), plain.edge_evidence(*arguments), rtol=FLOAT64, atol=1e-6
    )


def test_the_instant_at_which_a_point_sets_off_has_the_most_evidence():
    frames = np.arange(24)
    track = 15.0 * np.maximum(frames - 12.0, 0.0) ** 2 / RATE**2
    rests = np.arange(6.0, 20.0, 0.5)
    white = np.zeros(24)
    evidence = edge_evidence(track[:, None, None], rests, PACES, 0.0015, 0.01, RATE, 0.0, white)
    assert abs(rests[int(evidence[0].argmax())] - 12.0) <= 1.0


@pytest.mark.parametrize(("n", "n_tracks"), [(1, 1), (2, 3), (9, 0), (30, 5)])
def test_any_instants_in_any_order_are_those_of_the_plain_form(n, n_tracks):
    rng = np.random.Generator(np.random.PCG64(n))
    tracks = 0.01 * rng.normal(size=(n, n_tracks, 2)).cumsum(axis=0)
    rests = rng.permutation(np.r_[-2.0, -0.5, 0.0, 3.25, 3.25, n - 1.0, n, n + 5.0])
    given = (tracks, rests, PACES[:2], 0.002, 0.04, RATE, 0.06, 1e-6 * np.ones(n + 4))
    got, expected = edge_evidence(*given), plain.edge_evidence(*given)
    assert got.shape == expected.shape == (n_tracks, len(rests))
    assert np.allclose(got, expected, rtol=FLOAT64, atol=1e-6)


def test_paces_of_which_one_explains_all_add_nothing():
    """Evidence that differs by hundreds of orders of magnitude is added up without overflow."""
    track = np.r_[0.0, 0.0, 0.0, 500.0, 2000.0][:, None, None]
    white, rests = np.zeros(5), np.array([2.0])
    fast = edge_evidence(track, rests, np.array([1e12]), 0.002, 0.01, RATE, 0.0, white)
    both = edge_evidence(track, rests, np.array([1e-9, 1e12]), 0.002, 0.01, RATE, 0.0, white)
    assert np.isfinite(both).all()
    assert both == pytest.approx(fast)
