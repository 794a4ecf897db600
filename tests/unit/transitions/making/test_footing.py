"""Plants between the seams: where they fit, how long, and heels that stand before and after."""

import numpy as np
import pytest

from motionloom.transitions.making import footing, seams
from motionloom.transitions.making.footing import NOT_HELD
from motionloom.transitions.making.rig import Rows

FPS, SPEED, REACH = 60.0, 5.0, 0.9
N = 60
LEG = np.array([0.0, -0.8, 0.0])


@pytest.fixture(autouse=True)
def _plain(uncompiled):
    uncompiled(seams, footing)


def frames_between(way):
    return int(np.ceil(np.sqrt(6.0 * FPS**2 * way / 7.0)))


class Foot:
    """A left foot that the blend leaves at the origin, under windows that stand there."""

    def __init__(self, ways=1):
        n = N * ways
        self.planted_rows = np.zeros((n, 4), dtype=bool)
        self.points = np.zeros((n, 4, 3), dtype=np.float32)
        self.at = np.arange(n).reshape(ways, N).T.copy()
        self.foot, self.heel = np.zeros((N, 3)), np.zeros((N, 3))
        self.legs = np.tile(LEG, (N, 1))
        self.held, self.places = np.full(N, NOT_HELD), np.zeros((N, 3))
        self.planted = np.zeros((N, 4), dtype=bool)

    @property
    def rows(self):
        n = len(self.points)
        none = np.zeros((n, 1, 4), dtype=np.float32), np.zeros((n, 1, 3), dtype=np.float32)
        return Rows(np.zeros(n), np.zeros((n, 2)), *none, self.points, self.planted_rows)

    def cut(self, first, last, place):
        return footing._cut(
            self.foot, self.legs, REACH, FPS, SPEED, self.held, self.places, first, last,
            np.array(place),
        )  # fmt: skip

    def fill(self):
        return footing._fill(
            self.rows, self.at, 0, np.zeros(N), np.zeros((N, 3)), self.heel, self.foot, self.legs,
            REACH, FPS, SPEED, self.held, self.places, self.planted,
        )  # fmt: skip

    def add_heels(self, first, last):
        self.held[first : last + 1] = 2
        footing._add_heels(
            self.rows, self.at, 0, 0, self.heel, self.foot, self.legs, REACH, FPS, SPEED,
            self.held, self.places, self.planted, first, last,
        )  # fmt: skip


def test_a_plant_where_the_blend_has_its_foot_is_six_frames_from_both_seams():
    assert Foot().cut(0, N - 1, [0.0, 0.0, 0.0]) == (6, N - 1 - 6)
    assert Foot().cut(10, 20, [0.0, 0.0, 0.0]) == (10, 20)


def test_a_plant_is_as_far_from_the_seams_as_its_way_needs():
    frames = frames_between(0.09)
    assert Foot().cut(0, N - 1, [0.09, 0.0, 0.0]) == (frames, N - 1 - frames)
    first, last = Foot().cut(0, N - 1, [0.0, 0.0, 0.11])
    assert last < first  # more than a decimetre away the foot cannot arrive


def test_a_plant_keeps_its_distance_from_holds_before_and_after():
    foot = Foot()
    foot.held[:11], foot.held[50:] = 0, 1
    assert foot.cut(5, 55, [0.0, 0.0, 0.0]) == (10 + 6, 50 - 6)
    foot.places[50:, 2] = 0.05
    assert foot.cut(5, 55, [0.0, 0.0, 0.0]) == (10 + 6, 50 - frames_between(0.05))
    foot.places[:11, 2] = -0.05
    assert foot.cut(5, 55, [0.0, 0.0, 0.0])[0] == 10 + frames_between(0.05)


def test_a_plant_that_is_held_in_its_middle_is_put_before_or_after_that():
    foot = Foot()
    foot.held[20:41] = 0
    assert foot.cut(5, 55, [0.0, 0.0, 0.0]) == (6, 20 - 6)
    foot.held[:20] = 0
    assert foot.cut(5, 55, [0.0, 0.0, 0.0]) == (40 + 6, N - 1 - 6)
    foot.held[:] = 0
    first, last = foot.cut(5, 55, [0.0, 0.0, 0.0])
    assert last < first


def test_a_plant_is_cut_where_the_leg_does_not_reach_it():
    stretched = [0.45, -0.78, 0.0]  # 9 cm more to the side is too far
    frames = frames_between(0.09)
    foot = Foot()
    foot.legs[:25] = stretched
    assert foot.cut(0, N - 1, [0.09, 0.0, 0.0]) == (25, N - 1 - frames)
    foot = Foot()
    foot.legs[30:] = stretched
    assert foot.cut(0, N - 1, [0.09, 0.0, 0.0]) == (frames, 29)
    foot = Foot()
    foot.legs[30] = stretched
    first, last = foot.cut(0, N - 1, [0.09, 0.0, 0.0])
    assert last < first


