"""Glitches and copied frames as the core finds them, against their plain forms."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom._core import CoreError, kernel, record
from motionloom.motion.motion import check_rows
from motionloom.rotation import quat
from tests.oracles import copied, glitches

RNG = np.random.Generator(np.random.PCG64(5))


@pytest.mark.parametrize("half", [2, 6, 24])
@pytest.mark.parametrize("n_steps", [1, 3, 9, 200])
def test_spikes_are_those_of_the_plain_form(half: int, n_steps: int) -> None:
    fps = 120.0
    speeds = np.minimum(RNG.gamma(0.4, 2.0, (n_steps, 5)), 300.0)
    speeds[RNG.random(speeds.shape) < 0.05] *= 40.0
    angles = np.cumsum(np.concatenate([np.zeros((1, 5)), speeds / fps]), axis=0)
    quats = quat.from_axis_angle(np.array([0.6, 0.0, 0.8]), angles)
    speeds = fps * quat.turns(quats)
    rules = {"fast": 8.0, "steady": 1.0, "ratio": 8.0}
    wanted = glitches.spikes(speeds, half, **rules)
    beyond_wanted = np.argwhere(speeds > 60.0).tolist()
    find = kernel("ml_spike_find")
    for most in (3, 400):
        found, beyond = np.zeros((most, 3)), np.zeros((most, 2), dtype=np.int64)
        n_beyond, off = np.zeros(1, dtype=np.int64), np.zeros(2)
        n = find(
            n_steps + 1, 5, quats, fps, *rules.values(), 60.0, half, np.zeros(2 * half), most,
            found, beyond, n_beyond, off,
        )  # fmt: skip
        assert n == len(wanted)
        assert [tuple(row) for row in found[: min(n, most)]] == wanted[:most]
        assert n_beyond[0] == len(beyond_wanted)
        assert beyond[: min(len(beyond_wanted), most)].tolist() == beyond_wanted[:most]
        error, flips = check_rows(quats)
        assert 0.5 * off[0] == pytest.approx(error, abs=1e-15)
        assert (off[1] > 0.0) == flips
    assert n_steps < 200 or (wanted and beyond_wanted)


@pytest.mark.parametrize("n_frames", [3, 5, 40, 300])
@pytest.mark.parametrize("stride", [1, 2, 4])
def test_bent_frames_are_those_of_the_plain_form(n_frames: int, stride: int) -> None:
    if n_frames <= 2 * stride:
        n_frames += 2 * stride
    positions = np.cumsum(RNG.normal(0.0, 2e-3, (n_frames, 6, 3)), axis=0)
    odd = RNG.random(positions.shape[:2]) < 0.06
    positions[odd] += RNG.normal(0.0, 0.1, (int(odd.sum()), 3))
    joints = np.array([4, 0, 3, 5], dtype=np.int64)
    rules = {"sharp": 60.0, "beside": 1.5, "sharpest": 0.5, "ratio": 5.0, "calm": 14.0}
    half = 6
    wanted = glitches.bent_frames(positions[:, joints], 60.0, stride=stride, half=half, **rules)
    found = np.zeros(n_frames, dtype=np.int64)
    kernel("ml_bend_find")(
        n_frames, 6, positions, 4, joints, 60.0,
        record("ml_bends", stride=stride, half=half, **rules), np.zeros(2 * half), found,
    )  # fmt: skip
    assert {int(f): int(found[f]) for f in np.flatnonzero(found >= 0)} == wanted
    assert n_frames < 300 or wanted


def test_joints_that_are_not_there_are_refused() -> None:
    rules = record(
        "ml_bends", stride=1, half=3, sharp=1.0, beside=1.0, sharpest=1.0, ratio=1.0, calm=1.0
    )
    found = np.zeros(9, dtype=np.int64)
    with pytest.raises(CoreError, match="sizes"):
        kernel("ml_bend_find")(
            9, 2, np.zeros((9, 2, 3)), 1, np.array([2]), 60.0, rules, np.zeros(6), found
        )


@pytest.mark.parametrize(("first", "start", "n"), [(0, 0, 50), (3, 7, 30), (49, 0, 1), (5, 5, 0)])
def test_copied_frames_are_those_of_the_plain_form(first: int, start: int, n: int) -> None:
    turn, speed, bend = RNG.gamma(1.0, 2.0, (3, 50, 4))
    out = np.zeros((50, 4, 3))
    kernel("ml_copied_joints")(50, 4, turn, speed, bend, 50, first, start, n, 1.15, out)
    wanted = np.zeros_like(out)
    values = np.stack([turn, speed, bend], axis=-1)
    wanted[first : first + n] = 1.15 * copied.joints(values, start, start + n)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("near", [1, 3, 12])
@pytest.mark.parametrize(("first", "start", "n"), [(0, 0, 80), (3, 7, 60), (79, 0, 1), (20, 0, 60)])
def test_copied_grounds_are_those_of_the_plain_form(
    first: int, start: int, n: int, near: int
) -> None:
    soles = np.cumsum(RNG.normal(0.0, 0.01, (80, 4, 3)), axis=0)
    planted = np.repeat(RNG.random((16, 4)) < 0.5, 5, axis=0)
    out = np.full((80, 6, 5), np.inf)
    out[..., 0] = -np.inf
    kernel("ml_copied_grounds")(80, soles, 80, planted, first, start, n, near, 0.025, 1.15, out)
    wanted = copied.grounds(soles, planted, first, start, n, near=near, sink=0.025, more=1.15)
    np.testing.assert_array_equal(out[..., 0], wanted[..., 0])
    np.testing.assert_allclose(out[..., 1], wanted[..., 1], rtol=1e-15)


@pytest.mark.parametrize("near", [0, 3, 12])
@pytest.mark.parametrize(("first", "start", "n"), [(0, 0, 80), (3, 7, 60), (79, 0, 1), (20, 0, 60)])
def test_copied_drags_are_those_of_the_plain_form(
    first: int, start: int, n: int, near: int
) -> None:
    soles = np.cumsum(RNG.normal(0.0, 0.008, (80, 4, 3)), axis=0)
    floors, out = RNG.normal(0.0, 0.02, 4), np.full((80, 6, 5), 7.0)
    kernel("ml_copied_drags")(80, soles, floors, 60.0, 80, first, start, n, near, 1.2, out)
    wanted = np.full((80, 6, 5), 7.0)
    given = (soles, floors, 60.0, first, start, n)
    wanted[first : first + n, :, 2:] = copied.drags(*given, near=near, more=1.2)
    np.testing.assert_allclose(out, wanted, rtol=1e-12)
    assert n < 60 or (wanted[first : first + n, :, 2:] > 0.0).any()


@pytest.mark.parametrize(
    ("first", "n", "whole"), [(0, 4, [0, 3]), (0, 1, []), (1, 1, []), (0, 2, [0]), (3, 1, [3])]
)
def test_a_contact_is_whole_if_it_neither_goes_on_before_nor_after(
    first: int, n: int, whole: list[int]
) -> None:
    planted = np.repeat(np.array([[True], [True], [False], [True]]), 4, axis=1)
    out = np.full((4, 6, 5), np.inf)
    kernel("ml_copied_grounds")(4, np.zeros((4, 4, 3)), 4, planted, first, first, n, 1, 0, 1, out)
    assert np.flatnonzero(np.isfinite(out[:, 2, 1])).tolist() == whole


def test_frames_beyond_a_source_are_refused() -> None:
    series = np.zeros((9, 2))
    for first, start, n in ((0, 5, 5), (5, 0, 5), (-1, 0, 2), (0, -1, 2), (0, 0, -1)):
        with pytest.raises(CoreError, match="sizes"):
            kernel("ml_copied_joints")(
                9, 2, series, series, series, 9, first, start, n, 1.0, np.zeros((9, 2, 3))
            )
