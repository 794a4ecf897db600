"""Laws 30 to 32: clean-up holds what it reports, moves no more than it must, bends knees softly."""

import functools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.footskate import clean_footskate
from motionloom.cleanup.legs import damped_angle, soft_span
from motionloom.cleanup.solve import MISSED_M, least_shift
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Footplants
from motionloom.rotation import quat
from motionloom.synthetic import clip
from tests.oracles.legs import DAMPED_FROM

HELD_M = 1e-6
SAME_M = 1e-6
AGAIN_M = 1e-4
BONE_M = 1e-9
BLEND_S = 0.2
SMOOTHING_S = 0.3  # of the root: a window of 0.12 s twice, and half a window of jitter
WHOLE_CLIPS = settings(max_examples=12)

angles = st.floats(0.2, np.pi)
vectors = arrays(np.float64, 3, elements=st.floats(-2, 2))
gaits = st.sampled_from(["walk", "jog", "run"])
travels = st.floats(0.85, 1.2)


@functools.cache
def gait(kind):
    return clip(kind)


@st.composite
def skates(draw):
    """A gait whose root travel is scaled, turned to any heading, with some plants left out."""
    source = gait(draw(gaits))
    motion = corrupt(source.motion, travel=draw(travels))
    heading = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), draw(st.floats(-3, 3)))
    local = np.array(motion.local_quats)
    local[:, 0] = quat.multiply(heading, local[:, 0])
    motion = motion.replace(
        root_positions=quat.rotate(heading, motion.root_positions), local_quats=local
    )
    intervals = source.footplants.intervals()
    kept = {
        kind: tuple(span for span in spans if draw(st.integers(0, 3)))
        for kind, spans in intervals.items()
    }
    return motion, Footplants.from_intervals(kept, motion.n_frames)


def lengths_of(motion):
    """Of every bone, and from heels to balls."""
    positions, points = motion.world_positions(), foot_points(motion)
    bones = positions[:, 1:] - positions[:, motion.skeleton.parents[1:]]
    soles = points[:, 1::2] - points[:, 0::2]
    return np.linalg.norm(bones, axis=-1), np.linalg.norm(soles, axis=-1)


def held_within(report):
    """How exactly points are held: as in the report, and never worse than half a millimetre."""
    assert report.unreached_max <= MISSED_M
    return HELD_M + 2.0 * report.unreached_max


def spans_of(footplants):
    return [
        (k, first, last)
        for k, spans in enumerate(footplants.intervals().values())
        for first, last in spans
    ]


@WHOLE_CLIPS
@given(skates())
def test_held_points_stand_at_their_own_height(skate):
    motion, footplants = skate
    result = clean_footskate(motion, footplants)
    before, after = foot_points(motion), foot_points(result.motion)
    assert result.report.unreached_frames == 0
    within = held_within(result.report)
    for k, first, last in spans_of(result.footplants):
        track = after[first : last + 1, k]
        assert np.ptp(track, axis=0).max() < within
        heights = before[first : last + 1, k, 1]
        assert heights.min() - within <= track[0, 1] <= heights.max() + within


@WHOLE_CLIPS
@given(skates())
def test_bones_and_soles_keep_their_lengths(skate):
    motion, footplants = skate
    result = clean_footskate(motion, footplants)
    for before, after in zip(lengths_of(motion), lengths_of(result.motion), strict=True):
        assert np.abs(after - before).max() < BONE_M


@WHOLE_CLIPS
@given(skates())
def test_nothing_changes_far_from_what_is_held(skate):
    motion, footplants = skate
    result = clean_footskate(motion, footplants, blend_s=BLEND_S)
    held = np.flatnonzero(result.footplants.planted.any(axis=1))
    frames = np.arange(motion.n_frames)
    away = np.full(motion.n_frames, np.inf)
    if held.size:
        away = np.abs(frames[:, None] - held).min(axis=1)
    far = away > (max(BLEND_S, SMOOTHING_S) * motion.fps + 1)
    assert np.array_equal(result.motion.local_quats[far], motion.local_quats[far])
    assert np.array_equal(result.motion.root_positions[far], motion.root_positions[far])


@WHOLE_CLIPS
@given(gaits, st.floats(-3, 3), st.floats(-50, 50))
def test_a_motion_that_keeps_its_plants_is_kept(kind, heading, place):
    source = gait(kind)
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), heading)
    local = np.array(source.motion.local_quats)
    local[:, 0] = quat.multiply(turn, local[:, 0])
    root = quat.rotate(turn, source.motion.root_positions) + np.array([place, 0.0, -place])
    motion = source.motion.replace(root_positions=root, local_quats=local)
    result = clean_footskate(motion, source.footplants)
    change = result.motion.world_positions() - motion.world_positions()
    assert np.abs(change).max() < SAME_M


