"""Stands at the seams of a transition, worked out by hand on feet that hardly move."""

import numpy as np
import pytest

from motionloom._core import kernel, record
from motionloom.errors import ArrayError
from motionloom.tables.synthesis.synthesis import Rows, blend_record
from tests.oracles import seams as plain

FPS, SPEED, REACH = 60.0, 5.0, 0.9
N = 60

part_seams, stand_at_seams = kernel("ml_seam_part"), kernel("ml_seam_stands")


def rows_of_feet(points, planted, heading=None, ground=None):
    n = len(points)
    return Rows(
        np.zeros(n) if heading is None else heading,
        np.zeros((n, 2)) if ground is None else ground,
        np.zeros((n, 1, 4), dtype=np.float32),
        np.zeros((n, 1, 3), dtype=np.float32),
        np.asarray(points, dtype=np.float32),
        np.asarray(planted, dtype=bool),
    )


def frames_between(way):
    """Frames for a foot that the blend leaves where it is: the hurry of 7 m/s2 decides."""
    return int(np.ceil(np.sqrt(6.0 * FPS**2 * way / 7.0)))


class Feet:
    """Both feet in frames that overlap; the second foot stands nowhere."""

    def __init__(self, last=40, first=20):
        self.last, self.first = np.array([last, -1]), np.array([first, N])
        self.soles = np.zeros((2, 2, N, 3))
        self.source, self.target = np.zeros((2, N, 3)), np.zeros((2, N, 3))

    def parted(self):
        part_seams(N, self.soles, FPS, SPEED, self.target, self.source, self.last, self.first)
        return self.last.tolist(), self.first.tolist()


def test_a_foot_needs_time_for_its_way_and_six_frames_at_least():
    foot = np.zeros((N, 3))
    here, there = np.zeros(3), np.array([0.0, 0.0, 0.1])
    assert plain.frames_for(foot, 0, here, 9, here, FPS, SPEED) == 6
    assert plain.frames_for(foot, 0, here, 9, there, FPS, SPEED) == frames_between(0.1) == 18
    # A foot that the blend carries along is not hurried; its speed counts.
    foot[9] = there
    assert plain.frames_for(foot, 0, here, 9, there, FPS, SPEED) == 6
    assert plain.frames_for(foot, 0, here, 9, there, FPS, 1.0) == 12
    foot[9] = -there
    assert plain.frames_for(foot, 0, here, 9, there, FPS, SPEED) == frames_between(0.2)


def test_the_stand_that_the_blend_is_farther_from_gives_way():
    feet = Feet()
    feet.target[0, :, 2] = 0.1
    last, first = feet.parted()  # the blend is where the source stands
    assert (last, first) == ([30, -1], [30 + frames_between(0.1), N])
    feet = Feet()
    feet.source[0, :, 2] = 0.1
    last, first = feet.parted()  # the blend is where the target stands
    assert (last, first) == ([21 - frames_between(0.1), -1], [21, N])


def test_a_stand_is_let_go_to_the_last_frame_where_the_other_has_none_left():
    feet = Feet(last=58, first=57)
    feet.target[0, :, 2] = 0.1
    feet.soles[0, 1, :, 2] = 0.01
    last, first = feet.parted()
    assert first[0] == N - 1
    assert last[0] == N - 1 - frames_between(0.1)


def test_stands_that_leave_time_for_the_step_stay():
    feet = Feet(last=10, first=40)
    feet.target[0, :, 2] = 0.1
    assert feet.parted() == ([10, -1], [40, N])


def test_two_stands_of_one_place_become_one_that_creeps():
    feet = Feet()
    feet.target[0, :, 2] = 0.02
    last, first = feet.parted()
    assert (last, first) == ([40, -1], [41, N])
    u = np.clip((np.arange(N) - 20) / 20.0, 0.0, 1.0)
    expected = 0.02 * u * u * (3.0 - 2.0 * u)
    assert feet.source[0, :41, 2] == pytest.approx(expected[:41])
    assert (feet.source[0, 41:] == 0.0).all()
    for last, creeps in ((32, True), (31, False)):  # in twelve frames, not in eleven
        feet = Feet(last=last)
        feet.target[0, :, 2] = 0.02
        assert (feet.parted()[1][0] == last + 1) is creeps


def foot_of(ball, legs=None, *, heel=None, planted=None):
    """A left foot in one window whose rows are its frames."""
    n = len(ball)
    rows = rows_of_feet(np.zeros((n, 4, 3)), np.zeros((n, 4)) if planted is None else planted)
    legs = np.tile([0.0, -0.8, 0.0], (n, 1)) if legs is None else legs
    heel = ball.copy() if heel is None else heel
    return plain.Foot(rows, np.arange(n)[:, None], 0, heel, ball, legs, REACH, FPS, SPEED)


