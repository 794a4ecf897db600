"""The audit's independent check finds deliberate defects in embedded clips, and nothing else."""

import numpy as np
import pytest

import motionloom as ml
from motionloom import synthetic
from studies.audit.audit_check import Result, Sources, check
from studies.audit.audit_damage import DAMAGES
from studies.audit.audit_feet import (
    Heel,
    ball_of,
    fit_heel,
    joined,
    skeleton_heels,
    sole_points,
)
from studies.audit.audit_own import Own
from studies.audit.audit_pairs import on_one_floor, places_of
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


def leg(shank: np.ndarray, *, toe: bool = True) -> Points:
    """A left foot that stands still under a shank that leans, (F, 3) from ankle to knee."""
    n = len(shank)
    ankle, ball = np.array([0.0, 0.08, 0.0]), np.array([0.0, 0.02, 0.12])
    end = ball if toe else ankle + (ball - ankle) / 0.67
    positions = np.stack([ankle + shank, np.tile(ankle, (n, 1)), np.tile(end, (n, 1))], axis=1)
    roles = {"left_knee": 0, "left_ankle": 1, "right_ankle": 1, **({"left_toe": 2} if toe else {})}
    return Points(positions, np.array([-1, 0, 1]), ("knee", "ankle", "end"), 60.0, roles)


def leaning(across: float, ahead: float) -> np.ndarray:
    """Shanks that lean to a side and ahead, more and more."""
    part = np.linspace(0.0, 1.0, 40)[:, None]
    return np.array([0.0, 0.4, 0.0]) + part * np.array([across, 0.0, ahead])


@pytest.mark.parametrize(("across", "ahead"), [(0.0, 0.2), (0.25, 0.0), (-0.2, 0.1)])
def test_a_heel_stands_under_a_shank_that_leans(across, ahead):
    points = leg(leaning(across, ahead))
    soles = sole_points(points, [fit_heel(points, "left"), None])
    assert np.ptp(soles[:, 0], axis=0).max() < 1e-9
    assert soles[0, 0] == pytest.approx([0.0, 0.02, -0.3 * 0.12], abs=1e-9)


def test_a_foot_without_toes_has_its_ball_before_its_end():
    shank = leaning(0.0, 0.1)
    with_toe, without = (ball_of(leg(shank, toe=toe), "left", 2) for toe in (True, False))
    assert without == pytest.approx(with_toe, abs=1e-9)


def test_a_slide_goes_on_over_a_single_frame_that_is_higher():
    spans = [(3, 8), (9, 14), (20, 22)]
    assert joined(spans, 1.5) == [(3, 14), (20, 22)]
    assert joined(spans, 1.0) == spans


def test_heels_of_a_skeleton_are_those_that_most_clips_show():
    flat, tiptoe = Heel(-0.02, -0.05), Heel(0.03, -0.08)
    left, right = skeleton_heels([[flat, None], [flat, None], [tiptoe, None]])
    assert (left.along, left.up) == (flat.along, flat.up)
    assert right is None


@pytest.fixture(scope="module")
def transition():
    a, b = (ml.synthetic.clip(kind).motion for kind in ("walk", "jog"))
    return ml.transition(a, b)


def failures_of(transition, motion):
    """What is wrong with a transition whose provenance stays as it was."""
    first, second = transition.matched.motions
    clips = [Own(points_of(first)), Own(points_of(second))]
    clips, floor = on_one_floor(clips, second, motion, places_of(transition, motion))
    result = Result(
        points_of(motion, transition.footplants), provenance=transition.provenance, clips=clips
    )
    return {each.check for each in check(result, Sources(clips)) + floor}


def test_frames_that_are_a_clips_own_raise_no_failure(transition):
    assert failures_of(transition, transition.motion) == set()


def test_a_jump_inside_frames_that_are_said_to_be_copies_is_found(transition):
    root = np.array(transition.motion.root_positions)
    root[20:, 0] += 1.0
    assert "accel" in failures_of(transition, transition.motion.replace(root_positions=root))


@pytest.mark.parametrize("up", [-0.3, 0.3])
def test_a_second_clip_on_another_floor_is_found(transition, up):
    first, last = transition.span
    ease = np.clip((np.arange(transition.motion.n_frames) - first) / (last - first), 0.0, 1.0)
    root = np.array(transition.motion.root_positions)
    root[:, 1] += up * ease
    assert "floor" in failures_of(transition, transition.motion.replace(root_positions=root))
