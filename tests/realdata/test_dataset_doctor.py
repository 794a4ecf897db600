"""The check of a data set on real clips: every captured defect is found, clean clips pass."""

from __future__ import annotations

from pathlib import Path

import pytest

import motionloom as ml

BENT_BACK = ["03", "04", "05", "07", "14", "16", "20", "25", "32", "34"]
"""Clips of subject 141: knees bent backwards, and captured at 60 Hz under a header of 120."""
GLITCHED = ("16_22", "16_28")
STILL_ROOT = (
    "dataset-1_run_childish_001",
    "dataset-1_walk_tired_001",
    "dataset-2_walk-turn-left_active_001",
    "dataset-2_walk_active_001",
)
FLOATS = "jesse_dance"
SOUND = ("cmu_bvh/16_12", "cmu_bvh/69_60", "cmu_bvh/16_35", "audit/35_03", "audit/127_03")


@pytest.fixture(scope="module")
def audited(mocap: Path) -> dict[str, ml.ClipReport]:
    names = [f"141_{each}" for each in BENT_BACK] + [*GLITCHED, *STILL_ROOT, FLOATS]
    paths = [mocap / "audit" / f"{name}.bvh" for name in names]
    paths += [mocap / f"{name}.bvh" for name in SOUND]
    found = ml.check_dataset(paths, progress=False)
    return {Path(clip.path).stem: clip for clip in found.clips}


def columns(clip: ml.ClipReport) -> set[str]:
    return {each.column for each in clip.defects}


@pytest.mark.slow
@pytest.mark.parametrize("name", BENT_BACK)
def test_knees_bent_backwards_and_the_wrong_rate_of_141_are_found(audited, name: str) -> None:
    assert {"backward_knees", "frame_rate"} <= columns(audited[f"141_{name}"])
    assert audited[f"141_{name}"].likely_fps == pytest.approx(60.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", GLITCHED)
def test_captured_glitches_are_found(audited, name: str) -> None:
    assert "glitches" in columns(audited[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", STILL_ROOT)
def test_root_bones_that_lie_still_are_noted_and_reject_nothing(audited, name: str) -> None:
    assert "still_root" in columns(audited[name])
    assert "still_root" not in {each.column for each in audited[name].faults}


@pytest.mark.slow
def test_a_body_that_floats_is_found(audited) -> None:
    assert "contacts" in columns(audited[FLOATS])


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
def test_sound_clips_are_not_accused(audited, name: str) -> None:
    assert [str(each) for each in audited[Path(name).stem].defects] == []


@pytest.mark.slow
def test_the_same_takes_in_two_formats_are_duplicates(mocap: Path) -> None:
    names = ("16_13", "16_35", "16_41")
    paths = [mocap / "cmu_asfamc" / f"{name}.amc" for name in names]
    paths += [mocap / "cmu_bvh" / f"{name}.bvh" for name in names]
    found = ml.check_dataset(paths, progress=False)
    copies = {Path(clip.path).stem for clip in found.clips if clip.duplicate_of}
    assert copies == set(names)
