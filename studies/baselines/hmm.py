"""HmmEnsemble: how likely a window is under hidden Markov models of captured motion.

The baseline of both papers, after [RPE05]_: one model for the body, one for each limb and one for
each pair of limbs, fitted to captured windows only; a motion is as natural as its least likely
part. On windows with a known answer the body's model alone tells more than the least of all
eleven, so both can be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import Frames
from studies.baselines.hmm_features import principal_taps, signals_of
from studies.baselines.hmm_kernel import Chain, log_likelihoods, reestimated
from studies.measures.window_batch import WindowBatch

__all__ = ["HmmEnsemble", "PartModel"]

RATE_HZ = 30.0
"""Windows are looked at at about this rate."""
VARIANCE_FLOOR = 1e-3
"""Of the variance of all frames: a state fitted to one still pose would else outvote the rest."""
ROUNDS = 60
GAIN = 1e-4
"""Rounds end when the log-likelihood of a frame grows by less."""
STAY = 0.8
"""Chance to stay in a state, before anything was seen."""


@dataclass(frozen=True, slots=True, eq=False)
class PartModel:
    """One part's model: what it sees of a window, and the chain that gives its likelihood."""

    name: str
    joints: IntArray
    taps: FloatArray
    """Three frames' signals to K numbers: weights before, at and after a frame. (D, 3 K)"""
    offset: FloatArray
    """Subtracted from those. (K,)"""
    chain: Chain
    usual: float
    """Mean log-likelihood a frame of the captured windows."""
    spread: float
    """Its standard deviation over them."""

    def sequences(self, signals: FloatArray) -> FloatArray:
        """What the chain sees of signals (n, T, D), each frame with its two neighbours.

        Positions, velocities and accelerations in K numbers a frame: (n, T - 2, K).
        """
        return self.joined(signals @ self.taps)

    def joined(self, tapped: FloatArray) -> FloatArray:
        """The same from signals that went through the taps, (n, T, 3 K)."""
        before, here, after = np.split(tapped, 3, axis=-1)
        return np.asarray(before[:, :-2] + here[:, 1:-1] + after[:, 2:] - self.offset)

    def score_seen(self, seen: FloatArray) -> FloatArray:
        """Log-likelihood a frame, in standard deviations from the captured windows' mean. (n,)."""
        likelihood = log_likelihoods(self.chain, seen) / seen.shape[1]
        return np.asarray((likelihood - self.usual) / self.spread)


@dataclass(frozen=True, slots=True, eq=False)
class HmmEnsemble:
    """Models of all parts.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from studies.baselines.limb_groups import body_parts
    >>> from motionloom.tables.collection.frames import frames_of
    >>> frames = frames_of([synthetic.clip("walk").motion])
    >>> parts = {"body": body_parts(frames.skeleton, frames.body_map)["body"]}
    >>> model = HmmEnsemble.fit(WindowBatch.of_rows(frames, frames.windows(30), 30), parts)
    >>> model.score(WindowBatch.of_rows(frames, [0, 10], 30)).shape
    (2,)
    """

    models: tuple[PartModel, ...]
    stride: int
    fps: float

    @classmethod
    def fit(
        cls,
        windows: WindowBatch,
        parts: Mapping[str, IntArray],
        *,
        states: int = 8,
        dimensions: int = 20,
        restarts: int = 5,
        seed: int = 0,
    ) -> HmmEnsemble:
        """Models fitted to captured windows.

        Parameters
        ----------
        windows
            Captured windows, a few hundred.
        parts
            Joints of every part, from :func:`body_parts`; fewer parts are fitted faster.
        states
            Hidden states of each model.
        dimensions
            Principal components of positions, velocities and accelerations that are kept.
        restarts
            Fits from different beginnings; the most likely is kept.
        seed
            Of those beginnings.
        """
        if len(windows) < states:
            raise ArrayError(
                f"`windows` must be at least as many as `states` ({states}), got {len(windows)}."
            )
        stride = max(1, round(windows.fps / RATE_HZ))
        if len(range(0, windows.heading.shape[1], stride)) < 4:
            raise ArrayError(
                f"Windows must have at least 4 frames at {RATE_HZ:g} Hz, got "
                f"{windows.heading.shape[1]} frames at {windows.fps:g}. Use longer windows."
            )
        models = tuple(
            _fitted(name, joints, windows, stride, states, dimensions, restarts, (seed, k))
            for k, (name, joints) in enumerate(parts.items())
        )
        return cls(models, stride, windows.fps)

    def part_scores(self, windows: WindowBatch, names: Sequence[str] | None = None) -> FloatArray:
        """Scores of every part: 0 is as likely as captured windows are, -1 less by their spread.

        Parameters
        ----------
        windows
            Of the rate that the models were fitted at.
        names
            Which parts, all by default.

        Returns
        -------
        scores : (n, parts)
        """
        if abs(windows.fps - self.fps) > 1e-6:
            raise ArrayError(
                f"Windows must have the models' rate, {self.fps:g} fps, got {windows.fps:g}."
            )
        models = [self.part(name) for name in names] if names is not None else list(self.models)
        columns = [m.score_seen(m.sequences(self.signals(windows, m))) for m in models]
        return np.stack(columns, axis=-1)

    def signals(self, windows: WindowBatch, model: PartModel) -> FloatArray:
        """Joints of a part and the root's velocities, at the models' rate. (n, T, D)."""
        return signals_of(windows, model.joints, self.stride)

    def score(self, windows: WindowBatch) -> FloatArray:
        """The score of the least likely part; high is natural. (n,)."""
        return np.asarray(self.part_scores(windows).min(axis=-1))

    def part(self, name: str) -> PartModel:
        """The model of one part."""
        for model in self.models:
            if model.name == name:
                return model
        names = ", ".join(model.name for model in self.models)
        raise ArrayError(f"The part must be one of {names}; got {name!r}.")

    @classmethod
    def fit_frames(
        cls,
        frames: Frames,
        length: int,
        *,
        count: int = 600,
        parts: Mapping[str, IntArray] | None = None,
        seed: int = 0,
        restarts: int = 5,
    ) -> HmmEnsemble:
        """Models fitted to ``count`` windows drawn from a collection, all eleven parts."""
        from studies.baselines.limb_groups import body_parts

        rng = np.random.Generator(np.random.PCG64((seed, 600)))
        every = frames.windows(length)
        rows = np.sort(rng.choice(every, min(count, len(every)), replace=False))
        parts = body_parts(frames.skeleton, frames.body_map) if parts is None else parts
        return cls.fit(
            WindowBatch.of_rows(frames, rows, length), parts, seed=seed, restarts=restarts
        )


