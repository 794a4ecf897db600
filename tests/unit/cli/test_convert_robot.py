"""motionloom convert --robot: clips to joint positions, and joint positions to clips."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import motionloom as ml

MODEL = Path(__file__).resolve().parents[1] / "intake" / "biped.xml"


def test_a_clip_goes_to_a_robot_and_back(run, walk_bvh, tmp_path) -> None:
    joints = {f"{side}_knee_joint": f"{side.capitalize()}Leg" for side in ("left", "right")}
    joints |= {f"left_hip_{turn}_joint": "LeftUpLeg" for turn in ("pitch", "roll", "yaw")}
    (tmp_path / "joints.json").write_text(json.dumps(joints))
    npz, csv, bvh = tmp_path / "walk.npz", tmp_path / "walk.csv", tmp_path / "back.bvh"
    model = "--robot", MODEL
    done = run("convert", walk_bvh, npz, *model, "--joints", tmp_path / "joints.json")
    assert done.code == 0, done.err
    assert "right_knee_joint: leaves out" in done.err  # its hip is not driven
    with np.load(npz) as file:
        assert file["joint_names"].tolist() == list(ml.load_robot(MODEL).joint_names)
    assert run("convert", npz, csv, *model).code == 0
    assert run("convert", csv, bvh, *model).code == 0
    assert "left_knee_joint" in ml.load(bvh).skeleton.names


def test_options_that_do_not_fit_are_named(run, walk_bvh, tmp_path) -> None:
    done = run("convert", walk_bvh, tmp_path / "a.npz", "--joints", MODEL)
    assert (done.code, "--joints needs --robot" in done.err) == (2, True)
    done = run("convert", walk_bvh, tmp_path / "a.npz", "--robot", MODEL)
    assert (done.code, "robot's skeleton" in done.err) == (2, True)
    done = run("convert", walk_bvh, tmp_path / "a.npz", "--robot", MODEL, "--joints", MODEL)
    assert (done.code, "must be JSON" in done.err) == (2, True)


def test_amass_is_asked_for_by_name(run, walk_bvh, tmp_path) -> None:
    assert run("convert", walk_bvh, tmp_path / "walk.npz", "--to", "amass").code == 0
    assert ml.load(tmp_path / "walk.npz").source.format == "amass"
