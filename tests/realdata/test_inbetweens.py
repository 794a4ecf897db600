"""Seconds of real clips made again; the whole comparison is in ``./bench transitions``."""

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.checks.quality_check import verify
from motionloom.features.glitches.repair import repair_capture
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.synthesis.fill import fill
from motionloom.tables.synthesis.gap_windows import WindowQuery
from motionloom.tables.synthesis.synthesis import rig_of

WALKS = ("16_15", "16_16", "16_21", "16_31", "16_47", "16_58")
FPS, LENGTH = 60.0, 60
ERROR_CM, TOES_CM_S = 5.0, 20.0
"""Walks of one person: fills are 2 to 4 cm off; straight lines 9 and more."""


@pytest.fixture(scope="module")
def walks(mocap):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = [ml.load(mocap / "cmu_bvh" / f"{name}.bvh") for name in WALKS]
    ready = [repair_capture(motion).motion for motion in loaded]
    return [ml.resample(m, fps=FPS).replace(name=n) for m, n in zip(ready, WALKS, strict=True)]


@pytest.fixture(scope="module")
def library(walks):
    frames = frames_of(walks)
    return frames, rig_of(frames)


@pytest.mark.parametrize("number", [0, 1, 4])
def test_a_second_of_a_walk_is_made_again_from_other_walks(walks, library, number):
    frames, rig = library
    walk, first = walks[number], 30
    last = first + LENGTH - 3
    made = fill(frames, walk, first, last, WindowQuery(exclude=[walk.name]), rig=rig)
    real, now = walk.world_positions(), made.motion.world_positions()
    gap = slice(first, last + 1)
    assert 100.0 * np.linalg.norm((now - real)[gap], axis=-1).mean() < ERROR_CM
    toes = [frames.body_map.left_toe, frames.body_map.right_toe]
    low = np.percentile(real[:, toes, 1], 5, axis=0) + 0.025
    speed = np.linalg.norm(np.diff(now[:, toes][..., [0, 2]], axis=0), axis=-1)[gap] * FPS
    assert 100.0 * speed[now[1:, toes, 1][gap] < low].mean() < TOES_CM_S
    found = verify(made.motion, sources=walks)
    assert found, found.describe()
