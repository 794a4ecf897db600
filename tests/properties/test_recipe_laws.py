"""Laws 33 to 35: weights, where a blended body goes, and poses on their own bones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import motionloom as ml
from motionloom.rotation import quat
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.paper.pose_forms import mean_of_positions
from motionloom.tables.score.recipe import FAMILIES, Recipe, bernstein, weights_of
from tests.oracles.blend_kernel import track_of
from tests.oracles.rotation_means import mean_of_rotations

FLOAT64 = 1e-12
FLOAT32 = 2e-6
BONES = 1e-9
LENGTH = 24

walk = ml.synthetic.clip("walk", turn=0.8).motion.replace(name="walk")
run = ml.synthetic.clip("run").motion.replace(name="run")
kick = ml.synthetic.clip("kick").motion.replace(name="kick")
NO_PLANTS = [ml.Footplants(np.zeros((m.n_frames, 4), dtype=bool)) for m in (walk, run, kick)]
FRAMES = frames_of([walk, run, kick], footplants=NO_PLANTS)
windows = st.sampled_from([int(row) for row in FRAMES.windows(LENGTH)])
families = st.sampled_from(sorted(FAMILIES))


@given(families, st.integers(1, 4), st.integers(2, 90))
def test_weights_sum_to_one_and_start_with_the_first_and_end_with_the_last(family, n, length):
    weights = weights_of(family, n, length)
    assert np.abs(weights.sum(axis=0) - 1.0).max() < FLOAT64
    assert weights.min() > -FLOAT64
    assert abs(weights[0, 0] - 1.0) < FLOAT64
    assert abs(weights[-1, -1] - 1.0) < FLOAT64


@given(families, st.integers(2, 4), st.integers(2, 90))
def test_weights_are_the_same_backwards(family, n, length):
    weights = weights_of(family, n, length)
    assert np.abs(weights - weights[::-1, ::-1]).max() < FLOAT64


@given(st.integers(2, 60))
def test_three_bernstein_weights_are_two_linear_blends_blended(length):
    t = np.linspace(0.0, 1.0, length)
    once = np.stack([1 - t, t, 0 * t]), np.stack([0 * t, 1 - t, t])
    assert np.abs(bernstein(3, length) - ((1 - t) * once[0] + t * once[1])).max() < FLOAT64


@given(windows, families, st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_copies_of_one_window_go_where_that_window_goes(row, family, n):
    track = track_of(FRAMES, Recipe((row,) * n, LENGTH, family))
    part = slice(row, row + LENGTH)
    assert np.abs(track.heading - FRAMES.heading[part]).max() < 1e-9
    assert np.abs(track.ground - FRAMES.ground[part]).max() < 1e-9
    assert np.abs(track.height - FRAMES.body[part, 0, 1]).max() < 1e-6


@given(
    windows,
    windows,
    st.floats(-3.0, 3.0),
    st.floats(-5.0, 5.0),
    st.floats(-5.0, 5.0),
)
@settings(max_examples=12, deadline=None)
def test_where_a_clip_was_captured_does_not_change_a_blend(a, b, heading, x, z):
    moved = [ml.move(m, heading=heading, x=x, z=z) for m in (walk, run, kick)]
    others = frames_of(moved, footplants=NO_PLANTS)
    here, there = (track_of(f, Recipe((a, b), LENGTH)) for f in (FRAMES, others))
    turn = there.heading[0] - here.heading[0]
    assert np.abs(there.heading - here.heading - turn).max() < 1e-6
    steps = [np.linalg.norm(np.diff(t.ground, axis=0), axis=1) for t in (here, there)]
    assert np.abs(steps[0] - steps[1]).max() < 1e-6


@given(st.lists(windows, min_size=1, max_size=4), families)
@settings(max_examples=15, deadline=None)
def test_position_blends_keep_bone_lengths(rows, family):
    pose = mean_of_positions(FRAMES, Recipe(tuple(rows), LENGTH, family))
    parents = FRAMES.skeleton.parents[1:]
    bones = np.linalg.norm(pose.body[:, 1:] - pose.body[:, parents], axis=-1)
    wanted = np.linalg.norm(FRAMES.skeleton.offsets[1:], axis=-1)
    assert np.abs(bones - wanted).max() < BONES


@given(windows, st.integers(1, 4))
@settings(max_examples=15, deadline=None)
@pytest.mark.parametrize("form", [mean_of_positions, mean_of_rotations])
def test_equal_poses_come_back_as_they_were(form, row, n):
    pose = form(FRAMES, Recipe((row,) * n, LENGTH))
    was = FRAMES.quats[row : row + LENGTH].astype(np.float64)
    apart = quat.angle_between(pose.quats, quat.normalize(was))
    assert np.abs(pose.body - FRAMES.body[row : row + LENGTH]).max() < 5 * FLOAT32
    assert apart.max() < 2e-3  # float32 quaternions, and arccos near 1
