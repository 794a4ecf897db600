"""Evaluation: scores against labels, verdicts of people, and the table against the motion graph.

A label is only worth what it is made of. Captured windows and random blends are separated by
anything that looks at plants, because captured plants agree with themselves: such a protocol is
circular for scores of plants, and says so wherever its figures are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, numbers
from motionloom._records import record
from motionloom.errors import ArrayError, FormatError
from motionloom.files.reading import csv_rows, path_of
from motionloom.tables.evaluation.roc import (
    Bounds,
    Roc,
    measure_auc,
    measure_auc_difference,
    roc_curve,
)


@dataclass(frozen=True, slots=True)
@record
class Protocol:
    """What is compared, and what its labels are.

    Attributes
    ----------
    name : str
        Its title.
    labels : str
        What makes an item good or bad, in words.
    circular : str
        Scores for which the labels are not independent, and why; empty if there are none.
    groups : str
        What is drawn for the bounds: takes, queries, items.
    """

    name: str
    labels: str
    circular: str = ""
    groups: str = "items"

    @property
    def caption(self) -> str:
        """Text that must accompany its figures."""
        text = f"{self.name}: {self.labels}; bounds over {self.groups}"
        return f"{text}. CIRCULAR: {self.circular}" if self.circular else text


@dataclass(frozen=True, slots=True, eq=False)
@record
class Evaluation:
    """Scores under one protocol, best first.

    Attributes
    ----------
    protocol : Protocol
        What was compared.
    n_good, n_bad : int
        Number of good and of bad items.
    curves : dict
        ROC curve of every score.
    areas : dict
        Area under each, with bounds.
    ahead : dict
        How much more area the best score has than each other, on the same draws.
    """

    protocol: Protocol
    n_good: int
    n_bad: int
    curves: dict[str, Roc]
    areas: dict[str, Bounds]
    ahead: dict[str, Bounds]

    @property
    def best(self) -> str:
        """Name of the score with the largest area."""
        return next(iter(self.areas))

    def text(self) -> str:
        """The figures as lines, with the limits of their labels.

        Returns
        -------
        str
            What was compared, then a line for each score.
        """
        width = max(len(name) for name in self.areas)
        lines = [self.protocol.caption, f"{self.n_good} good, {self.n_bad} bad"]
        for name, area in self.areas.items():
            less = "" if name == self.best else f"   {self.best} is ahead by {self.ahead[name]}"
            lines.append(f"{name:<{width}}  {area}{less}")
        return "\n".join(lines)


def evaluate(
    protocol: Protocol,
    good: npt.ArrayLike,
    scores: Mapping[str, npt.ArrayLike],
    *,
    groups: npt.ArrayLike | None = None,
    rounds: int = 1000,
    seed: int = 0,
) -> Evaluation:
    """How well each score separates good from bad, with bounds over groups.

    Parameters
    ----------
    protocol
        What the labels are.
    good : (n,)
        Labels.
    scores
        Of the same items by name, high for good ones: negate errors.
    groups : (n,)
        Take or query of each item.
    rounds, seed
        Of the bootstrap.

    Examples
    --------
    >>> made = evaluate(Protocol("demo", "by hand"), [1, 1, 0], {"a": [3, 2, 1], "b": [1, 2, 3]})
    >>> made.best
    'a'
    """
    if not scores:
        raise ArrayError("`scores` must hold at least one score, got none.")
    areas = {
        name: measure_auc(good, values, groups=groups, rounds=rounds, seed=seed)
        for name, values in scores.items()
    }
    order = sorted(areas, key=lambda name: (-areas[name].value, name))
    y: BoolArray = np.asarray(good).astype(bool)
    return Evaluation(
        protocol,
        int(y.sum()),
        int((~y).sum()),
        {name: roc_curve(good, scores[name]) for name in order},
        {name: areas[name] for name in order},
        {
            name: measure_auc_difference(
                good, scores[order[0]], scores[name], groups=groups, rounds=rounds, seed=seed
            )
            for name in order[1:]
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
@record
class Quadrants:
    """Pairs of frames by who can join them: figure 4 of [I7]_.

    Attributes
    ----------
    graph_s : array
        Seconds of the graph's shortest way, infinite without one. (n,)
    scores : array
        Cost of the table's transition, inches. (n,)
    length_s : float
        Seconds that a way may take to count as quick.
    limit : float
        Cost up to which a transition counts as good, inches.
    """

    graph_s: FloatArray
    scores: FloatArray
    length_s: float
    limit: float

    @property
    def by_graph(self) -> BoolArray:
        """Pairs that the graph joins quickly enough. (n,)."""
        return np.asarray(self.graph_s <= self.length_s + 1e-9)

    @property
    def by_table(self) -> BoolArray:
        """Pairs that the table joins well enough. (n,)."""
        return np.asarray(self.scores < self.limit)

    @property
    def both(self) -> int:
        """Joined by either."""
        return int((self.by_graph & self.by_table).sum())

    @property
    def table_only(self) -> int:
        """Joined by the table alone."""
        return int((~self.by_graph & self.by_table).sum())

    @property
    def graph_only(self) -> int:
        """Joined by the graph alone."""
        return int((self.by_graph & ~self.by_table).sum())

    @property
    def neither(self) -> int:
        """Joined by none."""
        return int((~self.by_graph & ~self.by_table).sum())

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Both, table alone, graph alone, neither, as the paper counts them."""
        return self.both, self.table_only, self.graph_only, self.neither


