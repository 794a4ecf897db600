import numpy as np
import pytest

from motionloom.body.anatomy import find_knees, foot_points, knee_flexion
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.footskate import clean_footskate, contact_speeds
from motionloom.cleanup.solve import MISSED_M
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Footplants, Motion, Skeleton
from motionloom.rotation import quat
from motionloom.synthetic import clip
from tests.oracles.calm import steps_too_fast

PLANT_M = 1e-6
SAME_M = 1e-6


@pytest.fixture(scope="module")
def walk():
    return clip("walk")


@pytest.fixture(scope="module")
def skated(walk):
    return corrupt(walk.motion, travel=1.1)


@pytest.fixture(scope="module")
def cleaned(walk, skated):
    return clean_footskate(skated, walk.footplants)


def lengths_of(motion):
    positions = motion.world_positions()
    return np.linalg.norm(positions[:, 1:] - positions[:, motion.skeleton.parents[1:]], axis=-1)


def held_spread(motion, footplants):
    points, worst = foot_points(motion), 0.0
    for k, spans in enumerate(footplants.intervals().values()):
        for first, last in spans:
            worst = max(worst, float(np.ptp(points[first : last + 1, k], axis=0).max()))
    return worst


def test_held_points_stand(walk, skated, cleaned):
    assert held_spread(skated, cleaned.footplants) > 0.05
    assert held_spread(cleaned.motion, cleaned.footplants) < PLANT_M


def test_most_of_the_labelled_time_is_held(walk, cleaned):
    assert not (cleaned.footplants.planted & ~walk.footplants.planted).any()
    assert cleaned.report.held_part > 0.8
    part = cleaned.footplants.planted.sum() / walk.footplants.planted.sum()
    assert cleaned.report.held_part == pytest.approx(part)


def test_bones_stay_rigid(skated, cleaned):
    assert cleaned.motion.joint_translations is None
    assert np.abs(lengths_of(cleaned.motion) - lengths_of(skated)).max() < 1e-9


def test_only_root_and_legs_change(skated, cleaned):
    body = BodyMap.guess(skated.skeleton)
    legs = {
        getattr(body, f"{side}_{role}")
        for side in ("left", "right")
        for role in ("hip", "knee", "ankle", "toe")
    }
    others = [j for j in range(skated.skeleton.n_joints) if j not in legs]
    assert np.array_equal(cleaned.motion.local_quats[:, others], skated.local_quats[:, others])


def test_contacts_are_never_faster_than_they_came(walk, skated, cleaned):
    before = contact_speeds(foot_points(skated), walk.footplants.planted, skated.fps).max()
    after = contact_speeds(foot_points(cleaned.motion), walk.footplants.planted, skated.fps).max()
    assert after < before
    assert cleaned.report.contact_speed_before == pytest.approx(before)
    assert cleaned.report.contact_speed_after == pytest.approx(after, abs=1e-6)


def test_an_exact_clip_comes_out_as_it_went_in(walk):
    again = clean_footskate(walk.motion, walk.footplants)
    change = again.motion.world_positions() - walk.motion.world_positions()
    assert np.abs(change).max() < SAME_M


def test_a_second_run_keeps_what_the_first_one_held(walk, cleaned):
    for footplants in (cleaned.footplants, walk.footplants):
        again = clean_footskate(cleaned.motion, footplants)
        moved = foot_points(again.motion) - foot_points(cleaned.motion)
        assert np.abs(moved[cleaned.footplants.planted]).max() < 1e-4


def test_without_plants_nothing_changes_by_a_bit(skated):
    none = Footplants(np.zeros((skated.n_frames, 4), dtype=bool))
    result = clean_footskate(skated, none)
    assert np.array_equal(result.motion.local_quats, skated.local_quats)
    assert np.array_equal(result.motion.root_positions, skated.root_positions)
    assert "nothing changed" in str(result.report)
    assert result.report.held_part is None


def test_frames_far_from_any_plant_are_untouched(walk, skated):
    planted = np.array(walk.footplants.planted)
    planted[60:] = False
    result = clean_footskate(skated, Footplants(planted))
    far = slice(60 + int(0.5 * skated.fps), None)
    assert np.array_equal(result.motion.local_quats[far], skated.local_quats[far])
    assert np.array_equal(result.motion.root_positions[far], skated.root_positions[far])
    assert not np.array_equal(result.motion.local_quats[:60], skated.local_quats[:60])


def test_plants_are_detected_where_none_are_given(skated):
    result = clean_footskate(skated)
    assert result.report.slide_before > 0.03
    assert result.report.slide_after < PLANT_M


