"""hold_hands() and constraints that name a wrist: pinned wrists, rigid arms, the rest untouched."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.cleanup.hands import BENT, WRISTS, arm_of, place_in_reach
from motionloom.motion.edit import transform
from motionloom.rotation import quat

WALK = ml.synthetic.clip("walk", duration_s=4.0, fps=60).motion
STAND = ml.synthetic.clip("stand", duration_s=3.0, fps=60).motion
BODY = ml.BodyMap.guess(WALK.skeleton)


def swaying(degrees: float = 6.0) -> ml.Motion:
    """A standing body whose right upper arm sways."""
    quats = np.array(STAND.local_quats)
    angle = np.radians(degrees) * np.sin(np.arange(STAND.n_frames) / 20.0)
    sway = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), angle)
    shoulder = BODY.right_shoulder
    quats[:, shoulder] = quat.multiply(quats[:, shoulder], sway)
    elbow = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.full(STAND.n_frames, 0.9))
    quats[:, BODY.right_elbow] = quat.multiply(quats[:, BODY.right_elbow], elbow)
    return STAND.replace(local_quats=quats)


def wrist(motion: ml.Motion, role: str = "right_wrist") -> np.ndarray:
    return motion.world_positions()[:, getattr(BODY, role)]


def test_a_held_wrist_stands_still_and_other_frames_are_untouched() -> None:
    motion = swaying()
    held = ml.hold_hands(motion, {"right_wrist": [(1.0, 2.0)]})
    (hold,) = held.holds
    assert (hold.role, hold.first, hold.last) == ("right_wrist", 60, 120)
    still = wrist(held.motion)[60:121]
    assert np.abs(still - wrist(motion)[60:121].mean(axis=0)).max() < 1e-9
    assert hold.speed_before > 0.02
    assert hold.speed_after < 1e-6
    assert hold.missed_m < 1e-9
    away = np.r_[0:48, 133:180]
    assert np.array_equal(held.motion.local_quats[away], motion.local_quats[away])
    assert np.array_equal(held.motion.root_positions, motion.root_positions)
    arm = [BODY.right_shoulder, BODY.right_elbow, BODY.right_wrist]
    others = np.setdiff1d(np.arange(motion.skeleton.n_joints), arm)
    assert np.array_equal(held.motion.local_quats[:, others], motion.local_quats[:, others])


def test_the_hand_keeps_its_rotation_in_the_world() -> None:
    motion = swaying()
    held = ml.hold_hands(motion, {"right_wrist": [(1.0, 2.0)]}).motion
    before, after = (m.world_quats()[:, BODY.right_wrist] for m in (motion, held))
    assert quat.angle_between(before, after).max() < 1e-6


def test_the_way_to_the_place_is_smooth() -> None:
    motion = swaying()
    held = ml.hold_hands(motion, {"right_wrist": [(1.0, 2.0)]}).motion
    steps = np.linalg.norm(np.diff(wrist(held), axis=0), axis=1) * 60.0
    bends = np.abs(np.diff(wrist(held), n=2, axis=0)).max() * 3600.0
    assert steps.max() < 0.5
    assert bends < 20.0


def test_the_name_of_the_joint_is_as_good_as_its_role() -> None:
    motion = swaying()
    name = motion.skeleton.names[BODY.right_wrist]
    by_role = ml.hold_hands(motion, {"right_wrist": [(1.0, 2.0)]})
    by_name = ml.hold_hands(motion, {name: [(1.0, 2.0)]})
    assert np.array_equal(by_role.motion.local_quats, by_name.motion.local_quats)


def test_where_the_body_stands_does_not_matter() -> None:
    motion, place = swaying(), ml.PlanarTransform(1.1, 3.0, -2.0)
    here = ml.hold_hands(motion, {"right_wrist": [(1.0, 2.0)]}).motion
    there = ml.hold_hands(transform(motion, place), {"right_wrist": [(1.0, 2.0)]}).motion
    np.testing.assert_allclose(
        transform(here, place).world_positions(), there.world_positions(), atol=1e-9
    )


def test_both_hands_and_several_intervals() -> None:
    held = ml.hold_hands(
        swaying(), {"left_wrist": [(0.2, 0.5), (1.5, 1.9)], "right_wrist": [(0.3, 1.0)]}
    )
    assert [(hold.role, hold.first) for hold in held.holds] == [
        ("left_wrist", 12), ("left_wrist", 90), ("right_wrist", 18),
    ]  # fmt: skip
    assert max(hold.speed_after for hold in held.holds) < 1e-6


def test_a_place_is_within_easy_reach_of_every_frame_where_there_is_one() -> None:
    motion = swaying(25.0)
    arm = arm_of("right_wrist", BODY, motion.world_pose())
    place = place_in_reach(arm, 20, 150)
    far = np.linalg.norm(place - arm.shoulder[20:151], axis=1)
    assert (far <= arm.easy_reach[20:151] + 1e-5).all()
    whole = np.linalg.norm(arm.elbow - arm.shoulder, axis=1)
    whole = whole + np.linalg.norm(arm.wrist - arm.elbow, axis=1)
    assert (arm.easy_reach >= BENT * whole - 1e-12).all()


def test_an_arm_that_is_too_short_is_reported() -> None:
    with pytest.warns(ml.MotionLoomWarning, match="The hold fails its quality check"):
        held = ml.hold_hands(WALK, {"right_wrist": [(0.5, 3.0)]})  # the body walks away
    (hold,) = held.holds
    assert hold.missed_m > 0.5
    missed = f"right_wrist is {100 * hold.missed_m:.1f} cm from its place in frames 30 to 180"
    assert held.notes[0] == f"{missed}: the arm is too short"
    assert not held.verification.passed
    assert {f"failed check: {each}" for each in held.verification.failed} == set(held.notes[1:])
    lengths = np.linalg.norm(np.diff(held.motion.world_positions(), axis=0), axis=-1)
    assert np.isfinite(lengths).all()


def test_a_hand_that_can_be_held_passes_the_check() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = ml.hold_hands(swaying(), {"right_wrist": [(1.0, 2.0)]})
    assert held.verification.passed and held.verification.compared
    assert held.notes == ()
    assert np.array_equal(held.footplants.planted, ml.detect_footplants(swaying()).planted)


def test_a_motion_that_comes_broken_fails_with_its_hands_held() -> None:
    """Compared with itself alone it would pass with whatever faults it came with."""
    motion = swaying()
    glitch, teleport = (np.array(motion.root_positions) for _ in range(2))
    glitch[150, 0] += 0.2
    teleport[150:, 0] += 3.0
    for root in (glitch, teleport):
        broken = motion.replace(root_positions=root)
        assert not ml.verify(broken).passed
        with pytest.warns(ml.MotionLoomWarning, match="capture glitch"):
            held = ml.hold_hands(broken, {"right_wrist": [(1.0, 2.0)]})
        assert not held.verification.passed
        assert any(note.startswith("failed check: capture glitch") for note in held.notes)


def test_what_a_joint_did_before_is_no_fault_of_a_hold() -> None:
    """A step of the body in one frame that is no glitch: the check of the motion alone passes."""
    motion = swaying()
    root = np.array(motion.root_positions)
    root[150, 0] += 0.02
    jolted = motion.replace(root_positions=root)
    assert ml.verify(jolted).passed
    assert not ml.verify(jolted, sources=[motion]).passed
    assert ml.hold_hands(jolted, {"right_wrist": [(1.0, 2.0)]}).verification.passed


def test_a_fault_that_a_hold_removes_is_reported() -> None:
    motion = swaying()
    quats, elbow, wrist = np.array(motion.local_quats), BODY.right_elbow, BODY.right_wrist
    jolt = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.4)
    quats[90, elbow] = quat.multiply(quats[90, elbow], jolt)
    quats[90, wrist] = quat.multiply(quat.conjugate(jolt), quats[90, wrist])
    jolted = motion.replace(local_quats=quats)
    assert not ml.verify(jolted).passed
    held = ml.hold_hands(jolted, {"right_wrist": [(1.0, 2.0)]})
    assert held.verification.passed
    assert any(note.startswith("the given motion fails a check") for note in held.notes)


def test_intervals_of_one_hand_do_not_overlap_under_two_names() -> None:
    name = STAND.skeleton.names[BODY.right_wrist]
    for first, second in ([(1.0, 2.0)], [(1.5, 2.5)]), ([(0.2, 0.4), (2.0, 2.5)], [(0.3, 1.0)]):
        with pytest.raises(ml.ArrayError, match=f"right_wrist \\({name}\\) one after the other"):
            ml.hold_hands(swaying(), {"right_wrist": first, name: second})
    held = ml.hold_hands(swaying(), {"right_wrist": [(2.0, 2.5)], name: [(0.3, 1.0)]})
    assert [(hold.role, hold.first) for hold in held.holds] == [
        ("right_wrist", 18), ("right_wrist", 120),
    ]  # fmt: skip


def test_constraints_that_name_a_wrist_hold_it_in_a_blend() -> None:
    motion = swaying()
    spans = [{"right_wrist": [(1.0, 2.0)]}, {"right_wrist": [(1.1, 1.9)], "cup": [(0.2, 0.5)]}]
    curve = ml.register([motion, motion], ends="match", constraints=spans)
    blend = ml.blend(curve, [0.5, 0.5])
    (hold,) = blend.hands
    assert ((hold.first, hold.last),) == blend.constraints["right_wrist"]
    assert hold.speed_after < 1e-6 < hold.speed_before
    still = wrist(blend.motion)[hold.first : hold.last + 1]
    assert np.ptp(still, axis=0).max() < 1e-9
    assert blend.verification.passed
    assert ml.blend(curve, [0.5, 0.5], clean=False).hands == ()


def test_other_names_are_matched_and_not_held() -> None:
    motion = swaying()
    spans = [{"cup": [(1.0, 2.0)]}, {"cup": [(1.0, 2.0)]}]
    blend = ml.blend(ml.register([motion, motion], ends="match", constraints=spans), [0.5, 0.5])
    assert blend.hands == ()
    assert blend.constraints["cup"]


@pytest.mark.parametrize(
    ("intervals", "words"),
    [
        (3, "intervals"),
        ({"cup": [(0.0, 1.0)]}, "cup"),
        ({"left_ankle": [(0.0, 1.0)]}, "left_ankle"),
        ({"right_wrist": 3}, "right_wrist"),
        ({"right_wrist": [(1.0, 0.5)]}, "right_wrist"),
        ({"right_wrist": [(50.0, 60.0)]}, "right_wrist"),
    ],
)
def test_wrong_intervals_are_refused(intervals: object, words: str) -> None:
    with pytest.raises(ml.ArrayError, match=words):
        ml.hold_hands(WALK, intervals)


def test_a_body_without_arms_is_refused() -> None:
    body = ml.BodyMap.from_names(WALK.skeleton, {"right_elbow": None})
    with pytest.raises(ml.MotionLoomError, match="right_elbow"):
        ml.hold_hands(WALK, {"right_wrist": [(0.5, 1.0)]}, body=body)
    assert set(WRISTS) == {"left_wrist", "right_wrist"}
