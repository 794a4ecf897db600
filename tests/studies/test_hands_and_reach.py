"""Hands on captured objects stand still; captured punches answer to direction and height."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import motionloom as ml
from studies.captured_clips import protocol
from studies.registration.registration_hands import compared, marked
from studies.registration.registration_reach import answers, family


def test_a_hand_that_sets_a_toolbox_down_stands_still_and_the_blend_passes(mocap: Path) -> None:
    entries = protocol("registration_hands")["tuned"]["set down a toolbox or a basket, left hand"]
    (row,) = compared([marked(mocap, entry) for entry in entries], [[0.5, 0.5]])
    held, free = row.speeds.max(axis=0)
    assert held < 0.1
    assert free > 20.0  # cm/s
    assert row.held.verification.passed
    assert max(hold.moved_m for hold in row.held.hands) < 0.06
    skeleton = row.held.motion.skeleton
    shoulder = ml.BodyMap.guess(skeleton).left_shoulder
    others = [j for j in range(skeleton.n_joints) if shoulder not in skeleton.chain(j)]
    apart = np.abs(row.held.motion.world_positions() - row.free.motion.world_positions())
    assert apart[:, others].max() < 1e-9  # arms alone suffice here


def test_kicks_between_captured_ones_come_up_as_high_as_asked(mocap: Path) -> None:
    case = family(mocap, protocol("registration_reach")["tuned"]["kicks of 143"])
    curve = ml.register(case.motions, ends="match")
    captured = np.sort([ml.measure(motion, case.names[0]) for motion in case.motions])
    wanted = [np.array([height]) for height in 0.5 * (captured[1:] + captured[:-1])]
    for asked in answers(curve, case.names, wanted):
        assert abs(asked.got["measured"][0] - asked.wanted[0]) < 3.0  # cm
        assert abs(asked.got["nearest clip"][0] - asked.wanted[0]) > 5.0
