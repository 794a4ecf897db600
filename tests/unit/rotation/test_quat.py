import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from motionloom.motion.motion import check_rows
from motionloom.rotation import quat
from tests.oracles import quat as plain

FLOAT64 = 1e-12
RNG = np.random.Generator(np.random.PCG64(1))
Q = quat.normalize(RNG.normal(size=(7, 3, 4)))
P = quat.normalize(RNG.normal(size=(7, 3, 4)))
V = RNG.normal(size=(7, 3, 3))


def scipy_rotation(q):
    return Rotation.from_quat(q.reshape(-1, 4), scalar_first=True)


def test_product_matches_its_plain_form_and_scipy():
    ours = quat.multiply(Q, P)
    assert np.array_equal(ours, plain.multiply(Q, P))
    theirs = (scipy_rotation(Q) * scipy_rotation(P)).as_quat(scalar_first=True).reshape(Q.shape)
    assert np.abs(np.abs(np.sum(ours * theirs, axis=-1)) - 1.0).max() < FLOAT64


def test_product_broadcasts_leading_axes():
    assert np.allclose(quat.multiply(Q[:1], P), plain.multiply(Q[:1], P), atol=FLOAT64)


def test_turning_vectors_matches_its_plain_form_and_scipy():
    ours = quat.rotate(Q, V)
    assert np.abs(ours - plain.rotate(Q, V)).max() < FLOAT64
    theirs = scipy_rotation(Q).apply(V.reshape(-1, 3)).reshape(V.shape)
    assert np.abs(ours - theirs).max() < FLOAT64


def test_matrices_there_and_back():
    m = quat.to_matrix(Q)
    assert np.abs(m - scipy_rotation(Q).as_matrix().reshape(m.shape)).max() < FLOAT64
    assert quat.angle_between(quat.from_matrix(m), Q).max() < 1e-7


@pytest.mark.parametrize("axis", range(3))
def test_half_turns_survive_the_matrix(axis):
    q = quat.from_axis_angle(np.eye(3)[axis], np.pi)
    assert quat.angle_between(quat.from_matrix(quat.to_matrix(q)), q) < 1e-7


def test_log_and_exp_undo_each_other_down_to_nothing():
    v = V * np.array([1e-12, 1e-6, 0.5])[None, :, None]
    assert np.abs(quat.log(quat.exp(v)) - v).max() < FLOAT64


def plain_slerp(a, b, t):
    b = np.where((a * b).sum(axis=-1, keepdims=True) < 0.0, -b, b)
    angle = 2.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    sine = np.sin(angle)
    one, other = np.sin((1.0 - t) * angle) / sine, np.sin(t * angle) / sine
    return quat.normalize(one[..., None] * a + other[..., None] * b)


def test_slerp_and_angles_are_those_of_the_plain_form_and_broadcast():
    t = RNG.random(Q.shape[:-1])
    assert np.abs(quat.slerp(Q, P, t) - plain_slerp(Q, P, t)).max() < FLOAT64
    assert np.abs(quat.slerp(Q, P[:1], 0.3) - plain_slerp(Q, P[:1], 0.3)).max() < FLOAT64
    cosine = np.abs((Q * P).sum(axis=-1))
    assert np.abs(quat.angle_between(Q, P) - 2.0 * np.arccos(cosine)).max() < 1e-7
    assert quat.angle_between(Q, P[:1]).shape == Q.shape[:-1]
    assert np.abs(quat.slerp(Q, Q, t) - Q).max() < FLOAT64


def test_slerp_meets_both_ends_and_halves_the_angle():
    assert quat.angle_between(quat.slerp(Q, P, 0.0), Q).max() < 1e-7
    assert quat.angle_between(quat.slerp(Q, P, 1.0), P).max() < 1e-7
    half = quat.slerp(Q, P, 0.5)
    assert np.abs(quat.angle_between(Q, half) - quat.angle_between(half, P)).max() < 1e-7


def test_slerp_takes_the_short_way():
    middle = quat.slerp(Q, -Q, 0.5)
    assert quat.angle_between(middle, Q).max() < 1e-7


