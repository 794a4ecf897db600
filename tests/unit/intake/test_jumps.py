from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionloom.intake import jumps
from motionloom.intake.jumps import find_jumps, jump_findings
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

X = np.array([1.0, 0.0, 0.0])
FLOAT64 = 1e-14


def broken(motion: Motion, joint: str, frame: int, degrees: float) -> Motion:
    quats = np.array(motion.local_quats)
    j = motion.skeleton.index(joint)
    quats[frame:, j] = quat.multiply(quats[frame:, j], quat.from_axis_angle(X, np.radians(degrees)))
    return motion.replace(local_quats=quats)


def test_smooth_motion_has_no_jumps(person) -> None:
    assert find_jumps(person(200, 120.0)) == ()


def test_a_jump_is_found_at_its_frame_and_joint(person) -> None:
    (jump,) = find_jumps(broken(person(200, 120.0), "LeftUpLeg", 60, 40.0))
    assert (jump.frame, jump.joint) == (60, "LeftUpLeg")
    assert jump.turn_deg == pytest.approx(40.0, abs=0.5)
    leg = 0.42 + 0.41 + np.hypot(0.035, 0.13) + 0.06
    assert jump.swing_m == pytest.approx(2 * np.sin(np.radians(20)) * leg, abs=1e-6)


def test_the_same_turn_is_a_jump_at_120_and_motion_at_30_frames_per_second(person) -> None:
    assert find_jumps(broken(person(200, 120.0), "Head", 60, 40.0))
    assert not find_jumps(broken(person(200, 30.0), "Head", 60, 40.0))


def test_a_bad_start_is_warned_about_and_says_what_to_cut(person) -> None:
    (finding,) = jump_findings(find_jumps(broken(person(200, 120.0), "LeftArm", 3, 94.0)))
    assert finding.level == "warning"
    assert finding.where == "frame 3"
    assert "LeftArm turns 94 degrees" in finding.problem
    assert "motion[3:]" in finding.fix


def test_a_bad_start_of_a_hand_is_only_a_note(person) -> None:
    motion = person(200, 120.0)
    small = motion.replace(
        skeleton=type(motion.skeleton)(
            motion.skeleton.names, motion.skeleton.parents, 0.1 * motion.skeleton.offsets
        )
    )
    (finding,) = jump_findings(find_jumps(broken(small, "LeftForeArm", 3, 94.0)))
    assert finding.level == "note"


def test_a_later_jump_is_a_note_with_the_worst_one(person) -> None:
    motion = broken(broken(person(200, 120.0), "LeftUpLeg", 60, 50.0), "Head", 90, 30.0)
    (finding,) = jump_findings(find_jumps(motion))
    assert finding.level == "note"
    assert finding.where == "frame 60"
    assert "the worst of 2" in finding.problem


def test_short_clips_have_nothing_to_compare(person) -> None:
    assert find_jumps(broken(person(3, 120.0), "Head", 1, 90.0)) == ()


@given(seed=st.integers(0, 500))
def test_the_kernel_agrees_with_its_plain_form(seed: int) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    quats = quat.normalize(rng.normal(size=(7, 3, 4)))
    np.testing.assert_allclose(
        jumps._half_turn_cosines(quats), jumps.half_turn_cosines_numpy(quats), atol=FLOAT64
    )
