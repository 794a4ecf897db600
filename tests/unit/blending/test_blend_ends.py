"""Blends leave out sudden frames at the ends of their examples, and blends of cycles nothing."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending.blend_ends import check_of

WALKS = [ml.synthetic.clip("walk", turn=turn, duration_s=3.0).motion for turn in (-0.5, 0.5)]


def jolted(motion: ml.Motion, frame: int) -> ml.Motion:
    """The motion with a pelvis that jumps away for a frame."""
    root = np.array(motion.root_positions)
    root[frame, 0] += 0.15
    return motion.replace(root_positions=root)


def test_a_blend_of_sound_clips_is_whole():
    made = ml.blend(ml.register(WALKS), [0.5, 0.5])
    assert made.trimmed == (0, 0)


@pytest.mark.parametrize(("frame", "end"), [(5, 0), (-6, 1)])
def test_a_jolt_near_an_end_is_left_out_and_noted(frame, end):
    clips = [jolted(WALKS[0], frame), WALKS[1]]
    whole = ml.blend(ml.register(WALKS, repair_knees=None, ends="match"), [0.5, 0.5])
    made = ml.blend(ml.register(clips, repair_knees=None, ends="match"), [0.5, 0.5])
    assert 4 <= made.trimmed[end] <= 15
    assert made.trimmed[1 - end] == 0
    assert made.motion.n_frames == pytest.approx(whole.motion.n_frames - made.trimmed[end], abs=2)
    assert len(made.u) == len(made.frames) == made.motion.n_frames
    assert any("left out" in note for note in made.notes)


TURNS = [ml.synthetic.clip("walk", turn=turn).motion for turn in (0.6, 0.0, -0.6)]
"""Their cycles are cut where the right leg is fastest."""


@pytest.fixture(scope="module")
def cycles():
    return ml.register(TURNS, cycles=True)


@pytest.mark.parametrize("weights", [(0.0, 1.0, 0.0), (0.5, 0.0, 0.5), (0.2, 0.3, 0.5)])
def test_repeated_cycles_are_compared_with_the_clips_they_were_cut_from(cycles, weights):
    made = ml.blend(cycles, weights, duration_s=5.0)
    assert made.verification.passed, made.verification.describe()
    assert ml.verify(made.motion, sources=TURNS, footplants=made.footplants).passed


def test_a_blend_of_cycles_is_a_whole_cycle(cycles):
    made = ml.blend(cycles, [0.5, 0.0, 0.5])
    assert made.trimmed == (0, 0)
    assert made.motion.n_frames == cycles.motions[1].n_frames
    joints = made.motion.local_quats[:, 1:]  # the root turns with the way
    steps = np.abs(np.diff(joints, axis=0)).max()
    assert np.abs(joints[0] - joints[-1]).max() < steps
    assert made.verification.passed, made.verification.describe()


def test_a_jolt_where_a_cycle_is_repeated_fails_the_check(cycles):
    made = ml.blend(cycles, [0.0, 1.0, 0.0], duration_s=3.0)
    seam = cycles.motions[1].n_frames
    jumping = jolted(made.motion, seam)
    assert check_of(cycles).verify(made.motion, footplants=made.footplants).passed
    assert not check_of(cycles).verify(jumping, footplants=made.footplants).passed
