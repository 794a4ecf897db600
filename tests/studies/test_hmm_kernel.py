"""Likelihoods and Baum-Welch, against the plain form and against enumeration."""

from itertools import product

import numpy as np
import pytest

from motionloom._core import kernel
from studies.baselines.hmm_kernel import (
    LEAST_CHANCE,
    Chain,
    log_likelihoods,
    reestimated,
    scratch_of,
)
from tests.studies import plain_hmm as plain

FLOAT64 = 1e-9


def a_chain(states=3, dims=2, seed=0):
    rng = np.random.Generator(np.random.PCG64(seed))
    start, steps = rng.random(states) + 0.1, rng.random((states, states)) + 0.1
    return Chain(
        start / start.sum(),
        steps / steps.sum(axis=1, keepdims=True),
        rng.normal(size=(states, dims)),
        rng.random((states, dims)) + 0.2,
    )


def sequences(n=4, length=5, dims=2, seed=1):
    return np.random.Generator(np.random.PCG64(seed)).normal(size=(n, length, dims))


def enumerated(chain, sequence):
    """Weight of every way through the states, by the definition."""
    apart = sequence[:, None] - chain.means
    density = np.exp(-0.5 * (np.log(2 * np.pi * chain.variances) + apart**2 / chain.variances))
    density = density.prod(axis=-1)
    weights = {}
    for way in product(range(len(chain.start)), repeat=len(sequence)):
        weight = chain.start[way[0]] * density[0, way[0]]
        for t in range(1, len(way)):
            weight *= chain.steps[way[t - 1], way[t]] * density[t, way[t]]
        weights[way] = weight
    return weights


def test_the_likelihood_is_the_sum_over_all_ways_through_the_states():
    chain, seen = a_chain(), sequences()
    for value, sequence in zip(log_likelihoods(chain, seen), seen, strict=True):
        assert abs(value - np.log(sum(enumerated(chain, sequence).values()))) < FLOAT64


@pytest.mark.parametrize("states", [1, 3, 7, 8, 9, 16, 19])
def test_the_likelihood_is_the_plain_one_also_for_long_far_sequences(states):
    chain = a_chain(states=states, dims=20)
    seen = 30.0 * sequences(n=3, length=200, dims=20)  # far out: densities underflow
    expected = [plain.log_likelihood(chain, sequence) for sequence in seen]
    assert np.allclose(log_likelihoods(chain, seen), expected, rtol=1e-12)


def test_no_sequences_have_no_likelihood():
    assert log_likelihoods(a_chain(), np.zeros((0, 5, 2))).shape == (0,)
    assert log_likelihoods(a_chain(), np.zeros((2, 0, 2))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("states", "length"), [(1, 1), (3, 1), (3, 2), (8, 30), (11, 7)])
def test_expected_counts_are_the_plain_ones(states, length):
    chain, seen = a_chain(states=states, dims=4), sequences(n=5, length=length, dims=4)
    found = plain.Expected(
        np.zeros(states), np.zeros((states, states)), np.zeros(states), np.zeros((states, 4)),
        np.zeros((states, 4)),
    )  # fmt: skip
    scratch = np.zeros(len(scratch_of(length, 4, states)) + 2 * states)
    total = kernel("ml_hmm_expect")(5, length, 4, states, seen, *chain, scratch, *found)
    each = [plain.expected(chain, sequence) for sequence in seen]
    for ours, theirs in zip(found, zip(*each, strict=True), strict=True):
        assert np.allclose(ours, np.sum(theirs, axis=0), rtol=1e-11, atol=1e-12)
    expected = sum(plain.log_likelihood(chain, sequence) for sequence in seen)
    assert total == pytest.approx(expected, rel=1e-12)


def test_one_round_follows_from_the_expected_counts():
    chain, seen = a_chain(states=2), sequences(n=3, length=4)
    after, before = reestimated(chain, seen, floor=1e-9)
    visits, starts, moves = np.zeros(2), np.zeros(2), np.zeros((2, 2))
    first = np.zeros((2, 2))
    for sequence in seen:
        ways = enumerated(chain, sequence)
        total = sum(ways.values())
        for way, weight in ways.items():
            starts[way[0]] += weight / total
            for t, state in enumerate(way):
                visits[state] += weight / total
                first[state] += weight / total * sequence[t]
                if t:
                    moves[way[t - 1], state] += weight / total
    assert np.allclose(after.start, starts / starts.sum(), atol=FLOAT64)
    assert np.allclose(after.steps, moves / moves.sum(axis=1, keepdims=True), atol=FLOAT64)
    assert np.allclose(after.means, first / visits[:, None], atol=FLOAT64)
    assert abs(before - log_likelihoods(chain, seen).sum()) < FLOAT64


def test_no_round_makes_the_sequences_less_likely():
    seen = sequences(n=20, length=30, dims=3)
    chain, last = a_chain(states=4, dims=3), -np.inf
    for _ in range(15):
        chain, total = reestimated(chain, seen, floor=1e-3)
        assert total >= last - 1e-6
        last = total


def test_a_known_chain_is_found_again():
    rng = np.random.Generator(np.random.PCG64(7))
    true = Chain(
        np.array([0.5, 0.5]),
        np.array([[0.9, 0.1], [0.3, 0.7]]),
        np.array([[-2.0], [2.0]]),
        np.array([[0.25], [1.0]]),
    )
    seen = np.zeros((200, 40, 1))
    for sequence in seen:
        state = rng.choice(2, p=true.start)
        for t in range(len(sequence)):
            sequence[t] = rng.normal(true.means[state], np.sqrt(true.variances[state]))
            state = rng.choice(2, p=true.steps[state])
    chain = true._replace(
        steps=np.full((2, 2), 0.5), means=np.array([[-1.0], [1.0]]), variances=np.ones((2, 1))
    )
    for _ in range(40):
        chain, _ = reestimated(chain, seen, floor=1e-3)
    assert np.allclose(chain.steps, true.steps, atol=0.03)
    assert np.allclose(chain.means, true.means, atol=0.05)
    assert np.allclose(chain.variances, true.variances, atol=0.08)


def test_variances_stay_above_the_floor_and_chances_above_nothing():
    still = np.zeros((5, 10, 2))
    chain, _ = reestimated(a_chain(), still, floor=1e-3)
    assert chain.variances.min() >= 1e-3
    assert min(chain.start.min(), chain.steps.min()) > 0.5 * LEAST_CHANCE
    assert np.isfinite(log_likelihoods(chain, still)).all()


def test_a_state_that_nothing_visits_keeps_its_place():
    chain = a_chain(states=2)
    far = chain._replace(means=np.array([[0.0, 0.0], [500.0, 500.0]]))
    after, _ = reestimated(far, sequences(), floor=1e-3)
    assert after.means[1] == pytest.approx([500.0, 500.0])
