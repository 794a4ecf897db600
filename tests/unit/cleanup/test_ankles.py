import numpy as np
import pytest

from motionloom.cleanup.ankles import MOST_TURN, place_ankle, roll_needed
from motionloom.cleanup.foot import hold_feet, read_feet
from motionloom.cleanup.holds import Hold
from motionloom.cleanup.legs import reach_of
from motionloom.motion.body import BodyMap
from motionloom.motion.feet import foot_points
from motionloom.motion.knees import find_knees
from motionloom.rotation import quat
from motionloom.synthetic import clip

CLOSE = 1e-9
NO_GROUND = np.full((1, 2), -np.inf)


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
