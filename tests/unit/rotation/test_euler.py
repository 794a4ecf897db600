from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from motionloom.errors import ArrayError
from motionloom.rotation import euler, quat
from tests.oracles import euler as plain

FLOAT64 = 1e-12
ORDERS = [a + b + c for a, b, c in product("XYZ", repeat=3) if a != b and b != c]
RNG = np.random.Generator(np.random.PCG64(2))
ANGLES = RNG.uniform(-3.1, 3.1, size=(60, 3))
ANGLES[:10, 1] = 0.0  # gimbal lock of the six orders such as ZXZ
ANGLES[10:20, 1] = np.pi / 2  # and of the six such as ZXY
ANGLES[20:25, 1] = -np.pi / 2
ANGLES[25:30, 1] = np.pi


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_means_what_scipy_means_by_it(order):
    ours = euler.euler_to_quat(ANGLES, order)
    theirs = Rotation.from_euler(order, ANGLES).as_quat(scalar_first=True)
    assert quat.angle_between(ours, theirs).max() < 1e-7
    assert np.abs(ours - plain.euler_to_quat(ANGLES, order)).max() < FLOAT64


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_comes_back_even_in_gimbal_lock(order):
    q = euler.euler_to_quat(ANGLES, order)
    again = euler.euler_to_quat(euler.quat_to_euler(q, order), order)
    assert quat.angle_between(q, again).max() < 1e-7


@pytest.mark.parametrize("order", ["X", "Y", "ZX"])
def test_short_orders_are_read(order):
    q = euler.euler_to_quat(ANGLES[:, : len(order)], order)
    full = Rotation.from_euler(order, ANGLES[:, : len(order)]).as_quat(scalar_first=True)
    assert quat.angle_between(q, full.reshape(q.shape)).max() < 1e-7


@pytest.mark.parametrize("order", ["", "XX", "XYZX", "ABC", "XYY"])
def test_an_impossible_order_is_refused(order):
    with pytest.raises(ArrayError, match="`order`"):
        euler.axes_of(order)


def test_the_number_of_columns_must_fit_the_order():
    with pytest.raises(ArrayError, match="2 columns"):
        euler.euler_to_quat(np.zeros((4, 3)), "ZX")
