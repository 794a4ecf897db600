"""Mixed poses against rotations worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.blending.evaluate import FRAMES_PER_THREAD, mix_poses
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from tests.oracles import pose as plain

X, Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
STILL = np.array([1.0, 0.0, 0.0, 0.0])


def about(axis, *degrees):
    """Rotations about one axis. (N, 4)"""
    return quat.from_axis_angle(axis, np.radians(np.array(degrees, dtype=float)))


def mixed(motions, frames, weights, headings=None):
    """Mix motions of (F, J, 4) rotations at one row of frames. (J, 4), (J,)"""
    starts = np.cumsum([0, *(len(m) for m in motions)])
    frames = np.atleast_2d(np.array(frames, dtype=float))
    weights = np.broadcast_to(np.array(weights, dtype=float), frames.shape)
    turns = np.zeros(frames.shape) if headings is None else np.atleast_2d(headings)
    out, spread = mix_poses(np.concatenate(motions), starts, frames, weights, turns)
    return out[0], spread


def apart(a, b):
    """Largest angle between rotations, degrees."""
    return float(np.degrees(quat.angle_between(a, b)).max())


def wide_group():
    """One still joint, one turned to one side, three to the other: a rotation is more than 90
    degrees of half angle from the mean of all."""
    turns = [STILL, [0.01, 1, 0, 0], *([[0.01, -1, 0.1 * k, 0]] for k in (1, 2, 3))]
    made = [np.array(t, dtype=float).reshape(1, 1, 4) for t in turns]
    return [m / np.linalg.norm(m) for m in made]


@pytest.mark.parametrize("k", range(5))
def test_a_weight_of_one_gives_that_rotation_however_far_the_others_are(k):
    group = wide_group()
    out, _ = mixed(group, [0.0] * 5, np.eye(5)[k])
    assert apart(out, group[k][0]) < 1e-6


def test_two_rotations_mix_along_their_arc():
    low, high = about(X, 10.0)[:, None], about(X, 70.0)[:, None]
    out, spread = mixed([low, high], [0.0, 0.0], [0.25, 0.75])
    assert apart(out, about(X, 55.0)) < 1e-6
    assert np.degrees(spread) == pytest.approx([30.0])
    out, _ = mixed([low, high], [0.0, 0.0], [1.5, -0.5])
    assert apart(out, about(X, -20.0)) < 1e-6


@pytest.mark.parametrize("angle", [1e-3, 2.0, 7.0, 9.0, 40.0, 170.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_between_two_frames_the_rotation_goes_the_short_way_at_one_speed(angle, sign):
    clip = about(X, 5.0, 5.0 + angle)[:, None]
    clip[1] *= sign
    for t in (0.0, 0.2, 0.5, 0.9):
        out, _ = mixed([clip], [t], [1.0])
        assert apart(out, about(X, 5.0 + t * angle)) < 1e-6
        assert abs(np.linalg.norm(out) - 1.0) < 1e-12


@pytest.mark.parametrize(
    ("frame", "expected"), [(-0.7, 10.0), (1.0, 20.0), (1.6, 20.0), (9.0, 20.0)]
)
def test_before_and_after_a_clip_its_ends_are_used(frame, expected):
    clip, other = about(X, 10.0, 20.0)[:, None], about(X, 90.0, 130.0)[:, None]
    for k, motions in enumerate(([clip, other], [other, clip])):
        weights = [1.0 - k, float(k)]
        out, _ = mixed(motions, [frame, frame], weights)
        assert apart(out, about(X, expected)) < 1e-6


def test_headings_turn_the_root_about_the_up_axis_and_no_other_joint():
    clip = np.stack([about(X, 30.0), about(X, 50.0)], axis=1)
    out, _ = mixed([clip], [0.0], [1.0], [0.5])
    assert apart(out[0], quat.multiply(about(Y, np.degrees(0.5))[0], about(X, 30.0)[0])) < 1e-6
    assert apart(out[1], about(X, 50.0)) < 1e-6


def test_the_spread_is_the_largest_of_all_frames():
    low = about(X, 0.0, 0.0, 0.0)[:, None]
    high = about(X, 20.0, 60.0, 40.0)[:, None]
    frames = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    weights = np.full((3, 2), 0.5)
    starts = np.array([0, 3, 6])
    _, spread = mix_poses(np.concatenate([low, high]), starts, frames, weights, np.zeros((3, 2)))
    assert np.degrees(spread) == pytest.approx([30.0])


@pytest.mark.parametrize("reach", [0.02, 0.3])
def test_many_frames_of_three_motions_are_those_of_the_plain_form(reach):
    rng = np.random.default_rng(4)
    n, n_motions, n_joints = 3 * FRAMES_PER_THREAD + 5, 3, 2
    quats = quat.exp(reach * rng.normal(size=(n_motions * 6, n_joints, 3)))
    quats *= rng.choice([-1.0, 1.0], size=(*quats.shape[:2], 1))
    starts = np.arange(0, 19, 6)
    frames = 5.0 * rng.random((n, n_motions))
    weights = rng.dirichlet(np.ones(n_motions), n)
    headings = rng.normal(size=(n, n_motions)) * reach
    fast, _ = mix_poses(quats, starts, frames, weights, headings)
    wanted = plain.mix_poses(quats, starts, frames, weights, headings)
    # One step of the mean is exact for near rotations and close for wide ones.
    assert apart(fast, wanted) < (1e-5 if reach < 0.1 else 1.0)


@pytest.mark.parametrize("n_motions", [1, 2])
@pytest.mark.parametrize("reach", [1e-3, 0.3, 3.0])
def test_one_and_two_motions_are_mixed_as_by_the_plain_form(n_motions, reach):
    # Their normalised sum is their mean, however far apart they are.
    rng = np.random.default_rng(7)
    n, n_joints = 200, 3
    quats = quat.exp(reach * rng.normal(size=(n_motions * 6, n_joints, 3)))
    starts = np.arange(n_motions + 1) * 6
    frames = rng.uniform(-1.0, 7.0, (n, n_motions))
    weights = rng.normal(size=(n, n_motions))
    weights[:, 0] += 1.0 - weights.sum(axis=1)
    headings = 3.0 * rng.normal(size=(n, n_motions))
    ours, spread = mix_poses(quats, starts, frames, weights, headings)
    wanted = plain.mix_poses(quats, starts, frames, weights, headings)
    signs = np.sign(np.sum(ours * wanted, axis=-1, keepdims=True))
    assert np.abs(ours - signs * wanted).max() < 1e-9
    assert np.abs(np.sum(ours * ours, axis=-1) - 1.0).max() < 1e-12
    assert spread.shape == (n_joints,) and (spread > 1e-9).all() == (n_motions > 1)


def test_the_result_does_not_depend_on_how_frames_are_shared_among_threads(monkeypatch):
    rng = np.random.default_rng(8)
    n = 5 * FRAMES_PER_THREAD + 3
    quats, starts = quat.exp(rng.normal(size=(12, 2, 3))), np.array([0, 4, 8, 12])
    given = quats, starts, 3.0 * rng.random((n, 3)), rng.dirichlet(np.ones(3), n), np.ones((n, 3))
    found = []
    for cores in (1, 3):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        found.append(mix_poses(*given))
    for ours, other in zip(*found, strict=True):
        assert np.array_equal(ours, other)


def test_no_frames_are_no_poses():
    none = np.zeros((0, 2))
    out, spread = mix_poses(np.tile(STILL, (4, 3, 1)), np.array([0, 2, 4]), none, none, none)
    assert out.shape == (0, 3, 4) and spread.tolist() == [0.0] * 3


@pytest.mark.parametrize("starts", [[0, 2, 5], [0, 2, 2], [-1, 2, 4], [0, 5, 4]])
def test_motions_that_do_not_lie_in_the_rows_are_refused(starts):
    one = np.zeros((1, 2))
    with pytest.raises(ArrayError, match="sizes do not fit"):
        mix_poses(np.tile(STILL, (4, 3, 1)), np.array(starts), one, one, one)
