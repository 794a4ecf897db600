"""Which share of an action's posture a splice gets back."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing.body_parts import parts_of
from motionloom.splicing.lean import posture_turn
from motionloom.splicing.posture import Posed

WALK = ml.synthetic.clip("walk", duration_s=2.0).motion
BODY = ml.BodyMap.guess(WALK.skeleton)
(TORSO,) = parts_of(WALK.skeleton, BODY, "torso")
X, Y, Z = np.eye(3)


def turned(joint, axis, degrees):
    """The walk with one joint turned in the hips' axes, which face along z."""
    world, quats = WALK.world_quats(), np.array(WALK.local_quats)
    parent = int(WALK.skeleton.parents[joint])
    turn = quat.from_axis_angle(axis, np.radians(degrees))
    up = quat.multiply(turn, world[:, joint])
    quats[:, joint] = up if parent < 0 else quat.multiply(quat.conjugate(world[:, parent]), up)
    return Posed.of(WALK.replace(local_quats=quats))


def given_back(action, *, walks=True):
    turn = posture_turn(action, Posed.of(WALK), TORSO, BODY, walks=walks)
    return np.degrees(quat.log(turn))


@pytest.mark.parametrize(
    ("axis", "degrees", "walks", "expected"),
    [
        (X, 6.0, True, [6.0, 0.0, 0.0]),  # a lean of a walker is kept, whatever its size
        (X, -30.0, True, [-30.0, 0.0, 0.0]),
        (Z, 5.0, True, [0.0, 0.0, 5.0]),
        (Y, 7.0, True, [0.0, 0.0, 0.0]),  # shoulders lead into turns of the way
        (Y, 25.0, True, [0.0, 25.0, 0.0]),
        (X, -6.5, False, [0.0, 0.0, 0.0]),  # standing people lean farther back than walking ones
        (X, -30.0, False, [-30.0, 0.0, 0.0]),
        (X, 12.0, False, [12.0, 0.0, 0.0]),
        (Z, 6.5, False, [0.0, 0.0, 0.0]),
    ],
)
def test_leans_and_turns_are_given_back_as_far_as_they_are_the_actions(
    axis, degrees, walks, expected
):
    found = given_back(turned(BODY.spine[0], axis, degrees), walks=walks)
    assert found == pytest.approx(expected, abs=0.9)


def lying(degrees, behind):
    """The walk with hips that are tilted forward, and legs that are turned back by ``behind``."""
    pushing = turned(BODY.pelvis, X, degrees)
    world, quats = WALK.world_quats(), np.array(pushing.motion.local_quats)
    back = quat.from_axis_angle(X, np.radians(behind))
    for hip in (BODY.left_hip, BODY.right_hip):
        straight = quat.multiply(back, world[:, hip])
        quats[:, hip] = quat.multiply(quat.conjugate(pushing.quats[:, BODY.pelvis]), straight)
    return Posed.of(pushing.motion.replace(local_quats=quats))


@pytest.mark.parametrize(
    ("degrees", "behind", "lean"),
    [
        (8.0, 30.0, 8.0),
        (17.5, 30.0, 8.75),  # half way between both limits of the hips
        (30.0, 30.0, 0.0),
        (60.0, 30.0, 0.0),
        (30.0, 17.0, 15.0),  # half way between both limits of the legs
        (30.0, 5.0, 30.0),  # a bow: its legs are below it
    ],
)
def test_a_lean_of_hips_whose_legs_are_far_behind_stays_with_those_legs(degrees, behind, lean):
    assert given_back(lying(degrees, behind))[0] == pytest.approx(lean, abs=1.5)


def test_who_lies_into_a_push_stands_upright_on_upright_legs():
    made = ml.splice(lying(50.0, 30.0).motion, WALK).motion
    positions = made.world_positions()
    trunk = positions[:, BODY.neck] - positions[:, BODY.pelvis]
    assert np.degrees(np.arccos(trunk[:, 1] / np.linalg.norm(trunk, axis=-1))).mean() < 15.0
