"""--engine and --root on every command that writes a motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from fuzz.box_man import box_man, box_man_glb

from .conftest import Run

COMMANDS = {
    "convert": lambda clip, out: ["convert", clip, out],
    "clean": lambda clip, out: ["clean", clip, "-o", out],
    "balance": lambda clip, out: ["balance", clip, "-o", out],
    "transition": lambda clip, out: ["transition", clip, "embedded:walk", "-o", out],
    "blend": lambda clip, out: ["blend", clip, "embedded:walk", "-o", out],
    "splice": lambda clip, out: ["splice", "--upper", "embedded:wave", "--lower", clip, "-o", out],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_results_are_laid_out_for_the_engine(
    run: Run, tmp_path: Path, walk_bvh: Path, command: str
) -> None:
    out = tmp_path / "out.fbx"
    answer = run(*COMMANDS[command](walk_bvh, out), "--engine", "unreal")
    assert answer.code == 0, answer.err
    back = ml.load(out, keep_t_pose=True)
    assert back.skeleton.names[:3] == ("root", "pelvis", "spine_01")
    assert (back.source.unit_m, back.source.up) == (0.01, "z")
    assert np.abs(back.root_positions[0]).max() < 1e-6
    assert np.abs(back.root_positions[-1]).max() > 0.3


@pytest.mark.parametrize("command", ["clean", "transition", "blend"])
def test_root_places_the_travel_also_without_an_engine(
    run: Run, tmp_path: Path, walk_bvh: Path, command: str
) -> None:
    out = tmp_path / "out.bvh"
    answer = run(*COMMANDS[command](walk_bvh, out), "--root", "bone")
    assert answer.code == 0, answer.err
    assert ml.load(out).skeleton.names[0] == "root"


def test_in_place_the_root_bone_stays_at_the_origin(
    run: Run, tmp_path: Path, walk_bvh: Path
) -> None:
    out = tmp_path / "out.glb"
    answer = run("convert", walk_bvh, out, "--engine", "godot", "--root", "in-place")
    assert answer.code == 0, answer.err
    back = ml.load(out, keep_t_pose=True)
    assert back.skeleton.names[:2] == ("Root", "Hips")
    assert np.abs(back.root_positions).max() == 0.0
    assert np.ptp(back.world_positions()[:, 1, [0, 2]], axis=0).max() < 1e-5


def test_a_table_writes_for_an_engine(run: Run, tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    for kind in ("walk", "run"):
        motion = ml.synthetic.clip(kind, duration_s=2.0, fps=20).motion
        ml.save(motion, clips / f"{kind}.bvh")
    lib = ml.Collection.ingest(clips, out=tmp_path / "lib.mlc")
    ml.build_table(lib, out=tmp_path / "lib.mlt", length_s=0.5, clusters=2, progress=False)
    out = tmp_path / "out.glb"
    command = ("table", "synthesize", tmp_path / "lib.mlt", "walk:15", "run:30", "-o", out)
    answer = run(*command, "--allow-flawed", "--engine", "unity")
    assert answer.code == 0, answer.err
    assert ml.load(out, keep_t_pose=True).skeleton.names[:2] == ("Root", "Hips")


def test_a_folder_needs_no_format(run: Run, tmp_path: Path, walk_bvh: Path) -> None:
    assert run("convert", walk_bvh, tmp_path / "in" / "a.bvh").code == 0
    assert run("convert", tmp_path / "in", tmp_path / "out", "--engine", "unity").code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.fbx"]
    pairs = ("transition", tmp_path / "in", walk_bvh, "-o", tmp_path / "all")
    assert run(*pairs, "--engine", "godot").code == 0
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["a_to_walk.glb"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_suffix_that_engines_do_not_read_is_refused_first(
    run: Run, tmp_path: Path, walk_bvh: Path, command: str
) -> None:
    answer = run(*COMMANDS[command](walk_bvh, tmp_path / "new" / "out.bvh"), "--engine", "godot")
    assert answer.code == 2
    assert "must end in .glb or .fbx" in answer.err and "leave out --engine" in answer.err
    assert not (tmp_path / "new").exists()


def test_cleaning_a_folder_refuses_and_recommends_convert(run: Run, tmp_path: Path) -> None:
    answer = run("clean", tmp_path, "-o", tmp_path / "out", "--engine", "unreal")
    assert answer.code == 2
    assert "--engine and --root take one clip" in answer.err
    assert "convert FOLDER OUT" in answer.err


def test_roles_of_a_body_file_are_used(run: Run, tmp_path: Path, walk: ml.Motion) -> None:
    rig = walk.skeleton
    nameless = ml.Skeleton(
        [f"j{j}" for j in range(rig.n_joints)], rig.parents, rig.offsets, rig.rest_quats
    )
    ml.save(walk.replace(skeleton=nameless), tmp_path / "in.bvh")
    roles = ml.BodyMap.guess(rig).to_toml(nameless)
    (tmp_path / "body.toml").write_text(roles)
    command = ("convert", tmp_path / "in.bvh", tmp_path / "out.fbx", "--engine", "unity")
    assert run(*command, "--body", tmp_path / "body.toml").code == 0
    names = ml.load(tmp_path / "out.fbx", keep_t_pose=True).skeleton.names
    assert names[:5] == ("Root", "Hips", "Spine", "Chest", "UpperChest")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_root_bone_is_added_to_the_character(
    run: Run, tmp_path: Path, walk_bvh: Path, command: str
) -> None:
    child, out = tmp_path / "child.glb", tmp_path / "out.fbx"
    child.write_bytes(box_man_glb(box_man(ml.synthetic.skeleton(1.5))))
    answer = run(*COMMANDS[command](walk_bvh, out), "--character", child, "--root", "bone")
    assert answer.code == 0, answer.err
    character, motion = ml.load_character(out), ml.load(out, keep_t_pose=True)
    assert motion.skeleton.names[:2] == ("root", "Hips")
    places = motion.world_positions()[-1]
    assert np.abs(places[0, 1]) < 1e-6 and np.abs(places[0] - places[1])[[0, 2]].max() < 1e-5
    points = character.posed(motion, motion.n_frames - 1)
    assert np.abs(points.mean(axis=0) - places[1])[[0, 2]].max() < 0.2


def rigs_with_root_bones(walk: ml.Motion) -> dict[str, ml.Motion]:
    """Root bones under the names of known tools, one of them lying still."""
    rooted = {name: ml.with_root_bone(walk, name=name) for name in ("root", "Root", "joint_Root")}
    still = ml.travel_on_pelvis(rooted["Root"], like=rooted["Root"][:1])
    return {**rooted, "still": still}


@pytest.mark.parametrize("rig", ["root", "Root", "joint_Root", "still"])
def test_a_root_bone_that_is_there_is_used_or_taken_out(
    run: Run, tmp_path: Path, walk: ml.Motion, rig: str
) -> None:
    clip = rigs_with_root_bones(walk)[rig]
    ml.save(clip, tmp_path / "in.bvh")
    pelvis = clip.world_positions()[:, 1]
    names = clip.skeleton.names
    assert run("convert", tmp_path / "in.bvh", tmp_path / "bone.bvh", "--root", "bone").code == 0
    bone = ml.load(tmp_path / "bone.bvh")
    assert bone.skeleton.names == names
    np.testing.assert_allclose(bone.root_positions[:, [0, 2]], pelvis[:, [0, 2]], atol=1e-5)
    assert run("convert", tmp_path / "in.bvh", tmp_path / "hips.bvh", "--root", "hips").code == 0
    hips = ml.load(tmp_path / "hips.bvh")
    assert hips.skeleton.names == names[1:]
    np.testing.assert_allclose(hips.root_positions, pelvis, atol=1e-5)


def test_a_body_of_smpl_has_no_root_bone(run: Run, tmp_path: Path, walk_bvh: Path) -> None:
    out = tmp_path / "out.npz"
    answer = run("convert", walk_bvh, out, "--to", "amass", "--root", "bone")
    assert answer.code == 2 and not out.exists()
    assert "no root bone" in answer.err and "Leave out --root bone" in answer.err
    assert run("convert", walk_bvh, out, "--to", "amass", "--root", "in-place").code == 0
    assert np.ptp(ml.load(out).world_positions()[:, 0, [0, 2]], axis=0).max() < 0.05
