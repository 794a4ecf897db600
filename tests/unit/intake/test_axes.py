from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionloom.errors import ArrayError
from motionloom.intake.axes import UP_AXES, checked_up, from_world, skeleton_to_world, to_world
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

FLOAT64_M = 1e-12


def odd_motion(seed: int, *, sliding: bool) -> Motion:
    rng = np.random.Generator(np.random.PCG64(seed))
    skeleton = Skeleton(
        ["a", "b", "c", "d"],
        [-1, 0, 1, 0],
        rng.normal(size=(4, 3)),
        quat.normalize(rng.normal(size=(4, 4))),
        [2, 3],
        rng.normal(size=(2, 3)),
    )
    quats = quat.normalize(rng.normal(size=(5, 4, 4)))
    moving = rng.normal(size=(5, 4, 3)) if sliding else None
    return Motion(skeleton, rng.normal(size=(5, 3)), quats, 30.0, joint_translations=moving)


@pytest.mark.parametrize("up", UP_AXES)
def test_the_up_axis_of_a_file_becomes_plus_y(up: str) -> None:
    direction = np.zeros(3)
    direction["xyz".index(up[-1])] = -1.0 if up.startswith("-") else 1.0
    bone = Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], direction])
    still = Motion(bone, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 2, 1)), 30.0)
    tip = to_world(still, up=up, unit_m=2.0).world_positions()[0, 1]
    np.testing.assert_array_equal(tip, [0.0, 2.0, 0.0])


@given(seed=st.integers(0, 1000), up=st.sampled_from(UP_AXES), sliding=st.booleans())
def test_every_point_is_turned_and_none_is_mirrored(seed: int, up: str, sliding: bool) -> None:
    motion = odd_motion(seed, sliding=sliding)
    turned = to_world(motion, up=up, unit_m=1.0)
    before = np.concatenate([motion.world_positions(), motion.end_positions()], axis=1)
    after = np.concatenate([turned.world_positions(), turned.end_positions()], axis=1)
    basis = to_world(_frame(), up=up, unit_m=1.0).world_positions()[0, 1:].T  # images of x, y, z
    assert np.linalg.det(basis) == pytest.approx(1.0)
    np.testing.assert_allclose(after, before @ basis.T, atol=FLOAT64_M)


@given(seed=st.integers(0, 1000), up=st.sampled_from(UP_AXES), sliding=st.booleans())
def test_a_change_of_axes_is_undone_to_the_last_bit(seed: int, up: str, sliding: bool) -> None:
    motion = odd_motion(seed, sliding=sliding)
    back = from_world(to_world(motion, up=up, unit_m=1.0), up=up, unit_m=1.0)
    np.testing.assert_array_equal(back.root_positions, motion.root_positions)
    np.testing.assert_array_equal(back.local_quats, motion.local_quats)
    np.testing.assert_array_equal(back.skeleton.offsets, motion.skeleton.offsets)
    np.testing.assert_array_equal(back.skeleton.rest_quats, motion.skeleton.rest_quats)
    np.testing.assert_array_equal(back.skeleton.end_offsets, motion.skeleton.end_offsets)
    if sliding:
        assert back.joint_translations is not None and motion.joint_translations is not None
        np.testing.assert_array_equal(back.joint_translations, motion.joint_translations)


@given(seed=st.integers(0, 1000), unit_m=st.sampled_from([0.01, 0.0254, 0.0254 / 0.45, 3.0]))
def test_a_change_of_unit_scales_every_point_and_is_undone(seed: int, unit_m: float) -> None:
    motion = odd_motion(seed, sliding=True)
    metric = to_world(motion, up="z", unit_m=unit_m)
    turned = to_world(motion, up="z", unit_m=1.0)
    np.testing.assert_allclose(
        metric.world_positions(), turned.world_positions() * unit_m, atol=FLOAT64_M
    )
    back = from_world(metric, up="z", unit_m=unit_m)
    np.testing.assert_allclose(back.root_positions, motion.root_positions, rtol=1e-15)


def test_the_rest_pose_is_turned_along() -> None:
    motion = odd_motion(3, sliding=False)
    at_rest = motion.replace(local_quats=np.tile(motion.skeleton.rest_quats, (5, 1, 1)))
    turned = to_world(at_rest, up="z", unit_m=1.0)
    np.testing.assert_array_equal(turned.local_quats[0], turned.skeleton.rest_quats)
    alone = skeleton_to_world(motion.skeleton, up="z", unit_m=1.0)
    np.testing.assert_array_equal(alone.offsets, turned.skeleton.offsets)


def test_nothing_is_copied_where_nothing_changes() -> None:
    motion = odd_motion(4, sliding=False)
    assert to_world(motion, up="y", unit_m=1.0) is motion
    scaled = to_world(motion, up="y", unit_m=0.01)
    assert np.shares_memory(scaled.local_quats, motion.local_quats)


def test_up_may_be_given_with_a_plus_or_a_capital() -> None:
    assert checked_up("Z") == "z"
    assert checked_up(" +Y") == "y"
    assert checked_up("-X") == "-x"


@pytest.mark.parametrize("wrong", ["", "w", "zz", "--z", None, 3])
def test_an_up_axis_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises(ArrayError, match="must be one of y, z, x"):
        checked_up(wrong)  # type: ignore[arg-type]


def _frame() -> Motion:
    axes = Skeleton(["o", "x", "y", "z"], [-1, 0, 0, 0], np.concatenate([[[0, 0, 0]], np.eye(3)]))
    return Motion(axes, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 4, 1)), 30.0)
