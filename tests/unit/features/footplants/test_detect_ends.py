"""Plants drawn out over the frames in which a foot settles and begins to lift."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from motionloom.features.footplants.detect import draw_out
from motionloom.features.footplants.plant_edges import FootSignals
from motionloom.motion.motion import Footplants

FPS = 60.0
N = 100
REST = slice(40, 61)
"""Frames in which the point under test is known to stand."""
LEFT_HEEL, LEFT_TOE = 0, 1


def signals_with(
    kind: int,
    *,
    before: list[float],
    after: list[float],
    noise: float = 0.0,
    height: np.ndarray | None = None,
) -> FootSignals:
    """One point at rest in ``REST``, with given speeds outwards from it and 2 m/s further out."""
    speeds = np.full((N, 4), 2.0)
    speeds[REST, kind] = 0.0
    speeds[REST.start - len(before) : REST.start, kind] = before[::-1]
    speeds[REST.stop : REST.stop + len(after), kind] = after
    points = np.zeros((N, 4, 3))
    if height is not None:
        points[:, kind, 1] = height
    return FootSignals(
        points=points,
        speeds=speeds,
        sharp_speeds=speeds,
        sharp_noise=np.full(4, noise),
        body_speed=np.zeros(N),
        noise=np.zeros((4, 2)),
        sway=np.zeros((4, 1)),
        slide=0.0,
        lift=np.zeros(len(points)),
        lowest=np.zeros(len(points)),
    )


def drawn(kind: int, signals: FootSignals, also: np.ndarray | None = None) -> tuple[int, int]:
    """How many frames the plant of ``REST`` gained before and after."""
    planted = np.zeros((N, 4), dtype=bool) if also is None else also.copy()
    planted[REST, kind] = True
    ((first, last),) = list(Footplants(draw_out(planted, signals, FPS)).intervals().values())[kind]
    return REST.start - first, last - (REST.stop - 1)


def test_a_plant_lasts_while_its_point_is_slow() -> None:
    signals = signals_with(LEFT_TOE, before=[0.1, 0.15], after=[0.05, 0.1, 0.19, 0.3])
    assert drawn(LEFT_TOE, signals) == (2, 3)


def test_a_point_that_leaves_at_once_gains_nothing() -> None:
    assert drawn(LEFT_TOE, signals_with(LEFT_TOE, before=[], after=[])) == (0, 0)


def test_a_bump_is_passed_only_if_the_point_is_slow_behind_it() -> None:
    signals = signals_with(LEFT_TOE, before=[0.1, 0.25, 0.1], after=[0.1, 0.25, 0.6])
    assert drawn(LEFT_TOE, signals) == (3, 1)


def test_noise_that_hides_slow_speeds_keeps_edges_where_they_are() -> None:
    slow = [0.1] * 4
    assert drawn(LEFT_TOE, signals_with(LEFT_TOE, before=slow, after=slow, noise=0.01)) == (4, 4)
    assert drawn(LEFT_TOE, signals_with(LEFT_TOE, before=slow, after=slow, noise=0.15)) == (0, 0)


def test_a_heel_may_roll_faster_until_its_ball_stands() -> None:
    signals = signals_with(LEFT_HEEL, before=[0.4, 0.4, 0.4], after=[0.4, 0.4])
    assert drawn(LEFT_HEEL, signals) == (3, 0)
    flat = np.zeros((N, 4), dtype=bool)
    flat[30:70, LEFT_TOE] = True
    assert drawn(LEFT_HEEL, signals, flat) == (0, 0)


def test_a_heel_that_is_still_above_does_not_roll() -> None:
    height = np.zeros(N)
    height[: REST.start] = 0.02
    signals = signals_with(LEFT_HEEL, before=[0.4, 0.4], after=[], height=height)
    assert drawn(LEFT_HEEL, signals) == (0, 0)


def test_a_point_that_has_risen_has_left_however_slowly() -> None:
    height = np.zeros(N)
    height[REST.stop + 2 :] = 0.05
    signals = signals_with(LEFT_TOE, before=[], after=[0.1] * 6, height=height)
    assert drawn(LEFT_TOE, signals) == (0, 2)


@pytest.mark.parametrize("gap", [1, 2, 5])
def test_two_plants_never_grow_together(gap: int) -> None:
    planted = np.zeros((N, 4), dtype=bool)
    planted[20:40, LEFT_TOE] = planted[40 + gap : 60, LEFT_TOE] = True
    signals = signals_with(LEFT_TOE, before=[0.0] * 40, after=[0.0] * 39)
    signals.sharp_speeds[40 + gap // 2, LEFT_TOE] = 0.05  # the fastest between, though slow
    signals.sharp_speeds[[39, 40 + gap], LEFT_TOE] = 0.06
    spans = Footplants(draw_out(planted, signals, FPS)).intervals()["left_toe"]
    assert spans == ((10, 39 + gap // 2), (41 + gap // 2, 69))


def test_plants_at_the_ends_of_a_clip_stay_within_it() -> None:
    signals = signals_with(LEFT_TOE, before=[0.0] * 40, after=[0.0] * 39)
    planted = np.zeros((N, 4), dtype=bool)
    planted[:5, LEFT_TOE] = planted[-5:, LEFT_TOE] = True
    grown = draw_out(planted, signals, FPS)
    assert grown[:5, LEFT_TOE].all() and grown[-5:, LEFT_TOE].all()
    assert not grown[:, [0, 2, 3]].any()
    planted[:3, LEFT_TOE] = planted[-3:, LEFT_TOE] = False
    assert draw_out(planted, signals, FPS)[:, LEFT_TOE].tolist() == grown[:, LEFT_TOE].tolist()


@pytest.mark.parametrize("ground", [-0.7, 0.0, 0.7])
def test_heights_count_over_where_the_point_stands(ground: float) -> None:
    height = np.full(N, ground)
    height[: REST.start - 3] += 0.05  # beyond the lift
    height[REST.stop + 2 :] += 0.05
    signals = signals_with(LEFT_TOE, before=[0.1] * 6, after=[0.1] * 6, height=height)
    assert drawn(LEFT_TOE, signals) == (3, 2)
    height = np.full(N, ground)
    height[: REST.start - 2] += 0.006  # a heel that rolls is lower
    signals = signals_with(LEFT_HEEL, before=[0.4] * 4, after=[], height=height)
    assert drawn(LEFT_HEEL, signals) == (2, 0)


def test_no_edge_moves_by_more_than_a_sixth_of_a_second() -> None:
    signals = signals_with(LEFT_TOE, before=[0.0] * 30, after=[0.0] * 30)
    assert drawn(LEFT_TOE, signals) == (10, 10)


def test_a_fast_body_has_points_that_settle_faster() -> None:
    signals = signals_with(LEFT_TOE, before=[0.35] * 3, after=[0.35] * 2)
    assert drawn(LEFT_TOE, signals) == (0, 0)
    for body_speed, frames in ((2.9, (0, 0)), (3.0, (3, 2))):  # 0.348 and 0.36 m/s
        fast = dataclasses.replace(signals, body_speed=np.full(N, body_speed))
        assert drawn(LEFT_TOE, fast) == frames


def test_noise_counts_one_and_a_half_times_in_squares() -> None:
    # sqrt(0.16^2 + (1.5 * 0.08)^2) is 0.2 m/s.
    for speed, frames in ((0.159, 2), (0.161, 0)):
        signals = signals_with(LEFT_TOE, before=[speed] * 2, after=[speed] * 2, noise=0.08)
        assert drawn(LEFT_TOE, signals) == (frames, frames)


def test_limits_themselves_are_too_fast_and_too_high() -> None:
    signals = signals_with(LEFT_TOE, before=[0.1, 0.2], after=[0.1, 0.1, 0.2])
    assert drawn(LEFT_TOE, signals) == (1, 2)
    for bump, frames in ((0.279, 3), (1.4 * 0.2, 1), (0.3, 1)):
        slow = [0.1, bump, 0.1]
        signals = signals_with(LEFT_TOE, before=slow, after=slow)
        assert drawn(LEFT_TOE, signals) == (frames, frames)
    for speed, frames in ((0.499, 2), (0.5, 0), (0.6, 0)):
        signals = signals_with(LEFT_HEEL, before=[speed] * 2, after=[])
        assert drawn(LEFT_HEEL, signals) == (frames, 0)
    height = np.full(N, 0.03)
    height[REST.start - 1 : REST.stop + 1] = 0.0
    signals = signals_with(LEFT_TOE, before=[0.1] * 3, after=[0.1] * 3, height=height)
    assert drawn(LEFT_TOE, signals) == (1, 1)
    height[: REST.start - 1] = 0.005
    signals = signals_with(LEFT_HEEL, before=[0.4] * 3, after=[], height=height)
    assert drawn(LEFT_HEEL, signals) == (1, 0)


def test_an_edge_may_move_by_one_frame_at_any_rate() -> None:
    signals = signals_with(LEFT_TOE, before=[0.0] * 5, after=[0.0] * 5)
    planted = np.zeros((N, 4), dtype=bool)
    planted[REST, LEFT_TOE] = True
    grown = draw_out(planted, signals, 2.0)
    assert np.flatnonzero(grown[:, LEFT_TOE]).tolist() == list(range(39, 62))
