from __future__ import annotations

import numpy as np
import pytest

from motionloom.body.body_map import BodyMap
from motionloom.intake.axes import UP_AXES, detect_up, from_world
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

Z = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("up", UP_AXES)
def test_someone_who_stands_shows_the_up_axis(person, up: str) -> None:
    found, finding = up_of(from_world(person(), up=up, unit_m=0.01))
    assert found == up
    assert finding.level == "note"


@pytest.mark.parametrize("up", UP_AXES)
def test_heading_and_lean_do_not_matter(person, up: str) -> None:
    motion = person(120)
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.linspace(0, 9, 120))
    lean = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.5)
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(turn, np.broadcast_to(lean, turn.shape))
    assert up_of(from_world(motion.replace(local_quats=quats), up=up, unit_m=1.0))[0] == up


def test_someone_who_lies_down_for_most_of_a_clip_is_not_set_upright(person) -> None:
    motion = person(100)
    quats = np.array(motion.local_quats)
    quats[20:, 0] = quat.from_axis_angle(Z, np.pi / 2)
    assert up_of(motion.replace(local_quats=quats))[0] == "y"


def test_someone_aslant_all_the_time_leaves_the_custom(person) -> None:
    motion = person(50)
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.from_axis_angle(Z, np.pi / 4)
    assert up_of(motion.replace(local_quats=quats))[0] == "y"


def test_a_thing_without_a_body_keeps_the_default_and_is_reported(person) -> None:
    found, finding = detect_up(np.zeros((3, 2, 3)), BodyMap())
    assert found == "y"
    assert "y is assumed" in finding.problem


def test_joints_all_in_one_place_do_no_harm(person) -> None:
    motion = person(3)
    assert detect_up(np.zeros((3, 19, 3)), BodyMap.guess(motion.skeleton))[0] == "y"


def up_of(motion: Motion):
    return detect_up(motion.world_positions(), BodyMap.guess(motion.skeleton))
