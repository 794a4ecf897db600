"""One contract for every format: recognised by content, exact both ways, calm with broken files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import (
    SNIFF_BYTES,
    Format,
    format_for_reading,
    format_for_writing,
    known_formats,
)
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

WRITTEN_M = 1e-5
"""What a joint may move when a clip is written and read again, metres."""
RATE = 1e-6
"""Relative change of the rate: BVH writes a rounded frame time."""

FORMATS = known_formats()
ONE_SKELETON = ("amass", "deepmimic")
"""Formats that always have the same joints: no file can ask for more."""
WRITABLE = [known for known in FORMATS if known.written]
"""Formats that take any skeleton; AMASS is asked for by name and takes one."""


def rig(n_frames: int = 7, *, far: bool = False, sliding: bool = False) -> Motion:
    """A lopsided little creature with odd rest rotations, moving smoothly and at random."""
    rng = np.random.Generator(np.random.PCG64(3))
    names = ("hips", "spine", "head", "left_arm", "left_hand", "tail.tip", "right_leg", "Ärmel")
    parents = np.array([-1, 0, 1, 1, 3, 0, 0, 6])
    offsets = rng.uniform(-0.6, 0.6, (8, 3)).round(3)
    skeleton = Skeleton(
        names,
        parents,
        offsets,
        rest_quats=quat.exp(rng.normal(0.0, 0.7, (8, 3))),
        end_parents=np.array([2, 4, 5, 7, 7]),
        end_offsets=rng.uniform(-0.2, 0.2, (5, 3)),
    )
    t = np.linspace(0.0, 1.0, n_frames)[:, None]
    swing = rng.normal(0.0, 1.0, (8, 3))
    turns = np.sin(4.0 * t[..., None] + np.arange(8)[:, None]) * swing  # (F, 8, 3)
    root = np.array([0.3, 0.9, -0.2]) + t * np.array([1.5, 0.1, 2.5])
    if far:
        root = root + np.array([1234.5, 2.0, -8765.4])
    slide = None
    if sliding:
        slide = offsets + 0.05 * np.sin(5.0 * t[..., None] + np.arange(8)[:, None])
    return Motion(skeleton, root, quat.exp(turns), 59.94, slide)


def lone_joint() -> Motion:
    skeleton = Skeleton(("only",), np.array([-1]), np.zeros((1, 3)))
    return Motion(skeleton, np.eye(3), quat.exp(np.eye(3)[:, None]), 30.0)


MOTIONS: dict[str, Callable[[], Motion]] = {
    "lopsided": rig,
    "far": lambda: rig(far=True),
    "sliding": lambda: rig(sliding=True),
    "one_frame": lambda: rig(1),
    "lone_joint": lone_joint,
}

ASF = """:version 1.10
:name two bones
:units
  mass 1.0
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name thigh
    direction 0 -1 0
    length 7
    axis 10 0 20 XYZ
    dof rx ry rz
    limits (-160 20) (-70 70) (-60 70)
  end
  begin
    id 2
    name shin
    direction 0.6 -0.8 0
    length 6
    axis 0 0 20 XYZ
    dof rx
    limits (-10 170)
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""
AMC = """#!OML:ASF two.asf
:FULLY-SPECIFIED
:DEGREES
1
root 1 16 -3 0 10 0
thigh 5 -3 2
shin 20
2
root 1.1 16 -2.9 0 11 0
thigh 6 -3 2
shin 22
"""


MJCF = """<mujoco><worldbody><body name="base" pos="0 0 0.5"><freejoint/>
<body name="leg" pos="0 0 -0.2"><joint name="knee" axis="0 1 0" range="-90 90"/></body>
</body></worldbody></mujoco>
"""
ROBOT_CSV = """Frame,root_translateX,root_translateY,root_translateZ,root_rotateX,root_rotateY,\
root_rotateZ,knee_dof
0,1,2,50,0,0,90,10
1,2,2.5,50,0,5,91,12.5
2,3,3,50,1,9,92,15
"""


def written(known: Format, clip: FileClip) -> bytes:
    assert known.write is not None
    stream = io.BytesIO()
    known.write(clip, stream)
    return stream.getvalue()


def read(known: Format, data: bytes, path: Path | None = None) -> FileClip:
    assert known.read is not None
    return known.read(io.BytesIO(data), ReadOptions(path=path))


def as_file(motion: Motion, known: Format) -> FileClip:
    return FileClip(motion, unit_m=known.unit_m or 1.0, up=known.up)


