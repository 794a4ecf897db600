"""The plain average of motions."""

from __future__ import annotations

import pytest

import motionloom as ml
from motionloom.blending.blend import blend_linearly

WALK = ml.synthetic.clip("walk", duration_s=1.0).motion


def test_a_motion_averaged_with_itself_is_that_motion():
    made = blend_linearly([WALK, WALK], [0.3, 0.7])
    assert made.n_frames == WALK.n_frames
    assert made.root_positions == pytest.approx(WALK.root_positions, abs=1e-9)
    assert made.world_positions() == pytest.approx(WALK.world_positions(), abs=1e-6)


def test_it_lasts_as_long_as_the_average_and_goes_from_first_to_last_frame():
    short = WALK[:41]
    made = blend_linearly([WALK, short], [0.5, 0.5])
    assert made.n_frames == round(0.5 * (WALK.n_frames - 1 + 40)) + 1
    ends = 0.5 * (WALK.root_positions[[0, -1]] + short.root_positions[[0, -1]])
    assert made.root_positions[[0, -1]] == pytest.approx(ends, abs=1e-9)


def test_where_a_motion_was_captured_has_no_influence():
    moved = ml.move(WALK, heading=1.2, x=3.0, z=-2.0)
    made = blend_linearly([WALK, moved], [0.5, 0.5])
    assert made.root_positions == pytest.approx(WALK.root_positions, abs=1e-6)
