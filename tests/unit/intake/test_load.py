from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, FormatError, SkeletonMismatchError
from motionloom.findings import MotionLoomWarning
from motionloom.intake.axes import UP_AXES
from motionloom.intake.load import inspect_file, load
from motionloom.intake.save import save
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

BVH_TEXT_M = 1e-5

TWO_JOINTS = """HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -40 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -40 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
0 80 0 0 0 0 0 0 0
0 81 0 0 0 0 0 5 0
"""


@pytest.fixture
def thing(tmp_path: Path) -> Path:
    path = tmp_path / "thing.bvh"
    path.write_text(TWO_JOINTS)
    return path


@pytest.mark.parametrize("up", UP_AXES)
@pytest.mark.parametrize("unit", ["m", "cm", "in", "cmu", "mm", "dm", "ft"])
def test_a_person_in_any_unit_and_axes_comes_in_the_same(
    person, tmp_path: Path, up: str, unit: str
) -> None:
    motion = person(30)
    path = tmp_path / "person.bvh"
    save(motion, path, unit=unit, up=up)
    loaded = load(path)
    assert loaded.source.up == up
    # Six decimals of a foot are a third of a micrometre, of a metre one.
    np.testing.assert_allclose(loaded.world_positions(), motion.world_positions(), atol=BVH_TEXT_M)


def test_settings_of_the_file_are_in_the_source(person, tmp_path: Path) -> None:
    path = tmp_path / "person.bvh"
    save(person(30), path, unit="cm", up="z")
    source = load(path).source
    assert source.format == "bvh"
    assert source.path == str(path)
    assert source.unit_m == pytest.approx(0.01)
    assert source.fps == pytest.approx(60.0)
    assert source.skipped_frames == 0
    assert source.floor is not None
    assert {finding.where for finding in source.findings} >= {"unit", "up axis", "floor"}


def test_notes_do_not_warn(person, tmp_path: Path) -> None:
    path = tmp_path / "person.bvh"
    save(person(30), path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(path, strict=True).source.findings


def test_what_was_detected_can_be_overridden(thing: Path) -> None:
    motion = load(thing, fps=50, unit="cm", up="z")
    assert motion.fps == 50
    assert (motion.source.unit_m, motion.source.up, motion.source.fps) == (0.01, "z", 25.0)
    np.testing.assert_allclose(motion.root_positions[0], [0.0, 0.0, -0.8])
    assert np.linalg.norm(motion.skeleton.offsets[1]) == pytest.approx(0.4)


def test_a_thing_that_is_no_person_keeps_metres_and_axes(thing: Path) -> None:
    motion = load(thing)
    assert (motion.source.unit_m, motion.source.up, motion.n_frames) == (1.0, "y", 2)
    np.testing.assert_array_equal(motion.root_positions[:, 1], [80.0, 81.0])


def test_the_name_is_the_files(thing: Path) -> None:
    assert load(thing).name == "thing"


def test_a_t_pose_is_left_out_unless_it_is_wanted(person, tmp_path: Path) -> None:
    motion = person(40)
    quats = np.array(motion.local_quats)
    quats[0] = motion.skeleton.rest_quats
    path = tmp_path / "with_t_pose.bvh"
    save(motion.replace(local_quats=quats), path)
    loaded = load(path)
    assert (loaded.n_frames, loaded.source.skipped_frames) == (39, 1)
    assert any("T-pose" in finding.problem for finding in loaded.source.findings)
    kept = load(path, keep_t_pose=True)
    assert (kept.n_frames, kept.source.skipped_frames) == (40, 0)


def bad_start(person, path: Path) -> Path:
    motion = person(100, 120.0)
    quats = np.array(motion.local_quats)
    arm = motion.skeleton.index("LeftArm")
    turn = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), 1.6)
    quats[:2, arm] = quat.multiply(np.broadcast_to(turn, (2, 4)), quats[:2, arm])
    save(motion.replace(local_quats=quats), path)
    return path


def test_a_fault_warns_with_file_place_and_remedy(person, tmp_path: Path) -> None:
    path = bad_start(person, tmp_path / "bad.bvh")
    with pytest.warns(MotionLoomWarning, match=r"bad\.bvh, frame 2: .*LeftArm.*motion\[2:\]"):
        motion = load(path)
    assert motion.n_frames == 100  # reported, not cut


def test_strict_raises_where_a_warning_would_be(person, tmp_path: Path) -> None:
    path = bad_start(person, tmp_path / "bad.bvh")
    with pytest.raises(FormatError, match="LeftArm") as caught:
        load(path, strict=True)
    assert caught.value.where == "frame 2"
    assert caught.value.path == str(path)


def test_inspecting_lists_what_loading_finds(person, tmp_path: Path) -> None:
    path = bad_start(person, tmp_path / "bad.bvh")
    found = inspect_file(path)
    assert [finding.where for finding in found if finding.level == "warning"] == ["frame 2"]


def test_inspecting_a_bad_file_gives_one_error_and_never_raises(tmp_path: Path) -> None:
    broken = tmp_path / "broken.bvh"
    broken.write_text(TWO_JOINTS[:60])
    garbage = tmp_path / "garbage.bin"
    garbage.write_bytes(bytes(range(256)) * 20)
    for path in (broken, garbage, tmp_path / "missing.bvh", tmp_path):
        (finding,) = inspect_file(path)
        assert finding.level == "error"
        assert finding.problem


