"""Plain numpy files, as people write them by hand."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.formats.archives import plain_arrays as arrays
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.rotation import quat


def by_hand(**changes: Any) -> dict[str, Any]:
    archive: dict[str, Any] = {
        "root_positions": np.zeros((4, 3), np.float32),
        "local_quats": quat.exp(np.linspace(0, 1, 24).reshape(4, 2, 3)),
        "fps": 60,
        "names": ["hips", "knee"],
        "parents": [-1, 0],
        "offsets": [[0, 0, 0], [0, -0.5, 0]],
    }
    archive.update(changes)
    return {key: value for key, value in archive.items() if value is not None}


def read(archive: dict[str, Any], **options: Any) -> FileClip:
    stream = io.BytesIO()
    np.savez(stream, **archive)
    stream.seek(0)
    return arrays.read(stream, ReadOptions(**options))


def test_six_arrays_make_a_clip() -> None:
    clip = read(by_hand())
    assert clip.motion.fps == 60.0
    assert clip.motion.skeleton.names == ("hips", "knee")
    assert (clip.unit_m, clip.up, clip.fps_stated) == (None, None, True)


def test_compressed_files_are_read_too() -> None:
    stream = io.BytesIO()
    np.savez_compressed(stream, **by_hand())
    stream.seek(0)
    assert arrays.read(stream, ReadOptions()).motion.n_frames == 4


def test_a_missing_rate_is_a_warning_with_what_to_do() -> None:
    clip = read(by_hand(fps=None))
    assert not clip.fps_stated
    assert [f.level for f in clip.findings] == ["warning"]
    assert "fps=RATE" in clip.findings[0].fix


def test_missing_names_are_numbered_and_reported() -> None:
    clip = read(by_hand(names=None))
    assert clip.motion.skeleton.names == ("joint_0", "joint_1")
    assert clip.findings[0].level == "warning"


def test_the_order_of_quaternions_can_be_given() -> None:
    archive = by_hand()
    turned = by_hand(local_quats=archive["local_quats"][..., [1, 2, 3, 0]], quat_order="xyzw")
    assert np.array_equal(read(turned).motion.local_quats, read(archive).motion.local_quats)
    with pytest.raises(FormatError, match="wxyz or xyzw"):
        read(by_hand(quat_order="zyxw"))


def test_unit_and_up_are_taken_from_the_file() -> None:
    clip = read(by_hand(unit_m=0.01, up="z"))
    assert (clip.unit_m, clip.up) == (0.01, "z")
    with pytest.raises(FormatError, match="Up must be one of"):
        read(by_hand(up="w"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"local_quats": None}, "'local_quats' is needed"),
        ({"offsets": None}, "'offsets' is needed"),
        ({"parents": [-1, 5]}, "earlier joint"),
        ({"parents": [-1, 0, 0]}, r"shape must be \(2\)"),
        ({"names": ["a", "a"]}, "unique"),
        ({"names": ["a"]}, "shape|names"),
        ({"fps": 0}, "above 0"),
        ({"fps": [30, 60]}, "One number"),
        ({"fps": "fast"}, "One number"),
        ({"root_positions": np.zeros((3, 3))}, r"\(4, 3\)"),
        ({"local_quats": np.ones((4, 2, 4))}, "unit length"),
        ({"local_quats": np.full((4, 2, 4), np.nan)}, "finite"),
        ({"local_quats": np.zeros((0, 2, 4)), "root_positions": np.zeros((0, 3))}, "one frame"),
        (
            {
                "local_quats": np.zeros((4, 0, 4)),
                "names": np.zeros(0, "<U1"),
                "parents": [],
                "offsets": np.zeros((0, 3)),
            },
            "1 to 4096 joints",
        ),
    ],
)
def test_wrong_arrays_are_refused_with_the_reason(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(by_hand(**changes))


def test_limits_are_kept() -> None:
    with pytest.raises(FormatError, match="At most 1 joints"):
        read(by_hand(), limits=Limits(max_joints=1))


def test_an_amass_file_whose_first_array_is_unknown_is_still_read() -> None:
    clip = read({"zz": 1, "poses": np.zeros((2, 66)), "trans": np.zeros((2, 3))})
    assert clip.up == "z"
    assert clip.motion.skeleton.n_joints == 22


def test_a_clip_without_a_unit_is_written_in_metres_with_y_up() -> None:
    clip = read(by_hand())
    stream = io.BytesIO()
    arrays.write(FileClip(clip.motion, unit_m=None, up=None), stream)
    stream.seek(0)
    archive = np.load(stream)
    assert float(archive["unit_m"]) == 1.0
    assert str(archive["up"]) == "y"
    assert str(archive["quat_order"]) == "wxyz"


@pytest.mark.parametrize("unit", [0.0, -1.0])
def test_a_unit_must_be_above_zero(unit: float) -> None:
    with pytest.raises(FormatError, match="unit_m"):
        read(by_hand(unit_m=unit))
