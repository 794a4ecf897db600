from __future__ import annotations

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.drawing.canvas import AMBER, BLUE, save_canvas
from motionloom.drawing.transition_pictures import (
    Way,
    draw_transition,
    draw_ways,
    way_of_table,
    way_on_graph,
)
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import Frames, frames_of
from motionloom.tables.graph.graph_walk import GraphWalk
from motionloom.tables.graph.motion_graph import MotionGraph
from motionloom.tables.table_transition import TableTransition
from tests.support.tables import MemoryTable, table_in_memory

LENGTH = 30


@pytest.fixture(scope="module")
def frames() -> Frames:
    return frames_of([synthetic.clip(kind).motion.replace(name=kind) for kind in ("walk", "run")])


@pytest.fixture(scope="module")
def table(frames: Frames) -> MemoryTable:
    return table_in_memory(frames, length=LENGTH, clusters=4)


@pytest.fixture(scope="module")
def made(table: MemoryTable) -> TableTransition:
    return table.transition(("walk", 60), ("run", 150), lead_s=0.3, follow_s=0.4)


@pytest.fixture(scope="module")
def walk() -> GraphWalk:
    """Along a graph of a walk that goes straight on and one that turns."""
    straight, curve = synthetic.clip("walk").motion, synthetic.clip("walk", turn=0.5).motion
    frames = frames_of([straight.replace(name="straight"), curve.replace(name="curve")])
    graph = MotionGraph.build(frames, threshold_cm=20.0)
    return graph.synthesize(graph.path(("straight", 40), ("curve", 120)))


def text_of(canvas) -> str:
    texts = [text.get_text() for text in canvas.texts]
    return " ".join(texts + [text.get_text() for axes in canvas.axes for text in axes.texts])


def test_a_picture_of_a_transition_names_its_windows_and_its_score(made, tmp_path) -> None:
    canvas = draw_transition(made)
    drawn_text = text_of(canvas)
    assert "walk to run" in drawn_text
    for row in made.recipe.rows:
        clip, frame = made.frames.place_of(row)
        assert f"{clip}:{frame}" in drawn_text
    assert f"{made.score.total:.1f} in" in drawn_text
    save_canvas(canvas, tmp_path / "a.png", "png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_the_same_transition_gives_the_same_bytes(made, tmp_path) -> None:
    for name in ("a.png", "b.png"):
        save_canvas(draw_transition(made), tmp_path / name, "png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_shares_of_windows_fill_every_frame(made) -> None:
    areas = draw_transition(made).axes[1].collections
    assert len(areas) == made.recipe.n_ways
    top = areas[-1].get_paths()[0].vertices[:, 1]
    assert top.max() == pytest.approx(1.0, abs=1e-6)


def test_a_transition_is_amber_where_it_leaves_and_blue_where_it_arrives(made) -> None:
    colour = way_of_table(made, "table").colour
    first, last = made.span
    assert colour(0) == colour(first) == AMBER
    assert colour(last) == colour(made.motion.n_frames - 1) == BLUE
    middle = colour((first + last) // 2)
    assert middle not in (AMBER, BLUE)


def test_ways_stand_below_one_another_with_their_remarks(made, walk) -> None:
    rows = [
        way_of_table(made, "table"),
        way_on_graph(walk, "motion graph"),
        Way("captured", synthetic.clip("run").motion, "as it is"),
    ]
    canvas = draw_ways(rows, title="walk to run", size=(900, 200))
    assert len(canvas.axes) == 3
    drawn_text = text_of(canvas)
    assert "motion graph" in drawn_text
    assert "as it is" in drawn_text
    assert f"{walk.motion.duration_s:.2f} s" in drawn_text
    heights = [axes.get_position().y0 for axes in canvas.axes]
    assert np.all(np.diff(heights) < 0.0)


def test_a_walk_through_a_graph_changes_colour_at_its_blends(walk) -> None:
    colour = way_on_graph(walk, "graph").colour
    assert colour(walk.spans[0][0]) == AMBER
    assert colour(walk.spans[-1][1]) == BLUE


def test_the_chart_runs_in_step_with_the_figures_above_it(made) -> None:
    figures, chart = draw_transition(made, moments=9).axes
    box, below = figures.get_position(), chart.get_position()
    assert below.x0 == pytest.approx(box.x0 + 0.5 * box.width / 9)
    assert below.x1 == pytest.approx(box.x1 - 0.5 * box.width / 9)
    assert chart.get_xlim() == pytest.approx((0.0, made.motion.duration_s))
    times = [text.get_text() for text in figures.texts]
    assert times[0] == "0.00 s"
    assert times[-1] == f"{made.motion.duration_s:.2f} s"


def test_no_ways_and_single_moments_are_refused(made) -> None:
    with pytest.raises(ArrayError, match="at least one"):
        draw_ways([])
    with pytest.raises(ArrayError, match="at least 2"):
        draw_ways([way_of_table(made, "table")], moments=1)
