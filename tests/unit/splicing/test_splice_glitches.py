"""Glitches of an action are interpolated from the frames around them."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.glitches.glitch_frames import Glitch
from motionloom.splicing import splice
from motionloom.splicing.splice import without_glitches


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


@pytest.mark.parametrize(
    ("jumps", "bridged"),
    [
        ([20], [19, 20, 21]),
        ([20, 22], [19, 20, 21, 22, 23]),
        ([2], [1, 2, 3]),  # one frame is left before it
        ([57], [56, 57, 58]),
        ([1], []),  # nothing is left to interpolate from
        ([58], []),
        ([1, 20, 58], [19, 20, 21]),
        ([*range(1, 60, 3)], []),
    ],
)
def test_glitches_are_bridged_between_frames_that_are_none(jumps, bridged, monkeypatch):
    walk = ml.synthetic.clip("walk", duration_s=1.0, fps=60.0).motion[:60]
    root = np.array(walk.root_positions)
    root[:, 0] = 0.25 * np.arange(60)
    root[bridged, 0] += 3.0
    odd = walk.replace(root_positions=root)
    found = tuple(Glitch(frame, "Hips") for frame in jumps)
    monkeypatch.setattr(splice, "find_glitches", lambda motion, body: found)
    mended, count = without_glitches(odd, ml.BodyMap.guess(walk.skeleton))
    assert count == len(bridged)
    assert mended.root_positions[:, 0] == pytest.approx(0.25 * np.arange(60))
    if not bridged:
        assert mended is odd
