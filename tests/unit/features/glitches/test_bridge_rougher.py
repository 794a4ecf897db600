"""Repairs that make a clip more abrupt than it was are not taken."""

import numpy as np
import pytest

from motionloom.features.glitches.glitch_frames import reject_if_rougher, rougher_frames
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


def test_a_repair_that_jolts_the_body_is_found_where_it_does(walk):
    both = walk.world_positions(), jolted(walk, 30, 0.05).world_positions()
    worse = rougher_frames(*both, walk.fps, zone(walk, 28, 32))
    assert np.array_equal(np.flatnonzero(worse), [29, 30, 31])
    calmed = rougher_frames(*both[::-1], walk.fps, zone(walk, 28, 32))
    assert not calmed.any()


def test_a_repair_is_kept_where_it_calms_and_left_out_where_it_jolts(walk):
    broken = jolted(jolted(walk, 30, 0.05), 60, 0.05)
    repaired = jolted(walk, 60, 0.2)  # calm at 30, worse at 60
    changed = zone(walk, 28, 32) | zone(walk, 58, 62)
    kept = reject_if_rougher(broken, repaired, joints(walk), changed)
    assert np.array_equal(kept.root_positions[30], walk.root_positions[30])
    assert np.array_equal(kept.root_positions[60], broken.root_positions[60])
