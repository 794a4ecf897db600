"""Heads and arms that stay steady, hips that shake, and glitches that stay behind."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.rotation import quat
from motionloom.splicing.level_head import MOST_NOD, MOST_TURN, _at_most, _steady_collar

CARRY = ml.synthetic.clip("carry", duration_s=4.0).motion
WALK = ml.synthetic.clip("walk", turn=1.0, duration_s=3.0).motion
BODY = ml.BodyMap.guess(WALK.skeleton)
X, Y, Z = np.eye(3)


def speeds(quats, fps):
    return fps * np.degrees(quat.angle_between(quats[:-1], quats[1:]))


def turned(motion, joint, angles, axis=Y):
    """The motion with one joint turned on top, by an angle per frame; what hangs on it follows."""
    quats = np.array(motion.local_quats)
    quats[:, joint] = quat.multiply(quat.from_axis_angle(axis, angles), quats[:, joint])
    return motion.replace(local_quats=quats)


def shaken(motion, degrees):
    """Hips that shake in single frames, with a spine that cancels it: the chest is as before."""
    rng = np.random.Generator(np.random.PCG64(3))
    angles = np.radians(degrees) * rng.normal(size=motion.n_frames)
    angles[:2] = 0.0
    world = motion.world_quats()
    hips, first = BODY.pelvis, BODY.spine[0]
    shake = turned(motion, hips, angles, X)
    quats = np.array(shake.local_quats)
    quats[:, first] = quat.multiply(quat.conjugate(shake.world_quats()[:, hips]), world[:, first])
    return motion.replace(local_quats=quats)


def swaying(motion, degrees):
    """A chest that twists once a second under a head that stays where it was."""
    angles = np.radians(degrees) * np.sin(2.0 * np.pi * np.arange(motion.n_frames) / motion.fps)
    made = turned(motion, BODY.spine[0], angles)
    world, chest = motion.world_quats(), int(motion.skeleton.parents[BODY.neck])
    quats = np.array(made.local_quats)
    quats[:, BODY.neck] = quat.multiply(
        quat.conjugate(made.world_quats()[:, chest]), world[:, BODY.neck]
    )
    return motion.replace(local_quats=quats)


def head(motion):
    return motion.world_quats()[:, BODY.head]


def test_a_head_stays_steady_on_a_torso_that_twists():
    lower = swaying(WALK, 15.0)
    made = ml.splice(CARRY, lower).motion
    alone = ml.splice(CARRY, WALK).motion
    twist = speeds(made.world_quats()[:, BODY.spine[-1]], 60.0)
    assert np.percentile(twist, 95) > 70.0
    own = max(np.percentile(speeds(head(m), 60.0), 95) for m in (CARRY, lower))
    assert np.percentile(speeds(head(made), 60.0), 95) < 1.3 * own
    assert np.percentile(speeds(head(alone), 60.0), 95) < 1.3 * own


def test_a_head_on_a_stiff_neck_stays_on_the_torso_where_the_action_plays_faster():
    walk = ml.synthetic.clip("walk", duration_s=4.0).motion
    sway = np.radians(15.0) * np.sin(2.0 * np.pi * np.arange(walk.n_frames) / walk.fps)
    stiff = turned(walk, BODY.spine[0], sway, Z)
    jog = ml.synthetic.clip("jog", duration_s=3.0).motion
    made = ml.splice(stiff, jog, when_short="loop")
    assert np.diff(made.timewarp.frames).max() > 1.5
    own = np.percentile(speeds(head(stiff), 60.0), 95)
    assert np.percentile(speeds(head(made.motion), 60.0), 95) < own
    assert made.verification.passed


def test_a_head_that_the_action_turns_still_turns():
    looks = np.radians(50.0) * np.sin(np.pi * np.arange(CARRY.n_frames) / CARRY.fps)
    made, plain = (ml.splice(u, WALK).motion for u in (turned(CARRY, BODY.head, looks), CARRY))
    angle = np.degrees(quat.angle_between(head(made), head(plain)))
    assert angle.max() == pytest.approx(50.0, abs=1.0)


def test_a_head_goes_round_the_corner_with_its_body():
    made = ml.splice(CARRY, ml.synthetic.clip("walk", turn=1.5, duration_s=3.0).motion).motion
    body_turn = quat.yaw(made.world_quats()[:, BODY.pelvis])
    head_turn = quat.yaw(head(made))
    off = np.degrees(np.angle(np.exp(1j * (head_turn - body_turn))))
    assert np.ptp(np.unwrap(body_turn)) > np.radians(60.0)
    assert np.abs(off - np.median(off)).max() < 30.0


def test_the_shake_of_the_hips_does_not_reach_the_chest():
    made, calm = (ml.splice(CARRY, lower).motion for lower in (shaken(WALK, 3.0), WALK))
    chest = BODY.spine[-1]
    assert speeds(shaken(WALK, 3.0).world_quats()[:, BODY.pelvis], 60.0).max() > 400.0
    fastest = [speeds(m.world_quats()[:, chest], 60.0).max() for m in (made, calm)]
    assert fastest[0] < fastest[1] + 30.0


def test_no_spine_joint_turns_faster_than_the_locomotions_own_when_hips_shake():
    lower = shaken(WALK, 3.0)
    made = ml.splice(CARRY, lower).motion
    for joint in BODY.spine:
        own = max(speeds(m.local_quats[:, joint], 60.0).max() for m in (CARRY, lower))
        assert speeds(made.local_quats[:, joint], 60.0).max() < max(1.3 * own, 300.0)


@pytest.mark.parametrize("frame", [40, 41, 90])
def test_a_twitch_of_the_locomotions_spine_does_not_turn_the_upper_body(frame):
    angles = np.zeros(WALK.n_frames)
    angles[frame] = np.radians(20.0)
    twitched = turned(WALK, BODY.spine[0], angles)
    made, calm = (ml.splice(CARRY, lower).motion for lower in (twitched, WALK))
    off = np.degrees(
        quat.angle_between(*(m.world_quats()[:, BODY.spine[-1]] for m in (made, calm)))
    )
    assert off.max() < 1.0
    assert np.abs(made.world_positions() - calm.world_positions()).max() < 0.02


def test_a_glitch_of_the_action_is_interpolated_and_noted():
    angles = np.zeros(CARRY.n_frames)
    angles[100] = np.radians(60.0)
    glitch = turned(CARRY, BODY.left_shoulder, angles, X)
    assert 100 in {jump.frame for jump in find_glitches(glitch)}
    made, calm = ml.splice(glitch, WALK), ml.splice(CARRY, WALK)
    assert any(note.startswith("action:") and "interpolated" in note for note in made.notes)
    assert not any("interpolated" in note for note in calm.notes)
    off = quat.angle_between(*(m.motion.local_quats[:, BODY.left_shoulder] for m in (made, calm)))
    assert np.degrees(off.max()) < 2.0


def test_copied_joints_keep_their_glitches():
    angles = np.zeros(CARRY.n_frames)
    angles[100] = np.radians(60.0)
    glitch = turned(CARRY, BODY.left_shoulder, angles, X)
    made = ml.splice(glitch, WALK, method="naive")
    arm = BODY.left_shoulder
    assert np.array_equal(made.motion.local_quats[100, arm], glitch.local_quats[100, arm])


def test_a_head_alone_is_steady_too():
    lower = swaying(WALK, 15.0)
    made = ml.splice(CARRY, lower, where="head").motion
    own = max(np.percentile(speeds(head(m), 60.0), 95) for m in (CARRY, lower))
    assert np.percentile(speeds(head(made), 60.0), 95) < 1.3 * own


def shaken_chest(motion, degrees):
    """A chest that shakes from frame to frame under a steady head."""
    rng = np.random.Generator(np.random.PCG64(5))
    angles = np.radians(degrees) * rng.normal(size=motion.n_frames)
    made = turned(motion, BODY.spine[-1], angles, X)
    quats = np.array(made.local_quats)
    quats[:, BODY.neck] = quat.multiply(
        quat.conjugate(made.world_quats()[:, BODY.spine[-1]]), motion.world_quats()[:, BODY.neck]
    )
    return motion.replace(local_quats=quats)


@pytest.mark.parametrize("where", ["arms", "left_arm"])
def test_collarbones_do_not_jerk_against_a_chest_that_shakes_and_arms_stay_steady(where):
    lower = shaken_chest(WALK, 3.0)
    collar, arm = (WALK.skeleton.names.index(name) for name in ("LeftShoulder", "LeftArm"))
    assert speeds(lower.world_quats()[:, BODY.spine[-1]], 60.0).max() > 350.0
    made, calm = (ml.splice(CARRY, legs, where=where) for legs in (lower, WALK))
    assert made.verification.passed
    assert speeds(made.motion.local_quats[:, collar], 60.0).max() < 200.0
    fastest = [speeds(m.motion.world_quats()[:, arm], 60.0).max() for m in (made, calm)]
    assert fastest[0] < fastest[1] + 30.0


def test_a_collarbone_that_the_action_turns_quickly_still_does():
    collar, shoulder = (WALK.skeleton.names.index(name) for name in ("LeftShoulder", "LeftArm"))
    shrug = np.radians(25.0) * np.sin(5.0 * np.pi * np.arange(WALK.n_frames) / WALK.fps)
    quick = turned(WALK, collar, shrug, X)
    assert speeds(quick.local_quats[:, collar], 60.0).max() > 300.0
    quats = np.array(quick.local_quats)
    _steady_collar(quats, (collar, shoulder), quick)
    assert np.allclose(quats, quick.local_quats, atol=1e-12)


@pytest.mark.parametrize("most", [MOST_NOD, MOST_TURN])
def test_a_limit_keeps_small_turns_and_holds_large_ones(most):
    small, large = np.array([[0.01 * most, 0.0, 0.0]]), np.array([[0.0, 9.0 * most, 0.0]])
    assert np.allclose(_at_most(small, most), small, rtol=1e-3)
    assert np.linalg.norm(_at_most(large, most)) <= most
    assert np.array_equal(_at_most(np.zeros((1, 3)), most), np.zeros((1, 3)))
