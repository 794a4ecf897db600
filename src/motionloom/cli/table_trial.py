"""motionloom table verify and evaluate: whether a table is sound, and what it is worth."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.frame_arguments import place_of, place_text
from motionloom.cli.output import AsJson, print_json, printable, track
from motionloom.cli.table_result import CollectionAt
from motionloom.errors import FormatError, MotionLoomError, TableError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from motionloom.tables.table import TransitionTable

__all__ = ["evaluate", "verify"]

TABLE_MAGIC = b"motionloom.mlt"
MOST = 1_000_000
"""Entries, transitions or pairs: as many take days."""


def verify(
    file: Annotated[str, typer.Argument(metavar="LIB.mlt", help="A table.")],
    entries: Annotated[
        int,
        typer.Option(
            "--entries", min=0, max=MOST, help="Entries that are searched again; 0 for none."
        ),
    ] = 50,
    transitions: Annotated[
        int,
        typer.Option("--transitions", min=0, max=MOST, help="Random transitions made and checked."),
    ] = 20,
    collection: CollectionAt = None,
    as_json: AsJson = False,
) -> None:
    """Check a table: its file, its sources, its entries, what it makes.

    Exit 0: sound; 1: something is wrong; 2: no table.
    """
    problems = _problems(file, entries, transitions, collection)
    if as_json:
        print_json({"file": file, "sound": not problems, "problems": problems})
    else:
        for problem in problems:
            typer.echo(f"{typer.style('WRONG', fg=typer.colors.RED)}  {printable(problem)}")
        if not problems:
            verdict = typer.style("ok", fg=typer.colors.GREEN)
            typer.echo(
                f"{verdict}  {printable(file)}: file, sources, {entries} entries replayed, "
                f"{transitions} transitions made"
            )
    if problems:
        raise typer.Exit(1)


def _problems(file: str, entries: int, transitions: int, collection: str | None) -> list[str]:
    import motionloom as ml
    from motionloom.tables.evaluation.replay import replay_entries

    try:
        table = ml.TransitionTable.open(file, collection=collection)
    except TableError as error:
        if not _begins_as_table(Path(file)):
            raise
        return [" ".join(str(error).split())]
    found = table.find_damage()
    if found:
        return found  # nothing more can be trusted
    if entries:
        found += [str(each) for each in replay_entries(table, count=entries)]
    pairs = random_places(table, transitions, seed=0)
    for source, target in track(pairs, "making transitions"):
        try:
            made = table.transition(source, target)
        except MotionLoomError as error:
            found.append(f"{_way(source, target)}: {error}")
            continue
        found += [f"{_way(source, target)}: {each}" for each in made.verification.failed[:1]]
    return found


def _begins_as_table(path: Path) -> bool:
    from motionloom.reading.opening import open_file

    try:
        with open_file(path, len(TABLE_MAGIC)) as stream:
            return stream.read(len(TABLE_MAGIC)) == TABLE_MAGIC
    except (FormatError, OSError):
        return False


def evaluate(
    file: Annotated[str, typer.Argument(metavar="LIB.mlt", help="A table.")],
    pairs: Annotated[
        int, typer.Option("--pairs", min=1, max=MOST, help="Random pairs of frames.")
    ] = 200,
    limit: Annotated[
        float, typer.Option("--limit", help="Cost up to which a transition is good, inches.")
    ] = 6.0,
    threshold: Annotated[
        float, typer.Option("--graph-cm", help="Threshold of the motion graph, cm.")
    ] = 8.0,
    verdicts: Annotated[
        Path | None,
        typer.Option(
            "--verdicts",
            metavar="FILE.csv",
            help="What people say: transition (CLIP:FRAME>CLIP:FRAME), natural, rater.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the pairs.")] = 0,
    collection: CollectionAt = None,
    as_json: AsJson = False,
) -> None:
    """Hold a table against a motion graph on random pairs of frames, and against people.

    The papers' sum says what is feasible, not what looks natural: only --verdicts speak of that.
    """
    import motionloom as ml

    table = ml.TransitionTable.open(file, collection=collection)
    told = _against_graph(table, pairs, limit, threshold, seed)
    if verdicts is not None:
        told["people"] = _against_people(table, verdicts)
    if as_json:
        print_json(told)
        return
    counts = told["counts"]
    typer.echo(
        f"{pairs} random pairs, transitions of at most {limit:g} in, graph within "
        f"{table.length_s:g} s at {threshold:g} cm"
    )
    typer.echo(
        f"both {counts['both']}, table only {counts['table_only']}, graph only "
        f"{counts['graph_only']}, neither {counts['neither']}"
    )
    typer.echo(
        f"cost of the table's: median {told['median_in']:.2f} in; {told['ms_per_query']:.1f} ms "
        "each, the motion made"
    )
    if "people" in told:
        typer.echo(printable(told["people"]["text"]))


def _against_graph(
    table: TransitionTable, pairs: int, limit: float, threshold: float, seed: int
) -> dict[str, Any]:
    import numpy as np

    from motionloom.tables.evaluation.evaluation import quadrants_of
    from motionloom.tables.graph.motion_graph import MotionGraph

    graph = MotionGraph.build(table.frames, threshold_cm=threshold)
    places = random_places(table, pairs, seed=seed)
    rows = [[table.frames.row_of(*place) for place in pair] for pair in places]
    ways = graph.paths([row[0] for row in rows], [row[1] for row in rows])
    began = time.perf_counter()
    made = [table.transition(*pair) for pair in track(places, "making transitions")]
    spent = time.perf_counter() - began
    costs: npt.NDArray[np.float64] = np.array([each.score.total for each in made])
    sound = [each.verification.passed for each in made]
    found = quadrants_of(
        [np.inf if way is None else way.duration_s for way in ways],
        costs,
        length_s=table.length_s,
        limit=limit,
    )
    return {
        "pairs": pairs,
        "limit_in": limit,
        "graph_cm": threshold,
        "counts": {
            "both": found.both,
            "table_only": found.table_only,
            "graph_only": found.graph_only,
            "neither": found.neither,
        },
        "median_in": float(np.median(costs)),
        "gate_passed": int(sum(sound)),
        "ms_per_query": 1000.0 * spent / pairs,
    }


def _against_people(table: TransitionTable, path: Path) -> dict[str, Any]:
    import numpy as np

    from motionloom.tables.evaluation.evaluation import Protocol, evaluate
    from motionloom.tables.evaluation.verdicts import read_verdicts

    verdicts = read_verdicts(path)
    said = verdicts.majority()
    scores: dict[str, list[float]] = {"table's cost": [], "papers' sum": []}
    for name in said:
        source, _, target = name.partition(">")
        made = table.transition(place_of(source.strip()), place_of(target.strip()))
        scores["table's cost"].append(-made.cost)
        scores["papers' sum"].append(-made.score.total)
    protocol = Protocol("people", verdicts.about)
    found = evaluate(protocol, np.array(list(said.values())), scores)
    return {
        "text": found.text(),
        "good": found.n_good,
        "bad": found.n_bad,
        "areas": {name: area.value for name, area in found.areas.items()},
    }


def random_places(
    table: TransitionTable, count: int, *, seed: int
) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    """Pairs of frames, each as likely as any other that has a whole window."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    windows = table.frames.windows(table.length)
    drawn = rng.choice(windows, (count, 2)) + np.array([0, table.length - 1])
    place = table.frames.place_of
    return [(place(int(a)), place(int(b))) for a, b in drawn]


def _way(source: tuple[str, int], target: tuple[str, int]) -> str:
    return f"{place_text(*source)} to {place_text(*target)}"
