"""AMASS files: rotations of the subject on a body from the tables."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import FormatError
from motionloom.formats import amass
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.motion.motion import end_positions, forward_kinematics
from motionloom.rotation import quat

UPRIGHT = np.array([np.pi / 2, 0.0, 0.0])
"""Turns the body's Y up into the file's Z up."""
TABLE_M = 1e-9


def archive(width: int = 156, n_frames: int = 3, **changes: Any) -> dict[str, Any]:
    poses = np.zeros((n_frames, width))
    poses[:, :3] = UPRIGHT
    out: dict[str, Any] = {
        "trans": np.tile([0.0, 0.0, 0.9], (n_frames, 1)),
        "gender": "male",
        "mocap_framerate": 120.0,
        "betas": np.zeros(16),
        "poses": poses,
    }
    out.update(changes)
    return {key: value for key, value in out.items() if value is not None}


def read(arrays: dict[str, Any]) -> FileClip:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    assert amass.sniff(stream.getvalue()[:4096])
    stream.seek(0)
    return amass.read(stream, ReadOptions())


def test_the_body_stands_upright_with_z_up() -> None:
    clip = read(archive())
    at = dict(zip(clip.motion.skeleton.names, clip.motion.world_positions()[0], strict=True))
    assert (clip.unit_m, clip.up) == (1.0, "z")
    assert at["head"][2] > at["pelvis"][2] > at["left_knee"][2] > at["left_ankle"][2]
    assert at["left_hip"][0] > 0 > at["right_hip"][0]
    assert at["left_foot"][1] < at["left_ankle"][1]  # toes towards -y, left towards +x


def test_the_rest_pose_has_the_stature_of_the_tables() -> None:
    body = amass.body_of_stature(1.8)
    places, turns = forward_kinematics(body, body.offsets[:1], body.rest_quats[None])
    top = end_positions(body, places, turns)[0, :, 2].max()
    assert top == pytest.approx(1.8, abs=TABLE_M)
    ankle = places[0, body.index("left_ankle"), 2]
    assert ankle == pytest.approx(0.039 * 1.8, abs=TABLE_M)
    shoulder = places[0, body.index("left_shoulder"), 2]
    assert shoulder == pytest.approx(0.818 * 1.8, abs=TABLE_M)


@pytest.mark.parametrize("width", [66, 72, 156, 165])
def test_every_model_gives_the_22_body_joints(width: int) -> None:
    clip = read(archive(width))
    assert clip.motion.skeleton.n_joints == 22
    assert any("Left out" in f.problem for f in clip.findings) == (width > 72)


def test_rotation_vectors_become_local_rotations() -> None:
    poses = archive()["poses"]
    poses[1, 3 * 4 : 3 * 4 + 3] = [0.7, 0.0, 0.0]
    motion = read(archive(poses=poses)).motion
    knee = motion.skeleton.index("left_knee")
    assert np.allclose(motion.local_quats[1, knee], quat.exp(np.array([0.7, 0, 0])))


@pytest.mark.parametrize("key", ["mocap_framerate", "mocap_frame_rate"])
def test_both_spellings_of_the_rate_are_read(key: str) -> None:
    clip = read(archive(**{"mocap_framerate": None, key: 60}))
    assert (clip.motion.fps, clip.fps_stated) == (60.0, True)


def test_a_missing_rate_is_a_warning() -> None:
    clip = read(archive(mocap_framerate=None))
    assert not clip.fps_stated
    assert [f.fix for f in clip.findings if f.level == "warning"] == ["Say fps=RATE."]


def test_a_pickled_gender_is_not_unpickled_and_reported() -> None:
    clip = read(archive(gender=np.array(["male", None], dtype=object)))
    assert any("pickled" in f.problem for f in clip.findings)


def test_the_note_states_whose_proportions_these_are_and_that_nothing_was_verified() -> None:
    note = read(archive()).findings[0]
    assert note.level == "note"
    assert "not the subject's" in note.problem
    assert "unverified on real files" in note.problem


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"poses": np.zeros((3, 100))}, "100"),
        ({"trans": np.zeros((2, 3))}, r"\(3, 3\)"),
        ({"trans": None}, "'trans' is needed"),
        ({"poses": np.full((3, 66), np.inf)}, "finite"),
        ({"mocap_framerate": 0.0}, "above 0"),
        ({"poses": np.zeros((0, 66)), "trans": np.zeros((0, 3))}, "one frame"),
    ],
)
def test_wrong_files_are_refused_with_the_reason(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(archive(**changes))


def test_joints_hang_on_one_another_as_in_smpl() -> None:
    # The kinematic tree of the model's first 22 joints, as its authors publish it.
    tree = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19]
    assert read(archive()).motion.skeleton.parents.tolist() == tree


def test_a_clip_goes_out_and_comes_back(tmp_path) -> None:
    clip = ml.retarget(ml.synthetic.clip("walk").motion, ml.smpl_skeleton())
    ml.save(clip, tmp_path / "walk.npz", format="amass")
    with np.load(tmp_path / "walk.npz") as file:
        assert file["poses"].shape == (clip.n_frames, 156)
        assert file["betas"].shape == (16,)
        assert str(file["gender"]) == "neutral"
        assert float(file["mocap_framerate"]) == clip.fps
    back = ml.load(tmp_path / "walk.npz", keep_t_pose=True)
    assert back.source.format == "amass"
    assert np.abs(back.world_positions() - clip.world_positions()).max() < 1e-9
    ml.save(back, tmp_path / "again.npz", format="amass")
    with np.load(tmp_path / "again.npz") as again, np.load(tmp_path / "walk.npz") as first:
        assert np.allclose(again["poses"], first["poses"], rtol=0.0, atol=1e-12)
        assert np.array_equal(again["trans"], first["trans"])


def test_a_clip_stands_as_smpl_tools_expect(tmp_path) -> None:
    """An identity pose with the root turned by a quarter about X stands upright with Z up."""
    clip = ml.retarget(ml.synthetic.clip("walk").motion, ml.smpl_skeleton())
    ml.save(clip, tmp_path / "walk.npz", format="amass")
    with np.load(tmp_path / "walk.npz") as file:
        upright = quat.rotate(quat.exp(file["poses"][:, :3]), np.array([0.0, 1.0, 0.0]))
        assert upright[:, 2].min() > 0.9
        assert 0.7 < file["trans"][:, 2].mean() < 1.1
        knees = file["poses"][:, 3 * 4 : 3 * 4 + 3]
    assert knees[:, 0].max() > 0.5 > -knees[:, 0].min()  # knees bend about +X


def test_other_skeletons_are_refused_with_what_to_do(tmp_path) -> None:
    walk = ml.synthetic.clip("walk").motion
    with pytest.raises(ml.FormatError, match=r"missing are pelvis.*smpl_skeleton"):
        ml.save(walk, tmp_path / "walk.npz", format="amass")
    body = ml.smpl_skeleton()
    turned = dataclasses.replace(body, offsets=-np.array(body.offsets))
    still = ml.Motion(turned, np.zeros((2, 3)), np.tile(turned.rest_quats, (2, 1, 1)), 30.0)
    with pytest.raises(ml.FormatError, match="points another way"):
        ml.save(still, tmp_path / "still.npz", format="amass")
    with pytest.raises(ml.FormatError, match="metres with Z up"):
        ml.save(ml.retarget(walk, body), tmp_path / "cm.npz", format="amass", unit="cm")


@pytest.mark.parametrize("rate", [0.0, -30.0])
def test_a_rate_that_is_none_names_its_array(rate: float) -> None:
    with pytest.raises(FormatError, match="frame rate must be above 0") as caught:
        read(archive(mocap_framerate=rate))
    assert caught.value.where == "array 'mocap_framerate'"
