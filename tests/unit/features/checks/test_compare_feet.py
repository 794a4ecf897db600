"""Knees, soles, contacts, drags and hovering of made-up series, against limits known by hand."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.checks.source_limits import (
    HOVER,
    CheckedMotion,
    Limits,
    Series,
    check_rig,
    judge,
    new_series,
    no_limits,
)
from motionloom.features.checks.verification import (
    BACKWARDS,
    CONTACT,
    DRAGGED,
    FOLDED,
    GLIDE,
    HOVERING,
    MOST_FOUND,
    SOLE,
)

FPS = 60.0
N = 60
RIG = check_rig(ml.synthetic.clip("stand", duration_s=0.5).motion)
NO_GROUNDS = np.zeros((0, 6, 5))
HOVER_M = 0.04
"""Higher than this over the floor a body touches nothing."""


def still() -> Series:
    """A body that stands on a floor at height zero."""
    series = new_series(RIG, N)
    series.pelvis[:, 1] = 1.0
    return series


def floor_limits(**changes: np.ndarray) -> Limits:
    none = no_limits(RIG)
    level = {name: np.zeros(4) for name in ("sole", "floor", "highest")}
    knees = {"least_flexion": np.zeros(2), "most_flexion": np.full(2, 2.0)}
    return none._replace(**{**level, **knees, **changes})


def judged(
    series: Series,
    limits: Limits | None = None,
    *,
    planted: np.ndarray | None = None,
    span: tuple[int, int] = (0, N - 1),
    skipped: tuple[int, ...] = (),
    held: bool = True,
    grounds: np.ndarray = NO_GROUNDS,
    floors: np.ndarray | None = None,
) -> list[list[float]]:
    found, mask = np.zeros((MOST_FOUND, 5)), np.zeros(N, dtype=bool)
    mask[list(skipped)] = True
    planted = np.zeros((N, 4), dtype=bool) if planted is None else planted
    limits = floor_limits() if limits is None else limits
    allowed = np.zeros((0, len(RIG.checked), 3))
    given = CheckedMotion(series, planted, FPS, *span, mask, held=held)
    n = judge(given, limits, allowed, grounds, found, floors)
    return found[:n].tolist()


def test_a_body_that_stands_has_nothing_to_judge() -> None:
    assert judged(still(), planted=np.ones((N, 4), dtype=bool)) == []


@pytest.mark.parametrize("side", [0, 1])
def test_knees_may_bend_three_degrees_back_and_ten_farther_than_the_sources(side: int) -> None:
    for own, back in ((0.0, -5.0), (-10.0, -13.0)):  # five degrees back are always allowed
        limits = floor_limits(least_flexion=np.radians(np.full(2, own)))
        series = still()
        series.flexion[7, side] = np.radians(back - 0.1)
        series.flexion[8, 1 - side] = np.radians(back + 0.1)
        ((check, joint, frame, value, limit),) = judged(series, limits)
        assert (check, joint, frame) == (BACKWARDS, side, 7)
        assert np.degrees([value, limit]) == pytest.approx([back - 0.1, back])
        assert judged(series, limits, skipped=(7,)) == []
        assert judged(series, limits, span=(8, N - 1)) == judged(series, limits, span=(0, 6)) == []
        assert len(judged(series, limits, span=(7, 7), held=False)) == 1
    for own, fold in ((100.0, 160.0), (155.0, 165.0)):
        limits = floor_limits(most_flexion=np.radians(np.full(2, own)))
        series = still()
        series.flexion[7, side] = np.radians(fold + 0.1)
        series.flexion[8, 1 - side] = np.radians(fold - 0.1)
        ((check, joint, frame, _, limit),) = judged(series, limits)
        assert (check, joint, frame) == (FOLDED, side, 7)
        assert np.degrees(limit) == pytest.approx(fold)


@pytest.mark.parametrize("point", range(4))
def test_soles_may_sink_by_two_centimetres_and_a_half(point: int) -> None:
    sole = 0.1 * np.arange(4.0)
    series = still()
    series.soles[..., 1] = sole
    series.soles[7, point, 1] -= 0.026
    series.soles[9, point, 1] -= 0.024
    limits = floor_limits(sole=sole, floor=sole - 1.0)
    ((check, joint, frame, value, limit),) = judged(series, limits)
    assert (check, joint, frame) == (SOLE, point, 7)
    assert [value, limit] == pytest.approx([sole[point] - 0.026, sole[point] - 0.025])
    assert judged(series, limits, held=False) == []
    # Frames that are copied may be as low as the clip is there, and no lower than the limit.
    grounds = np.full((N, 6, 5), -9.0)
    assert len(judged(series, limits, grounds=grounds)) == 1
    grounds[9, point, 0] = sole[point] - 0.02
    notes = judged(series, limits, grounds=grounds)
    assert [row[:2] for row in notes] == [[SOLE, point]]
    assert notes[0][2] == 9  # the farther one below its limit


@pytest.mark.parametrize(("frames", "counts"), [(2, False), (3, True), (20, True)])
def test_contacts_of_three_frames_that_move_four_centimetres_are_found(
    frames: int, counts: bool
) -> None:
    for way, fails in ((0.039, False), (0.041, True)):
        series, planted = still(), np.zeros((N, 4), dtype=bool)
        planted[10 : 10 + frames, 2] = True
        series.soles[:, 2, 1] = 1.0  # too high to be dragged
        path = np.linspace(0.0, way, frames)
        series.soles[10 : 10 + frames, 2, 0] = 1.0 - 0.6 * path
        series.soles[10 : 10 + frames, 2, 2] = -2.0 + 0.8 * path
        found = judged(series, planted=planted)
        assert [row[:3] for row in found] == ([[CONTACT, 2, 10]] if counts and fails else [])
        if found:
            assert found[0][3:] == pytest.approx([way, 0.04])
        assert judged(series, planted=planted, span=(10 + frames, N - 1)) == []


def test_a_contact_may_slide_as_far_as_those_of_the_sources_or_of_the_copied_clip() -> None:
    series, planted = still(), np.zeros((N, 4), dtype=bool)
    planted[10:30, 1] = True
    series.soles[:, 1, 1] = 1.0
    series.soles[10:30, 1, 0] = np.linspace(0.0, 0.1, 20)
    slide = np.full(28, 9.0)
    slide[7:14] = [0.05, 0.06, 0.07, 0.08, 0.2, 0.3, 0.4]  # the ball, contacts of 4, 8, 16, 32 ...
    ((*_, value, limit),) = judged(series, floor_limits(slide=slide), planted=planted)
    assert (value, limit) == (pytest.approx(0.1), 0.08)
    slide[7 + 3] = 0.11
    assert judged(series, floor_limits(slide=slide), planted=planted) == []
    grounds = np.full((N, 6, 5), -9.0)
    grounds[10, 1, 1] = 0.09
    ((*_, limit),) = judged(series, floor_limits(slide=slide), planted=planted, grounds=grounds)
    assert limit == 0.09


@pytest.mark.parametrize(("own", "limit"), [(0.0, 0.10), (0.2, 0.24)])
def test_a_point_is_dragged_no_farther_than_the_sources_and_a_fifth(
    own: float, limit: float
) -> None:
    for way, fails in ((limit - 0.001, False), (limit + 0.001, True)):
        series = still()
        x = np.clip((np.arange(N) - 10) / 15.0, 0.0, 1.0)
        series.soles[:, 3, 0] = 0.6 * way * x
        series.soles[:, 3, 2] = -0.8 * way * x
        found = judged(series, floor_limits(drag=np.full(12, own)))
        assert [row[:3] for row in found] == ([[DRAGGED, 3, 25]] if fails else [])
        if found:
            assert found[0][3:] == pytest.approx([way, limit])
        series.soles[18, 3, 1] = 0.05  # lifted half way: two drags
        assert judged(series, floor_limits(drag=np.full(12, own))) == []


def test_a_drag_counts_from_before_the_frames_that_are_checked() -> None:
    series = still()
    series.soles[:, 3, 0] = 0.2 * np.clip((np.arange(N) - 10) / 15.0, 0.0, 1.0)
    ((check, point, frame, way, _),) = judged(series, span=(23, N - 1))
    assert (check, point, frame) == (DRAGGED, 3, 25)
    assert way == pytest.approx(0.2)
    assert judged(series, span=(26, N - 1)) == []  # over before


def test_the_pad_of_a_heel_may_neither_slide_nor_be_dragged() -> None:
    """The end of the heel stays or is off the floor; a fifth of the way to the ball counts."""
    series = still()
    series.soles[:, 1, 2] = 0.2
    planted = np.zeros((N, 4), dtype=bool)
    planted[8:20, 0] = True
    series.soles[:, 1, 0] = 0.5 * np.clip((np.arange(N) - 10) / 5.0, 0.0, 1.0)  # turns on the end
    series.soles[:, 1, 1] = 0.2
    (row,) = judged(series, planted=planted)
    assert row[1] == 0
    assert row[3] == pytest.approx(0.1)
    series.soles[:, 0] = [0.0, 0.036, 0.0]
    series.soles[:, 1] = [0.0, 0.0, 0.2]
    series.soles[:, :2, 0] = 0.4 * np.clip((np.arange(N) - 10) / 15.0, 0.0, 1.0)[:, None]
    drag = np.repeat([0.0, 1.0, 0.0, 0.0], 3)
    points = [row[:2] for row in judged(series, floor_limits(drag=drag))]
    assert points == [[DRAGGED, 0]]  # by its pad, 2.88 cm over the floor


@pytest.mark.parametrize(("height", "wipes"), [(0.009, 0), (0.019, 1), (0.029, 2), (0.031, 3)])
def test_a_foot_that_swings_by_does_not_license_one_that_wipes_the_floor(
    height: float, wipes: int
) -> None:
    """A source's drags below 2 and 3 cm say nothing about those below 1 cm."""
    series = still()
    series.soles[:, 3, 1] = height
    series.soles[:, 3, 0] = 0.4 * np.clip((np.arange(N) - 10) / 15.0, 0.0, 1.0)
    for known in range(4):  # of the three heights, those at which the source drags as far
        drag = np.tile(np.where(np.arange(3) >= known, 1.0, 0.0), 4)
        found = judged(series, floor_limits(drag=drag))
        assert [row[:2] for row in found] == ([[DRAGGED, 3]] if known > wipes else [])


