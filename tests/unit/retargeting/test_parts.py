"""Parts of retargeting, each against values worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.body.neutral import (
    _twist_as_parents,
    clavicles,
    frame,
    free_twists,
    limb_bones,
    unit,
)
from motionloom.motion.motion import Skeleton
from motionloom.retargeting.placement import _ankle_levels, _ankles_over_balls, _faded
from motionloom.retargeting.retarget import _pelvis_slides, _smooth_over
from motionloom.retargeting.retarget_check import _leg, _over_floor
from motionloom.rotation import quat

STAND = ml.synthetic.clip("stand", duration_s=0.5).motion
BODY = BodyMap.guess(STAND.skeleton)


def test_neutral_bones_point_down_outwards_and_up_by_unit_vectors():
    bones = limb_bones(BODY)
    assert bones[BODY.left_hip][1].tolist() == [0.0, -1.0, 0.0]
    assert bones[BODY.right_knee][1].tolist() == [0.0, -1.0, 0.0]
    assert bones[BODY.left_shoulder][1].tolist() == [1.0, 0.0, 0.0]
    assert bones[BODY.right_elbow][1].tolist() == [-1.0, 0.0, 0.0]
    for towards in free_twists(STAND.skeleton, BODY).values():
        assert np.linalg.norm(towards) == 1.0


def test_a_frame_keeps_left_and_makes_up_square_to_it():
    made = frame(np.array([2.0, 0.0, 0.0]), np.array([1.0, 3.0, 0.0]))
    assert made == pytest.approx(np.eye(3))
    alone = frame(np.array([0.0, 2.0, 0.0]), np.array([0.0, 5.0, 0.0]))  # up lies along left
    assert alone.T @ alone == pytest.approx(np.eye(3))
    assert alone[:, 0].tolist() == [0.0, 1.0, 0.0]
    assert unit(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_clavicles_are_what_only_one_arm_hangs_on():
    for side in ("left", "right"):
        shoulder = getattr(BODY, f"{side}_shoulder")
        above = clavicles(STAND.skeleton, BODY, side)
        assert set(above) <= set(STAND.skeleton.chain(shoulder)[:-1])
        assert not set(above) & {BODY.pelvis, *BODY.spine, BODY.neck}
    assert clavicles(STAND.skeleton, BodyMap(pelvis=0), "left") == ()
    chain = STAND.skeleton.chain(BODY.left_shoulder)
    lone = BodyMap(left_shoulder=BODY.left_shoulder)  # nothing says where the trunk ends
    assert clavicles(STAND.skeleton, lone, "left") == chain[:-1]


def test_a_pelvis_slides_if_its_place_in_the_bone_above_changes():
    names, parents = ("root", "pelvis"), np.array([-1, 0])
    skeleton = Skeleton(names, parents, np.array([[0.0, 0, 0], [0, 1, 0]]))
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (5, 2, 1))
    rigid = ml.Motion(skeleton, np.zeros((5, 3)), quats, 30.0)
    assert not _pelvis_slides(rigid, BodyMap(pelvis=1))
    moving = np.zeros((5, 2, 3))
    still = rigid.replace(joint_translations=moving + skeleton.offsets)
    assert not _pelvis_slides(still, BodyMap(pelvis=1))
    moving[:, 1, 0] = np.arange(5.0)
    assert _pelvis_slides(rigid.replace(joint_translations=moving), BodyMap(pelvis=1))


def test_a_shift_fades_alike_before_and_after_its_stance():
    shift = np.zeros((61, 1))
    shift[20:41] = 0.1
    out = _faded(shift, ((20, 40),), 40.0)[:, 0]  # fades over 0.25 s: ten frames
    assert out[20:41] == pytest.approx(np.full(21, 0.1))
    assert out[:20] == pytest.approx(out[:40:-1])
    assert np.abs(out[:11]).max() == 0.0
    assert out[15] == pytest.approx(0.05)  # half way
    assert (np.diff(out[10:21]) > 0.0).all()


class SoleLimits(NamedTuple):
    sole: np.ndarray
    floor: np.ndarray


def test_soles_of_the_source_are_compared_over_the_floors_of_the_result():
    limits = SoleLimits(np.array([0.05, -0.06, -0.1, 0.06]), np.array([9.0, 0.0, 9.0, 0.1]))
    floors = np.array([5.0, 1.0, 6.0, 2.0])
    moved = _over_floor(limits, floors)
    # Heels over the floor of their ball, at most 3 cm under it; balls as deep as they were; no
    # point higher than the floor.
    assert moved.sole == pytest.approx([1.0, 0.94, 1.97, 1.96])
    assert moved.floor.tolist() == floors.tolist()


def stance(*balls):
    feet = [
        SimpleNamespace(ankle=k, ball=np.array(b), up=np.array([0.0, 1.0, 0.0]))
        for k, b in enumerate(balls)
    ]
    return SimpleNamespace(feet=feet)


def test_an_ankle_stands_over_the_ball_of_its_foot():
    over = _ankles_over_balls(stance([0.0, -0.08, 0.1], [0.1, -0.06, 0.1]))
    assert over == pytest.approx([0.08, 0.06])


def test_ankles_stand_at_the_lower_heights_of_flat_feet():
    left = np.array([0.10, 0.11, 0.12, 0.13, 0.50])
    positions = np.zeros((5, 2, 3))
    positions[:, 0, 1], positions[:, 1, 1] = left, left + 0.01
    planted = np.ones((5, 4), dtype=bool)
    planted[4] = False
    feet = stance([0, 0, 0], [0, 0, 0])
    assert _ankle_levels(feet, positions, planted, 1.0) == pytest.approx([0.1075, 0.1175])
    # On a box of 20 cm one foot is higher than feet of one body are: both get the common height.
    positions[:, 1, 1] = left + 0.2
    common = np.quantile(np.concatenate([left[:4], left[:4] + 0.2]), 0.25)
    assert _ankle_levels(feet, positions, planted, 1.0) == pytest.approx([common] * 2)
    # Never flat: the lowest that the ankles come.
    planted[:, 0::2] = False
    lowest = np.quantile(left, 0.05)
    assert _ankle_levels(feet, positions, planted, 1.0) == pytest.approx([lowest] * 2)


def test_hands_and_head_lie_on_average_as_their_parents():
    """Whatever turns the joints make about a mean, and whatever frames the rig has."""
    rng = np.random.default_rng(8)
    skeleton, n = STAND.skeleton, 40
    wrist, elbow = BODY.left_wrist, int(STAND.skeleton.parents[BODY.left_wrist])
    means = quat.normalize(rng.normal(size=(skeleton.n_joints, 4)))
    wobble = 0.3 * rng.normal(size=(n // 2, skeleton.n_joints, 3))
    turns = quat.exp(np.concatenate([wobble, -wobble]))  # their mean is no turn
    clip = ml.Motion(skeleton, np.zeros((n, 3)), quat.multiply(means, turns), 30.0)
    neutral = quat.normalize(rng.normal(size=(skeleton.n_joints, 4)))
    out = _twist_as_parents(skeleton, BODY, neutral, clip)
    world = clip.world_quats()
    for joint, parent in ((wrist, elbow), (BODY.head, int(skeleton.parents[BODY.head]))):
        assert joint not in free_twists(skeleton, BODY)
        over = quat.multiply(world[:, parent], quat.conjugate(out[parent]))
        own = quat.multiply(world[:, joint], quat.conjugate(out[joint]))
        against = quat.multiply(quat.conjugate(over), own)
        against *= np.sign(against[:, :1])
        assert against.mean(axis=0)[1:] == pytest.approx(np.zeros(3), abs=1e-9)
        assert against.mean(axis=0)[0] > 0.9
    # A limb's bone is only twisted: where it points stays as it was.
    towards = free_twists(skeleton, BODY)[BODY.left_elbow]
    twist = quat.multiply(out[BODY.left_elbow], quat.conjugate(neutral[BODY.left_elbow]))
    assert quat.rotate(twist, towards) == pytest.approx(towards, abs=1e-12)
    # Over the clip it is twisted as often one way as the other, against its parent.
    parent = int(skeleton.parents[BODY.left_elbow])
    over = quat.multiply(world[:, parent], quat.conjugate(out[parent]))
    own = quat.multiply(world[:, BODY.left_elbow], quat.conjugate(out[BODY.left_elbow]))
    against = quat.multiply(quat.conjugate(over), own)
    cos, sin = against[:, 0], against[:, 1:] @ towards
    assert cos @ sin == pytest.approx(0.0, abs=1e-9)
    assert cos @ cos > sin @ sin
    pelvis = BODY.pelvis
    assert out[pelvis].tolist() == neutral[pelvis].tolist()


def test_a_smooth_curve_is_nowhere_below_and_falls_off_alike_on_both_sides():
    values = np.zeros(61)
    values[30] = 0.2
    over = _smooth_over(values, 5)
    assert (over >= values - 1e-15).all()
    assert over == pytest.approx(over[::-1])
    assert over[30] == pytest.approx(0.2)
    assert np.flatnonzero(over > 1e-12).tolist() == list(range(20, 41))  # 5 frames, then 5 more
    assert (np.diff(over[:31]) >= 0.0).all()
    level = np.full(40, 0.1)
    assert _smooth_over(level, 7) == pytest.approx(level)
    nothing = np.zeros(9)
    assert _smooth_over(nothing, 3) is nothing


def test_legs_are_measured_from_hip_to_ankle_and_without_legs_nothing_is_scaled():
    stand = STAND.world_positions()[0]
    legs = np.array(
        [
            [BODY.left_hip, BODY.left_knee, BODY.left_ankle],
            [BODY.right_hip, BODY.right_knee, BODY.right_ankle],
        ]
    )
    lengths = [
        np.linalg.norm(stand[k] - stand[h]) + np.linalg.norm(stand[a] - stand[k])
        for h, k, a in legs
    ]
    assert _leg(STAND, SimpleNamespace(legs=legs)) == pytest.approx(np.mean(lengths))
    assert _leg(STAND, SimpleNamespace(legs=legs[:1])) == pytest.approx(lengths[0])
    assert _leg(STAND, SimpleNamespace(legs=legs[:0])) == 1.0
