"""Odd but constructible arguments give a sound result or an error that names what must hold."""

from __future__ import annotations

import itertools
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml

FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
WALK = ml.synthetic.clip("walk", duration_s=1.5, fps=30).motion
JOG = ml.synthetic.clip("jog", duration_s=1.5, fps=30).motion
ONE_JOINT = ml.Skeleton(["root"], [-1], [[0, 0, 0]])


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", r"The \w+ fails its quality check")
        yield


def without_legs_length(motion: ml.Motion) -> ml.Motion:
    """The motion on a skeleton whose legs have no length."""
    rig = motion.skeleton
    body = ml.BodyMap.guess(rig)
    offsets = np.array(rig.offsets)
    offsets[rig.carried_by([j for j in (body.left_hip, body.right_hip) if j is not None])] = 0.0
    flat = ml.Skeleton(rig.names, rig.parents, offsets, rig.rest_quats)
    return motion.replace(skeleton=flat)


FLAT_WALK, FLAT_JOG = without_legs_length(WALK), without_legs_length(JOG)
JOINS: dict[str, Callable[[ml.Motion, ml.Motion], ml.Motion]] = {
    "register": lambda a, b: ml.register([a, b]).motions[0],
    "blend": lambda a, b: ml.blend(ml.register([a, b]), [0.5, 0.5]).motion,
    "transition": lambda a, b: ml.transition(a, b).motion,
    "lead_in": lambda a, b: ml.lead_in(a, b, length_s=0.3).motion,
    "lead_out": lambda a, b: ml.lead_out(a, b, length_s=0.3).motion,
    "splice": lambda a, b: ml.splice(a, b).motion,
    "loop": lambda a, b: ml.loop(a).motion,
    "clean_footskate": lambda a, b: ml.clean_footskate(a).motion,
    "verify": lambda a, b: a if ml.verify(a, sources=[b]) else b,
    "retarget": lambda a, b: ml.retarget(a, ml.synthetic.skeleton(1.5)),
}


@pytest.mark.parametrize("name", JOINS)
@pytest.mark.parametrize(
    ("a", "b"),
    [(FLAT_WALK, FLAT_JOG), (FLAT_WALK, JOG), (WALK, FLAT_JOG)],
    ids=["both", "the first", "the second"],
)
def test_legs_without_length(name: str, a: ml.Motion, b: ml.Motion) -> None:
    try:
        made = JOINS[name](a, b)
    except ml.MotionLoomError as error:
        assert "must be apart" in str(error)
    else:
        assert np.isfinite(made.world_positions()).all()


def test_a_target_with_one_joint_is_refused() -> None:
    with pytest.raises(ml.SkeletonMismatchError, match="must have joints for"):
        ml.retarget(WALK, ONE_JOINT)


