import dataclasses

import numpy as np
import pytest

from motionloom._core import CoreError, kernel
from motionloom.body.anatomy import find_knees, foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.legs import (
    Hold,
    damped_angle,
    damped_span,
    hold_feet,
    leg_record,
    reach_of,
    read_feet,
    soft_span,
    solve_leg,
)
from motionloom.synthetic import clip
from tests.oracles import aims
from tests.oracles import legs as plain
from tests.oracles.legs import DAMPED_FROM
from tests.oracles.quat import rotate

CLOSE = 1e-9


@pytest.fixture(scope="module")
def feet():
    motion = clip("walk").motion
    body = BodyMap.guess(motion.skeleton)
    pose = motion.world_pose()
    return read_feet(
        find_knees(motion.skeleton, body, motion=motion),
        body,
        pose,
        foot_points(motion, body=body, pose=pose),
    )


def test_damping_is_the_integral_of_a_falling_weight():
    width = np.pi - DAMPED_FROM
    for now, wanted in ((1.0, 2.5), (2.0, 3.0), (2.9, np.pi), (3.1, 2.0)):
        angles = np.linspace(now, wanted, 20_001)
        t = np.clip((angles - DAMPED_FROM) / width, 0.0, 1.0)
        change = np.trapezoid((2 * t - 3) * t * t + 1, angles)
        got = damped_angle(np.array([now]), np.array([wanted]))[0]
        assert got == pytest.approx(now + change, abs=1e-8)


def test_a_span_eases_into_its_reach_and_never_passes_it():
    wanted = np.linspace(0.6, 1.2, 500)
    spans = soft_span(np.full(500, 0.7), wanted, np.full(500, 0.85), np.full(500, 0.02))
    assert spans.max() <= 0.85 + CLOSE
    assert (np.diff(spans) >= -CLOSE).all()
    assert spans[wanted < 0.83] == pytest.approx(wanted[wanted < 0.83])
    assert np.abs(np.diff(spans, 2)).max() < 1e-4


def test_a_leg_asked_for_the_span_it_has_keeps_it():
    spans = np.linspace(0.6, 1.0, 50)
    kept = soft_span(spans, spans, np.full(50, 0.85), np.full(50, 0.02))
    assert kept == pytest.approx(spans, abs=CLOSE)


def test_reach_is_short_of_straight_and_never_less_than_what_the_leg_has(feet):
    for foot in feet:
        reach = reach_of(foot)
        assert (reach >= foot.bones[2] - CLOSE).all()
        assert (reach < foot.bones[0] + foot.bones[1]).all()


def record(foot):
    return leg_record(foot, reach_of(foot))


def test_a_held_foot_is_met_and_a_free_one_stays_within_reach(feet):
    n = len(feet[0].hip)
    foot = hold_feet(feet, (Hold(0, (20, 30), (20, 30)),), np.zeros((1, 3)))[0]
    way = foot.ankle - foot.hip
    far = foot.hip + way * (1.3 * reach_of(foot) / foot.bones[2])[:, None]
    target = np.where(foot.standing[:, None], foot.hip + 0.97 * way, far)
    options = {"length": 5, "free_change": 0.02, "stretch": False}
    leg = solve_leg(foot, record(foot), np.zeros((n, 3)), target, **options)
    assert np.abs(leg.limb.end - target)[foot.standing].max() < CLOSE
    spans = np.linalg.norm(leg.limb.end - foot.hip, axis=-1)
    assert (spans <= reach_of(foot) + 1e-6).all()
    assert leg.scale is None


def test_a_leg_that_may_stretch_meets_every_target(feet):
    foot = hold_feet(feet, (), np.zeros((0, 3)))[0]
    target = foot.hip + 1.25 * (foot.ankle - foot.hip)
    options = {"length": 5, "free_change": 0.02, "stretch": True}
    leg = solve_leg(foot, record(foot), np.zeros_like(target), target, **options)
    reached = foot.hip + leg.scale[:, None] * (leg.limb.end - foot.hip)
    assert np.abs(reached - target).max() < 1e-6
    assert leg.scale.max() > 1.0


