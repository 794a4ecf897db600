"""Legs rewritten after world turns, against the plain form."""

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from tests.oracles import rewrite as plain

N, JOINTS, PARENTS = 60, np.array([1, 3, 4, 5]), np.array([0, 2, 3, 4])
"""Hip, knee, ankle, toe; joint 2 is a twist bone between hip and knee."""


def unit(rng, *shape):
    q = rng.normal(size=(*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def rewritten(joints, parents, **given):
    rng = np.random.Generator(np.random.PCG64(4))
    world, local = unit(rng, N, 6), unit(rng, N, 6)
    turns = [unit(rng, N) for _ in range(4)]
    turns[2][:20] = quat.IDENTITY
    shift, ankle, target = np.zeros((N, 3)), rng.normal(size=(N, 3)), np.zeros((N, 3))
    shift[:5, 1], target[:] = 1e-300, ankle
    target[10:13, 2] += 0.1
    after = np.array(local)
    kernel("ml_rewrite_leg")(
        N, 6, joints, parents, world, shift, ankle, target, *given.get("turns", turns), after,
        given.get("off", np.zeros(2)),
    )  # fmt: skip
    changed = (np.arange(N) < 5) | (np.arange(N) >= 20)
    changed[10:13] = True
    return local, world, turns, after, changed


def test_a_leg_is_turned_as_in_the_plain_form_and_only_where_something_changes():
    local, world, turns, after, changed = rewritten(JOINTS, PARENTS)
    expected = np.array(local)
    above = [np.tile(quat.IDENTITY, (N, 1)), *turns[:3]]
    for joint, parent, over, turn in zip(JOINTS, PARENTS, above, turns, strict=True):
        made = plain.turned_joint(local[:, joint], world[:, joint], world[:, parent], over, turn)
        expected[changed, joint] = made[changed]
    assert np.abs(after - expected).max() < 1e-14
    assert np.array_equal(after[~changed], local[~changed])
    assert np.array_equal(after[:, [0, 2]], local[:, [0, 2]])


def test_a_leg_without_toe_joint_and_a_hip_that_is_the_root():
    local, world, turns, after, changed = rewritten(
        np.array([0, 1, 3, -1]), np.array([-1, 0, 1, 0])
    )
    free = np.tile(quat.IDENTITY, (N, 1))
    made = plain.turned_joint(local[:, 0], world[:, 0], free, free, turns[0])
    assert np.abs(after[changed, 0] - made[changed]).max() < 1e-14
    assert np.array_equal(after[:, [2, 4, 5]], local[:, [2, 4, 5]])


@pytest.mark.parametrize(
    ("joints", "parents"),
    [((6, 1, 2, 3), (0, 0, 0, 0)), ((-1, 1, 2, 3), (0, 0, 0, 0)), ((0, 1, 2, -2), (0, 0, 0, 0)),
     ((0, 1, 2, 3), (6, 0, 0, 0)), ((0, 1, 2, 3), (-2, 0, 0, 0))],
)  # fmt: skip
def test_joints_that_are_not_there_are_refused(joints, parents):
    with pytest.raises(ArrayError, match="sizes do not fit"):
        rewritten(np.array(joints), np.array(parents))


def test_how_far_rotations_are_off_is_found_in_all_frames_of_the_leg():
    off = np.zeros(2)
    _, _, _, after, _ = rewritten(JOINTS, PARENTS, off=off)
    leg = after[:, JOINTS]
    errors = np.abs(np.sum(leg**2, axis=-1) - 1.0)
    sides = -np.sum(leg[1:] * leg[:-1], axis=-1)
    assert off == pytest.approx([errors.max(), sides.max()], abs=1e-15)
    high = np.array([0.5, 2.0])
    rewritten(JOINTS, PARENTS, off=high)
    assert high.tolist() == [0.5, 2.0]
