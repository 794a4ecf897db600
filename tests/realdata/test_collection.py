"""Collections of real files: wrong rates in headers, sliding rigs, many formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.glitches.repair import repair_capture
from motionloom.tables.collection.collection import Collection

FLOAT32_M = 2e-5
"""Joints of a clip far from the origin, kept in single precision about the body."""
PLANT_CM = 4.0
"""How far a planted ball may be from where it stood, after another body was put in."""


def linked(folder: Path, mocap: Path, files: list[str]) -> Path:
    folder.mkdir()
    for file in files:
        (folder / Path(file).name).symlink_to(mocap / file)
    return folder


def test_a_wrong_rate_is_reported_with_the_remedy_and_the_remedy_works(mocap, tmp_path):
    clips = linked(tmp_path / "clips", mocap, ["cmu_bvh/143_04.bvh", "cmu_bvh/143_32.bvh"])
    doubted = Collection.ingest(clips, fps=60)
    warned = [text for clip, text in doubted.report.warnings if clip == "143_04"]
    assert any("source_fps={'143_*': 60}" in text for text in warned)
    assert set(doubted.report.resampled) == {"143_04", "143_32"}
    right = Collection.ingest(clips, fps=60, source_fps={"143_*": 60})
    assert right.report.resampled == ()
    assert not [text for _, text in right.report.warnings if "gravity" in text]
    assert right.frames.n_rows == pytest.approx(2 * doubted.frames.n_rows, abs=2)


def test_frames_are_those_of_the_files_without_the_t_pose(mocap, tmp_path):
    clips = linked(tmp_path / "clips", mocap, ["cmu_bvh/16_35.bvh"])
    lib = Collection.ingest(clips, fps=120)
    motion = ml.load(mocap / "cmu_bvh" / "16_35.bvh")
    assert motion.source.skipped_frames == 1
    again = lib.motion("16_35")
    assert again.n_frames == motion.n_frames
    ready = repair_capture(motion).motion  # a jump in the first frames is repaired
    assert np.abs(again.world_positions() - ready.world_positions()).max() < FLOAT32_M


def test_an_acclaim_pair_finds_its_skeleton_and_notices_when_that_changes(mocap, tmp_path):
    clips = linked(tmp_path / "clips", mocap, ["cmu_asfamc/16_15.amc"])
    (clips / "16.asf").write_bytes((mocap / "cmu_asfamc" / "16.asf").read_bytes())
    first = Collection.ingest(clips, fps=60)
    assert first.ids == ("16_15",)
    assert Collection.ingest(clips, fps=60).report.read == 0
    text = (clips / "16.asf").read_text().replace("length 6.73", "length 6.93", 1)
    (clips / "16.asf").write_text(text + "# changed\n")
    assert Collection.ingest(clips, fps=60).report.read == 1


def test_every_clip_of_a_file_of_several_is_taken(mocap, tmp_path):
    clips = linked(tmp_path / "clips", mocap, ["gltf/Soldier.glb"])
    lib = Collection.ingest(clips, fps=30)
    assert lib.ids == ("Soldier#Idle", "Soldier#Run", "Soldier#TPose", "Soldier#Walk")


def test_a_sliding_pelvis_loses_nothing(mocap, tmp_path):
    file = "bandai_bvh/dataset-1_kick_normal_001.bvh"
    clips = linked(tmp_path / "clips", mocap, [file])
    lib = Collection.ingest(clips, fps=30)
    motion = ml.load(mocap / file)
    apart = lib.motion(Path(file).stem).world_positions()[:, 1:] - motion.world_positions()[:, 1:]
    assert np.abs(apart).max() < FLOAT32_M
    assert lib.report.noted("travel and heading of Hips")


def test_another_body_is_put_in_and_its_feet_stay_where_they_stand(mocap, tmp_path):
    files = ["cmu_bvh/16_15.bvh", "cmu_bvh/16_35.bvh", "bandai_bvh/dataset-1_kick_normal_001.bvh"]
    clips = linked(tmp_path / "clips", mocap, files)
    lib = Collection.ingest(clips, fps=60, skeleton=mocap / files[1])
    assert lib.report.retargeted == ("dataset-1_kick_normal_001",)
    frames = lib.frames
    first = frames.row_of("dataset-1_kick_normal_001", 0)
    last = int(frames.starts[frames.clip_at(first) + 1]) - 1
    balls = _world(frames, first, last)
    planted = frames.footplants(first, last)
    for kind, k in (("left_toe", 1), ("right_toe", 3)):
        for a, b in planted.intervals()[kind]:
            stands = balls[a : b + 1, k]
            assert 100.0 * np.ptp(stands, axis=0).max() < PLANT_CM


def _world(frames, first: int, last: int) -> np.ndarray:
    """Foot points (F, 4, 3) where the clip has them."""
    rows = slice(first, last + 1)
    psi, points = frames.heading[rows, None], frames.points[rows].astype(float)
    x = np.cos(psi) * points[..., 0] + np.sin(psi) * points[..., 2]
    z = np.cos(psi) * points[..., 2] - np.sin(psi) * points[..., 0]
    return np.stack(
        [x + frames.ground[rows, None, 0], points[..., 1], z + frames.ground[rows, None, 1]],
        axis=-1,
    )


def test_a_mixed_folder_is_taken_as_far_as_it_goes(mocap, tmp_path):
    ugly = sorted(f"ugly/{file.name}" for file in (mocap / "ugly").glob("*.bvh"))
    files = ["cmu_bvh/16_35.bvh", "cmu_bvh/16_36.bvh", "gltf/CesiumMan.glb", *ugly]
    lib = Collection.ingest(linked(tmp_path / "clips", mocap, files), fps=60)
    assert len(lib.ids) + len(lib.report.left_out) == len(files)
    assert {"16_35", "16_36", "CesiumMan"} <= set(lib.ids)
    assert np.isfinite(lib.frames.body).all()
    assert lib.find_damage() == []
