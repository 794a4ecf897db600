import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.motion.motion import KINDS, Footplants, runs_of


def test_intervals_and_flags_agree():
    planted = np.random.Generator(np.random.PCG64(6)).random((50, 4)) < 0.6
    plants = Footplants(planted)
    again = Footplants.from_intervals(plants.intervals(), 50)
    assert np.array_equal(again.planted, planted)


def test_runs_reach_both_ends():
    assert runs_of(np.array([True, True, False, True])) == ((0, 1), (3, 3))
    assert runs_of(np.zeros(3, bool)) == ()


def test_wrong_kinds_and_shapes_are_refused():
    with pytest.raises(ArrayError, match="left_heel"):
        Footplants.from_intervals({"left_elbow": ((0, 1),)}, 5)
    with pytest.raises(ArrayError, match=r"\(any, 4\)"):
        Footplants(np.zeros((5, 3), bool))


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        ((5, 1), "must end at or after"),
        ((-1, 3), "0 to 9"),
        ((3, 10), "0 to 9"),
        ((12, 14), "0 to 9"),
    ],
)
def test_plants_outside_the_motion_and_reversed_ones_are_refused(span, problem):
    with pytest.raises(ArrayError, match=f"left_toe .*{problem}"):
        Footplants.from_intervals({"left_toe": ((0, 9), span)}, 10)
    with pytest.raises(ArrayError, match="no frames"):
        Footplants.from_intervals({"left_toe": ((0, 0),)}, 0)


def test_plants_that_overlap_or_touch_are_joined():
    plants = Footplants.from_intervals({"left_toe": ((3, 6), (0, 4), (7, 7), (9, 9))}, 10)
    assert plants.intervals()["left_toe"] == ((0, 7), (9, 9))


def test_it_counts_in_words():
    planted = np.zeros((5, 4), bool)
    planted[1:3, KINDS.index("right_toe")] = True
    text = repr(Footplants(planted)[:4])
    assert text.startswith("Footplants(4 frames:") and "1 right_toe" in text


def test_intervals_hold_their_first_and_last_frame():
    spans = {"left_toe": ((2, 3),), "right_heel": ((0, 0), (4, 5))}
    planted = Footplants.from_intervals(spans, 6).planted
    assert planted[:, KINDS.index("left_toe")].tolist() == [0, 0, 1, 1, 0, 0]
    assert planted[:, KINDS.index("right_heel")].tolist() == [1, 0, 0, 0, 1, 1]
    assert not planted[:, [KINDS.index("left_heel"), KINDS.index("right_toe")]].any()
    assert Footplants.from_intervals({}, 0).n_frames == 0
