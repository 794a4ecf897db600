"""Strokes of hands, steps of feet, and strokes put on steps."""

import itertools

import numpy as np
import pytest

import motionloom as ml
from motionloom.splicing.beats import (
    RATES,
    Beat,
    _peaks,
    find_steps,
    find_strokes,
    match_beats,
    times_on_beats,
)

PUNCH = ml.synthetic.clip("punch", duration_s=6.0).motion
WALK = ml.synthetic.clip("walk", duration_s=6.0)
OFF_S = 0.08
"""Steps are half a second apart; arms that get too fast are slowed after strokes are placed."""
BODY = ml.BodyMap.guess(PUNCH.skeleton)


def beats(*times, sides="lr"):
    return [
        Beat(time, {"l": "left", "r": "right"}[sides[k % len(sides)]])
        for k, time in enumerate(times)
    ]


def test_peaks_stand_out_on_both_sides():
    values = np.array([0.0, 0.1, 0.5, 0.1, 0.0, 0.05, 0.0, 0.1, 0.3, 0.45, 0.5])
    assert _peaks(values, 2) == [2]
    assert _peaks(np.zeros(9), 2) == []


def test_strokes_are_the_farthest_reaches_of_a_boxer():
    positions = PUNCH.world_positions()
    strokes = find_strokes(PUNCH, BODY)
    assert len(strokes) >= 2
    for stroke in strokes:
        wrist = getattr(BODY, f"{stroke.side}_wrist")
        shoulder = getattr(BODY, f"{stroke.side}_shoulder")
        reach = np.linalg.norm(positions[:, wrist] - positions[:, shoulder], axis=-1)
        assert reach[round(stroke.time_s * PUNCH.fps)] > 0.9 * reach.max()
    assert np.diff([stroke.time_s for stroke in strokes]).min() >= 0.4


def test_steps_are_the_moments_at_which_feet_come_down():
    steps = find_steps(WALK.footplants, WALK.motion.fps)
    planted = WALK.footplants.planted
    for step in steps:
        frame = round(step.time_s * WALK.motion.fps)
        side = slice(0, 2) if step.side == "left" else slice(2, 4)
        assert planted[frame, side].any()
        assert not planted[frame - 1, side].any()
    assert {a.side != b.side for a, b in itertools.pairwise(steps)} == {True}


def test_strokes_in_step_stay_and_others_move_to_the_nearest_steps_they_can():
    steps = beats(0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    assert match_beats(beats(0.5, 1.5, 2.5, sides="r"), steps, 3.5) == [
        (0.5, 0.5),
        (1.5, 1.5),
        (2.5, 2.5),
    ]
    late = match_beats(beats(0.6, 1.7, 2.75, sides="r"), steps, 3.5)
    assert [step for step, _ in late] == [0.5, 1.5, 2.5]
    assert [stroke for _, stroke in late] == [0.6, 1.7, 2.75]


def test_of_two_steps_as_near_the_opposite_foot_is_taken():
    steps = [Beat(1.0, "left"), Beat(1.4, "right")]
    assert match_beats([Beat(1.2, "left")], steps, 2.0) == [(1.4, 1.2)]
    assert match_beats([Beat(1.2, "right")], steps, 2.0) == [(1.0, 1.2)]


def test_a_stroke_that_would_need_another_rate_is_on_no_step():
    steps = beats(1.0, 3.0)
    pairs = match_beats(beats(1.0, 1.7, 3.0, sides="r"), steps, 3.5)
    assert pairs == [(1.0, 1.0), (3.0, 3.0)]
    assert match_beats([], steps, 3.5) == []
    assert match_beats(beats(1.0), [], 3.5) == []
    assert match_beats(beats(9.0), beats(1.0), 3.5) == []  # eight seconds would be lost


def test_the_action_keeps_its_rate_around_strokes_and_its_strokes_are_on_the_steps():
    pairs = [(1.0, 1.3), (2.5, 2.5), (4.4, 4.0)]
    knots = times_on_beats(pairs, 6.0)
    assert (np.diff(knots, axis=0) > 0.0).all()
    assert knots[0].tolist() == pytest.approx([0.0, 0.3])
    for step, stroke in pairs:
        near = np.interp([step - 0.1, step, step + 0.1], *knots.T)
        assert near == pytest.approx([stroke - 0.1, stroke, stroke + 0.1])
    rates = np.diff(knots[:, 1]) / np.diff(knots[:, 0])
    assert rates.min() >= RATES[0]
    assert rates.max() <= RATES[1]


def test_punches_fall_on_steps():
    made = ml.splice(PUNCH, WALK.motion, align=True, footplants=WALK.footplants)
    assert not made.timewarp.kept_own_time
    assert not made.timewarp.walks
    steps = [step.time_s for step in find_steps(WALK.footplants, WALK.motion.fps)]
    at = np.arange(made.motion.n_frames) / made.motion.fps
    own = made.timewarp.frames / made.motion.fps
    struck = [s.time_s for s in find_strokes(PUNCH, BODY) if own[0] < s.time_s < own[-1]]
    off = [np.abs(np.interp(stroke, own, at) - np.array(steps)).min() for stroke in struck]
    alone = [np.abs(s.time_s - np.array(steps)).min() for s in find_strokes(PUNCH, BODY)]
    assert len(off) >= 2
    assert max(off) < OFF_S < 2.0 * OFF_S < max(alone)
    assert 0.5 < np.diff(made.timewarp.frames).min() <= np.diff(made.timewarp.frames).max() < 2.0


def test_an_action_without_strokes_keeps_its_own_time_and_the_notes_report_it():
    stand = ml.synthetic.clip("stand", duration_s=2.0).motion
    made = ml.splice(stand, WALK.motion, align=True)
    assert made.timewarp.kept_own_time
    assert any("no stroke of the hands fits a step" in note for note in made.notes)


def test_clips_that_walk_are_aligned_as_ever():
    carry = ml.synthetic.clip("carry", duration_s=3.0).motion
    plain, forced = (ml.splice(carry, WALK.motion, align=align) for align in (False, True))
    assert np.array_equal(plain.motion.local_quats, forced.motion.local_quats)
    assert forced.timewarp.walks
