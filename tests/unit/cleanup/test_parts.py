"""Parts of the foot clean-up, each against values worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.cleanup.footskate import MOST_TIMES, Releases, _trim, _widened
from motionloom.cleanup.legs import Hold, highest_nearby, nearness, spread_smoothly
from motionloom.cleanup.solve import _stretch
from motionloom.features.checks.verification import FailedCheck
from motionloom.motion.motion import Footplants, Skeleton
from tests.oracles.aims import held_reach


def test_smoothing_is_the_same_to_both_sides_and_keeps_the_sum():
    impulse = np.zeros(11)
    impulse[5] = 1.0
    out = spread_smoothly(impulse, 2)
    assert out == pytest.approx(out[::-1])
    assert out.sum() == pytest.approx(1.0)
    assert out[5] > out[6] > out[7] > 0.0
    assert out[8:].tolist() == [0.0, 0.0, 0.0]
    assert spread_smoothly(np.full((6, 2), 3.0), 4) == pytest.approx(np.full((6, 2), 3.0))
    assert spread_smoothly(impulse, 0).tolist() == impulse.tolist()


def test_the_highest_value_is_found_as_far_as_asked_and_no_farther():
    values = np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0])
    assert highest_nearby(values, 1).tolist() == [0, 0, 5, 5, 5, 0, 0]
    assert highest_nearby(values, 2).tolist() == [0, 5, 5, 5, 5, 5, 0]


def test_nearness_falls_to_either_side_of_held_frames():
    held = np.array([False, False, True, False, False, False])
    assert nearness(held, 2.0) == pytest.approx([0.0, 0.5, 1.0, 0.5, 0.0, 0.0])
    assert nearness(np.zeros(3, dtype=bool), 2.0).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("frame", "left"), [(4, (7, 30)), (17, (7, 30)), (18, (5, 28)), (40, (5, 28))]
)
def test_a_long_contact_gives_up_two_frames_of_the_end_nearer_to_a_fault(frame, left):
    planted = np.zeros(45, dtype=bool)
    planted[5:31] = True
    _trim(planted, (5, 30), frame, 2, 3.0)
    assert np.flatnonzero(planted).tolist() == list(range(left[0], left[1] + 1))


def test_a_contact_in_the_middle_of_a_fault_gives_up_its_start():
    planted = np.ones(41, dtype=bool)
    _trim(planted, (0, 40), 20, 2, 3.0)
    assert np.flatnonzero(planted).tolist() == list(range(2, 41))


def test_a_short_contact_is_given_up_whole():
    planted = np.ones(6, dtype=bool)
    _trim(planted, (1, 3), 2, 2, 3.0)
    assert planted.tolist() == [True, False, False, False, True, True]


def test_what_fails_again_in_its_place_gives_up_twice_as_much_until_it_is_not_the_cause():
    def failed(check: str, frame: int) -> FailedCheck:
        return FailedCheck(check, "left toe", frame, 2.0, 1.0, "cm")

    releases = Releases(60.0)
    found = []
    for frame in (30, 33, 31, 60, 60, 60, 60, 60, 60):
        tried = releases.after([failed("sliding contact", frame), failed("direction", frame)])
        assert all(each.failed.check == "sliding contact" for each in tried)
        found.append([each.times for each in tried])
    assert found == [[1], [2], [4], [1], [2], [4], [MOST_TIMES], [], []]


def test_only_thigh_and_shank_are_stretched():
    names = ("root", "hip", "knee", "ankle", "toe")
    skeleton = Skeleton(names, np.array([-1, 0, 1, 2, 3]), np.ones((5, 3)))
    moving = np.ones((2, 5, 3))
    _stretch(skeleton, moving, 1, 3, np.array([1.5, 1.0]))
    assert moving[0, :, 0].tolist() == [1.0, 1.0, 1.5, 1.5, 1.0]
    assert moving[1].tolist() == np.ones((5, 3)).tolist()


def test_a_held_ankle_may_be_as_far_as_the_motion_has_it():
    foot = SimpleNamespace(bones=np.array([[0.4, 0.4], [0.45, 0.45], [0.84, 0.3]]))
    reach = np.array([0.84, 0.84])
    far, near = held_reach(foot, reach)
    assert far == 0.84
    assert near == pytest.approx(0.84, rel=0.01)
    assert near < 0.84


def fast_ends(before, after):
    """A hold of frames 2 to 21 whose first and last frames move. First, last, fastest."""
    velocities = np.zeros((24, 4, 3))
    velocities[2 : 2 + len(before), 1, 0] = before
    velocities[22 - len(after) : 22, 1, 2] = after
    span, fastest = np.zeros((1, 2), dtype=np.int64), np.zeros(1)
    label = np.array([[1, 2, 21]])
    kernel("ml_hold_trim")(24, velocities, np.zeros((24, 3)), 1, label, 0.7, span, fastest)
    return (*span[0].tolist(), float(fastest[0]))


def test_ends_of_a_hold_are_cut_while_one_of_them_moves():
    assert fast_ends([], []) == (2, 21, 0.0)
    assert fast_ends([1.0], []) == (3, 21, 1.0)
    assert fast_ends([], [2.0, 1.0]) == (2, 19, 2.0)
    assert fast_ends([1.0], [2.0]) == (3, 20, 2.0)
    assert fast_ends([0.25], []) == (2, 21, 0.25)  # slower than a hold may be
    assert fast_ends([9.0] * 4, [5.0] * 4)[:2] == (6, 19)  # 30 % at most, the fastest first


def widened(moving_frame, label=(2, 8)):
    """A hold of frames 3 to 7 of a contact, after a step of 1 m/s to the frame after one."""
    points = np.zeros((12, 4, 3))
    points[moving_frame + 1 :, 1, 0] = 1.0 / 60.0
    planted = np.zeros((12, 4), dtype=bool)
    planted[label[0] : label[1] + 1, 1] = True
    hold = Hold(1, label, (3, 7), 0.5)
    [made] = _widened((hold,), points, Footplants(planted), 60.0, 9.0)
    return made.span


def test_a_hold_becomes_the_whole_contact_if_any_frame_of_it_moves_too_fast():
    for frame in (2, 5, 7):
        assert widened(frame) == (2, 8)
    for frame in (0, 1, 8, 9):  # outside of the contact
        assert widened(frame) == (3, 7)
