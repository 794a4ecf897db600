"""--engine and --root on every command that writes a motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml

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
    assert "use convert FOLDER OUT with them" in answer.err


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
