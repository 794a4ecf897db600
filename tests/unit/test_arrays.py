import numpy as np
import pytest

from motionloom._arrays import frozen, positive
from motionloom.errors import ArrayError


def test_frozen_copies_what_could_be_changed():
    values = np.ones((2, 3))
    kept = frozen(values, "values", (2, 3))
    values[0, 0] = 9.0
    assert kept[0, 0] == 1.0
    assert not kept.flags.writeable


def test_frozen_adopts_what_nobody_can_change():
    values = np.ones((2, 3))
    values.flags.writeable = False
    assert frozen(values, "values", (2, 3)) is values


def test_frozen_copies_a_read_only_view_of_a_writable_array():
    owner = np.ones((2, 3))
    view = owner[:1]
    view.flags.writeable = False
    kept = frozen(view, "values", (1, 3))
    owner[:] = 5.0
    assert kept[0, 0] == 1.0


def test_a_wrong_shape_is_named():
    with pytest.raises(ArrayError, match=r"`points` must have shape \(any, 3\), got \(4, 2\)"):
        frozen(np.zeros((4, 2)), "points", (None, 3))


def test_the_first_value_that_is_not_finite_is_named():
    values = np.zeros((2, 3))
    values[1, 2] = np.nan
    with pytest.raises(ArrayError, match=r"finite, got nan at index \(1, 2\)"):
        frozen(values, "points", (2, 3))


@pytest.mark.parametrize("bad", ["text", [[1], [1, 2]], None])
def test_what_is_no_array_is_refused(bad):
    with pytest.raises(ArrayError):
        frozen(bad, "points", (None,))


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "x", None])
def test_a_rate_must_be_a_number_above_zero(bad):
    with pytest.raises(ArrayError, match="`fps`"):
        positive(bad, "fps")