def _fitted(
    name: str,
    joints: IntArray,
    windows: WindowBatch,
    stride: int,
    states: int,
    dimensions: int,
    restarts: int,
    seed: tuple[int, int],
) -> PartModel:
    signals = signals_of(windows, joints, stride)
    taps, offset = principal_taps(signals, 3 * len(joints), windows.fps / stride, dimensions)
    unfitted = PartModel(name, joints, taps, offset, _blank(states, taps.shape[1] // 3), 0.0, 1.0)
    seen = np.ascontiguousarray(unfitted.sequences(signals))
    best, best_total = unfitted.chain, -np.inf
    for restart in range(max(1, restarts)):
        rng = np.random.Generator(np.random.PCG64((*seed, restart)))
        chain, total = _baum_welch(_beginning(seen, states, rng), seen)
        if total > best_total:
            best, best_total = chain, total
    likelihood = log_likelihoods(best, seen) / seen.shape[1]
    spread = max(float(likelihood.std()), 1e-9)
    return PartModel(name, joints, taps, offset, best, float(likelihood.mean()), spread)


def _blank(states: int, dimensions: int) -> Chain:
    steps = np.full((states, states), (1.0 - STAY) / max(1, states - 1))
    np.fill_diagonal(steps, STAY if states > 1 else 1.0)
    shape = (states, dimensions)
    return Chain(np.full(states, 1.0 / states), steps, np.zeros(shape), np.ones(shape))


def _beginning(seen: FloatArray, states: int, rng: np.random.Generator) -> Chain:
    """States at frames far from each other, each spread as the frames nearest to it."""
    flat = seen.reshape(-1, seen.shape[-1])
    flat = flat[rng.choice(len(flat), min(len(flat), 2000), replace=False)]
    means = flat[[int(rng.integers(len(flat)))]]
    for _ in range(1, states):
        away = ((flat[:, None] - means) ** 2).sum(axis=-1).min(axis=1)
        chance = away / away.sum() if away.sum() > 0 else None
        means = np.concatenate([means, flat[[int(rng.choice(len(flat), p=chance))]]])
    for _ in range(5):
        nearest = ((flat[:, None] - means) ** 2).sum(axis=-1).argmin(axis=1)
        means = np.stack(
            [flat[nearest == s].mean(axis=0) if (nearest == s).any() else means[s]
             for s in range(states)]
        )  # fmt: skip
    spread = np.stack(
        [flat[nearest == s].var(axis=0) if (nearest == s).sum() > 1 else flat.var(axis=0)
         for s in range(states)]
    )  # fmt: skip
    blank = _blank(states, flat.shape[1])
    return Chain(blank.start, blank.steps, means, np.maximum(spread, 0.1))


def _baum_welch(chain: Chain, seen: FloatArray) -> tuple[Chain, float]:
    n_frames = seen.shape[0] * seen.shape[1]
    last = -np.inf
    for _ in range(ROUNDS):
        following, total = reestimated(chain, seen, floor=VARIANCE_FLOOR)
        if total - last < GAIN * n_frames:
            return chain, total
        chain, last = following, total
    return chain, float(log_likelihoods(chain, seen).sum())
