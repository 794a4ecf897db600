"""Parts of larger searches, each against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.bridge import _shortened
from motionloom.features.checks.rig import check_rig
from motionloom.features.plant_edges import _drift
from motionloom.features.spread import _parts
from motionloom.motion.body import BodyMap

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
    names = [part.name for part in _parts(WALK, BodyMap.guess(WALK.skeleton))]
    assert len(names) == len(set(names))
    assert sum("toe" in name for name in names) == 2
    assert {"the body", "the left leg", "the right arm", "the left foot"} <= set(names)


def test_speeds_that_are_always_allowed_grow_with_the_bone_up_to_a_limit():
    body = BodyMap.guess(WALK.skeleton)
    rig = check_rig(WALK, body=body)
    quick = dict(zip(rig.judged.tolist(), rig.quick.tolist(), strict=True))
    for joint, speed in quick.items():
        length = max(float(np.linalg.norm(WALK.skeleton.offsets[joint])), 0.0)
        if length > 0.1:  # 320 degrees a second, and at most 1.2 m/s
            assert speed == pytest.approx(min(1.2, np.radians(320.0) * length))
    assert min(quick.values()) < 1.2 == max(quick.values())
