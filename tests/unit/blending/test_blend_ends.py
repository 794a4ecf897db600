"""Blends leave out sudden frames at the ends of their examples."""

import numpy as np
import pytest

import motionloom as ml

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
