"""Laws 44 to 50: what a splice takes from which clip, and what it may not depend on."""

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import motionloom as ml
from motionloom.motion.edit import transform
from motionloom.motion.motion import Skeleton
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform
from motionloom.splicing.body_parts import parts_of
from motionloom.splicing.posture import hip_frames
from motionloom.splicing.smoothing import sample_smoothly

EXACT_M = 1e-9
LEAN_DEGREES = 1.0
"""The lean is put on in the pelvis' axes and measured in the hips', which sway against them."""
SMOOTHED_M = 3e-3
"""A lean that is constant in the pelvis' axes sways in the world, and the turn that undoes it is
smoothed there."""
RATE_FRAMES, MEAN_FRAMES = 3.0, 1.0
"""Of 60 Hz. Clips are compared at 30 Hz, and an open end may be a frame and a half of that off."""
RATE_M = 0.05
STEADY_RATE = np.radians(30.0)
"""The steadiest head of the captured walks turns as fast. Synthetic heads hardly turn at all, and
a multiple of that means nothing. Boxers, who twist through 100 degrees, are the method's limit and
left out."""
METHODS = ("naive", "time", "time+space", "full")

planars = st.tuples(st.floats(-3, 3), st.floats(-20, 20), st.floats(-20, 20)).map(
    lambda t: PlanarTransform(*t)
)
turns = st.floats(-1.2, 1.2).map(lambda t: round(t, 1))
gaits = st.sampled_from(["walk", "jog", "sneak", "stairs"])
actions = st.sampled_from(["carry", "push", "walk", "jog", "wave", "punch"])
rotations = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(x * x for x in q) > 0.05)


@cache
def clip(kind: str, turn: float = 0.0, duration_s: float = 2.5) -> ml.Motion:
    turned = {} if kind in ("wave", "punch", "stairs") else {"turn": turn}
    return ml.synthetic.clip(kind, duration_s=duration_s, **turned).motion


@cache
def spliced(action: str, gait: str, turns: tuple[float, float], method: str = "full") -> ml.Splice:
    """The action on the gait, each with its turn: made once for all laws."""
    return ml.splice(clip(action, turns[0]), clip(gait, turns[1]), method=method)


def body_of(motion: ml.Motion) -> ml.BodyMap:
    return ml.BodyMap.guess(motion.skeleton)


def upper_joints(motion: ml.Motion) -> list[int]:
    spine = body_of(motion).spine[0]
    hanging = [spine]
    for j in range(spine + 1, motion.skeleton.n_joints):
        if int(motion.skeleton.parents[j]) in hanging:
            hanging.append(j)
    return hanging


def apart(a: ml.Motion, b: ml.Motion) -> float:
    return float(np.abs(a.world_positions() - b.world_positions()).max())


def relabelled(motion: ml.Motion, joint: int, turn: np.ndarray) -> ml.Motion:
    """The same motion on a rig that gives one joint other axes."""
    skeleton, back = motion.skeleton, quat.conjugate(turn)
    offsets, rest = np.array(skeleton.offsets), np.array(skeleton.rest_quats)
    quats, ends = np.array(motion.local_quats), np.array(skeleton.end_offsets)
    quats[:, joint] = quat.multiply(quats[:, joint], turn)
    rest[joint] = quat.multiply(rest[joint], turn)
    for child in skeleton.children(joint):
        quats[:, child] = quat.multiply(back, quats[:, child])
        rest[child] = quat.multiply(back, rest[child])
        offsets[child] = quat.rotate(back, offsets[child])
    at = skeleton.end_parents == joint
    ends[at] = quat.rotate(back, ends[at])
    rig = Skeleton(skeleton.names, skeleton.parents, offsets, rest, skeleton.end_parents, ends)
    return motion.replace(skeleton=rig, local_quats=quats)


def trunk(motion: ml.Motion) -> np.ndarray:
    """Mean direction of the torso in the hips' axes."""
    body, positions = body_of(motion), motion.world_positions()
    middle = positions[:, [body.left_shoulder, body.right_shoulder]].mean(axis=1)
    seen = quat.rotate(hip_frames(positions, body), middle - positions[:, body.spine[0]])
    mean = seen.mean(axis=0)
    return mean / np.linalg.norm(mean)


