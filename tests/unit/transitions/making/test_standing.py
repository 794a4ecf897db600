"""When and where feet stand between the ends of a gap."""

import numpy as np
import pytest

from motionloom.transitions.making.footing import NOT_HELD
from motionloom.transitions.making.standing import choose_holds

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
