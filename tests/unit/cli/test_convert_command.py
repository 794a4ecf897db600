from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml

BVH_TEXT_M = 1e-5
FLOAT32_M = 1e-5


def farthest(a: ml.Motion, b: ml.Motion) -> float:
    """Largest distance along an axis between joints of the same name."""
    order = [a.skeleton.index(name) for name in b.skeleton.names]
    return float(np.abs(a.world_positions()[:, order] - b.world_positions()).max())


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz"])
def test_a_clip_goes_from_format_to_format_unharmed(run, tmp_path, walk_bvh, walk, suffix) -> None:
    out = tmp_path / f"out{suffix}"
    done = run("convert", walk_bvh, out)
    assert done.code == 0, done.err
    assert str(out) in done.out
    assert farthest(ml.load(out), walk) < BVH_TEXT_M + FLOAT32_M


def test_outputs_that_exist_are_kept_unless_forced(run, tmp_path: Path, walk_bvh: Path) -> None:
    out = tmp_path / "out.glb"
    out.write_text("mine")
    done = run("convert", walk_bvh, out)
    assert done.code == 2
    assert "--force" in done.err
    assert out.read_text() == "mine"
    assert run("convert", walk_bvh, out, "--force").code == 0
    assert out.read_bytes()[:4] == b"glTF"


@pytest.mark.parametrize("disguise", ["same", "link"])
def test_inputs_are_never_overwritten_not_even_by_force(run, tmp_path, walk_bvh, disguise) -> None:
    before = walk_bvh.read_bytes()
    out = walk_bvh
    if disguise == "link":
        out = tmp_path / "link.bvh"
        out.symlink_to(walk_bvh)
    done = run("convert", walk_bvh, out, "--force")
    assert done.code == 2
    assert "never overwritten" in done.err
    assert walk_bvh.read_bytes() == before


@pytest.mark.parametrize("wrong", ["out.xyz", "taken.bvh"])
def test_an_error_of_the_output_names_the_output_alone(run, tmp_path, walk_bvh, wrong) -> None:
    (tmp_path / "taken.bvh").write_text("mine")
    for command in (("convert", walk_bvh), ("clean", walk_bvh, "-o")):
        done = run(*command, tmp_path / wrong)
        assert done.code == 2
        assert done.err.startswith(f"motionloom: {tmp_path / wrong}: ")
        assert "walk.bvh" not in done.err


def test_an_error_of_the_input_names_the_input_alone(run, tmp_path: Path) -> None:
    done = run("convert", tmp_path / "gone.bvh", tmp_path / "out.glb")
    assert done.code == 2
    assert done.err.startswith(f"motionloom: {tmp_path / 'gone.bvh'}: ")
    assert done.err.count("gone.bvh") == 1
    assert "out.glb" not in done.err