def test_floors_of_frames_stand_for_those_of_the_limits() -> None:
    series = still()
    series.soles[..., 1] = series.lowest[:] = 0.1
    series.soles[:, 3, 0] = 0.3 * np.clip((np.arange(N) - 10) / 15.0, 0.0, 1.0)
    assert [row[0] for row in judged(series)] == [HOVERING]
    floors = np.full((N, 2, 4), 0.1)
    assert [row[0] for row in judged(series, floors=floors)] == [DRAGGED]
    floors[20:] = 0.0  # from here on it drags no more, and hovers
    hovering, dragged = judged(series, floors=floors)
    assert dragged[:3] == [DRAGGED, 3, 19]
    assert hovering[:3] == [HOVERING, -1, (20 + N) // 2]


def test_a_point_is_dragged_no_farther_than_in_the_frames_that_were_copied() -> None:
    series = still()
    series.soles[:, 3, 0] = 0.2 * np.clip((np.arange(N) - 10) / 15.0, 0.0, 1.0)
    limits, grounds = floor_limits(drag=np.full(12, 1.0)), np.full((N, 6, 5), -9.0)
    grounds[..., 2:] = 0.25
    assert judged(series, limits, grounds=grounds) == []
    grounds[..., 2:] = 0.15
    ((*row, limit),) = judged(series, limits, grounds=grounds)
    assert row == [DRAGGED, 3, 25, pytest.approx(0.2)]
    assert limit == 0.15
    grounds[..., 2:] = 0.0
    assert judged(series, limits, grounds=grounds)[0][4] == 0.10


def level(frames: int) -> float:
    """Metres off free fall of a body that stays up for so many frames."""
    t = np.arange(frames + 2) / FPS
    return float(0.7 * 9.81 * (t * (t[-1] - t)).max() / 2.0)


def test_hovering_is_noted_in_its_middle_in_metres_off_free_fall() -> None:
    def hovering(first: int, stop: int, own: float, *span: int) -> list[list[float]]:
        series = still()
        series.mass[:, 1] = 1.0
        series.soles[first:stop, :, 1] = series.lowest[first:stop] = HOVER_M + 0.01
        limits = floor_limits(body=np.eye(4)[HOVER] * own)
        return judged(series, limits, span=(span[0], span[1]) if span else (0, N - 1))

    assert level(13) < 0.05 < level(14)
    assert hovering(20, 33, 0.0) == []
    assert hovering(20, 34, 0.0) == [[HOVERING, -1, 27, pytest.approx(level(14)), 0.05]]
    ((*_, value, limit),) = hovering(10, 50, 0.1)
    assert (value, limit) == pytest.approx((level(40), 0.125))
    assert hovering(20, 40, 0.1) == []
    assert hovering(20, 40, 0.0, 0, 28)[0][2:4] == [28, pytest.approx(level(20))]  # all of it
    assert hovering(20, 40, 0.0, 25, 45)[0][2:4] == [30, pytest.approx(level(20))]
    assert hovering(20, 40, 0.0, 0, 19) == hovering(20, 40, 0.0, 40, 49) == []


def test_feet_that_glide_are_no_feet_that_stand() -> None:
    series = still()
    series.mass[:, 1] = 1.0
    series.soles[..., 0] = 2.0 * (np.arange(N) / FPS)[:, None]
    assert [row[0] for row in judged(series)][:1] == [GLIDE]
