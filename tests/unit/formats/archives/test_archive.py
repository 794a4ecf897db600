"""The archive: everything kept, damage noticed, the future refused."""

from __future__ import annotations

import io
import json
import zipfile
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.archives import archive
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.motion.motion import Motion, Skeleton
from motionloom.motion.provenance import Floor, Source
from motionloom.rotation import quat

SOURCE = Source(
    format="bvh",
    path="clips/a.bvh",
    clip="Run",
    unit_m=0.05644,
    up="-z",
    fps=119.99,
    skipped_frames=1,
    floor=Floor(0.01, 0.02, 0.001, -0.002, 0.003),
    detail=MappingProxyType(
        {
            "channels": (("Xposition", "Yposition"), ("Zrotation",)),
            "lengths": np.array([1.5, 2.0]),
            "nested": {"on": True, "none": None},
            "code": object(),
        }
    ),
    findings=(Finding("note", "frame 0", "A T-pose.", "Leave it."), Finding("warning", "x", "y")),
)


def clip() -> FileClip:
    rng = np.random.Generator(np.random.PCG64(4))
    skeleton = Skeleton(
        ("hips", "knie ü😀"),
        np.array([-1, 0]),
        rng.normal(size=(2, 3)),
        rest_quats=quat.exp(rng.normal(size=(2, 3))),
        end_parents=np.array([1]),
        end_offsets=rng.normal(size=(1, 3)),
    )
    motion = Motion(
        skeleton,
        rng.normal(size=(5, 3)),
        quat.exp(rng.normal(size=(5, 2, 3))),
        119.88011988,
        joint_translations=rng.normal(size=(5, 2, 3)),
        name="a walk",
        source=SOURCE,
    )
    return FileClip(motion, unit_m=1.0, up="y", clip="Run")


def written(clip: FileClip) -> bytes:
    stream = io.BytesIO()
    archive.write(clip, stream)
    return stream.getvalue()


def read(data: bytes) -> FileClip:
    return archive.read(io.BytesIO(data), ReadOptions())


def with_header(**changes: Any) -> bytes:
    """The archive with parts of its header changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written(clip()))) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == archive.HEADER:
                data = json.dumps({**json.loads(data), **changes}).encode()
            new.writestr(name, data)
    return out.getvalue()


def test_every_number_comes_back_to_the_last_bit() -> None:
    ours, back = clip().motion, read(written(clip())).motion
    for key in ("root_positions", "local_quats", "joint_translations"):
        assert np.array_equal(getattr(back, key), getattr(ours, key))
    for key in ("parents", "offsets", "rest_quats", "end_parents", "end_offsets"):
        assert np.array_equal(getattr(back.skeleton, key), getattr(ours.skeleton, key))
    assert (back.fps, back.name) == (ours.fps, ours.name)
    assert back.skeleton.names == ours.skeleton.names


def test_the_source_comes_back_but_for_what_json_cannot_hold() -> None:
    back = read(written(clip())).motion.source
    for key in ("format", "path", "clip", "unit_m", "up", "fps", "skipped_frames"):
        assert getattr(back, key) == getattr(SOURCE, key)
    assert back.floor == SOURCE.floor
    assert back.findings == SOURCE.findings
    assert dict(back.detail) == {
        "channels": SOURCE.detail["channels"],
        "lengths": (1.5, 2.0),
        "nested": {"on": True, "none": None},
    }


def test_a_newer_schema_is_refused_with_a_remedy() -> None:
    with pytest.raises(FormatError, match=r"schema 2; .* reads up to 1.* newer motionloom"):
        read(with_header(schema=2))


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "1"},
        {"schema": 0},
        {"format": "other"},
        {"names": ["a"]},
        {"names": 5},
        {"fps": 0},
        {"fps": "60"},
        {"fps": 10**400},
        {"up": "w"},
        {"unit_m": -1.0},
        {"sha256": {}},
        {"sha256": {"extra": "0"}},
        {"source": 5},
        {"source": {"floor": [1]}},
        {"source": {"floor": {"left_height": 1}}},
        {"source": {"findings": [{"level": "bad", "where": "", "problem": ""}]}},
        {"source": {"unit_m": "cm"}},
    ],
)
def test_a_header_that_is_no_motion_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(FormatError) as caught:
        read(with_header(**changes))
    assert caught.value.where == archive.HEADER


def test_an_exchanged_array_is_noticed() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written(clip()))) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            swapped = data[:-1] + bytes([data[-1] ^ 1])
            new.writestr(name, swapped if name == "root_positions.npy" else data)
    with pytest.raises(FormatError, match="checksum") as caught:
        read(out.getvalue())
    assert caught.value.where == "array 'root_positions'"


def test_no_clock_and_no_machine_is_in_the_file() -> None:
    with zipfile.ZipFile(io.BytesIO(written(clip()))) as opened:
        assert {entry.date_time for entry in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.create_system for entry in opened.infolist()} == {3}
        assert opened.namelist()[0] == archive.HEADER
