"""ASF/AMC: the skeleton next to the motion, axes per bone, and files that are not quite whole."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.formats.acclaim import amc
from motionloom.formats.acclaim.asf import parse_asf
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.rotation import quat

FLOAT64 = 1e-14

ASF = """# a comment
:version 1.10
:name test
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
  anything may stand here
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
     axis 0 0 20 XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
  begin
     id 2
     name shin
     direction 0 -1 0
     length 6
     axis 0 0 20 XYZ
    dof rx
    limits (-10.0 170.0)
  end
  begin
     id 3
     name stump
     direction 0 0 1
     length 0
     axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root thigh
    thigh shin
    shin stump
  end
"""
FRAME = "{0}\nroot {0} 2 3 10 20 30\nthigh 4 5 6\nshin 7\n"
AMC = "#!OML\n:FULLY-SPECIFIED\n:DEGREES\n" + "".join(FRAME.format(i) for i in (1, 2, 3))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "07.asf").write_text(ASF)
    return tmp_path


def parsed(folder: Path, text: str = AMC, name: str = "07_01.amc") -> FileClip:
    return amc.read(io.BytesIO(text.encode()), ReadOptions(path=folder / name))


def fault(folder: Path, text: str = AMC, name: str = "07_01.amc") -> FormatError:
    with pytest.raises(FormatError) as caught:
        parsed(folder, text, name)
    return caught.value


def turned(order: str, *angles: float) -> np.ndarray:
    """Turns about fixed axes, the first one first."""
    q = quat.IDENTITY
    for letter, angle in zip(order, angles, strict=True):
        axis = np.eye(3)["XYZ".index(letter)]
        q = quat.multiply(quat.from_axis_angle(axis, np.radians(angle)), q)
    return q


def test_joints_stand_at_the_start_of_their_bones(folder: Path) -> None:
    clip = parsed(folder)
    skeleton = clip.motion.skeleton
    assert skeleton.names == ("root", "thigh", "shin", "stump")
    assert skeleton.offsets.tolist() == [[0, 0, 0], [0, 0, 0], [0, -7, 0], [0, -6, 0]]
    assert skeleton.end_parents.tolist() == [3]
    assert clip.unit_m == pytest.approx(0.0254 / 0.45)
    assert clip.motion.fps == 120.0
    assert not clip.fps_stated
    assert clip.findings == ()


def test_angles_turn_about_the_axes_of_their_bone(folder: Path) -> None:
    motion = parsed(folder).motion
    assert motion.root_positions.tolist() == [[1, 2, 3], [2, 2, 3], [3, 2, 3]]
    np.testing.assert_allclose(motion.local_quats[0, 0], turned("XYZ", 10, 20, 30), atol=FLOAT64)
    axes = turned("Z", 20)
    for joint, turn in ((1, turned("XYZ", 4, 5, 6)), (2, turned("X", 7))):
        expected = quat.multiply(quat.multiply(axes, turn), quat.conjugate(axes))
        np.testing.assert_allclose(motion.local_quats[0, joint], expected, atol=FLOAT64)
    assert motion.local_quats[0, 3].tolist() == [1, 0, 0, 0]


def test_dofs_and_the_root_may_come_in_any_order(folder: Path) -> None:
    (folder / "07.asf").write_text(
        ASF.replace("TX TY TZ RX RY RZ", "RZ RY RX TZ TY TX").replace(
            "dof rx ry rz", "dof rz rx ry"
        )
    )
    motion = parsed(folder).motion
    assert motion.root_positions[0].tolist() == [30, 20, 10]
    np.testing.assert_allclose(motion.local_quats[0, 0], turned("ZYX", 1, 2, 3), atol=FLOAT64)
    axes = turned("Z", 20)
    expected = quat.multiply(quat.multiply(axes, turned("ZXY", 4, 5, 6)), quat.conjugate(axes))
    np.testing.assert_allclose(motion.local_quats[0, 1], expected, atol=FLOAT64)


def test_radians_are_read_where_they_are_stated(folder: Path) -> None:
    motion = parsed(folder, AMC.replace(":DEGREES", ":RADIANS")).motion
    expected = turned("XYZ", *np.degrees([10, 20, 30]))
    assert abs(np.dot(motion.local_quats[0, 0], expected)) == pytest.approx(1.0, abs=FLOAT64)
    (folder / "07.asf").write_text(
        ASF.replace("angle deg", "angle rad").replace("axis 0 0 20", f"axis 0 0 {np.radians(20)}")
    )
    in_radians = parsed(folder).motion.local_quats
    (folder / "07.asf").write_text(ASF)
    np.testing.assert_allclose(in_radians, parsed(folder).motion.local_quats, atol=FLOAT64)


def test_a_rate_is_taken_where_it_is_stated(folder: Path) -> None:
    clip = parsed(folder, AMC.replace(":DEGREES", ":SAMPLES-PER-SECOND 60\n:DEGREES"))
    assert (clip.motion.fps, clip.fps_stated) == (60.0, True)
    for nonsense in ("", " 0", " many"):
        text = AMC.replace(":DEGREES", f":SAMPLES-PER-SECOND{nonsense}\n:DEGREES")
        assert not parsed(folder, text).fps_stated


def test_a_length_of_one_states_no_unit(folder: Path) -> None:
    (folder / "07.asf").write_text(ASF.replace("length 0.45", "length 1.0"))
    assert parsed(folder).unit_m is None


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("\n", "\n\n"), (" ", " \t "), ("#!OML", "#")])
def test_newlines_blanks_and_comments_do_not_matter(folder: Path, change: tuple[str, str]) -> None:
    plain = parsed(folder).motion
    (folder / "07.asf").write_bytes(ASF.replace(*change).encode())
    motion = parsed(folder, AMC.replace(*change)).motion
    np.testing.assert_array_equal(motion.local_quats, plain.local_quats)


def test_the_skeleton_is_found_by_name_by_subject_or_alone(folder: Path, tmp_path: Path) -> None:
    assert parsed(folder, name="anything.amc").motion.n_frames == 3
    (folder / "08.ASF").write_text(ASF)
    assert parsed(folder, name="07_12.amc").motion.n_frames == 3
    assert parsed(folder, name="07.amc").motion.n_frames == 3
    assert parsed(folder, name="08_x.amc").motion.n_frames == 3
    assert "skeleton=" in str(fault(folder, name="09_01.amc"))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "skeleton=" in str(fault(empty))
    options = ReadOptions(path=empty / "x.amc", skeleton=folder / "07.asf")
    assert amc.read(io.BytesIO(AMC.encode()), options).motion.n_frames == 3
    with pytest.raises(FormatError, match="skeleton="):
        amc.read(io.BytesIO(AMC.encode()), ReadOptions())
    with pytest.raises(FormatError, match="cannot be read"):
        amc.read(io.BytesIO(b""), ReadOptions(skeleton=folder / "none.asf"))


def test_a_bone_that_lacks_in_a_frame_is_held(folder: Path) -> None:
    text = AMC.replace("shin 7\n2\n", "2\n", 1).replace("shin 7\n3", "shin 8\n3", 1)
    clip = parsed(folder, text)
    assert clip.motion.n_frames == 3
    np.testing.assert_allclose(clip.motion.local_quats[0, 2], quat.IDENTITY, atol=FLOAT64)
    assert "'shin' lacks in 1 frames" in clip.findings[0].problem


def test_a_last_frame_cut_short_is_left_out(folder: Path) -> None:
    for text in (AMC[:-8], AMC[: AMC.rindex("thigh")], AMC[: AMC.rindex("5 6")]):
        clip = parsed(folder, text)
        assert clip.motion.n_frames == 2
        assert any("left out" in finding.problem for finding in clip.findings)


def test_a_last_line_cut_short_leaves_its_frame_out_although_bones_may_lack(folder: Path) -> None:
    # The shin lacks in the first frame, so that a last frame without it would be held, too.
    lacking = AMC.replace("shin 7\n2\n", "2\n", 1)
    assert parsed(folder, lacking[: lacking.rindex("shin")]).motion.n_frames == 3
    for text in (lacking[:-3], lacking[: lacking.rindex(" 6\nshin")], lacking[:-6]):
        clip = parsed(folder, text)
        assert clip.motion.n_frames == 2
        assert "left out" in clip.findings[0].problem
    first = AMC[: AMC.index("shin") + 4]
    assert "at least one whole frame" in fault(folder, first).problem


def test_skipped_frame_numbers_are_a_finding(folder: Path) -> None:
    clip = parsed(folder, AMC.replace("\n3\n", "\n30\n"))
    assert clip.motion.n_frames == 3
    assert "Frame 30 follows frame 2" in clip.findings[0].problem


@pytest.mark.parametrize(
    ("text", "problem", "where"),
    [
        ("", "at least one whole frame", "line 0"),
        (":DEGREES\n", "at least one whole frame", "line 1"),
        (AMC.replace("shin 7", "shin 7 8", 1), "'shin' must have 1 numbers", "line 7"),
        (AMC.replace("shin 7", "shin", 1), "'shin' must have 1 numbers", "line 7"),
        (AMC.replace("shin 7", "shin seven", 1), "got 'seven'", "line 7"),
        (AMC.replace("shin 7", "shin nan", 1), "must be finite", "frame 0"),
        (AMC.replace("shin 7", "tail 7", 1), "no bone 'tail'", "line 7"),
        (AMC.replace("\n1\n", "\n", 1), "A frame number must stand", "line 4"),
        (ASF, "this is an ASF skeleton", "line 2"),
    ],
)
def test_a_broken_motion_is_named(folder: Path, text: str, problem: str, where: str) -> None:
    error = fault(folder, text)
    assert problem in error.problem
    assert error.where == where


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("direction 0 -1 0", "direction 0 -1", "3 finite numbers"),
        ("length 7", "length nan", "1 finite numbers"),
        ("length 0.45", "length 0", "above 0"),
        ("length 0.45", "length 5e-324", "above 0"),
        ("axis 0 0 20 XYZ", "axis 0 0 20 XXZ", "axis order"),
        ("dof rx\n", "dof rx qq\n", "Degrees of freedom"),
        ("name shin", "name thigh", "unique"),
        ("name shin", "nom shin", "must have a name"),
        ("thigh shin", "thigh shin thigh", "hangs on two"),
        ("shin stump", "shin tail", "which is no bone"),
        ("root thigh", "stump thigh", "got none"),
        ("    dof rx\n    limits (-10.0 170.0)\n  end\n", ":x\n", "close with `end`"),
    ],
)
def test_a_broken_skeleton_is_named(folder: Path, old: str, new: str, problem: str) -> None:
    assert old in ASF
    (folder / "07.asf").write_text(ASF.replace(old, new, 1))
    error = fault(folder)
    assert problem in error.problem
    assert error.where is not None
    assert "07.asf" in error.where


def test_loose_bones_are_left_out_and_reported() -> None:
    body = parse_asf(ASF.replace("    shin stump\n", "").encode(), max_joints=10)
    assert body.skeleton.names == ("root", "thigh", "shin")
    assert "stump" in body.findings[0].problem


def test_limits_are_kept(folder: Path) -> None:
    for limits in (Limits(max_joints=2), Limits(max_frames=2), Limits(max_bytes=30)):
        with pytest.raises(FormatError, match="at most"):
            options = ReadOptions(path=folder / "07_01.amc", limits=limits)
            amc.read(io.BytesIO(AMC.encode()), options)


def test_truncation_at_every_byte_gives_frames_or_a_clear_error(folder: Path) -> None:
    for n_bytes in range(len(AMC)):
        try:
            assert 1 <= parsed(folder, AMC[:n_bytes]).motion.n_frames <= 3
        except FormatError as error:
            assert str(error)


def test_recognising_the_format_is_quick_whatever_the_bytes() -> None:
    for head in (b"#" * 4096, b"# \n" * 1000, b" #" * 2000, b"\n" * 4096):
        assert not amc.FORMAT.sniff(head)  # backtracking would take longer than the universe has
    assert amc.FORMAT.sniff(b"# a\n\n#b\n  :FULLY-SPECIFIED\n")
    assert amc.FORMAT.sniff(ASF.encode())


def test_angles_in_radians_turn_as_far_as_those_in_degrees(folder: Path) -> None:
    frame = "1\nroot 1 2 3 0.1 0.2 0.3\nthigh 0.4 0.5 0.6\nshin 0.7\n"
    text = "#!OML\n:FULLY-SPECIFIED\n:RADIANS\n" + frame
    degrees = np.degrees([0.1, 0.2, 0.3])
    motion = parsed(folder, text).motion
    np.testing.assert_allclose(motion.local_quats[0, 0], turned("XYZ", *degrees), atol=FLOAT64)
    assert motion.root_positions[0].tolist() == [1, 2, 3]


def test_a_rate_is_read_and_one_without_a_number_is_left_out(folder: Path) -> None:
    for line, fps in ((":SAMPLES-PER-SECOND 60\n", 60.0), (":SAMPLES-PER-SECOND\n", 120.0)):
        clip = parsed(folder, AMC.replace(":DEGREES\n", ":DEGREES\n" + line))
        assert clip.motion.fps == fps


@pytest.mark.parametrize("value", ["1e30", "-1e30", "nan"])
def test_numbers_beyond_reason_are_refused_with_either_sign(folder: Path, value: str) -> None:
    (folder / "07.asf").write_text(ASF.replace("direction 0 -1 0", f"direction 0 {value} 0", 1))
    assert "3 finite numbers" in str(fault(folder))


def test_more_numbers_than_needed_are_left_out(folder: Path) -> None:
    (folder / "07.asf").write_text(ASF.replace("position 0 0 0", "position 1 2 3 4", 1))
    assert parsed(folder).motion.root_positions[0].tolist() == [2.0, 4.0, 6.0]


def test_a_unit_of_angles_that_is_not_given_is_degrees(folder: Path) -> None:
    plain = parsed(folder).motion.local_quats
    for line in ("angle", "angle degrees", "ANGLE Deg", ""):
        (folder / "07.asf").write_text(ASF.replace("angle deg", line))
        assert parsed(folder).motion.local_quats.tolist() == plain.tolist()


def test_a_bone_that_never_moves_may_be_listed_without_numbers(folder: Path) -> None:
    assert parsed(folder, AMC.replace("shin 7\n", "shin 7\nstump\n")).findings == ()
    assert "no bone 'stump'" in fault(folder, AMC.replace("shin 7\n", "shin 7\nstump 1\n")).problem


def test_a_bone_that_lacks_everywhere_is_at_rest(folder: Path) -> None:
    clip = parsed(folder, AMC.replace("shin 7\n", ""))
    assert clip.motion.n_frames == 3
    assert "'shin' lacks in 3 frames; it was at rest" in clip.findings[0].problem
    some = parsed(folder, AMC.replace("shin 7\n2\n", "2\n", 1))
    assert "'shin' lacks in 1 frames; it was held" in some.findings[0].problem


def test_the_orientation_of_the_root_turns_its_axes(folder: Path) -> None:
    (folder / "07.asf").write_text(ASF.replace("orientation 0 0 0", "orientation 0 0 90"))
    axes = turned("Z", 90)
    expected = quat.multiply(quat.multiply(axes, turned("XYZ", 10, 20, 30)), quat.conjugate(axes))
    np.testing.assert_allclose(parsed(folder).motion.local_quats[0, 0], expected, atol=FLOAT64)
