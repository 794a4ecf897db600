"""path(): the better of graph and table, and why."""

from dataclasses import dataclass

import pytest

import motionloom as ml
from motionloom.errors import ArrayError, MotionLoomError
from motionloom.motion.motion import Footplants
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.graph.motion_graph import MotionGraph
from motionloom.tables.path import choose_path
from tests.support.tables import table_in_memory


@dataclass
class Score:
    total: float
    natural: bool = True
    naturalness: float | None = None


@dataclass
class Made:
    motion: ml.Motion
    footplants: Footplants
    score: Score
    frames: object


class TableOfOneCost:
    """A table whose every transition costs the same."""

    length = 45

    def __init__(self, frames, cost, naturalness=None):
        self.frames = frames
        natural = cost < 6.0 if naturalness is None else naturalness >= 0.5
        self.score = Score(cost, natural, naturalness)

    def transition(self, source, target):
        first = self.frames.row_at(source, "source")
        self.frames.row_at(target, "target")
        last = first + self.length - 1
        plants = Footplants(self.frames.planted[first : last + 1])
        return Made(self.frames.motion(first, last), plants, self.score, self.frames)


def path(table, source, target, *, graph, limit_in=None, limit_s=45 / 60):
    made = table.transition(source, target)
    return choose_path(made, graph, source, target, limit_in=limit_in, limit_s=limit_s)


@pytest.fixture(scope="module")
def frames():
    return frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in ("walk", "jog")])


@pytest.fixture(scope="module")
def graph(frames):
    return MotionGraph.build(frames, threshold_cm=15.0)


def test_a_quick_way_of_captured_frames_is_taken(frames, graph):
    found = path(TableOfOneCost(frames, 1.0), ("walk", 5), ("walk", 50), graph=graph)
    assert found.chosen == "graph"
    assert found.motion.n_frames == found.graph_path.n_frames + 1
    assert found.footplants.n_frames == found.motion.n_frames
    assert found.graph_s <= 0.75
    assert "captured" in found.why
    assert "1.0 in" in found.why


def test_a_good_transition_is_taken_where_the_way_is_long(frames, graph):
    found = path(TableOfOneCost(frames, 3.0), ("walk", 5), ("jog", 60), graph=graph, limit_s=0.1)
    assert found.chosen == "table"
    assert found.motion is found.transition.motion
    assert found.graph_s > 0.1
    assert "good enough" in found.why


def test_where_neither_is_good_both_costs_are_reported(frames, graph):
    found = path(TableOfOneCost(frames, 9.5), ("walk", 5), ("jog", 60), graph=graph, limit_s=0.1)
    assert found.chosen == "neither"
    assert "9.5 in" in found.why
    assert f"{found.graph_s:.2f} s" in found.why
    assert found.table_in == 9.5
    assert found.motion.n_frames == 45


def test_without_any_way_the_table_is_asked(frames):
    lonely = MotionGraph.build(frames, threshold_cm=0.01)
    found = path(TableOfOneCost(frames, 2.0), ("jog", 5), ("walk", 60), graph=lonely)
    assert found.chosen == "table"
    assert found.graph_path is None
    assert found.graph_s is None
    assert "no path" in found.why
    assert found.why[0].isupper()
    assert found.why.endswith("good enough.")


def test_the_score_decides_whether_a_transition_is_good_unless_a_limit_is_given(frames, graph):
    asked = ("walk", 5), ("jog", 60)
    likely, unlikely = TableOfOneCost(frames, 9.0, 0.8), TableOfOneCost(frames, 2.0, 0.2)
    found = path(likely, *asked, graph=graph, limit_s=0.1)
    assert found.chosen == "table"
    assert "a naturalness of 80 %" in found.why
    assert path(unlikely, *asked, graph=graph, limit_s=0.1).chosen == "neither"
    by_sum = path(unlikely, *asked, graph=graph, limit_s=0.1, limit_in=6.0)
    assert by_sum.chosen == "table"
    assert "under 6 in" in by_sum.why
    assert path(likely, *asked, graph=graph, limit_s=0.1, limit_in=6.0).chosen == "neither"


def test_limits_decide_and_must_be_positive(frames, graph):
    table = TableOfOneCost(frames, 3.0)
    assert path(table, ("walk", 5), ("jog", 60), graph=graph, limit_s=60.0).chosen == "graph"
    with pytest.raises(ArrayError, match="limit_in"):
        path(table, ("walk", 5), ("jog", 60), graph=graph, limit_in=0.0)


def test_a_graph_is_built_where_none_is_given(frames):
    table = table_in_memory(frames, length=45, clusters=2, keep=2)
    found = table.path(("walk", 5), ("walk", 50))
    assert found.graph.threshold_cm == 8.0


def test_a_graph_of_another_collection_is_refused(frames, graph):
    table = TableOfOneCost(frames, 3.0)
    small = [ml.synthetic.clip(kind, height=1.4).motion for kind in ("walk", "stand")]
    other = MotionGraph.build(frames_of(small), threshold_cm=15.0)
    with pytest.raises(ArrayError, match="table's collection"):
        path(table, ("walk", 5), ("jog", 60), graph=other)
    with pytest.raises(ArrayError, match="must be a MotionGraph"):
        path(table, ("walk", 5), ("jog", 60), graph="graph")


@pytest.mark.parametrize("place", ["walk", 3, ("walk",), ("nobody", 3), ("walk", 9999), None])
def test_invalid_places_are_refused(frames, graph, place):
    table = TableOfOneCost(frames, 3.0)
    for asked in ((place, ("jog", 60)), (("walk", 5), place)):
        with pytest.raises(MotionLoomError, match=r"[Cc]lip"):
            path(table, *asked, graph=graph)
