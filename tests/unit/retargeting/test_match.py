from __future__ import annotations

import pickle

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Motion
from motionloom.retargeting.match import MatchedClips, match_clips
from motionloom.rotation import quat

POSITION_M = 1e-9
RATE_M = 0.02
"""A captured second between two rates differs by what a body moves in a frame."""


def matched(motion: Motion, first: Motion, footplants=None, **options) -> MatchedClips:
    return match_clips(
        [first, motion], footplants=[None, footplants], names=["first", "second"], **options
    )


def walk(**options) -> Motion:
    return ml.synthetic.clip("walk", duration_s=2.0, **options).motion


def test_a_clip_that_fits_is_left_alone() -> None:
    one = walk()
    made = matched(ml.synthetic.clip("jog", duration_s=2.0).motion, one)
    assert made.notes == ((), ())
    assert made.motions[1].skeleton.same_joints(one.skeleton)
    assert made.footplants[1].planted.any()


def test_another_rate_is_resampled_and_reported() -> None:
    one = walk()
    slow = ml.resample(one, fps=30.0)
    made = matched(slow, one)
    assert made.motions[1].fps == one.fps
    assert made.notes[1] == ("resampled from 30 to 60 fps",)
    n = min(made.motions[1].n_frames, one.n_frames)
    apart = made.motions[1].world_positions()[:n] - one.world_positions()[:n]
    assert np.abs(apart).max() < RATE_M


def test_given_plants_go_along_to_the_other_rate() -> None:
    one = walk()
    slow = ml.resample(one, fps=30.0)
    plants = ml.Footplants.from_intervals({"left_toe": ((10, 19),)}, slow.n_frames)
    made = matched(slow, one, footplants=plants)
    assert made.footplants[1].n_frames == made.motions[1].n_frames
    ((first, last),) = made.footplants[1].intervals()["left_toe"]
    assert abs(first - 20) <= 1 and abs(last - 38) <= 1
    assert made.footplants[1].intervals()["right_toe"] == ()


def test_other_bones_are_retargeted_unless_that_is_off() -> None:
    one, small = walk(), walk(height=1.5)
    made = matched(small, one)
    assert made.notes[1] == ("bones of other lengths: retargeted onto that of first",)
    assert np.abs(made.motions[1].skeleton.offsets - one.skeleton.offsets).max() < POSITION_M
    left = matched(small, one, match=False)
    assert left.notes == ((), ())
    assert np.abs(left.motions[1].skeleton.offsets - small.skeleton.offsets).max() < POSITION_M


def test_rates_that_differ_by_a_rounding_are_one_rate() -> None:
    one = walk()
    for fps, is_same in ((60.0, True), (60.05, True), (59.95, True), (60.1, False), (59.5, False)):
        made = matched(one.replace(fps=fps), one)
        assert (made.notes[1] == ()) == is_same
        assert made.motions[1].fps == one.fps


def test_other_joints_are_refused_if_matching_is_off() -> None:
    one = walk()
    names = [f"{name}_" for name in one.skeleton.names]
    other = ml.Skeleton(names, one.skeleton.parents, one.skeleton.offsets)
    renamed = ml.Motion(other, one.root_positions, one.local_quats, one.fps)
    with pytest.raises(SkeletonMismatchError, match="second has other joints than first"):
        matched(renamed, one, match=False)
    assert matched(renamed, one).motions[1].skeleton.same_joints(one.skeleton)


def test_matching_what_is_matched_changes_nothing() -> None:
    slow = ml.resample(walk(height=1.5), fps=30.0)
    once = matched(slow, walk())
    again = match_clips(once.motions, footplants=once.footplants, body=once.body)
    assert again.notes == ((), ())
    for before, after in zip(once.motions, again.motions, strict=True):
        assert np.array_equal(before.local_quats, after.local_quats)
        assert np.array_equal(before.root_positions, after.root_positions)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"motions": []}, "one clip or more"),
        ({"motions": ["walk"]}, r"`motions\[0\]` must be a Motion"),
        ({"footplants": []}, "one entry per clip"),
        ({"bodies": []}, "one entry per clip"),
        ({"match": "yes"}, "`match` must be True or False"),
    ],
)
def test_wrong_arguments_are_refused(given: dict, problem: str) -> None:
    with pytest.raises(ml.ArrayError, match=problem):
        match_clips(given.pop("motions", [walk()]), **given)


def nameless(motion: Motion) -> Motion:
    """The clip on joints without telling names whose rest pose tells nothing: each is turned."""
    rig = motion.skeleton
    names = tuple(f"j{k}" for k in range(rig.n_joints))
    turns = quat.normalize(np.random.default_rng(3).normal(size=(rig.n_joints, 4)))
    world = quat.multiply(motion.world_quats(), turns)
    offsets, local = np.array(rig.offsets), np.array(world)
    for joint, parent in enumerate(rig.parents.tolist()):
        if parent >= 0:
            offsets[joint] = quat.rotate(quat.conjugate(turns[parent]), rig.offsets[joint])
            local[:, joint] = quat.multiply(quat.conjugate(world[:, parent]), world[:, joint])
    turned = ml.Skeleton(names, rig.parents, offsets)
    return ml.Motion(turned, motion.root_positions, local, motion.fps)


def test_roles_of_a_rig_without_names_are_read_from_its_motion() -> None:
    one = nameless(walk())
    apart = one.world_positions() - walk().world_positions()
    assert np.abs(apart).max() < POSITION_M
    assert BodyMap.guess(one.skeleton) != BodyMap.guess(one.skeleton, motion=one)
    jog = ml.synthetic.clip("jog", duration_s=2.0).motion
    made = match_clips([one, jog])
    assert made.body == BodyMap.guess(one.skeleton, motion=one)
    known = BodyMap.guess(jog.skeleton)
    assert known.left_ankle is not None and made.body.left_ankle is not None
    here = made.motions[1].world_positions()[:, made.body.left_ankle]
    there = jog.world_positions()[:, known.left_ankle]
    assert np.abs(here - there).max() < 0.05


def test_bones_that_slide_by_a_constant_have_another_length() -> None:
    one = walk()
    longer = one.replace(
        joint_translations=np.tile(1.3 * one.skeleton.offsets, (one.n_frames, 1, 1))
    )
    assert matched(longer, one).notes[1] == (
        "bones of other lengths: retargeted onto that of first",
    )


def test_contacts_are_detected_once_and_only_when_they_are_read(monkeypatch) -> None:
    detected = []

    def counted(motion: Motion, *, body: BodyMap) -> ml.Footplants:
        detected.append(motion.name)
        return ml.detect_footplants(motion, body=body)

    monkeypatch.setattr("motionloom.retargeting.match.detect_footplants", counted)
    both = matched(ml.synthetic.clip("jog", duration_s=2.0).motion, walk())
    assert not detected
    assert (both.first_footplants.planted == ml.detect_footplants(walk()).planted).all()
    assert detected == ["walk"]
    assert both.footplants[0] is both.first_footplants
    assert both.footplants is both.footplants
    assert detected == ["walk", "jog"]
    copied = pickle.loads(pickle.dumps(matched(walk(), walk())))
    assert (copied.footplants[1].planted == ml.detect_footplants(walk()).planted).all()
