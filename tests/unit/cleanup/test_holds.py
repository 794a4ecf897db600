import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.cleanup.legs import KEPT, find_holds
from motionloom.errors import ArrayError
from motionloom.motion.motion import Footplants
from tests.oracles import holds as plain


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


def test_holds_are_those_of_the_plain_form():
    rng = np.random.Generator(np.random.PCG64(5))
    velocities, body = rng.normal(scale=0.3, size=(300, 4, 3)), rng.normal(size=(300, 3))
    velocities[::3] = np.round(velocities[::3])  # ends as fast as each other
    planted = np.repeat(rng.random((60, 4)) < 0.7, 5, axis=0)
    holds = find_holds(velocities, planted, body)
    assert len(holds) > 20
    assert any(hold.span != hold.label for hold in holds)
    for hold in holds:
        first, last, fastest = plain.trim(velocities[:, hold.kind], body, hold.label, KEPT)
        assert hold.span == (first, last)
        assert hold.own_speed == pytest.approx(fastest, abs=1e-12)


@pytest.mark.parametrize("label", [(4, 0, 3), (-1, 0, 3), (0, -1, 3), (0, 3, 2), (0, 0, 9)])
def test_a_label_outside_of_the_clip_is_refused(label):
    span, fastest = np.zeros((1, 2), dtype=np.int64), np.zeros(1)
    moving, body = np.zeros((9, 4, 3)), np.zeros((9, 3))
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_hold_trim")(9, moving, body, 1, np.array([label]), KEPT, span, fastest)


def test_frames_of_holds_are_filled_and_the_last_of_two_counts():
    spans, places = np.array([[0, 1, 3], [3, 0, 0], [0, 3, 4]]), np.arange(9.0).reshape(3, 3)
    held, stood = np.zeros((2, 5, 2), dtype=bool), np.zeros((2, 5, 2, 3))
    kernel("ml_hold_fill")(5, 3, spans, places, held, stood)
    wanted, where = np.zeros_like(held), np.zeros_like(stood)
    for (kind, first, last), place in zip(spans.tolist(), places, strict=True):
        wanted[kind // 2, first : last + 1, kind % 2] = True
        where[kind // 2, first : last + 1, kind % 2] = place
    assert np.array_equal(held, wanted)
    assert np.array_equal(stood, where)


@pytest.mark.parametrize("span", [(4, 0, 1), (-1, 0, 1), (0, -1, 1), (0, 0, 5)])
def test_holds_beyond_the_clip_are_refused(span):
    held, stood = np.zeros((2, 5, 2), dtype=bool), np.zeros((2, 5, 2, 3))
    with pytest.raises(ArrayError, match="sizes"):
        kernel("ml_hold_fill")(5, 1, np.array([span]), np.zeros((1, 3)), held, stood)
