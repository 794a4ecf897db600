"""BVH, AMC and DeepMimic readers on every real clip in these formats."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from motionloom.formats.acclaim import amc
from motionloom.formats.bvh import bvh
from motionloom.formats.deepmimic import deepmimic
from motionloom.formats.file_clip import FileClip, ReadOptions

READERS = {"BVH": bvh.read, "ASF/AMC": amc.read, "DeepMimic": deepmimic.read}
INDEX_HZ = 6e-4
"""The index gives rates with three decimals."""
BVH_TEXT = 1e-7
"""What six decimals may move a joint by, as a part of the skeleton's height."""
PAIR_M = 1e-5
"""How far AMC and BVH of the same take may be apart."""

LEGS = {
    "Hips": "root",
    "LHipJoint": "lhipjoint",
    "LeftUpLeg": "lfemur",
    "LeftLeg": "ltibia",
    "LeftFoot": "lfoot",
    "LeftToeBase": "ltoes",
    "RHipJoint": "rhipjoint",
    "RightUpLeg": "rfemur",
    "RightLeg": "rtibia",
    "RightFoot": "rfoot",
    "RightToeBase": "rtoes",
    "LowerBack": "lowerback",
    "Spine": "upperback",
    "Spine1": "thorax",
}
"""Joints that CMU's BVH and ASF share; the BVH lacks the thorax, and all above it differs."""


def rows_of(mocap: Path, *kinds: str) -> list[dict[str, str]]:
    with (mocap / "INDEX.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [row for row in rows if row["format"] in kinds and row["frames"]]


def opened(path: Path, kind: str) -> FileClip:
    with path.open("rb") as stream:
        return READERS[kind](stream, ReadOptions(path=path))


def test_every_clip_has_the_frames_rate_and_joints_of_the_index(mocap: Path) -> None:
    rows = rows_of(mocap, *READERS)
    assert len(rows) > 150
    for row in rows:
        clip = opened(mocap / row["file"], row["format"])
        assert clip.motion.n_frames == int(row["frames"]), row["file"]
        assert clip.motion.fps == pytest.approx(float(row["fps"]), abs=INDEX_HZ), row["file"]
        if row["joints"].isdigit():
            assert clip.motion.skeleton.n_joints == int(row["joints"]), row["file"]


def test_only_files_with_faults_have_findings(mocap: Path) -> None:
    faulty = {
        row["file"]
        for row in rows_of(mocap, "BVH", "ASF/AMC")
        if opened(mocap / row["file"], row["format"]).findings
    }
    assert faulty == {"ugly/Boxing_Toes.bvh"}


def test_bvh_comes_back_from_bvh_with_its_channels_and_every_joint_in_place(mocap: Path) -> None:
    for row in rows_of(mocap, "BVH"):
        clip = opened(mocap / row["file"], "BVH")
        stream = io.BytesIO()
        bvh.write(clip, stream)
        stream.seek(0)
        back = bvh.read(stream, ReadOptions())
        assert back.detail["channels"] == clip.detail["channels"], row["file"]
        assert back.motion.fps == clip.motion.fps, row["file"]
        positions = clip.motion.world_positions()
        height = np.ptp(positions[0], axis=0).max()
        error = np.abs(back.motion.world_positions() - positions).max()
        assert error < BVH_TEXT * height, row["file"]


def test_amc_and_bvh_of_the_same_take_agree_on_hips_and_legs(mocap: Path) -> None:
    pairs = [
        (row["file"], mocap / "cmu_bvh" / f"{Path(row['file']).stem}.bvh")
        for row in rows_of(mocap, "ASF/AMC")
    ]
    pairs = [(file, twin) for file, twin in pairs if twin.is_file()]
    assert len(pairs) >= 10
    for file, twin in pairs:
        a, b = opened(mocap / file, "ASF/AMC"), opened(twin, "BVH")
        assert b.motion.n_frames == a.motion.n_frames + 1  # the BVH has a T-pose first
        assert a.unit_m is not None
        in_a = [a.motion.skeleton.index(name) for name in LEGS.values()]
        in_b = [b.motion.skeleton.index(name) for name in LEGS]
        apart = a.motion.world_positions()[:, in_a] - b.motion.world_positions()[1:, in_b]
        assert np.abs(apart).max() * a.unit_m < PAIR_M, file


def test_bandai_joints_stand_where_their_position_channels_put_them(mocap: Path) -> None:
    clip = opened(mocap / "bandai_bvh" / "dataset-1_walk_normal_001.bvh", "BVH")
    motion = clip.motion
    assert motion.joint_translations is not None
    hips = motion.skeleton.index("Hips")
    text = (mocap / "bandai_bvh" / "dataset-1_walk_normal_001.bvh").read_text()
    first = [float(word) for word in text.partition("Frame Time:")[2].splitlines()[1].split()]
    assert motion.joint_translations[0, hips].tolist() == first[6:9]


def test_deepmimic_people_stand_up_and_walk_the_way_they_face(mocap: Path) -> None:
    for name in ("walk", "run", "jog", "zombie_walk", "stealthy_walk"):
        motion = opened(mocap / "deepmimic_txt" / f"humanoid3d_{name}.txt", "DeepMimic").motion
        positions, ends = motion.world_positions(), motion.end_positions()
        crown, toes = ends[:, 0], ends[:, 1:]
        assert np.all(crown[:, 1] - toes[..., 1].min(axis=1) > 1.2), name
        assert -0.1 < toes[..., 1].min() < 0.1, name
        right, left = (positions[:, motion.skeleton.index(f"{s}_hip")] for s in ("right", "left"))
        across = left - right
        facing = np.cross(across, [0.0, 1.0, 0.0]).mean(axis=0)
        travel = positions[-1, 0] - positions[0, 0]
        assert facing @ travel > 0.8 * np.linalg.norm(facing) * np.linalg.norm(travel), name
        shin = motion.skeleton.index("right_knee")
        bend = 2.0 * np.arctan2(motion.local_quats[:, shin, 3], motion.local_quats[:, shin, 0])
        assert bend.max() < 0.1, name  # knees never bend forward


def test_the_deepmimic_skeleton_beside_the_clips_is_the_one_built_in(mocap: Path) -> None:
    from motionloom.formats.deepmimic.deepmimic_skeleton import HUMANOID, Character

    file = mocap / "deepmimic_txt" / "humanoid3d.skeleton.json"
    published = Character.from_file(file, 100)
    assert published.sizes == HUMANOID.sizes
    assert published.skeleton.names == HUMANOID.skeleton.names
    for name in ("parents", "offsets", "rest_quats", "end_parents", "end_offsets"):
        ours, theirs = getattr(HUMANOID.skeleton, name), getattr(published.skeleton, name)
        np.testing.assert_allclose(ours, theirs, atol=1e-12, err_msg=name)
