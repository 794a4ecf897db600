"""Hidden Markov models with diagonal Gaussians: likelihood and one round of Baum-Welch, compiled.

Sequences of one length make an array (n, T, K). Forward and backward passes are scaled frame by
frame, so that nothing underflows; the plain form in logarithms stands beside them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray

__all__ = ["Chain", "log_likelihood_numpy", "log_likelihoods", "reestimated"]

LOG_2PI = float(np.log(2.0 * np.pi))
LEAST_CHANCE = 1e-6
"""No start and no step is held to be impossible: 600 windows do not show everything."""


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


@njit(cache=True, error_model="numpy")
def _emissions(sequence: FloatArray, means: FloatArray, half_inverse: FloatArray,
               constant: FloatArray, out: FloatArray) -> float:  # fmt: skip
    """Densities (T, S) over each frame's largest, and the sum of the largest's logarithms."""
    n_frames, n_dims = sequence.shape
    n_states = len(constant)
    total = 0.0
    for t in range(n_frames):
        highest = -np.inf
        for s in range(n_states):
            value = constant[s]
            for k in range(n_dims):
                apart = sequence[t, k] - means[s, k]
                value -= half_inverse[s, k] * apart * apart
            out[t, s] = value
            highest = max(highest, value)
        for s in range(n_states):
            out[t, s] = np.exp(out[t, s] - highest)
        total += highest
    return total


@njit(cache=True, error_model="numpy")
def _forward(emissions: FloatArray, start: FloatArray, steps: FloatArray,
             alpha: FloatArray, scale: FloatArray) -> float:  # fmt: skip
    """Scaled forward pass; gives the logarithm of the scales' product."""
    n_frames, n_states = emissions.shape
    total = 0.0
    for t in range(n_frames):
        mass = 0.0
        for s in range(n_states):
            if t == 0:
                chance = start[s]
            else:
                chance = 0.0
                for r in range(n_states):
                    chance += alpha[t - 1, r] * steps[r, s]
            alpha[t, s] = chance * emissions[t, s]
            mass += alpha[t, s]
        for s in range(n_states):
            alpha[t, s] /= mass
        scale[t] = mass
        total += np.log(mass)
    return total


@njit(cache=True, error_model="numpy")
def _constants(variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    n_states, n_dims = variances.shape
    half_inverse = 0.5 / variances
    constant = np.zeros(n_states)
    for s in range(n_states):
        constant[s] = -0.5 * n_dims * LOG_2PI
        for k in range(n_dims):
            constant[s] -= 0.5 * np.log(variances[s, k])
    return half_inverse, constant


@njit(cache=True, error_model="numpy")
def _log_likelihoods(sequences: FloatArray, start: FloatArray, steps: FloatArray,
                     means: FloatArray, variances: FloatArray) -> FloatArray:  # fmt: skip
    n, n_frames, _ = sequences.shape
    n_states = len(start)
    half_inverse, constant = _constants(variances)
    emissions, alpha = np.zeros((n_frames, n_states)), np.zeros((n_frames, n_states))
    scale = np.zeros(n_frames)
    out = np.zeros(n)
    for i in range(n):
        largest = _emissions(sequences[i], means, half_inverse, constant, emissions)
        out[i] = largest + _forward(emissions, start, steps, alpha, scale)
    return out


def log_likelihoods(chain: Chain, sequences: FloatArray) -> FloatArray:
    """Logarithm of the likelihood of every sequence (n, T, K). (n,)."""
    return np.asarray(_log_likelihoods(np.ascontiguousarray(sequences), *chain))


@njit(cache=True, error_model="numpy")
def _expectations(sequences: FloatArray, start: FloatArray, steps: FloatArray,
                  means: FloatArray, variances: FloatArray) -> tuple[
    float, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """Log-likelihood of all, then expected starts, steps, visits, first and second moments."""
    n, n_frames, n_dims = sequences.shape
    n_states = len(start)
    half_inverse, constant = _constants(variances)
    emissions, alpha = np.zeros((n_frames, n_states)), np.zeros((n_frames, n_states))
    scale, beta, following = np.zeros(n_frames), np.zeros(n_states), np.zeros(n_states)
    starts, moves, visits = np.zeros(n_states), np.zeros((n_states, n_states)), np.zeros(n_states)
    first, second = np.zeros((n_states, n_dims)), np.zeros((n_states, n_dims))
    total = 0.0
    for i in range(n):
        total += _emissions(sequences[i], means, half_inverse, constant, emissions)
        total += _forward(emissions, start, steps, alpha, scale)
        beta[:] = 1.0
        for back in range(n_frames):
            t = n_frames - 1 - back
            if back > 0:
                for s in range(n_states):
                    following[s] = beta[s] * emissions[t + 1, s] / scale[t + 1]
                for r in range(n_states):
                    chance = 0.0
                    for s in range(n_states):
                        step = steps[r, s] * following[s]
                        moves[r, s] += alpha[t, r] * step
                        chance += step
                    beta[r] = chance
            for s in range(n_states):
                here = alpha[t, s] * beta[s]
                visits[s] += here
                if t == 0:
                    starts[s] += here
                for k in range(n_dims):
                    value = sequences[i, t, k]
                    first[s, k] += here * value
                    second[s, k] += here * value * value
    return total, starts, moves, visits, first, second


def reestimated(chain: Chain, sequences: FloatArray, *, floor: float) -> tuple[Chain, float]:
    """The chain after one round of Baum-Welch, and the log-likelihood before it.

    A state that nothing visits keeps its mean and variance. Variances stay at least ``floor``.
    """
    total, starts, moves, visits, first, second = _expectations(sequences, *chain)
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


def log_likelihood_numpy(chain: Chain, sequence: FloatArray) -> float:
    """The plain form of :func:`log_likelihoods` for one sequence (T, K)."""
    apart = sequence[:, None] - chain.means
    density = -0.5 * (LOG_2PI + np.log(chain.variances) + apart**2 / chain.variances).sum(axis=-1)
    state = np.log(chain.start) + density[0]
    for t in range(1, len(sequence)):
        state = np.logaddexp.reduce(state[:, None] + np.log(chain.steps), axis=0) + density[t]
    return float(np.logaddexp.reduce(state))
