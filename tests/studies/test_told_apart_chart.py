"""The chart of areas: every method of every panel is drawn."""

import pytest

from motionloom.errors import ArrayError
from studies.measures.told_apart import Area
from studies.pictures.told_apart_chart import draw_areas


def test_every_area_is_drawn():
    areas = {
        (name, view): {part: Area(0.6, 0.5, 0.7) for part in ("CMU 69", "all")}
        for name in ("fill", "linear blend")
        for view in ("all frequencies", "below 8 Hz")
    }
    canvas = draw_areas(areas)
    panels = canvas.get_axes()
    titled = [axes for axes in panels if axes.get_title()]
    assert len(titled) == 4
    dots = [line for axes in titled for line in axes.lines if line.get_marker() == "o"]
    assert len(dots) == 8
    names = [label.get_text() for label in titled[0].get_yticklabels()]
    assert names == ["fill", "linear blend"]


def test_nothing_to_draw_is_an_error():
    with pytest.raises(ArrayError, match="`areas`"):
        draw_areas({})
