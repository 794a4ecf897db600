from types import SimpleNamespace

import numpy as np
import pytest

from motionloom.cleanup.foot import hold_feet, read_feet
from motionloom.cleanup.ground import ground_under, lift_out
from motionloom.cleanup.holds import Hold
from motionloom.motion.body import BodyMap
from motionloom.motion.feet import foot_points
from motionloom.motion.knees import find_knees
from motionloom.synthetic import clip


def test_the_ground_runs_from_hold_to_hold():
    motion = clip("walk").motion
    body = BodyMap.guess(motion.skeleton)
    pose = motion.world_pose()
    feet = read_feet(
        find_knees(motion.skeleton, body, motion=motion),
        body,
        pose,
        foot_points(motion, body=body, pose=pose),
    )
    holds = (Hold(0, (10, 20), (10, 20)), Hold(0, (40, 50), (40, 50)))
    foot = hold_feet(feet, holds, np.array([[0, 0.1, 0], [0, 0.3, 0.5]]))[0]
    ground = ground_under(foot)
    assert np.allclose(ground[[0, 15, 30, 45], 0], [0.1, 0.1, 0.2, 0.3])
    assert np.isneginf(ground[:, 1]).all()


def test_a_foot_is_lifted_only_as_far_as_clean_up_pushed_it_in():
    ground = np.full((4, 2), 0.05)
    before = np.array([[0.06, 0.05], [0.02, 0.05], [0.06, 0.05], [0.06, 0.05]])
    after = np.array([[0.03, 0.05], [0.02, 0.05], [0.07, 0.06], [0.03, 0.01]])
    lift = lift_out(before, after, ground, np.zeros(4))
    assert np.allclose(lift, [0.02, 0.0, 0.0, 0.04])
    assert not lift_out(before, after, ground, np.ones(4)).any()


def test_a_smoothed_lift_is_nowhere_too_low_and_has_no_step():
    n = 60
    ground, before = np.full((n, 2), 0.05), np.full((n, 2), 0.05)
    after = np.full((n, 2), 0.05)
    after[20:31] = 0.03
    sharp = lift_out(before, after, ground, np.zeros(n))
    smooth = lift_out(before, after, ground, np.zeros(n), half=5)
    assert (smooth >= sharp - 1e-12).all()
    assert np.abs(np.diff(smooth)).max() < 0.3 * np.abs(np.diff(sharp)).max()
    assert not smooth[:10].any()
    assert not smooth[41:].any()


@pytest.mark.parametrize("n", [0, 1, 2, 90])
def test_the_ground_is_drawn_straight_between_held_frames(n):
    rng = np.random.Generator(np.random.PCG64(n))
    places = rng.normal(size=(n, 2, 3))
    held = np.stack([rng.random(n) < 0.2, np.zeros(n, dtype=bool)], axis=1)
    ground = ground_under(SimpleNamespace(held=held, places=places))
    at = np.flatnonzero(held[:, 0])
    expected = np.interp(np.arange(n), at, places[at, 0, 1]) if at.size else np.full(n, -np.inf)
    assert np.array_equal(ground[at, 0], places[at, 0, 1])
    assert np.allclose(ground[:, 0], expected, rtol=0.0, atol=1e-14)
    assert np.isneginf(ground[:, 1]).all()