def test_wrong_options_are_refused_before_the_file_is_opened() -> None:
    for options in ({"fps": 0}, {"fps": -3}, {"unit": "yard"}, {"up": "north"}):
        with pytest.raises(ArrayError):
            load("there_is_no_such_file.bvh", **options)  # type: ignore[arg-type]
        with pytest.raises(ArrayError):
            inspect_file("there_is_no_such_file.bvh", **options)  # type: ignore[arg-type]


def test_a_stream_is_loaded_by_its_contents() -> None:
    motion = load(io.BytesIO(TWO_JOINTS.encode()))
    assert motion.n_frames == 2
    assert motion.source.path == "stream"


def test_contents_win_over_the_suffix(tmp_path: Path) -> None:
    path = tmp_path / "walk.glb"
    path.write_text(TWO_JOINTS)
    assert load(path).source.format == "bvh"


def test_a_body_that_is_not_this_skeletons_is_refused(thing: Path) -> None:
    with pytest.raises(SkeletonMismatchError, match="joints below 2, got 7 for head"):
        load(thing, body=BodyMap(head=7))


def test_a_given_body_is_used(person, tmp_path: Path) -> None:
    path = tmp_path / "person.bvh"
    motion = person(30)
    save(motion, path, up="z")
    # Without legs nothing tells the up axis or the unit.
    loaded = load(path, body=BodyMap(pelvis=0))
    assert (loaded.source.up, loaded.source.unit_m) == ("y", 1.0)


@pytest.mark.parametrize("number", ["1e300", "1e12", "-1e10"])
def test_lengths_beyond_all_sense_are_reported(tmp_path: Path, number: str) -> None:
    for place in ("0 -40 0", "0 80 0 0"):
        path = tmp_path / "huge.bvh"
        path.write_text(TWO_JOINTS.replace(place, place.replace("0", number, 1), 1))
        with pytest.raises(FormatError, match="must"):
            load(path)


@pytest.mark.parametrize("seconds", ["1e-9", "1e9"])
def test_rates_beyond_all_sense_are_reported_and_can_be_overridden(
    tmp_path: Path, seconds: str
) -> None:
    path = tmp_path / "rate.bvh"
    path.write_text(TWO_JOINTS.replace("0.04", seconds))
    with pytest.raises(FormatError, match="frame rate must lie between"):
        load(path)
    assert load(path, fps=25).fps == 25


def test_a_rate_of_zero_is_warned_about_unless_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "zero.bvh"
    path.write_text(TWO_JOINTS.replace("0.04", "0"))
    with pytest.warns(MotionLoomWarning, match="Frame Time"):
        load(path)
    motion = load(path, fps=30)
    assert (motion.fps, motion.source.fps) == (30.0, None)


def test_an_archive_comes_back_exactly_with_all_it_knew(person, tmp_path: Path) -> None:
    bvh, archive = tmp_path / "person.bvh", tmp_path / "person.mlm"
    save(person(30), bvh, unit="in", up="z")
    first = load(bvh)
    save(first, archive)
    again = load(archive)
    np.testing.assert_array_equal(again.root_positions, first.root_positions)
    np.testing.assert_array_equal(again.local_quats, first.local_quats)
    assert again.source.path == str(archive)
    assert (again.source.format, again.source.up) == ("bvh", "z")
    assert again.source.findings == first.source.findings
    assert again.source.floor == first.source.floor


def test_an_archive_keeps_a_t_pose_that_was_kept(person, tmp_path: Path) -> None:
    motion = person(40)
    quats = np.array(motion.local_quats)
    quats[0] = motion.skeleton.rest_quats
    path = tmp_path / "kept.mlm"
    save(motion.replace(local_quats=quats), path)
    assert load(path).n_frames == 40


def test_a_given_rate_is_reported_with_that_of_the_file(thing: Path) -> None:
    findings = load(thing, fps=60).source.findings
    assert any("60, as the caller says; the file says 25" in f.problem for f in findings)


NAMES = (
    *("Hips", "Spine", "Neck", "Head", "LeftArm", "LeftForeArm", "LeftHand", "RightArm"),
    *("RightForeArm", "RightHand", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"),
    *("RightUpLeg", "RightLeg", "RightFoot", "RightToeBase", "prop"),
)
PARENTS = (-1, 0, 1, 2, 1, 4, 5, 1, 7, 8, 0, 10, 11, 12, 0, 14, 15, 16, 0)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    n_joints=st.integers(1, len(NAMES)),
    n_frames=st.sampled_from([1, 2, 3, 4, 5, 9, 40]),
    size=st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 1e3, 1e8]),
    fps=st.sampled_from([0.01, 1.0, 24.0, 120.0, 99999.0]),
    turned=st.booleans(),
    sliding=st.booleans(),
)
def test_any_rig_of_any_numbers_is_loaded_and_nothing_overflows(
    seed: int, n_joints: int, n_frames: int, size: float, fps: float, turned: bool, sliding: bool
) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    quats = np.tile(quat.IDENTITY, (n_frames, n_joints, 1))
    if turned:
        quats = quat.normalize(rng.normal(size=quats.shape))
    motion = Motion(
        Skeleton(NAMES[:n_joints], PARENTS[:n_joints], size * rng.normal(size=(n_joints, 3))),
        size * rng.normal(size=(n_frames, 3)),
        quats,
        fps,
        joint_translations=size * rng.normal(size=(n_frames, n_joints, 3)) if sliding else None,
    )
    stream = io.BytesIO()
    save(motion, stream, format="arrays", unit=1.0)
    stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)  # but a RuntimeWarning is an error
        loaded = load(stream, keep_t_pose=True)
    assert loaded.n_frames == n_frames
    assert np.isfinite(loaded.world_positions()).all()
