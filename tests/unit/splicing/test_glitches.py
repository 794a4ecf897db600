"""Glitches of an action are interpolated from the frames around them."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.splicing.glitches import without_glitches


@pytest.mark.parametrize(("fps", "around"), [(60.0, 1), (120.0, 2)])
def test_a_glitch_is_bridged_with_a_sixtieth_of_a_second_to_either_side(fps, around):
    walk = ml.synthetic.clip("walk", duration_s=1.5, fps=fps).motion
    body = ml.BodyMap.guess(walk.skeleton)
    root = np.array(walk.root_positions)
    middle = walk.n_frames // 2
    root[middle, 0] += 0.3
    mended, count = without_glitches(walk.replace(root_positions=root), body)
    assert count >= 2 * around + 1
    assert mended.root_positions == pytest.approx(walk.root_positions, abs=0.02)
    far = np.abs(np.arange(walk.n_frames) - middle) > 3 * around + 2
    assert np.array_equal(mended.root_positions[far], root[far])
    assert without_glitches(walk, body) == (walk, 0)
