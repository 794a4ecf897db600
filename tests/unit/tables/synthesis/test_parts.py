"""Parts of synthesis, each against values worked out by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from motionloom.rotation import quat
from motionloom.tables.synthesis.gap_windows import RATES
from motionloom.tables.synthesis.synthesis import NOT_HELD, Rig, fastest_speeds, lower_root
from tests.oracles.bones import turns as _turns
from tests.oracles.swing import frames_to_holds


def test_rates_go_in_small_steps_from_two_thirds_to_one_and_a_half():
    assert 1.0 in RATES
    assert RATES[0] == pytest.approx(2 / 3, abs=0.01) and RATES[-1] == 1.5
    assert all(1.0 < b / a < 1.12 for a, b in pairwise(RATES))


def test_frames_are_counted_to_the_nearest_hold_or_seam():
    held = np.full(12, NOT_HELD)
    held[7] = 0
    assert frames_to_holds(held).tolist() == [0, 1, 2, 3, 3, 2, 1, 0, 1, 2, 1, 0]


def rig_of_two(legs=((0, 0, 0), (0, 0, 0))):
    """Two joints half a metre apart; and legs of any others."""
    parents, offsets = np.array([-1, 0]), np.array([[0.0, 0, 0], [0.5, 0, 0]])
    soles, both = np.zeros((2, 2, 3)), np.zeros((2, 3))
    return Rig(parents, offsets, np.arange(2), np.array(legs), soles, both, both)


def test_the_fastest_joint_turn_and_travel_do_not_depend_on_signs():
    root = np.zeros((3, 3))
    root[2] = [0.03, 0.5, 0.04]  # 5 cm over the ground
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (3, 2, 1))
    quats[1] *= -1.0
    quats[2, 1] = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), 0.2)
    fastest = fastest_speeds(rig_of_two(), root, quats, 10.0)
    assert fastest == pytest.approx([10.0 * np.linalg.norm(root[2]), 2.0, 0.5])


def test_travel_is_that_of_the_root_however_its_joints_swing():
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (3, 2, 1))
    quats[2, 0] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.2)
    fastest = fastest_speeds(rig_of_two(), np.zeros((3, 3)), quats, 10.0)
    assert fastest == pytest.approx([10.0 * 2.0 * 0.5 * np.sin(0.1), 2.0, 0.0])


def test_bones_on_one_line_are_turned_the_shortest_way():
    line = np.array([[[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]])
    turn = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), 0.5)
    found = _turns(line, quat.rotate(turn, line))
    assert quat.angle_between(found, turn[None]) == pytest.approx([0.0], abs=1e-6)
    bent = np.array([[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]])
    spin = quat.multiply(turn, quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.7))
    found = _turns(bent, quat.rotate(spin, bent))
    assert quat.angle_between(found, spin[None]) == pytest.approx([0.0], abs=1e-6)


@pytest.mark.parametrize("shift", [[0.3, 0.0, 0.0], [0.0, 0.0, 0.3], [0.0, 0.0, -0.3]])
@pytest.mark.parametrize("ahead", [0.0, 0.2, -0.2])
def test_a_body_comes_down_until_a_held_foot_is_in_reach(shift, ahead):
    # Hip at 0.8 m over an ankle that is a little ahead, with legs of 0.42 and 0.41 m.
    n = 41
    one = np.array([[0.0, 0.8, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, ahead]])
    one[1] = [0.0, 0.8 - 0.42, 0.0]
    shank = one[2] - one[1]
    one[2] = one[1] + shank * (0.41 / np.linalg.norm(shank))
    positions = np.tile(np.concatenate([one, one]), (n, 1, 1))
    legs = np.array([[0, 1, 2], [3, 4, 5]])
    held = np.full((2, n), -1)
    held[0] = 0
    shifts = np.zeros((2, n, 3))
    shifts[0] = shift
    drops = lower_root(rig_of_two(legs), positions, held, shifts)
    before = one[2] - one[0]
    reach = max(float(np.linalg.norm(before)), 0.985 * 0.83)
    after = before + shift
    need = -after[1] - np.sqrt(reach**2 - after[0] ** 2 - after[2] ** 2)
    assert drops[20] == pytest.approx(min(max(need, 0.0), 0.08 * 0.83))
    assert drops[0] == drops[-1] == 0.0
