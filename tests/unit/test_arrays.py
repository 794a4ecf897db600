import numpy as np
import pytest

from motionloom._arrays import Block, flag, frozen, not_negative, positive, whole
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


@pytest.mark.parametrize("value", [True, 1.0, "1", None, np.float64(1), np.array([1]), np.bool_(1)])
def test_what_only_looks_whole_is_no_whole_number(value):
    with pytest.raises(ArrayError, match="`n` must be a whole number"):
        whole(value, "n")


def test_whole_numbers_keep_to_their_bounds():
    assert whole(np.uint8(3), "n", least=3, most=3) == 3
    with pytest.raises(ArrayError, match="`n` must be at least 3 and at most 4, got 5"):
        whole(5, "n", least=3, most=4)


@pytest.mark.parametrize("value", [0, 1, "no", None])
def test_a_flag_is_true_or_false(value):
    assert flag(np.bool_(1), "n") is True
    with pytest.raises(ArrayError, match="True or False"):
        flag(value, "n")


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), "1", True])
def test_what_is_below_zero_or_no_number_is_refused(value):
    assert not_negative(0, "n") == 0.0
    with pytest.raises(ArrayError, match="`n` must"):
        not_negative(value, "n")


def test_a_block_is_given_out_piece_by_piece_and_then_makes_more():
    block = Block(10)
    (first, second), (third,) = block.zeros((2, 3), (4,)), block.zeros((2, 2))
    for piece, shape in ((first, (2, 3)), (second, (4,)), (third, (2, 2))):
        assert piece.shape == shape
        assert not piece.any()
        piece += 1.0
    assert first.base is not None and first.base is second.base
    assert not np.shares_memory(first, second)
    assert third.base is not first.base
