"""Told-apart test: can classifiers tell captured windows of motion from synthesized ones?

A classifier two-sample test. Two classifiers of different kinds are trained on some groups of
windows (takes, subjects) and asked about the others. The area under the curve (AUC) is the share of
pairs, one captured and one synthesized, that the classifier puts in the right order: 0.5 is
chance, 1 is always right. The verdict is the larger of the two.

    from studies.measures.told_apart import auc_of
    result = auc_of(captured, synthesized, takes)
    print(result)             # 0.71 [0.64, 0.78] (trees 0.71, network 0.66; 120 + 120 windows)
    for clue in result.clues[:5]:
        print(clue)

Windows of both classes should be of the same moments or drawn in the same way, of one duration, and
processed alike: the same skeleton, rate and clean-up, or the classifiers learn the format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from studies.measures.body_series import JOINTS, MIRROR, BodySeries
from studies.measures.series_features import Features, series_features
from studies.measures.temporal_network import NetworkSettings, TemporalNetwork

__all__ = [
    "Area",
    "Clue",
    "Settings",
    "ToldApart",
    "area_of",
    "auc_of",
    "auc_of_series",
    "clues_of",
    "fitted_trees",
    "network_channels",
    "network_scores",
    "ranks_of",
    "windows_of_motion",
]

ROUNDS = 1000
BOUNDS_SEED = 95


@dataclass(frozen=True, slots=True)
class Settings:
    """Of the classifiers; those of the study stand in ``protocols/told_apart.json``."""

    seed: int = 0
    """Of folds and classifiers."""
    trees: int = 80
    leaves: int = 8
    rate: float = 0.08
    least: int = 8
    """Windows in a leaf."""
    drawn: float = 0.3
    """Share of the features that each split looks at."""
    networks: int = 1
    """Their scores are averaged."""
    network: NetworkSettings = field(default_factory=NetworkSettings)


class Area(NamedTuple):
    """An area under the curve and its 95 % bounds over groups."""

    auc: float
    low: float
    high: float


class Clue(NamedTuple):
    """What one number alone gives away."""

    name: str
    auc: float
    """Above 0.5 where synthesized windows have more of it."""
    captured: float
    """Median."""
    synthesized: float

    def __str__(self) -> str:
        return f"{self.auc:.2f}  {self.name}: {self.captured:.3g} -> {self.synthesized:.3g}"


@dataclass(frozen=True, slots=True, eq=False)
class ToldApart:
    """Verdict about two samples of windows."""

    auc: float
    """The larger of the two classifiers'; 0.5 means that they cannot be distinguished."""
    low: float
    high: float
    """95 % bounds, drawn over groups."""
    by_classifier: dict[str, Area]
    """``"trees"`` and ``"network"``."""
    clues: tuple[Clue, ...]
    """Single features, those that give away most first."""
    scores: dict[str, tuple[FloatArray, FloatArray]]
    """Ranks within their fold, 0 to 1, of captured and of synthesized windows by classifier."""
    groups: tuple[npt.NDArray[np.str_], npt.NDArray[np.str_]]
    """Of captured and of synthesized windows."""

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {area.auc:.2f}" for name, area in self.by_classifier.items())
        n, m = (len(group) for group in self.groups)
        return (
            f"{self.auc:.2f} [{self.low:.2f}, {self.high:.2f}] ({parts}; {n} + {m} windows, "
            f"{len(np.unique(self.groups[0]))} groups)"
        )


def auc_of(
    captured: Sequence[Motion],
    synthesized: Sequence[Motion],
    groups: Sequence[str],
    *,
    synthesized_groups: Sequence[str] | None = None,
    folds: int | Sequence[str] = 5,
    context_s: float = 0.0,
    below_hz: float | None = None,
    settings: Settings | None = None,
) -> ToldApart:
    """How well captured and synthesized windows of motion can be distinguished.

    Parameters
    ----------
    captured, synthesized
        Motions of one duration (:func:`windows_of_motion` cuts longer ones), on any skeletons that
        have hips, knees, ankles, toes, shoulders, elbows, wrists, a chest and a head.
    groups
        Take of each captured window: all windows of a take are trained on, or all are asked about.
    synthesized_groups
        The same of each synthesized window; those of ``captured`` by default, in the same order.
    folds
        Number of parts that groups are dealt into, or for each captured window the name of its
        part, such as its subject: then no subject is trained on and asked about.
    context_s
        Seconds at the start, and at the end, that are captured in both classes.
    below_hz
        Frequencies above this are filtered out of both classes. Averages of clips lose the noise
        that captures have, which nobody sees and classifiers do: report both.
    settings
        Of the classifiers.
    """
    return auc_of_series(
        BodySeries.of_motions(captured, context_s=context_s, below_hz=below_hz),
        BodySeries.of_motions(synthesized, context_s=context_s, below_hz=below_hz),
        groups,
        synthesized_groups=synthesized_groups,
        folds=folds,
        settings=settings,
    )


