"""Pictures of an evaluation."""

import io

import numpy as np
import pytest

from motionloom.drawing.canvas import save_canvas
from motionloom.tables.evaluation.evaluation import Protocol, evaluate, quadrants_of
from studies.pictures.evaluation_pictures import draw_quadrants, draw_reach, draw_roc


@pytest.fixture(scope="module")
def quadrants():
    rng = np.random.Generator(np.random.PCG64(0))
    way = rng.exponential(1.5, 300)
    way[::9] = np.inf
    return quadrants_of(way, rng.exponential(4.0, 300))


def texts(canvas):
    own = [text.get_text() for text in canvas.texts]
    return " ".join(own + [text.get_text() for axes in canvas.axes for text in axes.texts])


def test_the_scatter_counts_its_quadrants_beside_the_papers(quadrants):
    drawn_text = texts(draw_quadrants(quadrants, remark="toy pairs."))
    for count, paper in zip(quadrants.counts, (581, 302, 60, 57), strict=True):
        assert f"{count} (paper {paper})" in drawn_text
    assert "toy pairs." in drawn_text
    assert "another collection" in drawn_text


def test_every_pair_is_a_point_inside_the_picture(quadrants):
    axes = draw_quadrants(quadrants).axes[0]
    points = np.concatenate([c.get_offsets() for c in axes.collections])
    assert len(points) == 300
    assert np.isfinite(points).all()
    assert points[:, 0].max() <= axes.get_xlim()[1]
    assert points[:, 1].max() <= axes.get_ylim()[1]


def test_a_curve_shows_what_its_labels_are():
    good = np.arange(40) % 2 == 0
    plan = Protocol("toy", "even numbers", circular="all of them")
    made = evaluate(plan, good, {"even": good + 0.0, "rank": np.arange(40.0)}, rounds=20)
    canvas = draw_roc(made)
    drawn_text = texts(canvas)
    assert "even numbers" in drawn_text.replace("\n", " ")
    assert "CIRCULAR" in drawn_text
    legend = [t.get_text() for t in canvas.axes[0].get_legend().get_texts()]
    assert legend[0].startswith("even  1.000")


def test_bars_of_several_ways_are_drawn(quadrants):
    canvas = draw_reach({"one": quadrants.counts, "two": (200, 80, 10, 10)}, remark="toy")
    assert [t.get_text() for t in canvas.axes[0].get_yticklabels()] == ["one", "two"]


def test_the_same_figures_give_the_same_bytes(quadrants):
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        save_canvas(draw_quadrants(quadrants), file, "png")
    assert files[0].getvalue() == files[1].getvalue()
