"""One small text for every dialect of BVH that real files have been seen to speak."""

from __future__ import annotations

import io

import numpy as np
import pytest

from motionloom.formats.bvh import bvh
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.rotation import euler

FLOAT64 = 1e-14


def parsed(text: str | bytes, **options: object) -> FileClip:
    data = text if isinstance(text, bytes) else text.encode()
    return bvh.read(io.BytesIO(data), ReadOptions(**options))  # type: ignore[arg-type]


HIPS = """HIERARCHY
ROOT Hips
{
  OFFSET 0 90 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Chest
  {
    OFFSET 0 10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 5 0
    }
  }
}
"""
MOTION = "MOTION\nFrames: 2\nFrame Time: 0.04\n"
ROWS = "1 2 3 10 20 30 4 5 6\n7 8 9 -10 -20 -30 7 8 9\n"
PLAIN = HIPS + MOTION + ROWS


def assert_same(clip: FileClip, other: FileClip) -> None:
    a, b = clip.motion, other.motion
    assert a.skeleton.names == b.skeleton.names
    np.testing.assert_array_equal(a.skeleton.parents, b.skeleton.parents)
    np.testing.assert_array_equal(a.skeleton.offsets, b.skeleton.offsets)
    np.testing.assert_array_equal(a.skeleton.end_offsets, b.skeleton.end_offsets)
    np.testing.assert_array_equal(a.root_positions, b.root_positions)
    np.testing.assert_array_equal(a.local_quats, b.local_quats)


def test_a_plain_file_is_read_with_all_that_is_in_it() -> None:
    clip = parsed(PLAIN)
    motion = clip.motion
    assert motion.skeleton.names == ("Hips", "Chest")
    assert motion.skeleton.offsets.tolist() == [[0, 90, 0], [0, 10, 0]]
    assert motion.skeleton.end_offsets.tolist() == [[0, 5, 0]]
    assert motion.root_positions.tolist() == [[1, 2, 3], [7, 8, 9]]
    expected = euler.euler_to_quat(np.radians([[[10, 20, 30], [4, 5, 6]]]), "ZXY")
    np.testing.assert_allclose(motion.local_quats[:1], expected, atol=FLOAT64)
    assert motion.fps == 25.0
    assert clip.fps_stated
    assert clip.findings == ()
    assert clip.detail["channels"][1] == ("Zrotation", "Xrotation", "Yrotation")


def test_orders_may_differ_from_joint_to_joint() -> None:
    text = PLAIN.replace(
        "CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 3 Yrotation Zrotation Xrotation"
    )
    quats = parsed(text).motion.local_quats
    expected = euler.euler_to_quat(np.radians([4.0, 5.0, 6.0]), "YZX")
    np.testing.assert_allclose(quats[0, 1], expected, atol=FLOAT64)


def test_rotations_may_come_before_positions() -> None:
    text = PLAIN.replace(
        "Xposition Yposition Zposition Zrotation Xrotation Yrotation",
        "Zrotation Xrotation Yrotation Xposition Yposition Zposition",
    )
    motion = parsed(text).motion
    assert motion.root_positions[0].tolist() == [10, 20, 30]
    expected = euler.euler_to_quat(np.radians([1.0, 2.0, 3.0]), "ZXY")
    np.testing.assert_allclose(motion.local_quats[0, 0], expected, atol=FLOAT64)


def test_positions_may_come_in_any_order() -> None:
    text = PLAIN.replace("Xposition Yposition Zposition", "Zposition Xposition Yposition")
    assert parsed(text).motion.root_positions[0].tolist() == [2, 3, 1]


