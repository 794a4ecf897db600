from __future__ import annotations

import json

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.features.checks.quality_check import QualityCheck, verify
from motionloom.features.glitches.glitch_frames import glitch_mask
from motionloom.motion.provenance import Provenance
from motionloom.rotation import quat

FPS = 60.0


@pytest.fixture(scope="module")
def gaits() -> list[ml.Motion]:
    return [ml.synthetic.clip(kind, duration_s=3.0, fps=FPS).motion for kind in ("walk", "jog")]


@pytest.fixture(scope="module")
def check(gaits: list[ml.Motion]) -> QualityCheck:
    return QualityCheck(gaits)


def turned(
    motion: ml.Motion, joint: str, frames: slice, degrees: np.ndarray | float, axis: int
) -> ml.Motion:
    """The motion with a joint turned by an angle about an axis of its own in some frames."""
    j = motion.skeleton.index(joint)
    quats = np.array(motion.local_quats)
    count = len(quats[frames])
    angles = np.broadcast_to(np.radians(degrees), (count,))
    about = np.zeros(3)
    about[axis] = 1.0
    quats[frames, j] = quat.multiply(quats[frames, j], quat.from_axis_angle(about, angles))
    return motion.replace(local_quats=quat.make_continuous(quats))


def knee_of(motion: ml.Motion) -> str:
    return motion.skeleton.names[BodyMap.guess(motion.skeleton).left_knee]


def failed(check: QualityCheck, motion: ml.Motion) -> set[tuple[str, str]]:
    return {(each.check, each.joint) for each in check.verify(motion).failed}


def test_captured_motion_passes_against_itself(gaits, check) -> None:
    for motion in gaits:
        found = check.verify(motion)
        assert found.passed, found.describe()
        assert found.describe() == "passed"


def test_a_check_made_once_agrees_with_verify(gaits, check) -> None:
    corrupted = turned(gaits[0], knee_of(gaits[0]), slice(40, 41), 40.0, 0)
    for motion in (*gaits, corrupted):
        assert check.verify(motion).failed == verify(motion, sources=gaits).failed


@pytest.mark.parametrize("joint", ["head", "left_elbow", "right_shoulder", "left_hip"])
def test_a_pop_of_one_frame_is_found_in_the_joint_that_pops(gaits, check, joint) -> None:
    name = gaits[0].skeleton.names[getattr(BodyMap.guess(gaits[0].skeleton), joint)]
    found = check.verify(turned(gaits[0], name, slice(50, 51), 15.0, 1))
    assert not found.passed
    assert any(each.joint == name and abs(each.frame - 50) <= 1 for each in found.failed)


def test_a_spin_is_found_however_smooth_it_is(gaits, check) -> None:
    name = gaits[0].skeleton.names[BodyMap.guess(gaits[0].skeleton).left_elbow]
    angles = np.linspace(0.0, 360.0, 24)
    assert ("rotation speed", name) in failed(
        check, turned(gaits[0], name, slice(40, 64), angles, 2)
    )


def test_a_body_that_spins_is_found(gaits, check) -> None:
    motion = gaits[0]
    turn = np.zeros(motion.n_frames)
    turn[60:] = 2.0 * np.pi * np.clip((np.arange(motion.n_frames - 60)) / 30.0, 0.0, 1.0)
    up = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), turn)
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(up, quats[:, 0])
    spun = motion.replace(local_quats=quat.make_continuous(quats))
    assert "pelvis turn" in {check for check, _ in failed(check, spun)}


def test_a_knee_bent_backwards_is_named_with_its_angle(gaits, check) -> None:
    name = knee_of(gaits[0])
    flexed = check.verify(turned(gaits[0], name, slice(None), -60.0, 0))
    other = check.verify(turned(gaits[0], name, slice(None), 60.0, 0))
    backwards = [
        each
        for each in (*flexed.failed, *other.failed)
        if each.check == "knee bent backwards" and each.joint == name
    ]
    assert backwards
    assert all(each.value < each.limit <= -5.0 and each.unit == "deg" for each in backwards)


