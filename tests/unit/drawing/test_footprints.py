from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.drawing.canvas import INK, PLANTED, SLIDING
from motionloom.drawing.figure import build_figure
from motionloom.drawing.footprints import foot_colour, track_feet
from motionloom.errors import ArrayError

PLANT_M = 1e-6


def test_every_plant_leaves_one_print_where_the_point_stood(walk) -> None:
    track = track_feet(walk.motion, walk.footplants)
    assert track is not None
    intervals = walk.footplants.intervals()
    assert len(track.prints) == sum(len(spans) for spans in intervals.values())
    mark = next(p for p in track.prints if p.kind == "left_toe")
    toe = walk.motion.skeleton.index("LeftToeBase")
    place = walk.motion.world_positions()[mark.first, toe]
    assert np.abs(np.array(mark.place) - place).max() < PLANT_M
    assert not any(p.slides for p in track.prints)


def test_feet_dragged_over_the_ground_slide(walk) -> None:
    root = np.array(walk.motion.root_positions)
    root[:, 0] += 0.6 * np.arange(len(root)) / walk.motion.fps
    dragged = walk.motion.replace(root_positions=root)
    track = track_feet(dragged, walk.footplants)
    assert track is not None
    assert all(p.slides for p in track.prints if p.last > p.first)


def test_a_foot_is_green_while_it_stands_and_red_while_it_slides(walk) -> None:
    figure = build_figure(walk.motion)
    track = track_feet(walk.motion, walk.footplants)
    assert track is not None
    mark = next(p for p in track.prints if p.kind == "right_toe")
    toes = next(p for p in figure.parts if p.name == "toes" and p.side == "right")
    assert foot_colour(toes, track, mark.first, INK) == PLANTED
    assert foot_colour(toes, track, mark.last + 2, INK) == INK
    hand = next(p for p in figure.parts if p.name == "hand")
    assert foot_colour(hand, track, mark.first, INK) == INK
    assert SLIDING != PLANTED


def test_a_print_on_a_stair_is_drawn_on_the_stair() -> None:
    stairs = ml.synthetic.clip("stairs")
    track = track_feet(stairs.motion, stairs.footplants)
    assert track is not None
    grounds = [p.ground(0.0, 1.75) for p in track.prints]
    assert min(grounds) == 0.0
    assert max(grounds) > 0.3


def test_a_thing_without_feet_has_no_track(rod: ml.Motion) -> None:
    assert track_feet(rod) is None


def test_plants_of_another_length_are_refused(walk) -> None:
    with pytest.raises(ArrayError, match="frames"):
        track_feet(walk.motion, walk.footplants[:10])
