from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.corrupt import corrupt

SLIDE_CM = 0.2
"""What a cleaned plant may still slide: a file rounds."""


@pytest.fixture(scope="module")
def skated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of one walk whose feet slide."""
    folder = tmp_path_factory.mktemp("skated")
    walk = ml.synthetic.clip("walk", duration_s=2.0).motion
    ml.save(corrupt(walk, travel=1.1), folder / "walk.bvh")
    return folder


def test_planted_feet_slide_no_more_and_that_is_reported(run, skated: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    done = run("clean", skated / "walk.bvh", "-o", out)
    assert done.code == 0, done.err
    assert "slide" in done.out
    assert "cm" in done.out
    assert "at frame" in done.out
    facts = json.loads(
        run("clean", skated / "walk.bvh", "-o", tmp_path / "again.bvh", "--json").out
    )["clips"][0]
    assert facts["slide_before_cm"] > 1.0
    assert facts["slide_after_cm"] < SLIDE_CM
    cleaned, before = ml.load(out), ml.load(skated / "walk.bvh")
    assert np.abs(cleaned.skeleton.offsets - before.skeleton.offsets).max() < 1e-5


def test_a_folder_is_cleaned_into_a_folder_in_its_own_formats(run, skated, tmp_path) -> None:
    target = tmp_path / "out"
    planned = run("clean", skated, "-o", target, "--dry-run")
    assert planned.code == 0
    assert "would write" in planned.out
    assert not target.exists()
    assert run("clean", skated, "-o", target).code == 0
    assert sorted(path.name for path in target.iterdir()) == ["_report", "walk.bvh"]
    assert run("clean", skated, "-o", target, "--to", "glb").code == 0
    assert (target / "walk.glb").exists()


def test_inputs_are_never_overwritten(run, skated: Path) -> None:
    before = (skated / "walk.bvh").read_bytes()
    assert run("clean", skated, "-o", skated, "--force").code == 2
    assert (skated / "walk.bvh").read_bytes() == before


def test_a_thing_without_feet_is_refused_in_one_line(run, tmp_path: Path) -> None:
    rod = ml.Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    still = np.tile([1.0, 0.0, 0.0, 0.0], (20, 2, 1))
    ml.save(ml.Motion(rod, np.zeros((20, 3)), still, fps=60), tmp_path / "rod.bvh")
    done = run("clean", tmp_path / "rod.bvh", "-o", tmp_path / "out.bvh")
    assert done.code == 2
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out.bvh").exists()


def test_a_stream_carries_the_clip_and_nothing_else(skated: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "motionloom", "clean", str(skated / "walk.bvh"), "-o", "-"]
    done = subprocess.run([*command, "--to", "bvh", "--json"], capture_output=True, check=True)
    out = tmp_path / "piped.bvh"
    out.write_bytes(done.stdout)
    assert ml.load(out).n_frames == ml.load(skated / "walk.bvh").n_frames