def test_a_sinking_foot_a_sliding_contact_and_a_hovering_body_are_found(gaits) -> None:
    clip = ml.synthetic.clip("stand", duration_s=3.0, fps=FPS)
    check = QualityCheck([clip.motion], footplants=[clip.footplants])
    motion, plants = clip.motion, clip.footplants
    roots = np.array(motion.root_positions)

    def moved(**shift: float) -> set[str]:
        root = np.array(roots)
        ease = np.clip((np.arange(len(root)) - 60) / 40.0, 0.0, 1.0)
        for axis, by in shift.items():
            root[:, "xyz".index(axis)] += by * ease * ease * (3.0 - 2.0 * ease)
        found = check.verify(motion.replace(root_positions=root), footplants=plants)
        return {each.check for each in found.failed}

    assert "sole below the floor" in moved(y=-0.04)
    assert "sliding contact" in moved(x=0.06)
    assert "hovering" in moved(y=0.10)
    assert moved(x=0.0) == set()


def test_without_sources_only_what_no_body_does_fails(gaits) -> None:
    fast = gaits[0].replace(fps=1.3 * FPS)
    assert verify(fast).passed
    assert "knee bent backwards" in {
        each.check
        for way in (-60.0, 60.0)
        for each in verify(turned(gaits[0], knee_of(gaits[0]), slice(None), way, 0)).failed
    }


def test_only_the_span_is_judged(gaits, check) -> None:
    name = knee_of(gaits[0])
    corrupted = turned(gaits[0], name, slice(50, 51), 40.0, 0)
    assert not check.verify(corrupted, span=(30, 70)).passed
    assert check.verify(corrupted, span=(80, 120)).passed


def test_what_a_source_does_in_a_frame_that_is_shown_is_its_own(gaits) -> None:
    name = knee_of(gaits[0])
    corrupted = turned(gaits[0], name, slice(50, 51), 40.0, 0)
    check = QualityCheck([corrupted])
    there = Provenance.of_edit("walk", corrupted.fps, 0, corrupted.n_frames)
    assert check.verify(corrupted, provenance=there).passed
    elsewhere = turned(gaits[0], name, slice(90, 91), 40.0, 0)
    assert not check.verify(elsewhere, provenance=there).passed


def test_a_restless_head_is_found_where_it_is_asked_for(gaits, check) -> None:
    name = gaits[0].skeleton.names[BodyMap.guess(gaits[0].skeleton).head]
    shaken = turned(
        gaits[0], name, slice(None), 6.0 * np.sin(np.arange(gaits[0].n_frames) * 0.35), 1
    )
    plain = check.verify(shaken)
    asked = check.verify(shaken, steady_head=True)
    assert "head turn" not in {each.check for each in plain.failed}
    assert "head turn" in {each.check for each in asked.failed}


def test_results_can_be_read_by_people_and_programs(gaits, check) -> None:
    found = check.verify(turned(gaits[0], knee_of(gaits[0]), slice(50, 51), 40.0, 0))
    assert knee_of(gaits[0]) in found.describe()
    read = json.loads(json.dumps(found.json()))
    assert read["passed"] is False
    assert {"check", "joint", "frame", "value", "limit", "unit"} == set(read["failed"][0])
    assert len(found.findings) == len(found.failed)


def test_a_source_is_a_motion_on_the_same_skeleton(gaits: list[ml.Motion]) -> None:
    with pytest.raises(ArrayError, match="list of motions"):
        QualityCheck(gaits[0])  # type: ignore[arg-type]
    bones = gaits[0].skeleton
    other = ml.Skeleton([f"x{n}" for n in bones.names], bones.parents, bones.offsets)
    stranger = ml.Motion(other, gaits[0].root_positions, gaits[0].local_quats, gaits[0].fps)
    with pytest.raises(SkeletonMismatchError):
        QualityCheck([stranger]).verify(gaits[0])


@pytest.mark.parametrize(("fps", "near"), [(10.0, 1), (40.0, 1), (60.0, 2), (120.0, 3)])
def test_frames_up_to_a_fortieth_of_a_second_from_a_glitch_are_left_out(fps, near) -> None:
    motion = ml.synthetic.clip("stand", duration_s=1.0).motion.replace(fps=fps)
    n = motion.n_frames
    assert np.flatnonzero(glitch_mask(motion, [20])).tolist() == [*range(20 - near, 21 + near)]
    ends = [*range(near + 1), *range(n - 1 - near, n)]
    assert np.flatnonzero(glitch_mask(motion, [n - 1, 0])).tolist() == ends
    assert not glitch_mask(motion, []).any()
