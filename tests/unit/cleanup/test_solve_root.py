import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.cleanup.solve import least_shift, shift_root, still_legs
from tests.oracles import root as plain

CLOSE = 1e-9


def standing(n=80):
    """Hips over ankles, legs of 0.8 m on a reach of 0.85 m."""
    hips = np.zeros((n, 2, 3))
    hips[:, 0, 0], hips[:, 1, 0] = 0.1, -0.1
    hips[..., 1] = 0.8
    ankles = hips * np.array([1.0, 0.0, 1.0])
    return hips, ankles, np.full((n, 2), 0.85)


def into_both(c1, r1, c2, r2):
    """The point nearest the origin that lies in both balls: one frame of :func:`least_shift`."""
    ways = np.stack([c1, c2])[None]
    held = np.array([[True, True]])
    return least_shift(np.zeros((1, 2, 3)), ways, np.array([[r1, r2]]), held)[0]


def test_the_point_nearest_the_origin_in_two_balls():
    c1, c2 = np.array([0.0, 1.0, 0.0]), np.array([0.5, 1.0, 0.0])
    point = into_both(c1, 0.9, c2, 0.8)
    for centre, radius in ((c1, 0.9), (c2, 0.8)):
        assert np.linalg.norm(point - centre) <= radius + CLOSE
    rng = np.random.Generator(np.random.PCG64(1))
    tries = rng.uniform(-1, 2, size=(200_000, 3))
    inside = (np.linalg.norm(tries - c1, axis=1) <= 0.9) & (
        np.linalg.norm(tries - c2, axis=1) <= 0.8
    )
    assert np.linalg.norm(point) <= np.linalg.norm(tries[inside], axis=1).min() + CLOSE


def test_balls_that_do_not_meet_are_missed_by_the_same_amount():
    c1, c2 = np.array([0.0, 1.0, 0.0]), np.array([0.0, -2.0, 0.0])
    point = into_both(c1, 0.5, c2, 0.5)
    miss = [np.linalg.norm(point - c) - 0.5 for c in (c1, c2)]
    assert miss[0] == pytest.approx(miss[1])


def test_no_shift_where_everything_is_in_reach_or_nothing_is_held():
    hips, ankles, reach = standing()
    held = np.ones((80, 2), dtype=bool)
    assert not least_shift(hips, ankles, reach, held).any()
    assert not least_shift(hips, ankles, 0.1 * reach, ~held).any()


def test_one_foot_out_of_reach_pulls_the_root_just_far_enough():
    hips, ankles, reach = standing(3)
    ankles[:, 0, 2] = 0.6  # one metre from the hip
    held = np.array([[True, False]] * 3)
    shift = least_shift(hips, ankles, reach, held)
    assert np.linalg.norm(shift, axis=1) == pytest.approx(1.0 - 0.85)
    assert np.linalg.norm(hips[:, 0] + shift - ankles[:, 0], axis=1) == pytest.approx(0.85)


def solved(hips, targets, reach, pull, **options):
    spans = np.linalg.norm(targets - hips, axis=-1)
    settings = {"half": 8, "jitter": 3, "most": 0.2} | options
    return shift_root(hips, targets, np.minimum(spans, 0.8), reach, pull, **settings)


def test_after_smoothing_every_held_ankle_is_still_within_reach():
    hips, ankles, reach = standing()
    ankles[:, 0, 2] = 0.5 * np.sin(np.linspace(0, 3 * np.pi, 80))
    pull = np.zeros((80, 2))
    pull[20:60] = 1.0
    shift = solved(hips, ankles, reach, pull)
    far = np.linalg.norm(hips + shift[:, None] - ankles, axis=-1)
    assert (far[20:60] <= reach[20:60] + CLOSE).all()
    assert np.abs(np.diff(shift, 2, axis=0)).max() < 0.01


def test_the_root_does_not_move_far_from_what_is_held():
    hips, ankles, reach = standing()
    ankles[:, 0, 2] = 0.5
    pull = np.zeros((80, 2))
    pull[30:34] = 1.0
    shift = solved(hips, ankles, reach, pull)
    assert shift[32, 1] < 0.0
    assert not shift[:14].any()
    assert not shift[50:].any()


def test_legs_that_may_stretch_need_less():
    hips, ankles, reach = standing()
    ankles[:, 0, 2] = 0.5 * np.sin(np.linspace(0, 9 * np.pi, 80))
    pull = np.ones((80, 2))
    rigid = solved(hips, ankles, reach, pull)
    loose = solved(hips, ankles, reach, pull, most=None)
    assert np.abs(loose).max() < np.abs(rigid).max()