@pytest.mark.parametrize(("heel_first", "begins"), [(15, 15), (2, 6)])
def test_a_heel_stands_before_its_ball(heel_first, begins):
    foot = Foot()
    foot.planted_rows[20:31, 1] = True
    foot.planted_rows[heel_first:31, 0] = True
    foot.add_heels(20, 30)
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(begins, 31))
    assert np.flatnonzero(foot.planted[:, 0]).tolist() == list(range(begins, 20))
    assert not foot.planted[:, 1:].any()


@pytest.mark.parametrize(("heel_last", "ends"), [(45, 45), (N - 2, N - 1 - 6)])
def test_a_heel_stands_after_its_ball(heel_last, ends):
    foot = Foot()
    foot.planted_rows[20:31, 1] = True
    foot.planted_rows[20 : heel_last + 1, 0] = True
    foot.add_heels(20, 30)
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(20, ends + 1))
    assert np.flatnonzero(foot.planted[:, 0]).tolist() == list(range(31, ends + 1))


def test_a_heel_stands_before_its_ball_after_an_earlier_hold():
    foot = Foot()
    foot.held[:8] = 0
    foot.planted_rows[20:31, 1] = True
    foot.planted_rows[2:31, 0] = True
    foot.add_heels(20, 30)
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(7 + 6, 31))


def test_a_heel_that_does_not_stand_adds_nothing():
    foot = Foot()
    foot.planted_rows[20:31, :2] = True
    foot.add_heels(20, 30)
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(20, 31))
    assert not foot.planted.any()


def test_a_heel_stops_where_its_ball_would_be_in_the_ground():
    foot = Foot()
    foot.planted_rows[10:31, 0] = True
    foot.planted_rows[20:31, 1] = True
    foot.heel[:15, 1] = 0.02
    foot.add_heels(20, 30)
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(15, 31))


def test_a_heel_stops_where_the_blend_is_far_from_it():
    foot = Foot()
    foot.planted_rows[10:31, 0] = True
    foot.planted_rows[20:31, 1] = True
    foot.heel[:17, 2] = -0.11
    foot.add_heels(20, 30)
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(17, 31))


def test_a_plant_is_the_mean_place_of_its_window_no_higher_than_the_blend():
    foot = Foot()
    foot.planted_rows[20:40, 1] = True
    foot.points[20:40, 1] = [0.02, 0.07, 0.01]
    foot.foot[:, 1] = 0.03
    total, count = foot.fill()
    held = np.flatnonzero(foot.held != NOT_HELD)
    assert held.tolist() == list(range(20, 40))
    assert (foot.held[held] == 2).all()
    assert foot.places[held] == pytest.approx(np.tile([0.02, 0.03, 0.01], (20, 1)))
    assert count == 20
    assert total == pytest.approx(20 * np.hypot(0.02, 0.01))
    assert foot.planted[held, 1].all() and not foot.planted[:, 0].any()


def test_plants_are_taken_in_the_order_of_how_well_they_fit():
    foot = Foot(ways=2)
    foot.planted_rows[14:40, 1] = foot.planted_rows[N + 30 : N + 50, :2] = True
    foot.points[:N, 1, 0], foot.points[N:, 1, 0] = 0.04, 0.01
    total, count = foot.fill()
    second = np.flatnonzero(foot.held == 2)
    assert second.tolist() == list(range(30, 50))
    assert foot.planted[second].tolist() == [[True, True, False, False]] * 20
    first = np.flatnonzero(foot.held == 3)
    assert first.tolist() == list(range(14, 30 - frames_between(0.03) + 1))
    assert foot.places[first, 0] == pytest.approx(0.04)
    assert count == 20 + 7
    assert total == pytest.approx(20 * 0.01 + 7 * 0.04)


@pytest.mark.parametrize(("frames", "held"), [(3, 0), (4, 4)])
def test_a_plant_has_at_least_four_frames(frames, held):
    foot = Foot()
    foot.planted_rows[20 : 20 + frames, 1] = True
    foot.fill()
    assert np.count_nonzero(foot.held != NOT_HELD) == held


@pytest.mark.parametrize(("away", "held"), [(0.30, 20), (0.31, 0)])
def test_a_plant_is_left_that_the_blend_is_six_inches_from_on_the_average(away, held):
    foot = Foot()
    foot.planted_rows[20:40, 1] = True
    foot.foot[25:35, 0] = away
    foot.fill()
    assert np.count_nonzero(foot.held != NOT_HELD) == held
