"""Laws of rotations, also near the identity and near half a turn, where formulas break."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from motionloom.rotation import euler, quat
from motionloom.rotation.quat import PlanarTransform

ANGLE = 1e-6  # quaternions near a half turn know their angle to about the root of the precision
vectors = arrays(np.float64, 3, elements=st.floats(-10, 10))
turns = st.one_of(
    vectors,
    vectors.map(lambda v: 1e-8 * v),
    vectors.map(lambda v: np.pi * v / np.linalg.norm(v) if np.linalg.norm(v) > 1e-3 else v),
)
rotations = turns.map(quat.exp)
orders = st.sampled_from(["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "ZXZ", "XYX", "YZY"])
planars = st.tuples(st.floats(-20, 20), st.floats(-100, 100), st.floats(-100, 100)).map(
    lambda t: PlanarTransform(*t)
)


@given(rotations, rotations, rotations)
def test_products_associate(a, b, c):
    left = quat.multiply(quat.multiply(a, b), c)
    assert np.abs(left - quat.multiply(a, quat.multiply(b, c))).max() < 1e-9


@given(rotations)
def test_a_rotation_and_its_opposite_cancel(q):
    assert quat.angle_between(quat.multiply(q, quat.conjugate(q)), quat.IDENTITY) < ANGLE


@given(rotations, vectors)
def test_turning_keeps_lengths(q, v):
    assert abs(np.linalg.norm(quat.rotate(q, v)) - np.linalg.norm(v)) < 1e-9


@given(rotations)
def test_exp_undoes_log(q):
    assert quat.angle_between(quat.exp(quat.log(q)), q) < ANGLE


@given(rotations, orders)
def test_euler_angles_come_back_as_the_same_rotation(q, order):
    again = euler.euler_to_quat(euler.quat_to_euler(q, order), order)
    assert quat.angle_between(again, q) < ANGLE


@given(rotations)
def test_matrices_come_back_as_the_same_rotation(q):
    assert quat.angle_between(quat.from_matrix(quat.to_matrix(q)), q) < ANGLE


@given(rotations, rotations, st.floats(0, 1))
def test_slerp_moves_at_a_steady_rate(a, b, t):
    whole = quat.angle_between(a, b)
    if whole < np.pi - 1e-3:  # the two ways round are equally long at half a turn
        part = quat.angle_between(a, quat.slerp(a, b, t))
        assert abs(part - t * whole) < ANGLE


@given(planars, planars, vectors)
def test_planar_transforms_compose_and_invert(a, b, v):
    assert np.abs((a @ b).apply(v) - a.apply(b.apply(v))).max() < 1e-9
    assert np.abs(a.inverse().apply(a.apply(v)) - v).max() < 1e-9
