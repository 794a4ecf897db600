"""Sheets of clusters."""

import io

import numpy as np
import pytest

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.index.clusters import find_clusters
from studies.pictures.cluster_sheet import MOMENTS, draw_clusters

LENGTH = 60


@pytest.fixture(scope="module")
def frames():
    clips = [ml.synthetic.clip(kind, duration_s=2.0) for kind in ("walk", "run", "stand")]
    return frames_of([c.motion for c in clips], footplants=[c.footplants for c in clips])


@pytest.fixture(scope="module")
def clusters(frames):
    return find_clusters(frames, length=LENGTH, clusters=4)


def texts(canvas):
    return [text.get_text() for text in canvas.texts]


def test_every_cluster_has_a_cell_that_describes_it(frames, clusters):
    canvas = draw_clusters(frames, clusters, title="toy")
    assert len(canvas.axes) == 4
    drawn_texts = texts(canvas)
    assert "toy" in drawn_texts
    for number in range(4):
        name, frame = frames.place_of(int(clusters.medoids[number]))
        assert f"{number}  {name}, frame {frame}" in drawn_texts
    counts = [text for text in drawn_texts if "spread" in text]
    assert [int(text.split()[0]) for text in counts] == list(clusters.sizes)


def test_a_cell_shows_the_medoid_some_members_and_the_plants(frames, clusters):
    from matplotlib.collections import LineCollection, PolyCollection

    axes = draw_clusters(frames, clusters, members=3).axes[0]
    figures = [c for c in axes.collections if isinstance(c, PolyCollection)]
    members = [c for c in axes.collections if isinstance(c, LineCollection)]
    assert len(figures) == MOMENTS
    assert len(members) == 3
    row = int(clusters.medoids[0])
    lanes = [line for line in axes.lines if len(line.get_ydata()) == LENGTH]
    shown = np.isfinite([line.get_ydata() for line in lanes]).T
    assert np.array_equal(shown, frames.planted[row : row + LENGTH, [1, 3]])


def test_figures_stand_inside_their_cell(frames, clusters):
    for axes in draw_clusters(frames, clusters).axes:
        low, high = axes.get_xlim()
        for figure in axes.collections[:MOMENTS]:
            corners = np.concatenate([path.vertices for path in figure.get_paths()])
            assert corners[:, 0].min() > low
            assert corners[:, 0].max() < high
            assert corners[:, 1].max() < axes.get_ylim()[1]


def test_a_cluster_of_one_window_has_no_members_to_draw(frames):
    rows = frames.windows(LENGTH)[[0, 100, 150]]
    alone = find_clusters(frames, length=LENGTH, clusters=3, rows=rows)
    canvas = draw_clusters(frames, alone)
    assert any(text.startswith("1 window · 1 take") for text in texts(canvas))


def test_the_same_clusters_give_the_same_bytes(frames, clusters):
    pictures = []
    for _ in range(2):
        stream = io.BytesIO()
        save_canvas(draw_clusters(frames, clusters, members=2), stream, "png")
        pictures.append(stream.getvalue())
    assert pictures[0] == pictures[1]