@pytest.fixture
def example(tmp_path: Path) -> Callable[[Format], tuple[bytes, Path]]:
    """A small good file of any format: its bytes, and a path next to its companions."""

    def make(known: Format) -> tuple[bytes, Path]:
        path = tmp_path / f"two{known.suffixes[0]}"
        if known.written:
            data = written(known, as_file(rig(3), known))
        elif known.name == "amc":
            (tmp_path / "two.asf").write_text(ASF)
            data = AMC.encode()
        elif known.name == "deepmimic":
            still = [1.0, 0.0, 0.0, 0.0]
            widths = [4, 4, 4, 4, 1, 4, 4, 1, 4, 1, 4, 4, 1]
            pose = [v for width in widths for v in (still if width == 4 else [0.2])]
            rows = [[0.0333, 0.1 * k, 0.9, 0.2, *pose] for k in range(3)]
            data = json.dumps({"Loop": "wrap", "Frames": rows}, indent=1).encode()
        elif known.name == "robot":
            (tmp_path / "two.xml").write_text(MJCF)
            data = ROBOT_CSV.encode()
        elif known.name == "amass":
            stream = io.BytesIO()
            poses = np.linspace(0.0, 1.0, 3 * 156).reshape(3, 156)
            rate = np.array(120.0)
            np.savez(stream, trans=np.eye(3), poses=poses, mocap_framerate=rate, betas=np.ones(16))
            data = stream.getvalue()
        else:
            raise AssertionError(f"Give the contract test an example of {known.name}.")
        return data, path

    return make


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
class TestEveryFormat:
    def test_is_recognised_by_its_content_under_a_wrong_suffix(self, known, example) -> None:
        data, path = example(known)
        for suffix in (".dat", *(s for other in FORMATS for s in other.suffixes)):
            found = format_for_reading(data[:SNIFF_BYTES], path.with_suffix(suffix))
            assert found.name == known.name

    def test_does_not_take_the_files_of_others_for_its_own(self, known, example) -> None:
        before = FORMATS[: FORMATS.index(known)]
        data, _ = example(known)
        assert not [other.name for other in before if other.sniff(data[:SNIFF_BYTES])]

    def test_reads_its_example(self, known, example) -> None:
        data, path = example(known)
        clip = read(known, data, path)
        assert clip.motion.n_frames >= 2
        assert np.isfinite(clip.motion.world_positions()).all()

    def test_reads_the_same_twice(self, known, example) -> None:
        data, path = example(known)
        first, second = read(known, data, path), read(known, data, path)
        assert np.array_equal(first.motion.local_quats, second.motion.local_quats)
        assert np.array_equal(first.motion.root_positions, second.motion.root_positions)

    @pytest.mark.parametrize(
        "limits", [Limits(max_joints=1), Limits(max_frames=1), Limits(max_bytes=64)], ids=str
    )
    def test_keeps_its_limits(self, known, example, limits) -> None:
        if limits.max_joints == 1 and known.name in ONE_SKELETON:
            return
        data, path = example(known)
        with pytest.raises(FormatError):
            known.read(io.BytesIO(data), ReadOptions(path=path, limits=limits))

    def test_cut_short_anywhere_gives_a_clip_or_an_error(self, known, example) -> None:
        data, path = example(known)
        step = max(1, len(data) // 150)
        for stop in range(0, len(data), step):
            calm(known, data[:stop], path)

    def test_with_any_byte_changed_gives_a_clip_or_an_error(self, known, example) -> None:
        data, path = example(known)
        rng = np.random.Generator(np.random.PCG64(5))
        for at in rng.integers(0, len(data), 200):
            changed = bytearray(data)
            changed[at] = int(rng.integers(0, 256))
            calm(known, bytes(changed), path)

    @pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 500, b"{}", b"PK\x03\x04", b"glTF"])
    def test_garbage_is_refused_with_a_reason(self, known, data, tmp_path) -> None:
        with pytest.raises(FormatError) as caught:
            read(known, data, tmp_path / "x")
        assert len(caught.value.problem) > 10

    def test_a_suffix_picks_it(self, known) -> None:
        assert all(s.startswith(".") and s == s.lower() for s in known.suffixes)
        if known.written:
            assert format_for_writing(Path(f"a{known.suffixes[0].upper()}")) is known


def calm(known: Format, data: bytes, path: Path) -> None:
    """Reading gives a valid clip or a FormatError, and nothing else ever."""
    try:
        clip = read(known, data, path)
    except FormatError as error:
        assert error.problem
    else:
        assert np.isfinite(clip.motion.world_positions()).all()


@pytest.mark.parametrize("made", MOTIONS, ids=str)
@pytest.mark.parametrize("known", WRITABLE, ids=lambda known: known.name)
class TestEveryWriter:
    def test_keeps_every_joint_where_it_was(self, known, made) -> None:
        motion = MOTIONS[made]()
        back = read(known, written(known, as_file(motion, known))).motion
        order = [back.skeleton.index(name) for name in motion.skeleton.names]
        gap = back.world_positions()[:, order] - motion.world_positions()
        assert np.abs(gap).max() < WRITTEN_M

    def test_keeps_every_end_site_where_it_was(self, known, made) -> None:
        motion = MOTIONS[made]()
        back = read(known, written(known, as_file(motion, known))).motion
        ends = back.end_positions()  # (F, E, 3)
        for site in np.moveaxis(motion.end_positions(), 1, 0):
            nearest = np.abs(ends - site[:, None]).max(axis=(0, 2)).min()
            assert nearest < WRITTEN_M

    def test_keeps_the_tree_and_the_rate(self, known, made) -> None:
        motion = MOTIONS[made]()
        back = read(known, written(known, as_file(motion, known))).motion
        assert abs(back.fps / motion.fps - 1.0) < RATE
        assert parent_names(back.skeleton) == parent_names(motion.skeleton)

    def test_writes_the_same_file_after_reading_it(self, known, made) -> None:
        first = written(known, as_file(MOTIONS[made](), known))
        assert written(known, read(known, first)) == first

    def test_writes_the_same_bytes_every_time(self, known, made) -> None:
        one, two = (written(known, as_file(MOTIONS[made](), known)) for _ in range(2))
        assert one == two


def parent_names(skeleton: Skeleton) -> dict[str, str]:
    above = ["" if p < 0 else skeleton.names[p] for p in skeleton.parents]
    return dict(zip(skeleton.names, above, strict=True))