def test_stretching_legs_hold_too_and_report_by_how_much(walk):
    skated = corrupt(walk.motion, travel=1.07)
    result = clean_footskate(skated, walk.footplants, stretch=True)
    assert held_spread(result.motion, result.footplants) < PLANT_M
    assert result.motion.joint_translations is not None
    change = lengths_of(result.motion) / np.maximum(lengths_of(skated), 1e-9)
    assert 0.0 < result.report.stretch_max < 0.1
    assert np.abs(change - 1.0)[:, 1:].max() <= result.report.stretch_max + 1e-9
    assert "stretched" in str(result.report)


def test_joints_that_slide_in_the_source_go_on_sliding(walk, skated):
    moving = np.tile(skated.skeleton.offsets, (skated.n_frames, 1, 1))
    moving[:, 0] = 0.0
    moving[:, 1] += 0.01 * np.sin(np.arange(skated.n_frames))[:, None]
    sliding = skated.replace(joint_translations=moving)
    result = clean_footskate(sliding, walk.footplants)
    assert np.array_equal(result.motion.joint_translations, sliding.joint_translations)
    assert held_spread(result.motion, result.footplants) < PLANT_M


def test_a_label_over_a_whole_step_is_let_go(skated):
    planted = np.zeros((skated.n_frames, 4), dtype=bool)
    planted[10:150, 1] = True
    result = clean_footskate(skated, Footplants(planted))
    assert len(result.report.let_go) == 1
    assert not result.footplants.planted.any()
    assert np.array_equal(result.motion.local_quats, skated.local_quats)


def test_the_report_has_slide_and_worst_frame(cleaned):
    text = str(cleaned.report)
    assert text.startswith("slide ")
    assert "worst frame" in text
    first = cleaned.report.plants[0]
    assert first.kind == "left_heel"
    assert first.held is not None
    assert first.slide_before > 10 * first.slide_after
    assert cleaned.report.unreached_frames == 0


def test_plants_of_another_length_are_refused(walk, skated):
    with pytest.raises(ArrayError, match="one row per frame"):
        clean_footskate(skated, walk.footplants[:-1])


def test_options_must_be_positive(walk, skated):
    for option in ("blend_s", "farthest_m"):
        with pytest.raises(ArrayError, match=option):
            clean_footskate(skated, walk.footplants, **{option: 0.0})


def test_a_hold_gives_way_where_the_leg_would_turn_too_fast(walk):
    skated = corrupt(walk.motion, travel=1.3)
    result = clean_footskate(skated, walk.footplants)
    assert result.report.loose_frames > 0
    assert "would turn too fast" in str(result.report)
    assert held_spread(result.motion, result.footplants) < 2.0 * MISSED_M
    body = BodyMap.guess(skated.skeleton)
    legs = [
        getattr(body, f"{side}_{role}")
        for side in ("left", "right")
        for role in ("hip", "knee", "ankle", "toe")
    ]
    source, turns = (quat.turns(m.local_quats, legs) for m in (skated, result.motion))
    assert not steps_too_fast(turns, source.max(axis=0), source, skated.fps).any()


def bent_back(motion, frames):
    body = BodyMap.guess(motion.skeleton)
    knees = find_knees(motion.skeleton, body, motion=motion)
    flexion = knee_flexion(knees, *motion.world_pose())
    local = np.array(motion.local_quats)
    for k, knee in enumerate(knees):
        turn = quat.from_axis_angle(np.tile(knee.axis, (len(local), 1)), -0.2 - flexion[:, k])
        local[frames, knee.knee] = quat.multiply(turn, local[:, knee.knee])[frames]
    return motion.replace(local_quats=local), knees


def test_knees_captured_bent_backwards_are_repaired_unless_asked_otherwise(walk):
    broken, knees = bent_back(walk.motion, slice(60, 110))
    repaired = clean_footskate(broken, walk.footplants)
    assert np.degrees(knee_flexion(knees, *repaired.motion.world_pose())).min() > -1.0
    assert len(repaired.report.knees) == 2
    assert "the left knee bends backwards" in str(repaired.report)
    kept = clean_footskate(broken, walk.footplants, repair_knees=False)
    assert np.degrees(knee_flexion(knees, *kept.motion.world_pose())).min() < -8.0
    assert kept.report.knees == ()


def test_a_skeleton_without_legs_is_refused():
    bone = Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    still = Motion(bone, np.zeros((4, 3)), np.tile(quat.IDENTITY, (4, 2, 1)), fps=30)
    with pytest.raises(SkeletonMismatchError, match="footskate clean-up"):
        clean_footskate(still, Footplants(np.zeros((4, 4), dtype=bool)))


def test_one_frame_is_fine(walk):
    single = walk.motion[:1]
    result = clean_footskate(single, Footplants(np.ones((1, 4), dtype=bool)))
    assert np.array_equal(result.motion.local_quats, single.local_quats)
