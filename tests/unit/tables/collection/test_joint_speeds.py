"""Pace: the kernel against its plain form, and what it is of simple clips."""

from types import SimpleNamespace

import numpy as np
import pytest

from motionloom.tables.collection.frames import clip_speeds, speeds_of_clips
from tests.oracles import pace as plain


def clip_of(n_frames, n_joints, pelvis=None, seed=0):
    rng = np.random.Generator(np.random.PCG64(seed))
    quats = rng.normal(size=(n_frames, n_joints, 4))
    quats /= np.linalg.norm(quats, axis=-1, keepdims=True)
    return SimpleNamespace(
        starts=np.array([0, n_frames]),
        heading=rng.normal(size=n_frames),
        ground=rng.normal(size=(n_frames, 2)),
        quats=quats.astype(np.float32),
        body=rng.normal(size=(n_frames, n_joints, 3)).astype(np.float32),
        fps=30.0,
        body_map=SimpleNamespace(pelvis=pelvis),
    )


@pytest.mark.parametrize(("n_frames", "n_joints"), [(40, 22), (2, 1), (3, 2), (1, 5)])
@pytest.mark.parametrize("pelvis", [None, 0, 1])
def test_the_kernel_matches_its_plain_form(n_frames, n_joints, pelvis):
    frames = clip_of(n_frames, n_joints, pelvis if n_joints > 1 else None)
    at = frames.body_map.pelvis or 0
    wanted = plain.fastest(frames.heading, frames.ground, frames.quats, frames.body, at)
    assert np.allclose(clip_speeds(frames, 0), 30.0 * wanted, rtol=1e-6, atol=1e-12)


def test_a_single_joint_decides():
    frames = clip_of(9, 4)
    frames.heading[:], frames.ground[:], frames.body[:] = 0.3, 0.0, 1.0
    frames.quats[:] = [1.0, 0.0, 0.0, 0.0]
    assert clip_speeds(frames, 0).tolist() == [0.0, 0.0, 0.0]
    frames.body[5:, 2, 1] += 0.5
    frames.quats[7, 3] = [np.cos(0.2), np.sin(0.2), 0.0, 0.0]
    assert clip_speeds(frames, 0) == pytest.approx([15.0, 12.0, 0.0], rel=1e-6)
    frames.heading[4:] += 0.9  # the body stands where it is, and turns
    assert clip_speeds(frames, 0)[1] == pytest.approx(27.0, rel=1e-6)


def test_paces_of_clips_are_those_of_each(kinds_frames):
    clips = [3, 0, 5]
    each = np.array([clip_speeds(kinds_frames, clip) for clip in clips])
    assert np.array_equal(speeds_of_clips(kinds_frames, clips), each)
    assert speeds_of_clips(kinds_frames, []).shape == (0, 3)
    first, stop = kinds_frames.starts[3:5]
    wanted = plain.fastest(
        kinds_frames.heading[first:stop],
        kinds_frames.ground[first:stop],
        kinds_frames.quats[first:stop],
        kinds_frames.body[first:stop],
        kinds_frames.body_map.pelvis,
    )
    assert each[0] == pytest.approx(kinds_frames.fps * wanted, rel=1e-6)
