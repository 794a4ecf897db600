"""Every clip of the index comes in with its frames and rate, upright, life-size, facing forward."""

from __future__ import annotations

import csv
import json
import os
import re
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import stature
from motionloom.body.body_map import facing
from motionloom.findings import MotionLoomWarning

READ_HERE = {"BVH", "ASF/AMC", "DeepMimic", "glTF"}
NOT_PEOPLE = {"sinusoidal.bvh", "rotation_first_root.bvh"}
ADDED_T_POSE = {"three_pirouette.bvh"}
"""Besides all of CMU's BVH; looked at: frame 0 is a T-pose, frame 1 is in the middle of a dance."""

TALL_M = (1.4, 2.1)
RATE = 2e-4
"""Rates in files are rounded to so many parts."""
KEY_TIMES = 1e-4
"""Times of keys are single precision: so much of their distance can be rounding."""
UPRIGHT = 0.75
FORWARD = 0.8
"""Cosine of the angle between heading and travel, the median over the frames that travel."""
TRAVELS_M = 0.5
TRAVEL_SPEED = 0.3

GOES = re.compile(r"(\b|_)(walk|run|jog|dash)")
NOT_FORWARD = re.compile(r"back|sideways|sidestep|in place")


def _rows() -> list[dict[str, str]]:
    folder_name = os.environ.get("MOTIONLOOM_MOCAP")
    here = Path(__file__).resolve().parents[2].parent / "shared" / "mocap"
    index = (Path(folder_name) if folder_name else here) / "INDEX.csv"
    if not index.is_file():
        return []
    with index.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return [row for row in rows if row["role"] == "motion" and row["format"] in READ_HERE]


def clips(*formats: str) -> pytest.MarkDecorator:
    rows = [row for row in _rows() if not formats or row["format"] in formats]
    chosen = rows or [{"file": "", "format": ""}]  # one case, which the fixture skips
    return pytest.mark.parametrize("row", chosen, ids=[row["file"] for row in chosen])


def load(path: Path | str) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)
        return ml.load(path)


@clips("BVH", "ASF/AMC", "DeepMimic")
def test_a_clip_comes_in_as_the_index_describes(mocap: Path, row: dict[str, str]) -> None:
    motion = load(mocap / row["file"])
    name = Path(row["file"]).name
    added = int(row["file"].startswith("cmu_bvh/") or name in ADDED_T_POSE)
    assert motion.source.skipped_frames == added
    assert motion.n_frames == int(row["frames"]) - added
    assert motion.fps == pytest.approx(float(row["fps"]), rel=RATE)
    if name not in NOT_PEOPLE:
        assert TALL_M[0] <= stature(motion.skeleton) <= TALL_M[1]
        assert_upright(motion)
    if goes_forward(row):
        assert_faces_its_travel(motion)


@clips("glTF")
def test_the_clips_of_a_gltf_file_add_up_to_the_index(mocap: Path, row: dict[str, str]) -> None:
    path = mocap / row["file"]
    keys = key_times(path)
    every = [load(f"{path}#{name}") if len(keys) > 1 else load(path) for name in keys]
    assert [motion.n_frames for motion in every] == [len(times) for times in keys.values()]
    assert sum(motion.n_frames for motion in every) == int(row["frames"])
    # One row for all clips: its rate is the number of all keys over the last times of all clips.
    # Soldier's first keys are at 0, so one interval per clip is missing: 116 / 3.733 is 31.074, and
    # his keys are 1/30 s apart. CesiumMan's first key is at 1/24 s, and 48 / 2 is his rate.
    seconds = sum(times[-1] for times in keys.values())
    assert f"{seconds:.3f}" == f"{float(row['duration_s']):.3f}"
    assert round(int(row["frames"]) / round(seconds, 3), 3) == float(row["fps"])
    for motion, times in zip(every, keys.values(), strict=True):
        assert 1.0 / np.diff(times) == pytest.approx(motion.fps, rel=KEY_TIMES)
        assert_upright(motion)
        assert TALL_M[0] <= stature(motion.skeleton) <= TALL_M[1]


def test_the_soldier_is_at_30_fps_and_cesium_man_at_24(mocap: Path) -> None:
    for clip, fps in {"Soldier.glb#Walk": 30.0, "Soldier.glb": 30.0, "CesiumMan.glb": 24.0}.items():
        assert load(f"{mocap / 'gltf' / clip}").fps == fps


def test_no_kind_of_file_in_the_index_is_forgotten(mocap: Path) -> None:
    with (mocap / "INDEX.csv").open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["role"] == "motion"]
    assert {row["format"] for row in rows} - READ_HERE == {"C3D", "HDF5", ""}
    assert len(_rows()) >= 200


def test_clips_of_which_the_index_says_nothing_are_people_who_stand(mocap: Path) -> None:
    with (mocap / "INDEX.csv").open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if not row["format"]]
    files = [row["file"] for row in rows if row["file"].endswith(".bvh")]
    assert len(files) >= 19
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MotionLoomWarning)
            motion = load(mocap / file)
        assert_upright(motion)
        assert TALL_M[0] <= stature(motion.skeleton) <= TALL_M[1], file


def goes_forward(row: dict[str, str]) -> bool:
    text = row["description"].lower()
    return bool(GOES.search(text)) and not NOT_FORWARD.search(text)


def assert_upright(motion: ml.Motion) -> None:
    body = ml.BodyMap.guess(motion.skeleton)
    positions = motion.world_positions()
    top = body.head if body.head is not None else body.neck
    assert top is not None and body.left_ankle is not None and body.right_ankle is not None
    along = positions[:, top] - positions[:, [body.left_ankle, body.right_ankle]].mean(axis=1)
    cosine = along[:, 1] / np.linalg.norm(along, axis=1)
    assert np.median(cosine) > UPRIGHT


def assert_faces_its_travel(motion: ml.Motion) -> None:
    body = ml.BodyMap.guess(motion.skeleton)
    path = motion.world_positions()[:, body.pelvis][:, [0, 2]]
    half = max(1, round(0.1 * motion.fps))
    velocity = (path[2 * half :] - path[: -2 * half]) * motion.fps / (2 * half)
    speed = np.linalg.norm(velocity, axis=1)
    if speed.sum() / motion.fps < TRAVELS_M:
        return
    heading = facing(motion)[half:-half]
    ahead = velocity[:, 0] * np.sin(heading) + velocity[:, 1] * np.cos(heading)
    goes = speed > TRAVEL_SPEED
    assert np.median(ahead[goes] / speed[goes]) > FORWARD


def key_times(path: Path) -> dict[str, np.ndarray]:
    """Times of the keys of every clip of a GLB, by its name, straight from the bytes."""
    content = path.read_bytes()
    (size,) = struct.unpack_from("<I", content, 12)
    document = json.loads(content[20 : 20 + size])
    times = {}
    for number, animation in enumerate(document["animations"]):
        accessor = document["accessors"][animation["samplers"][0]["input"]]
        view = document["bufferViews"][accessor["bufferView"]]
        start = 28 + size + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        keys = np.frombuffer(content, "<f4", accessor["count"], start)
        times[animation.get("name", str(number))] = keys.astype(float)
    return times
