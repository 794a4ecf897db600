"""Real glTF files: upright, metric, every clip and frame that the index names."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.gltf import glb

ROUND_TRIP_M = 1e-5


def read(path: Path, clip: str | None = None) -> FileClip:
    with path.open("rb") as stream:
        return glb.read(stream, ReadOptions(path=path, clip=clip))


@pytest.mark.parametrize("name", ["gltf/Soldier.glb", "gltf/CesiumMan.glb"])
def test_joints_and_frames_are_those_of_the_index(mocap: Path, name: str) -> None:
    with (mocap / "INDEX.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row[0]: row for row in csv.reader(stream)}
    clips = [read(mocap / name, clip) for clip in read(mocap / name).clips]
    frames = sum(clip.motion.n_frames for clip in clips)
    assert str(frames) == rows[name][5]
    assert str(clips[0].motion.skeleton.n_joints) == rows[name][9]


def test_soldier_is_four_clips_at_30_fps(mocap: Path) -> None:
    path = mocap / "gltf" / "Soldier.glb"
    assert read(path).clips == ("Idle", "Run", "TPose", "Walk")
    for clip, frames in (("Idle", 60), ("Run", 22), ("TPose", 2), ("Walk", 32)):
        motion = read(path, clip).motion
        assert (motion.n_frames, motion.fps) == (frames, 30.0)
        assert motion.joint_translations is None


def test_cesium_man_walks_at_24_fps(mocap: Path) -> None:
    motion = read(mocap / "gltf" / "CesiumMan.glb").motion
    assert (motion.n_frames, motion.fps) == (48, 24.0)


@pytest.mark.parametrize(("name", "top_m"), [("Soldier", (1.7, 1.9)), ("CesiumMan", (1.45, 1.55))])
def test_figures_stand_upright_on_the_ground_in_metres(
    mocap: Path, name: str, top_m: tuple[float, float]
) -> None:
    """CesiumMan's highest joint is in his neck, at 1.2 m: the top of his head is his skin's."""
    motion = read(mocap / "gltf" / f"{name}.glb").motion
    points = np.concatenate([motion.world_positions(), motion.end_positions()], axis=1)
    assert np.abs(points[..., 1].min()) < 0.03
    assert top_m[0] < points[..., 1].max() < top_m[1]


@pytest.mark.parametrize("name", ["Soldier", "CesiumMan"])
def test_written_and_read_again_every_joint_is_where_it_was(mocap: Path, name: str) -> None:
    clip = read(mocap / "gltf" / f"{name}.glb")
    stream = io.BytesIO()
    glb.write(clip, stream)
    stream.seek(0)
    back = glb.read(stream, ReadOptions())
    gap = back.motion.world_positions() - clip.motion.world_positions()
    assert np.abs(gap).max() < ROUND_TRIP_M
    assert back.motion.fps == clip.motion.fps