@pytest.mark.parametrize("name", ["lead_in", "lead_out"])
def test_poses_on_different_skeletons_name_the_remedy(name: str) -> None:
    rope = ml.Skeleton(["Hips", "Spine"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    quats = np.tile([1.0, 0, 0, 0], (40, 2, 1))
    other = ml.Motion(rope, np.zeros((40, 3)), quats, 30.0)
    renamed = ml.Skeleton([f"j{n}" for n in WALK.skeleton.names], *skeleton_rest(WALK.skeleton))
    for a, b in itertools.permutations([WALK, other, WALK.replace(skeleton=renamed)], 2):
        with pytest.raises(ml.SkeletonMismatchError, match=r"ml\.retarget\(\w+, \w+\.skeleton\)"):
            JOINS[name](a, b)


def test_a_skeleton_without_legs_cannot_be_matched() -> None:
    rope = ml.Skeleton(["Hips", "Spine"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    other = ml.Motion(rope, np.zeros((40, 3)), np.tile([1.0, 0, 0, 0], (40, 2, 1)), 30.0)
    for name in ("transition", "register", "splice"):
        with pytest.raises(ml.SkeletonMismatchError, match="must have joints for"):
            JOINS[name](WALK, other)
    with pytest.raises(ml.SkeletonMismatchError, match=r"B has other joints than A .*retarget"):
        ml.transition(WALK, other, match=False)


def skeleton_rest(skeleton: ml.Skeleton) -> tuple[object, ...]:
    return skeleton.parents, skeleton.offsets, skeleton.rest_quats


LENGTHS = {
    "transition": lambda s: ml.transition(WALK, JOG, length_s=s),
    "lead_in": lambda s: ml.lead_in(WALK, JOG, length_s=s),
    "hold": lambda s: ml.lead_in(WALK, JOG, length_s=0.3, hold_s=s),
    "blend": lambda s: ml.blend(ml.register([WALK, JOG]), [0.5, 0.5], duration_s=s),
    "loop": lambda s: ml.loop(WALK, shortest_s=s),
    "clean": lambda s: ml.clean_footskate(WALK, blend_s=s),
    "synthetic": lambda s: ml.synthetic.clip("walk", duration_s=s),
}


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf"), "1", None, 10**400])
@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_that_are_no_lengths_are_refused(name: str, seconds: object) -> None:
    if seconds is None and name in ("blend", "synthetic"):
        return  # the usual length
    with pytest.raises(ml.ArrayError, match="must"):
        LENGTHS[name](seconds)


@pytest.mark.parametrize("name", ["hold", "blend", "synthetic"])
def test_a_length_beyond_memory_is_refused(name: str) -> None:
    with pytest.raises(ml.ArrayError, match="at most"):
        LENGTHS[name](1e9)


@pytest.mark.parametrize("call", [ml.transition, ml.lead_in, ml.lead_out])
def test_a_length_that_is_refused_is_reported_as_it_was_given(call: Callable[..., object]) -> None:
    with pytest.raises(ml.ArrayError, match=r"`length_s` must be at most .*, got 1e\+09\."):
        call(WALK, JOG[:1] if call is not ml.transition else JOG, length_s=1e9)


def test_a_transition_is_as_long_as_the_clips_allow() -> None:
    made = ml.transition(WALK, JOG, length_s=1e4)
    assert any("no more frames" in note for note in made.notes)


def test_verify_without_sources_reports_that_nothing_was_compared() -> None:
    alone, compared = ml.verify(WALK), ml.verify(WALK, sources=[WALK])
    assert (alone.compared, compared.compared) == (False, True)
    assert "no source" in alone.describe()
    assert alone.json()["compared"] is False


def test_undefined_figures_are_none() -> None:
    short = ml.measure_quality(WALK[:2], ml.Footplants(np.zeros((2, 4), bool)))
    assert short.contact_speed_max is short.peak_jerk is short.zmp_outside is None
    cleaned = ml.clean_footskate(WALK, ml.Footplants(np.zeros((WALK.n_frames, 4), bool)))
    assert cleaned.report.held_part is cleaned.report.contact_speed_after is None


def test_a_flip_in_a_clip_of_three_frames_is_bridged() -> None:
    """Where a flip begins or ends a clip there is no frame beyond the good one."""
    quats = np.array(WALK.local_quats[:3])
    knee = ml.BodyMap.guess(WALK.skeleton).left_knee
    for frame in range(3):
        flipped = quats.copy()
        flipped[frame, knee] = [0.0, 1.0, 0.0, 0.0]
        motion = ml.Motion(WALK.skeleton, WALK.root_positions[:3], flipped, 30.0)
        curve = ml.register([motion, motion])
        assert np.isfinite(curve.motions[0].world_positions()).all()


def test_roles_must_be_chains_of_the_skeleton() -> None:
    rig = WALK.skeleton
    body = ml.BodyMap.guess(rig)
    swapped = ml.BodyMap(
        pelvis=body.pelvis, left_hip=body.left_hip, left_knee=body.right_knee, head=body.head
    )
    for odd in (swapped, ml.BodyMap(pelvis=-1), ml.BodyMap(head=10**6)):
        with pytest.raises(ml.SkeletonMismatchError, match="must name"):
            ml.detect_footplants(WALK, body=odd)


def test_rates_that_no_capture_has_are_not_mixed() -> None:
    with pytest.raises(ml.ArrayError, match=r"replace\(fps=\.\.\.\)"):
        ml.transition(WALK, JOG.replace(fps=1e6))


def test_a_clip_shorter_than_the_window_of_travel_is_joined() -> None:
    """Ten frames are fewer than the 0.3 s over which travel is measured."""
    made = ml.transition(WALK, JOG.replace(fps=120.0)[:30], moving=True, length_s=0.1)
    short = ml.transition(WALK, ml.resample(JOG, fps=30.0)[:8], moving=True, length_s=0.1)
    for each in (made, short):
        assert np.isfinite(each.motion.world_positions()).all()


def test_a_place_beyond_the_universe_is_refused() -> None:
    with pytest.raises(ml.ArrayError, match="unit of length"):
        WALK.replace(root_positions=1e250 * WALK.root_positions)


def test_a_short_campaign_is_clean() -> None:
    command = [sys.executable, str(FUZZ / "calls.py"), "--count", "60", "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
