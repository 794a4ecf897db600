"""Feet of the result: no sole below the source's, no speed lost at the end of a stance."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import FootOffsets, foot_points
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Footplants, Motion, Skeleton, runs_of
from motionloom.retargeting.placement import ankle_path
from motionloom.retargeting.retarget import retarget
from motionloom.rotation import quat

LOWER_M = 0.006
"""Soles of the result may be this much lower than the source's: feet in the air are lifted to
within 5 mm."""
CLEAR_M = 0.025
"""Feet that are farther than this over the floor may be lower than the source's."""
MORE_SUDDEN = 1.2
"""Ankles over feet 1.7 times as long may accelerate this many times as much."""


@pytest.fixture(scope="module")
def walk() -> synthetic.SyntheticClip:
    return synthetic.clip("walk", speed=1.3)


@pytest.fixture(scope="module")
def long_feet(walk: synthetic.SyntheticClip) -> Skeleton:
    """Feet 1.7 times as long, as those of game characters are."""
    skeleton = walk.motion.skeleton
    offsets = np.array(skeleton.offsets)
    for name in ("LeftToeBase", "RightToeBase"):
        offsets[skeleton.index(name), 2] *= 1.7
    return dataclasses.replace(skeleton, offsets=offsets)


def ankle_accelerations(motion: Motion) -> np.ndarray:
    """(F - 2, 2), m/s2."""
    body = BodyMap.guess(motion.skeleton)
    ankles = motion.world_positions()[:, [body.left_ankle, body.right_ankle]]
    return np.linalg.norm(np.diff(ankles, n=2, axis=0), axis=-1) * motion.fps**2


def test_an_ankle_keeps_its_speed_at_the_end_of_a_stance(long_feet: Skeleton) -> None:
    jog = synthetic.clip("jog")
    made = retarget(jog.motion, long_feet, footplants=jog.footplants)
    most = ankle_accelerations(jog.motion).max()
    assert ankle_accelerations(made).max() < MORE_SUDDEN * most


def test_soles_that_are_low_are_no_lower_than_the_sources(
    walk: synthetic.SyntheticClip, long_feet: Skeleton
) -> None:
    made = retarget(walk.motion, long_feet, footplants=walk.footplants)
    for foot in (slice(0, 2), slice(2, 4)):
        theirs, ours = (
            foot_points(motion)[:, foot, 1].min(axis=1) for motion in (walk.motion, made)
        )
        assert (np.minimum(theirs, theirs.min() + CLEAR_M) - ours).max() < LOWER_M


def test_a_heel_that_is_labelled_as_planted_in_the_air_does_not_jump(
    walk: synthetic.SyntheticClip, long_feet: Skeleton
) -> None:
    planted = np.array(walk.footplants.planted)
    for _, last in runs_of(planted[:, 1]):
        planted[last - 3 : last + 1, 0] = True  # while the foot rolls over its ball
    made = retarget(walk.motion, long_feet, footplants=Footplants(planted))
    most = ankle_accelerations(walk.motion).max()
    assert ankle_accelerations(made).max() < MORE_SUDDEN * most


def rolling(n: int, length: float) -> tuple[dict[str, np.ndarray], np.ndarray, FootOffsets]:
    """A foot that rolls over its ball, and one that is ``length`` times as long."""
    ball, heel = np.array([0.0, -0.03, 0.12]), np.array([0.0, -0.03, -0.06])
    up, ahead = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    q = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.linspace(0.0, 0.5, n))
    ankle = np.array([0.0, 0.05, 0.12]) - quat.rotate(q, ball)
    path = {
        "ankle": ankle,
        "heel": ankle + quat.rotate(q, heel),
        "ball": ankle + quat.rotate(q, ball),
    }
    foot = FootOffsets(0, None, length * heel, length * ball, np.zeros(3), up, ahead)
    return path, q, foot


def test_a_foot_of_the_same_length_goes_where_the_source_goes() -> None:
    path, q, foot = rolling(21, 1.0)
    for planted in (np.ones((21, 2), dtype=bool), np.zeros((21, 2), dtype=bool)):
        made = ankle_path(
            tuple(path[each] for each in ("ankle", "heel", "ball")),
            planted=planted,
            foot=foot,
            q_ankle=q,
            sideways=np.zeros((21, 3)),
            floor=0.05,
            fps=30.0,
        )
        assert made == pytest.approx(path["ankle"], abs=1e-12)
    aside = np.tile([0.02, 0.0, 0.0], (21, 1))
    made = ankle_path(
        tuple(path[each] for each in ("ankle", "heel", "ball")),
        planted=planted,
        foot=foot,
        q_ankle=q,
        sideways=aside,
        floor=0.05,
        fps=30.0,
    )
    assert made == pytest.approx(path["ankle"] + aside, abs=1e-12)


