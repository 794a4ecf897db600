"""Joints and soles of legs against their plain forms."""

from dataclasses import replace

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from motionloom.tables.synthesis.synthesis import Rig, chain_pose, fastest_speeds, sole_points
from tests.oracles import chain_kernel as plain

PARENTS = np.array([-1, 0, 1, 2, 0, 4, 5, 1, 7])
CHAIN = np.array([0, 1, 2, 3, 4, 5, 6])


def random_rig(rng):
    legs = np.array([[1, 2, 3], [4, 5, 6]])
    offsets = rng.normal(size=(9, 3))
    soles, poles, axes = (rng.normal(size=shape) for shape in ((2, 2, 3), (2, 3), (2, 3)))
    return Rig(PARENTS, offsets, CHAIN, legs, soles, poles, axes)


def random_motion(rng, n):
    return rng.normal(size=(n, 3)), quat.normalize(rng.normal(size=(n, 9, 4)))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 61])
@pytest.mark.parametrize("every", [False, True])
def test_joints_and_soles_match_their_plain_form(n, every):
    rng = np.random.Generator(np.random.PCG64(n))
    rig = random_rig(rng)
    root, quats = random_motion(rng, n)
    chain = np.arange(9) if every else rig.chain
    positions, world = chain_pose(replace(rig, chain=chain), root, quats)
    expected = plain.chain_pose(rig, chain, root, quats)
    assert np.abs(positions - expected[0]).max(initial=0.0) < 1e-13
    assert np.abs(world - expected[1]).max(initial=0.0) < 1e-13
    if every:
        again = np.zeros_like(positions), np.zeros_like(world)
        given = n, 9, rig.parents, rig.offsets, 9, None, root, quats
        kernel("ml_chain_pose")(*given, *again)
        assert (again[0] == positions).all() and (again[1] == world).all()
    points = sole_points(rig, positions, world)
    soles = plain.sole_points(rig, positions, world)
    assert np.abs(points - soles).max(initial=0.0) < 1e-13


@pytest.mark.parametrize("n", [1, 2, 30])
def test_the_speeds_match_their_plain_form(n):
    rng = np.random.Generator(np.random.PCG64(n))
    rig = random_rig(rng)
    root, quats = random_motion(rng, n)
    quats[:, 3] = quats[0, 3]
    fastest = fastest_speeds(rig, root, quats, 30.0)
    expected = plain.fastest_of(plain.chain_pose(rig, np.arange(9), root, quats)[0], quats, 30.0)
    assert fastest == pytest.approx(expected, abs=1e-11)


def test_joints_that_are_not_there_are_refused():
    rng = np.random.Generator(np.random.PCG64(1))
    rig = random_rig(rng)
    root, quats = random_motion(rng, 5)
    scratch = np.zeros((5, 9, 3)), np.zeros((5, 9, 4))
    for chain in ([0, 9], [-1]):
        with pytest.raises(ArrayError, match="sizes do not fit"):
            chain_pose(replace(rig, chain=np.array(chain)), root, quats)
    legs = np.array([[1, 2, 3], [4, 5, 9]])
    with pytest.raises(ArrayError, match="sizes do not fit"):
        sole_points(replace(rig, legs=legs), *scratch)
