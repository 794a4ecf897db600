"""--character: results of every command on the character of a file, with its skin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from fuzz.box_man import BoxMan, box_man, box_man_glb, png

SINGLE_M = 3e-6
CLIP = "embedded:walk"
COMMANDS = {
    "convert": ("convert", CLIP, "OUT"),
    "clean": ("clean", CLIP, "-o", "OUT"),
    "balance": ("balance", CLIP, "-o", "OUT"),
    "transition": ("transition", CLIP, "embedded:jog", "-o", "OUT"),
    "blend": ("blend", CLIP, "embedded:jog", "-o", "OUT"),
    "splice": ("splice", "--upper", "embedded:carry", "--lower", CLIP, "-o", "OUT"),
}


@pytest.fixture(scope="module")
def child() -> BoxMan:
    return box_man(ml.synthetic.skeleton(1.5))


@pytest.fixture
def file(child: BoxMan, tmp_path: Path) -> Path:
    path = tmp_path / "child.glb"
    path.write_bytes(box_man_glb(child))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_puts_its_result_on_the_character(
    run, child: BoxMan, file: Path, tmp_path: Path, command: str
) -> None:
    out = tmp_path / "out.glb"
    words = [out if word == "OUT" else word for word in COMMANDS[command]]
    done = run(*words, "--character", file)
    assert done.code == 0, done.err
    character, motion = ml.load_character(out), ml.load(out, keep_t_pose=True)
    frame = motion.n_frames // 2
    expected = child.with_four_shares().posed(motion, frame)
    assert np.abs(character.posed(motion, frame) - expected).max() < SINGLE_M
    assert {t.data for m in character.materials for t in m.textures.values()} == {png()}
    assert np.abs(motion.skeleton.offsets - child.skeleton.offsets)[1:].max() < 1e-5


def test_folders_go_on_the_character_too(run, file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    for name in ("walk", "wave"):
        ml.save(ml.synthetic.clip(name, duration_s=1.0).motion, folder / f"{name}.bvh")
    done = run("convert", folder, tmp_path / "out", "--to", "fbx", "--character", file)
    assert done.code == 0, done.err
    for name in ("walk", "wave"):
        assert ml.load_character(tmp_path / "out" / f"{name}.fbx").n_points > 100
    cleaned = run("clean", folder, "-o", tmp_path / "cleaned", "--character", file)
    assert cleaned.code == 2
    assert "use convert FOLDER OUT with them" in cleaned.err


def test_other_formats_hold_the_bones_of_the_character(
    run, child: BoxMan, file: Path, tmp_path: Path
) -> None:
    done = run("convert", CLIP, tmp_path / "out.bvh", "--character", file)
    assert done.code == 0, done.err
    motion = ml.load(tmp_path / "out.bvh")
    assert np.abs(motion.skeleton.offsets - child.skeleton.offsets)[1:].max() < 1e-5


def test_a_file_without_a_skin_is_refused_in_words(run, tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("walk").motion[:5], tmp_path / "bones.glb")
    ml.save(ml.synthetic.clip("walk").motion[:5], tmp_path / "bones.bvh")
    out = tmp_path / "out.glb"
    bones = run("convert", CLIP, out, "--character", tmp_path / "bones.glb")
    assert bones.code == 2 and "no mesh that hangs on a skeleton" in bones.err
    bvh = run("convert", CLIP, out, "--character", tmp_path / "bones.bvh")
    assert bvh.code == 2 and ".glb, .gltf, .fbx" in bvh.err
    gone = run("convert", CLIP, out, "--character", tmp_path / "gone.glb")
    assert gone.code == 2 and "gone.glb" in gone.err
    assert not out.exists()


def test_the_character_is_never_overwritten(run, file: Path) -> None:
    before = file.read_bytes()
    done = run("convert", CLIP, file, "--character", file, "--force")
    assert done.code == 2 and "never overwritten" in done.err
    assert file.read_bytes() == before


def test_a_clip_of_a_character_keeps_its_skin_without_the_option(
    run, file: Path, tmp_path: Path
) -> None:
    assert run("convert", CLIP, tmp_path / "walk.glb", "--character", file).code == 0
    done = run("convert", tmp_path / "walk.glb", tmp_path / "walk.fbx")
    assert done.code == 0, done.err
    character = ml.load_character(tmp_path / "walk.fbx")
    assert {t.data for m in character.materials for t in m.textures.values()} == {png()}
