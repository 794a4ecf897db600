"""Calm legs: steps that are too fast are found and smoothed, everything else stays."""

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.legs import weights_of
from motionloom.cleanup.solve import AROUND_S, FREE_DEG_S, Leg, calm_legs, limits_of
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from motionloom.synthetic import clip
from tests.oracles import calm as plain
from tests.oracles.calm import OVER_OWN

FPS = 120.0


@pytest.fixture(scope="module")
def walk():
    return clip("walk").motion


def legs_of(motion):
    body, positions = BodyMap.guess(motion.skeleton), motion.world_positions()
    chain = [body.left_hip, body.left_knee, body.left_ankle, body.left_toe]
    return [Leg(chain, positions[:, chain[1]])]


def quats_of(turns):
    """Local rotations (F, J, 4) of joints that turn by angles (F - 1, J) about one axis."""
    angles = np.concatenate([np.zeros((1, turns.shape[1])), np.cumsum(turns, axis=0)])
    return quat.from_axis_angle(np.array([0.6, 0.0, 0.8]), angles)


def find(clips, joints, own, fps, knee=None, jerk=None, glitched=None):
    """Steps (F - 1,) that one of some joints, or the knee, should not make."""
    n, fast = len(clips[0]), np.ones(len(clips[0]) - 1, dtype=bool)
    free, half = np.radians(FREE_DEG_S) / fps, max(3, round(AROUND_S * fps))
    joints, scratch = np.array(joints), np.zeros(n + len(joints))
    limits = (len(joints), joints, own, free, half, knee, jerk, glitched)
    kernel("ml_calm_find")(*clips[0].shape[:2], *clips, *limits, scratch, fast)
    return fast


def steps_too_fast(turns, own, source, fps, before=None):
    """Of angles from frame to frame, as the plain form takes them."""
    clips = [quats_of(each) for each in (turns, source, source if before is None else before)]
    columns = [find(clips, [j], own[j : j + 1], fps) for j in range(len(own))]
    assert np.array_equal(find(clips, range(len(own)), own, fps), np.any(columns, axis=0))
    return np.stack(columns, axis=1)


def kicked(motion, frame, degrees):
    """The motion with the left knee turned further at a frame, and back over 20 frames."""
    knee = BodyMap.guess(motion.skeleton).left_knee
    local = np.array(motion.local_quats)
    fade = np.clip(1.0 - (np.arange(motion.n_frames) - frame) / 20.0, 0.0, 1.0)
    fade[:frame] = 0.0
    turn = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(degrees) * fade)
    local[:, knee] = quat.multiply(local[:, knee], turn)
    return motion.replace(local_quats=local)


def test_steps_beyond_the_joints_own_are_too_fast():
    source = np.full((40, 2), np.radians(4.0))
    turns = np.array(source)
    turns[10, 0] = np.radians(4.0) * OVER_OWN + 1e-6
    turns[20, 1] = np.radians(4.0) * OVER_OWN - 1e-6
    fast = steps_too_fast(turns, source.max(axis=0), source, FPS)
    assert np.argwhere(fast).tolist() == [[10, 0]]


def test_slow_joints_may_turn_as_fast_as_any_joint_may():
    source = np.full((40, 1), np.radians(0.1))
    turns = np.array(source)
    turns[5:9] = np.radians(FREE_DEG_S / FPS) - 1e-6  # four steps: fast, but no flip
    assert not steps_too_fast(turns, source.max(axis=0), source, FPS).any()
    turns[5:9] = np.radians(FREE_DEG_S / FPS) + 1e-6
    assert steps_too_fast(turns, source.max(axis=0), source, FPS).sum() == 4


def test_one_step_that_stands_out_is_a_flip():
    source = np.full((40, 1), np.radians(0.5))
    turns = np.array(source)
    turns[20] = np.radians(2.0)
    assert steps_too_fast(turns, source.max(axis=0), source, FPS).sum() == 1
    source[20] = np.radians(2.0)  # the clip has it too
    assert not steps_too_fast(turns, source.max(axis=0), source, FPS).any()