def head_turn_rate(motion: ml.Motion) -> float:
    """Speed at which the head turns in the world, 95th percentile, radians per second."""
    quats = motion.world_quats()[:, body_of(motion).head]
    return motion.fps * float(np.percentile(quat.angle_between(quats[:-1], quats[1:]), 95))


def degrees_between(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))


@settings(max_examples=25)
@given(
    st.sampled_from(["walk", "jog", "carry", "wave", "stairs", "sneak"]),
    turns,
    st.sampled_from(METHODS),
    st.integers(0, 3),
)
def test_a_motion_on_itself_is_that_motion_over_its_whole_length(kind, turn, method, cut):
    whole = clip(kind, turn)
    motion = whole[: whole.n_frames - cut]
    made = ml.splice(motion, motion, method=method)
    assert made.motion.n_frames == motion.n_frames
    assert np.abs(made.timewarp.frames - np.arange(motion.n_frames)).max() < 1e-9
    assert apart(made.motion, motion) < EXACT_M


@pytest.mark.parametrize(
    "options",
    [
        {"soft": True},
        {"keep_bend": True},
        {"align": True},
        *({"where": where} for where in ("chest", "arms", "left_arm", "right_arm", "head")),
    ],
)
def test_a_motion_on_itself_is_that_motion_with_every_option(options):
    motion = clip("carry", 0.8)
    assert apart(ml.splice(motion, motion, **options).motion, motion) < EXACT_M


@settings(max_examples=25)
@given(actions, gaits, turns, st.sampled_from(METHODS))
def test_legs_and_root_are_the_lower_clips_bit_by_bit(action, gait, turn, method):
    lower, made = clip(gait, turn), spliced(action, gait, (-turn, turn), method)
    n = made.motion.n_frames
    hanging = upper_joints(lower)
    legs = [j for j in range(lower.skeleton.n_joints) if j not in hanging]
    assert np.array_equal(made.motion.root_positions, lower.root_positions[:n])
    assert np.array_equal(made.motion.local_quats[:, legs], lower.local_quats[:n, legs])


@settings(max_examples=15)
@given(actions, gaits, turns, st.sampled_from(["arms", "left_arm", "right_arm", "head"]))
def test_arms_and_head_alone_leave_all_other_joints_bit_by_bit(action, gait, turn, where):
    upper, lower = clip(action, turn), clip(gait, -turn)
    made = ml.splice(upper, lower, where=where)
    n, body = made.motion.n_frames, body_of(lower)
    taken = {j for part in parts_of(lower.skeleton, body, where) for j in part.joints}
    others = [j for j in range(lower.skeleton.n_joints) if j not in taken]
    assert np.array_equal(made.motion.root_positions, lower.root_positions[:n])
    assert np.array_equal(made.motion.local_quats[:, others], lower.local_quats[:n, others])


@settings(max_examples=15)
@given(st.sampled_from(["wave", "punch"]), gaits, turns)
def test_strokes_on_steps_have_times_that_increase_within_half_and_twice_the_pace(
    action, gait, turn
):
    upper, lower = clip(action, duration_s=4.0), clip(gait, turn, duration_s=3.0)
    times = ml.splice(upper, lower, align=True).timewarp
    pace = np.diff(times.frames)
    assert 0.0 <= times.frames[0] <= times.frames[-1] <= upper.n_frames - 1
    assert pace.min() >= 0.5
    assert pace.max() <= 2.0


@settings(max_examples=25)
@given(actions, gaits, turns)
def test_chest_and_arms_keep_every_distance_that_the_action_had(action, gait, turn):
    upper, lower = clip(action, turn), clip(gait)
    made = spliced(action, gait, (turn, 0.0))
    body = body_of(lower)
    # The spine below takes fast turns of the hips, the neck above keeps the head steady.
    loose = {*body.spine[:-1], body.head}
    hanging = [j for j in upper_joints(lower) if j not in loose]
    there = made.motion.world_positions()[:, hanging]
    here = sample_smoothly(upper, made.timewarp.frames).world_positions()[:, hanging]

    def distances(points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)

    assert np.abs(distances(there) - distances(here)).max() < EXACT_M


