from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionloom.features.glitches import glitch_frames as jumps
from motionloom.features.glitches.glitch_frames import find_sudden_turns, sudden_turn_findings
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from tests.oracles import jumps as plain

X = np.array([1.0, 0.0, 0.0])


def broken(motion: Motion, joint: str, frame: int, degrees: float) -> Motion:
    quats = np.array(motion.local_quats)
    j = motion.skeleton.index(joint)
    quats[frame:, j] = quat.multiply(quats[frame:, j], quat.from_axis_angle(X, np.radians(degrees)))
    return motion.replace(local_quats=quats)


def test_smooth_motion_has_no_jumps(person) -> None:
    assert find_sudden_turns(person(200, 120.0)) == ()


def test_a_jump_is_found_at_its_frame_and_joint(person) -> None:
    (jump,) = find_sudden_turns(broken(person(200, 120.0), "LeftUpLeg", 60, 40.0))
    assert (jump.frame, jump.joint) == (60, "LeftUpLeg")
    assert jump.turn_deg == pytest.approx(40.0, abs=0.5)
    leg = 0.42 + 0.41 + np.hypot(0.035, 0.13) + 0.06
    assert jump.swing_m == pytest.approx(2 * np.sin(np.radians(20)) * leg, abs=1e-6)


def test_the_same_turn_is_a_jump_at_120_and_motion_at_30_frames_per_second(person) -> None:
    assert find_sudden_turns(broken(person(200, 120.0), "Head", 60, 40.0))
    assert not find_sudden_turns(broken(person(200, 30.0), "Head", 60, 40.0))


def test_a_bad_start_is_warned_about_with_what_to_cut(person) -> None:
    motion = broken(person(200, 120.0), "LeftArm", 3, 94.0)
    (finding,) = sudden_turn_findings(find_sudden_turns(motion))
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
    (finding,) = sudden_turn_findings(find_sudden_turns(broken(small, "LeftForeArm", 3, 94.0)))
    assert finding.level == "note"


def test_a_later_jump_is_a_note_with_the_worst_one(person) -> None:
    motion = broken(broken(person(200, 120.0), "LeftUpLeg", 60, 50.0), "Head", 90, 30.0)
    (finding,) = sudden_turn_findings(find_sudden_turns(motion))
    assert finding.level == "note"
    assert finding.where == "frame 60"
    assert "the worst of 2" in finding.problem


def test_a_clip_of_noise_is_not_listed_to_the_end(person) -> None:
    motion = person(4000, 120.0)
    quats = np.array(motion.local_quats)
    head = motion.skeleton.index("Head")
    # Still but for a throw in every 71 frames: each is far from usual.
    for frame in range(0, 4000, 71):
        quats[frame, head] = quat.from_axis_angle(X, 2.0)
    found = find_sudden_turns(motion.replace(local_quats=quats))
    assert len(found) == 2 * 57 - 1  # into and out of each throw, the first one is in already
    quats[:, 5:] = quats[:, head : head + 1]
    assert len(find_sudden_turns(motion.replace(local_quats=quats))) == jumps.MOST_TURNS


def test_short_clips_have_nothing_to_compare(person) -> None:
    assert find_sudden_turns(broken(person(3, 120.0), "Head", 1, 90.0)) == ()


@given(seed=st.integers(0, 500), n_frames=st.sampled_from([1, 2, 9, 400]))
def test_the_kernel_agrees_with_its_plain_form(seed: int, n_frames: int) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    quats = quat.normalize(rng.normal(size=(n_frames, 3, 4)))
    for ours, wanted in zip(
        jumps._turns_beyond(quats, 0.7), plain.turns_beyond(quats, 0.7), strict=True
    ):
        np.testing.assert_array_equal(ours, wanted)


def test_a_turn_of_just_the_limit_is_not_beyond_it() -> None:
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1, 1))
    quats[1, 0] = [0.75, np.sqrt(1.0 - 0.75**2), 0.0, 0.0]
    assert jumps._turns_beyond(quats, 0.75)[0].tolist() == []
    assert jumps._turns_beyond(quats, np.nextafter(0.75, 1.0))[0].tolist() == [0, 1]
    assert jumps._turns_beyond(quats[:, :0], 0.75)[0].tolist() == []
