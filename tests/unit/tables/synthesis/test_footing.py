"""Plants between the seams: where they fit, how long, and heels that stand before and after."""

import numpy as np
import pytest

from motionloom._core import kernel, record
from motionloom.tables.synthesis.synthesis import NOT_HELD, Rows, blend_record
from tests.oracles import footing as plain
from tests.oracles.seams import Foot as PlainFoot

FPS, SPEED, REACH = 60.0, 5.0, 0.9
N = 60
LEG = np.array([0.0, -0.8, 0.0])

fill_plants, choose_plants = kernel("ml_footing_fill"), kernel("ml_footing_choose")


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
        """First and last frame that are left of a plant at a place, by what is then held."""
        self.planted_rows[first : last + 1, 1] = True
        self.points[first : last + 1, 1] = place
        before = self.held.copy()
        self.fill()
        taken = np.flatnonzero(self.held != before)
        self.held = before
        self.planted_rows[:] = False
        return (int(taken[0]), int(taken[-1])) if len(taken) else None

    def fill(self):
        totals = np.zeros(2)
        blend = blend_record(self.rows, self.at, np.zeros(self.at.shape[::-1]), FPS, SPEED)
        foot = record(
            "ml_blend_foot", blend=blend, side=0, heel=self.heel, ball=self.foot, legs=self.legs,
            reach=REACH,
        )  # fmt: skip
        fill_plants(
            foot, np.zeros(N), np.zeros((N, 3)), self.held, self.places, self.planted, totals
        )
        return totals[0], int(totals[1])


def test_a_plant_where_the_blend_has_its_foot_is_six_frames_from_both_seams():
    assert Foot().cut(0, N - 1, [0.0, 0.0, 0.0]) == (6, N - 1 - 6)
    assert Foot().cut(10, 20, [0.0, 0.0, 0.0]) == (10, 20)


def test_a_plant_is_as_far_from_the_seams_as_its_way_needs():
    frames = frames_between(0.09)
    assert Foot().cut(0, N - 1, [0.09, 0.0, 0.0]) == (frames, N - 1 - frames)
    # More than a decimetre away the foot cannot arrive.
    assert Foot().cut(0, N - 1, [0.0, 0.0, 0.11]) is None


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
    assert foot.cut(5, 55, [0.0, 0.0, 0.0]) is None


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
    assert foot.cut(0, N - 1, [0.09, 0.0, 0.0]) is None


@pytest.mark.parametrize(("heel_first", "begins"), [(15, 15), (2, 6)])
def test_a_heel_stands_before_its_ball(heel_first, begins):
    foot = Foot()
    foot.planted_rows[20:31, 1] = True
    foot.planted_rows[heel_first:31, 0] = True
    foot.fill()
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(begins, 31))
    assert np.flatnonzero(foot.planted[:, 0]).tolist() == list(range(begins, 31))
    assert np.flatnonzero(foot.planted[:, 1]).tolist() == list(range(20, 31))
    assert not foot.planted[:, 2:].any()


@pytest.mark.parametrize(("heel_last", "ends"), [(45, 45), (N - 2, N - 1 - 6)])
def test_a_heel_stands_after_its_ball(heel_last, ends):
    foot = Foot()
    foot.planted_rows[20:31, 1] = True
    foot.planted_rows[20 : heel_last + 1, 0] = True
    foot.fill()
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(20, ends + 1))
    assert np.flatnonzero(foot.planted[:, 0]).tolist() == list(range(20, ends + 1))


def test_a_heel_stands_before_its_ball_after_an_earlier_hold():
    foot = Foot()
    foot.held[:8] = 0
    foot.planted_rows[20:31, 1] = True
    foot.planted_rows[2:31, 0] = True
    foot.fill()
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(7 + 6, 31))


def test_a_heel_that_does_not_stand_adds_nothing():
    foot = Foot()
    foot.planted_rows[20:31, :2] = True
    foot.fill()
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(20, 31))
    assert np.flatnonzero(foot.planted[:, :2].any(axis=1)).tolist() == list(range(20, 31))


def test_a_heel_stops_where_its_ball_would_be_in_the_ground():
    foot = Foot()
    foot.planted_rows[10:31, 0] = True
    foot.planted_rows[20:31, 1] = True
    foot.heel[:15, 1] = 0.02
    foot.fill()
    assert np.flatnonzero(foot.held == 2).tolist() == list(range(15, 31))


def test_a_heel_stops_where_the_blend_is_far_from_it():
    foot = Foot()
    foot.planted_rows[10:31, 0] = True
    foot.planted_rows[20:31, 1] = True
    foot.heel[:17, 2] = -0.11
    foot.fill()
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


