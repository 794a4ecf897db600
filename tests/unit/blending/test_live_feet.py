"""Feet of a live blend: against the plain form, and what must hold of every frame."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending.control import stance_of
from motionloom.body.anatomy import foot_points
from motionloom.rotation import quat
from tests.oracles.stance import Stance

CLIPS = [
    ml.synthetic.clip(name, turn=turn, duration_s=2.5).motion
    for name, turn in (("walk", -0.8), ("walk", 0.8), ("sneak", 0.0))
]
CURVE = ml.register(CLIPS)
SIDE = ml.register([CLIPS[0], ml.mirror(CLIPS[0])])


def steered(n_frames, n_motions=3):
    rng = np.random.Generator(np.random.PCG64(5))
    stops = rng.dirichlet(np.full(n_motions, 0.6), 2 + n_frames // 60)
    at = np.arange(n_frames) / 60.0
    return np.stack([np.interp(at, np.arange(len(stops)), w) for w in stops.T], axis=-1)


def played(curve, weights, **options):
    """The poses of a live blend as a motion, and its contacts (F, 4)."""
    live = ml.control(curve, **options)
    poses = [live.step(w) for w in weights]
    motion = ml.Motion(
        curve.motions[0].skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        curve.motions[0].fps,
    )
    return motion, np.array([pose.planted for pose in poses])


def contact_speeds(motion, planted):
    """Speed of points that are planted in two frames, m/s."""
    steps = np.linalg.norm(np.diff(foot_points(motion), axis=0), axis=-1) * motion.fps
    return steps[planted[1:] & planted[:-1]]


def test_frames_are_those_of_the_plain_form():
    record = stance_of(CURVE)
    plain = Stance(record, CURVE.motions[0].skeleton)
    raw, held = (ml.control(CURVE, hold_feet=way) for way in (False, True))
    for w in steered(400):
        before, after = raw.step(w), held.step(w)
        root, quats, planted = plain.hold(before.root_position, before.local_quats, before.planted)
        assert after.planted.tolist() == planted.tolist()
        # A leg near full stretch takes the root of what is left, and every frame starts from the
        # one before: rounding grows to some micrometres.
        assert after.root_position == pytest.approx(root, abs=1e-5)
        assert quat.angle_between(after.local_quats, quats).max() < 1e-4


@pytest.mark.parametrize("options", [{}, {"backwards": True}, {"loop": False}])
def test_planted_points_stand_still(options):
    weights = steered(500)
    motion, planted = played(CURVE, weights, **options)
    slid, labels = played(CURVE, weights, hold_feet=False, **options)
    assert contact_speeds(slid, labels).max() > 0.1  # there was something to hold
    assert contact_speeds(motion, planted).max() < 1e-5
    assert planted.sum() > 0.9 * labels.sum()
    assert not (planted & ~labels).any()


def test_legs_move_about_as_smoothly_as_before():
    weights = steered(600)
    rough = []
    for hold in (True, False):
        motion, _ = played(CURVE, weights, hold_feet=hold)
        bends = np.linalg.norm(np.diff(motion.world_positions(), n=2, axis=0), axis=-1)
        rough.append(np.quantile(bends, 0.999))
    assert rough[0] < 1.5 * rough[1]


def test_a_foot_that_is_carried_too_far_is_let_go_and_not_reported():
    live = ml.control(CURVE)
    weights = steered(600)
    for w in weights[:200]:
        pose = live.step(w)
        if pose.planted.any():
            break
    kept = live._stance.places
    kept += np.array([1.0, 0.0, 0.0])  # as if the body had been moved by a metre
    later = live.step(weights[200])
    assert not (later.planted & pose.planted).any()
    after = [live.step(w) for w in weights[201:500]]
    assert any(each.planted.any() for each in after)  # held again at the next contact


def test_without_legs_poses_stay_as_they_are():
    skeleton = CLIPS[0].skeleton
    body = ml.BodyMap.guess(skeleton)
    bare = dataclasses.replace(body, left_knee=None)
    curve = dataclasses.replace(CURVE, body=bare)
    assert stance_of(curve) is None
    one, other = (ml.control(curve, hold_feet=way) for way in (True, False))
    for w in steered(50):
        assert np.array_equal(one.step(w).local_quats, other.step(w).local_quats)


def test_mirrored_walks_are_held_alike():
    motion, planted = played(SIDE, np.tile([0.5, 0.5], (300, 1)))
    assert planted[:, :2].sum() == pytest.approx(planted[:, 2:].sum(), rel=0.2)
    assert contact_speeds(motion, planted).max() < 1e-5


def test_hold_feet_must_be_a_flag():
    with pytest.raises(ml.MotionLoomError, match="hold_feet"):
        ml.control(CURVE, hold_feet="yes")
