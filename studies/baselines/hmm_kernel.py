"""Hidden Markov models with diagonal Gaussians: likelihood and one round of Baum-Welch.

Sequences of one length make an array (n, T, K). Forward and backward passes are scaled frame by
frame, so that nothing underflows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel

__all__ = ["Chain", "log_likelihoods", "reestimated", "scratch_of"]

LEAST_CHANCE = 1e-6
"""No start and no step is held to be impossible: 600 windows do not show everything."""

_likelihoods = kernel("ml_hmm_likelihoods")
_expect = kernel("ml_hmm_expect")


class Chain(NamedTuple):
    """Parameters of one model with S states in K dimensions."""

    start: FloatArray
    """Chance of each state in the first frame. (S,)"""
    steps: FloatArray
    """Chance to go from each state to each. (S, S)"""
    means: FloatArray
    """(S, K)"""
    variances: FloatArray
    """(S, K)"""


def log_likelihoods(chain: Chain, sequences: FloatArray) -> FloatArray:
    """Logarithm of the likelihood of every sequence (n, T, K). (n,)."""
    sequences = np.ascontiguousarray(sequences, dtype=np.float64)
    n, n_frames, n_dims = sequences.shape
    out = np.zeros(n)
    _likelihoods(
        n,
        n_frames,
        n_dims,
        len(chain.start),
        sequences,
        *chain,
        scratch_of(n_frames, n_dims, len(chain.start)),
        out,
    )
    return out


def scratch_of(n_frames: int, n_dims: int, n_states: int) -> FloatArray:
    """What a chain is worked out in."""
    return np.zeros(2 * n_states * n_dims + n_states + 2 * n_frames * n_states + n_frames)


def reestimated(chain: Chain, sequences: FloatArray, *, floor: float) -> tuple[Chain, float]:
    """The chain after one round of Baum-Welch, and the log-likelihood before it.

    A state that nothing visits keeps its mean and variance. Variances stay at least ``floor``.
    """
    sequences = np.ascontiguousarray(sequences, dtype=np.float64)
    n, n_frames, n_dims = sequences.shape
    n_states = len(chain.start)
    scratch = np.zeros(len(scratch_of(n_frames, n_dims, n_states)) + 2 * n_states)
    starts, moves, visits = np.zeros(n_states), np.zeros((n_states, n_states)), np.zeros(n_states)
    first, second = np.zeros((n_states, n_dims)), np.zeros((n_states, n_dims))
    total = _expect(
        n,
        n_frames,
        n_dims,
        n_states,
        sequences,
        *chain,
        scratch,
        starts,
        moves,
        visits,
        first,
        second,
    )
    used = visits > 1e-8
    weight = np.where(used, visits, 1.0)[:, None]
    means = np.where(used[:, None], first / weight, chain.means)
    spread = second / weight - means * means
    variances = np.where(used[:, None], np.maximum(spread, floor), chain.variances)
    return Chain(_chances(starts), _chances(moves), means, variances), float(total)


def _chances(counts: FloatArray) -> FloatArray:
    """Counts as chances along the last axis, none of them zero."""
    parts = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1e-12)
    parts = np.maximum(parts, LEAST_CHANCE)
    return np.asarray(parts / parts.sum(axis=-1, keepdims=True))