def test_a_kick_is_smoothed_and_other_frames_stay(walk):
    after = kicked(walk, 100, 25.0)
    joints = legs_of(walk)[0].joints
    source = quat.turns(walk.local_quats, joints)
    own, turns = source.max(axis=0), quat.turns(after.local_quats, joints)
    assert plain.steps_too_fast(turns, own, source, walk.fps).any()
    limits = limits_of(walk, walk, legs_of(walk))
    calmed, changed = calm_legs(walk, after, after.world_pose(), limits)
    turns = quat.turns(calmed.local_quats, joints)
    assert not plain.steps_too_fast(turns, own, source, walk.fps).any()
    assert changed[99:101].all()
    assert not changed[:80].any()
    assert np.array_equal(calmed.local_quats[~changed[:, 0]], after.local_quats[~changed[:, 0]])


def test_calm_legs_are_left_as_they_are(walk):
    limits = limits_of(walk, walk, legs_of(walk))
    calmed, changed = calm_legs(walk, walk, walk.world_pose(), limits)
    assert calmed is walk
    assert not changed.any()


@pytest.mark.parametrize(("other", "is_flip"), [(17, True), (18, True), (19, False), (21, False)])
def test_a_flip_stands_out_from_the_steps_right_before_and_after_it(other, is_flip):
    source = np.full((40, 1), np.radians(0.4))
    source[0] = np.radians(2.0)  # the joint's own fastest
    turns = np.array(source)
    turns[20] = np.radians(2.4)  # less than any joint may always turn
    turns[other] = np.radians(2.1)
    fast = steps_too_fast(turns, source.max(axis=0), source, FPS)
    assert bool(fast[20, 0]) == is_flip


@pytest.mark.parametrize("n", [0, 1, 2, 3, 300])
@pytest.mark.parametrize("fps", [20.0, 120.0])
def test_steps_are_those_of_the_plain_form(n, fps):
    rng = np.random.Generator(np.random.PCG64(n))
    source, before = np.radians(rng.uniform(0.0, 3.0, size=(2, n, 4)))
    own = source.max(axis=0, initial=0.0) * np.array([0.3, 0.7, 1.01, 1.2])
    turns = np.where(rng.random((n, 4)) < 0.5, source, np.radians(rng.uniform(0.0, 5.0, (n, 4))))
    turns[::7] *= 4.0
    turns[1::5] = turns[::5][: len(turns[1::5])]  # steps as large as the one before
    fast = steps_too_fast(turns, own, source, fps)
    assert np.array_equal(fast, plain.steps_too_fast(turns, own, source, fps))
    assert fast.any() or n < 300
    both = steps_too_fast(turns, own, source, fps, before)
    assert np.array_equal(both, plain.steps_too_fast(turns, own, np.maximum(source, before), fps))
    assert both.sum() < fast.sum() or n < 300


@pytest.mark.parametrize("n", [1, 2, 200])
def test_the_largest_steps_are_those_that_are_not_skipped(n):
    rng = np.random.Generator(np.random.PCG64(n))
    q, joints = quats_of(rng.uniform(0.0, 0.5, size=(n - 1, 5))), np.array([3, 0, 4])
    q[::6] *= -1.0  # the same rotations
    skipped, out = rng.random(n - 1) < 0.4, np.ones(3)
    kernel("ml_calm_largest")(n, 5, q, 3, joints, skipped, out)
    expected = quat.turns(q, joints)[~skipped].max(axis=0, initial=0.0)
    assert out == pytest.approx(expected, abs=1e-14)


