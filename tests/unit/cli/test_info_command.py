from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import motionloom as ml


def test_json_is_one_object_and_nothing_else(run, walk_bvh: Path, walk: ml.Motion) -> None:
    done = run("info", walk_bvh, "--json")
    assert done.code == 0
    assert done.err == ""
    (clip,) = json.loads(done.out)["clips"]
    assert clip["frames"] == walk.n_frames
    assert clip["fps"] == 60.0
    assert clip["unit_m"] == 0.01
    assert clip["up"] == "y"
    assert clip["format"] == "bvh"
    assert clip["roles"]["left_knee"] == "LeftLeg"
    assert clip["missing_roles"] == []
    assert clip["plants"]["left_toe"] >= 1
    assert {finding["level"] for finding in clip["findings"]} == {"note"}


def test_the_text_has_frames_rate_unit_roles_and_plants(run, walk_bvh: Path) -> None:
    done = run("info", walk_bvh)
    for words in ("91 frames at 60 fps", "centimetres", "y up", "left_knee LeftLeg", "left toe"):
        assert words in done.out


def test_a_folder_is_all_clips_in_it_and_no_readme(run, tmp_path: Path, walk_bvh: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "again.bvh").write_bytes(walk_bvh.read_bytes())
    (tmp_path / "readme.txt").write_text("no clip")
    clips = json.loads(run("info", tmp_path, "--json").out)["clips"]
    assert [Path(clip["file"]).name for clip in clips] == ["again.bvh", "walk.bvh"]


def test_a_folder_without_clips_is_an_error(run, tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("no clip")
    done = run("info", tmp_path)
    assert done.code == 2
    assert "must hold a clip" in done.err


def test_standard_input_is_read(walk_bvh: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "motionloom", "info", "-", "--json"],
        input=walk_bvh.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["clips"][0]["frames"] == 91


def test_a_bad_file_among_good_ones_is_reported_and_the_rest_read(
    run, tmp_path: Path, walk_bvh: Path
) -> None:
    bad = tmp_path / "bad.bvh"
    bad.write_text("HIERARCHY\nROOT")
    done = run("info", bad, walk_bvh, "--json")
    assert done.code == 2
    first, second = json.loads(done.out)["clips"]
    assert "bad.bvh" in first["error"]
    assert second["frames"] == 91
    assert done.err.count("\n") == 1


def test_options_of_the_user_win(run, walk_bvh: Path) -> None:
    done = run("info", walk_bvh, "--source-fps", "30", "--source-unit", "mm", "--json")
    clip = json.loads(done.out)["clips"][0]
    assert clip["fps"] == 30.0
    assert clip["fps_stated"] == 60.0
    assert clip["unit_m"] == 0.001


def test_a_rate_by_pattern_goes_to_the_files_that_fit(run, tmp_path: Path, walk_bvh: Path) -> None:
    other = tmp_path / "143_01.bvh"
    other.write_bytes(walk_bvh.read_bytes())
    done = run("info", other, walk_bvh, "--source-fps", "143_*=120", "--json")
    assert [clip["fps"] for clip in json.loads(done.out)["clips"]] == [120.0, 60.0]


def test_a_rate_that_is_no_number_is_refused(run, walk_bvh: Path) -> None:
    done = run("info", walk_bvh, "--source-fps", "143_*=fast")
    assert done.code == 2
    assert "PATTERN=RATE" in done.err


def test_a_body_file_defines_which_joint_is_which(run, tmp_path: Path, walk_bvh: Path) -> None:
    body = tmp_path / "body.toml"
    body.write_text('[roles]\nhead = "Neck"\nneck = ""\n')
    clip = json.loads(run("info", walk_bvh, "--body", body, "--json").out)["clips"][0]
    assert clip["roles"]["head"] == "Neck"
    assert clip["missing_roles"] == ["neck"]


def test_names_cannot_rewrite_the_terminal(run, tmp_path: Path, walk_bvh: Path) -> None:
    text = walk_bvh.read_text().replace("LeftLeg", "Left\x1b[2JLeg")
    odd = tmp_path / "odd.bvh"
    odd.write_text(text)
    assert "\x1b" not in run("info", odd).out


def test_a_reader_that_leaves_early_is_no_fault(walk_bvh: Path) -> None:
    command = [sys.executable, "-m", "motionloom", "info", str(walk_bvh)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as teller:
        assert teller.stdout is not None and teller.stderr is not None
        teller.stdout.close()
        done = teller.stderr.read()
    assert (teller.returncode, done) == (0, b"")


def test_a_pattern_that_fits_no_file_is_reported(run, walk_bvh: Path) -> None:
    done = run("info", walk_bvh, "--source-fps", "143_*=30", "--source-fps", "walk=30", "--json")
    assert done.code == 0
    assert json.loads(done.out)["clips"][0]["fps"] == 30.0
    assert "143_*=30" in done.err
    assert "walk=30" not in done.err


def test_files_of_a_folder_that_are_no_clips_are_reported(run, walk_bvh, tmp_path) -> None:
    for name in ("notes.md", "a.csv", "b.csv", "c.csv", "d.csv", "e.csv", ".hidden"):
        (tmp_path / name).write_text("not a clip")
    outcome = run("info", tmp_path)
    assert outcome.code == 0
    assert "skipped in" in outcome.err
    assert "a.csv, b.csv, c.csv, d.csv, e.csv and 1 more" in outcome.err
    assert ".hidden" not in outcome.err
