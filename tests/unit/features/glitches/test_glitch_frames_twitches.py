"""Rotations that leave their course for a frame or two."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.features.glitches.glitch_frames import find_twitches
from motionloom.rotation import quat


def about_x(*degrees):
    return quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(np.array(degrees)))


@pytest.mark.parametrize(
    ("degrees", "fps", "frames"),
    [
        ([0.0, 10.0, 0.0], 30.0, [1]),  # three frames are enough
        ([0.0, 10.0, 10.0, 0.0], 60.0, [1, 2]),  # 0.03 s are two frames
        ([0.0, 10.0, 10.0, 0.0], 30.0, []),
        ([0.0, 0.0, 10.0, 10.0, 10.0], 60.0, []),  # a step that stays
        ([0.0, 5.0, 10.0, 15.0], 30.0, []),  # a steady turn
        ([0.0, 1.9, 0.0], 30.0, []),  # less than two degrees is noise
        ([0.0, 2.1, 0.0], 30.0, [1]),
        ([0.0, 10.0, 3.0], 30.0, []),  # not three times as far as the frames around
        ([0.0, 10.5, 2.0], 30.0, [1]),  # 8.5 degrees from the nearer side, of 3 * 2 + 2
        ([0.0, 9.5, 2.0], 30.0, []),
        ([2.0, 9.5, 0.0], 30.0, []),
        ([0.0, 10.0, 0.0], 10.0, [1]),  # one frame, however long frames are
        ([0.0, 10.0], 30.0, []),
        ([0.0], 30.0, []),
    ],
)
def test_only_what_comes_straight_back_is_a_twitch(degrees, fps, frames):
    assert np.flatnonzero(find_twitches(about_x(*degrees), fps)).tolist() == frames


def test_the_sign_of_a_quaternion_has_no_meaning():
    quats = about_x(0.0, 0.0, 10.0, 0.0, 0.0)
    for flipped in ([1], [2], [1, 3], [0, 4]):
        other = np.array(quats)
        other[flipped] *= -1.0
        assert np.flatnonzero(find_twitches(other, 30.0)).tolist() == [2]


def test_rotations_that_are_equal_but_for_rounding_are_no_angle_apart():
    for angle in range(0, 360, 5):  # some of these have a scalar product with themselves above 1
        assert np.flatnonzero(find_twitches(about_x(angle, angle + 10.0, angle), 30.0)) == [1]


def test_a_rotation_that_stays_is_no_twitch_of_no_angle():
    assert not find_twitches(about_x(0.0, 0.0, 0.0), 30.0, least=0.0).any()