@pytest.mark.parametrize("n", [0, 1, 500])
def test_angles_and_spans_are_those_of_the_plain_form(n):
    rng = np.random.Generator(np.random.PCG64(n))
    now, wanted = rng.uniform(0.0, 3.3, size=(2, n))
    wanted[::5] = now[::5]
    assert damped_angle(now, wanted) == pytest.approx(plain.damped_angle(now, wanted), abs=1e-12)
    upper, lower, before, wanted = rng.uniform(0.0, 1.0, size=(4, n))
    upper[::9] = 0.0  # a bone without length
    before[::5] = upper[::5] + lower[::5]  # straight
    wanted[::7] = before[::7]
    spans = plain.damped_span(upper, lower, before, wanted)
    assert damped_span(upper, lower, before, wanted) == pytest.approx(spans, abs=1e-12)
    reach, part = rng.uniform(0.0, 1.0, size=n), rng.uniform(1e-3, 0.1, size=n)
    reach[::6] = before[::6]
    spans = plain.soft_span(before, wanted, reach, part)
    assert soft_span(before, wanted, reach, part) == pytest.approx(spans, abs=1e-12)


@pytest.mark.parametrize("length", [1.0, 7.2])
def test_ankles_are_aimed_as_in_the_plain_form(feet, length):
    rng, n = np.random.Generator(np.random.PCG64(8)), len(feet[0].hip)
    for foot in hold_feet(feet, (Hold(0, (20, 30), (20, 30)),), np.zeros((1, 3))):
        shift = rng.normal(0.0, 0.02, (n, 3))
        target = foot.ankle + shift + rng.normal(0.0, 0.02, (n, 3))
        made = [np.zeros((n, 3)) for _ in range(4)]
        kernel("ml_leg_aim")(
            n, record(foot), foot.held, shift, target, length, 0.005, np.zeros(n, dtype=np.uint8),
            np.zeros((4, n)), *made,
        )  # fmt: skip
        end = aims.aim_leg(foot, shift, target, reach_of(foot), length=length, free_change=0.005)
        joints = [joint + shift for joint in (foot.hip, foot.knee, foot.ankle)]
        for found, expected in zip(made, [*joints, end], strict=True):
            assert np.abs(found - expected).max() < CLOSE


def opening(feet, rate, hold):
    """A leg whose knee opens by ``rate`` a frame, and would be far past its reach; held at first.

    Its foot, and where its ankle is to be.
    """
    foot = hold_feet(feet, (Hold(0, hold, hold),), np.zeros((1, 3)))[0]
    upper, lower, _ = foot.bones
    angles = 2.85 + rate * (np.arange(len(upper)) - hold[1])
    angles = np.where(np.arange(len(upper)) < hold[0], angles[hold[0]], angles)
    spans = np.sqrt(upper**2 + lower**2 - 2.0 * upper * lower * np.cos(np.minimum(angles, np.pi)))
    spans += np.maximum(angles - np.pi, 0.0)
    down = np.array([0.0, -1.0, 0.0])
    return foot, foot.hip + spans[:, None] * down


def knee_angles(foot, ends):
    upper, lower, _ = foot.bones
    spans = np.linalg.norm(ends - foot.hip, axis=-1)
    cosines = (upper**2 + lower**2 - spans**2) / (2.0 * upper * lower)
    return np.arccos(np.clip(cosines, -1.0, 1.0))


def aimed(foot, target, **options):
    """Where the core takes the ankle of a leg whose root stays."""
    n, made = len(target), [np.zeros_like(target) for _ in range(4)]
    kernel("ml_leg_aim")(
        n, record(foot), foot.held, np.zeros_like(target), target, *options.values(),
        np.zeros(n, dtype=np.uint8), np.zeros((4, n)), *made,
    )  # fmt: skip
    return made[-1]