def test_distances_are_those_in_space():
    foot = foot_of(np.array([[9.0, 9.0, 9.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.5]]))
    place = np.array([3.0, -1.0, 9.0])
    assert plain.far(foot.ball[1], place) == pytest.approx(7.0)
    # What the blend goes in three frames is added.
    assert plain.left_behind(foot, 1, 2, place) == pytest.approx(7.0 + 3.0 * 0.5)


@pytest.mark.parametrize(("ways", "step"), [((0.1, 0.2), 42), ((0.1, 0.1), 18), ((0.2, 0.1), 18)])
def test_where_both_feet_step_the_longer_way_is_first_and_the_left_foot_of_equal_ones(ways, step):
    feet = Feet(last=50, first=10)
    feet.last[1], feet.first[1] = 50, 10
    feet.target[:, :, 2] = np.array(ways)[:, None]
    last, first = feet.parted()
    # At three tenths of the frames, or at seven: 18 and 42.
    for side, at in enumerate((step, 60 - step)):
        assert last[side] == min(at, N - 1 - frames_between(ways[side]))
        assert first[side] == last[side] + frames_between(ways[side])


def test_a_point_stands_that_is_planted_in_both_rows_and_does_not_move():
    points = np.zeros((2, 4, 3))
    points[:, 0] = [0.1, 0.0, 0.2]
    for labels, stands in (((1, 1), True), ((1, 0), False), ((0, 1), False), ((0, 0), False)):
        planted = np.zeros((2, 4))
        planted[:, 0] = labels
        assert plain.stands(rows_of_feet(points, planted), 0, 1, 0, FPS) is stands
    planted = np.ones((2, 4))
    for axis in (0, 2):
        for way, stands in ((0.44, True), (0.46, False), (-0.44, True), (-0.46, False)):
            moved = points.copy()
            moved[1, 0, axis] += way / FPS
            assert plain.stands(rows_of_feet(moved, planted), 0, 1, 0, FPS) is stands


def test_a_point_stands_that_a_turning_and_walking_body_leaves_where_it_is():
    heading, ground = np.array([0.3, 1.1]), np.array([[0.5, -0.2], [0.9, 0.4]])
    place = np.array([0.7, 0.1])
    points = np.zeros((2, 4, 3))
    for k in range(2):
        away, c, s = place - ground[k], np.cos(heading[k]), np.sin(heading[k])
        points[k, 3, ::2] = c * away[0] - s * away[1], s * away[0] + c * away[1]
    rows = rows_of_feet(points, np.ones((2, 4)), heading, ground)
    assert plain.stands(rows, 0, 1, 3, FPS)
    assert not plain.stands(rows_of_feet(points, np.ones((2, 4)), heading), 0, 1, 3, FPS)


def test_a_foot_rolls_on_what_stands():
    heel, ball = np.zeros((2, 3)), np.zeros((2, 3))
    ball[0], ball[1] = [0.0, 0.0, 0.2], [0.0, 0.05, 0.21]
    heel[1] = [0.0, 0.0, 0.03]
    start = np.array([0.5, 0.0, 0.7])
    for labels, expected in (
        ((0, 1, 0, 0), start),
        ((1, 1, 0, 0), start),
        ((1, 0, 0, 0), start + (ball[1] - ball[0]) - (heel[1] - heel[0])),
    ):
        places = np.array([start, np.zeros(3)])
        foot = foot_of(ball, heel=heel, planted=[labels, labels])
        assert plain.roll_on(foot, 0, 0, 1, places)
        assert places[1] == pytest.approx(expected)
        assert not plain.roll_on(foot._replace(side=1), 0, 0, 1, places)


def test_a_place_is_out_of_reach_where_no_leg_gets_to_it():
    foot = foot_of(np.zeros((1, 3)))
    # The hip may sink by 5 % of the leg, and the leg be 1 % longer.
    most = np.sqrt((1.01 * 0.9) ** 2 - (0.8 - 0.045) ** 2)
    for axis in (0, 2):
        for sign in (-1.0, 1.0):
            place = np.zeros(3)
            place[axis] = sign * (most - 1e-6)
            assert not plain.out_of_reach(foot, 0, place)
            place[axis] = sign * (most + 1e-6)
            assert plain.out_of_reach(foot, 0, place)
    assert not plain.out_of_reach(foot, 0, np.array([0.0, 0.9, 0.0]))
    long = foot._replace(legs=np.array([[0.0, -1.2, 0.0]]))
    assert not plain.out_of_reach(long, 0, np.zeros(3))  # stretched already, it may stay so


def standing(n, heel=True, ball=True):
    planted = np.zeros((n, 4))
    planted[:, 0], planted[:, 1] = heel, ball
    return planted


