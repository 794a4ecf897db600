"""Shifts of a foot between its holds, and above the ground, in closed form."""

import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.tables.synthesis.synthesis import (
    NOT_HELD,
    Foot,
    Rows,
    clear_ground,
    run_offsets,
)
from tests.oracles import swing as plain

FPS = 60.0


def smooth(u):
    u = np.clip(u, 0.0, 1.0)
    return u * u * (3.0 - 2.0 * u)


def holds(n, *spans):
    held = np.full(n, NOT_HELD, dtype=np.int64)
    for number, (first, last) in enumerate(spans):
        held[first : last + 1] = number
    return held


def offsets_of(held, places, foot, *, captured=False):
    return run_offsets(held, places, foot, captured=captured)


@pytest.mark.parametrize(
    ("last", "first", "lift"),
    [
        (9, 30, 0.05),
        (9, 20, 2.4e-4 * 11**2),  # a quick step stays low
    ],
)
def test_a_step_from_hold_to_hold_is_eased_and_lifted(last, first, lift):
    n, a, b = 40, np.array([0.1, 0.0, 0.0]), np.array([0.1, 0.0, 0.2])
    foot, places = np.zeros((n, 3)), np.zeros((n, 3))
    places[: last + 1], places[first:] = a, b
    offsets = offsets_of(holds(n, (0, last), (first, n - 1)), places, foot)
    u = (np.arange(last, first + 1) - last) / (first - last)
    expected = (1.0 - smooth(u))[:, None] * a + smooth(u)[:, None] * b
    expected[:, 1] += lift * 16.0 * u**2 * (1.0 - u) ** 2
    assert offsets[last : first + 1] == pytest.approx(expected)
    assert (offsets[: last + 1] == a).all() and (offsets[first:] == b).all()


def test_a_long_step_is_lifted_by_five_centimetres_and_a_short_one_not():
    n = 61
    for way, top in ((0.6, 0.05), (0.024, 0.0)):
        foot, places = np.zeros((n, 3)), np.zeros((n, 3))
        places[41:, 0] = way
        offsets = offsets_of(holds(n, (0, 19), (41, 60)), places, foot)
        assert offsets[30, 1] == pytest.approx(top)
        assert offsets[:, 1].max() == offsets[30, 1]


def test_a_step_that_the_blend_lifts_already_is_lifted_by_what_is_missing():
    n = 61
    foot, places = np.zeros((n, 3)), np.zeros((n, 3))
    foot[20:41, 1] = 0.02
    places[41:, 0] = 0.6
    offsets = offsets_of(holds(n, (0, 19), (41, 60)), places, foot)
    assert offsets[30, 1] == pytest.approx(0.03)


def test_an_offset_runs_out_where_nothing_asks_for_the_foot():
    n, a = 80, np.array([0.0, 0.01, 0.08])
    foot, places = np.zeros((n, 3)), np.zeros((n, 3))
    places[30:41] = a
    offsets = offsets_of(holds(n, (30, 40)), places, foot)
    t = np.arange(n)
    # A gap of at most 30 frames is crossed evenly; in a wider one it takes 15 frames.
    after = (1.0 - smooth((t - 40) / 15.0))[:, None] * a
    assert offsets[40:79] == pytest.approx(after[40:79])
    before = smooth(t / 30.0)[:, None] * a
    assert offsets[:31] == pytest.approx(before[:31])
    assert (offsets[[0, -1]] == 0.0).all()


def test_neighbouring_holds_are_not_changed():
    n = 8
    foot = np.arange(3.0 * n).reshape(n, 3)
    places = foot[::-1].copy()
    held = np.array([0, 0, 1, 1, 2, 2, 2, 3])
    assert (offsets_of(held, places, foot) == places - foot).all()


def test_a_foot_goes_on_at_the_speed_that_it_is_let_go_with():
    n, speed = 60, 0.002
    foot, places = np.zeros((n, 3)), np.zeros((n, 3))
    foot[:, 2] = -speed * np.arange(n)  # the hold stays while the blend goes away
    offsets = offsets_of(holds(n, (0, 9)), places, foot)
    gone = np.arange(50)
    left = np.maximum(1.0 - gone / 20.0, 0.0)
    expected = 9 * speed * (1.0 - smooth(gone / 15.0)) + speed * gone * left**2
    assert offsets[9:59, 2] == pytest.approx(expected[:50])
    assert offsets[9:59, [0, 1]] == pytest.approx(0.0)