@pytest.mark.parametrize("rate", [0.1, 0.14])
def test_a_knee_that_opens_as_its_hold_ends_is_braked_and_not_stopped(feet, rate):
    foot, target = opening(feet, rate, (20, 30))
    ends = [aimed(foot, target, length=7.2, free_change=change) for change in (1e9, 0.0055)]
    assert np.array_equal(ends[0][:31], ends[1][:31])  # held, or before
    assert np.array_equal(ends[0][38:], ends[1][38:])
    stopped, braked = (knee_angles(foot, end) for end in ends)
    worst = [np.abs(np.diff(angles, n=2))[28:40].max() for angles in (stopped, braked)]
    assert worst[1] < 0.7 * worst[0]
    assert (braked <= stopped + CLOSE).all()


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("hold", [(20, 30), (20, 21), (30, 30)])
@pytest.mark.parametrize("length", [1.0, 3.8, 7.2])
def test_knees_are_braked_as_in_the_plain_form(feet, hold, length, backwards):
    foot, target = opening(feet, 0.08, hold)
    held, goal = np.array(foot.held), target - foot.hip
    held[hold[1] + 5 : hold[1] + 9] = True  # the next hold
    if backwards:
        held, goal = np.ascontiguousarray(held[::-1]), goal[::-1]
    foot, goal = dataclasses.replace(foot, held=held), foot.hip + goal
    options = {"length": length, "free_change": 0.002}
    still, reach = np.zeros_like(goal), reach_of(foot)
    end = aims.aim_leg(foot, still, goal, reach, **options)
    assert np.abs(aimed(foot, goal, **options) - end).max() < CLOSE
    loose = aims.aim_leg(foot, still, goal, reach, length=length, free_change=1e9)
    braked = np.abs(end - loose).max() > 1e-4
    assert braked == (length > 1.0 and hold != (30, 30))


def test_legs_of_another_length_and_joints_that_are_not_there_are_refused(feet):
    arrays = [np.zeros((3, 3)) for _ in range(4)]
    with pytest.raises(CoreError, match="sizes"):
        kernel("ml_leg_aim")(
            3, record(feet[0]), np.zeros((3, 2), dtype=bool), *arrays[:2], 1.0, 0.1,
            np.zeros(3, dtype=np.uint8), np.zeros((4, 3)), *arrays,
        )  # fmt: skip
    for joints in ([0, 1, 2], [-1, 0, 1]):
        with pytest.raises(CoreError, match="sizes"):
            kernel("ml_leg_read")(
                3, 2, np.zeros((3, 2, 3)), np.zeros((3, 2, 4)), np.array(joints), np.zeros(3),
                np.zeros(3), *arrays[:3], np.zeros((3, 3)), *arrays[:2],
            )  # fmt: skip


def test_legs_are_read_as_they_are_in_the_world(feet):
    motion = clip("walk").motion
    positions, quats = motion.world_pose()
    knees = find_knees(motion.skeleton, BodyMap.guess(motion.skeleton), motion=motion)
    for foot, knee in zip(feet, knees, strict=True):
        hip, middle, ankle = (positions[:, joint] for joint in foot.joints[:3])
        for found, joint in zip(
            (foot.hip, foot.knee, foot.ankle), (hip, middle, ankle), strict=True
        ):
            assert np.array_equal(found, joint)
        ways = np.stack([middle - hip, ankle - middle, ankle - hip])
        assert np.abs(foot.bones - np.linalg.norm(ways, axis=-1)).max() < 1e-15
        turned = quats[:, knee.hip]
        assert np.abs(foot.hinge - rotate(turned, np.tile(knee.axis, (len(hip), 1)))).max() < 1e-15
        assert np.abs(foot.pole - rotate(turned, np.tile(knee.pole, (len(hip), 1)))).max() < 1e-15
