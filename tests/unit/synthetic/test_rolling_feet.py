import numpy as np
import pytest

from motionloom.rotation import quat
from motionloom.synthetic.rolling_feet import Stance, SwingShape, track_foot
from motionloom.synthetic.synthetic_skeleton import rig

BODY = rig(1.75)
EXACT_M = 1e-12


def stance(strike: float, z: float, **changes: float) -> Stance:
    options = {"strike_pitch": -0.35, "off_pitch": 0.9, "base_pitch": 0.0, **changes}
    ball = np.array([0.1, BODY.ball_height, z])
    return Stance(strike, strike + 0.1, strike + 0.4, strike + 0.65, ball, 0.2, **options)


SHAPE = SwingShape((0.2, 0.5, 0.8), (1.1, 0.3, -0.2), (0.06, 0.03, 0.01))
TIMES = np.linspace(0.0, 1.7, 1701)


def points(track):
    heel = track.ankle + quat.rotate(track.quats, BODY.heel)
    return heel, track.ankle + quat.rotate(track.quats, BODY.ball)


def test_a_foot_turns_about_its_heel_then_lies_flat_then_turns_about_its_ball():
    track = track_foot(BODY, TIMES, [stance(0.0, 0.0), stance(1.05, 1.2)], [SHAPE])
    heel, ball = points(track)
    first = TIMES <= 0.65
    assert np.ptp(heel[TIMES <= 0.4], axis=0).max() < EXACT_M
    assert np.ptp(ball[(TIMES >= 0.1) & first], axis=0).max() < EXACT_M
    assert track.heel_planted[first].sum() == 401
    assert track.toe_planted[first].sum() == 551


def test_speeds_have_no_jump_where_a_foot_leaves_the_ground():
    track = track_foot(BODY, TIMES, [stance(0.0, 0.0), stance(1.05, 1.2)], [SHAPE])
    for way in points(track):
        speed = np.diff(way, axis=0) * 1000.0
        change = np.linalg.norm(np.diff(speed, axis=0), axis=-1)
        off = int(np.searchsorted(TIMES, 0.65))
        assert change[off - 5 : off + 5].max() < 0.2


def test_a_forefoot_that_strikes_plants_before_its_heel():
    run = stance(1.05, 1.2, strike_pitch=0.2)
    track = track_foot(BODY, TIMES, [stance(0.0, 0.0), run], [SHAPE])
    down = TIMES >= 1.05
    assert TIMES[down][np.argmax(track.toe_planted[down])] == pytest.approx(1.05)
    assert TIMES[down][np.argmax(track.heel_planted[down])] == pytest.approx(1.15)
    heel, _ = points(track)
    assert heel[down, 1].min() >= BODY.ball_height - EXACT_M


def test_waypoints_are_passed_at_their_keys():
    shape = SwingShape((0.5,), (0.0,), (0.0,), waypoints=((0.0, 0.4, 0.7),))
    track = track_foot(BODY, TIMES, [stance(0.0, 0.0), stance(1.05, 0.0)], [shape])
    ball = points(track)[1][np.searchsorted(TIMES, 0.85)]
    wanted = [0.1 + 0.7 * np.sin(0.2), BODY.ball_height + 0.4, 0.7 * np.cos(0.2)]
    np.testing.assert_allclose(ball, wanted, atol=1e-3)
