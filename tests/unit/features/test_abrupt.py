"""Repairs that make a clip more abrupt than it was are not taken."""

import numpy as np
import pytest

from motionloom.features.abrupt import least_abrupt
from motionloom.synthetic import clip


@pytest.fixture(scope="module")
def walk():
    return clip("walk").motion


def jolted(motion, frame, metres):
    root = np.array(motion.root_positions)
    root[frame, 0] += metres
    return motion.replace(root_positions=root)


def zone(motion, first, last):
    flags = np.zeros(motion.n_frames, dtype=bool)
    flags[first : last + 1] = True
    return flags


def joints(motion):
    return np.arange(motion.skeleton.n_joints)


def test_a_repair_that_jolts_the_body_is_left_out(walk):
    motion, changed = least_abrupt([walk, jolted(walk, 30, 0.05)], joints(walk), zone(walk, 28, 32))
    assert motion is walk and not changed.any()


def test_a_repair_that_calms_a_jolt_is_taken_where_it_does(walk):
    broken = jolted(jolted(walk, 30, 0.05), 60, 0.05)
    worse = jolted(jolted(walk, 60, 0.2), 30, 0.0)  # calm at 30, worse at 60
    motion, changed = least_abrupt(
        [broken, worse], joints(walk), zone(walk, 28, 32) | zone(walk, 58, 62)
    )
    assert np.array_equal(np.flatnonzero(changed), np.arange(28, 33))
    assert np.array_equal(motion.root_positions[30], walk.root_positions[30])
    assert np.array_equal(motion.root_positions[60], broken.root_positions[60])


def test_the_last_of_several_calm_tries_is_taken(walk):
    nearly, better = jolted(walk, 30, 1e-4), jolted(walk, 30, 0.0)
    motion, _ = least_abrupt(
        [jolted(walk, 30, 0.05), nearly, better], joints(walk), zone(walk, 28, 32)
    )
    assert np.array_equal(motion.root_positions, walk.root_positions)