def test_a_foot_comes_to_its_hold_as_it_leaves_one():
    n = 60
    rng = np.random.Generator(np.random.PCG64(8))
    foot = np.cumsum(0.004 * rng.normal(size=(n, 3)), axis=0)
    places = np.zeros((n, 3))
    held = holds(n, (0, 12), (33, 40))
    forwards = offsets_of(held, places, foot)
    backwards = offsets_of(held[::-1].copy(), places[::-1].copy(), foot[::-1].copy())
    assert forwards == pytest.approx(backwards[::-1])


class Ground:
    """A foot in the air at both ends of a blend of windows that stand at some height."""

    def __init__(self, n=41, *, heel=0.05, ball=0.0, ways=1):
        self.n = n
        points = np.zeros((n * ways, 4, 3), dtype=np.float32)
        points[:, [0, 2], 1], points[:, [1, 3], 1] = heel, ball
        none = np.zeros(n * ways)
        self.rows = Rows(
            none,
            np.zeros((n * ways, 2)),
            np.zeros((n * ways, 1, 4), dtype=np.float32),
            np.zeros((n * ways, 1, 3), dtype=np.float32),
            points,
            np.zeros((n * ways, 4), dtype=bool),
        )
        self.at = np.arange(n * ways).reshape(ways, n).T.copy()
        self.weights = np.full((ways, n), 1.0 / ways)
        self.ball = np.tile([0.0, 0.2, 0.1], (n, 1))
        self.heel = np.tile([0.0, 0.25, 0.0], (n, 1))

    def cleared(self, held=None, side=0):
        held = holds(self.n) if held is None else held
        offsets, foot = np.zeros((self.n, 3)), Foot(side, held, self.heel, self.ball)
        tilts = clear_ground(self.rows, self.at, self.weights, foot, FPS, offsets, captured=False)
        return offsets, tilts


def bump(n, at, width):
    """What spreads from one frame, down to nothing over some frames."""
    left = 1.0 - ((np.arange(n) - at) / width) ** 2
    return np.where(np.abs(np.arange(n) - at) < width, np.maximum(left, 0.0) ** 2, 0.0)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("heel", "ball"), [(0.05, 0.0), (-0.01, 0.02)])
def test_a_foot_below_the_lowest_point_of_its_windows_comes_up_to_it(side, heel, ball):
    ground = Ground(heel=heel, ball=ball)
    low = min(heel, ball)
    ground.ball[20, 1] = low - 0.02
    offsets, tilts = ground.cleared(side=side)
    # It is as high as balls stand that do not go fast, but no more than 3.5 cm over the floor.
    wanted = min(ball, low + 0.035) - (low - 0.02)
    assert offsets[:, 1] == pytest.approx(np.maximum(wanted, 0.02) * bump(41, 20, 10.0))
    assert (offsets[:, [0, 2]] == 0.0).all() and (tilts == 0.0).all()


@pytest.mark.parametrize(("first", "last"), [(28, 32), (0, 0), (40, 40)])
def test_the_floor_is_where_a_foot_is_held_or_at_a_seam_if_that_is_lower(first, last):
    ground = Ground()
    ground.ball[first : last + 1, 1] = -0.06
    ground.ball[20, 1] = -0.05
    offsets, _ = ground.cleared(holds(41, (first, last)) if first == 28 else None)
    # Balls stand at 0 in the windows, which is taken for no more than 3.5 cm over the floor.
    frames = 8 if first == 28 else 20
    assert offsets[20, 1] == pytest.approx(0.025 * smooth(frames / 9.0))


@pytest.mark.parametrize(("speed", "height"), [(0.1, 0.0), (0.3, 0.0175), (1.5, 0.035)])
def test_a_ball_that_goes_fast_is_lifted_over_where_it_stands(speed, height):
    ground = Ground(n=61)
    ground.ball[:, 2] = speed / FPS * np.arange(61)
    ground.heel[:, 2] = ground.ball[:, 2] - 0.1
    ground.ball[20:41, 1], ground.heel[20:41, 1] = 0.0, 0.05
    offsets, _ = ground.cleared()
    assert offsets[30, 1] == pytest.approx(height)


