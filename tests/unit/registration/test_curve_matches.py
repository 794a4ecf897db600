"""Gait cycles, constraints of any kind, joint weights, contact timing and the guard of turns."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import facing
from motionloom.registration.pair_curve import guarded_turns
from motionloom.registration.register import timed_by_contacts

WALK, FAST, SNEAK = (
    ml.synthetic.clip(kind, speed=speed, duration_s=seconds)
    for kind, speed, seconds in (("walk", 1.1, 4.0), ("walk", 1.6, 4.0), ("sneak", None, 8.0))
)


def stance(plants):
    """Whether the left foot stands. (F,)"""
    return plants.planted[:, :2].any(axis=1)


@pytest.mark.parametrize("clip", [WALK, FAST, SNEAK])
def test_cycles_begin_and_end_in_the_same_pose_and_stance(clip):
    cycles = ml.find_cycles(clip.motion, footplants=clip.footplants)
    assert list(cycles) == sorted(cycles, key=lambda cycle: cycle.gap)
    lengths = {cycle.last - cycle.first for cycle in cycles}
    assert max(lengths) - min(lengths) <= 2
    for cycle in cycles:
        assert cycle.gap < 0.02 and abs(cycle.turn) < 0.05
        ends = stance(clip.footplants)[[cycle.first, cycle.last]]
        assert ends.all()
        assert cycle.speed == pytest.approx(ml.measure(clip.motion, "speed"), rel=0.05)


def test_a_clip_without_a_whole_cycle_is_refused():
    with pytest.raises(ml.RegistrationError, match="whole gait cycle"):
        ml.find_cycles(WALK.motion[:40])
    with pytest.raises(ml.RegistrationError, match=r"^clip B \(walk\): "):
        ml.register([WALK.motion, WALK.motion[:40]], cycles=True)


def test_curves_of_cycles_are_played_round_without_a_jump():
    clips = [WALK.motion, FAST.motion, SNEAK.motion]
    plants = [WALK.footplants, FAST.footplants, SNEAK.footplants]
    curve = ml.register(clips, footplants=plants, cycles=True)
    assert any("cycle of frames" in note for note in curve.notes)
    live = ml.control(curve, hold_feet=False)
    poses = [live.step([0.2, 0.3, 0.5]).local_quats for _ in range(400)]
    steps = np.abs(np.diff(np.array(poses), axis=0)).max(axis=(1, 2))
    assert steps.max() < 2.0 * np.quantile(steps, 0.95)


def test_cycles_can_be_chosen():
    plants = WALK.footplants
    cycles = ml.find_cycles(WALK.motion, footplants=plants)
    other = cycles[-1]
    curve = ml.register([WALK.motion, WALK.motion], footplants=[plants] * 2, cycles=[other, other])
    assert curve.motions[0].n_frames == other.last - other.first + 1
    assert np.array_equal(curve.motions[1].root_positions, WALK.motion[other.frames].root_positions)
    with pytest.raises(ml.errors.ArrayError, match="one cycle per motion"):
        ml.register([WALK.motion, WALK.motion], cycles=[other])
    with pytest.raises(ml.errors.ArrayError, match="must not be given"):
        ml.register([WALK.motion, WALK.motion], cycles=True, at=(10, 10))
    with pytest.raises(ml.MotionLoomError, match=r"cycles\[1\]"):
        ml.register([WALK.motion, WALK.motion], cycles=[other, "best"])
    with pytest.raises(ml.errors.ArrayError, match=r"cycles\[1\]"):
        ml.register([WALK.motion, WALK.motion[:60]], cycles=[other, other])


def test_constraints_of_any_kind_are_matched_and_mixed(tmp_path):
    given = [{"cup": [(0.5, 1.5)], "rail": [(2.0, 2.5)]}, {"cup": [(0.7, 2.1)]}]
    curve = ml.register([WALK.motion, WALK.motion], ends="match", constraints=given)
    (match,) = curve.matches["cup"]
    fps = WALK.motion.fps
    assert np.array(match.intervals) == pytest.approx(
        np.array([[0.5, 1.5], [0.7, 2.1]]) * fps, abs=0.6
    )
    assert curve.matches["rail"] == ()  # the other has none
    for w in (0.0, 0.25, 1.0):
        ((first, last),) = ml.blend(curve, [1.0 - w, w], clean=False).constraints["cup"]
        assert first / fps == pytest.approx(0.5 + 0.2 * w, abs=0.05)
        assert last / fps == pytest.approx(1.5 + 0.6 * w, abs=0.05)
    curve.save(tmp_path / "a.mlr")
    again = ml.RegistrationCurve.load(tmp_path / "a.mlr")
    assert again.matches["cup"] == curve.matches["cup"]
    ml.control(again).step([0.5, 0.5])


def test_the_last_frame_of_a_clip_may_be_in_an_interval():
    seconds = WALK.motion.n_frames / WALK.motion.fps
    given = [{"cup": [(1.0, seconds)]}] * 2
    curve = ml.register([WALK.motion, WALK.motion], ends="match", constraints=given)
    assert len(curve.matches["cup"]) == 1
    assert not curve.notes
    with pytest.raises(
        ml.errors.ArrayError, match=r"must lie in the clip of 4\.00 s, got 1 to 90 s"
    ):
        ml.register([WALK.motion, WALK.motion], constraints=[{"cup": [(1.0, 90.0)]}, {}])


def test_notes_name_constraints_that_find_no_partner():
    walks = [WALK.motion, WALK.motion]
    given = [{"cup": [(0.5, 1.0)], "rail": [(2.0, 2.5)]}, {"cup": [(1.5, 2.0)]}]
    curve = ml.register(walks, ends="match", constraints=given)
    assert curve.matches["cup"] == curve.matches["rail"] == ()
    first, second, third = curve.notes
    assert first.startswith("A: `cup` at 0.50 to 1.00 s is not held: the timing of the clips puts ")
    assert "it at 0.50 to 1.00 s of B, which has `cup` at 1.50 to 2.00 s." in first
    assert "overlap at the same moments" in first
    assert second.startswith("B: `cup` at 1.50 to 2.00 s is not held")
    assert third == (
        "A: `rail` at 2.00 to 2.50 s is not held: clip B has no interval of this name. Add one to "
        "each clip, or leave this one out."
    )
    assert set(curve.notes) <= set(ml.blend(curve, [0.5, 0.5]).notes)


def test_of_several_intervals_only_those_without_a_partner_are_named():
    given = [{"cup": [(0.2, 0.6), (1.5, 2.0)]}, {"cup": [(0.3, 0.5), (2.5, 3.0)]}]
    curve = ml.register([WALK.motion, WALK.motion], ends="match", constraints=given)
    assert len(curve.matches["cup"]) == 1
    assert [note[:25] for note in curve.notes] == [
        "A: `cup` at 1.50 to 2.00 ", "B: `cup` at 2.50 to 3.00 ",
    ]  # fmt: skip


def test_constraints_outside_what_is_registered_are_named():
    part = WALK.motion[120:]
    given = [{"cup": [(0.0, 0.5)]}, {"cup": [(0.0, 0.5)]}]
    notes = ml.register([WALK.motion, part], constraints=given).notes
    assert any(
        note.startswith("A: `cup` at 0.00 to 0.50 s is not held: it lies outside the part")
        for note in notes
    )
    notes = ml.register(
        [WALK.motion, FAST.motion], footplants=[WALK.footplants, FAST.footplants], cycles=True,
        constraints=[{"cup": [(0.0, 0.01), (3.9, 4.0)]}, {}],
    ).notes  # fmt: skip
    assert any("is not held: it lies outside the cycle" in note for note in notes)


@pytest.mark.parametrize(
    "wrong",
    [
        5,
        [{}],
        [{}, []],
        [{"cup": 3}, {}],
        [{"cup": [(1.0,)]}, {}],
        [{"cup": [(1.0, 0.5)]}, {}],
        [{"cup": [(0.0, 1.0), (0.5, 2.0)]}, {}],
        [{"cup": [(50.0, 60.0)]}, {}],
        [{"cup": [(1.0, 90.0)]}, {}],
        [{"cup": [(1.0, 4.1)]}, {}],
        [{"cup": [(0.0, np.nan)]}, {}],
        [{"left_heel": [(0.0, 1.0)]}, {}],
    ],
)
def test_constraints_are_checked(wrong):
    with pytest.raises(ml.errors.ArrayError, match="constraints"):
        ml.register([WALK.motion, WALK.motion], constraints=wrong)


def test_joints_without_weight_do_not_count():
    # Arms of the copy wave about: with arms the timing follows them, without it does not.
    walk = WALK.motion
    names = walk.skeleton.names
    arms = [name for name in names if any(part in name for part in ("Arm", "Hand", "Shoulder"))]
    quats = np.array(walk.local_quats)
    for name in arms:
        quats[:, names.index(name)] = quats[::-1, names.index(name)]
    waving = walk.replace(local_quats=quats)
    weights = dict.fromkeys(arms, 0.0)
    with_arms, without = (
        ml.register([walk, waving], ends="match", joint_weights=each) for each in (None, weights)
    )
    assert without.costs[1] < 1e-6 < with_arms.costs[1]
    u = np.linspace(*without.u_range, 50)
    assert np.ptp(without.frames(u), axis=1).max() < 0.01
    for wrong, match in (
        ({"Wing": 1.0}, "Wing"),
        ({names[1]: -1.0}, "negative"),
        ({names[1]: np.nan}, "joint_weights"),
        ([1.0], "names of joints"),
        (dict.fromkeys(names, 0.0), "above 0"),
    ):
        with pytest.raises(ml.errors.ArrayError, match=match):
            ml.register([walk, waving], joint_weights=wrong)


def test_contacts_begin_and_end_together_where_times_follow_them():
    plants = np.array(WALK.footplants.planted)
    late = ml.Footplants(np.concatenate([plants[:3], plants[:-3]]))  # all events three frames later
    curve = ml.register([WALK.motion, WALK.motion], footplants=[WALK.footplants, late])
    drawn = timed_by_contacts(curve, 0.33)
    synced = ml.register(
        [WALK.motion, WALK.motion], footplants=[WALK.footplants, late], sync_contacts=True
    )
    assert np.array_equal(synced.times.points, drawn.times.points)

    def apart(curve):
        spans = [np.array(match.intervals) for match in curve.matches["left_toe"][1:-1]]
        return np.median([np.abs(span[1] - span[0]) for span in spans])

    assert apart(curve) == pytest.approx(3.0, abs=0.3)
    assert apart(synced) < 1.0
    assert (np.diff(synced.frames(np.linspace(*synced.u_range, 300)), axis=0) >= 0.0).all()


def test_turns_that_bodies_do_not_have_are_not_used():
    faced = np.full(5, 0.3)
    apart = np.radians([0.0, 25.0, 45.0, 70.0, 180.0])
    turns = guarded_turns(faced + apart, faced)
    assert turns[:2] == pytest.approx(faced[:2] + apart[:2])
    assert 0.3 < turns[2] < 0.3 + apart[2]
    assert turns[3:] == pytest.approx(faced[3:])
    rng = np.random.Generator(np.random.PCG64(3))
    theta, headings = rng.uniform(-9.0, 9.0, (2, 500))
    near = guarded_turns(theta + 1e-7, headings) - guarded_turns(theta, headings)
    near = np.remainder(near + np.pi, 2.0 * np.pi) - np.pi
    assert np.abs(near).max() < 1e-6  # continuous


def test_a_walk_joined_with_a_run_in_the_other_phase_keeps_its_heading():
    walk, run = ml.synthetic.clip("walk").motion, ml.synthetic.clip("run").motion
    joined = ml.transition(walk, run, at=(120, 90))
    assert np.abs(np.diff(facing(joined.motion))).max() < np.radians(2.0)
    assert joined.verification.passed


def test_speeds_of_the_feet_draw_steps_together():
    walk = WALK.motion
    plants = WALK.footplants
    with pytest.raises(ml.errors.ArrayError, match="foot_speeds"):
        ml.register([walk, walk], foot_speeds=-1.0)
    same = ml.register([walk, walk], ends="match", footplants=[plants, plants], foot_speeds=1.0)
    u = np.linspace(*same.u_range, 50)
    assert np.ptp(same.frames(u), axis=1).max() < 1e-6
    slow, fast = (ml.synthetic.clip("walk", duration_s=4.0, speed=v) for v in (1.0, 1.5))
    pair = [slow.motion, fast.motion]
    truth = [slow.footplants, fast.footplants]
    plain, guided = (
        ml.register(pair, footplants=truth, **more)
        for more in ({}, {"foot_speeds": 1.0, "knot_s": 0.15})
    )

    def late(curve):
        matches = [match for kind in ("left_toe", "right_toe") for match in curve.matches[kind]]
        spans = np.array([match.intervals for match in matches])  # (M, 2, 2)
        return float(np.abs(np.diff(spans, axis=1)).mean())

    assert late(guided) < late(plain)


def test_intervals_of_one_hand_under_two_names_are_one_hold() -> None:
    given = [{"left_wrist": [(0.5, 1.0)], "LeftHand": [(0.8, 1.2)]}] * 2
    blend = ml.blend(ml.register([WALK.motion, WALK.motion], constraints=given), [0.5, 0.5])
    (hold,) = blend.hands
    assert (hold.role, hold.first, hold.last) == ("left_wrist", 30, 72)