@pytest.mark.parametrize("stance", [(0, 20), (5, 15), (0, 8), (12, 20)])
def test_the_ball_of_a_longer_foot_stays_where_it_stands_and_both_ends_share_the_error(
    stance: tuple[int, int],
) -> None:
    path, q, foot = rolling(21, 1.5)
    planted = np.zeros((21, 2), dtype=bool)
    first, last = stance
    planted[first : last + 1, 1] = True
    made = ankle_path(
        tuple(path[each] for each in ("ankle", "heel", "ball")),
        planted=planted,
        foot=foot,
        q_ankle=q,
        sideways=np.zeros((21, 3)),
        floor=0.05,
        fps=30.0,
    )
    ball = made + quat.rotate(q, foot.ball)
    inside = ball[first : last + 1, [0, 2]]
    assert inside == pytest.approx(np.tile(inside[0], (len(inside), 1)), abs=1e-12)
    tilted = planted[:, 1] & (np.linspace(0.0, 0.5, 21) > 0.31)  # clearly: the ball is the lower
    assert ball[tilted, 1] == pytest.approx(np.full(int(tilted.sum()), 0.05), abs=1e-12)
    error = (made - path["ankle"])[[first, last]][:, [0, 2]]
    assert np.abs(error).max() > 1e-3
    assert error[0] == pytest.approx(-error[1], abs=1e-12)


def test_a_foot_rolls_from_its_heel_over_to_its_ball() -> None:
    path, q, foot = rolling(21, 1.5)
    path["heel"] = path["heel"] * [1.0, 1.0, 0.0]  # as if it stood, while the heel is planted
    planted = np.zeros((21, 2), dtype=bool)
    planted[2:11, 0] = planted[10:19, 1] = True
    made = ankle_path(
        tuple(path[each] for each in ("ankle", "heel", "ball")),
        planted=planted,
        foot=foot,
        q_ankle=q,
        sideways=np.zeros((21, 3)),
        floor=0.05,
        fps=30.0,
    )
    for point, stands in ((foot.heel, slice(2, 11)), (foot.ball, slice(10, 19))):
        at = (made + quat.rotate(q, point))[stands][:, [0, 2]]
        assert at == pytest.approx(np.tile(at[0], (len(at), 1)), abs=1e-12)


@pytest.mark.parametrize(
    ("higher_m", "spare_m"),
    [(0.0, 0.0), (0.0405, 0.0), (0.0805, 0.02), (10.0, 5.0), (-0.02, 0.0)],
)
def test_a_longer_foot_in_the_air_is_lifted_as_far_as_the_floor_is_near(
    higher_m: float, spare_m: float
) -> None:
    """The source's ball is so much over the floor; 0.15 of a foot of 27 cm are kept whole."""
    path, q, foot = rolling(21, 1.5)
    made = ankle_path(
        tuple(path[each] for each in ("ankle", "heel", "ball")),
        planted=np.zeros((21, 2), dtype=bool),
        foot=foot,
        q_ankle=q,
        sideways=np.zeros((21, 3)),
        floor=0.05 - higher_m,
        fps=30.0,
    )
    lift = made - path["ankle"]
    assert np.abs(lift[:, [0, 2]]).max() == 0.0
    tilted = np.linspace(0.0, 0.5, 21) > 0.31  # clearly: the ball is the lower
    lower = -quat.rotate(q, foot.ball)[:, 1] * 0.5 / 1.5  # by which a longer foot would be
    wanted = np.maximum(lower - spare_m, 0.0)[tilted]
    assert (lift[tilted, 1] <= wanted + 1e-12).all()
    assert (lift[tilted, 1] >= wanted - 0.005 - 1e-12).all()
    assert (lift[tilted, 1][wanted > 0.01] > 0.005).all()
    assert (lift[:, 1] >= 0.0).all()


def interrupted(length: float, gap: int) -> np.ndarray:
    """Ankle of a foot whose ball stands, rolling, but for a gap of some frames; 120 Hz."""
    n = 61
    path, q, foot = rolling(n, length)
    planted = np.zeros((n, 2), dtype=bool)
    planted[5:30, 1] = planted[30 + gap : 55, 1] = True
    return ankle_path(
        tuple(path[each] for each in ("ankle", "heel", "ball")),
        planted=planted,
        foot=foot,
        q_ankle=q,
        sideways=np.zeros((n, 3)),
        floor=0.05,
        fps=120.0,
    )


@pytest.mark.parametrize(("gap", "steps"), [(0, False), (2, False), (8, True)])
def test_a_foot_that_is_in_the_air_for_a_moment_keeps_its_place(gap: int, steps: bool) -> None:
    """Contacts that are labelled with a frame or two between them are one stance of the foot."""
    _, q, foot = rolling(61, 1.5)
    ball = (interrupted(1.5, gap) + quat.rotate(q, foot.ball))[:, [0, 2]]
    apart = np.linalg.norm(ball[30 + gap] - ball[29])
    assert (apart > 0.005) == steps  # each stance shares its error between both its ends


@pytest.mark.parametrize("length", [0.7, 1.5])
@pytest.mark.parametrize("gap", [1, 2, 4])
def test_a_foot_that_is_in_the_air_for_a_moment_keeps_its_height(length: float, gap: int) -> None:
    heights = interrupted(length, gap)[6:54, 1]
    assert np.abs(np.diff(heights, n=2)).max() * 120.0**2 < 5.0  # m/s2
