"""What is measured of motions, and parameters that are measured."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat


def test_speed_and_turn_are_those_that_were_asked_for():
    for speed, turn in ((1.0, 0.5), (1.5, -0.8)):
        walk = ml.synthetic.clip("walk", speed=speed, turn=turn).motion
        assert ml.measure(walk, "speed") == pytest.approx(speed, rel=0.05)
        assert ml.measure(walk, "turn") == pytest.approx(turn, abs=0.25)  # hips swing


@pytest.mark.parametrize("speed", [0.8, 1.6])
def test_speeds_are_those_of_the_pelvis_whatever_bone_carries_the_travel(speed):
    walk = ml.synthetic.clip("walk", speed=speed).motion
    rooted = ml.with_root_bone(walk)
    moving = np.array(rooted.joint_translations)
    moving[:, 1] = walk.root_positions  # as in Bandai's files: the root bone lies still
    quats = np.array(rooted.local_quats)
    quats[:, 1], quats[:, 0] = walk.local_quats[:, 0], [1.0, 0.0, 0.0, 0.0]
    lying = rooted.replace(
        root_positions=np.zeros_like(walk.root_positions), joint_translations=moving,
        local_quats=quats,
    )  # fmt: skip
    assert np.abs(lying.world_positions()[:, 1:] - walk.world_positions()).max() < 1e-9
    for motion in (rooted, lying):
        assert ml.measure(motion, "speed") == pytest.approx(ml.measure(walk, "speed"), abs=1e-9)
        assert [cycle.speed for cycle in ml.find_cycles(motion)] == pytest.approx(
            [cycle.speed for cycle in ml.find_cycles(walk)], abs=1e-9
        )


@pytest.mark.parametrize("heading", [0.0, 1.3, -2.5])
def test_reach_does_not_depend_on_where_the_body_stands(heading):
    punch = ml.synthetic.clip("punch").motion
    moved = ml.move(punch, heading=heading, x=3.0, z=-2.0)
    for name in ("height", "forward", "side", "direction"):
        for end in ("left_wrist", "right_wrist", "left_ankle"):
            there = ml.measure(moved, f"{end}.{name}")
            assert there == pytest.approx(ml.measure(punch, f"{end}.{name}"), abs=1e-9)
    assert max(ml.measure(punch, f"{side}_wrist.forward") for side in ("left", "right")) > 0.3


def test_an_arm_stretched_to_the_side_reaches_there():
    stand = ml.synthetic.clip("stand", duration_s=1.0).motion
    body, quats = ml.BodyMap.guess(stand.skeleton), np.array(stand.local_quats)
    positions = stand.world_positions()
    shoulder, wrist = (stand.skeleton.index(stand.skeleton.names[getattr(body, role)])
                       for role in ("left_shoulder", "left_wrist"))  # fmt: skip
    arm = positions[0, wrist] - positions[0, shoulder]
    parent = stand.world_pose()[1][0, stand.skeleton.parents[shoulder]]
    raised = quat.between_vectors(arm[None], np.array([[1.0, 0.0, 0.0]]))[0]  # +X is left of +Z
    local = quat.multiply(quat.multiply(quat.conjugate(parent), raised), parent)
    quats[:, shoulder] = quat.multiply(local, quats[:, shoulder])
    out = stand.replace(local_quats=quats)
    assert ml.measure(out, "left_wrist.side") > 0.5
    assert ml.measure(out, "left_wrist.direction") == pytest.approx(0.5 * np.pi, abs=0.3)
    assert ml.measure(out, "left_wrist.height") == pytest.approx(positions[0, shoulder, 1], abs=0.1)


def test_the_speed_of_a_hand_is_against_the_body_and_grows_with_the_rate():
    punch = ml.synthetic.clip("punch").motion
    moved = ml.move(punch, heading=1.1, x=2.0)
    own = {end: ml.measure(punch, f"{end}.speed") for end in ("left_wrist", "right_wrist")}
    assert max(own.values()) > 1.0
    for end, speed in own.items():
        assert ml.measure(moved, f"{end}.speed") == pytest.approx(speed, abs=1e-9)
        faster = punch.replace(fps=2.0 * punch.fps)
        assert ml.measure(faster, f"{end}.speed") == pytest.approx(2.0 * speed)
    assert ml.measure(ml.synthetic.clip("stand").motion, "left_wrist.speed") < 0.5


def test_parameters_are_measured_and_met():
    walks = [ml.synthetic.clip("walk", speed=v, duration_s=3.0).motion for v in (0.9, 1.3, 1.8)]
    curve = ml.register(walks)
    space = ml.parametrize(curve, ["speed"])
    low, high = space.range("speed")
    assert low == pytest.approx(0.9, rel=0.1) and high == pytest.approx(1.8, rel=0.1)
    for wanted in (1.1, 1.5):
        made = ml.blend(curve, space.weights(speed=wanted))
        assert ml.measure(made.motion, "speed") == pytest.approx(wanted, rel=0.05)


def test_measures_are_checked():
    walk = ml.synthetic.clip("walk", duration_s=1.0).motion
    for name in ("pace", "nose.height", "left_wrist.depth", 3):
        with pytest.raises(ml.errors.ArrayError, match="`name`"):
            ml.measure(walk, name)
    with pytest.raises(ml.errors.ArrayError, match="two frames"):
        ml.measure(walk[:1], "speed")
    curve = ml.register([walk, walk])
    with pytest.raises(ml.errors.ArrayError, match="`name`"):
        ml.parametrize(curve, ["pace"])
    with pytest.raises(ml.errors.ArrayError, match="`values`"):
        ml.parametrize(curve, [])
