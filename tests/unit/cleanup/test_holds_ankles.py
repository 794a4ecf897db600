import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.body.anatomy import find_knees, foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.legs import Hold, hold_feet, no_target, reach_of, read_feet
from motionloom.rotation import quat
from motionloom.synthetic import clip
from tests.oracles import aims
from tests.oracles import ankles as plain
from tests.oracles.ankles import GROWTH_M, MOST_TURN

CLOSE = 1e-9
NO_GROUND = np.full((1, 2), -np.inf)
FREE_CHANGE = 0.0055


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


def place_ankle(foot, reach, ground, *, length, stop, roll, free_change=FREE_CHANGE):
    """Turns and shifts of a foot as the core finds them."""
    n, made = len(foot.hip), no_target(len(foot.hip))
    kernel("ml_foot_place")(
        n, foot.hip, foot.ankle, foot.heel, foot.ball, np.array(foot.held),
        np.array(foot.places), reach,
        np.ascontiguousarray(np.broadcast_to(ground, (n, 2))), length, stop,
        free_change, roll, np.zeros((2, n), dtype=np.uint8), np.zeros((6, n)),
        made.q_foot, made.q_toes, made.shift, made.roll, made.levers,
    )  # fmt: skip
    return made


def roll_needed(levers, hip, place, reach, only_ball):
    """Axes and angles of rolls over the ball, where only it is held."""
    n = len(levers)
    held = np.stack([~only_ball, only_ball], axis=1)
    places = np.stack([np.zeros_like(place), place], axis=1)
    axes, angles = np.zeros((n, 3)), np.zeros(n)
    kernel("ml_foot_roll")(n, levers, hip, held, places, reach, axes, angles)
    return axes, angles


def tilt_needed(levers, foot, ground):
    """Turns that keep the other point of a held foot out of the ground."""
    n, out = len(levers), np.zeros(len(levers))
    held = (foot.heel, foot.ball, foot.held, foot.places)
    kernel("ml_foot_tilt")(n, levers, *held, ground, out)
    return out


def test_a_roll_brings_the_ankle_just_within_reach():
    levers = np.array([[[0.0, -0.05, -0.05], [0.0, -0.05, 0.14]]] * 3)
    place = np.zeros((3, 3))
    ankle = place - levers[:, 1]
    hip = ankle + np.array([[0.05, 0.75, 0.35], [0.0, 0.6, 0.1], [0.02, 0.8, 0.4]])
    reach = np.array([0.80, 0.80, 0.85])
    axes, angles = roll_needed(levers, hip, place, reach, np.ones(3, dtype=bool))
    turned = place - quat.rotate(quat.from_axis_angle(axes, angles), levers[:, 1])
    far = np.linalg.norm(turned - hip, axis=-1)
    assert far[[0, 2]] == pytest.approx(reach[[0, 2]])
    assert angles[1] == 0.0
    assert (turned[[0, 2], 1] > ankle[[0, 2], 1]).all()


def test_a_roll_that_cannot_suffice_does_its_best():
    levers = np.array([[[0.0, -0.05, -0.05], [0.0, -0.05, 0.14]]])
    hip = np.array([[0.0, 1.5, 1.0]])
    axes, angles = roll_needed(levers, hip, np.zeros((1, 3)), np.array([0.8]), np.array([True]))
    tries = np.linspace(0, np.pi, 2001)
    spans = [
        np.linalg.norm(-quat.rotate(quat.from_axis_angle(axes[0], t), levers[0, 1]) - hip[0])
        for t in tries
    ]
    assert angles[0] == pytest.approx(tries[np.argmin(spans)], abs=2e-3)


def held(feet, spans, places):
    holds = tuple(Hold(kind, span, span) for kind, span in spans)
    return hold_feet(feet, holds, np.array(places))[0]


def test_held_points_come_to_lie_on_their_places(feet):
    sole = np.linalg.norm(feet[0].ball[30] - feet[0].heel[30])
    heel = feet[0].heel[35] + [0.02, 0.01, -0.03]
    ball = heel + sole * np.array([0.1, 0.0, np.sqrt(0.99)])
    foot = held(feet, [(0, (30, 40)), (1, (34, 50))], [heel, ball])
    target = place_ankle(foot, np.full(len(foot.hip), 9.0), NO_GROUND, length=12, stop=4, roll=True)
    points = (foot.ankle + target.shift)[:, None] + target.levers
    assert np.abs(points[30:41, 0] - heel).max() < CLOSE
    assert np.abs(points[34:51, 1] - ball).max() < CLOSE
    assert not target.roll.any()
    assert (target.q_foot[:15] == quat.IDENTITY).all()
    assert not target.shift[:18].any()


def test_a_foot_that_is_left_behind_rolls_over_its_ball_and_keeps_its_toes_down(feet):
    place = feet[0].ball[30] - [0.0, 0.0, 0.15]
    foot = held(feet, [(1, (30, 60))], [place])
    target = place_ankle(foot, 0.98 * reach_of(foot), NO_GROUND, length=12, stop=4, roll=True)
    assert 0.0 < target.roll.max() <= MOST_TURN
    assert (target.q_toes == quat.IDENTITY).all()
    points = (foot.ankle + target.shift)[:, None] + target.levers
    assert np.abs(points[30:61, 1] - place).max() < CLOSE
    flat = place_ankle(foot, 0.98 * reach_of(foot), NO_GROUND, length=12, stop=4, roll=False)
    assert not flat.roll.any()


