"""Quality figures against faults of known size."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom import synthetic
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.features.glitches.glitch_frames import find_speed_spikes
from motionloom.features.quality import _slides, fit_contact_heights, measure_quality, peak_jerk
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Footplants
from motionloom.rotation import quat

PLANT_M = 1e-6
"""Embedded clips hold their plants to this."""


@pytest.fixture(scope="module")
def walk() -> synthetic.SyntheticClip:
    return synthetic.clip("walk")


def test_an_embedded_walk_keeps_its_contacts(walk: synthetic.SyntheticClip) -> None:
    quality = measure_quality(walk.motion, walk.footplants)
    assert quality.contact_speed_max < PLANT_M * walk.motion.fps
    assert quality.slide_max_m < PLANT_M
    assert quality.penetration < PLANT_M
    assert quality.float_height < PLANT_M
    assert quality.flat_ground
    assert quality.joint_speed_spikes == ()
    assert quality.zmp_outside is not None


def test_skate_shows_at_the_part_of_the_root_speed_it_was_made_with(
    walk: synthetic.SyntheticClip,
) -> None:
    skated = corrupt(walk.motion, travel=1.15)
    steps = np.linalg.norm(np.diff(walk.motion.root_positions[:, [0, 2]], axis=0), axis=-1)
    quality = measure_quality(skated, walk.footplants)
    assert quality.contact_speed_mean == pytest.approx(
        0.15 * steps.mean() * walk.motion.fps, rel=0.05
    )
    longest = max(b - a for spans in walk.footplants.intervals().values() for a, b in spans)
    assert quality.slide_max_m == pytest.approx(0.15 * steps.mean() * longest, rel=0.1)


def test_a_sunken_frame_is_a_penetration_and_a_raised_plant_floats(
    walk: synthetic.SyntheticClip,
) -> None:
    swing = int(np.flatnonzero(~walk.footplants.planted[:, :2].any(axis=1))[0])
    root = np.array(walk.motion.root_positions)
    root[swing, 1] -= 0.3
    sunk = measure_quality(walk.motion.replace(root_positions=root), walk.footplants)
    assert sunk.penetration == pytest.approx(0.3, abs=0.01)
    raised = np.array(walk.motion.root_positions)
    raised[100, 1] += 0.05
    floats = measure_quality(walk.motion.replace(root_positions=raised), walk.footplants)
    assert floats.float_height == pytest.approx(0.05, abs=0.005)


def test_the_worst_contact_is_named(walk: synthetic.SyntheticClip) -> None:
    first, last = walk.footplants.intervals()["left_toe"][1]
    frame = (first + last) // 2
    root = np.array(walk.motion.root_positions)
    root[frame:, 0] += 0.1
    quality = measure_quality(walk.motion.replace(root_positions=root), walk.footplants)
    assert quality.contact_speed_max == pytest.approx(0.1 * walk.motion.fps, rel=1e-3)
    assert quality.contact_speed_worst is not None
    assert quality.contact_speed_worst[0] == frame - 1


def test_a_jump_of_one_joint_is_a_spike_and_is_named(walk: synthetic.SyntheticClip) -> None:
    arm = walk.motion.skeleton.index("LeftArm")
    quats = np.array(walk.motion.local_quats)
    quats[50, arm] = quat.multiply(quats[50, arm], quat.exp(np.array([0.0, 0.0, 1.5])))
    spikes = find_speed_spikes(walk.motion.replace(local_quats=quats))
    assert {spike.frame for spike in spikes} == {49, 50}
    assert {spike.joint for spike in spikes} == {"LeftArm"}


def test_jerk_of_a_cubic_is_its_third_derivative(walk: synthetic.SyntheticClip) -> None:
    pose = walk.motion[:1]
    time = np.arange(60) / 60.0
    root = pose.root_positions + np.outer(0.7 * time**3, [1.0, 0.0, 0.0])
    motion = pose.replace(root_positions=root, local_quats=np.repeat(pose.local_quats, 60, axis=0))
    jerk, at = peak_jerk(motion, motion.world_positions(), BodyMap.guess(motion.skeleton))
    assert jerk == pytest.approx(6 * 0.7, rel=1e-6)
    assert at is not None


def test_stairs_are_their_own_floor() -> None:
    clip = synthetic.clip("stairs")
    quality = measure_quality(clip.motion, clip.footplants)
    assert not quality.flat_ground
    assert quality.penetration < PLANT_M
    assert quality.float_height < PLANT_M


def test_a_sloping_floor_is_flat_ground(walk: synthetic.SyntheticClip) -> None:
    sloped = corrupt(walk.motion, floor_slope=0.01)
    quality = measure_quality(sloped, walk.footplants)
    assert quality.flat_ground
    assert quality.penetration < 0.01


def test_without_plants_contact_figures_are_none(walk: synthetic.SyntheticClip) -> None:
    none = Footplants(np.zeros((walk.motion.n_frames, 4), dtype=bool))
    quality = measure_quality(walk.motion, none)
    assert quality.contact_speed_mean is None
    assert quality.penetration is None
    assert quality.contact_speed_worst is None
    assert quality.unsupported == 1.0


@pytest.mark.parametrize("n_frames", [1, 2, 5])
def test_clips_of_a_few_frames_are_measured(walk: synthetic.SyntheticClip, n_frames: int) -> None:
    quality = ml.measure_quality(walk.motion[:n_frames], walk.footplants[:n_frames])
    assert quality.zmp_outside is None


def test_plants_of_another_length_are_refused(walk: synthetic.SyntheticClip) -> None:
    with pytest.raises(ArrayError, match="one row per frame"):
        measure_quality(walk.motion, walk.footplants[:10])


def test_points_that_never_stand_have_no_ground() -> None:
    points = np.zeros((4, 2, 3))
    planted = np.array([[True, False]] * 4)
    heights, flat = fit_contact_heights(points, planted)
    assert flat
    assert np.isnan(heights[:, 1]).all()
    assert np.abs(heights[:, 0]).max() < PLANT_M


def test_the_slide_of_a_plant_is_the_diameter_of_its_track_wherever_it_stands():
    track = np.array([[5.0, 0.0, 0.0], [6.0, 9.0, 0.0], [5.0, 0.0, -2.0], [5.0, 0.0, 2.0]])
    planted = np.ones((4, 1), dtype=bool)
    assert _slides(track[:, None], planted) == [4.0]
    planted[2] = False
    assert _slides(track[:, None], planted) == [1.0, 0.0]