def test_jitter_of_a_held_leg_goes_to_the_root_and_slow_changes_do_not():
    hips, ankles, _ = standing()
    spans = np.linalg.norm(ankles - hips, axis=-1)
    pull = np.zeros((80, 2))
    pull[:, 0] = 1.0
    trembling = ankles.copy()
    trembling[::2, 0, 1] -= 0.002
    still = still_legs(hips, trembling, spans, pull, 5)
    left = np.linalg.norm(hips[:, 0] + still - trembling[:, 0], axis=-1)
    assert np.abs(np.diff(left))[8:-8].max() < 0.2 * 0.002
    slow = ankles.copy()
    slow[:, 0, 1] -= np.linspace(0, 0.05, 80)
    assert np.abs(still_legs(hips, slow, spans, pull, 5))[8:-8].max() < 1e-4


@pytest.mark.parametrize(("length", "takes"), [(0.8, True), (0.3, False)])
def test_the_root_takes_up_the_tremble_of_open_legs_only(length, takes):
    hips, ankles, reach = standing()
    hips[..., 1] = length
    spans = np.linalg.norm(ankles - hips, axis=-1)
    trembling = ankles.copy()
    trembling[::2, 0, 1] -= 0.002
    pull = np.tile([1.0, 0.0], (80, 1))
    shift = shift_root(hips, trembling, spans, reach, pull, half=8, jitter=3, most=0.1)
    assert np.abs(shift)[8:-8].max() == pytest.approx(0.0009 if takes else 0.0, rel=0.1)


def legs(rng, n, spread):
    """Hips, ankles, reach and holds; ankles from within reach to far out of it."""
    hips = rng.normal(scale=0.1, size=(n, 2, 3)) + np.array([0.0, 0.8, 0.0])
    ankles = rng.normal(scale=spread, size=(n, 2, 3))
    return hips, ankles, rng.uniform(0.3, 1.2, size=(n, 2)), rng.random((n, 2)) < 0.7


@pytest.mark.parametrize("n", [0, 1, 3, 800])
@pytest.mark.parametrize("spread", [0.05, 0.3, 2.0])
def test_shifts_are_those_of_the_plain_forms(n, spread):
    rng = np.random.Generator(np.random.PCG64(n))
    hips, ankles, reach, held = legs(rng, n, spread)
    ankles[::9, 1] = ankles[::9, 0] - hips[::9, 0] + hips[::9, 1]  # one ball in the other
    ankles[::7] = hips[::7]
    shifts = least_shift(hips, ankles, reach, held)
    expected = plain.least_shift(hips, ankles, reach, held)
    assert np.abs(shifts - expected).max(initial=0.0) < 1e-12
    drop = np.zeros(n)
    kernel("ml_root_drop")(n, hips, ankles, reach, held, shifts, 0.1, drop)
    lower = plain.drop(hips, ankles, reach, held, shifts, 0.1)
    assert np.abs(drop - lower).max(initial=0.0) < 1e-12
    pull = np.where(held, 1.0, np.round(rng.random((n, 2)), 1))
    spans = np.linalg.norm(ankles - hips, axis=-1) + rng.normal(scale=0.003, size=(n, 2))
    for half in (1, 4, 30):
        still = still_legs(hips, ankles, spans, pull, half)
        if n:
            expected = plain.still_legs(hips, ankles, spans, pull, half)
            assert np.abs(still - expected).max() < 1e-12


def test_an_origin_on_the_axis_of_two_balls_that_hardly_meet():
    c1, c2 = np.array([0.0, 1.0, 0.0]), np.array([0.0, -1.0, 0.0])
    assert into_both(c1, 1.0, c2, 1.0) == pytest.approx(np.zeros(3), abs=1e-9)
    for off in (0.0, 1e-13, 1e-7):
        moved = c2 + np.array([off, 0.0, 0.0])
        expected = plain.project_two_balls(c1, 0.9, moved, 1.2)
        assert into_both(c1, 0.9, moved, 1.2) == pytest.approx(expected, abs=1e-12)


def test_without_frames_of_jitter_nothing_is_still():
    hips, ankles, reach = standing()
    spans = 0.7 * reach
    assert not still_legs(hips, ankles, spans, np.ones((80, 2)), 0).any()