@pytest.mark.parametrize("letters", ["Z", "XZ", "YXY", "YX"])
def test_any_subset_of_rotation_channels_is_read(letters: str) -> None:
    channels = " ".join(f"{letter}rotation" for letter in letters)
    text = HIPS.replace(
        "CHANNELS 3 Zrotation Xrotation Yrotation", f"CHANNELS {len(letters)} {channels}"
    )
    values = [40.0, -50.0, 60.0][: len(letters)]
    row = " ".join(map(str, [0] * 6 + values))
    quats = parsed(f"{text}MOTION\nFrames: 1\nFrame Time: 0.04\n{row}\n").motion.local_quats
    expected = euler.euler_to_quat(np.radians(values), letters)
    np.testing.assert_allclose(quats[0, 1], expected, atol=FLOAT64)


def test_a_joint_without_channels_stays_as_it_is() -> None:
    text = HIPS.replace("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 0")
    motion = parsed(text + "MOTION\nFrames: 1\nFrame Time: 0.04\n1 2 3 4 5 6\n").motion
    assert motion.local_quats[0, 1].tolist() == [1, 0, 0, 0]


def six_channels(rows: str) -> FileClip:
    text = HIPS.replace(
        "CHANNELS 3 Zrotation Xrotation Yrotation",
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation",
    )
    return parsed(f"{text}MOTION\nFrames: 2\nFrame Time: 0.04\n{rows}")


def test_position_channels_of_a_joint_replace_its_offset() -> None:
    clip = six_channels("0 0 0 0 0 0  1 2 3 0 0 0\n0 0 0 0 0 0  1 2 4 0 0 0\n")
    translations = clip.motion.joint_translations
    assert translations is not None
    assert translations[:, 1].tolist() == [[1, 2, 3], [1, 2, 4]]
    assert clip.motion.world_positions()[:, 1].tolist() == [[1, 2, 3], [1, 2, 4]]


def test_position_channels_that_repeat_the_offset_leave_bones_rigid() -> None:
    clip = six_channels("0 0 0 0 0 0  0 10 0 0 0 0\n0 0 0 0 0 0  0 10 0.0000005 0 0 0\n")
    assert clip.motion.joint_translations is None
    assert clip.motion.skeleton.offsets[1].tolist() == [0, 10, 0]
    assert clip.findings == ()


def test_position_channels_that_stay_the_same_become_the_offset() -> None:
    clip = six_channels("0 0 0 0 0 0  0 12 0 0 0 0\n0 0 0 0 0 0  0 12 0 0 0 0\n")
    assert clip.motion.joint_translations is None
    assert clip.motion.skeleton.offsets[1].tolist() == [0, 12, 0]
    assert [finding.level for finding in clip.findings] == ["note"]


def test_a_lone_position_channel_leaves_the_other_axes_at_the_offset() -> None:
    text = HIPS.replace("CHANNELS 6 Xposition Yposition Zposition", "CHANNELS 4 Xposition")
    motion = parsed(text + "MOTION\nFrames: 1\nFrame Time: 0.04\n1 0 0 0 4 5 6\n").motion
    assert motion.root_positions[0].tolist() == [1, 90, 0]