def test_a_step_exactly_as_large_as_in_the_clip_is_no_fault():
    rng = np.random.Generator(np.random.PCG64(2))
    q, still = quats_of(rng.uniform(0.0, 0.5, size=(99, 5))), np.tile(quat.IDENTITY, (100, 5, 1))
    own = 0.2 * np.ones(2)
    assert not find((q, q, q), [0, 4], own, FPS).any()
    assert find((q, still, still), [0, 4], own, FPS).any()
    assert not find((q, still, q), [0, 4], own, FPS).any()


def test_steps_to_both_sides_of_a_jerk_count_but_for_glitches():
    still = np.tile(quat.IDENTITY, (9, 1, 1))
    knee, jerk = np.zeros((9, 3)), np.full(7, 0.5)
    knee[4:] = [0.3, 0.0, 0.4]  # second differences of 0.5 at frames 3 and 4
    assert not find((still,) * 3, [0], np.ones(1), FPS, knee, jerk).any()
    jerk[3] -= 1e-9
    fast = find((still,) * 3, [0], np.ones(1), FPS, knee, jerk)
    assert np.flatnonzero(fast).tolist() == [3, 4]
    glitched = np.arange(8) == 3
    fast = find((still,) * 3, [0], np.ones(1), FPS, knee, jerk, glitched)
    assert np.flatnonzero(fast).tolist() == [4]


@pytest.mark.parametrize("joint", [-1, 5])
def test_joints_that_are_not_there_are_refused(joint):
    q, joints = np.zeros((2, 5, 4)), np.array([0, joint])
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_calm_largest")(2, 5, q, 2, joints, np.zeros(1, dtype=bool), np.zeros(2))
    with pytest.raises(ArrayError, match="sizes do not fit"):
        find((q, q, q), [joint], np.zeros(1), FPS)
    window = (np.zeros(2), 1, np.ones(3), np.zeros((2, 2, 3)), np.array(q), np.zeros((2, 3)))
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_calm_smooth")(2, 5, q, q[:, 0] + 0.0, np.zeros((2, 5, 3)), q, 2, joints, *window)


def unit(rng, *shape):
    q = rng.normal(size=(*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


@pytest.mark.parametrize("half", [1, 4, 70])
def test_corrections_are_smoothed_as_in_the_plain_form(half):
    rng = np.random.Generator(np.random.PCG64(half))
    n, joints = 60, np.array([1, 3, 4])
    before, after, world = unit(rng, n, 5), unit(rng, n, 5), unit(rng, n, 5)
    local = np.array(after)
    local[20:30] = unit(rng, 10, 5)  # smoothed once already
    positions = rng.normal(size=(n, 5, 3))
    part = np.zeros(n)
    part[:5], part[25:31], part[33], part[58:] = 0.3, 1.0, 0.5, rng.random(2)
    knee = np.array(positions[:, 3])
    expected = plain.smooth(before, local, joints, part, half)
    track = plain.knee(positions, world, after, expected, 1, 3)
    kernel("ml_calm_smooth")(
        n, 5, before, np.array(after[:, 1]), positions, world, 3, joints, part, half,
        weights_of(half), np.zeros((n, 3, 3)), local, knee,
    )  # fmt: skip
    assert np.abs(local - expected).max() < 1e-12
    assert np.abs(knee[part > 0.0] - track[part > 0.0]).max() < 1e-12
    assert np.array_equal(knee[part == 0.0], positions[part == 0.0, 3])


def test_a_clip_of_three_frames_sets_no_limits(walk):
    short = walk[:3]
    assert limits_of(short, short, legs_of(short)) == ()
    calmed, changed = calm_legs(short, short, short.world_pose(), ())
    assert calmed is short
    assert changed.shape == (3, 0)


def test_knees_that_jerk_are_smoothed_though_no_joint_turns_too_fast(walk):
    root = np.array(walk.root_positions)
    root[100:, 1] += 0.05
    after = walk.replace(root_positions=root)
    limits = limits_of(walk, walk, legs_of(walk))
    _, changed = calm_legs(walk, after, after.world_pose(), limits)
    assert changed[100, 0]
