"""What hidden Markov models see of a window: positions, velocities and accelerations of a part.

All are linear in three frames, and so are their principal components: one product of the signals
with taps gives them, for captured windows and for sums of them alike.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from studies.measures.window_batch import WindowBatch

__all__ = ["principal_taps", "signals_of"]


def signals_of(windows: WindowBatch, joints: IntArray, stride: int) -> FloatArray:
    """Joints of a part and the root's velocities, every ``stride``-th frame. (n, T', D).

    The ends' velocities are never looked at: a frame needs one before and one after it.
    """
    n = len(windows)
    body = windows.body[:, ::stride][:, :, joints].reshape(n, -1, 3 * len(joints))
    heading, ground = windows.heading[:, ::stride], windows.ground[:, ::stride]
    rate = 0.5 * windows.fps / stride
    pace = np.zeros((n, heading.shape[1], 3))
    moved = rate * (ground[:, 2:] - ground[:, :-2])
    cos, sin = np.cos(heading[:, 1:-1]), np.sin(heading[:, 1:-1])
    pace[:, 1:-1, 0] = cos * moved[..., 0] - sin * moved[..., 1]
    pace[:, 1:-1, 1] = sin * moved[..., 0] + cos * moved[..., 1]
    pace[:, 1:-1, 2] = rate * (heading[:, 2:] - heading[:, :-2])
    return np.concatenate([body.astype(np.float64), pace], axis=-1)


def principal_taps(
    signals: FloatArray, n_positions: int, rate: float, dimensions: int
) -> tuple[FloatArray, FloatArray]:
    """Taps and offset that give whitened principal components of standardised features.

    The features are positions, their velocities and accelerations, and the root's velocities, all
    linear in three frames: so are their components, and one product makes them.
    """
    n_signals = signals.shape[-1]
    moving = np.eye(n_signals)[:n_positions]
    nothing = np.zeros_like(moving)
    rest = np.zeros((n_signals - n_positions, n_signals))
    before = np.concatenate([nothing, rest, -0.5 * rate * moving, rate**2 * moving])
    here = np.concatenate([moving, np.eye(n_signals)[n_positions:], nothing, -2 * rate**2 * moving])
    after = np.concatenate([nothing, rest, 0.5 * rate * moving, rate**2 * moving])
    features = signals[:, :-2] @ before.T + signals[:, 1:-1] @ here.T + signals[:, 2:] @ after.T
    flat = features.reshape(-1, features.shape[-1])
    mean = flat.mean(axis=0)
    scale = np.maximum(flat.std(axis=0), 1e-6)
    values, vectors = np.linalg.eigh(np.cov((flat - mean) / scale, rowvar=False))
    largest = np.argsort(values)[::-1][:dimensions]
    largest = largest[values[largest] > 1e-9 * values.max()]
    # Signs of eigenvectors are free: the largest entry is made positive, so fits repeat.
    vectors = vectors[:, largest]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(largest))])
    project = vectors / (scale[:, None] * np.sqrt(values[largest]))
    return np.concatenate([m.T @ project for m in (before, here, after)], axis=1), mean @ project
