"""The start of an action: in phase with the locomotion, and no later than needed."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.splicing.timing import first_in_phase

FPS = 30.0


def strides(n, phase, period=30.0):
    """Distances between a stride that begins at phase 0 and one that begins at ``phase``."""
    a = np.arange(n) / period
    b = np.arange(n) / period + phase
    return 0.04 * np.sin(np.pi * (a[:, None] - b)) ** 2


@pytest.mark.parametrize(("phase", "first"), [(0.0, 0), (0.9, 3), (0.5, 15), (0.2, 24)])
def test_the_action_starts_where_it_is_in_phase(phase, first):
    cost = strides(90, phase)
    assert first_in_phase(cost, cost[0], FPS) == pytest.approx(first, abs=1)


def test_a_near_frame_half_a_stride_off_is_not_taken_for_the_start():
    """Legs that pass each other look alike in one frame, and not in the next ones."""
    cost = strides(90, 0.5)
    alone = cost[0].copy()
    alone[0], alone[1] = 0.0, 0.01
    assert first_in_phase(cost, alone, FPS) == 15


def test_not_more_than_two_fifths_of_an_action_are_given_away_for_the_phase():
    cost = strides(30, 0.5)[:, :30]
    alone = cost[0].copy()
    alone[0], alone[1] = 0.0, 0.01
    assert first_in_phase(cost, alone, FPS) == 0


def test_a_walk_that_starts_half_a_stride_later_is_found_in_step():
    walk = ml.synthetic.clip("walk", duration_s=5.0).motion
    carry = ml.synthetic.clip("carry", duration_s=5.0).motion
    body = ml.BodyMap.guess(walk.skeleton)

    def ahead(motion):
        """How far the left knee is higher than the right one, which it is once per stride."""
        positions = motion.world_positions()
        return positions[:, body.left_knee, 1] - positions[:, body.right_knee, 1]

    for late in (0, 15, 30, 45):
        made = ml.splice(carry[late:], walk)
        frames = made.timewarp.frames
        action = np.interp(frames, np.arange(carry.n_frames - late), ahead(carry[late:]))
        assert np.corrcoef(action, ahead(walk)[: len(frames)])[0, 1] > 0.9