def test_windows_that_stand_at_different_heights_are_weighed():
    ground = Ground(ways=2)
    ground.rows.points[41:, 1, 1] = 0.02
    ground.rows.points[41:, 0, 1] = 0.07
    ground.weights = np.array([np.full(41, 0.25), np.full(41, 0.75)])
    ground.ball[20, 1] = 0.0
    offsets, _ = ground.cleared()
    assert offsets[20, 1] == pytest.approx(0.75 * 0.02)


def test_a_heel_below_the_floor_is_turned_up_about_its_ball():
    ground = Ground()
    ground.ball[:, 1] = 0.0
    ground.heel[:, 1] = 0.06
    ground.heel[18, 1] = -0.04
    held = holds(41, (0, 40))
    offsets, tilts = ground.cleared(held)
    angle = np.arcsin(0.04 / np.hypot(0.04, 0.1))
    assert (offsets == 0.0).all()
    assert tilts == pytest.approx(angle * bump(41, 18, 10.0))


def test_near_a_seam_a_heel_comes_up_in_fewer_frames():
    ground = Ground()
    ground.ball[:, 1] = 0.0
    ground.heel[:, 1] = 0.06
    ground.heel[4, 1] = -0.04
    _, tilts = ground.cleared(holds(41, (0, 40)))
    angle = np.arcsin(0.04 / np.hypot(0.04, 0.1))
    assert tilts == pytest.approx(angle * bump(41, 4, 4.0))


def random_holds(rng, n):
    """Holds of some frames each, with others between or none."""
    held, t, number = np.full(n, NOT_HELD), 0, 0
    while t < n:
        wide = int(rng.integers(1, 12))
        if rng.random() < 0.5:
            held[t : t + wide] = number
            number += 1
        t += wide
    return held


MANNERS = pytest.mark.parametrize(
    ("captured", "manner"), [(False, plain.BLENDED), (True, plain.CAPTURED)]
)


def test_captured_windows_lift_their_steps_less():
    n = 61
    foot, places = np.zeros((n, 3)), np.zeros((n, 3))
    places[41:, 0] = 0.2
    for captured, top in ((True, 0.03), (False, 0.05)):
        offsets = offsets_of(holds(n, (0, 19), (41, 60)), places, foot, captured=captured)
        assert offsets[30, 1] == pytest.approx(top)


@MANNERS
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 30, 61, 120])
def test_shifts_match_their_plain_form(n, captured, manner):
    rng = np.random.Generator(np.random.PCG64(n))
    for case in range(30):
        held = random_holds(rng, n)
        foot = np.cumsum(0.02 * rng.normal(size=(n, 3)), axis=0)
        places = np.where(case % 3 == 0, foot, foot + 0.1 * rng.normal(size=(n, 3)))
        offsets = offsets_of(held, places, foot, captured=captured)
        expected = plain.run_offsets(held, places, foot, manner=manner)
        assert np.abs(offsets - expected).max() < 1e-12


@MANNERS
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 30, 61, 120])
def test_clearances_match_their_plain_form(n, captured, manner):
    rng = np.random.Generator(np.random.PCG64(n))
    for case in range(20):
        ground, held = Ground(n, ways=1 + case % 5), random_holds(rng, n)
        ground.rows.points[..., 1] += (0.02 * rng.normal(size=(len(ground.rows.points), 4))).astype(
            np.float32
        )
        ground.weights = rng.dirichlet(np.ones(1 + case % 5), n).T.copy()
        ground.ball += np.cumsum(0.02 * rng.normal(size=(n, 3)), axis=0) - [0, 0.2, 0]
        ground.heel = ground.ball + [0.0, 0.02, -0.1] + 0.03 * rng.normal(size=(n, 3))
        before = 0.02 * rng.normal(size=(n, 3))
        offsets = before.copy()
        given = ground.rows, case % 2, ground.at, ground.weights, held, ground.heel, ground.ball
        foot = Foot(case % 2, held, ground.heel, ground.ball)
        tilts = clear_ground(
            ground.rows, ground.at, ground.weights, foot, FPS, offsets, captured=captured
        )
        expected = plain.clear_ground(*given, FPS, before, manner=manner)
        assert np.abs(offsets - expected[0]).max() < 1e-12
        assert np.abs(tilts - expected[1]).max() < 1e-12


def test_rows_that_are_not_there_and_a_third_foot_are_refused():
    ground = Ground()
    with pytest.raises(ArrayError, match="sizes do not fit"):
        ground.cleared(side=2)
    ground.at[5, 0] = 41
    with pytest.raises(ArrayError, match="sizes do not fit"):
        ground.cleared()
