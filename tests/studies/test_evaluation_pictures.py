"""The picture of an evaluation."""

import io

import numpy as np

from motionloom.drawing.canvas import save_canvas
from motionloom.tables.evaluation.evaluation import Protocol, evaluate
from studies.pictures.evaluation_pictures import draw_roc


def texts(canvas):
    own = [text.get_text() for text in canvas.texts]
    return " ".join(own + [text.get_text() for axes in canvas.axes for text in axes.texts])


def evaluation():
    good = np.arange(40) % 2 == 0
    plan = Protocol("toy", "even numbers", circular="all of them")
    return evaluate(plan, good, {"even": good + 0.0, "rank": np.arange(40.0)}, rounds=20)


def test_a_curve_shows_what_its_labels_are():
    canvas = draw_roc(evaluation())
    drawn_text = texts(canvas)
    assert "even numbers" in drawn_text.replace("\n", " ")
    assert "CIRCULAR" in drawn_text
    legend = [t.get_text() for t in canvas.axes[0].get_legend().get_texts()]
    assert legend[0].startswith("even  1.000")


def test_the_same_figures_give_the_same_bytes():
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        save_canvas(draw_roc(evaluation()), file, "png")
    assert files[0].getvalue() == files[1].getvalue()
