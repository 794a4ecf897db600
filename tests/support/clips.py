"""Captured clips, loaded in the same way by all tests."""

from __future__ import annotations

import warnings
from pathlib import Path

import motionloom as ml


def quietly_loaded(path: Path, fps: float | None = None) -> ml.Motion:
    """A clip without the warnings about its faults, named after its file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ml.load(path, fps=fps).replace(name=path.stem)


def takes_of_143(mocap: Path, *names: str) -> list[ml.Motion]:
    """Takes of CMU subject 143 at the rate they were captured at."""
    return [quietly_loaded(mocap / "cmu_bvh" / f"{name}.bvh", fps=60.0) for name in names]


def at_most_60_hz(path: Path, fps: float | None = None) -> ml.Motion:
    """A clip at 60 Hz, or at its own rate if that is lower."""
    motion = quietly_loaded(path, fps)
    return ml.resample(motion, fps=60.0) if motion.fps > 60.0 * 1.01 else motion