@settings(max_examples=25)
@given(
    st.sampled_from(["carry", "push", "walk", "jog", "wave", "sneak"]),
    gaits,
    turns,
    st.sampled_from([2.5, 4.0]),
)
@example("wave", "sneak", 1.0, 2.5)
@example("wave", "sneak", 1.2, 4.0)
@example("jog", "sneak", -0.8, 2.5)
@example("sneak", "jog", -1.2, 4.0)
def test_the_head_is_as_steady_as_in_the_sources(action, gait, turn, duration_s):
    # What sways in less than one stride is not known as sway: a sneak's takes 2.4 s.
    assume(action != "sneak" or duration_s > 2.5)
    upper, lower = clip(action, turn, duration_s), clip(gait, -turn, duration_s)
    made = ml.splice(upper, lower)
    frames = made.timewarp.frames
    used = upper[int(frames[0]) : int(np.ceil(frames[-1])) + 1]
    sources = [head_turn_rate(m) for m in (used, lower[: made.motion.n_frames])]
    assert head_turn_rate(made.motion) < max(1.3 * max(sources), STEADY_RATE)


@settings(max_examples=15)
@given(actions, gaits, planars)
def test_where_the_action_was_captured_changes_nothing(action, gait, place):
    upper, lower = clip(action), clip(gait, 0.4)
    made = spliced(action, gait, (0.0, 0.4))
    moved = ml.splice(transform(upper, place), lower)
    assert made.motion.n_frames == moved.motion.n_frames
    assert apart(made.motion, moved.motion) < 1e-7


@settings(max_examples=15)
@given(actions, gaits, planars)
def test_moving_the_locomotion_moves_the_result(action, gait, place):
    upper, lower = clip(action), clip(gait, 0.4)
    made = spliced(action, gait, (0.0, 0.4))
    moved = ml.splice(upper, transform(lower, place))
    assert apart(transform(made.motion, place), moved.motion) < 1e-7


@settings(max_examples=15)
@given(st.sampled_from(["carry", "walk", "push"]), turns, st.floats(-20, 35))
def test_a_lean_of_the_action_is_lost_by_aligning_and_given_back_by_posture(action, turn, lean):
    upper, lower = clip(action), clip("walk", turn)
    spine = body_of(upper).spine[0]
    quats = np.array(upper.local_quats)
    by = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(lean))
    quats[:, spine] = quat.multiply(by, quats[:, spine])
    leaning = upper.replace(local_quats=quats)
    aligned, full = (ml.splice(leaning, lower, method=m).motion for m in ("time+space", "full"))
    upright, was = (spliced(action, "walk", (0.0, turn), m).motion for m in ("time+space", "full"))
    assert apart(aligned, upright) < SMOOTHED_M
    assert abs(degrees_between(trunk(full), trunk(was)) - abs(lean)) < LEAN_DEGREES


@settings(max_examples=15)
@given(st.sampled_from(["carry", "wave", "jog"]), turns, rotations, st.sampled_from([0, 1]))
def test_other_axes_of_pelvis_or_spine_change_no_position(action, turn, axes, level):
    upper, lower = clip(action), clip("walk", turn)
    joint = body_of(lower).pelvis if level == 0 else body_of(lower).spine[0]
    by = quat.normalize(np.array(axes))
    odd = ml.splice(relabelled(upper, joint, by), relabelled(lower, joint, by))
    assert apart(spliced(action, "walk", (0.0, turn)).motion, odd.motion) < 1e-8


@settings(max_examples=25)
@given(actions, gaits, turns)
def test_times_increase_within_half_and_twice_the_actions_pace(action, gait, turn):
    upper, lower = clip(action, duration_s=4.0), clip(gait, turn, duration_s=3.0)
    times = ml.splice(upper, lower).timewarp
    pace = np.diff(times.frames)
    assert times.frames[0] == times.first
    assert times.frames[-1] <= upper.n_frames - 1
    assert pace.min() >= 0.5
    assert pace.max() <= 2.0


@settings(max_examples=15)
@given(st.sampled_from(["walk", "jog", "carry"]), turns, st.floats(0.55, 1.9))
def test_the_locomotion_at_another_rate_is_found_in_step(kind, turn, rate):
    lower = clip(kind, turn, duration_s=4.0)
    upper = sample_smoothly(lower, np.arange(0.0, lower.n_frames - 1, rate))
    made = ml.splice(upper, lower)
    n = made.motion.n_frames
    assert n > 0.9 * lower.n_frames
    off = np.abs(rate * made.timewarp.frames - np.arange(n))
    assert off.max() < RATE_FRAMES
    assert off.mean() < MEAN_FRAMES
    assert apart(made.motion, lower[:n]) < RATE_M
