"""The spine absorbs jolts of the hips, and no joint gets too fast."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing import level_head as module
from motionloom.splicing.level_head import (
    LARGEST_LEAN,
    SHORTEST_M,
    _capped,
    _lean,
    _limited,
    _spread,
    absorb_shake,
    slowed_turns,
    speeds_of,
)
from motionloom.splicing.timing import rate_caps

CARRY = ml.synthetic.clip("carry", duration_s=4.0).motion
WALK = ml.synthetic.clip("walk", turn=1.0, duration_s=3.0).motion
BODY = ml.BodyMap.guess(WALK.skeleton)


def sharpness(motion, joint, frame):
    """Largest acceleration of a joint around a frame, m/s2."""
    way = motion.world_positions()[frame - 6 : frame + 7, joint]
    return np.linalg.norm(np.diff(way, n=2, axis=0), axis=-1).max() * motion.fps**2


def test_a_jolt_of_the_pelvis_reaches_the_head_weakened():
    root = np.array(WALK.root_positions)
    root[60] += [0.0075, 0.0, 0.0065]  # a larger jolt is spread before
    made = ml.splice(CARRY, WALK.replace(root_positions=root)).motion
    jolt = sharpness(made, BODY.pelvis, 60)
    assert jolt > 40.0
    assert sharpness(made, BODY.head, 60) < 0.7 * jolt


def test_a_tilt_of_the_pelvis_hardly_moves_the_head():
    quats = np.array(WALK.local_quats)
    tilt = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(4.0))
    for frame in (60, 61):
        quats[frame, 0] = quat.multiply(quats[frame, 0], tilt)
    lower = WALK.replace(local_quats=quats)
    made = ml.splice(CARRY, lower).motion
    assert sharpness(made, BODY.head, 60) < 0.4 * sharpness(lower, BODY.head, 60)


def test_turns_that_are_slow_enough_stay_and_others_are_slowed():
    angles = np.radians(np.where(np.arange(120) < 60, 0.0, 20.0))
    angles += np.radians(5.0) * np.sin(np.arange(120) / 15.0)
    quats = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angles)
    slowed = slowed_turns(quats, 60.0, np.radians(400.0))
    steps = 60.0 * np.degrees(quat.angle_between(slowed[:-1], slowed[1:]))
    assert steps.max() <= 400.0
    assert np.allclose(slowed[:30], quats[:30], atol=1e-12)
    assert slowed_turns(quats, 60.0, np.radians(1500.0)) is quats


def test_a_spine_on_its_own_legs_is_left_alone(monkeypatch):
    root = np.array(WALK.root_positions)
    root[60] += [0.003, 0.0, 0.002]
    made, legs = WALK.replace(root_positions=root), WALK
    spine = list(BODY.spine)
    apart = np.abs(made.world_positions()[:, spine] - legs.world_positions()[:, spine]).max()
    fastest = np.full(WALK.skeleton.n_joints, np.inf)
    # Nearer than the limit is the same; at the limit it is not.
    for limit, is_same in ((np.nextafter(apart, 1.0), True), (apart, False)):
        monkeypatch.setattr(module, "SAME_M", limit)
        quats = np.array(made.local_quats)
        absorb_shake(quats, made, spine, legs, fastest)
        assert np.array_equal(quats, made.local_quats) == is_same
        others = np.setdiff1d(np.arange(quats.shape[1]), spine)
        assert np.array_equal(quats[:, others], made.local_quats[:, others])


def test_speeds_are_the_larger_of_both_sides():
    angles = np.array([0.0, 0.1, 0.4, 0.4, 0.2])
    local = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), angles)
    assert speeds_of(local, 10.0) == pytest.approx([1.0, 3.0, 3.0, 2.0, 2.0])


def leaning(size, step):
    """Rotation vectors about z that change from 0 to a size, by one step a frame. (120, 3)"""
    return np.clip(step * (np.arange(120) - 60), 0.0, size)[:, None] * np.array([0.0, 0.0, 1.0])


def test_a_joint_leans_as_asked_where_it_is_slow_enough():
    still = np.broadcast_to(quat.IDENTITY, (120, 4))
    lean = leaning(0.4, 0.01)  # 0.6 rad/s at 60 fps
    turn, local = _limited(lean, 0.0 * lean, still, still, 60.0, 0.61)
    assert np.array_equal(turn, lean)
    assert quat.angle_between(local, quat.exp(lean)).max() < 1e-7


def test_a_joint_that_would_be_too_fast_moves_with_what_is_below_it():
    still = np.broadcast_to(quat.IDENTITY, (120, 4))
    lean = leaning(0.4, 0.4)  # 24 rad/s in one frame
    turn, local = _limited(lean, 0.0 * lean, still, still, 60.0, 5.0)
    assert speeds_of(local, 60.0).max() <= 5.0
    assert np.abs(turn[:40]).max() < 1e-9
    assert turn[80:] == pytest.approx(lean[80:], abs=1e-9)
    assert quat.angle_between(quat.exp(turn), local).max() < 1e-7


def test_the_share_that_is_slow_enough_is_taken_around_and_fades():
    """24 rad/s asked, 20 allowed: seven tenths of it, for four frames around, faded over two."""
    still = np.broadcast_to(quat.IDENTITY, (120, 4))
    lean = leaning(0.4, 0.4)
    turn, _ = _limited(lean, 0.0 * lean, still, still, 60.0, 20.0)
    assert np.abs(turn[:61]).max() < 1e-9
    shares = [0.7, 0.7, 0.7, 0.725, 0.8, 0.9, 0.975, 1.0, 1.0]
    assert turn[61:70, 2] == pytest.approx(0.4 * np.array(shares))


def test_a_turn_is_that_of_the_world_and_its_rotation_that_of_the_parent():
    parent = np.broadcast_to(quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.9), (120, 4))
    base = np.broadcast_to(quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -0.5), (120, 4))
    for step in (0.01, 0.4):
        lean = leaning(0.4, step)
        turn, local = _limited(lean, 0.0 * lean, base, parent, 60.0, 5.0)
        world = quat.multiply(parent, local)
        assert quat.angle_between(world, quat.multiply(quat.exp(turn), base)).max() < 1e-7


def test_a_lean_carries_the_tip_of_its_lever():
    """A lever of half a metre upwards, to be moved by a centimetre: 0.02 rad."""
    lever, way = np.array([[0.0, 0.5, 0.0]]), np.array([[0.01, 0.0, 0.0]])
    assert _lean(lever, way) == pytest.approx(np.array([[0.0, 0.0, -0.02]]))
    moved = quat.rotate(quat.exp(_lean(lever, way)), lever) - lever
    assert moved[0, 0] == pytest.approx(0.01, rel=1e-3)
    tiny = 1e-5 * way
    at_limit = np.array([[0.0, SHORTEST_M, 0.0]])
    assert _lean(at_limit, tiny)[0, 2] == pytest.approx(-1e-7 / SHORTEST_M)
    assert not _lean(0.999 * at_limit, tiny).any()
    assert np.linalg.norm(_lean(lever, 100.0 * way)) <= LARGEST_LEAN


def test_vectors_up_to_half_of_the_most_are_kept_and_longer_ones_come_near_it():
    way = np.array([0.6, 0.0, 0.8])
    sizes = np.array([0.0, 0.5, 1.0, 1.5, 3.0, 100.0])
    found = _capped(sizes[:, None] * way, 2.0)
    expected = [0.0, 0.5, 1.0, 1.0 + np.tanh(0.5), 1.0 + np.tanh(2.0), 2.0]
    assert found == pytest.approx(np.outer(expected, way))


def test_the_least_factor_spreads_and_fades():
    factor = np.ones(21)
    factor[10] = 0.0
    spread = _spread(factor, 2)
    # Zero for two frames to either side; a bell of five frames then smooths the edges.
    bell = np.sin(np.pi * np.arange(1, 6) / 6.0) ** 2
    least = np.where(np.abs(np.arange(21) - 10) <= 2, 0.0, 1.0)
    expected = np.array([bell @ least[k - 2 : k + 3] for k in range(2, 19)]) / bell.sum()
    assert spread[2:19] == pytest.approx(expected)
    assert spread[[0, 1, 10, 19, 20]] == pytest.approx([1.0, 1.0, 0.0, 1.0, 1.0])


def test_only_arms_that_are_faster_than_in_the_clips_cap_the_pace():
    frames = np.arange(0.0, WALK.n_frames - 1.0)
    made = CARRY[: len(frames)]
    assert rate_caps(made, frames, CARRY, WALK, BODY) is None
    quats = np.array(made.local_quats)
    angles = np.where(np.arange(len(quats)) < 80, 0.0, 1.0)
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angles)
    quats[:, BODY.left_shoulder] = quat.multiply(turn, quats[:, BODY.left_shoulder])
    caps = rate_caps(made.replace(local_quats=quats), frames, CARRY, WALK, BODY)
    assert caps is not None
    assert caps[79] < 1.0
    assert np.isinf(caps[:60]).all()
    assert np.isinf(caps[100:]).all()
