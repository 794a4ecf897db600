"""Stances of a body that does not fall though no foot of it is still."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from motionloom.features.footplants.detect import find_carrying_feet
from motionloom.features.footplants.plant_edges import FootSignals

FPS = 60.0
N = 60
SUPPORT = slice(20, 40)
"""Frames in which the body is not in flight; the left foot is under it."""
LEFT, RIGHT = [0, 1], [2, 3]


def hop() -> FootSignals:
    """A hop on the left foot, which never moves slower than 0.4 m/s, with the right one up."""
    speeds = np.full((N, 4), 3.0)
    speeds[26:34, LEFT] = 0.4
    points = np.zeros((N, 4, 3))
    points[..., 1] = 0.4
    points[SUPPORT, 0:2, 1] = 0.12
    points[:, LEFT, 2] = np.cumsum(speeds[:, LEFT], axis=0) / FPS
    lift = np.full(N, -9.8)
    lift[SUPPORT] = 12.0
    return FootSignals(
        points=points,
        speeds=speeds,
        sharp_speeds=speeds,
        sharp_noise=np.zeros(4),
        body_speed=np.full(N, 0.2),
        noise=np.zeros((4, 2)),
        sway=np.zeros((4, 1)),
        slide=0.0,
        lift=lift,
        lowest=points[..., 1].min(axis=1),
    )


def found(
    signals: FootSignals, *, planted: np.ndarray | None = None, tilted: np.ndarray | None = None
) -> np.ndarray:
    none = np.zeros((N, 4), dtype=bool)
    return find_carrying_feet(
        none if planted is None else planted,
        signals,
        np.full(N, 0.25),
        none if tilted is None else tilted,
        FPS,
    )


def changed(**changes: object) -> FootSignals:
    return dataclasses.replace(hop(), **changes)


def test_the_lowest_foot_of_a_body_that_does_not_fall_carries_it_while_it_is_slow() -> None:
    carrying = found(hop())
    assert np.flatnonzero(carrying[:, 0]).tolist() == list(range(26, 34))
    assert np.array_equal(carrying[:, 0], carrying[:, 1])
    assert not carrying[:, RIGHT].any()


def test_a_body_in_flight_stands_on_nothing() -> None:
    assert not found(changed(lift=np.full(N, -9.8))).any()


def test_a_foot_over_another_point_of_the_body_does_not_carry_it() -> None:
    assert not found(changed(lowest=hop().lowest - 0.2)).any()


def test_a_foot_that_is_slow_only_where_it_turns_round_walks_in_place() -> None:
    speeds = np.full((N, 4), 3.0)
    speeds[20:25, LEFT] = 0.4
    assert not found(changed(speeds=speeds)).any()


def test_a_foot_that_goes_far_while_it_carries_slides_in_place() -> None:
    points = np.array(hop().points)
    points[:, LEFT, 2] = 0.95 * np.arange(N)[:, None] / FPS
    assert not found(changed(points=points)).any()


def test_a_short_support_and_a_noisy_clip_are_left_alone() -> None:
    lift = np.full(N, -9.8)
    lift[28:32] = 12.0
    assert not found(changed(lift=lift)).any()
    assert not found(changed(noise=np.full((4, 2), 0.005))).any()


def test_a_raised_end_of_the_foot_does_not_stand() -> None:
    tilted = np.zeros((N, 4), dtype=bool)
    tilted[:, 0] = True
    carrying = found(hop(), tilted=tilted)
    assert not carrying[:, 0].any()
    assert carrying[:, 1].any()


@pytest.mark.parametrize("after", [False, True])
def test_a_slow_foot_between_two_plants_joins_them_and_next_to_one_is_its_edge(
    after: bool,
) -> None:
    speeds = np.full((N, 4), 3.0)
    speeds[SUPPORT, LEFT] = 0.4
    planted = np.zeros((N, 4), dtype=bool)
    planted[15:20, LEFT] = True
    planted[40:45, LEFT] = after
    carrying = found(changed(speeds=speeds), planted=planted)
    assert np.flatnonzero(carrying[:, 1]).tolist() == (list(range(20, 40)) if after else [])


def test_a_foot_that_slows_down_twice_flaps() -> None:
    speeds = np.array(hop().speeds)
    speeds[30, LEFT] = 1.2
    assert not found(changed(speeds=speeds)).any()


def test_where_a_foot_stands_by_its_speed_nothing_is_added() -> None:
    planted = np.zeros((N, 4), dtype=bool)
    planted[SUPPORT, 1] = True
    assert not found(hop(), planted=planted).any()


@pytest.mark.parametrize(("frames", "carries"), [(5, False), (6, True)])
def test_a_foot_carries_for_at_least_a_tenth_of_a_second(frames: int, carries: bool) -> None:
    lift = np.full(N, -9.8)
    lift[27 : 27 + frames] = 12.0
    assert found(changed(lift=lift)).any() == carries


def test_both_feet_are_looked_at_alike() -> None:
    left, order = hop(), [2, 3, 0, 1]
    right = changed(speeds=left.speeds[:, order], points=left.points[:, order])
    tilted = np.zeros((N, 4), dtype=bool)
    assert np.array_equal(found(right), found(left)[:, order])
    assert found(right)[:, RIGHT].any()
    tilted[28:, 2] = True
    mirrored = found(left, tilted=tilted[:, order])[:, order]
    assert np.array_equal(found(right, tilted=tilted), mirrored)


def test_the_lower_end_of_a_foot_decides_whether_it_is_the_lowest() -> None:
    points = np.array(hop().points)
    points[:, 1, 1] += 0.1
    assert found(changed(points=points))[:, 0].any()


@pytest.mark.parametrize(("gap", "joined"), [(2, True), (3, False)])
def test_plants_within_three_frames_adjoin_a_stance(gap: int, joined: bool) -> None:
    speeds = np.array(hop().speeds)
    speeds[20:26, LEFT] = speeds[34:40, LEFT] = 0.4
    planted = np.zeros((N, 4), dtype=bool)
    planted[10 : 20 - gap, 1] = planted[40 + gap : 50, 1] = True
    lift = np.full(N, 12.0)
    lift[[19, 40]] = -9.8  # support from 20 to 39
    points = np.array(hop().points)
    points[SUPPORT, 0:2, 0] = 0.03 * np.arange(20)[:, None]  # too far for a stance by itself
    carrying = found(changed(speeds=speeds, lift=lift, points=points), planted=planted)
    assert carrying[SUPPORT, 1].all() == carrying[SUPPORT, 1].any() == joined
    assert not carrying[:, 0].any()  # next to plants of the ball, or too far


def test_a_stance_next_to_a_plant_of_the_other_end_is_a_part_of_it() -> None:
    planted = np.zeros((N, 4), dtype=bool)
    planted[10:18, 0] = True
    assert not found(hop(), planted=planted).any()
    planted[10:18, 0], planted[10:17, 0] = False, True
    assert found(hop(), planted=planted)[:, 1].any()
