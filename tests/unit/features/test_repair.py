"""Clips are repaired at their own rate."""

from __future__ import annotations

import numpy as np

from motionloom import resample, synthetic
from motionloom.features.repair import resample_repaired


def test_a_clip_is_repaired_before_it_is_resampled() -> None:
    """A frame that is elsewhere would be smeared over two by resampling first."""
    walk = synthetic.clip("walk").motion
    root = np.array(walk.root_positions)
    root[60, 0] += 0.1
    resampled, notes = resample_repaired(walk.replace(root_positions=root), 45.0)
    assert notes
    truth = resample(walk, fps=45.0)
    assert np.abs(resampled.root_positions - truth.root_positions).max() < 0.01
