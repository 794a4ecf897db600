"""Bandai's clips: a root bone that lies still, and a pelvis that slides in it."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.root_motion import travel_on_pelvis, travel_on_root
from motionloom.findings import MotionLoomWarning
from motionloom.rotation import quat

WALK = "bandai_bvh/dataset-1_walk_normal_001.bvh"
HAPPY = "bandai_bvh/dataset-1_walk_happy_001.bvh"
TURN = "bandai_bvh/dataset-2_walk-turn-left_normal_001.bvh"
RUN = "bandai_bvh/dataset-2_run_normal_001.bvh"
BYE = "bandai_bvh/dataset-1_bye_normal_001.bvh"
SIDE = "bandai_bvh/dataset-1_walk-left_normal_001.bvh"
CMU = "cmu_bvh/16_15.bvh"


@cache
def _load(path: Path) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)
        return ml.load(path)


def _steps(motion: ml.Motion) -> np.ndarray:
    """Step of the pelvis and of every joint below it from frame to frame. (F - 1, J - 1)."""
    return np.linalg.norm(np.diff(motion.world_positions()[:, 1:], axis=0), axis=-1)


@pytest.mark.parametrize("name", [WALK, TURN, BYE])
def test_travel_goes_to_the_root_and_back(mocap: Path, name: str) -> None:
    clip = _load(mocap / name)
    led = travel_on_root(clip)
    assert np.abs(led.world_positions()[:, 1:] - clip.world_positions()[:, 1:]).max() < 1e-9
    back = travel_on_pelvis(led, like=clip)
    assert np.abs(back.world_positions() - clip.world_positions()).max() < 1e-9


@pytest.mark.parametrize(("a", "b"), [(WALK, TURN), (BYE, SIDE)])
def test_a_transition_is_that_of_clips_that_travel_on_the_root(mocap: Path, a: str, b: str) -> None:
    one, other = _load(mocap / a), _load(mocap / b)
    made = ml.transition(one, other)
    expected = ml.transition(travel_on_root(one), travel_on_root(other))
    apart = made.motion.world_positions() - expected.motion.world_positions()
    assert np.abs(apart).max() < 1e-6


@pytest.mark.parametrize("name", [WALK, HAPPY, TURN, RUN, SIDE])
def test_loops_do_not_jump_at_their_seam(mocap: Path, name: str) -> None:
    clip = _load(mocap / name)
    cycle = ml.loop(clip)
    again = ml.motion.edit.transform(cycle.motion, cycle.closure)
    n = cycle.motion.n_frames
    twice = _steps(ml.concatenate([cycle.motion[:-1], again]))
    assert (twice[n - 8 : n + 8] <= 1.1 * _steps(clip).max(axis=0)).all()
    assert cycle.cost < 0.06


@pytest.mark.parametrize("name", [WALK, TURN])
def test_a_captured_walk_on_that_rig_neither_rises_nor_sinks_in_a_transition(
    mocap: Path, name: str
) -> None:
    bandai, cmu = _load(mocap / name), _load(mocap / CMU)
    onto = ml.resample(ml.retarget(cmu, bandai), fps=bandai.fps)
    assert np.ptp(onto.root_positions, axis=0).max() < 1e-9
    made = ml.transition(bandai, onto)
    assert made.cost < 0.1
    body = ml.BodyMap.guess(bandai.skeleton)
    feet = [body.left_toe, body.right_toe]
    lowest = [m.world_positions()[:, feet, 1].min(axis=1) for m in (bandai, onto)]
    first, last = made.span
    inside = made.motion.world_positions()[first : last + 1, feet, 1].min(axis=1)
    assert inside.max() < max(low.max() for low in lowest) + 0.01
    assert inside.min() > min(low.min() for low in lowest) - 0.03


def test_the_root_does_not_counter_rotate_in_a_collection(mocap: Path, tmp_path: Path) -> None:
    for name in (TURN, WALK, RUN):
        (tmp_path / Path(name).name).symlink_to(mocap / name)
    lib = ml.Collection.ingest(tmp_path, out=tmp_path.with_suffix(".mlc"), fps=30)
    turns = quat.angle_between(lib.frames.quats[:, 0].astype(float), quat.IDENTITY)
    assert turns.max() < 1e-3
    for clip_id in lib.ids:
        clip = lib.motion(clip_id)
        own = _load(mocap / "bandai_bvh" / f"{clip_id}.bvh")
        n = min(clip.n_frames, own.n_frames)
        apart = clip.world_positions()[:n, 1:] - own.world_positions()[:n, 1:]
        assert np.abs(apart).max() < 1e-4


@pytest.mark.parametrize(("a", "b"), [(WALK, HAPPY), (WALK, RUN)])
def test_live_hips_bob_and_travel_through_rounds_and_changes_of_weights(mocap, a, b):
    curve = ml.register([_load(mocap / name) for name in (a, b)], cycles=True)
    live = ml.control(curve)
    poses = [live.step([0.0, 1.0] if k % 60 > 30 else [1.0, 0.0]) for k in range(180)]
    motion = ml.Motion(
        curve.motions[0].skeleton,
        np.array([pose.root_position for pose in poses]),
        np.array([pose.local_quats for pose in poses]),
        curve.motions[0].fps,
        joint_translations=np.array([pose.joint_translations for pose in poses]),
    )
    hips = motion.world_positions()[:, 1]
    speeds = np.linalg.norm(np.diff(hips, axis=0), axis=1) * motion.fps
    slowest, fastest = sorted(ml.measure(each, "speed") for each in curve.motions)
    assert slowest > 0.5  # measured at the pelvis: the root bone of these files lies still
    assert 0.6 * slowest < speeds.min() and speeds.max() < 1.6 * fastest
    assert np.ptp(hips[:, 1]) > 0.02
    assert np.linalg.norm(hips - motion.root_positions, axis=1).max() < 1.2