@pytest.mark.parametrize(("held_point", "sign"), [(0, -1.0), (1, 1.0)])
def test_a_free_end_of_a_held_foot_is_tilted_out_of_the_ground(feet, held_point, sign):
    place = [feet[0].heel[30], feet[0].ball[30]][held_point]
    foot = held(feet, [(held_point, (30, 40))], [place])
    levers = np.stack([foot.heel - foot.ankle, foot.ball - foot.ankle], axis=1)
    steep = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.3)
    levers = quat.rotate(quat.conjugate(steep) if held_point else steep, levers)
    ground = np.full((len(foot.hip), 2), place[1])
    tilt = tilt_needed(levers, foot, ground)
    assert sign * tilt[30] > 0.0
    assert (sign * tilt[30:41] >= 0.0).all()
    assert not tilt[:30].any()
    assert not tilt[41:].any()
    sole = levers[:, 1] - levers[:, 0]
    length = np.linalg.norm(sole, axis=-1)
    slope = np.arcsin(sole[:, 1] / length) - tilt
    other = place[1] + (-1.0 if held_point else 1.0) * length * np.sin(slope)
    least = np.minimum([foot.ball, foot.heel][held_point][:, 1], place[1])
    assert (other - least)[30:41].min() > -CLOSE
    assert abs(other[30] - least[30]) < CLOSE


def test_the_shift_of_a_released_foot_does_not_run_away(feet):
    place = feet[0].ball[44]  # the ball leaves the ground fast: the shift grows at the hold's end
    foot = held(feet, [(1, (30, 48))], [place])
    target = place_ankle(
        foot, np.full(len(foot.hip), 9.0), NO_GROUND, length=12, stop=12, roll=False
    )
    size = np.linalg.norm(target.shift, axis=-1)
    assert size[48] - size[47] > 0.005
    assert size[48] < size[49:].max() <= size[48] + GROWTH_M
    assert size[61:].max() == 0.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("roll", [False, True])
def test_feet_are_placed_as_in_the_plain_form(feet, seed, roll):
    rng = np.random.Generator(np.random.PCG64(seed))
    n = len(feet[0].hip)
    spans = [(int(k), (int(a), min(int(a + w), n - 1))) for k, a, w in zip(
        rng.integers(0, 2, 7), rng.integers(0, n, 7), rng.integers(0, 40, 7), strict=True
    )][: seed + 1]  # fmt: skip
    points = (feet[0].heel, feet[0].ball)
    places = [points[k][a] + rng.normal(scale=0.05, size=3) for k, (a, _) in spans]
    foot = held(feet, spans, places)
    assert foot.standing.any()
    reach, ground = (
        (0.95 - 0.05 * (seed % 3)) * reach_of(foot),
        aims.ground_under(foot.held, foot.places),
    )
    options = {"length": 11.5, "stop": 5.0, "roll": roll, "free_change": 0.001}
    target = place_ankle(foot, reach, ground, **options)
    expected = plain.place_ankle(foot, reach, ground, **options)
    for name in ("q_foot", "q_toes", "shift", "roll", "levers"):
        assert np.abs(getattr(target, name) - getattr(expected, name)).max() < 1e-12, name


def test_a_foot_that_is_not_held_stays_bit_for_bit(feet):
    foot = held(feet, [], np.zeros((0, 3)))
    target = place_ankle(foot, reach_of(foot), NO_GROUND, length=12, stop=4, roll=True)
    assert (target.q_foot == quat.IDENTITY).all()
    assert (target.q_toes == quat.IDENTITY).all()
    assert not target.shift.any()
    assert not target.roll.any()
    assert np.array_equal(target.levers[:, 1], foot.ball - foot.ankle)


def test_rolls_and_tilts_are_those_of_the_plain_form(feet):
    rng = np.random.Generator(np.random.PCG64(8))
    n = len(feet[0].hip)
    foot = held(feet, [(0, (0, 30)), (1, (20, 90))], rng.normal(scale=0.1, size=(2, 3)))
    levers = rng.normal(scale=0.1, size=(n, 2, 3))
    levers[::7, 1] = levers[::7, 0] + [0.0, 0.3, 0.0]  # upright: no direction across
    levers[::14] = 0.0
    only_ball = foot.held[:, 1] & ~foot.held[:, 0]
    reach = rng.uniform(0.0, 1.0, size=n)
    for got, expected in zip(
        roll_needed(levers, foot.hip, foot.places[:, 1], reach, only_ball),
        plain.roll_needed(levers, foot.hip, foot.places[:, 1], reach, only_ball),
        strict=True,
    ):
        assert np.abs(got - expected).max() < 1e-12
    ground = rng.normal(scale=0.1, size=(n, 2))
    ground[::3] = -np.inf
    tilt = tilt_needed(levers, foot, ground)
    assert (tilt > 0.0).any() and (tilt < 0.0).any()
    assert np.abs(tilt - plain.tilt_needed(levers, foot, ground)).max() < 1e-12
