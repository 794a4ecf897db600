"""Walks, cycles, places and seams of blends, each against values worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending import blend as blending
from motionloom.blending import cycle, join
from motionloom.blending.blend import _ending_at
from motionloom.blending.evaluate import place_frames, plants_along, walk_parameters
from motionloom.blending.join import _moving
from motionloom.blending.weights import checked_weights
from motionloom.cleanup import finalize
from motionloom.registration.curve import Spline
from motionloom.retargeting.match import _same_lengths
from motionloom.rotation.quat import PlanarTransform, ease
from tests.oracles import walk as plain

ONE = ml.Skeleton(["hips", "knee"], [-1, 0], [[0.0, 0.0, 0.0], [0.0, -0.4, 0.0]])

NUMERIC_SLOPE = 1e-6
"""Rates are differences over 1e-6: so much of rounding is left after some frames."""


def motion_of(root, fps=30.0, skeleton=ONE, **options):
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (len(root), skeleton.n_joints, 1))
    return ml.Motion(skeleton, np.asarray(root, dtype=float), quats, fps, **options)


def test_one_motion_alone_is_placed_as_it_goes_from_the_start():
    rng = np.random.default_rng(2)
    theta, slide = rng.normal(size=(6, 1)), rng.normal(size=(6, 1, 2))
    roots, start = rng.normal(size=(6, 1, 2)), (0.3, 1.0, -2.0)
    turn, shift = place_frames(theta, slide, roots, np.ones((6, 1)), start=start)
    assert (turn[0], *shift[0]) == start
    point = rng.normal(size=3)
    placed = [
        PlanarTransform(turn[i], *shift[i]).apply(
            PlanarTransform(theta[i, 0], *slide[i, 0]).apply(point)
        )
        for i in range(6)
    ]
    assert np.ptp(placed, axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize("n_motions", [1, 2, 4])
def test_places_are_those_of_the_plain_form(n_motions):
    rng = np.random.default_rng(3)
    n = 40
    theta, slide = rng.normal(size=(n, n_motions)), rng.normal(size=(n, n_motions, 2))
    roots, weights = rng.normal(size=(n, n_motions, 2)), rng.normal(size=(n, n_motions))
    weights[::3, -1] = 0.0  # no vote
    weights[:, 0] += 1.0 - weights.sum(axis=1)
    given, start = (theta, slide, roots, weights), (0.3, 1.0, -2.0)
    for some in (n, 1):
        ours = place_frames(*(x[:some] for x in given), start=start)
        wanted = plain.place_frames(*(x[:some] for x in given), start=start)
        for mine, other in zip(ours, wanted, strict=True):
            assert mine == pytest.approx(other, rel=1e-9, abs=1e-9)


def points_of(rng, n=12, n_motions=3):
    """Control points of times that increase, at other rates."""
    return np.cumsum(rng.uniform(0.3, 4.0, (n, n_motions)), axis=0)


@pytest.mark.parametrize("euler", [False, True])
@pytest.mark.parametrize("frames", [1.0, -1.0, 0.25])
def test_parameters_advance_as_by_the_plain_form(frames, euler):
    rng = np.random.default_rng(5)
    for n in (3, 4, 12):
        points = points_of(rng, n)
        for u in (0.0, 1.0, n - 2.0, -0.7, n - 1.5, *rng.uniform(0.0, n - 2.0, 8)):
            w = np.array([1.4, -0.4, 0.0]) if u == 1.0 else rng.dirichlet(np.ones(3))
            ours = plain.core_step(points, w, u, frames, euler)
            wanted = plain.step_parameter(points, w, u, frames, euler)
            assert ours == pytest.approx(wanted, abs=NUMERIC_SLOPE if euler else 1e-9)


@pytest.mark.parametrize("euler", [False, True])
def test_walks_go_as_the_plain_form_and_stop_where_they_must(euler):
    rng = np.random.default_rng(6)
    points = points_of(rng)
    weights = rng.dirichlet(np.ones(3), 60)
    for start, frames, stop in ((0.0, 1.0, 10.0), (10.0, -1.0, 0.0), (2.0, 0.3, 7.0)):
        for n in (60, 3, 1):
            given = points, weights[:n], start, frames, stop, euler
            ours, wanted = walk_parameters(*given), plain.walk_parameters(*given)
            assert len(ours) == len(wanted)
            assert ours == pytest.approx(wanted, abs=NUMERIC_SLOPE if euler else 1e-9)


def test_walks_without_rows_or_on_too_few_points_are_refused():
    with pytest.raises(ml.ArrayError, match="sizes do not fit"):
        walk_parameters(np.ones((5, 2)), np.zeros((0, 2)), 0.0, 1.0, 3.0, False)
    with pytest.raises(ml.ArrayError, match="sizes do not fit"):
        plain.core_step(np.ones((2, 2)), np.ones(2), 0.0, 1.0, False)


def cycle_of(monkeypatch, costs, *, fps, frames):
    """The cycle of a curve whose samples have these distances; all others are 9 apart."""

    def grid(points, others, weights, *, half_window):
        cost = np.full((len(points), len(others)), 9.0)
        for cell, value in costs.items():
            cost[cell] = value
        return SimpleNamespace(cost=cost)

    def cloud(motion):
        return SimpleNamespace(points=np.zeros((int(frames) + 1, 1, 3)), weights=np.ones(1))

    monkeypatch.setattr(cycle, "point_cloud", cloud)
    monkeypatch.setattr(cycle, "distance_grid", grid)
    curve = SimpleNamespace(
        u_range=(0.0, frames),
        motions=[SimpleNamespace(fps=fps)],
        frames=lambda u: np.asarray(u)[:, None],
    )
    return cycle.find_cycle(curve)


def test_a_cycle_is_the_best_of_thirty_samples_a_second_half_a_second_apart(monkeypatch):
    # 120 frames at 60 a second: 60 samples, 59 steps of 1 / 29.5 s.
    u = np.linspace(0.0, 120.0, 60)
    best = {(5, 20): 0.1, (5, 19): 0.0, (19, 5): 0.0}  # 14 steps are less than half a second
    assert cycle_of(monkeypatch, best, fps=60.0, frames=120.0) == (u[5], u[20])
    # Ends that close about as well are kept.
    for end, kept in ((0.15, True), (0.16, False)):
        found = cycle_of(monkeypatch, {**best, (0, 59): end}, fps=60.0, frames=120.0)
        assert (found == (0.0, 120.0)) == kept


def test_a_cycle_has_at_least_two_steps_and_eight_samples_a_frame_at_most(monkeypatch):
    u = np.linspace(0.0, 2.0, 16)  # steps of half a second at one frame in four seconds
    best = {(3, 4): 0.0, (3, 5): 0.1}
    assert cycle_of(monkeypatch, best, fps=0.25, frames=2.0) == (u[3], u[5])
    assert cycle_of(monkeypatch, {}, fps=60.0, frames=10.0) == (0.0, 10.0)  # too short for any


def sudden(monkeypatch, n, **bends):
    """Sudden frames among the first and last five of a clip with bends of 100 m/s2."""
    bend = np.full((n, 2), 100.0)
    for frame, value in bends.items():
        bend[int(frame[1:]), 1] = value
    monkeypatch.setattr(blending, "series_of", lambda rig, motion: SimpleNamespace(bend=bend))
    check = SimpleNamespace(rig_for=lambda motion: None)
    return np.flatnonzero(blending._sudden(SimpleNamespace(n_frames=n), check, 5)).tolist()


def test_frames_three_times_as_abrupt_as_all_away_from_the_ends_are_sudden(monkeypatch):
    assert sudden(monkeypatch, 20, f2=301.0, f4=299.0, f17=301.0) == [2, 17]
    # Frames 5 and 14 are the first and last that are away from the ends.
    assert sudden(monkeypatch, 20, f2=1100.0, f5=400.0) == []
    assert sudden(monkeypatch, 20, f2=1300.0, f5=400.0) == [2]
    assert sudden(monkeypatch, 20, f17=1100.0, f14=400.0) == []
    assert sudden(monkeypatch, 20, f17=1300.0, f15=1300.0, f14=400.0) == [15, 17]
    assert sudden(monkeypatch, 15, f2=1300.0) == []  # too short to tell
    assert sudden(monkeypatch, 16, f2=1300.0) == [2]


def test_parameters_of_a_join_are_walked_by_the_exact_votes():
    knots = np.arange(14.0)
    times = Spline(np.stack([3.0 * knots + 0.08 * knots**2, 4.0 * knots - 0.06 * knots**2], axis=1))
    clips = [SimpleNamespace(n_frames=60)] * 2
    curve = SimpleNamespace(times=times, frames_per_knot=3.5, motions=clips)
    at = times(6.0)
    place = SimpleNamespace(frame_a=float(at[0]), frame_b=float(at[1]))
    half = 6
    weights = ease(np.arange(2 * half + 1) / (2 * half))

    def walked(own, frames):
        u = [6.0]
        for w in own[:-1]:
            ahead = [float(times.inverse(k, times(u[-1])[k] + frames)) for k in (0, 1)]
            u.append(w * ahead[0] + (1.0 - w) * ahead[1])
        return np.array(u)

    back, on = walked(weights[half::-1], -1.0), walked(weights[half:], 1.0)
    expected = join._snapped(curve, np.concatenate([back[::-1], on[1:]]), half) * 3.5
    found = join._parameters(curve, place, (0, 0), half)
    assert found == pytest.approx(expected, abs=1e-9)
    first, last = times(found[0] / 3.5)[0], times(found[-1] / 3.5)[1]
    assert (first, last) == pytest.approx((round(first), round(last)), abs=1e-9)


@pytest.mark.parametrize(
    ("n", "fps", "half", "margin"),
    [(200, 30.0, 3, 5), (200, 30.0, 5, 7), (20, 30.0, 30, 8), (7, 30.0, 9, 2), (12, 120.0, 9, 4)],
)
def test_places_leave_frames_for_the_blend_as_far_as_there_are_any(
    monkeypatch, n, fps, half, margin
):
    seen = []
    monkeypatch.setattr(
        join, "find_candidates", lambda *_, **options: seen.append(options["margin"])
    )
    clip = SimpleNamespace(n_frames=n, fps=fps)
    pair = SimpleNamespace(a=clip, b=clip, footplants=(), glitches=((), ()), body=None)
    join.find_places(pair, half, moving=False)
    assert seen == [margin]
    short = SimpleNamespace(n_frames=6, fps=fps)
    pair = SimpleNamespace(a=clip, b=short, footplants=(), glitches=None, body=None)
    with pytest.raises(ml.RegistrationError, match="at least 7 frames"):
        join.find_places(pair, half, moving=False)


def test_plants_of_a_blend_are_mixed_and_hold_at_both_ends():
    match = SimpleNamespace(intervals=[(2.0, 6.0), (4.0, 10.0)])
    kinds = ("left_heel", "left_toe", "right_heel", "right_toe")
    matches = {kind: (match,) if kind == "left_toe" else () for kind in kinds}
    curve = SimpleNamespace(matches=matches)
    for weights, low, high in (([1.0, 0.0], 2.0, 6.0), ([0.5, 0.5], 3.0, 8.0)):
        u = np.array([low - 1e-3, low - 1e-9, low, high, high + 1e-9, high + 1e-3])
        planted = plants_along(curve, u, np.tile(weights, (6, 1))).planted
        assert planted[:, 1].tolist() == [False, True, True, True, True, False]
        assert not planted[:, [0, 2, 3]].any()


def test_a_body_moves_if_it_is_faster_than_thirty_centimetres_a_second():
    for step, moves in ((0.3, False), (0.31, True)):
        for way in ([1.0, 0.0, 0.0], [0.0, 0.0, -1.0]):
            root = step * np.array([[0.0], [1.0], [2.0]]) * np.array(way)
            assert _moving(motion_of(root, fps=1.0)).tolist() == [moves] * 3
    # At 30 frames a second over nine frames: one step of 2.4 m/s in the midst is 0.27 m/s, and the
    # mean of a steady 0.28 m/s is no more.
    still = np.zeros((30, 3))
    for metres, moves in ((0.08, False), (0.1, True)):
        root = np.where(np.arange(30)[:, None] >= 15, [metres, 0.0, 0.0], still)
        assert _moving(motion_of(root)).any() == moves
    assert not _moving(motion_of(np.arange(30.0)[:, None] * [0.28 / 30.0, 0.0, 0.0])).any()
    assert not _moving(motion_of(np.arange(3.0)[:, None] * [0.0, 9.0, 0.0], fps=1.0)).any()


@pytest.mark.parametrize(("shape", "count"), [((5, 3), 3), ((3,), 3), ((), 0), ((2, 2, 4), 4)])
def test_weights_of_another_number_of_examples_are_counted(shape, count):
    with pytest.raises(ml.ArrayError, match=rf"one value per example \(2\), got {count}\."):
        checked_weights(np.zeros(shape), 2)


def test_feet_that_are_left_as_they_are_are_not_checked_as_held():
    seen = []
    check = SimpleNamespace(verify=lambda *given, **options: seen.append((given, options)))
    clip = ml.synthetic.clip("stand", duration_s=0.2)
    made = finalize.finalize(clip.motion, clip.footplants, check, body=None, clean=False)
    assert made.motion is clip.motion and made.cleanup is None
    options = {"footplants": clip.footplants, "provenance": None, "held": False}
    assert seen == [((clip.motion,), options)]


@pytest.mark.parametrize(("off", "same"), [(0.0009, True), (0.0011, False), (-0.0011, False)])
def test_bones_that_differ_by_less_than_a_millimetre_are_the_same(off, same):
    offsets = np.array(ONE.offsets)
    offsets[1, 2] += off
    other = ml.Skeleton(ONE.names, ONE.parents, offsets)
    a, b = motion_of(np.zeros((2, 3))), motion_of(np.zeros((2, 3)), skeleton=other)
    assert _same_lengths(a, b) == _same_lengths(b, a) == same
    # A bone that slides has no length to compare; one that trembles has.
    for slide, slides in ((0.0009, False), (0.0011, True)):
        moving = np.tile(ONE.offsets, (2, 1, 1))
        moving[1, 1, 0] += slide
        assert _same_lengths(a.replace(joint_translations=moving), b) == (same or slides)


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (1.9, [0.0, 0.95, 1.9]),
        (2.0, [0.0, 1.0, 2.0]),
        (2.00005, [0.0, 1.0, 2.00005]),  # rounding: only the last one moves
        (2.4, [0.0, 1.2, 2.4]),
        (2.6, [0.0, 2.6 / 3, 5.2 / 3, 2.6]),  # one more is due
    ],
)
def test_parameters_end_where_they_should_in_equal_steps(stop, expected):
    assert _ending_at(np.arange(3.0), stop) == pytest.approx(expected, abs=1e-12)
