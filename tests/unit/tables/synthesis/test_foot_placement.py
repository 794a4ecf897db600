"""When and where feet stand between the ends of a gap."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.synthesis.foot_placement import _smoothed, choose_holds, true_labels
from motionloom.tables.synthesis.passage import Passage
from motionloom.tables.synthesis.synthesis import NOT_HELD, rig_of

LENGTH, FPS = 60, 60.0
BOTH, NEITHER = np.ones((2, 2), dtype=bool), np.zeros((2, 2), dtype=bool)


def balls_along(way):
    """Both balls go ``way`` metres ahead, evenly."""
    balls = np.zeros((2, LENGTH, 3))
    balls[..., 2] = np.linspace(0.0, way, LENGTH)
    return balls


def test_a_foot_that_stands_all_through_stays_or_creeps():
    balls = balls_along(0.03)
    holds = choose_holds(np.ones((2, LENGTH)), balls, BOTH, FPS)
    assert (holds.held != NOT_HELD).all()
    assert np.allclose(holds.places[:, [0, -1]], balls[:, [0, -1]])


def test_a_foot_that_stands_elsewhere_at_the_end_takes_a_step():
    balls = balls_along(0.4)
    holds = choose_holds(np.ones((2, LENGTH)), balls, BOTH, FPS)
    free = holds.held[0] == NOT_HELD
    assert 10 <= free.sum() <= 50
    assert not free[0] and not free[-1]
    assert np.ptp(holds.places[0, ~free & (np.arange(LENGTH) < 30)], axis=0).max() == 0.0
    assert np.allclose(holds.places[0, -1], balls[0, -1])


@pytest.mark.parametrize("stands", [BOTH, NEITHER], ids=["standing", "in the air"])
def test_who_stands_at_the_ends_is_believed_against_the_votes(stands):
    votes = np.zeros((2, LENGTH)) if stands.all() else np.ones((2, LENGTH))
    holds = choose_holds(votes, balls_along(0.5), stands, FPS)
    assert (holds.held[:, 0] != NOT_HELD).all() == stands.all()
    assert (holds.held[:, -1] != NOT_HELD).all() == stands.all()


def test_a_plant_between_stands_where_the_windows_had_it_on_the_average():
    votes = np.zeros((2, LENGTH))
    votes[0, 20:40] = 0.8
    balls = balls_along(0.1)
    holds = choose_holds(votes, balls, NEITHER, FPS)
    assert (np.flatnonzero(holds.held[0] != NOT_HELD) == np.arange(20, 40)).all()
    assert np.allclose(holds.places[0, 20:40], balls[0, 20:40].mean(axis=0))
    assert (holds.held[1] == NOT_HELD).all()


def test_flickering_votes_give_no_flickering_holds():
    votes = np.zeros((2, LENGTH))
    votes[:, 20:40] = 0.9
    votes[:, 28:31] = 0.2
    votes[:, 50:52] = 0.9
    held = choose_holds(votes, balls_along(0.0), NEITHER, FPS).held != NOT_HELD
    assert (np.flatnonzero(held[0]) == np.arange(20, 40)).all()


def ball_along(way, length):
    ball = np.zeros((length, 3))
    ball[:, 2] = np.linspace(0.0, way, length)
    return ball


def free_frames(stands, ball, ends):
    return np.flatnonzero(~_smoothed(np.asarray(stands), ball, np.array(ends), FPS)).tolist()


@pytest.mark.parametrize(
    ("length", "way", "first", "wide"),
    [
        (60, 0.4, 30 - 13, 27),  # 0.2 s and 0.25 s for 0.4 m, about the middle
        (60, 0.0601, 30 - 7, 14),
        (20, 0.4, 4, 12),  # no time for more: 4 frames stand before and after
        (61, 0.32, 31 - 12, 24),
    ],
)
def test_a_step_takes_its_time_and_leaves_four_frames_to_stand(length, way, first, wide):
    free = free_frames(np.ones(length, dtype=bool), ball_along(way, length), [True, True])
    assert free == list(range(first, first + wide))


def test_a_step_is_where_the_ball_comes_nearer_to_its_end():
    for early, first in ((True, 4), (False, 60 - 4 - 27)):
        ball = np.zeros((60, 3))
        ball[5 if early else 55 :, 2] = 0.4
        assert free_frames(np.ones(60, dtype=bool), ball, [True, True]) == list(
            range(first, first + 27)
        )


def test_a_foot_that_creeps_six_centimetres_does_not_step():
    assert free_frames(np.ones(60, dtype=bool), ball_along(0.0599, 60), [True, True]) == []


def test_a_foot_that_stands_at_an_end_stands_on_while_it_is_near():
    ball = np.zeros((60, 3))
    ball[:, 0] = 0.002 * np.arange(60)
    free = free_frames(np.zeros(60, dtype=bool), ball, [True, False])
    assert free == list(range(8, 60))  # 1.5 cm are passed from the eighth frame on
    free = free_frames(np.zeros(60, dtype=bool), ball, [False, True])
    assert free == list(range(52))


def test_a_foot_in_the_air_at_an_end_is_free_for_a_tenth_of_a_second():
    stands = np.ones(60, dtype=bool)
    ball = ball_along(9.0, 60)
    assert free_frames(stands, ball, [False, True]) == list(range(6))
    assert free_frames(stands, ball, [True, False]) == list(range(54, 60))


def test_short_gaps_are_closed_and_short_stands_left_out():
    ball = ball_along(9.0, 60)
    for gap, free in ((5, 6), (6, 12)):
        stands = np.ones(60, dtype=bool)
        stands[20 : 20 + gap] = False
        assert len(free_frames(stands, ball, [True, False])) == free
    for stand, free in ((3, 60), (4, 56)):
        stands = np.zeros(60, dtype=bool)
        stands[30 : 30 + stand] = True
        assert len(free_frames(stands, ball, [False, False])) == free


@pytest.mark.parametrize(("pitch", "stands"), [(0.0, True), (0.2, True), (0.6, False)])
def test_a_heel_that_is_up_is_not_planted(pitch, stands):
    frames = frames_of([ml.synthetic.clip("stand").motion])
    rig, still = rig_of(frames), frames.motion(0, 0)
    quats = np.repeat(np.array(still.local_quats), LENGTH, axis=0)
    ankle = rig.legs[0, 2]
    down = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), pitch)
    quats[:, ankle] = quat.multiply(quats[:, ankle], down)
    passage = Passage(np.zeros(LENGTH), np.repeat(still.root_positions, LENGTH, axis=0), quats)
    labels = true_labels(rig, passage, FPS, np.ones((LENGTH, 4), dtype=bool))
    assert (labels[:, 0] == stands).all()
    assert labels[:, 1:].all()
