"""MotionGraph: changes, parts, shortest paths and the motion along them."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, MotionLoomError, TableError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.graph.graph_walk import GraphPath
from motionloom.tables.graph.motion_graph import MotionGraph

ROUND_OFF_M = 1e-5


@pytest.fixture(scope="module")
def frames():
    names = ("walk", "jog", "run", "stand")
    return frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in names])


@pytest.fixture(scope="module")
def graph(frames):
    return MotionGraph.build(frames, threshold_cm=15.0)


def test_every_kept_node_reaches_every_other(graph):
    kept = np.flatnonzero(graph.connected)
    assert len(kept) > 10
    for node in kept[::5]:
        assert np.isfinite(graph.reach(int(graph.nodes.rows[node]))[kept]).all()


def test_a_path_is_never_longer_than_playing_on(graph, frames):
    first, last = frames.row_of("walk", 3), frames.row_of("walk", 50)
    assert graph.path(first, last).n_frames <= 47
    assert graph.path(first, first).n_frames == 0


def test_raising_the_threshold_never_lengthens_a_path(frames):
    rng = np.random.Generator(np.random.PCG64(3))
    rows = rng.integers(0, frames.n_rows, (2, 40))
    before = np.full(40, np.inf)
    for threshold in (8.0, 12.0, 20.0):
        paths = MotionGraph.build(frames, threshold_cm=threshold).paths(rows[0], rows[1])
        length = np.array([np.inf if p is None else p.n_frames for p in paths])
        assert (length <= before).all()
        before = length
    assert np.isfinite(before).any()


def test_a_path_is_as_long_as_the_graph_reports(graph, frames):
    source = frames.row_of("jog", 5)
    reach = graph.reach(source)
    compared = 0
    for node in range(0, len(reach), 7):
        target = int(graph.nodes.rows[node])
        same_clip = frames.clip_at(target) == frames.clip_at(source)
        (path,) = graph.paths([source], [target])
        if path is None:
            assert np.isinf(reach[node])
        elif not (same_clip and source <= target):
            assert path.n_frames == reach[node]
            compared += 1
    assert compared > 3


def test_a_path_begins_and_ends_where_it_must_and_changes_only_at_transitions(graph, frames):
    source, target = frames.row_of("jog", 7), frames.row_of("walk", 41)
    path = graph.path(source, target)
    assert path.pieces[0][0] == source
    assert path.pieces[-1][1] == target
    assert len(path.pieces) > 1
    known = set(zip(graph.transitions.leave, graph.transitions.enter, strict=True))
    for (_, leave), (enter, _) in zip(path.pieces[:-1], path.pieces[1:], strict=True):
        assert (leave, enter) in known
    assert path.duration_s == path.n_frames / frames.fps


def test_the_walk_has_the_pieces_unchanged_and_no_step_larger_than_captured(graph, frames):
    path = graph.path(("jog", 7), ("walk", 41))
    walk = graph.synthesize(path)
    assert walk.motion.n_frames == path.n_frames + 1 == walk.footplants.n_frames
    first, last = path.pieces[0]
    start = frames.motion(first, last)
    assert np.allclose(walk.motion.local_quats[: last - first + 1], start.local_quats)
    first, last = path.pieces[-1]
    end = frames.motion(first, last)
    assert np.allclose(
        np.abs(walk.motion.local_quats[-(last - first + 1) :, 1:]),
        np.abs(end.local_quats[:, 1:]),
        atol=ROUND_OFF_M,
    )
    steps = np.linalg.norm(np.diff(walk.motion.world_positions(), axis=0), axis=-1).max()
    captured = max(
        np.linalg.norm(np.diff(frames.motion(a, b - 1).world_positions(), axis=0), axis=-1).max()
        for a, b in zip(frames.starts[:-1], frames.starts[1:], strict=True)
    )
    assert steps < 1.5 * captured
    assert len(walk.spans) == len(path.pieces) - 1 > 0
    assert all(b - a == path.blend for a, b in walk.spans)


def test_a_missing_path_is_reported_with_what_to_do(frames):
    graph = MotionGraph.build(frames, threshold_cm=0.01)
    assert len(graph.transitions) == 0
    with pytest.raises(TableError, match="threshold_cm"):
        graph.path(("walk", 5), ("run", 5))
    with pytest.raises(TableError, match="walk"):
        graph.path(("walk", 9), ("walk", 2))


def test_wrong_arguments_are_refused(graph, frames):
    with pytest.raises(ArrayError, match="threshold_cm"):
        MotionGraph.build(frames, threshold_cm=-1.0)
    with pytest.raises(ArrayError, match="source"):
        graph.path(frames.n_rows, 0)
    with pytest.raises(ArrayError, match="pairs"):
        graph.paths([1, 2], [3])
    with pytest.raises(TableError, match="clip"):
        graph.path(("nothing", 0), ("walk", 0))


@pytest.mark.parametrize(
    "place", [1.5, "walk", None, float("nan"), ("walk", 1, 2), ("walk", 1.5), ("walk", 9999), -1]
)
def test_invalid_places_are_refused(graph, place):
    for ask in (
        graph.reach,
        lambda place: graph.path(place, 5),
        lambda place: graph.path(5, place),
    ):
        with pytest.raises(MotionLoomError):
            ask(place)


@pytest.mark.parametrize("rows", [None, 3, [-5], [10**6], [0.5], ["walk"]])
def test_invalid_rows_are_refused(graph, rows):
    with pytest.raises(MotionLoomError):
        graph.paths(rows, [3])


def test_paths_that_lead_out_of_a_clip_are_refused(graph, frames):
    border, n = int(frames.starts[1]), frames.n_rows
    for pieces in (
        ((0, 10**6),),
        ((0, n - 1),),
        ((20, 3),),
        ((-4, 3),),
        ((0, border - 1), (border + 40, border + 60)),  # no frames left to blend over
        ((0, 40), (border, border + 60)),
    ):
        with pytest.raises(ArrayError, match="one of this graph"):
            graph.synthesize(GraphPath(pieces, graph.blend, frames.fps))
    with pytest.raises(ArrayError, match="at least one piece"):
        graph.synthesize(GraphPath((), graph.blend, frames.fps))
    with pytest.raises(ArrayError, match="must be a GraphPath"):
        graph.synthesize(None)


@pytest.mark.parametrize("collection", [None, "lib.mlc", [1, 2]])
def test_a_graph_needs_a_collection(collection):
    with pytest.raises(ArrayError, match="collection"):
        MotionGraph.build(collection)


def test_a_window_longer_than_every_clip_is_refused(frames):
    with pytest.raises(ArrayError, match="window_s"):
        MotionGraph.build(frames, window_s=100.0)


def test_the_same_collection_gives_the_same_graph(graph, frames):
    again = MotionGraph.build(frames, threshold_cm=15.0)
    assert (again.transitions.leave == graph.transitions.leave).all()
    assert (again.transitions.enter == graph.transitions.enter).all()
    assert (again.connected == graph.connected).all()
