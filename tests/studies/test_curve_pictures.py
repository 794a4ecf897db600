"""Pictures of a curve: what they show is what the curve holds."""

from __future__ import annotations

import io

import numpy as np
import pytest

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from studies.pictures.curve_pictures import draw_alignment, draw_timewarp


@pytest.fixture(scope="module")
def curve() -> ml.RegistrationCurve:
    """A left and a right turn, the second one cut so that it is the shorter."""
    left, right = (ml.synthetic.clip("walk", duration_s=3.0, turn=t).motion for t in (1.3, -1.3))
    return ml.register([left.replace(name="left"), right[20:150].replace(name="right")])


def lines_of(axes) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_xydata()) for line in axes.get_lines()}


def test_the_timewarp_shows_frames_and_rates_of_every_motion(curve) -> None:
    frames, rates = draw_timewarp(curve).axes[1], draw_timewarp(curve).axes[0]
    lines = lines_of(frames)
    assert set(lines) == {"left", "right"}
    u = lines["right"][:, 0]
    assert lines["right"][:, 1] == pytest.approx(curve.frames(u)[:, 1])
    assert np.asarray(rates.get_lines()[0].get_ydata()) == pytest.approx(curve.rates(u)[:, 0])


def test_the_alignment_shows_the_turn_between_the_ways(curve) -> None:
    turns = lines_of(draw_alignment(curve).axes[1])
    assert np.abs(turns["left, the reference"][:, 1]).max() == 0.0
    u, degrees = turns["right"].T
    assert np.radians(degrees) == pytest.approx(np.asarray(curve.alignments(u).theta)[:, 1])
    assert abs(degrees[-1]) > 60.0


def test_dollars_in_names_are_only_dollars(curve) -> None:
    odd = ml.register([m.replace(name=r"$\frac{$ & <b>") for m in curve.motions])
    for canvas in (draw_timewarp(odd), draw_alignment(odd)):
        save_canvas(canvas, io.BytesIO(), "png")
