"""The first paper's logistic regression: the chance that a motion is natural.

From the largest acceleration of every joint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray, numbers
from motionloom.errors import ArrayError
from studies.measures.window_batch import WindowBatch

SMOOTH_S = 0.25
ROUNDS = 100
STEP = 1e-10
"""Newton's method ends when no weight moves further."""


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """A fitted regression.

    Examples
    --------
    >>> model = fit_logistic([[0.0], [1.0], [2.0], [3.0]], [False, False, True, True])
    >>> bool(model.probability([[3.0]])[0] > 0.5 > model.probability([[0.0]])[0])
    True
    """

    weights: FloatArray
    """Of the standardised features. (D,)"""
    bias: float
    mean: FloatArray
    """Of the features it was fitted to. (D,)"""
    scale: FloatArray
    """Their standard deviations; 1 where one never changes. (D,)"""

    def logit(self, features: npt.ArrayLike) -> FloatArray:
        """Logarithm of the odds: as good for ranking as the chance, and never saturated. (n,)."""
        x = _rows(features)
        if x.shape[1] != len(self.weights):
            raise ArrayError(f"`features` must have {len(self.weights)} columns, got {x.shape[1]}.")
        return np.asarray((x - self.mean) / self.scale @ self.weights + self.bias)

    def probability(self, features: npt.ArrayLike) -> FloatArray:
        """Chance that each is natural. (n,)."""
        return _chance(self.logit(features))


def fit_logistic(features: npt.ArrayLike, good: npt.ArrayLike, *, l2: float = 1.0) -> Logistic:
    """The regression of ``good`` on standardised features, with a penalty on their weights.

    Minimises the negative log-likelihood plus ``l2 / 2`` times the squared weights, by Newton's
    method with halved steps where a whole one goes too far.

    Parameters
    ----------
    features : (n, D)
        Finite numbers.
    good : (n,)
        True for natural ones; both kinds must be there.
    l2
        The penalty; above 0, so that kinds that can be parted have an answer too.
    """
    x, y = _rows(features), np.asarray(good).astype(bool)
    if y.shape != (len(x),):
        raise ArrayError(f"`good` must have one value per row ({len(x)}), got {y.shape}.")
    if not y.any() or y.all():
        raise ArrayError(f"`good` must have both kinds, got {int(y.sum())} good of {len(y)}.")
    if not np.isfinite(x).all():
        raise ArrayError("`features` must be finite, got nan or infinity.")
    if not l2 > 0.0:
        raise ArrayError(f"`l2` must be above 0, got {l2}.")
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 1e-12 * (1.0 + np.abs(mean)), scale, 1.0)
    design = np.concatenate([(x - mean) / scale, np.ones((len(x), 1))], axis=1)
    penalty = np.append(np.full(x.shape[1], float(l2)), 0.0)
    weights = np.zeros(design.shape[1])
    cost = _cost(design, y, weights, penalty)
    for _ in range(ROUNDS):
        chance = _chance(design @ weights)
        slope = design.T @ (chance - y) + penalty * weights
        curve = (design.T * (chance * (1.0 - chance))) @ design + np.diag(penalty)
        curve[-1, -1] += 1e-12  # the bias alone is not held by the penalty
        step = np.linalg.solve(curve, slope)
        while (tried := _cost(design, y, weights - step, penalty)) > cost + 1e-12 * abs(cost):
            step = 0.5 * step
        weights, cost = weights - step, tried
        if np.abs(step).max() < STEP:
            break
    return Logistic(weights[:-1], float(weights[-1]), mean, scale)


def peak_accelerations(
    windows: WindowBatch, joints: IntArray, *, smooth_s: float = SMOOTH_S
) -> FloatArray:
    """Largest acceleration of every joint over each window, metres a second squared. (n, J').

    Of a parabola fitted around each frame. From one frame to the next a capture's own trembling
    outweighs what a blend does wrong: fitted over a quarter of a second, the regression tells near
    from far blends with an area of 0.91 in place of 0.76.

    Parameters
    ----------
    windows, joints
        What to look at.
    smooth_s
        Seconds of the fit; 0 for plain second differences.
    """
    body = windows.body[:, :, joints].astype(np.float64)
    cos, sin = np.cos(windows.heading)[..., None], np.sin(windows.heading)[..., None]
    x = cos * body[..., 0] + sin * body[..., 2] + windows.ground[..., :1]
    z = cos * body[..., 2] - sin * body[..., 0] + windows.ground[..., 1:]
    world = np.stack([x, body[..., 1], z], axis=-1)  # (n, T, J', 3)
    half = max(1, min(round(0.5 * smooth_s * windows.fps), (world.shape[1] - 1) // 2))
    times = np.arange(-half, half + 1) / windows.fps
    taps = 2.0 * np.linalg.pinv(np.vander(times, 3, increasing=True))[2]
    n_frames = world.shape[1] - 2 * half
    second = np.zeros((len(world), n_frames, *world.shape[2:]))
    for k, tap in enumerate(taps):
        second += tap * world[:, k : k + n_frames]
    return np.asarray(np.sqrt((second**2).sum(axis=-1)).max(axis=1))


def _rows(features: npt.ArrayLike) -> FloatArray:
    x = numbers(features, "features")
    if x.ndim != 2:
        raise ArrayError(f"`features` must be rows of numbers (n, D), got shape {x.shape}.")
    return x


def _chance(logit: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logit)))


def _cost(design: FloatArray, good: BoolArray, weights: FloatArray, penalty: FloatArray) -> float:
    logit = design @ weights
    likelihood = np.logaddexp(0.0, np.where(good, -logit, logit)).sum()
    return float(likelihood + 0.5 * (penalty * weights**2).sum())
