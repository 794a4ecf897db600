"""C3D files on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import motionloom as ml
from fuzz.box_man import box_man, box_man_glb
from tests.unit.formats.test_c3d_points import marker_file

N_FRAMES = 20


def markers(folder: Path, walk: ml.Motion) -> Path:
    return marker_file(folder / "a.c3d", np.array(walk.world_positions()[:N_FRAMES]), screen="+Z")


def man_glb(folder: Path) -> Path:
    path = folder / "man.glb"
    path.write_bytes(box_man_glb(box_man()))
    return path


def test_info_shows_markers(run, walk: ml.Motion, tmp_path: Path) -> None:
    path = markers(tmp_path, walk)
    done = run("info", path)
    assert done.code == 0
    for words in ("c3d", "20 frames at 60 fps", "millimetres, z up", "M0 M1", "100 % of all"):
        assert words in done.out
    (facts,) = json.loads(run("info", path, "--json").out)["clips"]
    assert facts["markers"] == walk.skeleton.n_joints
    assert facts["seen_share"] == 1.0
    assert json.loads(run("info", path, "--json", "--source-up", "y").out)["clips"][0]["up"] == "y"


def test_convert_writes_markers_as_rows_or_arrays(run, walk: ml.Motion, tmp_path: Path) -> None:
    path = markers(tmp_path, walk)
    assert run("convert", path, tmp_path / "a.csv").code == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == N_FRAMES + 1
    done = run("convert", path, tmp_path / "a.npz", "--json")
    assert json.loads(done.out)["clips"][0]["frames"] == N_FRAMES
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["positions"].shape == (N_FRAMES, walk.skeleton.n_joints, 3)


def test_what_markers_cannot_be_is_refused(run, walk: ml.Motion, tmp_path: Path) -> None:
    path = markers(tmp_path, walk)
    done = run("convert", path, tmp_path / "a.bvh")
    assert done.code == 2
    assert "as .csv or .npz only" in done.err
    for more in (("--fps", "30"), ("--character", man_glb(tmp_path))):
        done = run("convert", path, tmp_path / "b.csv", *more)
        assert done.code == 2
        assert "--source-unit and --source-up" in done.err
        assert not (tmp_path / "b.csv").exists()
    done = run("clean", path, "-o", tmp_path / "a.bvh")
    assert done.code == 2
    assert "convert writes them" in done.err
