"""Foot contacts of bodies that float in the data or brake, and the warning about the first."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.motion.motion import Motion, runs_of

HOPS = slice(170, 900)
"""Frames of the dance in which the body hops from foot to foot, 10 to 20 cm above the floor."""
MOVES_M = 0.1


def audit_clip(mocap: Path, name: str) -> Path:
    path = mocap / "audit" / name
    if not path.is_file():
        pytest.skip(f"the motion-capture folder has no audit/{name}")
    return path


def loaded(path: Path) -> Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ml.load(path)


def test_the_hops_of_a_floating_dancer_have_stances_of_the_lower_foot(mocap: Path) -> None:
    motion = loaded(audit_clip(mocap, "jesse_dance.bvh"))
    heights = foot_points(motion)[..., 1]
    left, right = heights[:, 1], heights[:, 3]
    planted = ml.detect_footplants(motion).planted
    missed, stances = [], 0
    for ball, other in ((left, right), (right, left)):
        kinds = [0, 1] if ball is left else [2, 3]
        for first, last in runs_of(ball < np.minimum(other - 0.1, 0.3)):
            if HOPS.start <= first and last < HOPS.stop:
                stances += 1
                missed += [] if planted[first : last + 1, kinds].any() else [(first, last)]
    assert stances >= 14
    # In one hop, about frame 822, the foot slides at 1 m/s at its lowest.
    assert len(missed) <= 1, missed


def test_the_stances_of_a_floating_dancer_move_little(mocap: Path) -> None:
    motion = loaded(audit_clip(mocap, "jesse_dance.bvh"))
    points = foot_points(motion)
    planted = ml.detect_footplants(motion).planted
    for kind in range(4):
        for first, last in runs_of(planted[:, kind]):
            if first >= HOPS.start and last < HOPS.stop:
                way = points[first : last + 1, kind]
                assert np.linalg.norm(way - way[0], axis=1).max() < MOVES_M


def test_the_braking_step_of_a_runner_is_a_stance(mocap: Path) -> None:
    planted = ml.detect_footplants(loaded(audit_clip(mocap, "127_05.bvh"))).planted
    assert planted[85:100, 3].any()
    assert not planted[85:100, :2].any()


def test_a_floating_body_is_a_warning_at_load_and_a_finding_of_check(mocap: Path) -> None:
    path = audit_clip(mocap, "jesse_dance.bvh")
    with pytest.warns(ml.MotionLoomWarning, match=r"the body floats \d+ to \d+ cm above the floor"):
        motion = ml.load(path)
    (finding,) = [one for one in motion.source.findings if "floats" in one.problem]
    first, last = (int(word) for word in finding.where.split() if word.isdigit())
    assert 100 < first < 200
    assert 900 < last < 1000
    command = [sys.executable, "-m", "motionloom", "check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "floats" in done.stdout


def test_no_other_captured_clip_floats(mocap: Path) -> None:
    clips = sorted((mocap / "audit").glob("*.bvh"))[::4]
    for name in ("143_17", "143_01", "69_70", "56_08", "83_36", "16_01"):
        clips += [path for path in (mocap / "cmu_bvh" / f"{name}.bvh",) if path.is_file()]
    for path in clips:
        findings = [one for one in loaded(path).source.findings if "floats" in one.problem]
        assert bool(findings) == (path.stem == "jesse_dance"), path