def auc_of_series(
    captured: BodySeries,
    synthesized: BodySeries,
    groups: Sequence[str],
    *,
    synthesized_groups: Sequence[str] | None = None,
    folds: int | Sequence[str] = 5,
    settings: Settings | None = None,
) -> ToldApart:
    """The same of series, for windows that are compared more than once."""
    settings = settings or Settings()
    classes = np.repeat([0, 1], [len(captured), len(synthesized)])
    takes, part = _dealt(captured, synthesized, groups, synthesized_groups, folds, settings.seed)
    series = BodySeries.joined([captured, synthesized])
    features = series_features(series)
    shown = network_channels(series)
    scores = {name: np.zeros(len(classes)) for name in ("trees", "network")}
    for k in np.unique(part):
        asked = part == k
        trees = fitted_trees(features.values[~asked], classes[~asked], settings)
        scores["trees"][asked] = ranks_of(trees.decision_function(features.values[asked]))
        scores["network"][asked] = ranks_of(network_scores(shown, classes, asked, settings))
    areas = {name: area_of(score, classes, takes, part) for name, score in scores.items()}
    best = max(areas.values())
    return ToldApart(
        best.auc,
        best.low,
        best.high,
        areas,
        clues_of(features, classes),
        {name: (score[classes == 0], score[classes == 1]) for name, score in scores.items()},
        (takes[classes == 0], takes[classes == 1]),
    )


def windows_of_motion(
    motion: Motion, *, length_s: float = 1.0, stride_s: float = 0.5
) -> list[Motion]:
    """Windows of one duration, every ``stride_s`` seconds, for :func:`auc_of`."""
    length, stride = round(length_s * motion.fps), max(1, round(stride_s * motion.fps))
    return [motion[k : k + length] for k in range(0, motion.n_frames - length + 1, stride)]


def ranks_of(values: FloatArray) -> FloatArray:
    """Ranks from 0 to 1, equal values alike: scores of different folds become comparable."""
    _, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    upto = np.cumsum(counts)
    return np.asarray(((upto - 0.5 * counts) / len(values))[at])


def _dealt(
    captured: BodySeries,
    synthesized: BodySeries,
    groups: Sequence[str],
    synthesized_groups: Sequence[str] | None,
    folds: int | Sequence[str],
    seed: int,
) -> tuple[npt.NDArray[np.str_], IntArray]:
    """Group and fold of every window, captured ones first."""
    first = np.asarray(groups, dtype=str)
    other = first if synthesized_groups is None else np.asarray(synthesized_groups, dtype=str)
    for name, given, count in (
        ("groups", first, len(captured)),
        ("synthesized_groups", other, len(synthesized)),
    ):
        if given.shape != (count,):
            raise ArrayError(
                f"`{name}` must name one group for each of {count} windows, got {given.shape}."
            )
    takes = np.concatenate([first, other])
    names = np.unique(takes)
    if isinstance(folds, int):
        count = min(folds, len(names))
        rng = np.random.Generator(np.random.PCG64(seed))
        sizes = np.array([(takes == name).sum() for name in names])
        part_of = _balanced(sizes, count, rng)
    else:
        given = np.asarray(folds, dtype=str)
        if given.shape != first.shape:
            raise ArrayError(f"`folds` must name one part for each of {len(first)} windows.")
        parts = {name: np.unique(given[first == name]) for name in names}
        split = [name for name, some in parts.items() if len(some) != 1]
        if split:
            raise ArrayError(f"Each group must lie in one fold, but {', '.join(split)} do not.")
        part_of = np.unique([parts[name][0] for name in names], return_inverse=True)[1]
    if len(np.unique(part_of)) < 2:
        raise ArrayError("There must be at least two folds of groups to train and to ask.")
    return takes, np.asarray(part_of[np.searchsorted(names, takes)])