DIALECTS = {
    "tabs and runs of blanks": PLAIN.replace(" ", " \t  ").replace("\n", "  \n"),
    "windows newlines": PLAIN.replace("\n", "\r\n"),
    "old mac newlines": PLAIN.replace("\n", "\r"),
    "byte order mark": "\ufeff" + PLAIN,
    "no newline at the end": PLAIN.rstrip(),
    "blank lines everywhere": PLAIN.replace("\n", "\n\n\n"),
    "scientific notation": PLAIN.replace("1 2 3 10", "1e0 0.2E+1 300e-2 1.0e1"),
    "a lost space": PLAIN.replace("9 -10 -20 -30 7", "9-10-20-30 7"),
    "signs and bare points": PLAIN.replace("1 2 3 10", "+1. 2.0 03 10.").replace("90", "9.e1"),
    "a line break inside a frame": PLAIN.replace("30 4 5 6", "30\n4 5 6"),
    "two frames on one line": PLAIN.replace("4 5 6\n7", "4 5 6 7"),
    "comments": PLAIN.replace("{\n", "{ # a comment\n").replace(
        "0.04\n", "0.04\n# rows\n// rows\n"
    ),
    "lower case": PLAIN.replace("HIERARCHY", "hierarchy")
    .replace("ROOT", "root")
    .replace("CHANNELS", "Channels")
    .replace("Zrotation", "ZROTATION")
    .replace("Frame Time", "frame time"),
    "all on few lines": HIPS.replace("Hips\n", "Hips ")
    .replace("Chest\n", "Chest ")
    .replace("}\n", "} ")
    + MOTION
    + ROWS,
    "no blanks around braces": HIPS.replace("\n{\n", "{").replace("{  ", "{") + MOTION + ROWS,
    "no space after a colon": PLAIN.replace("Frames: 2", "Frames:2").replace("Time: ", "Time:"),
    "no colon": PLAIN.replace("Frames: 2", "Frames 2").replace("Time: ", "Time "),
    "rate before count": PLAIN.replace(
        "Frames: 2\nFrame Time: 0.04\n", "Frame Time: 0.04\nFrames: 2\n"
    ),
    "a unit after the frame time": PLAIN.replace("0.04\n", "0.04 s\n"),
    "channels before the offset": PLAIN.replace(
        "    OFFSET 0 10 0\n    CHANNELS 3 Zrotation Xrotation Yrotation\n",
        "    CHANNELS 3 Zrotation Xrotation Yrotation\n    OFFSET 0 10 0\n",
    ),
    "nul bytes as padding": PLAIN + "\x00" * 20,
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_as_the_plain_file(dialect: str) -> None:
    assert DIALECTS[dialect] != PLAIN
    clip = parsed(DIALECTS[dialect])
    assert_same(clip, parsed(PLAIN))
    assert clip.motion.fps == 25.0
    assert clip.findings == ()


def test_a_leaf_needs_no_end_site() -> None:
    text = PLAIN.replace("    End Site\n    {\n      OFFSET 0 5 0\n    }\n", "")
    motion = parsed(text).motion
    assert motion.skeleton.names == ("Hips", "Chest")
    assert motion.skeleton.end_parents.size == 0


def test_an_end_site_may_have_a_name() -> None:
    assert_same(parsed(PLAIN.replace("End Site", "End Site tip")), parsed(PLAIN))


@pytest.mark.parametrize("name", ["EndEffector", "End", "End Site", "LegEnd", "MOTION", "Left Arm"])
def test_a_joint_may_be_called_like_a_keyword_or_have_spaces(name: str) -> None:
    assert parsed(PLAIN.replace("Chest", name)).motion.skeleton.names[1] == name


def test_names_in_utf8_and_latin1_are_read() -> None:
    assert parsed(PLAIN.replace("Chest", "Hüfte")).motion.skeleton.names[1] == "Hüfte"
    latin = PLAIN.replace("Chest", "Hüfte").encode("latin-1")
    assert parsed(latin).motion.skeleton.names[1] == "Hüfte"


def test_joints_of_the_same_name_get_distinct_names() -> None:
    clip = parsed(PLAIN.replace("Chest", "Hips"))
    assert clip.motion.skeleton.names == ("Hips", "Hips_2")
    assert "'Hips' to 'Hips_2'" in clip.findings[0].problem


@pytest.mark.parametrize("stated", [1, 3, 1000000000, "9" * 40, "1e400", 2.5, "two", -1, ""])
def test_the_rows_are_counted_where_the_header_is_wrong(stated: object) -> None:
    clip = parsed(PLAIN.replace("Frames: 2", f"Frames: {stated}"))
    assert_same(clip, parsed(PLAIN))
    assert any("Frames:" in finding.problem for finding in clip.findings)
    assert all(finding.level == "warning" for finding in clip.findings)


def test_a_missing_frame_count_is_a_finding() -> None:
    clip = parsed(PLAIN.replace("Frames: 2\n", ""))
    assert_same(clip, parsed(PLAIN))
    assert len(clip.findings) == 1


def test_a_last_row_cut_short_is_left_out() -> None:
    clip = parsed(PLAIN.rstrip()[:-6])
    assert clip.motion.n_frames == 1
    assert any("left out" in finding.problem for finding in clip.findings)


@pytest.mark.parametrize(
    "tail", ["Footplants:\n1 2 3\n", "HIERARCHY\nROOT x\n", "LeftFoot 1 2\n", "0 1 0 1\n" * 9]
)
def test_what_follows_the_frames_is_passed_over(tail: str) -> None:
    clip = parsed(PLAIN + tail)
    assert_same(clip, parsed(PLAIN))
    assert any("nothing was read" in finding.problem for finding in clip.findings)


def test_more_rows_than_stated_are_frames_too() -> None:
    clip = parsed(PLAIN + "0 0 0 0 0 0 0 0 0\n")
    assert clip.motion.n_frames == 3
    assert "says 2 and there are 3" in clip.findings[0].problem


@pytest.mark.parametrize("frame_time", ["0", "-0.1", "nan", "inf", "", "1e-400", "soon"])
def test_without_a_usable_frame_time_a_rate_is_assumed_and_reported(frame_time: str) -> None:
    clip = parsed(PLAIN.replace("0.04", frame_time))
    assert_same(clip, parsed(PLAIN))
    assert not clip.fps_stated
    assert clip.motion.fps == 30.0
    assert "fps=" in clip.findings[-1].fix


def test_the_first_of_several_roots_is_read_and_others_can_be_asked_for() -> None:
    other = HIPS.removeprefix("HIERARCHY\n").replace("Hips", "Other").replace("Chest", "Head")
    rows = "1 2 3 0 0 0 0 0 0  4 5 6 0 0 0 0 0 0\n"
    text = f"{HIPS}{other}MOTION\nFrames: 1\nFrame Time: 0.04\n{rows}"
    clip = parsed(text)
    assert clip.motion.skeleton.names == ("Hips", "Chest")
    assert clip.clips == ("Hips", "Other")
    assert [finding.level for finding in clip.findings] == ["warning"]
    second = parsed(text, clip="Other")
    assert second.motion.skeleton.names == ("Other", "Head")
    assert second.motion.skeleton.parents.tolist() == [-1, 0]
    assert second.motion.root_positions.tolist() == [[4, 5, 6]]


def test_scale_channels_are_read_over() -> None:
    text = HIPS.replace(
        "CHANNELS 3 Zrotation Xrotation Yrotation",
        "CHANNELS 6 Zrotation Xscale Yscale Zscale Xrotation Yrotation",
    )
    row = "1 2 3 10 20 30 4 9 9 9 5 6\n"
    clip = parsed(f"{text}MOTION\nFrames: 1\nFrame Time: 0.04\n{row}")
    np.testing.assert_array_equal(clip.motion.local_quats, parsed(PLAIN).motion.local_quats[:1])
    assert "Scale" in clip.findings[0].problem


def test_names_of_channels_count_more_than_their_number() -> None:
    clip = parsed(PLAIN.replace("CHANNELS 3", "CHANNELS 4"))
    assert_same(clip, parsed(PLAIN))
    assert "states '4' channels" in clip.findings[0].problem
    assert_same(parsed(PLAIN.replace("CHANNELS 3 ", "CHANNELS ")), parsed(PLAIN))


def test_missing_and_spare_braces_are_findings() -> None:
    for text in (PLAIN.replace("}\nMOTION", "MOTION"), PLAIN.replace("}\nMOTION", "}\n}\nMOTION")):
        clip = parsed(text)
        assert_same(clip, parsed(PLAIN))
        assert len(clip.findings) == 1


def test_a_skeleton_of_one_joint_and_one_frame_is_enough() -> None:
    text = "HIERARCHY ROOT a { CHANNELS 1 Xrotation } MOTION Frames: 1 Frame Time: 1 90"
    motion = parsed(text).motion
    np.testing.assert_allclose(motion.local_quats[0, 0], [0.5**0.5, 0.5**0.5, 0, 0], atol=FLOAT64)


def test_bones_of_no_length_are_read() -> None:
    clip = parsed(PLAIN.replace("OFFSET 0 10 0", "OFFSET 0 0 0"))
    assert clip.motion.skeleton.offsets[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("newline", ["\n", " "])
def test_files_of_many_blocks_are_read_whole(newline: str) -> None:
    rng = np.random.Generator(np.random.PCG64(0))
    rows = rng.uniform(-180.0, 180.0, (20_000, 9)).round(3)
    text = newline.join(" ".join(map(str, row)) for row in rows.tolist())
    head = HIPS + MOTION.replace("Frames: 2", f"Frames: {len(rows)}")
    for stream in (io.BytesIO((head + text).encode()), Dripping((head + text).encode())):
        clip = bvh.read(stream, ReadOptions())  # type: ignore[arg-type]
        assert clip.findings == ()
        np.testing.assert_array_equal(clip.motion.root_positions, rows[:, :3])
        expected = euler.euler_to_quat(np.radians(rows[:, 6:]), "ZXY")
        dots = np.abs(np.sum(clip.motion.local_quats[:, 1] * expected, axis=-1))
        np.testing.assert_allclose(dots, 1.0, atol=FLOAT64)


class Dripping:
    """A stream that only knows `read`, and gives odd amounts."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def read(self, n: int = -1) -> bytes:
        stop = len(self.data) if n < 0 else self.at + min(n, 77_777)
        block, self.at = self.data[self.at : stop], min(stop, len(self.data))
        return block


def test_no_frames_stated_is_a_count_and_less_is_none() -> None:
    clip = parsed(PLAIN.replace("Frames: 2", "Frames: 0"))
    assert_same(clip, parsed(PLAIN))
    assert "says 0 and there are 2" in clip.findings[0].problem
    for odd in ("-1", "1.5", "1e13", "nan"):
        clip = parsed(PLAIN.replace("Frames: 2", f"Frames: {odd}"))
        assert f"must be a count, got '{odd}'" in clip.findings[0].problem
    assert parsed(PLAIN.replace("Frames: 2", "Frames: 2.0")).findings == ()


@pytest.mark.parametrize("kind", ["Xscale", "Yscale", "Zscale"])
def test_a_single_scale_channel_is_reported(kind: str) -> None:
    text = PLAIN.replace("CHANNELS 3 Zrotation", f"CHANNELS 4 {kind} Zrotation")
    text = text.replace("30 4 5 6", "30 1 4 5 6").replace("-30 7 8 9", "-30 1 7 8 9")
    clip = parsed(text)
    assert_same(clip, parsed(PLAIN))
    assert [finding.problem for finding in clip.findings] == ["Scale channels were left out."]
    assert parsed(PLAIN).findings == ()


@pytest.mark.parametrize("place", [(0.0, 9.0, 0.0), (0.0, 11.0, 0.0), (-3.0, 10.0, 0.0)])
def test_positions_that_stay_the_same_take_the_place_of_the_offset(
    place: tuple[float, float, float],
) -> None:
    text = PLAIN.replace("CHANNELS 3 ", "CHANNELS 6 Xposition Yposition Zposition ")
    at = " ".join(map(str, place))
    text = text.replace("30 4 5 6", f"30 {at} 4 5 6").replace("-30 7 8 9", f"-30 {at} 7 8 9")
    clip = parsed(text)
    assert clip.motion.joint_translations is None
    assert clip.motion.skeleton.offsets.tolist() == [[0.0, 90.0, 0.0], list(place)]
    assert "1 joints have position channels that stay the same" in clip.findings[0].problem
