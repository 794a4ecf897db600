from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.drawing.camera import VIEWS, camera_for, travel_heading
from motionloom.errors import ArrayError

FLOAT64 = 1e-12


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("heading", [0.0, 1.1, -2.5])
def test_the_axes_of_every_view_are_square_and_right_handed(view, heading: float) -> None:
    camera = camera_for(heading, view)
    axes = np.stack([camera.right, camera.up, camera.toward])
    assert np.allclose(axes @ axes.T, np.eye(3), atol=FLOAT64)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_from_the_side_and_the_top_the_heading_points_right() -> None:
    ahead = np.array([np.sin(0.7), 0.0, np.cos(0.7)])
    for view in ("side", "top"):
        flat, _, _ = camera_for(0.7, view).project(ahead)
        assert flat == pytest.approx([1.0, 0.0])


def test_from_the_front_the_left_hand_is_on_the_right() -> None:
    left = np.array([1.0, 0.0, 0.0])  # of somebody who faces +Z
    flat, _, _ = camera_for(0.0, "front").project(left)
    assert flat == pytest.approx([1.0, 0.0])


def test_what_is_nearer_the_eye_is_drawn_larger() -> None:
    camera = camera_for(0.0, "front", distance=4.0)
    _, near, scale = camera.project(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]))
    assert near.tolist() == [1.0, -1.0]
    assert scale[0] > 1.0 > scale[1]


def test_nothing_behind_the_eye_divides_by_zero() -> None:
    camera = camera_for(0.0, "front", distance=4.0)
    flat, _, scale = camera.project(np.array([1.0, 1.0, 4.0]))
    assert np.isfinite(flat).all()
    assert np.isfinite(scale)


def test_an_unknown_view_is_refused() -> None:
    with pytest.raises(ArrayError, match="three-quarter"):
        camera_for(0.0, "below")  # type: ignore[arg-type]


def test_a_walk_is_seen_along_its_way_and_a_stand_along_its_facing() -> None:
    walk = ml.move(ml.synthetic.clip("walk").motion, heading=1.2)
    assert travel_heading(walk) == pytest.approx(1.2, abs=0.1)
    stand = ml.move(ml.synthetic.clip("stand").motion, heading=-0.6)
    assert travel_heading(stand) == pytest.approx(-0.6, abs=0.1)


def test_a_thing_that_faces_nowhere_is_seen_along_z(rod: ml.Motion) -> None:
    assert travel_heading(rod) == 0.0
