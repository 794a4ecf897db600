import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.cleanup.legs import NEAR_S, Hold, fit_targets
from motionloom.errors import ArrayError
from tests.oracles import targets as plain

FPS = 100.0
RIGID_M = 1e-12
FOOT_M = 0.2


def flat_foot(n=60, slide=0.0):
    """A left foot flat on the ground that slides along z; the right one far away."""
    points = np.zeros((n, 4, 3))
    points[:, 1, 2] = FOOT_M
    points[:, :2, 2] += slide * np.arange(n)[:, None] / FPS
    points[:, 2:, 0] = 1.0
    points[:, 3, 2] = FOOT_M
    return points


def fit(holds, points):
    return fit_targets(tuple(holds), points, np.gradient(points, axis=0) * FPS, FPS)


def test_a_point_at_rest_stays_where_it_is():
    points = flat_foot()
    points[:, :, 1] = 0.04
    places, strays = fit([Hold(0, (5, 40), (5, 40)), Hold(3, (5, 40), (5, 40))], points)
    assert places == pytest.approx(np.array([[0, 0.04, 0], [1, 0.04, FOOT_M]]), abs=RIGID_M)
    assert strays.max() < RIGID_M


def test_an_even_slide_is_held_at_its_middle():
    places, strays = fit([Hold(0, (0, 40), (0, 40))], flat_foot(slide=0.5))
    assert places[0, 2] == pytest.approx(0.5 * 20 / FPS)
    assert strays[0] == pytest.approx(0.5 * 20 / FPS)


def test_frames_at_rest_count_most():
    points = flat_foot()
    points[31:, 0, 2] += 0.01 * np.arange(29)
    places, _ = fit([Hold(0, (0, 40), (0, 40))], points)
    assert abs(places[0, 2]) < 1e-3
    assert points[:41, 0, 2].mean() > 0.01


def test_heel_and_ball_held_together_are_as_far_apart_as_in_the_foot():
    rng = np.random.Generator(np.random.PCG64(3))
    points = flat_foot() + rng.normal(scale=0.02, size=(60, 4, 3))
    sole = np.linalg.norm(points[:, 1] - points[:, 0], axis=-1)
    holds = [Hold(0, (5, 30), (5, 30)), Hold(1, (12, 50), (12, 50)), Hold(0, (45, 55), (45, 55))]
    places, _ = fit(holds, points)
    for i, j in ((0, 1), (1, 2)):
        assert abs(np.linalg.norm(places[i] - places[j]) - np.median(sole)) < RIGID_M


def test_holds_that_follow_closely_keep_the_step_between_them():
    points = flat_foot(slide=0.5)
    near = [Hold(0, (0, 20), (0, 20)), Hold(1, (22, 50), (22, 50))]
    far = [Hold(0, (0, 20), (0, 20)), Hold(1, (35, 59), (35, 59))]
    step = points[22, 1] - points[20, 0]
    places, _ = fit(near, points)
    assert places[1] - places[0] == pytest.approx(step, abs=0.01)
    alone, _ = fit(near[:1], points)
    apart, _ = fit(far, points)
    assert apart[0] == pytest.approx(alone[0])


def test_no_holds_need_no_places():
    places, strays = fit([], flat_foot())
    assert places.shape == (0, 3)
    assert strays.shape == (0,)


@pytest.mark.parametrize("n_holds", [1, 2, 5, 40])
def test_places_are_those_of_the_plain_form(n_holds):
    rng = np.random.Generator(np.random.PCG64(n_holds))
    points = flat_foot(200, slide=0.3) + rng.normal(scale=0.01, size=(200, 4, 3))
    spans = np.sort(rng.integers(0, 200, size=(n_holds, 2)), axis=1)
    spans[:, 1] = np.minimum(spans[:, 1], spans[:, 0] + 30)
    spans[n_holds // 2 :: 4] = spans[0]  # the same frames more than once
    kinds = rng.integers(0, 4, size=n_holds).tolist()
    holds = tuple(Hold(k, (a, b), (a, b)) for k, (a, b) in zip(kinds, spans.tolist(), strict=True))
    velocities = np.gradient(points, axis=0) * FPS
    places, strays = fit_targets(holds, points, velocities, FPS)
    expected = plain.fit_targets(holds, points, velocities, NEAR_S * FPS)
    assert np.abs(places - expected[0]).max() < 1e-12
    assert np.abs(strays - expected[1]).max() < 1e-12


@pytest.mark.parametrize(
    ("span", "order", "n_left"), [((0, 0, 9), 0, 1), ((0, 0, 3), 1, 1), ((0, 0, 3), 0, 2)]
)
def test_holds_that_do_not_fit_are_refused(span, order, n_left):
    points, place = np.zeros((9, 4, 3)), kernel("ml_hold_place")
    holds = (1, np.array([span]), np.array([order]), n_left)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        place(9, points, points, *holds, 4.0, np.zeros(9), np.zeros((1, 3)), np.zeros(1))
