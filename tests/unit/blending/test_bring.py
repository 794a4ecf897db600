from __future__ import annotations

import numpy as np

import motionloom as ml
from motionloom.blending.bring import bring_to, same_rate
from motionloom.motion.body import BodyMap
from motionloom.motion.motion import Motion

POSITION_M = 1e-9
RATE_M = 0.02
"""A captured second between two rates differs by what a body moves in a frame."""


def brought(motion: Motion, first: Motion, **said):
    body, own = BodyMap.guess(first.skeleton), BodyMap.guess(motion.skeleton)
    return bring_to(motion, first, body=own, first_body=body, first_name="first", **said)


def walk(**said) -> Motion:
    return ml.synthetic.clip("walk", duration_s=2.0, **said).motion


def test_a_clip_that_fits_is_left_alone() -> None:
    one = walk()
    made = brought(ml.synthetic.clip("jog", duration_s=2.0).motion, one)
    assert made.notes == ()
    assert made.motion.skeleton.same_joints(one.skeleton)
    assert made.footplants.planted.any()


def test_another_rate_is_resampled_and_said() -> None:
    one = walk()
    slow = ml.resample(one, fps=30.0)
    assert not same_rate(slow, one)
    made = brought(slow, one)
    assert made.motion.fps == one.fps
    assert made.notes == ("resampled from 30 to 60 fps",)
    n = min(made.motion.n_frames, one.n_frames)
    apart = made.motion.world_positions()[:n] - one.world_positions()[:n]
    assert np.abs(apart).max() < RATE_M


def test_given_plants_go_along_to_the_other_rate() -> None:
    one = walk()
    slow = ml.resample(one, fps=30.0)
    plants = ml.Footplants.from_intervals({"left_toe": ((10, 19),)}, slow.n_frames)
    made = brought(slow, one, footplants=plants)
    assert made.footplants.n_frames == made.motion.n_frames
    ((first, last),) = made.footplants.intervals()["left_toe"]
    assert abs(first - 20) <= 1 and abs(last - 38) <= 1
    assert made.footplants.intervals()["right_toe"] == ()


def test_other_bones_are_retargeted_unless_that_is_off() -> None:
    one, small = walk(), walk(height=1.5)
    made = brought(small, one)
    assert made.notes == ("bones of other lengths: retargeted onto that of first",)
    assert np.abs(made.motion.skeleton.offsets - one.skeleton.offsets).max() < POSITION_M
    left = brought(small, one, retargeted=False)
    assert left.notes == ()
    assert np.abs(left.motion.skeleton.offsets - small.skeleton.offsets).max() < POSITION_M


def test_rates_that_differ_by_a_rounding_are_one_rate() -> None:
    one = walk()
    for fps, is_same in ((60.0, True), (60.05, True), (59.95, True), (60.1, False), (59.5, False)):
        assert same_rate(one.replace(fps=fps), one) == is_same
