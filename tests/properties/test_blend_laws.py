"""Laws 16, 17 and 20 to 29: what a blend may depend on, and what it may not."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import motionloom as ml
from motionloom.body.body_map import facing
from motionloom.motion.edit import sample, transform
from motionloom.registration.timewarp import fit_planar_alignment
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform
from tests.oracles.walk import core_step

EXACT_M = 1e-9
FIT_M = 0.02  # what refitting the splines from the other side may move

planars = st.tuples(st.floats(-3, 3), st.floats(-20, 20), st.floats(-20, 20)).map(
    lambda t: PlanarTransform(*t)
)
shares = st.floats(0.0, 1.0)


def blend(curve: ml.RegistrationCurve, weights: object) -> ml.Blend:
    """A blend as the laws have it: feet as they come out."""
    return ml.blend(curve, weights, clean=False)


@cache
def walks(*turns: float) -> tuple[ml.Motion, ...]:
    return tuple(ml.synthetic.clip("walk", turn=t, duration_s=3.0).motion for t in turns)


@cache
def family(*turns: float, reference: int | None = None) -> ml.RegistrationCurve:
    return ml.register(walks(*turns), ends="match", reference=reference)


def apart(a: ml.Motion, b: ml.Motion) -> float:
    """Largest joint distance after one rigid fit of the whole clips."""
    p, q = a.world_positions(), b.world_positions()
    assert p.shape == q.shape
    flat_p, flat_q = p.reshape(-1, 3), q.reshape(-1, 3)
    theta, offset, _ = fit_planar_alignment(flat_p, flat_q, np.ones(len(flat_p)))
    return float(np.abs(flat_p - PlanarTransform(theta, *offset).apply(flat_q)).max())


def same(a: ml.Motion, b: ml.Motion) -> float:
    return float(np.abs(a.world_positions() - b.world_positions()).max())


@pytest.mark.parametrize("k", range(3))
def test_one_weight_of_one_gives_that_example_back(k):
    curve = family(-0.7, 0.0, 0.7)
    made = blend(curve, np.eye(3)[k])
    frames = made.provenance.fps * made.provenance.body.times_in(k)
    assert np.abs(np.diff(frames)[:-1] - 1.0).max() < 1e-9
    assert apart(made.motion, sample(curve.motions[k], frames)) < 1e-8


@settings(max_examples=20)
@given(shares)
def test_copies_of_one_motion_blend_to_that_motion(w):
    (walk,) = walks(0.4)
    made = blend(family(0.4, 0.4), [w, 1.0 - w])
    assert apart(made.motion, sample(walk, made.curve.frames(made.u)[:, 0])) < 1e-6


@settings(max_examples=15)
@given(shares)
def test_swapping_columns_and_weights_changes_nothing(w):
    curve = family(-0.7, 0.7)
    swapped = dataclasses.replace(
        curve,
        motions=curve.motions[::-1],
        footplants=curve.footplants[::-1],
        times=type(curve.times)(np.ascontiguousarray(curve.times.points[:, ::-1])),
        alignment=curve.alignment[::-1],
        matches={
            kind: tuple(type(m)(m.intervals[::-1]) for m in matches)
            for kind, matches in curve.matches.items()
        },
        reference=1,
    )
    here, there = blend(curve, [w, 1 - w]), blend(swapped, [1 - w, w])
    assert same(here.motion, there.motion) < EXACT_M


def test_registering_in_the_other_order_moves_little():
    a, b = walks(-0.7, 0.7)
    here = blend(ml.register([a, b], ends="match"), [0.3, 0.7]).motion
    there = blend(ml.register([b, a], ends="match"), [0.7, 0.3]).motion
    n = min(here.n_frames, there.n_frames)
    assert abs(here.n_frames - there.n_frames) <= 1
    assert apart(here[:n], there[:n]) < FIT_M


@settings(max_examples=15)
@given(planars, shares)
def test_moving_an_example_leaves_the_blend_where_it_is(move, w):
    a, b = walks(-0.7, 0.7)
    here = blend(family(-0.7, 0.7), [w, 1 - w]).motion
    there = blend(ml.register([a, transform(b, move)], ends="match"), [w, 1 - w]).motion
    assert same(here, there) < 1e-6


@settings(max_examples=15)
@given(planars)
def test_moving_the_reference_moves_the_blend_with_it(move):
    a, b = walks(-0.7, 0.7)
    here = blend(family(-0.7, 0.7), [0.5, 0.5]).motion
    there = blend(ml.register([transform(a, move), b], ends="match"), [0.5, 0.5]).motion
    assert same(transform(here, move), there) < 1e-6


@settings(max_examples=15)
@given(shares)
def test_an_example_of_no_weight_changes_nothing_but_the_centre_of_rotations(w):
    curve = family(-0.7, 0.7, 0.0, reference=0)
    two = dataclasses.replace(
        curve,
        motions=curve.motions[:2],
        footplants=curve.footplants[:2],
        times=type(curve.times)(np.ascontiguousarray(curve.times.points[:, :2])),
        alignment=curve.alignment[:2],
        matches={
            kind: tuple(type(m)(m.intervals[:2]) for m in matches)
            for kind, matches in curve.matches.items()
        },
    )
    with_it, without = blend(curve, [w, 1 - w, 0.0]), blend(two, [w, 1 - w])
    assert np.abs(with_it.motion.root_positions - without.motion.root_positions).max() < EXACT_M
    turned = quat.angle_between(with_it.motion.local_quats, without.motion.local_quats)
    assert turned.max() < 2e-3  # logarithms are taken about the mean of three instead of two


@settings(max_examples=40)
@given(st.floats(-1.5, 2.5), st.floats(0.01, 0.99))
def test_the_parameter_always_goes_forward(w, part):
    curve = family(-0.7, 0.7)
    u = part * curve.times.u_end
    weights = np.array([w, 1.0 - w])
    assert core_step(curve.times.points, weights, u, 1.0, False) > u
    assert core_step(curve.times.points, weights, u, -1.0, False) < u


def curvature(motion: ml.Motion) -> float:
    heading = facing(motion)
    path = np.linalg.norm(np.diff(motion.root_positions[:, [0, 2]], axis=0), axis=-1).sum()
    return float(heading[-1] - heading[0]) / float(path)


@pytest.mark.parametrize(("left", "right"), [(0.4, 1.2), (-0.6, 1.0), (-1.5, 1.5)])
def test_half_of_each_turns_half_as_much_and_does_not_collapse(left, right):
    a, b = walks(left, right)
    made = blend(ml.register([a, b], ends="match"), [0.5, 0.5]).motion
    wanted = 0.5 * (curvature(a) + curvature(b))
    assert abs(curvature(made) - wanted) < 0.05 * max(abs(curvature(b)), abs(wanted))
    speeds = [
        np.linalg.norm(np.diff(m.root_positions[:, [0, 2]], axis=0), axis=-1).mean()
        for m in (a, b, made)
    ]
    assert speeds[2] > 0.9 * min(speeds[:2])


def test_alignment_of_a_moved_copy_is_the_move_back_even_far_away():
    (walk,) = walks(2.8)
    move = PlanarTransform(2.9, 50.0, -70.0)
    curve = ml.register([walk, transform(walk, move)], ends="match")
    found = curve.alignments(np.linspace(*curve.u_range, 50))
    back = move.inverse()
    point = np.array([51.0, 1.0, -69.0])
    ours = PlanarTransform(*(np.asarray(x)[:, 1] for x in (found.theta, found.x0, found.z0)))
    assert np.abs(ours.apply(np.tile(point, (50, 1))) - back.apply(point)).max() < 1e-6
    assert np.abs(np.diff(np.asarray(found.theta)[:, 1])).max() < 1e-6


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_a_known_warp_is_found_to_a_frame_and_a_half(seed):
    (walk,) = walks(0.5)
    rng = np.random.Generator(np.random.PCG64(seed))
    rate = np.interp(np.linspace(0, 5, 160), np.arange(6), rng.uniform(0.5, 1.5, 6))
    at = np.concatenate([[0.0], np.cumsum(rate)])
    at *= (walk.n_frames - 1) / at[-1]
    curve = ml.register([walk, sample(walk, at)], ends="match")
    frames = curve.frames(np.linspace(*curve.u_range, 100))
    assert np.abs(frames[:, 0] - np.interp(frames[:, 1], np.arange(161), at)).max() < 3.0
    assert np.sqrt(np.mean((frames[:, 0] - np.interp(frames[:, 1], np.arange(161), at)) ** 2)) < 1.5


def test_a_transition_begins_as_a_and_ends_as_b():
    a, b = ml.synthetic.clip("walk").motion, ml.synthetic.clip("jog").motion
    made = ml.transition(a, b)
    first, last = made.span
    assert same(made.blended[: first + 1], a[: first + 1]) < EXACT_M
    tail = made.blended[last:]
    start = round(made.provenance.body.times_in(1)[last] * made.motion.fps)
    assert same(tail, transform(b, made.placement)[start:]) < EXACT_M


def test_mirrored_inputs_give_the_mirrored_blend():
    a, b = walks(0.3, 1.0)
    here = blend(ml.register([a, b], ends="match"), [0.4, 0.6]).motion
    there = blend(ml.register([ml.mirror(a), ml.mirror(b)], ends="match"), [0.4, 0.6]).motion
    n = min(here.n_frames, there.n_frames)
    assert apart(ml.mirror(here)[:n], there[:n]) < 1e-3
