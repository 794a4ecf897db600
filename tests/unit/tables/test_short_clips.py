"""Clips shorter than a window: refused in words where named, never drawn and never a goal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.studio.messages.table_messages import TableClip
from motionloom.studio.panels.labelling import drawn_pair
from motionloom.studio.panels.library_tables import OpenTable
from motionloom.tables.collection.labels import Label
from motionloom.tables.evaluation.trials import random_places
from motionloom.tables.table import TransitionTable

FPS = 30.0
LENGTH = 15
SHORT = {"one": 1, "two": 2, "half": 7, "less": 14}
"""Clips by their frames, all shorter than a window; some lie first, some between the others."""
LONG = ("jog", "run", "walk")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TransitionTable:
    place = tmp_path_factory.mktemp("short")
    folder = place / "clips"
    folder.mkdir()
    for kind in LONG:
        ml.save(ml.synthetic.clip(kind, duration_s=3.0).motion, folder / f"{kind}.bvh")
    walk = ml.synthetic.clip("walk", duration_s=2.0, fps=FPS).motion
    for name, count in {**SHORT, "exact": LENGTH}.items():
        ml.save(walk[:count], folder / f"{name}.bvh")
    lib = ml.Collection.ingest(folder, out=place / "clips.mlc", fps=FPS)
    lib.add_labels(
        [
            Label("walk", "mixed", 30, 60),
            Label("half", "mixed", 0, 6),
            Label("less", "short", 0, 13),
            Label("walk", "early", 0, LENGTH - 2),
            Label("exact", "edge", 0, LENGTH - 1),
        ]
    )
    return ml.build_table(
        lib, out=Path(place / "t.mlt"), length_s=LENGTH / FPS, clusters=5, progress=False
    )


@pytest.mark.parametrize("clip", SHORT)
@pytest.mark.parametrize("search", [False, "refine", True])
def test_transitions_from_and_to_it_are_refused_in_words(table, clip, search):
    refused = f"'{clip}' must have at least {LENGTH} frames"
    with pytest.raises(TableError, match=refused):
        table.transition((clip, 0), ("run", 40), search=search)
    with pytest.raises(TableError, match=refused):
        table.transition(("run", 4), (clip, 0), search=search)
    with pytest.raises(TableError, match=refused):
        table.transition((clip, 0), label="mixed", search=search)


@pytest.mark.parametrize("options", [{"longest_s": 2.0}, {"tolerance_s": 0.4}, {"variation": 1}])
def test_no_option_goes_through_it(table, options):
    """Clips that play on, and arrivals before and after the frame asked for, end with the clip."""
    for frame in (0, LENGTH - 1):
        joined = table.transition(("run", 40), ("exact", frame), **options)
        back = table.transition(("exact", frame), ("run", 40), **options)
        for made in (joined, back):
            assert {table.frames.place_of(row)[0] for row in made.recipe.rows} <= {*LONG, "exact"}
            assert np.isfinite(made.motion.root_positions).all()
    with pytest.raises(TableError, match="'half' must have at least"):
        table.transition(("run", 40), ("half", 3), **options)


def test_the_papers_table_refuses_it_too(table, tmp_path):
    lib = table.collection
    paper = ml.build_table(
        lib, out=tmp_path / "p.mlt", length_s=LENGTH / FPS, clusters=4, method="paper",
        progress=False,
    )  # fmt: skip
    with pytest.raises(TableError, match="'less' must have at least"):
        paper.transition(("run", 4), ("less", 0))
    with pytest.raises(TableError, match="'less' must have at least"):
        paper.transition(("less", 0), label="mixed")
    joined = paper.transition(("run", 4), label="mixed")
    assert paper.frames.place_of(joined.recipe.rows[-1])[0] == "walk"


@pytest.mark.parametrize("clip", SHORT)
def test_entries_and_paths_from_and_to_it_are_refused_in_words(table, clip):
    refused = f"'{clip}' must have at least {LENGTH} frames"
    for ask in (table.entry, table.path):
        with pytest.raises(TableError, match=refused):
            ask((clip, 0), ("run", 40))
        with pytest.raises(TableError, match=refused):
            ask(("run", 4), (clip, 0))


def test_no_window_of_any_recipe_is_in_it(table):
    frames = table.frames
    rows = np.concatenate([table.medoids, table.ends])
    for k in range(12):
        joined = table.transition(("run", 5 * k), label="mixed", search=k % 2 == 0)
        rows = np.concatenate([rows, *(each.recipe.rows for each in joined.candidates)])
    assert {frames.place_of(int(row))[0] for row in rows} <= {*LONG, "exact"}


@pytest.mark.parametrize("label", ["short", "early"])
def test_a_label_without_a_whole_window_is_refused_in_words(table, label):
    with pytest.raises(TableError, match=f"No frame of the label has {LENGTH} frames"):
        table.transition(("run", 4), label=label)
    with pytest.raises(TableError, match=f"No frame of the label has {LENGTH} frames"):
        table.stream(("run", 4)).go(label=label)


def test_a_label_of_one_window_is_arrived_at(table):
    joined = table.transition(("run", 4), label="edge")
    assert table.frames.place_of(joined.recipe.rows[-1]) == ("exact", 0)


@pytest.mark.parametrize("clip", SHORT)
def test_a_stream_leaves_it_and_never_goes_there(table, clip):
    with pytest.raises(TableError, match="must have at least"):
        table.stream(("run", 0)).go(frame=(clip, 0))
    live = table.stream((clip, 0), patience_s=0.3)
    live.step()
    live.go(label="mixed")
    steps = [live.step().root_position for _ in range(2 * LENGTH)]
    assert np.isfinite(steps).all()
    assert live.now[0] == "walk"


def test_evaluation_draws_no_frame_of_it(table):
    drawn = {clip for pair in random_places(table, 400, seed=1) for clip, _ in pair}
    drawn |= {clip for number in range(60) for clip, _ in drawn_pair(table, number)}
    assert drawn <= {*LONG, "exact"}
    assert sum(ml.compare_with_graph(table, pairs=12).quadrants.counts) == 12
    problems = ml.verify_table(table.file, entries=4, transitions=4)
    slips = "walk:42 to run:83: "  # a foot slips whatever is tried
    assert all(each.startswith(slips) for each in problems)


def test_the_graph_has_no_way_of_negative_time_from_it(table):
    graph = ml.MotionGraph.build(table.frames)
    pairs = [(clip, 0) for clip in SHORT]
    rows = [table.frames.row_of(*place) for place in pairs]
    goal = [table.frames.row_of("run", 40)] * len(rows)
    for path in graph.paths(rows, goal):
        assert path is None or path.duration_s >= 0.0


def test_the_studio_offers_neither_it_nor_labels_that_lie_in_it_as_goals(table):
    sizes = np.diff(table.frames.starts).tolist()
    clips = tuple(
        TableClip(id=name, clip=None, frames=count)
        for name, count in zip(table.frames.ids, sizes, strict=True)
    )
    opened = OpenTable("t", table, clips, "0", False)
    assert opened.goals == ["edge", "mixed"]
