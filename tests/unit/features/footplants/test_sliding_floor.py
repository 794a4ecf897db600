"""Clips that skate: where feet stand on a ground that goes with them, and how much slides."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.features.footplants import sliding_floor
from motionloom.features.footplants.detect import detect_footplants, detect_in
from motionloom.features.footplants.plant_edges import FootTracks, foot_tracks
from motionloom.features.footplants.sliding_floor import _ground, find_floor
from motionloom.motion.motion import velocities
from motionloom.rotation import quat
from tests.oracles import ground as plain


def skating(motion, drift=0.12, degrees=2.0):
    """The motion with a root that drifts and joints that tremble, each at rates of its own."""
    time = np.arange(motion.n_frames) / motion.fps
    rates = np.array([0.37, 0.61])
    root = np.array(motion.root_positions)
    root[:, [0, 2]] += drift * np.sin(2 * np.pi * rates * time[:, None] + [0.3, 1.1])
    joints = motion.skeleton.n_joints
    rates = 1.5 + 2.0 * ((np.arange(3 * joints) * 0.618) % 1.0)
    turns = np.sin(2 * np.pi * rates * time[:, None] + 5.0 * rates).reshape(-1, joints, 3)
    noisy = quat.multiply(motion.local_quats, quat.exp(np.radians(degrees) * turns))
    return motion.replace(root_positions=root, local_quats=noisy)


def floor_of(motion):
    return find_floor(foot_tracks(motion, BodyMap.guess(motion.skeleton)), motion.fps)


def f1(found, truth):
    return 2.0 * (found & truth).sum() / (found.sum() + truth.sum())


@pytest.mark.parametrize("kind", ["walk", "run"])
def test_feet_stand_on_a_ground_that_drifts(kind):
    clip = ml.synthetic.clip(kind)
    spoilt = skating(clip.motion)
    floor = floor_of(spoilt)
    found = detect_footplants(spoilt).planted
    assert floor.slide > 0.7 > 0.2 > floor_of(clip.motion).slide
    assert f1(floor.planted, clip.footplants.planted) > 0.75
    assert f1(floor.planted, clip.footplants.planted) > f1(found, clip.footplants.planted) + 0.1


def test_the_ground_has_the_velocity_of_the_one_low_point_whatever_else_moves():
    fps, n = 60.0, 90
    belt = np.stack([0.4 * np.sin(np.arange(n) / 30.0), 0.2 * np.cos(np.arange(n) / 40.0)], axis=1)
    points = np.zeros((n, 4, 3))
    points[:, 2, [0, 2]] = np.cumsum(belt, axis=0) / fps
    points[:, [0, 1, 3], 0] = 3.0 * np.arange(n)[:, None] / fps
    high = np.zeros((n, 4), dtype=bool)
    high[:, [0, 1]] = True
    high[40:44] = True  # in the air: the ground goes on
    found = _ground(points, high, fps)
    assert np.abs(found - belt)[3:-3].max() < 0.03
    assert not _ground(points, np.ones_like(high), fps).any()


def test_rounds_are_those_of_the_plain_form(monkeypatch):
    rng, fps = np.random.Generator(np.random.PCG64(8)), 50.0
    points, high = rng.normal(size=(40, 4, 3)).cumsum(axis=0), rng.random((40, 4)) < 0.5
    moving = velocities(points, fps)[..., [0, 2]]
    ground = np.zeros((40, 2))
    for k in range(3):
        strange = 0.25 * (1.0 + 4.0 * 0.6**k)
        ground = plain.follow(moving, high, strange, ground, (0.03 * fps) ** 4)
    monkeypatch.setattr(sliding_floor, "ROUNDS", 3)
    assert _ground(points, high, fps) == pytest.approx(ground, abs=1e-9)


def test_clips_in_place_in_the_air_and_of_three_frames_have_no_slide():
    walk = ml.synthetic.clip("walk").motion
    root = np.array(walk.root_positions)
    root[:, [0, 2]] = root[0, [0, 2]]
    assert floor_of(walk.replace(root_positions=root)).slide is None
    assert floor_of(walk[:3])[1] is None
    tracks = foot_tracks(walk, BodyMap.guess(walk.skeleton))
    seconds = np.arange(walk.n_frames) / walk.fps
    rising = np.array(tracks.points)
    rising[..., 1] += 2.0 * seconds[:, None]
    flying = FootTracks(rising, tracks.pelvis, tracks.knees, rising[..., 1].min(axis=1))
    assert find_floor(flying, walk.fps).slide is None


def test_plants_are_those_of_the_tracks():
    walk = ml.synthetic.clip("walk").motion
    body = BodyMap.guess(walk.skeleton)
    found = detect_in(foot_tracks(walk, body), walk, body)
    assert np.array_equal(found.planted, detect_footplants(walk).planted)


def test_a_clip_that_skates_is_cleaned_with_contacts_of_a_calmed_copy():
    clip = ml.synthetic.clip("walk")
    spoilt = skating(clip.motion)
    plain = ml.clean_footskate(spoilt, detect_footplants(spoilt))
    cleanup = ml.clean_footskate(spoilt)
    assert cleanup.report.calmed
    assert not plain.report.calmed
    assert cleanup.report.floor_slide < 0.15 < 0.5 < plain.report.floor_slide
    assert standing_share(cleanup.motion, clip) < 0.2 < 0.5 < standing_share(plain.motion, clip)
    assert cleanup.notes[0] == "the clip skates: contacts were found on a calmed copy of it"
    assert "on the floor still slide faster than 0.15 m/s" in plain.notes[0]
    assert plain.notes[0] in str(plain.report)
    assert cleanup.report.json()["calmed"] is True
    assert cleanup.report.json()["floor_slide"] == cleanup.report.floor_slide


def test_an_undamaged_clip_keeps_the_contacts_that_are_detected():
    clip = ml.synthetic.clip("walk")
    cleanup = ml.clean_footskate(clip.motion)
    given = ml.clean_footskate(clip.motion, detect_footplants(clip.motion))
    assert not cleanup.report.calmed
    assert not cleanup.report.notes
    assert cleanup.report == given.report
    assert np.array_equal(cleanup.motion.local_quats, given.motion.local_quats)
    assert cleanup.verification.passed


def standing_share(motion, clip):
    """Share of the frames that stand in truth in which no point that should stands."""
    truth, points = clip.footplants.planted, foot_points(motion)
    steps = np.linalg.norm(np.diff(points, axis=0)[..., [0, 2]], axis=-1) * motion.fps
    slowest = np.where(truth[1:] & truth[:-1], steps, np.inf).min(axis=1)
    return float(np.mean(slowest[np.isfinite(slowest)] > 0.15))
