"""The audit's independent check finds deliberate defects in embedded clips, and nothing else."""

import numpy as np
import pytest

from motionloom import synthetic
from studies.audit.audit_check import Result, Sources, check
from studies.audit.audit_damage import DAMAGES
from studies.audit.audit_own import Own
from studies.audit.audit_points import points_of
from studies.audit.audit_signals import Points, knee_flexion, pelvis_turn

CLIPS = ("walk", "run", "carry")


def judged(motion, clip):
    own = Own(points_of(clip.motion, clip.footplants))
    return check(Result(points_of(motion, clip.footplants)), Sources([own]))


@pytest.mark.parametrize("name", CLIPS)
def test_a_clip_passes_against_itself(name):
    clip = synthetic.clip(name)
    assert judged(clip.motion, clip) == []


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_a_damaged_clip_fails_where_the_damage_is(name, damage):
    clip = synthetic.clip(name)
    damaged = DAMAGES[damage](clip.motion, np.random.default_rng(3))
    assert damaged is not None
    failures = [f for f in judged(damaged.motion, clip) if f.check in damaged.checks]
    near = round(0.25 * clip.motion.fps)
    assert any(damaged.first - near <= f.frame <= damaged.last + near for f in failures)


def test_knees_of_a_walk_bend_forwards_and_flipped_ones_backwards():
    clip = synthetic.clip("walk")
    assert knee_flexion(points_of(clip.motion)).min() > -1.0
    flipped = DAMAGES["knee flip"](clip.motion, np.random.default_rng(0))
    assert knee_flexion(points_of(flipped.motion)).min() < -15.0


@pytest.mark.parametrize("spine_m", [0.0, 0.1], ids=["on the line of the hips", "above it"])
def test_a_pelvis_turns_as_its_joints_show(spine_m):
    """Hips and spine on one line show nothing about it: another fit is at random."""
    rng, n = np.random.default_rng(5), 40
    angles = np.radians(2.0) * np.arange(n)
    joints = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [-0.1, 0.0, 0.0], [0.0, spine_m, 0.0]])
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    x, y, z = joints.T
    turned = np.stack([cos * x + sin * z, y + 0.0 * cos, cos * z - sin * x], axis=-1)
    turned += 1e-9 * rng.normal(size=turned.shape)
    roles = {"pelvis": 0, "left_hip": 1, "right_hip": 2, "spine": 3}
    names = ("pelvis", "left", "right", "spine")
    points = Points(turned, np.array([-1, 0, 0, 0]), names, 60.0, roles)
    assert pelvis_turn(points) == pytest.approx(2.0, abs=1e-3)
