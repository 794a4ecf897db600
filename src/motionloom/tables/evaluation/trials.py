"""Trials of a table: whether it is sound, and how it compares with a motion graph and people."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motionloom._arrays import flag, of_kind, positive, whole
from motionloom._progress import progress_bar
from motionloom._records import record
from motionloom.errors import ArrayError, FormatError, MotionLoomError, TableError
from motionloom.files.reading import open_file, path_of
from motionloom.tables.evaluation.evaluation import (
    Evaluation,
    Protocol,
    Quadrants,
    evaluate,
    quadrants_of,
    read_verdicts,
)
from motionloom.tables.evaluation.replay import replay_entries
from motionloom.tables.graph.motion_graph import MotionGraph
from motionloom.tables.table import TransitionTable

Place = tuple[str, int]
TABLE_MAGIC = b"motionloom.mlt"
MOST = 1_000_000
"""Entries, transitions or pairs: more take days."""


def verify_table(
    file: str | Path,
    *,
    entries: int = 50,
    transitions: int = 20,
    collection: str | Path | None = None,
    progress: bool = False,
) -> list[str]:
    """All problems of a table; an empty list if there are none.

    Parameters
    ----------
    file
        The table.
    entries
        Entries that are searched again and must come out the same, drawn at random.
    transitions
        Transitions between random frames that are made and must pass the quality check.
    collection
        The table's collection, if it was moved.
    progress
        Whether to draw a bar, if standard error is a terminal.

    Returns
    -------
    list of str
        One sentence per problem: of the file, its sources, its entries, its transitions.

    Raises
    ------
    TableError
        The file is not a table.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for kind in ("walk", "run"):
    ...         ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion,
    ...                 Path(place) / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(place, out=Path(place) / "lib.mlc", fps=20)
    ...     table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     verify_table(table.file, entries=4, transitions=0)
    []
    """
    entries, transitions = (
        whole(n, name, least=0, most=MOST)
        for n, name in ((entries, "entries"), (transitions, "transitions"))
    )
    path, progress = path_of(file, "file"), flag(progress, "progress")
    try:
        table = TransitionTable.open(path, collection=collection)
    except TableError as error:
        if not _begins_as_table(path):
            raise
        return [" ".join(str(error).split())]
    problems = table.find_damage()
    if problems:
        return problems  # nothing more can be trusted
    if entries:
        problems += [str(each) for each in replay_entries(table, count=entries)]
    pairs = random_places(table, transitions, seed=0)
    with progress_bar("making transitions", len(pairs), shown=progress) as advance:
        for source, target in pairs:
            pair = f"{source[0]}:{source[1]} to {target[0]}:{target[1]}"
            try:
                failed = table.transition(source, target).verification.failed
                problems += [f"{pair}: {each}" for each in failed[:1]]
            except MotionLoomError as error:
                problems.append(f"{pair}: {error}")
            advance(1.0)
    return problems


def _begins_as_table(path: Path) -> bool:
    try:
        with open_file(path, len(TABLE_MAGIC)) as stream:
            return stream.read(len(TABLE_MAGIC)) == TABLE_MAGIC
    except (FormatError, OSError):
        return False


@dataclass(frozen=True, slots=True, eq=False)
@record
class GraphComparison:
    """Random pairs of frames, joined by a table and by a motion graph.

    Attributes
    ----------
    quadrants : Quadrants
        Which of the two joins how many pairs.
    passed : int
        Transitions of the table that pass the quality check.
    ms_per_query : float
        Milliseconds that the table takes for a transition, its motion included.
    """

    quadrants: Quadrants
    passed: int
    ms_per_query: float

    @property
    def median_in(self) -> float:
        """Median cost of the table's transitions by the papers' sum, inches."""
        return float(np.median(self.quadrants.scores))


def compare_with_graph(
    table: TransitionTable,
    *,
    pairs: int = 200,
    limit_in: float = 6.0,
    graph_cm: float = 8.0,
    seed: int = 0,
    progress: bool = False,
) -> GraphComparison:
    """How many random pairs of frames a table joins, and how many a motion graph.

    The papers' sum measures what is feasible, not what looks natural.

    Parameters
    ----------
    table
        An open table.
    pairs
        How many pairs of frames.
    limit_in
        Cost up to which a transition of the table counts as good, inches.
    graph_cm
        Threshold of the motion graph, centimetres.
    seed
        Of the pairs.
    progress
        Whether to draw a bar, if standard error is a terminal.

    Returns
    -------
    GraphComparison
        Counts of pairs, the median cost and the time per query.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for kind in ("walk", "run"):
    ...         ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion,
    ...                 Path(place) / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(place, out=Path(place) / "lib.mlc", fps=20)
    ...     table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     sum(ml.compare_with_graph(table, pairs=4).quadrants.counts)
    4
    """
    of_kind(table, TransitionTable, "table")
    limit_in, progress = positive(limit_in, "limit_in"), flag(progress, "progress")
    pairs = whole(pairs, "pairs", least=1, most=MOST)
    graph = MotionGraph.build(table.frames, threshold_cm=positive(graph_cm, "graph_cm"))
    places = random_places(table, pairs, seed=whole(seed, "seed", least=0))
    rows = np.array([[table.frames.row_of(*place) for place in pair] for pair in places])
    paths = graph.paths(rows[:, 0].tolist(), rows[:, 1].tolist())
    results, started = [], time.perf_counter()
    with progress_bar("making transitions", pairs, shown=progress) as advance:
        for source, target in places:
            results.append(table.transition(source, target))
            advance(1.0)
    spent_s = time.perf_counter() - started
    quadrants = quadrants_of(
        [np.inf if path is None else path.duration_s for path in paths],
        [each.score.total for each in results],
        length_s=table.length_s,
        limit=limit_in,
    )
    passed = sum(each.verification.passed for each in results)
    return GraphComparison(quadrants, passed, 1000.0 * spent_s / pairs)


def compare_with_people(table: TransitionTable, verdicts: str | Path) -> Evaluation:
    """How well the costs of a table's transitions agree with what people call natural.

    Parameters
    ----------
    table
        An open table.
    verdicts
        CSV file with the columns ``transition`` (``CLIP:FRAME>CLIP:FRAME``), ``natural`` (1 or 0)
        and ``rater``.

    Returns
    -------
    Evaluation
        The area under the ROC curve of the table's cost and of the papers' sum.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for kind in ("walk", "run"):
    ...         ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion,
    ...                 Path(place) / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(place, out=Path(place) / "lib.mlc", fps=20)
    ...     table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     file = Path(place) / "verdicts.csv"
    ...     rows = ["transition,natural,rater", "walk:2>walk:14,1,ann", "walk:2>run:20,0,ann"]
    ...     _ = file.write_text(chr(10).join(rows))
    ...     compare_with_people(table, file).n_good
    1
    """
    of_kind(table, TransitionTable, "table")
    read = read_verdicts(path_of(verdicts, "verdicts"))
    majority = read.majority()
    scores: dict[str, list[float]] = {"table's cost": [], "papers' sum": []}
    for name in majority:
        source, _, target = name.partition(">")
        joined = table.transition(_place(source), _place(target))
        scores["table's cost"].append(-joined.cost)
        scores["papers' sum"].append(-joined.score.total)
    protocol = Protocol("people", read.about)
    good: npt.NDArray[np.bool_] = np.array(list(majority.values()))
    return evaluate(protocol, good, scores)


def _place(text: str) -> Place:
    clip, _, frame = text.strip().rpartition(":")
    if not clip or not frame.isdecimal():
        raise ArrayError(
            f"A place of a transition must be CLIP:FRAME, such as 143_01:30, got {text!r}."
        )
    return clip, int(frame)


def random_places(table: TransitionTable, count: int, *, seed: int) -> list[tuple[Place, Place]]:
    """Pairs of frames, drawn uniformly from those that have a whole window."""
    rng = np.random.Generator(np.random.PCG64(seed))
    windows = table.frames.windows(table.length)
    drawn = rng.choice(windows, (count, 2)) + np.array([0, table.length - 1])
    place = table.frames.place_of
    return [(place(int(a)), place(int(b))) for a, b in drawn]
