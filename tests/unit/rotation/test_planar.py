import numpy as np

from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform, wrap_angle

FLOAT64 = 1e-12
POINTS = np.random.Generator(np.random.PCG64(3)).normal(size=(20, 3))
A = PlanarTransform(0.7, 1.0, -2.0)
B = PlanarTransform(-2.9, 5.0, 0.3)


def test_inner_letters_cancel():
    assert np.abs((A @ B).apply(POINTS) - A.apply(B.apply(POINTS))).max() < FLOAT64


def test_the_inverse_undoes_it():
    assert np.abs(A.inverse().apply(A.apply(POINTS)) - POINTS).max() < FLOAT64


def test_the_turn_is_the_quaternion_turn():
    turned = quat.rotate(A.quat(), POINTS) + np.array([1.0, 0.0, -2.0])
    assert np.abs(A.apply(POINTS) - turned).max() < FLOAT64


def test_heights_are_left_alone():
    assert np.array_equal(A.apply(POINTS)[:, 1], POINTS[:, 1])


def test_positive_theta_carries_z_towards_x():
    turned = PlanarTransform(np.pi / 2, 0.0, 0.0).apply(np.array([0.0, 0.0, 1.0]))
    assert np.abs(turned - [1.0, 0.0, 0.0]).max() < FLOAT64


def test_the_identity_moves_nothing():
    assert np.array_equal(PlanarTransform.identity().apply(POINTS), POINTS)


def test_angles_wrap_into_half_open_turn():
    assert wrap_angle(np.pi) == np.pi
    assert abs(wrap_angle(-np.pi) - np.pi) < FLOAT64
    assert abs(wrap_angle(7.0) - (7.0 - 2 * np.pi)) < FLOAT64
