"""Times of a splice: who walks, where the action starts, which end is taken."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.registration.timewarp import find_end_path
from motionloom.splicing.timing import _first_match, _gait_points, marches, own_times, travels


def gait_points(kind, *, still=False):
    motion = ml.synthetic.clip(kind).motion
    motion = ml.motion.root_motion.in_place(motion) if still else motion
    return _gait_points(motion, ml.BodyMap.guess(motion.skeleton)), motion.fps


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
    assert _first_match(np.array(distance, dtype=float)) == first


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
