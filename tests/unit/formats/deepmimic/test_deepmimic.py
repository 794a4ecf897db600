"""DeepMimic motions: columns, durations, characters, and broken JSON."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.formats.deepmimic import deepmimic
from motionloom.formats.deepmimic.deepmimic import read_rows
from motionloom.formats.deepmimic.deepmimic_skeleton import HUMANOID
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.rotation import quat

FLOAT64 = 1e-14
WIDTH = 44
KNEE = 20  # column of the right knee: duration 1, root 7, chest 4, neck 4, right hip 4


def row(duration: float = 0.05, *, x: float = 0.0, knee: float = 0.0) -> list[float]:
    values = [duration, x, 0.9, 0.0]
    for size in HUMANOID.sizes:
        values += [1.0, 0.0, 0.0, 0.0] if size == 4 else [0.0] * size
    values[KNEE] = knee
    return values


def parsed(frames: Any, **options: Any) -> FileClip:
    data = json.dumps({"Loop": "wrap", "Frames": frames}).encode()
    return deepmimic.read(io.BytesIO(data), ReadOptions(**options))


def fault(data: bytes, **options: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        deepmimic.read(io.BytesIO(data), ReadOptions(**options))
    return caught.value


def frames_fault(frames: Any) -> FormatError:
    return fault(json.dumps({"Frames": frames}).encode())


def test_a_row_has_forty_four_values() -> None:
    assert HUMANOID.width == WIDTH
    assert len(row()) == WIDTH


def test_a_clip_is_read_with_all_that_is_in_it() -> None:
    clip = parsed([row(x=0.0), row(x=0.1), row(0.0, x=0.2)])
    assert clip.motion.fps == pytest.approx(20.0)
    assert clip.motion.root_positions[:, 0].tolist() == [0.0, 0.1, 0.2]
    assert (clip.unit_m, clip.up, clip.fps_stated) == (1.0, "y", True)
    assert clip.detail["loop"] is True
    assert clip.findings == ()


def test_standing_straight_is_as_tall_as_a_person() -> None:
    motion = parsed([row()]).motion
    heights = np.concatenate([motion.world_positions()[0], motion.end_positions()[0]])[:, 1]
    assert 1.5 < np.ptp(heights) < 1.8
    right, left = (motion.skeleton.index(f"{side}_hip") for side in ("right", "left"))
    assert motion.world_positions()[0, right, 2] > motion.world_positions()[0, left, 2]


def test_a_knee_turns_about_z_and_bends_the_shin_back() -> None:
    motion = parsed([row(knee=-1.2)]).motion
    knee = motion.skeleton.index("right_knee")
    expected = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), -1.2)
    np.testing.assert_allclose(motion.local_quats[0, knee], expected, atol=FLOAT64)
    positions = motion.world_positions()[0]
    assert positions[knee + 1, 0] < positions[knee, 0]  # it faces +X


def test_the_last_duration_is_not_looked_at() -> None:
    for last in (0.0, 0.05, 7.0):
        assert parsed([row(), row(last)]).motion.n_frames == 2


def test_durations_that_differ_are_resampled() -> None:
    clip = parsed([row(0.1, x=0.0), row(0.2, x=0.1), row(0.1, x=0.3), row(0.0, x=0.4)])
    assert clip.motion.fps == pytest.approx(10.0)
    np.testing.assert_allclose(
        clip.motion.root_positions[:, 0], [0, 0.1, 0.2, 0.3, 0.4], atol=FLOAT64
    )
    assert "resampled" in clip.findings[0].problem


def test_without_durations_a_rate_is_assumed_and_reported() -> None:
    clip = parsed([row(0.0), row(0.0)])
    assert not clip.fps_stated
    assert clip.motion.fps == 30.0
    assert "fps=" in clip.findings[0].fix


def test_quaternions_are_normalised_and_reported_where_they_are_far_off() -> None:
    frame = row()
    frame[4] = 0.5
    clip = parsed([frame])
    assert clip.motion.local_quats[0, 0].tolist() == [1, 0, 0, 0]
    assert "normalised" in clip.findings[0].problem
    frame[4] = 1.001
    assert parsed([frame]).findings == ()


def test_signs_are_continuous() -> None:
    flipped = row()
    flipped[4] = -1.0
    assert parsed([row(), flipped]).motion.local_quats[1, 0, 0] == 1.0


@pytest.mark.parametrize(
    ("frames", "problem"),
    [
        ([], "at least one frame"),
        ({}, "at least one frame"),
        ([[]], "list of 44 numbers"),
        (["x"], "list of 44 numbers"),
        ([row(), row()[:-1]], "list of 44 numbers, got 43"),
        ([[*row()[:-1], "x"]], "Every value must be a number"),
        ([[*row()[:-1], None]], "Every value must be a number"),
        ([[*row()[:-1], True]], "Every value must be a number"),
        ([[*row()[:-1], [1]]], "Every value must be a number"),
        ([[*row()[:-1], 10**400]], "too large"),
        ([[1.0] * 12], "must have 44 values"),
        ([[0.1] * 4 + [0.0] * 40], "no quaternion"),
        ([row(-0.1), row(0.1), row(0.1), row(0.1)], "must not be negative"),
        ([row(1e-4), row(1e-4), row(1e9), row(0)], "differ too much"),
    ],
)
def test_broken_frames_are_named(frames: Any, problem: str) -> None:
    error = frames_fault(frames)
    assert problem in error.problem
    assert error.where


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b'{"Loop": "wrap"}',
        b'{"Frames": [[NaN]]}',
        b'{"Frames": [[1e999]]}',
        b'{"Frames": ' + b"[" * 200_000,
        b'{"Frames": [[' + b"9" * 10_000 + b"]]}",
        b"\xff\xfe{",
        b"\x00\x01\x02",
    ],
)
def test_broken_json_is_a_format_error(data: bytes) -> None:
    assert str(fault(data))


def test_truncation_at_every_byte_gives_a_clear_error() -> None:
    data = json.dumps({"Loop": "wrap", "Frames": [row(), row()]}).encode()
    for n_bytes in range(len(data)):
        assert fault(data[:n_bytes]).problem


def character(**changes: Any) -> dict[str, Any]:
    joint = {"Parent": 0, "AttachX": 0.0, "AttachY": 0.5, "AttachZ": 0.0, **changes}
    root = {"Name": "base", "Type": "none", **joint, "Parent": -1}
    return {"Skeleton": {"Joints": [root, {"Name": "tip", "Type": "revolute", **joint}]}}


def test_another_character_is_found_next_to_the_file_or_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "arm.skeleton.json"
    file.write_text(json.dumps(character()))
    frames = [[0.1, 0, 1, 0, 1, 0, 0, 0, 0.3]]
    for options in ({"path": tmp_path / "a.txt"}, {"skeleton": file}):
        clip = parsed(frames, **options)
        assert clip.motion.skeleton.names == ("base", "tip")
    assert "skeleton=" in (frames_fault(frames).fix or "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        json.dumps(character(Parent=1)),
        json.dumps(character(AttachX="x")),
        json.dumps(character(Type="wheel")),
        json.dumps({"Skeleton": {"Joints": []}}),
        json.dumps({"Skeleton": {"Joints": [3]}}),
    ],
)
def test_a_broken_character_is_a_format_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "arm.json"
    file.write_text(text)
    data = json.dumps({"Frames": [[0.1, 0, 1, 0, 1, 0, 0, 0, 0.3]]}).encode()
    assert "arm.json" in str(fault(data, skeleton=file))


def test_limits_are_kept() -> None:
    data = json.dumps({"Frames": [row(), row()]}).encode()
    assert "at most 1 frames" in str(fault(data, limits=Limits(max_frames=1)))
    assert "at most 9 bytes" in str(fault(data, limits=Limits(max_bytes=9)))


@pytest.mark.parametrize(
    ("character", "width"),
    [("z", 1), ("\u00ff", 1), ("\u0100", 2), ("\uffff", 2), ("\U00010000", 4)],
)
def test_memory_for_the_text_is_that_of_its_widest_character(character: str, width: int) -> None:
    data = json.dumps({"Loop": character, "Frames": [row()]}, ensure_ascii=False).encode()
    taken = []

    class Recorded(Budget):
        def take(self, n_bytes: int, what: str, where: str | None = None) -> None:
            taken.append((n_bytes, what))
            super().take(n_bytes, what, where)

    read_rows(data, Limits(), Recorded(Limits(), len(data)), lambda _: HUMANOID)
    assert taken[0] == (width * len(data), "its text")
    text = data.decode()  # and this is what the text takes
    assert sys.getsizeof(text + text) - sys.getsizeof(text) == width * len(text)


@pytest.mark.parametrize("duration", [0.0, -0.1, 1e-320])
def test_durations_without_a_rate_are_reported(duration: float) -> None:
    clip = parsed([row(duration), row(duration), row(duration)])
    assert (clip.motion.fps, clip.fps_stated, clip.motion.n_frames) == (30.0, False, 3)
    assert "above 0 seconds" in clip.findings[0].problem


def test_the_longest_and_the_shortest_duration_have_rates() -> None:
    for duration in (1e12, 1e-6):
        assert parsed([row(duration), row(duration)]).motion.fps == 1.0 / duration


def test_one_frame_has_the_rate_of_its_duration() -> None:
    clip = parsed([row(0.04)])
    assert (clip.motion.fps, clip.fps_stated) == (25.0, True)


def test_a_duration_of_nothing_among_others_is_a_jump() -> None:
    clip = parsed([row(0.1, x=0.0), row(0.0, x=1.0), row(0.1, x=2.0), row(0.1, x=3.0), row(x=4.0)])
    assert clip.motion.fps == pytest.approx(10.0)
    xs = clip.motion.root_positions[:, 0].tolist()
    assert (len(xs), xs[0], xs[2], xs[3]) == (4, 0.0, pytest.approx(3.0), pytest.approx(4.0))
    assert xs[1] in (pytest.approx(1.0), pytest.approx(2.0))
