"""Scores of motions, and the laws of the zero moment point behind them."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.tables.score.columns import COLUMNS, INCH, column
from motionloom.tables.score.natural import Reference
from motionloom.tables.score.score import Score, score, score_motion
from motionloom.tables.score.stance import Stand, measure_balance

FPS = 60.0
SOLE = np.array([0.18, 0.06, 0.045, 1.7])
EXACT = 1e-9
CUBIC_M = 1e-6
"""A parabola is a cubic, so local cubics lose nothing but round-off."""
MASSES = np.array([0.5, 0.3, 0.2])
REST = np.array([[0.0, 1.0, 0.0], [0.1, 0.6, 0.0], [-0.15, 1.4, 0.0]])
FEET = np.array([0.02, 0.0])
"""Ground under the centre of mass of REST."""


def standing(n_frames, at=(0.0, 0.0)):
    return [Stand(0, 0, n_frames - 1, np.array(at), np.array([0.0, 1.0]))]


def balance(centres, stands=None, masses=MASSES):
    stands = standing(len(centres)) if stands is None else stands
    return measure_balance(centres, masses, stands, SOLE, FPS, range(len(centres)))


def moving(velocity=(0.0, 0.0, 0.0), acceleration=(0.0, 0.0, 0.0), n_frames=40):
    time = np.arange(n_frames)[:, None, None] / FPS
    return REST + time * np.array(velocity) + 0.5 * time**2 * np.array(acceleration)


def test_a_still_body_over_its_foot_is_in_balance():
    centre = MASSES @ REST
    inside = balance(moving(), standing(40, centre[[0, 2]]))
    assert inside.outside.max() == 0.0
    assert len(inside.outside) == 40 - 2 * 8
    far = balance(moving(), standing(40, centre[[0, 2]] + [0.0, 1.0]))
    assert np.allclose(far.outside, 1.0 - SOLE[0], atol=EXACT)


def test_acceleration_moves_the_point_by_height_over_gravity():
    centre = MASSES @ REST
    pushed = balance(moving(acceleration=(0.0, 0.0, -3.0)), standing(40, (0.0, 100.0)))
    still = balance(moving(), standing(40, (0.0, 100.0)))
    time = np.arange(8, 32) / FPS
    shift = -centre[1] * -3.0 / 9.81
    expected = still.outside - shift + 0.5 * 3.0 * time**2
    assert np.allclose(pushed.outside, expected, atol=CUBIC_M)


def test_free_fall_has_no_support_to_miss():
    falls = balance(moving(acceleration=(0.0, -9.81, 0.0)), [])
    assert len(falls.outside) == 0
    assert falls.unsupported == 0
    assert falls.ballistic < CUBIC_M


def test_the_point_does_not_depend_on_the_body_weight():
    light = balance(moving(acceleration=(1.0, 0.0, 2.0)))
    # Masses are parts of the whole, so heavier bodies have the same ones.
    heavy = balance(moving(acceleration=(1.0, 0.0, 2.0)), masses=80.0 * MASSES / 80.0)
    assert np.allclose(light.outside, heavy.outside, atol=EXACT)


def test_turning_and_moving_the_floor_changes_nothing():
    centres = moving(velocity=(0.3, 0.1, 1.0), acceleration=(1.0, -1.0, -2.0))
    turn = 0.7
    cos, sin = np.cos(turn), np.sin(turn)
    spin = np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])
    moved = centres @ spin.T + [3.0, 0.0, -1.0]
    place = np.array([sin, cos]) * 0.0 + [3.0, -1.0]
    there = [Stand(0, 0, 39, place, np.array([sin, cos]))]
    assert np.allclose(balance(centres).outside, balance(moved, there).outside, atol=EXACT)


def test_a_pole_that_tips_over_is_seen_by_its_momentum():
    angle = 2.0 * (np.arange(40) / FPS) ** 2
    ends = np.array([0.2, 1.0, 1.8])[:, None]
    pole = np.stack(
        [ends * np.sin(angle), ends * np.cos(angle), 0.0 * ends * angle], axis=-1
    ).transpose(1, 0, 2)
    tips = balance(pole, standing(40, (0.0, 100.0)), masses=np.ones(3) / 3.0)
    assert len(tips.outside) == 24
    heights = pole[8, :, 1]
    # At the beginning alone: x of the point is -(sum m y ax) / (m g), with ax = 4 y.
    expected = -np.mean(4.0 * heights**2) / (9.81 - 0.0)
    support = balance(pole, standing(40, (expected, 0.0)), masses=np.ones(3) / 3.0)
    assert support.outside[0] < 0.05


def test_frames_without_a_foot_are_counted_once_the_sole_has_rolled_off():
    stands = [Stand(0, 0, 14, FEET, np.array([0.0, 1.0]))]
    found = balance(moving(), stands)
    assert found.bare == 32 - 15
    assert found.unsupported == 32 - 15 - 6


def test_somebody_who_stands_is_natural():
    assert score(ml.synthetic.clip("stand")).natural


def test_an_embedded_walk_keeps_its_plants():
    clip = ml.synthetic.clip("walk")
    found = score_motion(clip.motion, clip.footplants)
    assert found.foot_plant < 1e-6
    assert found.total == found.foot_plant + found.zmp
    assert found.zmp_mean <= found.zmp_high <= found.zmp


def test_feet_that_slide_are_measured_in_inches():
    clip = ml.synthetic.clip("stand", life=0.0)
    root = np.array(clip.motion.root_positions)
    drift = np.linspace(-1.0, 1.0, len(root)) * 2.0 * INCH
    root[:, 0] += drift
    found = score_motion(clip.motion.replace(root_positions=root), clip.footplants)
    assert found.foot_plant == pytest.approx(1.0, rel=0.02)  # mean of |u| over -1..1, times 2


def test_results_with_a_motion_are_scored_and_a_known_score_is_kept():
    clip = ml.synthetic.clip("walk")
    assert score(clip).total == score_motion(clip.motion, clip.footplants).total
    assert score(clip.motion).planted > 0

    class Made:
        motion = clip.motion
        score = Score(1.0, 2.0, 3.0, natural=True)

    assert score(Made()).total == 3.0


def test_columns_of_what_never_stands_have_no_cost_of_feet_and_balance():
    found = Score.of_columns(np.zeros(len(COLUMNS)), form="paper")
    assert (found.foot_plant, found.zmp, found.zmp_high, found.zmp_mean) == (None,) * 4
    assert found.total == 0.0


def test_columns_become_a_score():
    columns = np.zeros(len(COLUMNS))
    columns[column("foot_in")], columns[column("zmp_max_in")] = 1.5, 5.0
    columns[column("unsupported")] = 4
    columns[[column("planted"), column("scored")]] = 9
    found = Score.of_columns(columns, form="paper")
    assert (found.foot_plant, found.zmp, found.total, found.natural) == (1.5, 5.0, 6.5, False)
    assert found.unsupported == 4
    assert Score.of_columns(columns, form="paper", threshold=8.0).natural


WALK = Reference(1.7, np.array([0.06]), np.array([1.3]), np.array([3.0]))


def test_by_default_naturalness_decides():
    columns = np.zeros(len(COLUMNS))
    near = Score.of_columns(columns, WALK)
    columns[column("spread_m")] = 0.2
    far = Score.of_columns(columns, WALK)
    assert near.natural
    assert not far.natural
    assert near.naturalness > far.naturalness
    with pytest.raises(ml.ArrayError, match="`form` must be one of"):
        Score.of_columns(columns, form="lovely")


def test_naturalness_needs_a_reference():
    columns = np.zeros(len(COLUMNS))
    assert Score.of_columns(columns, form="paper").naturalness is None
    assert Score.of_columns(columns, WALK, form="paper").naturalness > 0.9
    with pytest.raises(ml.ArrayError, match="needs the `reference` of its blend"):
        Score.of_columns(columns)


@pytest.mark.parametrize("form", ["natural", "paper"])
def test_what_fails_a_quality_check_is_not_natural(form):
    columns = np.zeros(len(COLUMNS))
    assert Score.of_columns(columns, WALK, form=form).natural
    failed = Score.of_columns(columns, WALK, form=form, failed=["one-frame flip"])
    assert not failed.natural
    assert failed.naturalness == 0.25


@pytest.mark.parametrize(("frames", "planted"), [(1, 0), (2, 2), (9, 9)])
def test_a_ball_must_stand_for_two_frames_to_count(frames, planted):
    clip = ml.synthetic.clip("stand", life=0.0)
    labels = np.zeros((clip.motion.n_frames, 4), dtype=bool)
    labels[30 : 30 + frames, 3] = True
    labels[60:80, 0] = True  # a heel alone is no plant
    found = score_motion(clip.motion, ml.Footplants(labels))
    assert found.planted == planted
    expected = pytest.approx(0.0, abs=1e-9) if planted else None
    assert found.foot_plant == expected
    assert found.scored == planted


def test_a_body_beside_its_only_foot_is_equally_off_by_every_measure():
    clip = ml.synthetic.clip("stand", life=0.0)
    labels = np.zeros((clip.motion.n_frames, 4), dtype=bool)
    labels[:, 1] = True
    found = score_motion(clip.motion, ml.Footplants(labels))
    assert found.zmp > 1.0
    assert found.zmp_high == pytest.approx(found.zmp)
    assert found.zmp_mean == pytest.approx(found.zmp)
    assert found.total == pytest.approx(found.zmp)


def test_a_foot_carries_from_its_heel_strike_and_not_before_it_last_left():
    clip = ml.synthetic.clip("stand", life=0.0)
    labels = np.zeros((clip.motion.n_frames, 4), dtype=bool)
    labels[20:60, 2] = True  # the heel stands all the time, the ball twice
    labels[30:35, 3] = labels[50:60, 3] = True
    found = score_motion(clip.motion, ml.Footplants(labels))
    assert found.planted == 5 + 10
    assert found.scored == 60 - 20


def test_a_score_is_made_of_the_columns_at_its_limits():
    columns = np.arange(1.0, 1.0 + len(COLUMNS))
    found = Score.of_columns(columns, form="paper")
    foot, zmp, high, mean, ballistic = (
        columns[column(name)]
        for name in ("foot_in", "zmp_max_in", "zmp_p95_in", "zmp_mean_in", "ballistic")
    )
    assert found.total == foot + zmp + 12.0 * ballistic
    assert (found.zmp_high, found.zmp_mean) == (high, mean)
    assert found.planted == columns[column("planted")]
    assert found.scored == columns[column("scored")]
    assert not Score.of_columns(columns, form="paper", threshold=found.total).natural
    assert Score.of_columns(columns, form="paper", threshold=found.total + 1e-9).natural


def test_what_has_no_motion_is_refused():
    with pytest.raises(ml.ArrayError, match="must be a motion"):
        score("walk.bvh")
    clip = ml.synthetic.clip("walk")
    with pytest.raises(ml.ArrayError, match="one row per frame"):
        score_motion(clip.motion, clip.footplants[:10])


def test_a_perfect_walk_is_natural_because_a_foot_carries_from_its_heel_strike():
    clip = ml.synthetic.clip("walk")
    found = score(clip)
    assert found.natural
    assert found.zmp < 6.0
    balls_alone = np.array(clip.footplants.planted)
    balls_alone[:, [0, 2]] = False
    assert score_motion(clip.motion, ml.Footplants(balls_alone)).zmp > found.zmp


@pytest.mark.parametrize("n_frames", [1, 2, 16])
def test_a_motion_too_short_for_accelerations_is_refused(n_frames):
    clip = ml.synthetic.clip("walk")
    with pytest.raises(ArrayError, match="at least 17 frames at 60 fps"):
        score(clip.motion[:n_frames])
    assert score(clip.motion[:17]).scored > 0


class Scored:
    """Something that has a score, as transitions of tables have."""

    score = Score(1.0, 2.0, 3.0, natural=False, naturalness=0.1)


def test_a_threshold_decides_about_transitions_too():
    assert score(Scored()) is Scored.score
    assert score(Scored(), threshold=3.5).natural
    assert not score(Scored(), threshold=2.5).natural
    assert not score(Scored(), threshold=3.0).natural  # natural is what lies below it


@pytest.mark.parametrize("threshold", [float("nan"), "a", -1.0, True])
def test_a_threshold_is_a_length(threshold):
    with pytest.raises(ArrayError, match="threshold"):
        score(Scored(), threshold=threshold)
