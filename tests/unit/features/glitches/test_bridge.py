"""Bridges leave and arrive at the speed of the motion around them."""

import numpy as np

from motionloom.features.glitches.glitch_frames import bridge_line, bridge_rotations
from motionloom.rotation import quat


def swinging(n: int) -> np.ndarray:
    """A joint that swings about one axis, (n, 2, 4)."""
    angle = 0.6 * np.sin(np.arange(n) / 9.0)
    turn = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), angle)
    return np.stack([turn, quat.conjugate(turn)], axis=1)


def test_a_gap_in_a_swing_is_bridged_nearer_than_by_a_straight_way():
    truth = swinging(60)
    bridged = bridge_rotations(truth, 10, 18)
    straight = quat.slerp(truth[10], truth[18], (np.arange(1, 8) / 8.0)[:, None])
    off = quat.angle_between(bridged, truth[11:18]).max()
    assert off < 0.2 * quat.angle_between(straight, truth[11:18]).max()


def test_a_bridge_has_no_kink_at_its_ends():
    truth = swinging(60)
    made = np.array(truth)
    made[11:18] = bridge_rotations(truth, 10, 18)
    steps = np.degrees(quat.turns(made))
    assert (
        np.abs(np.diff(steps, axis=0)).max()
        < 1.2 * np.abs(np.diff(np.degrees(quat.turns(truth)), axis=0)).max() + 0.1
    )


def test_wild_velocities_at_the_ends_do_not_lead_far_away():
    quats = np.tile(quat.IDENTITY, (20, 1))
    quats[:9] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.radians(-50.0))
    bridged = bridge_rotations(quats, 9, 14)  # 50 degrees in the step before
    assert np.degrees(quat.angle_between(bridged, quat.IDENTITY)).max() < 3.0


def test_a_line_is_bridged_and_one_frame_at_the_start_of_a_clip_too():
    ground = np.stack([np.arange(12.0), np.zeros(12), np.zeros(12)], axis=-1)
    assert np.allclose(bridge_line(ground, 3, 8), ground[4:8])
    assert np.allclose(bridge_line(ground, 0, 2)[0], [1.0, 0.0, 0.0])
    assert bridge_line(ground, 4, 5).shape == (0, 3)