def _balanced(sizes: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """A fold for each group: the largest first, each to the fold with the fewest windows."""
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    loads, fold = np.zeros(count), np.zeros(len(sizes), dtype=np.int64)
    for k in order:
        fold[k] = int(np.argmin(loads))
        loads[fold[k]] += sizes[k]
    return fold


def network_scores(
    shown: tuple[npt.NDArray[np.float32], tuple[IntArray, FloatArray]],
    classes: IntArray,
    asked: npt.NDArray[np.bool_],
    settings: Settings,
) -> FloatArray:
    """Scores of the windows asked about by networks that were trained on the others."""
    channels, mirror = shown
    trained, other = channels[~asked], channels[asked]
    scores = [
        TemporalNetwork(settings.network, seed=1000 * settings.seed + k)
        .fit(trained, classes[~asked], mirror=mirror)
        .score(other, mirror=mirror)
        for k in range(settings.networks)
    ]
    return np.asarray(np.mean(scores, axis=0))


def fitted_trees(
    values: FloatArray, classes: IntArray, settings: Settings
) -> HistGradientBoostingClassifier:
    """Boosted trees; the same seed gives the same trees."""
    model = HistGradientBoostingClassifier(
        max_iter=settings.trees,
        learning_rate=settings.rate,
        max_leaf_nodes=settings.leaves,
        min_samples_leaf=settings.least,
        max_features=settings.drawn,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=settings.seed,
    )
    with threadpool_limits(1):  # threads that wait for each other on a busy machine take minutes
        return model.fit(values, classes)


def network_channels(
    series: BodySeries,
) -> tuple[npt.NDArray[np.float32], tuple[IntArray, FloatArray]]:
    """Channels (n, T, C) that the network is shown, and which each becomes in a mirror.

    Positions, velocities and accelerations of joints, the latter by their signed root so that
    single frames do not rule; rotation speeds; heading speed; ground speed of ankles and toes.
    """
    n, length = series.joints.shape[:2]
    hard = np.sign(series.accelerations) * np.sqrt(np.abs(series.accelerations))
    feet = [
        JOINTS.index(f"{side}_{part}") for part in ("ankle", "toe") for side in ("left", "right")
    ]
    slide = np.linalg.norm(series.velocities[:, :, feet][..., [0, 2]], axis=-1)
    parts = [
        *(part.reshape(n, length, -1) for part in (series.joints, series.velocities, hard)),
        np.sqrt(series.spins),
        series.turns[..., None],
        np.sqrt(slide),
    ]
    swapped = (3 * MIRROR[:, None] + np.arange(3)).ravel()
    side = np.tile([-1.0, 1.0, 1.0], len(JOINTS))
    pieces = [(swapped, side)] * 3 + [
        (MIRROR, np.ones(len(JOINTS))),
        (np.array([0]), -np.ones(1)),
        (np.array([1, 0, 3, 2]), np.ones(4)),
    ]
    starts = np.cumsum([0, *(part.shape[2] for part in parts[:-1])])
    order = np.concatenate([piece[0] + start for piece, start in zip(pieces, starts, strict=True)])
    signs = np.concatenate([piece[1] for piece in pieces])
    return np.concatenate(parts, axis=2).astype(np.float32), (order, signs)


def area_of(
    scores: FloatArray,
    classes: IntArray,
    groups: npt.NDArray[np.str_],
    part: IntArray | None = None,
    *,
    rounds: int = ROUNDS,
) -> Area:
    """Area under the curve, and its bounds when groups are drawn with replacement.

    Only windows of the same fold are compared: each fold has its own classifier.
    """
    part = np.zeros(len(scores), dtype=np.int64) if part is None else part
    names, at = np.unique(groups, return_inverse=True)
    wins, pairs = np.zeros((2, len(names), len(names)))
    for k in np.unique(part):
        low, high = (np.flatnonzero((part == k) & (classes == c)) for c in (0, 1))
        more = np.sign(scores[high][:, None] - scores[low][None])
        np.add.at(wins, (at[high][:, None], at[low][None]), 0.5 * (1.0 + more))
        np.add.at(pairs, (at[high][:, None], at[low][None]), 1.0)
    whole = float(wins.sum() / pairs.sum())
    rng = np.random.Generator(np.random.PCG64(BOUNDS_SEED))
    drawn = rng.multinomial(len(names), np.full(len(names), 1.0 / len(names)), size=rounds)
    count = np.einsum("ra,ab,rb->r", drawn, pairs, drawn)
    right = np.einsum("ra,ab,rb->r", drawn, wins, drawn)
    values = right[count > 0] / count[count > 0]
    return Area(whole, float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975)))


def clues_of(features: Features, classes: IntArray) -> tuple[Clue, ...]:
    """What each feature alone gives away, the most first."""
    captured, other = features.values[classes == 0], features.values[classes == 1]
    clues = []
    for k, name in enumerate(features.names):
        ranks = ranks_of(features.values[:, k]) * len(classes)
        n, m = len(captured), len(other)
        auc = (ranks[classes == 1].sum() - 0.5 * m * m) / (n * m)
        middle = float(np.median(captured[:, k])), float(np.median(other[:, k]))
        clues.append(Clue(name, float(auc), *middle))
    return tuple(sorted(clues, key=lambda clue: -abs(clue.auc - 0.5)))
