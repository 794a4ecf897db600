"""Kernels of channels against their plain forms, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom._core import kernel, record
from motionloom.errors import ArrayError
from motionloom.rotation import euler, quat
from tests.oracles import channels as plain

ROUNDING = 1e-12
LAYOUT = (((0, 0), (1, 1), (2, 2), (5, 3), (3, 4), (4, 5)), (), ((4, 8), (1, 6)), ((3, 7), (5, 9)))
"""Kinds and columns of four joints: as usual, none, and mixed up."""
OFFSETS = np.arange(12.0).reshape(4, 3)


def posed(
    rows: np.ndarray, *, n_placed: int, blocks: tuple[int, ...] = ()
) -> tuple[np.ndarray, np.ndarray]:
    kinds, columns = np.array([pair for own in LAYOUT for pair in own]).T.copy()
    first = np.cumsum([0, *(len(own) for own in LAYOUT)])
    channels = record(
        "ml_channels", n_channels=len(kinds), n_joints=4, kinds=kinds, columns=columns,
        first=first, offsets=OFFSETS,
    )  # fmt: skip
    quats, places = np.zeros((len(rows), 4, 4)), []
    for start, stop in zip((0, *blocks), (*blocks, len(rows)), strict=True):
        places.append(np.zeros((stop - start, n_placed, 3)))
        kernel("ml_channel_poses")(
            channels, stop - start, rows.shape[1], rows[start:stop], start, len(rows), quats,
            n_placed, places[-1],
        )  # fmt: skip
    return quats, np.concatenate(places)


@pytest.mark.parametrize("n_rows", [0, 1, 2, 15, 16, 17, 100])
def test_rows_become_rotations_with_signs_that_go_on(n_rows: int) -> None:
    rng = np.random.Generator(np.random.PCG64(n_rows))
    rows = rng.normal(0.0, 400.0, (n_rows, 10))
    quats, places = posed(rows, n_placed=4)
    np.testing.assert_allclose(quats, plain.poses(rows, LAYOUT), atol=ROUNDING)
    expected = np.tile(OFFSETS, (n_rows, 1, 1))
    expected[:, 0], expected[:, 2, 1] = rows[:, :3], rows[:, 6]
    np.testing.assert_array_equal(places, expected)


def test_blocks_of_rows_give_what_all_rows_give_at_once() -> None:
    rows = np.random.Generator(np.random.PCG64(1)).normal(0.0, 400.0, (100, 10))
    whole, _ = posed(rows, n_placed=1)
    parts, places = posed(rows, n_placed=1, blocks=(1, 2, 40, 40, 57))
    np.testing.assert_array_equal(whole, parts)
    np.testing.assert_array_equal(places[:, 0], rows[:, :3])


def test_a_half_turn_between_frames_keeps_its_sign() -> None:
    rows = np.zeros((3, 10))
    rows[1, 4], rows[2, 4] = 180.0, 360.0  # square to each other, then opposite to the first
    quats, _ = posed(rows, n_placed=1)
    assert quats[:, 0].tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [-1, 0, 0, 0]]


CHANNELS = {
    "n_channels": 2, "n_joints": 1, "kinds": np.array([0, 5]), "columns": np.array([0, 2]),
    "first": np.array([0, 2]), "offsets": np.zeros((1, 3)),
}  # fmt: skip
POSES = {
    "n_rows": 2, "n_columns": 3, "rows": np.zeros((2, 3)), "start": 1, "n_frames": 3,
    "quats": np.zeros((3, 1, 4)), "n_placed": 1, "places": np.zeros((2, 1, 3)),
}  # fmt: skip


def pose(given: dict[str, object]) -> None:
    channels = record("ml_channels", **{name: given[name] for name in CHANNELS})
    kernel("ml_channel_poses")(channels, *(given[name] for name in POSES))


@pytest.mark.parametrize(
    "wrong",
    [
        {"kinds": np.array([0, 6])},
        {"kinds": np.array([-1, 5])},
        {"columns": np.array([0, 3])},
        {"columns": np.array([-1, 2])},
        {"first": np.array([1, 2])},
        {"first": np.array([0, 1])},
        {"start": 2},
        {"start": -1},
        {"n_placed": 2, "places": np.zeros((2, 2, 3))},
        {
            "n_joints": 2,
            "first": np.array([0, 3, 2]),
            "offsets": np.zeros((2, 3)),
            "quats": np.zeros((3, 2, 4)),
        },
    ],
    ids=lambda wrong: " ".join(wrong),
)
def test_channels_that_do_not_fit_are_refused(wrong: dict[str, object]) -> None:
    pose(CHANNELS | POSES)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        pose(CHANNELS | POSES | wrong)


def swinging(seed: int, n_frames: int = 150) -> np.ndarray:
    rng = np.random.Generator(np.random.PCG64(seed))
    return quat.exp(np.cumsum(rng.normal(0.0, 0.1, (n_frames, 3)), axis=0))


def angles_of(q: np.ndarray, order: str, n_written: int, copies: int = 1) -> np.ndarray:
    """Angles of as many copies of one joint; the first ``n_written`` of each are columns."""
    quats = np.ascontiguousarray(np.repeat(q[:, None], copies, axis=1))
    columns = np.arange(3 * copies).reshape(copies, 3)
    columns[:, n_written:] = -1
    out, last = np.full((len(q), 3 * copies), np.nan), np.zeros((copies, 3))
    axes = np.tile(euler.axes_of(order), (copies, 1))
    kernel("ml_channel_angles")(
        len(q), copies, quats, copies, np.arange(copies), axes, columns, last, 3 * copies, out
    )
    return out


@pytest.mark.parametrize("order", ["ZXY", "XYZ", "YZX", "ZYX", "XZX", "YXY"])
@pytest.mark.parametrize("n_written", [1, 2, 3])
def test_angles_are_the_nearest_to_the_frame_before(order: str, n_written: int) -> None:
    q = swinging(ord(order[0]) + n_written)
    expected = plain.angles(q, order, n_written)[:, :n_written]
    found = angles_of(q, order, n_written)
    np.testing.assert_allclose(found[:, :n_written], expected, atol=1e-9)
    assert np.isnan(found[:, n_written:]).all()


@pytest.mark.parametrize("copies", [2, 63, 64, 65, 130])
def test_any_number_of_joints_gets_the_same_angles(copies: int) -> None:
    q = swinging(3, 20)
    found = angles_of(q, "ZXY", 3, copies).reshape(20, copies, 3)
    np.testing.assert_array_equal(found, np.repeat(angles_of(q, "ZXY", 3)[:, None], copies, axis=1))


def test_no_frames_have_no_angles() -> None:
    assert angles_of(np.zeros((0, 4)), "ZXY", 3).shape == (0, 3)


ANGLES = {
    "n_frames": 1, "n_joints": 2, "quats": np.zeros((1, 2, 4)), "n_turning": 1,
    "joints": np.array([1]), "axes": np.array([2, 0, 1]), "columns": np.array([0, 1, -1]),
    "last": np.zeros(3), "n_columns": 2, "out": np.zeros(2),
}  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"joints": np.array([2])},
        {"joints": np.array([-1])},
        {"axes": np.array([2, 0, 3])},
        {"axes": np.array([2, -1, 1])},
        {"axes": np.array([2, 2, 1])},
        {"axes": np.array([2, 1, 1])},
        {"columns": np.array([0, 1, 2])},
    ],
    ids=str,
)
def test_joints_axes_and_columns_that_do_not_fit_are_refused(wrong: dict[str, object]) -> None:
    kernel("ml_channel_angles")(*ANGLES.values())
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_channel_angles")(*(ANGLES | wrong).values())