def test_signs_become_continuous_and_rotations_stay():
    flipped = Q * np.where(RNG.random((7, 3, 1)) < 0.5, -1.0, 1.0)
    smooth = np.repeat(Q[:1], 7, axis=0) * np.sign(flipped[..., :1])
    fixed = quat.make_continuous(smooth)
    assert np.all(np.sum(fixed[1:] * fixed[:-1], axis=-1) >= 0.0)
    assert np.abs(np.abs(fixed) - np.abs(smooth)).max() == 0.0
    assert check_rows(fixed) == (pytest.approx(0.0, abs=FLOAT64), False)


def test_between_vectors_carries_one_onto_the_other():
    a, b = V, V[::-1]
    turned = quat.rotate(quat.between_vectors(a, b), a)
    unit = b / np.linalg.norm(b, axis=-1, keepdims=True)
    assert np.abs(turned / np.linalg.norm(turned, axis=-1, keepdims=True) - unit).max() < 1e-9


def test_between_opposite_vectors_is_a_half_turn():
    q = quat.between_vectors(V, -V)
    assert np.abs(quat.rotate(q, V) + V).max() < 1e-9


def test_between_a_zero_vector_and_anything_is_no_turn():
    assert np.array_equal(quat.between_vectors(np.zeros(3), V[0, 0]), quat.IDENTITY)


def test_yaw_of_a_turn_about_up_is_that_turn():
    angles = np.linspace(-3.1, 3.1, 9)
    q = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angles)
    assert np.abs(quat.yaw(q) - angles).max() < FLOAT64


def test_mean_of_two_is_slerp_whatever_the_signs():
    pair = np.stack([Q, -P], axis=-2)
    ours = quat.mean(pair, np.array([0.3, 0.7]))
    assert quat.angle_between(ours, quat.slerp(Q, P, 0.7)).max() < 1e-6


def test_mean_with_one_weight_is_that_rotation():
    near = quat.multiply(Q[:, :1], quat.exp(0.4 * V))
    assert quat.angle_between(quat.mean(near, np.eye(3)[1]), near[:, 1]).max() < 1e-9


def test_a_zero_quaternion_becomes_the_identity():
    assert np.array_equal(quat.normalize(np.zeros((2, 4))), np.tile(quat.IDENTITY, (2, 1)))


def test_turns_are_the_angles_between_frames_whatever_the_signs():
    rng = np.random.default_rng(5)
    q = quat.normalize(rng.normal(size=(40, 6, 4)))
    q[1::3] = quat.multiply(q[:-1][::3], quat.exp(1e-3 * rng.normal(size=(13, 6, 3))))
    assert np.allclose(quat.turns(q), quat.angle_between(q[:-1], q[1:]), rtol=0.0, atol=1e-7)
    assert np.array_equal(quat.turns(q, [3, 5]), quat.turns(q)[:, [3, 5]])
    assert quat.turns(q[:1]).shape == (0, 6)


def test_rows_are_checked_for_their_length_and_for_flips():
    q = np.tile(quat.IDENTITY, (5, 3, 1))
    assert check_rows(q) == (0.0, False)
    for frame, joint in ((1, 0), (3, 1), (4, 2)):
        flipped = np.array(q)
        flipped[frame, joint] *= -1.0
        assert check_rows(flipped) == (0.0, True)
    turned = np.array(q)
    turned[0] *= -1.0
    assert check_rows(turned)[1]
    assert not check_rows(turned[:1])[1]
    for size in (0.999, 1.001):
        odd = np.array(q)
        odd[2, 1] *= size
        assert check_rows(odd)[0] == pytest.approx(0.001, rel=0.01)


def test_a_single_vector_is_turned_to_the_same_bits_as_many():
    rng = np.random.Generator(np.random.PCG64(3))
    q, v = quat.normalize(rng.normal(size=(50, 4))), rng.normal(size=(50, 3))
    alone = np.array([quat.rotate(*pair) for pair in zip(q, v, strict=True)])
    assert np.array_equal(alone, quat.rotate(q, v))
