"""Parts of a splice, each against values worked out by hand."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing.lean import _bends, _slowly, _with_middle, lost_twist
from motionloom.splicing.level_head import _neck, _without_noise
from motionloom.splicing.posture import Posed
from motionloom.splicing.smoothing import _cubic
from motionloom.splicing.splice import _bump, _carrier, _lost_bends, mapped_contacts
from motionloom.splicing.timing import UpperTimes, _held_on, rate_caps

STAND = ml.synthetic.clip("stand", duration_s=0.5).motion
BODY = ml.BodyMap.guess(STAND.skeleton)


def test_a_bump_is_nothing_at_both_ends_and_whole_in_the_middle_half():
    assert _bump(9) == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0])


def test_the_joint_above_is_smoothed_too_where_it_is_the_actions():
    names = STAND.skeleton.names
    elbow, shoulder = BODY.left_elbow, BODY.left_shoulder
    assert _carrier(STAND, elbow, set(names)) == (shoulder,)
    assert _carrier(STAND, elbow, {names[elbow]}) == ()
    assert _carrier(STAND, BODY.spine[0], {names[0]}) == (0,)
    assert _carrier(STAND, 0, set(names)) == ()


def twisted(degrees):
    """Positions of a still body whose shoulders turn from 0 to an angle and back. (3, J, 3)"""
    positions = np.repeat(STAND.world_positions()[:1], 3, axis=0)
    middle = 0.5 * (positions[0, BODY.left_shoulder] + positions[0, BODY.right_shoulder])
    for joint in (BODY.left_shoulder, BODY.right_shoulder):
        x, _, z = positions[1, joint] - middle
        cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        positions[1, joint, [0, 2]] = middle[[0, 2]] + [cos * x + sin * z, cos * z - sin * x]
    return positions


@pytest.mark.parametrize(
    ("theirs", "ours", "is_noted"), [(12, 5, False), (14, 5, True), (5, 12, False)]
)
def test_a_twist_that_is_lost_is_noted_from_eight_degrees_on(theirs, ours, is_noted):
    notes = lost_twist(twisted(theirs), twisted(ours), BODY)
    assert bool(notes) == is_noted
    assert not notes or f"through {theirs} degrees" in notes[0]


def test_cubics_keep_straight_lines_between_uneven_knots_and_beyond_two():
    knots = np.array([0, 1, 4, 6])
    values = np.stack([3.0 - 2.0 * knots, 0.5 * knots], axis=-1)
    at = np.array([0.0, 0.25, 1.0, 3.3, 5.0, 5.9, 6.0])
    expected = np.stack([3.0 - 2.0 * at, 0.5 * at], axis=-1)
    assert _cubic(values, knots, at) == pytest.approx(expected)
    two = _cubic(values[:2], knots[:2], np.array([0.0, 0.5, 1.0]))
    assert two[:, 0] == pytest.approx([3.0, 2.0, 1.0])
    one = _cubic(values[:1], knots[:1], np.array([0.0]))
    assert one[:, 0] == pytest.approx([3.0])


def test_slopes_at_the_ends_of_a_cubic_are_those_of_the_first_and_last_chord():
    knots = np.array([0, 1, 2])
    values = np.array([0.0, 1.0, 5.0])[:, None]
    near = _cubic(values, knots, np.array([1e-6, 2.0 - 1e-6]))[:, 0]
    assert near[0] / 1e-6 == pytest.approx(1.0, rel=1e-4)
    assert (5.0 - near[1]) / 1e-6 == pytest.approx(4.0, rel=1e-4)


def test_three_knots_are_enough_for_a_cubic():
    """A tent of slopes 1, 0 and -1: Hermite's polynomials at the quarters of both spans."""
    tent = _cubic(np.array([0.0, 1.0, 0.0]), np.array([0, 1, 2]), np.arange(0.0, 2.1, 0.25))
    rise = [0.0, 0.296875, 0.625, 0.890625]
    assert tent == pytest.approx([*rise, 1.0, *rise[::-1]])
    uneven = _cubic(np.array([0.0, 1.0, 9.0]), np.array([0, 1, 3]), np.array([0.5, 2.0]))
    # Slopes are 1, then (2 x 1 + 1 x 4) / 3 = 2, then 4.
    assert uneven == pytest.approx([0.5 + 0.125 * (1.0 - 2.0), 5.0 + 0.25 * (2.0 - 4.0)])


def test_the_neck_reaches_from_its_first_joint_to_the_head():
    part = SimpleNamespace(joints=tuple(range(STAND.skeleton.n_joints)))
    chain = STAND.skeleton.chain(BODY.head)
    found = _neck(STAND, part, BODY)
    assert found == list(chain[chain.index(BODY.neck) :])
    assert (found[0], found[-1]) == (BODY.neck, BODY.head)
    only_head = SimpleNamespace(joints=(BODY.head,))
    assert _neck(STAND, only_head, BODY) == [BODY.head]
    assert _neck(STAND, part, dataclasses.replace(BODY, neck=None)) == [BODY.head]
    assert _neck(STAND, part, dataclasses.replace(BODY, head=None)) == [BODY.neck]