def test_a_failed_conversion_leaves_nothing_behind(run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.bvh"
    bad.write_text("HIERARCHY\nROOT Hips\n{\n")
    assert run("convert", bad, tmp_path / "out.glb").code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["bad.bvh"]


def test_an_unknown_suffix_is_reported_with_those_that_can_be_written(
    run, tmp_path, walk_bvh
) -> None:
    done = run("convert", walk_bvh, tmp_path / "out.dae")
    assert done.code == 2
    assert ".bvh" in done.err


def test_fps_resamples_and_keeps_the_duration(run, tmp_path, walk_bvh, walk) -> None:
    out = tmp_path / "out.bvh"
    assert run("convert", walk_bvh, out, "--fps", "30").code == 0
    slow = ml.load(out)
    assert slow.fps == pytest.approx(30.0)
    assert slow.duration_s == pytest.approx(walk.duration_s)


def test_source_fps_is_the_rate_that_the_file_really_has(run, tmp_path, walk_bvh, walk) -> None:
    out = tmp_path / "out.bvh"
    assert run("convert", walk_bvh, out, "--source-fps", "120").code == 0
    quick = ml.load(out)
    assert quick.fps == pytest.approx(120.0)
    assert quick.n_frames == walk.n_frames


def test_unit_and_up_are_those_of_the_written_file(run, tmp_path, walk_bvh, walk) -> None:
    out = tmp_path / "out.bvh"
    assert run("convert", walk_bvh, out, "--unit", "m", "--up", "z").code == 0
    again = ml.load(out)
    assert again.source.unit_m == 1.0
    assert again.source.up == "z"
    assert farthest(again, walk) < 2 * BVH_TEXT_M


def test_root_bone_carries_the_travel_and_in_place_takes_it_out(run, tmp_path, walk_bvh) -> None:
    bone, still = tmp_path / "bone.glb", tmp_path / "still.glb"
    assert run("convert", walk_bvh, bone, "--root", "bone").code == 0
    assert ml.load(bone).skeleton.names[0] == "root"
    assert run("convert", walk_bvh, still, "--root", "in-place").code == 0
    way = np.ptp(ml.load(still).root_positions[:, [0, 2]], axis=0)
    assert np.hypot(*way) < 0.2
    back = tmp_path / "back.bvh"
    assert run("convert", bone, back, "--root", "hips").code == 0
    assert ml.load(back).skeleton.names[0] == "Hips"


def test_a_folder_keeps_its_tree_and_suffixes_that_clash(run, tmp_path, walk_bvh, walk) -> None:
    source = tmp_path / "in"
    (source / "deep").mkdir(parents=True)
    ml.save(walk, source / "deep" / "walk.bvh")
    ml.save(walk, source / "same.bvh")
    ml.save(walk, source / "same.npz")
    target = tmp_path / "out"
    planned = run("convert", source, target, "--to", "glb", "--dry-run", "--json")
    assert planned.code == 0
    assert not target.exists()
    done = run("convert", source, target, "--to", "glb", "--json")
    assert done.code == 0, done.err
    names = sorted(str(path.relative_to(target)) for path in target.rglob("*.glb"))
    assert names == ["deep/walk.glb", "same_bvh.glb", "same_npz.glb"]
    outputs = [clip["output"] for clip in json.loads(done.out)["clips"]]
    assert outputs == [clip["output"] for clip in json.loads(planned.out)["clips"]]


def test_a_folder_goes_on_past_a_bad_file_and_reports_it(run, tmp_path, walk) -> None:
    source = tmp_path / "in"
    source.mkdir()
    ml.save(walk, source / "good.bvh")
    (source / "bad.bvh").write_text("HIERARCHY\n")
    done = run("convert", source, tmp_path / "out", "--to", "glb")
    assert done.code == 2
    assert "bad.bvh" in done.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["good.glb"]


def test_a_folder_needs_a_format(run, tmp_path, walk_bvh) -> None:
    done = run("convert", tmp_path, tmp_path / "out")
    assert done.code == 2
    assert "--to" in done.err


def test_streams_go_through(walk_bvh: Path, tmp_path: Path, walk: ml.Motion) -> None:
    command = [sys.executable, "-m", "motionloom", "convert", "-", "-", "--to", "bvh"]
    done = subprocess.run(command, input=walk_bvh.read_bytes(), capture_output=True, check=True)
    out = tmp_path / "piped.bvh"
    out.write_bytes(done.stdout)
    assert farthest(ml.load(out), walk) < 2 * BVH_TEXT_M


def test_a_stream_needs_a_format(run, walk_bvh: Path) -> None:
    done = run("convert", walk_bvh, "-")
    assert done.code == 2
    assert "--to" in done.err


def test_the_same_input_gives_the_same_bytes(run, tmp_path: Path, walk_bvh: Path) -> None:
    for name in ("a.glb", "b.glb"):
        assert run("convert", walk_bvh, tmp_path / name).code == 0
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_no_folder_is_made_for_a_format_that_cannot_be_written(
    run, tmp_path: Path, walk_bvh: Path
) -> None:
    for more in ((), ("--dry-run",)):
        done = run("convert", walk_bvh, tmp_path / "new" / "walk.dae", *more)
        assert done.code == 2
        assert ".fbx" in done.err
        assert not (tmp_path / "new").exists()
