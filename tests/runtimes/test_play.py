"""The example in C: a character plays for ten seconds into a BVH file."""

from __future__ import annotations

import subprocess
from itertools import pairwise

import numpy as np
import pytest

import motionloom as ml
from tests.runtimes.conftest import ROOT
from tests.runtimes.opened import EXAMPLE_S, play_example

pytestmark = pytest.mark.slow
WRITTEN_M = 5e-5
"""Positions have six decimals, angles five of a degree."""
STEP = 1.25
"""No joint steps farther, from frame to frame, than this times the fastest of all clips."""
FLOOR_M = 0.03


@pytest.fixture(scope="module")
def play(compile_program):
    return compile_program(ROOT / "runtimes" / "c" / "play.c")


@pytest.fixture
def played(play, runtime_path, tmp_path):
    def run(*words):
        path = tmp_path / "out.bvh"
        done = subprocess.run(
            [play, runtime_path, path, *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return ml.load(path)

    return run


@pytest.mark.parametrize("labels", [(), ("running", "idle")], ids=["clips", "labels"])
def test_a_character_plays_into_a_bvh_file(played, table, runtime_path, labels):
    opened, poses = play_example(runtime_path, labels)
    skeleton = table.frames.skeleton
    motion, wanted = played(*labels), opened.motion(skeleton, poses)
    positions = motion.world_positions()
    order = [motion.skeleton.names.index(name) for name in skeleton.names]
    assert motion.n_frames == EXAMPLE_S * wanted.fps
    assert abs(motion.fps - wanted.fps) < 1e-4
    np.testing.assert_allclose(positions[:, order], wanted.world_positions(), atol=WRITTEN_M)
    spans = pairwise(table.frames.starts)
    clips = [table.frames.motion(int(a), int(b) - 1).world_positions() for a, b in spans]
    fastest = max(np.linalg.norm(np.diff(clip, axis=0), axis=-1).max() for clip in clips)
    assert np.linalg.norm(np.diff(positions, axis=0), axis=-1).max() < STEP * fastest
    lowest = min(clip[..., 1].min() for clip in clips)
    assert abs(positions[..., 1].min() - lowest) < FLOOR_M
    np.testing.assert_allclose(positions[0, 0, ::2], 0.0, atol=WRITTEN_M)


def test_what_cannot_be_played_is_named(play, runtime_path, tmp_path):
    def refusal(*words):
        done = subprocess.run([play, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        return done.stderr

    out = tmp_path / "out.bvh"
    assert "play FILE.mlr OUT.bvh" in refusal()
    assert "play FILE.mlr OUT.bvh" in refusal(tmp_path / "none.mlr", out)
    assert "swimming: there is no such place" in refusal(runtime_path, out, "swimming")
    brief = refusal(runtime_path, out, "twitch")
    assert "twitch: its longest piece has 5 frames of 16 that are needed" in brief
    assert "no piece of the label is long enough to be held" in brief
    other = tmp_path / "other.mlr"
    other.write_bytes(b"not a table at all, " * 8)
    assert "a file is not what it should be" in refusal(other, out)
