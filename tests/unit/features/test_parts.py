"""Parts of larger searches, each against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.features.checks.source_limits import check_rig
from motionloom.features.footplants.plant_edges import Track, _best_sight, _drift
from motionloom.features.glitches.glitch_frames import _shortened
from motionloom.features.glitches.repair import SIGMA_S, _kernel, _mean, _parts, frames_around

WALK = ml.synthetic.clip("walk", duration_s=1.0).motion


def test_a_step_is_shortened_only_if_it_leads_too_far():
    steps = np.array([[0.3, 0.0, 0.4], [0.03, 0.0, 0.04], [0.0, 0.0, 0.0]])
    most = np.array([[1.0], [1.0], [1.0]])
    short = _shortened(steps, 10, most)  # 5, 0.5 and 0 in ten frames
    assert short == pytest.approx(np.array([[0.06, 0.0, 0.08], [0.03, 0.0, 0.04], [0, 0, 0]]))


def test_five_frames_of_a_stance_are_enough_to_see_it_creep():
    track = 0.05 * np.arange(7)[:, None] / 60.0  # 5 cm/s
    assert _drift([(0, 6)], track, 0.0, 60.0) == pytest.approx(0.05)
    assert _drift([(0, 5)], track, 0.0, 60.0) == 0.1  # four frames are not: the most is assumed
    assert _drift([(0, 6)], 0.0 * track, 0.0, 60.0) == 0.01


def test_each_part_of_the_body_is_looked_at_once():
    names = [part.name for part in _parts(WALK.skeleton, BodyMap.guess(WALK.skeleton))]
    assert len(names) == len(set(names))
    assert sum("toe" in name for name in names) == 2
    assert {"the body", "the left leg", "the right arm", "the left foot"} <= set(names)


def test_speeds_that_are_always_allowed_grow_with_the_bone_up_to_a_limit():
    body = BodyMap.guess(WALK.skeleton)
    rig = check_rig(WALK, body=body)
    quick = dict(zip(rig.checked.tolist(), rig.quick.tolist(), strict=True))
    for joint, speed in quick.items():
        length = max(float(np.linalg.norm(WALK.skeleton.offsets[joint])), 0.0)
        if length > 0.1:  # 320 degrees a second, and at most 1.2 m/s
            assert speed == pytest.approx(min(1.2, np.radians(320.0) * length))
    assert min(quick.values()) < 1.2 == max(quick.values())


def test_means_are_taken_as_far_to_both_sides_as_the_clip_goes():
    kernel = np.array([1.0, 2.0, 3.0, 2.0, 1.0]) / 9.0
    values = np.array([0.0, 1.0, 5.0, 0.0, 2.0, 7.0, 1.0])
    near, weights = frames_around(np.arange(7), 7, kernel)
    found = _mean(values[near], weights)
    inner = [np.dot(kernel, values[f - 2 : f + 3]) for f in (2, 3, 4)]
    ends = [0.0, (0 + 3 + 10) / 7, *inner, (4 + 21 + 2) / 7, 1.0]
    assert found == pytest.approx(ends)
    near, weights = frames_around(np.array([1, 4]), 7, kernel)
    both = _mean(np.stack([values, 2.0 * values], axis=1)[near], weights)
    assert both == pytest.approx(np.outer([13 / 7, inner[2]], [1.0, 2.0]))


def test_a_bell_reaches_three_deviations_or_the_whole_clip():
    bell = _kernel(100.0, 50)
    sigma = SIGMA_S * 100.0
    half = len(bell) // 2
    assert half == round(3.0 * sigma)
    assert bell / bell[half] == pytest.approx(
        np.exp(-0.5 * (np.arange(-half, half + 1) / sigma) ** 2)
    )
    assert bell.sum() == pytest.approx(1.0)
    assert len(_kernel(100.0, 2)) == 5
    assert len(_kernel(0.1, 9)) == 3


def sight(usable, *, rolls=False, room=(6, 6), first=10):
    """Which of two tracks an edge is seen by, and the frames to both sides, blocks of one frame."""
    none = np.zeros((20, 3))
    flags = np.zeros(20, dtype=bool)
    flags[usable] = True
    tracks = [
        Track(none, flags, np.zeros(2), np.zeros(1), alone=False, rolls=rolls),
        Track(none, np.ones(20, dtype=bool), np.zeros(2), np.zeros(1), alone=True),
    ]
    return _best_sight(tracks, first, *room, 1)


def test_an_edge_is_seen_from_a_point_that_stands_four_frames_to_both_sides():
    assert sight(slice(6, 14)) == (0, 4, 4)
    assert sight(slice(0, 20)) == (0, 6, 6)
    assert sight(slice(7, 14)) == sight(slice(6, 13)) == (1, 6, 6)
    # With less room to one side, all of it is enough.
    assert sight(slice(8, 14), room=(2, 6)) == (0, 2, 4)
    assert sight(slice(6, 12), room=(6, 2)) == (0, 4, 2)
    assert sight(slice(9, 14), room=(2, 6)) == (1, 2, 6)
    # A heel that rolls needs no time before.
    assert sight(slice(7, 14), rolls=True) == (0, 0, 4)
    assert sight(slice(7, 13), rolls=True) == (1, 6, 6)
    assert sight(slice(6, 14), rolls=True) == (0, 4, 4)
