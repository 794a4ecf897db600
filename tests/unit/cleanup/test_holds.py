import numpy as np

from motionloom.cleanup.holds import KEPT, find_holds
from motionloom.motion.contacts import Footplants


def velocities_of(speeds, slide=(0.0, 0.0, 0.0)):
    """Left heel moving at the given speeds along z on top of an even slide, others at rest."""
    velocity = np.zeros((len(speeds), 4, 3))
    velocity[:, 0, 2] = speeds
    return velocity + np.array(slide)


def left_heel(first, last, n):
    return Footplants.from_intervals({"left_heel": ((first, last),)}, n).planted


def test_a_still_point_is_held_for_its_whole_plant():
    (hold,) = find_holds(velocities_of(np.zeros(50)), left_heel(10, 40, 50), np.zeros((50, 3)))
    assert hold.span == hold.label == (10, 40)
    assert hold.n_frames == 31


def test_fast_frames_at_the_ends_are_left_out_but_never_too_many():
    speeds = np.zeros(100)
    speeds[:14], speeds[88:] = 1.0, 1.0
    (hold,) = find_holds(velocities_of(speeds), left_heel(10, 89, 100), np.zeros((100, 3)))
    assert hold.span == (14, 87)
    speeds[:40] = 1.0
    (hold,) = find_holds(velocities_of(speeds), left_heel(10, 89, 100), np.zeros((100, 3)))
    assert hold.n_frames >= KEPT * 80


def test_fast_frames_in_the_middle_do_not_split_a_plant():
    speeds = np.zeros(60)
    speeds[30] = 2.0
    holds = find_holds(velocities_of(speeds), left_heel(10, 49, 60), np.zeros((60, 3)))
    assert [hold.span for hold in holds] == [(10, 49)]


def test_an_even_slide_does_not_count():
    still, planted = velocities_of(np.zeros(50)), left_heel(5, 45, 50)
    sliding = velocities_of(np.zeros(50), slide=(0.3, 0.0, 1.1))
    body = np.zeros((50, 3))
    assert find_holds(sliding, planted, body)[0].span == find_holds(still, planted, body)[0].span
    assert find_holds(sliding, planted, body)[0].own_speed < 1e-12


def test_a_fast_body_may_have_faster_feet():
    speeds = np.zeros(100)
    speeds[10:14] = 0.4
    planted = left_heel(10, 89, 100)
    walking = np.tile([0.0, 0.0, 1.2], (100, 1))
    assert find_holds(velocities_of(speeds), planted, walking)[0].span == (14, 89)
    assert find_holds(velocities_of(speeds), planted, 3 * walking)[0].span == (10, 89)


def test_a_plant_of_one_frame_is_no_hold():
    assert find_holds(velocities_of(np.zeros(9)), left_heel(4, 4, 9), np.zeros((9, 3))) == ()
