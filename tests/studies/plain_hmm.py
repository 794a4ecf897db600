"""Hidden Markov models, in logarithms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.tables.score.recipe import weights_of
from studies.baselines.hmm_kernel import Chain
from studies.baselines.hmm_recipes import HmmTerms

LOG_2PI = float(np.log(2.0 * np.pi))


class Expected(NamedTuple):
    """Expected counts and moments of sequences."""

    starts: FloatArray
    moves: FloatArray
    visits: FloatArray
    first: FloatArray
    second: FloatArray


def log_likelihood(chain: Chain, sequence: FloatArray) -> float:
    """The plain form of :func:`log_likelihoods` for one sequence (T, K)."""
    return float(np.logaddexp.reduce(_forward(chain, _density(chain, sequence))[-1]))


def expected(chain: Chain, sequence: FloatArray) -> Expected:
    """What one sequence (T, K) adds to the counts of a round of Baum-Welch."""
    density, steps = _density(chain, sequence), np.log(chain.steps)
    forward, backward = _forward(chain, density), np.zeros_like(density)
    for t in range(len(sequence) - 2, -1, -1):
        backward[t] = np.logaddexp.reduce(steps + density[t + 1] + backward[t + 1], axis=1)
    total = np.logaddexp.reduce(forward[-1])
    here = np.exp(forward + backward - total)
    moves = forward[:-1, :, None] + steps + (density + backward)[1:, None] - total
    return Expected(
        here[0],
        np.exp(moves).sum(axis=0),
        here.sum(axis=0),
        here.T @ sequence,
        here.T @ np.square(sequence),
    )


def score_recipes(terms: HmmTerms, ids: npt.ArrayLike, *, family: str = "bernstein") -> FloatArray:
    """The plain form of :func:`score_recipes`."""
    asked, model = np.asarray(ids), terms.model
    weights = weights_of(family, asked.shape[1], terms.length)[:, :: terms.stride]
    blends = np.einsum("it,nitk->ntk", weights, terms.seen[asked].astype(np.float64))
    seen = model.joined(blends)
    each = [log_likelihood(model.chain, sequence) / seen.shape[1] for sequence in seen]
    return (np.array(each) - model.usual) / model.spread


def _density(chain: Chain, sequence: FloatArray) -> FloatArray:
    apart = sequence[:, None] - chain.means
    each = LOG_2PI + np.log(chain.variances) + apart**2 / chain.variances
    return np.asarray(-0.5 * each.sum(axis=-1))


def _forward(chain: Chain, density: FloatArray) -> FloatArray:
    states = [np.log(chain.start) + density[0]]
    for now in density[1:]:
        reached = states[-1][:, None] + np.log(chain.steps)
        states.append(np.logaddexp.reduce(reached, axis=0) + now)
    return np.array(states)