@WHOLE_CLIPS
@given(skates())
def test_a_second_run_keeps_what_is_held(skate):
    motion, footplants = skate
    first = clean_footskate(motion, footplants)
    second = clean_footskate(first.motion, first.footplants)
    moved = foot_points(second.motion) - foot_points(first.motion)
    within = AGAIN_M + held_within(first.report) + held_within(second.report)
    both = first.footplants.planted & second.footplants.planted
    assert np.abs(moved[both]).max(initial=0.0) < within


@WHOLE_CLIPS
@given(skates())
def test_contacts_never_become_faster(skate):
    motion, footplants = skate
    report = clean_footskate(motion, footplants).report
    before, after = report.contact_speed_before, report.contact_speed_after
    assert (before is not None) or not (footplants.planted[1:] & footplants.planted[:-1]).any()
    if before is not None and after is not None:
        assert after <= before + HELD_M


@WHOLE_CLIPS
@given(skates())
def test_a_stretch_is_reported_and_holds_too(skate):
    motion, footplants = skate
    result = clean_footskate(motion, footplants, stretch=True)
    after = foot_points(result.motion)
    for k, first, last in spans_of(result.footplants):
        assert np.ptp(after[first : last + 1, k], axis=0).max() < held_within(result.report)
    body = BodyMap.guess(motion.skeleton)
    thigh = [body.left_hip, body.left_knee]
    lengths = [
        np.linalg.norm(np.diff(m.world_positions()[:, thigh], axis=1)[:, 0], axis=-1)
        for m in (motion, result.motion)
    ]
    assert np.abs(lengths[1] / lengths[0] - 1.0).max() <= result.report.stretch_max + BONE_M


@given(angles, angles)
def test_a_damped_knee_lies_between_where_it_is_and_where_it_should_be(now, wanted):
    got = damped_angle(np.array([now]), np.array([wanted]))[0]
    low, high = min(now, wanted), max(now, wanted)
    assert low - 1e-12 <= got <= high + 1e-12
    if high <= DAMPED_FROM:
        assert abs(got - wanted) < 1e-12


def test_the_most_a_damped_knee_opens_is_half_the_way():
    got = damped_angle(np.array([DAMPED_FROM]), np.array([np.pi]))[0]
    assert abs(got - (DAMPED_FROM + 0.5 * (np.pi - DAMPED_FROM))) < 1e-12


@given(st.floats(0.5, 1.0), st.floats(0.1, 3.0), st.floats(1e-3, 0.05))
def test_a_free_leg_stays_within_reach_and_between(before, wanted, part):
    reach = np.array([max(0.9, before)])
    got = soft_span(np.array([before]), np.array([wanted]), reach, np.array([part]))[0]
    assert got <= reach[0] + 1e-12
    assert min(before, wanted) - 1e-12 <= got <= max(before, wanted) + 1e-12


@given(vectors, st.floats(0.05, 2), vectors, st.floats(0.05, 2), st.integers(0, 2**32 - 1))
def test_the_root_goes_to_the_nearest_point_of_both_balls(c1, r1, c2, r2, seed):
    ways, both = np.stack([c1, c2])[None], np.array([[True, True]])
    point = least_shift(np.zeros((1, 2, 3)), ways, np.array([[r1, r2]]), both)[0]
    miss = [np.linalg.norm(point - c) - r for c, r in ((c1, r1), (c2, r2))]
    if np.linalg.norm(c1 - c2) > r1 + r2 + 1e-9:
        assert abs(miss[0] - miss[1]) < 1e-9
        return
    assert max(miss) < 1e-6
    if np.linalg.norm(c1) <= r1 and np.linalg.norm(c2) <= r2:
        assert not point.any()
    # No point of both balls is nearer: tried near the answer and all over the first ball.
    rng = np.random.Generator(np.random.PCG64(seed))
    scale = np.repeat([1e-3, 1e-2, 0.1, 1.0], 300)[:, None]
    tries = np.concatenate(
        [point + scale * rng.normal(size=(1200, 3)), c1 + r1 * rng.normal(size=(300, 3))]
    )
    inside = (np.linalg.norm(tries - c1, axis=1) <= r1) & (np.linalg.norm(tries - c2, axis=1) <= r2)
    if inside.any():
        assert np.linalg.norm(point) <= np.linalg.norm(tries[inside], axis=1).min() + 1e-9