def test_arms_of_two_frames_cap_no_pace():
    quats = np.array(STAND.local_quats[:3])
    turn = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), 1.0)
    quats[1, BODY.left_elbow] = quat.multiply(quats[1, BODY.left_elbow], turn)
    made = STAND[:3].replace(local_quats=quats)
    frames = np.arange(3.0)
    assert rate_caps(made, frames, STAND, STAND, BODY) is not None
    assert rate_caps(made[:2], frames[:2], STAND, STAND, BODY) is None


def times_at(frames):
    frames = np.asarray(frames, dtype=float)
    return UpperTimes(frames, np.zeros((1, 2), dtype=int), np.zeros((1, 1)), 2, 3, False)


def test_contacts_are_mapped_to_frames_that_show_them():
    times = times_at([2.0, 3.0, 4.5, 6.0, 7.5])
    spans = {
        (3, 6): (1, 3),
        (0, 4): (0, 1),
        (5, 90): (3, 4),
        (2, 2): (0, 0),
        (7, 8): (4, 4),
        (0, 1): None,  # before the first frame
        (5, 5): None,  # between two frames
        (8, 9): None,
    }
    for span, expected in spans.items():
        found = mapped_contacts({"left": [span], "right": []}, times)
        assert found == {"left": () if expected is None else (expected,), "right": ()}
    both = mapped_contacts({"right": [(2, 3), (8, 9), (6, 7)]}, times)
    assert both == {"right": ((0, 1), (3, 3))}


def test_times_stay_on_the_last_frame_only_where_that_is_asked_for():
    times, legs = times_at([2.0, 3.5]), STAND[:5]
    held = _held_on(times, legs, "hold")
    assert held.frames.tolist() == [2.0, 3.5, 3.5, 3.5, 3.5]
    assert (held.stride, held.first, held.kept_own_time) == (2, 3, False)
    assert _held_on(times, legs, "crop") is times
    assert _held_on(times, STAND[:1], "hold") is times


def bent_by(*degrees):
    """A part whose two held points lie that far from upright, one angle a frame."""
    angles = np.radians(degrees)
    middle = np.stack([0.3 * np.sin(angles), 0.5 * np.cos(angles), 0.4 * np.sin(angles)], axis=-1)
    joint = np.tile([1.0, 2.0, 3.0], (len(angles), 1))
    aside = np.array([0.1, 0.0, 0.0])
    positions = np.stack([joint, joint + middle + aside, joint + middle - aside], axis=1)
    return Posed(STAND, positions, np.zeros((len(angles), 3, 4)))


def test_bends_that_are_lost_are_noted_from_twenty_degrees_on():
    part = SimpleNamespace(joint=0, held=(1, 2))
    assert _lost_bends(bent_by(5, 60, 20), bent_by(41, 3), part) == []
    (note,) = _lost_bends(bent_by(5, 60, 20), bent_by(39, 3), part)
    assert "by up to 60 degrees, the splice by 39" in note


def test_a_running_mean_of_half_a_second_keeps_constants_and_spreads_steps():
    way = np.tile([1.0, -2.0, 0.5], (40, 1))
    assert _slowly(way, 10.0) == pytest.approx(way)
    impulse = np.zeros((21, 3))
    impulse[10, 1] = 1.0
    bell = np.sin(np.pi * np.arange(1, 6) / 6.0) ** 2  # 4 or 5 frames of 10 Hz: an odd number
    found = _slowly(impulse, 10.0)
    assert found[8:13, 1] == pytest.approx(bell / bell.sum())
    assert np.abs(np.delete(found[:, 1], range(8, 13))).max() == 0.0
    assert not found[:, [0, 2]].any()


@pytest.mark.parametrize(
    ("degrees", "share"), [(4.0, 0.0), (5.0, 0.0), (12.5, 0.5), (20.0, 1.0), (50.0, 1.0)]
)
def test_bends_are_kept_from_five_degrees_on_and_whole_from_twenty(degrees, share):
    ours = np.tile([[0.1, 0.5, 0.0], [-0.1, 0.5, 0.0]], (30, 1, 1))
    axis = np.array([1.0, 0.0, 0.0])
    theirs = quat.rotate(quat.from_axis_angle(axis, np.radians(degrees)), ours)
    expected = quat.from_axis_angle(axis, share * np.radians(degrees))
    assert quat.angle_between(_bends(theirs, ours, STAND[:30]), expected).max() < 1e-6


def test_the_middle_of_the_held_points_counts_ten_times():
    points = np.array([[1.0, 0.0, 2.0], [3.0, 4.0, -2.0]])
    assert _with_middle(points).tolist() == [*points.tolist(), [20.0, 20.0, 0.0]]


def test_only_what_leaves_its_course_is_smoothed():
    axis = np.array([0.0, 0.0, 1.0])
    angles = np.zeros(120)
    angles[20:40] = np.radians(0.4) * (-1.0) ** np.arange(20)  # less than is noisy
    angles[80] = np.radians(3.0)
    quats = quat.from_axis_angle(axis, angles)
    found = _without_noise(quats, 60.0)
    assert np.array_equal(found[:77], quats[:77])
    assert np.array_equal(found[84:], quats[84:])
    assert quat.angle_between(found[80], quat.IDENTITY) < np.radians(0.3)
