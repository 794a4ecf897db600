"""Joints and bodies of made-up series, against limits known by hand."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.features.checks.source_limits import (
    BEND_FREE,
    BRAKE,
    SINK,
    TRAVEL,
    TURN_FREE,
    CheckedMotion,
    Limits,
    Series,
    check_rig,
    judge,
    new_series,
    no_limits,
)
from motionloom.features.checks.verification import (
    BEND,
    BRAKING,
    CHECKS,
    FAST,
    FLIP,
    JUMP,
    MOST_FOUND,
    PELVIS,
    PLAN,
    SOLE,
    SPEED,
    TURN,
)
from tests.oracles import judge as plain

FPS = 60.0
N = 60
RIG = check_rig(ml.synthetic.clip("stand", duration_s=0.5).motion)
RIG = RIG._replace(carriers=np.array([0]))  # as if a bone carried the pelvis
JOINT = 3
KNEES = {"least_flexion": np.zeros(2), "most_flexion": np.full(2, 2.0)}
HEIGHTS = {name: np.zeros(4) for name in ("sole", "floor", "highest")}


def limits_of(**changes: np.ndarray) -> Limits:
    quick = np.full(len(RIG.checked), 0.7)
    return no_limits(RIG)._replace(quick=quick, **{**KNEES, **HEIGHTS, **changes})


def judged(
    series: Series,
    limits: Limits | None = None,
    *,
    fps: float = FPS,
    span: tuple[int, int] = (0, N - 1),
    skipped: tuple[int, ...] = (),
    plan: np.ndarray | None = None,
    allowed: np.ndarray | None = None,
) -> list[list[float]]:
    found, mask = np.zeros((MOST_FOUND, 5)), np.zeros(N, dtype=bool)
    mask[list(skipped)] = True
    plan = np.zeros(0) if plan is None else plan
    n = judge(
        CheckedMotion(series, np.zeros((N, 4), dtype=bool), fps, *span, mask, plan, False),
        limits_of() if limits is None else limits,
        np.zeros((0, len(RIG.checked), 3)) if allowed is None else allowed,
        np.zeros((0, 6, 5)),
        found,
    )
    return found[:n].tolist()


def each(value: float) -> np.ndarray:
    return np.full(len(RIG.checked), value)


@pytest.mark.parametrize(
    ("name", "joint", "check", "own", "limit"),
    [
        ("turn", JOINT, TURN, 0.0, np.radians(300.0)),
        ("turn", JOINT, TURN, 10.0, 13.0),
        ("turn", 0, PELVIS, 0.0, np.radians(150.0)),
        ("turn", 0, PELVIS, 10.0, 15.0),
        ("speed", JOINT, SPEED, 0.0, 0.7),
        ("speed", JOINT, SPEED, 2.0, 2.6),
        ("bend", JOINT, BEND, 0.0, 80.0),
        ("bend", 0, BEND, 100.0, 150.0),
    ],
)
def test_joints_may_exceed_their_sources_by_a_part_and_always_reach_a_limit(
    name: str, joint: int, check: int, own: float, limit: float
) -> None:
    series, limits = new_series(RIG, N), limits_of(**{name: each(own)})
    values = getattr(series, name)
    values[20:30, joint] = 0.999 * limit  # for so long that it is no flip
    assert judged(series, limits) == []
    values[25, joint] = 1.001 * limit
    row = [check, joint, 25, pytest.approx(1.001 * limit), pytest.approx(limit)]
    assert judged(series, limits) == [row]
    assert judged(series, limits, skipped=(24,)) == judged(series, limits, skipped=(25,)) == []
    assert judged(series, limits, span=(26, N - 1)) == judged(series, limits, span=(0, 24)) == []
    assert judged(series, limits, span=(24, 25)) == [row]
    # A step into the first frame is not its own; a change of velocity there is.
    assert judged(series, limits, span=(25, N - 1)) == ([row] if check == BEND else [])
    assert judged(series, limits, skipped=(26,)) == ([] if check == BEND else [row])
    allowed = np.zeros((N, len(RIG.checked), 3))
    assert judged(series, limits, allowed=allowed, skipped=(24, 25, 26)) == [row]
    allowed[25, joint, ("turn", "speed", "bend").index(name)] = 1.002 * limit
    assert judged(series, limits, allowed=allowed) == []


def test_the_pelvis_may_move_as_fast_as_it_likes_and_the_others_are_compared_with_it() -> None:
    series = new_series(RIG, N)
    series.speed[25, 0] = 99.0
    assert judged(series) == []


def flipped(calm: float, step: float, fps: float = FPS, **near: float) -> list[list[float]]:
    """One fast step of a joint that turns at ``calm``, radians a second."""
    series = new_series(RIG, N)
    series.turn[:, JOINT] = calm
    for frame, value in near.items():
        series.turn[30 + int(frame[1:]) * (-1 if frame[0] == "b" else 1), JOINT] = value
    series.turn[30, JOINT] = step
    return judged(series, fps=fps)


def test_a_step_three_times_the_median_around_it_that_stands_alone_is_a_flip() -> None:
    assert flipped(1.5, 4.6) == [[FLIP, JOINT, 30, 4.6, 4.5]]
    assert flipped(1.5, 4.4) == []
    low = 4.0 * np.pi / 3.0  # four degrees a step at 60 steps a second, 240 a second
    assert flipped(0.1, low - 0.01) == []
    assert flipped(0.1, low + 0.01) == [
        [FLIP, JOINT, 30, pytest.approx(low + 0.01), pytest.approx(low)]
    ]
    # Two frames away the joint turns at most half as fast.
    for frame in ("b2", "a2"):
        assert flipped(0.1, 4.6, **{frame: 2.2}) != []
        assert flipped(0.1, 4.6, **{frame: 2.4}) == []
    for frame in ("b1", "a1", "b3", "a3"):
        assert flipped(0.1, 4.6, **{frame: 4.5}) != []


@pytest.mark.parametrize(("fps", "half"), [(60.0, 6), (30.0, 3), (10.0, 2)])
def test_the_median_is_taken_over_a_tenth_of_a_second_to_both_sides(fps: float, half: int) -> None:
    stride = max(1, round(fps / 60.0))
    step = np.radians(4.0) * fps + 4.0
    fast = step / 2.5  # three times as much is more than the step

    def is_flip(calm: int) -> bool:
        """With so many calm frames within the time, from the outermost inwards."""
        series = new_series(RIG, N)
        series.turn[:, JOINT] = fast
        order = [away for away in range(half, 0, -1) if away != 2 * stride]
        places = [30 + sign * away for away in order for sign in (-1, 1)]
        series.turn[places[:calm], JOINT] = 0.0
        series.turn[30, JOINT] = step
        return FLIP in [row[0] for row in judged(series, fps=fps)]

    # Half of the frames around are calm: the median is half of the rest.
    assert not is_flip(half - 1)
    assert is_flip(half)


def jumped(steps: dict[int, float], own: float = 0.0, fps: float = FPS) -> list[list[float]]:
    """What is found of a bone that moves at 0.1 m/s but in some steps; quick is 0.7 m/s."""
    series = new_series(RIG, N)
    series.speed[:, JOINT] = 0.1
    for frame, value in steps.items():
        series.speed[frame, JOINT] = value
    return judged(series, limits_of(speed=each(own)), fps=fps)


def test_a_bone_jumps_if_it_is_faster_than_in_the_sources_for_a_moment_only() -> None:
    assert jumped({30: 1.04}, own=1.0) == []
    assert jumped({30: 1.06}, own=1.0) == [[JUMP, JOINT, 30, 1.06, 1.05]]
    # More than half as fast for 0.07 s, four steps at 60 a second, and for longer.
    around = dict.fromkeys((28, 29, 31), 0.6)
    assert [row[:3] for row in jumped({**around, 30: 1.06}, own=1.0)] == [[JUMP, JOINT, 30]]
    assert jumped({**around, 30: 1.06, 32: 0.6}, own=1.0) == []
    assert jumped({**around, 30: 1.06, 32: 0.5}, own=1.0) != []
    # Three times as fast as the median of a tenth of a second to both sides.
    fast = dict.fromkeys(range(24, 37), 0.36)
    assert jumped({**fast, 30: 1.06}, own=1.0) == []
    assert jumped({**fast, 30: 1.09}, own=1.0) != []


def test_a_step_far_beyond_its_neighbours_is_a_jump_whatever_the_sources_do() -> None:
    far = 1.875 * 0.7
    assert jumped({30: far - 0.01}, own=9.0) == []
    row = [JUMP, JOINT, 30, pytest.approx(far + 0.01), pytest.approx(far)]
    assert jumped({30: far + 0.01}, own=9.0) == [row]
    for near in (29, 31):
        assert jumped({30: 1.5, near: 0.49}, own=9.0) != []
        assert jumped({30: 1.5, near: 0.51}, own=9.0) == []


def test_at_higher_rates_jumps_are_compared_by_the_step() -> None:
    for fps, often in ((30.0, 1.0), (60.0, 1.0), (120.0, 2.0)):
        far = 1.875 * 0.7 * often
        assert jumped({30: far - 0.01}, own=9.0, fps=fps) == []
        assert jumped({30: far + 0.01}, own=9.0, fps=fps) != []


def test_a_jump_that_is_in_the_copied_frame_is_its_own() -> None:
    series = new_series(RIG, N)
    series.speed[30, JOINT] = 5.0
    allowed = np.zeros((N, len(RIG.checked), 3))
    assert JUMP in [row[0] for row in judged(series, allowed=allowed)]
    allowed[30, JOINT, 1] = 1.15 * 5.0 / 1.101  # 15 % over a source that is a tenth slower
    assert JUMP in [row[0] for row in judged(series, allowed=allowed)]
    allowed[30, JOINT, 1] = 1.15 * 5.0 / 1.099
    assert judged(series, allowed=allowed) == []


def twitched(kink: float, *, around: float = 0.0, turns_back: float = 1.0) -> list[list[float]]:
    """What is found of a bone so far out of place in frame 30, metres, after it went on by a part.

    It goes ``turns_back`` times as far as it comes: 1 is back to where it was.
    """
    series = new_series(RIG, N)
    series.kink[:, JOINT] = around
    series.kink[30, JOINT] = kink
    # Steps whose difference is twice the kink, along a line.
    series.speed[30, JOINT] = 2.0 * kink * FPS / (1.0 + turns_back)
    series.speed[31, JOINT] = turns_back * series.speed[30, JOINT]
    return judged(series, limits_of(speed=each(9.0)))


def test_a_bone_that_is_out_of_place_in_one_frame_jumps_whatever_the_sources_do() -> None:
    far = 0.7 * 8.0 / 320.0
    assert twitched(far - 1e-4) == []
    row = [JUMP, JOINT, 30, pytest.approx(120.0 * (far + 1e-4)), pytest.approx(120.0 * far)]
    assert twitched(far + 1e-4) == [row]
    # Six times what is usual around.
    assert twitched(0.03, around=0.0049) != []
    assert twitched(0.03, around=0.0051) == []
    # It comes back to within 0.7 of the shorter step.
    assert twitched(0.03, turns_back=1.69) != []
    assert twitched(0.03, turns_back=1.71) == []
    assert twitched(0.03, turns_back=0.58) == []


def test_a_twitch_that_is_in_the_copied_frames_is_their_own() -> None:
    series = new_series(RIG, N)
    series.kink[30, JOINT] = 0.02
    series.speed[30:32, JOINT] = 0.02 * FPS
    allowed = np.zeros((N, len(RIG.checked), 3))
    limits = limits_of(speed=each(9.0))
    allowed[30, JOINT, 1] = 5.0
    assert [row[0] for row in judged(series, limits, allowed=allowed)] == [JUMP]
    allowed[31, JOINT, 1] = 5.0
    assert judged(series, limits, allowed=allowed) == []


def test_a_flip_counts_only_above_what_the_sources_turn() -> None:
    series = new_series(RIG, N)
    series.turn[30, JOINT] = 5.0
    assert [row[0] for row in judged(series, limits_of(turn=each(4.1)))] == [FLIP]  # 1.2 * 4.1
    assert judged(series, limits_of(turn=each(4.2))) == []


@pytest.mark.parametrize(("own", "limit"), [(0.0, 0.5), (1.0, 1.3)])
def test_a_body_may_travel_faster_than_its_sources_by_a_part(own: float, limit: float) -> None:
    limits = limits_of(body=np.eye(4)[TRAVEL] * own + np.eye(4)[BRAKE] * 99.0)
    series = new_series(RIG, N)
    series.pelvis[25:, 0] = 0.6 * 1.01 * limit / FPS
    series.pelvis[25:, 2] = -0.8 * 1.01 * limit / FPS
    assert judged(series, limits) == [[FAST, -1, 25, pytest.approx(1.01 * limit), limit]]
    assert judged(series, limits, skipped=(24,)) == judged(series, limits, skipped=(25,)) == []
    series.pelvis[:] *= 0.98
    assert judged(series, limits) == []


def test_a_body_that_brakes_harder_than_nine_metres_per_second_squared_is_found() -> None:
    limits = limits_of(body=np.eye(4)[TRAVEL] * 99.0)
    time = np.arange(N) / FPS
    for rate, fails in ((8.9, False), (9.1, True)):
        series = new_series(RIG, N)
        series.pelvis[:, 2] = 10.0 * time - 0.5 * rate * time**2
        found = judged(series, limits)
        assert [row[:2] for row in found] == ([[BRAKING, -1]] if fails else [])
        if fails:
            assert found[0][3:] == pytest.approx([9.1, 9.0])


def test_headings_off_the_plan_by_thirty_degrees_are_found_whatever_the_turns() -> None:
    series = new_series(RIG, N)
    series.heading[:] = 4.0 * np.pi
    plan = np.zeros(N)
    plan[20] = np.radians(29.0)
    assert judged(series, plan=plan) == []
    for off in (31.0, -31.0, 329.0):
        plan[20] = np.radians(off)
        row = [PLAN, -1, 20, pytest.approx(np.radians(31.0)), pytest.approx(np.radians(30.0))]
        assert judged(series, plan=plan) == [row]
        assert judged(series, plan=plan, skipped=(20,)) == []


def random_series(rng: np.random.Generator, n: int) -> Series:
    """Values about the limits of every check, most of them calm."""
    series = new_series(RIG, n)
    sizes = {"turn": 1.5, "speed": 0.25, "bend": 25.0, "carried": 1.0, "heading": 0.3}
    for name, size in sizes.items():
        values = getattr(series, name)
        values[:] = size * np.abs(rng.standard_t(3, size=values.shape))
    series.turn[:] = series.turn.round(1)  # ties
    series.flexion[:] = 0.8 + 0.9 * rng.normal(size=(n, 2))
    series.soles[:] = 0.015 * rng.normal(size=(n, 4, 3)).cumsum(axis=0)
    series.soles[..., 1] = 0.015 * rng.normal(size=(n, 4)).cumsum(axis=0)
    series.soles[n // 2 : n // 2 + 25, :, 1] += 0.5
    series.lowest[:] = series.soles[..., 1].min(axis=1, initial=1.0)
    series.pelvis[:] = 0.05 * rng.normal(size=(n, 3)).cumsum(axis=0)
    series.kink[:] = 0.007 * np.abs(rng.spawn(1)[0].standard_t(3, size=series.kink.shape))
    return series


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize(("fps", "n"), [(60.0, 1), (60.0, 2), (30.0, 40), (60.0, 90), (120.0, 200)])
def test_failures_are_those_of_the_plain_form(fps: float, n: int, copied: bool) -> None:
    kinds = set()
    for seed in range(12):
        rng = np.random.Generator(np.random.PCG64([seed, n]))
        series, joints = random_series(rng, n), len(RIG.checked)
        limits = limits_of(
            turn=rng.random(joints) * 5.0,
            speed=rng.random(joints),
            bend=60.0 * rng.random(joints),
            carried=rng.random(len(RIG.carriers)),
            slide=0.1 * rng.random(28),
            drag=0.1 * rng.random(12),
            body=rng.random(4) * [1.0, 0.8, 20.0, 0.1],
            least_flexion=-0.3 * rng.random(2),
            most_flexion=2.0 + rng.random(2),
            sole=0.1 * rng.normal(size=4),
        )
        allowed = 4.0 * rng.random((n, joints, 3)) * [1.0, 0.2, 30.0]
        grounds = 0.1 * rng.normal(size=(n, 6, 5))
        span = sorted(rng.integers(0, n, 2).tolist()) if seed % 2 else [0, n - 1]
        given = (
            series,
            limits,
            rng.random((n, 4)) < 0.8,
            fps,
            *span,
            rng.random(n) < 0.05,
            series.heading + 0.4 * rng.normal(size=n) if seed % 3 else np.zeros(0),
            seed % 4 > 0,
            allowed if copied else allowed[:0],
            grounds if copied else grounds[:0],
        )
        floors = 0.03 * rng.normal(size=(n, 2, 4)) if seed % 5 == 0 else None
        found = np.zeros((400, 5))
        count = judge(CheckedMotion(given[0], *given[2:9]), given[1], *given[9:], found, floors)
        rows, expected = plain.rows(found[:count]), plain.judge(*given, floors)
        assert rows.keys() == expected.keys()
        assert len(rows) == count
        for key, row in rows.items():
            assert row[0] == expected[key][0], key
            assert row[1:] == pytest.approx(expected[key][1:], rel=1e-9, abs=1e-9), key
        kinds |= {check for check, _ in rows}
    missing = set(CHECKS[:16]) - kinds  # those that the kernel finds
    assert n < 40 or not missing


def test_no_more_failures_are_kept_than_there_are_rows() -> None:
    series = new_series(RIG, N)
    series.bend[20] = 200.0
    found = np.full((4, 5), 7.0)
    planted, mask = np.zeros((N, 4), dtype=bool), np.zeros(N, dtype=bool)
    given = CheckedMotion(series, planted, FPS, 0, N - 1, mask, held=False)
    allowed, grounds = np.zeros((0, len(RIG.checked), 3)), np.zeros((0, 6, 5))
    assert judge(given, limits_of(), allowed, grounds, found[:3]) == 3
    assert found[:3, 1].tolist() == [0, 1, 2]
    assert found[3].tolist() == [7.0] * 5


def test_limits_of_the_kernel_are_those_that_python_knows() -> None:
    series = new_series(RIG, N)
    series.turn[20:30, JOINT] = 9.0
    series.bend[25, JOINT] = 99.0
    limits = {row[0]: row[4] for row in judged(series)}
    assert limits == {TURN: TURN_FREE, BEND: BEND_FREE}
    series = new_series(RIG, N)
    series.soles[7, 2, 1] = -1.0
    found = np.zeros((1, 5))
    mask, allowed = np.zeros(N, dtype=bool), np.zeros((0, len(RIG.checked), 3))
    planted, grounds = np.zeros((N, 4), dtype=bool), np.zeros((0, 6, 5))
    given = CheckedMotion(series, planted, FPS, 0, N - 1, mask)
    judge(given, limits_of(), allowed, grounds, found)
    assert found[0].tolist() == [SOLE, 2, 7, -1.0, -SINK]


@pytest.mark.parametrize("span", [(-1, N - 1), (0, N)])
def test_frames_that_a_motion_does_not_have_are_refused(span: tuple[int, int]) -> None:
    with pytest.raises(ArrayError, match="ml_check_judge"):
        judged(new_series(RIG, N), span=span)


def test_a_body_that_travels_exactly_as_fast_as_it_may_is_not_too_fast() -> None:
    limits = limits_of(body=np.eye(4)[BRAKE] * 99.0)
    series = new_series(RIG, N)
    series.pelvis[25:, 2] = 0.5 / 64.0
    assert judged(series, limits, fps=64.0) == []
    series.pelvis[25:, 2] = 0.5 / 64.0 + 2.0**-20
    assert [row[0] for row in judged(series, limits, fps=64.0)] == [FAST]
