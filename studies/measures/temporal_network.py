"""TemporalNetwork: a small network of 1-D convolutions that tells two classes of series apart.

Plain numpy, single precision: every frame is mixed into a few channels, two strided convolutions
look at their course, and mean and maximum over time are weighed. A fifth of a second of training a
pass over a thousand windows on one core.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray

__all__ = ["NetworkSettings", "TemporalNetwork"]

Float32 = npt.NDArray[np.float32]
DIGITS = 4


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """Size and training; those of the study stand in its protocol."""

    mixed: int = 16
    """Channels that every frame is mixed into."""
    channels: tuple[int, ...] = (16, 24)
    """Of the convolutions."""
    width: int = 5
    stride: int = 2
    dropout: float = 0.3
    epochs: int = 30
    batch: int = 32
    rate: float = 5e-3
    decay: float = 1e-3
    """Share of the weights that is taken off, times the rate, at every step."""
    clip: float = 6.0
    """Standardised values beyond this are cut."""


@dataclass(slots=True)
class TemporalNetwork:
    """Trained by :meth:`fit`, asked by :meth:`score`; the same seed gives the same weights."""

    settings: NetworkSettings = field(default_factory=NetworkSettings)
    seed: int = 0
    _mean: Float32 = field(init=False, repr=False)
    _scale: Float32 = field(init=False, repr=False)
    _weights: list[Float32] = field(init=False, repr=False, default_factory=list)

    def fit(
        self,
        series: npt.ArrayLike,
        labels: npt.ArrayLike,
        *,
        mirror: tuple[IntArray, FloatArray] | None = None,
    ) -> TemporalNetwork:
        """Train on windows and their classes.

        Parameters
        ----------
        series
            (n, T, C)
        labels
            0 or 1. (n,)
        mirror
            Which channel each becomes in a mirror, and its sign: every window is shown as it is or
            mirrored, at random.
        """
        x, y = np.asarray(series, dtype=np.float32), np.asarray(labels, dtype=np.float32)
        rng = np.random.Generator(np.random.PCG64(self.seed))
        self._standardise(x, mirror)
        self._weights = _first_weights(x.shape[2], self.settings, rng)
        moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self._weights]
        x = self._standard(x)
        step, total = 0, self.settings.epochs * -(-len(x) // self.settings.batch)
        for _ in range(self.settings.epochs):
            order = rng.permutation(len(x))
            for k in range(0, len(x), self.settings.batch):
                some = order[k : k + self.settings.batch]
                shown = x[some]
                if mirror is not None:
                    flipped = shown[:, :, mirror[0]] * mirror[1].astype(np.float32)
                    shown = np.where(rng.random((len(some), 1, 1)) < 0.5, flipped, shown)
                slopes = self._slopes(shown, y[some], rng)
                step += 1
                self._adam(slopes, moments, step, 0.5 * (1.0 + np.cos(np.pi * step / total)))
        return self

    def score(
        self,
        series: npt.ArrayLike,
        *,
        mirror: tuple[IntArray, FloatArray] | None = None,
    ) -> FloatArray:
        """How much each window looks like class 1; with ``mirror`` the mean of both. (n,)."""
        x = self._standard(np.asarray(series, dtype=np.float32))
        out = self._forward(x)[0].astype(np.float64)
        if mirror is not None:
            flipped = x[:, :, mirror[0]] * mirror[1].astype(np.float32)
            out = 0.5 * (out + self._forward(flipped)[0])
        # How products round depends on a row's place: equal windows must get equal scores.
        return np.round(out, DIGITS)

    def _standardise(self, x: Float32, mirror: tuple[IntArray, FloatArray] | None) -> None:
        """Mean and deviation of channels over the training windows, the same for both sides."""
        flat = x.reshape(-1, x.shape[2]).astype(np.float64)
        mean, square = flat.mean(axis=0), np.square(flat).mean(axis=0)
        if mirror is not None:
            mean = 0.5 * (mean + mean[mirror[0]] * mirror[1])
            square = 0.5 * (square + square[mirror[0]])
        self._mean = mean.astype(np.float32)
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        self._scale = (1.0 / np.maximum(deviation, 1e-6)).astype(np.float32)

    def _standard(self, x: Float32) -> Float32:
        limit = np.float32(self.settings.clip)
        return np.asarray(np.clip((x - self._mean) * self._scale, -limit, limit))

    def _forward(
        self, x: Float32, rng: np.random.Generator | None = None
    ) -> tuple[Float32, list[tuple[Float32, Float32]], tuple[Float32, ...]]:
        """Scores, what each layer saw and gave, and the pooled values with what was dropped."""
        w = self._weights
        seen: list[tuple[Float32, Float32]] = []
        for k in range(0, len(w) - 2, 2):
            columns = x if k == 0 else _columns(x, self.settings.width, self.settings.stride)
            x = np.maximum(columns @ w[k] + w[k + 1], 0.0)
            seen.append((columns, x))
        pooled = np.concatenate([x.mean(axis=1), x.max(axis=1)], axis=1)
        keep = np.ones_like(pooled)
        if rng is not None and self.settings.dropout:
            share = 1.0 - self.settings.dropout
            keep = (rng.random(pooled.shape) < share).astype(np.float32) / np.float32(share)
        return (pooled * keep) @ w[-2][:, 0] + w[-1][0], seen, (pooled, keep)

    def _slopes(self, x: Float32, y: Float32, rng: np.random.Generator) -> list[Float32]:
        """Derivatives of the mean logistic loss by all weights."""
        w = self._weights
        scores, seen, (pooled, keep) = self._forward(x, rng)
        wrong = (1.0 / (1.0 + np.exp(-np.clip(scores, -30.0, 30.0))) - y) / np.float32(len(y))
        slopes = [(pooled * keep).T @ wrong[:, None], wrong.sum(keepdims=True)]
        back = wrong[:, None] * w[-2][:, 0] * keep
        last = seen[-1][1]
        half = last.shape[2]
        above: Float32 = np.repeat(
            back[:, None, :half] / np.float32(last.shape[1]), last.shape[1], axis=1
        ).astype(np.float32)
        top = np.argmax(last, axis=1)  # (n, C)
        above[np.arange(len(last))[:, None], top, np.arange(half)] += back[:, half:]
        for k in range(len(seen) - 1, -1, -1):
            columns, given = seen[k]
            above = (above * (given > 0.0)).astype(np.float32)
            flat = above.reshape(-1, above.shape[2])
            slopes = [columns.reshape(len(flat), -1).T @ flat, flat.sum(axis=0), *slopes]
            if k:
                below = seen[k - 1][1]
                spread = np.asarray(above @ w[2 * k].T)
                above = _uncolumns(spread, below.shape, self.settings.width, self.settings.stride)
        return slopes

    def _adam(
        self,
        slopes: list[Float32],
        moments: list[tuple[Float32, Float32]],
        step: int,
        share: float,
    ) -> None:
        """One step of Adam with decoupled decay of weights; ``share`` of the full rate."""
        rate = self.settings.rate * share
        for w, slope, (mean, square) in zip(self._weights, slopes, moments, strict=True):
            mean += np.float32(0.1) * (slope - mean)
            square += np.float32(0.001) * (slope * slope - square)
            size = np.sqrt(square / (1.0 - 0.999**step)) + 1e-8
            if w.ndim > 1:
                w *= np.float32(1.0 - rate * self.settings.decay)
            w -= (rate * (mean / (1.0 - 0.9**step)) / size).astype(np.float32)


def _first_weights(
    n_channels: int, settings: NetworkSettings, rng: np.random.Generator
) -> list[Float32]:
    weights: list[Float32] = []
    sizes = [(n_channels, settings.mixed)]
    below = settings.mixed
    for count in settings.channels:
        sizes.append((below * settings.width, count))
        below = count
    for rows, columns in sizes:
        weights.append((rng.normal(size=(rows, columns)) * np.sqrt(2.0 / rows)).astype(np.float32))
        weights.append(np.zeros(columns, dtype=np.float32))
    weights.append((rng.normal(size=(2 * below, 1)) * np.sqrt(0.5 / below)).astype(np.float32))
    weights.append(np.zeros(1, dtype=np.float32))
    return weights


def _columns(x: Float32, width: int, stride: int) -> Float32:
    """Neighbouring frames (n, U, width * C) of (n, T, C), every ``stride`` frames."""
    seen = np.lib.stride_tricks.sliding_window_view(x, width, axis=1)[:, ::stride]
    return np.ascontiguousarray(np.moveaxis(seen, -1, 2)).reshape(len(x), seen.shape[1], -1)


def _uncolumns(spread: Float32, shape: tuple[int, ...], width: int, stride: int) -> Float32:
    """Sums of columns (n, U, width * C) where their frames were, (n, T, C)."""
    out = np.zeros(shape, dtype=np.float32)
    n, count = spread.shape[:2]
    parts = spread.reshape(n, count, width, shape[2])
    for k in range(width):
        out[:, k : k + stride * (count - 1) + 1 : stride] += parts[:, :, k]
    return out