def choose(foot, weights):
    """What holds the left foot in all frames, and its labels; the right foot is in the air."""
    held, places = np.zeros((2, N), dtype=np.int64), np.zeros((2, N, 3))
    planted, error = np.zeros((N, 4), dtype=bool), np.zeros(1)
    soles = np.zeros((2, 2, N, 3))
    soles[0] = foot.heel, foot.foot
    choose_plants(
        blend_record(foot.rows, foot.at, weights, FPS, SPEED), np.zeros(N), np.zeros((N, 3)), soles,
        np.stack([foot.legs, foot.legs]), np.full(2, REACH), np.zeros((12, N)), held,
        places, planted, error,
    )  # fmt: skip
    return held[0], places[0], planted


def test_a_foot_that_all_windows_stand_on_is_held_where_the_blend_has_it():
    # Both windows have their feet too far from the blend's to be held there: they would slide.
    foot, weights = Foot(ways=2), np.full((2, N), 0.5)
    foot.planted_rows[[*range(20, 40), *range(N + 20, N + 40)], 1] = True
    foot.points[:N, 1, 0], foot.points[N:, 1, 0] = 0.2, -0.2
    foot.foot[:, 0] = 0.001 * (np.arange(N) - 29.5)
    held, places, planted = choose(foot, weights)
    assert np.flatnonzero(held != NOT_HELD).tolist() == list(range(20, 40))
    assert np.unique(held[20:40]).size == 1
    assert places[20:40] == pytest.approx(np.zeros((20, 3)), abs=1e-12)
    assert planted[20:40, 1].all() and not planted[:, 0].any()


@pytest.mark.parametrize(("weight", "held"), [(0.49, 0), (0.51, 20)])
def test_windows_agree_by_their_weights(weight, held):
    foot = Foot(ways=2)
    foot.planted_rows[20:40, 1] = True
    foot.points[:N, 1, 0] = 0.2
    weights = np.stack([np.full(N, weight), np.full(N, 1.0 - weight)])
    assert np.count_nonzero(choose(foot, weights)[0] != NOT_HELD) == held


def random_feet(rng, n, n_ways, share):
    """Both feet of a blend that hardly moves, of windows that stand for some frames each."""
    total = n * n_ways
    labels = np.repeat(rng.random((total // 6 + 1, 4)) < share, 6, axis=0)[:total]
    points = np.cumsum(0.001 * rng.normal(size=(total, 4, 3)), axis=0).astype(np.float32)
    none = np.zeros((total, 1, 4), dtype=np.float32), np.zeros((total, 1, 3), dtype=np.float32)
    heading = np.cumsum(0.003 * rng.normal(size=total))
    ground = np.cumsum(0.001 * rng.normal(size=(total, 2)), axis=0)
    rows = Rows(heading, ground, *none, points, labels)
    at = np.arange(total).reshape(n_ways, n).T.copy()
    soles = np.cumsum(0.003 * rng.normal(size=(2, 2, n, 3)), axis=2)
    legs = LEG + 0.03 * rng.normal(size=(2, n, 3))
    psi = np.cumsum(0.01 * rng.normal(size=n))
    root = np.cumsum(0.002 * rng.normal(size=(n, 3)), axis=0)
    return rows, at, soles, legs, psi, root


@pytest.mark.parametrize(("n", "n_ways"), [(1, 1), (2, 2), (7, 3), (60, 2), (60, 3), (61, 4)])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_the_kernel_matches_its_plain_form(n, n_ways, share):
    rng = np.random.Generator(np.random.PCG64(n))
    taken = 0
    for _ in range(8):
        rows, at, soles, legs, psi, root = random_feet(rng, n, n_ways, share)
        weights = rng.dirichlet(np.ones(n_ways), size=n).T.copy()
        reaches, error = np.array([0.9, 0.88]), np.zeros(1)
        held, places = np.zeros((2, n), dtype=np.int64), np.zeros((2, n, 3))
        planted = np.zeros((n, 4), dtype=bool)
        choose_plants(
            blend_record(rows, at, weights, FPS, SPEED), psi, root, soles, legs, reaches,
            np.zeros((12, n)), held, places, planted, error,
        )  # fmt: skip
        feet = tuple(
            PlainFoot(rows, at, k, *soles[k], legs[k], float(reaches[k]), FPS, SPEED)
            for k in range(2)
        )
        expected = plain.choose_plants(feet, weights, psi, root)
        assert (held == expected[0]).all()
        assert np.abs(places - expected[1])[held != NOT_HELD].max(initial=0.0) < 1e-12
        assert (planted == expected[2]).all()
        assert error[0] == pytest.approx(expected[3], abs=1e-12)
        taken += np.count_nonzero(held > 1)
    assert taken > 0 or n < 60