def stands_at(foot):
    """Stands of a foot, by the kernel."""
    n = len(foot.at)
    source, target, span = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(2, dtype=np.int64)
    blend = blend_record(foot.rows, foot.at, np.zeros(foot.at.shape[::-1]), foot.fps, foot.speed)
    given = record(
        "ml_blend_foot", blend=blend, side=foot.side, heel=foot.heel, ball=foot.ball,
        legs=foot.legs, reach=foot.reach,
    )  # fmt: skip
    stand_at_seams(given, source, target, span)
    return tuple(span.tolist()), source, target


def stands_of(planted, ball, legs=None):
    """Stands of the left foot; one window holds for source and target."""
    return stands_at(foot_of(ball, legs, planted=planted))


def test_a_foot_that_stands_at_a_seam_stands_until_its_label_ends():
    planted = standing(N)
    planted[20:50] = 0.0
    (last, first), source, target = stands_of(planted, np.zeros((N, 3)))
    assert (last, first) == (19, 50)
    assert (source[:20] == 0.0).all() and (target[50:] == 0.0).all()
    (last, first), _, _ = stands_of(standing(N, heel=False, ball=False), np.zeros((N, 3)))
    assert (last, first) == (-1, N)


def test_a_foot_that_stands_leaves_time_to_reach_the_other_seam():
    (last, first), _, _ = stands_of(standing(N), np.zeros((N, 3)))
    assert (last, first) == (N - 1 - 6, 6)


def test_a_foot_is_let_go_where_the_blend_leaves_it():
    ball = np.zeros((N, 3))
    ball[:, 2] = 0.01 * np.maximum(np.arange(N) - 5, 0)
    (last, _), source, _ = stands_of(standing(N), ball)
    # 12 cm behind the blend, three frames of its way counted: from frame 14 on it would be more.
    assert last == 14
    assert (source[: last + 1] == 0.0).all()


@pytest.mark.parametrize("n", [1, 2, 5, 20, 60])
def test_stands_match_their_plain_form(n):
    rng = np.random.Generator(np.random.PCG64(n))
    some = 0
    for case in range(60):
        n_ways = 1 + case % 4
        total = n * n_ways
        labels = np.repeat(rng.random((total // 4 + 1, 4)) < 0.85, 4, axis=0)[:total]
        points = 0.003 * rng.normal(size=(total, 4, 3)) * (case % 3)
        heading = np.cumsum(0.01 * rng.normal(size=total))
        ground = np.cumsum(0.002 * rng.normal(size=(total, 2)), axis=0)
        ball = np.cumsum(0.004 * rng.normal(size=(n, 3)), axis=0)
        legs = np.array([0.0, -0.8, 0.0]) + 0.05 * rng.normal(size=(n, 3))
        foot = plain.Foot(
            rows_of_feet(points, labels, heading, ground),
            np.arange(total).reshape(n_ways, n).T.copy(), case % 2,
            ball + 0.003 * rng.normal(size=(n, 3)), ball, legs, REACH, FPS, SPEED,
        )  # fmt: skip
        (last, first), source, target = stands_at(foot)
        expected = plain.stand_at_seams(foot)
        assert (last, first) == expected[:2]
        some += last >= 0
        assert np.abs(source - expected[2])[: last + 1].max(initial=0.0) < 1e-12
        assert np.abs(target - expected[3])[first:].max(initial=0.0) < 1e-12
    assert some > 20


@pytest.mark.parametrize("n", [1, 2, 20, 60])
def test_parted_seams_match_their_plain_form(n):
    rng = np.random.Generator(np.random.PCG64(n))
    for case in range(200):
        last, first = rng.integers(-1, n, 2), rng.integers(0, n + 1, 2)
        soles = np.cumsum(0.01 * rng.normal(size=(2, 2, n, 3)), axis=2)
        source = soles[:, 1] + 0.02 * rng.normal(size=(2, n, 3))
        target = source + (0.005 if case % 2 else 0.1) * rng.normal(size=(2, n, 3))
        expected = last.copy(), first.copy(), source.copy()
        plain.part_seams(expected[0], expected[1], soles, expected[2], target, FPS, SPEED)
        part_seams(n, soles, FPS, SPEED, target, source, last, first)
        assert (last == expected[0]).all() and (first == expected[1]).all()
        assert np.abs(source - expected[2]).max() < 1e-12


def test_stands_beyond_the_frames_are_refused():
    for last, first in (
        ([N, 0], [0, 0]),
        ([-2, 0], [0, 0]),
        ([0, 0], [0, -1]),
        ([0, 0], [N + 1, 0]),
    ):
        feet = Feet()
        feet.last, feet.first = np.array(last), np.array(first)
        with pytest.raises(ArrayError, match="sizes do not fit"):
            feet.parted()
