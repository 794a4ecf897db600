"""Boxes of errors."""

import io

import numpy as np
import pytest

from motionloom.drawing.canvas import save_canvas
from motionloom.errors import ArrayError
from studies.pictures.error_boxes import draw_error_boxes

ERRORS = {"good": np.array([1.0, 2.0, 3.0]), "bad": np.array([4.0, 9.0, 5.0])}


def written(errors):
    out = io.BytesIO()
    save_canvas(draw_error_boxes(errors), out, "svg")
    return out.getvalue().decode()


def test_methods_and_their_means_are_written():
    text = written(ERRORS)
    for word in ("good", "bad", "2.0", "6.0", "3 windows"):
        assert word in text


def test_the_same_errors_give_the_same_bytes():
    assert written(ERRORS) == written(ERRORS)


@pytest.mark.parametrize("errors", [{}, {"none": np.zeros(0)}])
def test_nothing_to_draw_is_refused(errors):
    with pytest.raises(ArrayError, match="at least one"):
        draw_error_boxes(errors)
