"""Times of a splice: who walks, where the action starts, which end is taken."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.root_motion import in_place
from motionloom.registration.curve import fit_spline
from motionloom.registration.timewarp import find_end_path
from motionloom.splicing import timing
from motionloom.splicing.gait_points import averaged, comparable, marches, travels
from motionloom.splicing.gait_points import gait_points as points_of
from motionloom.splicing.timing import _go_on, _nearest, find_upper_times, own_times


def gait_points(kind, *, still=False):
    motion = ml.synthetic.clip(kind).motion
    motion = in_place(motion) if still else motion
    return points_of(motion, ml.BodyMap.guess(motion.skeleton)), motion.fps


@pytest.mark.parametrize("kind", ["walk", "jog", "stairs", "carry", "push"])
def test_gaits_travel_and_on_the_spot_they_march(kind):
    assert travels(*gait_points(kind))
    assert not travels(*gait_points(kind, still=True))
    if kind != "push":  # which takes short steps
        assert marches(*gait_points(kind, still=True))


@pytest.mark.parametrize("kind", ["wave", "punch", "kick", "stand", "turn"])
def test_actions_on_the_spot_neither_travel_nor_march(kind):
    assert not travels(*gait_points(kind))
    assert not marches(*gait_points(kind))


@pytest.mark.parametrize(
    ("distance", "first"),
    [([1, 2, 0], 0), ([3, 1, 2, 0, 5], 1), ([3, 2, 1], 2), ([2, 2, 2], 0), ([3, 1, 1, 2], 2)],
)
def test_the_action_starts_at_the_first_frame_nearer_than_its_neighbours(distance, first):
    assert _nearest(np.array(distance, dtype=float))[0] == first


def test_a_path_that_hurries_does_not_come_cheap():
    """A dear diagonal and a lane of half its price at twice the pace."""
    cost = np.full((40, 80), 1.0)
    at = np.arange(40)
    cost[at, 2 * at] = cost[at[:-1], 2 * at[:-1] + 1] = 0.8
    hurried = find_end_path(cost, slope_limit=1, at_least=20)
    paced = find_end_path(cost, slope_limit=1, at_least=20, per_frame=True)
    assert np.ptp(hurried.cells[:, 1]) > 1.8 * np.ptp(hurried.cells[:, 0])
    assert np.array_equal(paced.cells[:, 0], paced.cells[:, 1])


def test_own_times_last_as_long_as_both_clips():
    a, b = (ml.synthetic.clip("walk", duration_s=s).motion for s in (1.0, 2.0))
    assert len(own_times(a, b).frames) == len(own_times(b, a).frames) == a.n_frames


def test_the_ground_that_a_body_stands_on_and_its_size_do_not_matter():
    walk = ml.synthetic.clip("walk", turn=0.8, duration_s=3.0).motion
    carry = ml.synthetic.clip("carry", duration_s=4.0).motion
    plain = ml.splice(carry, walk).timewarp.frames
    raised = walk.replace(root_positions=walk.root_positions + np.array([0.0, 0.3, 0.0]))
    assert np.abs(ml.splice(carry, raised).timewarp.frames - plain).max() < 1e-6


@pytest.mark.parametrize(
    ("fps", "compared", "frames_per_knot"),
    [(60.0, 30.0, 8.1), (30.0, 30.0, 8.1), (6.0, 6.0, 1.62), (3.0, 3.0, 1.0)],
)
def test_control_points_are_a_quarter_second_apart_and_no_closer_than_frames(
    fps, compared, frames_per_knot, monkeypatch
):
    fitted = []

    def watched(u, values, n_points, **keywords):
        fitted.append((values[-1].mean() - values[0].mean(), n_points))
        assert u[0] == 0.0
        assert u[-1] == pytest.approx(n_points - 2.0)
        return fit_spline(u, values, n_points, **keywords)

    monkeypatch.setattr(timing, "fit_spline", watched)
    walk, carry = (
        ml.synthetic.clip(kind, duration_s=6.0, fps=fps).motion for kind in ("walk", "carry")
    )
    times = find_upper_times(walk, carry, ml.BodyMap.guess(walk.skeleton))
    assert times.stride == fps / compared
    ((length, n_points),) = fitted
    assert n_points == 2 + np.ceil(length / frames_per_knot)
    assert (np.diff(times.frames) > 0.0).all()


def test_averages_keep_constants_and_weigh_as_a_bell_does():
    assert averaged(np.full(9, 3.0), 0.5, 10.0) == pytest.approx(np.full(9, 3.0))
    impulse = np.zeros(11)
    impulse[5] = 1.0
    bell = np.sin(np.pi * np.arange(1, 6) / 6.0) ** 2
    found = averaged(impulse, 0.4, 10.0)  # 4 frames, made 5
    assert found == pytest.approx(np.r_[np.zeros(3), bell / bell.sum(), np.zeros(3)])
    assert averaged(np.array([1.0, 5.0]), 10.0, 10.0) == pytest.approx([2.0, 4.0])


def test_times_go_on_at_the_last_pace_past_the_end_of_the_curve():
    """A straight curve whose second clip goes 3 frames while its first one goes 2."""
    spline = fit_spline(
        np.array([0.0, 1.0, 2.0]), np.array([[0.0, 1.0], [2.0, 4.0], [4.0, 7.0]]), 4
    )
    found = _go_on(spline, np.array([0.0, 1.0, 4.0, 5.0, 8.0]))
    assert found == pytest.approx([1.0, 2.5, 7.0, 8.5, 13.0], abs=1e-6)


def test_compared_bodies_have_one_size_and_stand_on_level_ground():
    knee = np.array([[0.0, 0.0, 0.0], [0.2, -0.3, 0.6], [-0.3, -0.6, 0.2]])  # 0.7 m from the root
    root = np.stack([np.arange(8.0), np.full(8, 2.5), -np.arange(8.0)], axis=-1)
    points = root[:, None] + knee
    found = comparable(points, 30.0, travel=True)
    expected = (points - np.array([0.0, 2.5, 0.0])) * (0.45 / 0.7)
    assert found == pytest.approx(expected)
    still = comparable(points, 30.0, travel=False)
    assert still == pytest.approx(np.broadcast_to(knee * (0.45 / 0.7), (8, 3, 3)))