PAPER_QUADRANTS = (581, 302, 60, 57)
"""Both, table alone, graph alone, neither, of the paper's 1,000 pairs (another collection)."""


def quadrants_of(
    graph_s: npt.ArrayLike, scores: npt.ArrayLike, *, length_s: float = 1.0, limit: float = 6.0
) -> Quadrants:
    """Pairs by who can join them.

    Parameters
    ----------
    graph_s : (n,)
        Seconds of the graph's shortest way between each pair, infinite without one.
    scores : (n,)
        Cost of the table's transition between them, inches.
    length_s, limit
        What counts as quick, and what as good.

    Examples
    --------
    >>> quadrants_of([0.5, 2.0, np.inf, 0.9], [1.0, 2.0, 9.0, 8.0]).counts
    (1, 1, 1, 1)
    """
    x, y = numbers(graph_s, "graph_s"), numbers(scores, "scores")
    if x.shape != y.shape or x.ndim != 1:
        raise ArrayError(
            f"`graph_s` and `scores` must be equally long lists, got {x.shape} and {y.shape}."
        )
    return Quadrants(x, y, float(length_s), float(limit))


COLUMNS = ("transition", "natural", "rater")
YES, NO = {"1", "true", "yes", "natural"}, {"0", "false", "no", "unnatural"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One person's rating of one transition."""

    transition: str
    natural: bool
    rater: str


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All of them, in the order of the file.

    Examples
    --------
    >>> verdicts = Verdicts((Verdict("a", True, "x"), Verdict("b", False, "x")))
    >>> verdicts.majority()
    {'a': True, 'b': False}
    """

    verdicts: tuple[Verdict, ...]

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of the raters, sorted."""
        return tuple(sorted({verdict.rater for verdict in self.verdicts}))

    def majority(self) -> dict[str, bool]:
        """The majority for every transition; ties are left out."""
        votes: dict[str, int] = {}
        for verdict in self.verdicts:
            votes[verdict.transition] = votes.get(verdict.transition, 0) + (
                1 if verdict.natural else -1
            )
        return {name: vote > 0 for name, vote in votes.items() if vote != 0}

    def labels(self, transitions: Iterable[str]) -> list[bool | None]:
        """The majority for these; None for ties and where nobody rated."""
        majority = self.majority()
        return [majority.get(name) for name in transitions]

    @property
    def about(self) -> str:
        """One line for a figure: how many labels, by whom."""
        majority = self.majority()
        return (
            f"labels by {len(self.raters)} people on {len(majority)} transitions "
            f"({sum(majority.values())} natural)"
        )


def read_verdicts(path: str | Path) -> Verdicts:
    """The verdicts in a CSV file.

    Parameters
    ----------
    path
        UTF-8, with a first line that names the columns ``transition``, ``natural`` and ``rater``.
    """
    path = path_of(path, "path")
    rows = csv_rows(path)
    _, header = next(rows, (1, []))
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise FormatError(
            f"Verdicts must have the columns {', '.join(COLUMNS)}; {', '.join(missing)} missing.",
            path=path,
            where="line 1",
        )
    verdicts: dict[tuple[str, str], Verdict] = {}
    for number, cells in rows:
        where, line = f"line {number}", dict(zip(header, cells, strict=False))
        transition, natural, rater = (line.get(name, "").strip() for name in COLUMNS)
        if not transition or not rater:
            raise FormatError(
                "A verdict must name a transition and a rater.", path=path, where=where
            )
        word = natural.lower()
        if word not in YES | NO:
            raise FormatError(
                f"`natural` must be 1 or 0, got {natural[:40]!r}.", path=path, where=where
            )
        if (transition, rater) in verdicts:
            raise FormatError(
                f"{rater[:80]} must rate {transition[:80]} once, and does so again.",
                path=path,
                where=where,
                fix="Keep one of the two lines.",
            )
        verdicts[transition, rater] = Verdict(transition, word in YES, rater)
    if not verdicts:
        raise ArrayError(f"{path} must hold at least one verdict, got none.")
    return Verdicts(tuple(verdicts.values()))
