from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat


def with_a_jump(motion: ml.Motion) -> ml.Motion:
    """The clip with the left forearm turned right round in one frame."""
    quats = np.array(motion.local_quats)
    joint = motion.skeleton.index("LeftForeArm")
    quats[40, joint] = quat.multiply(quats[40, joint], np.array([0.0, 1.0, 0.0, 0.0]))
    return motion.replace(local_quats=quats)


def skating(motion: ml.Motion) -> ml.Motion:
    """The clip with its travel a fifth longer, which its feet cannot follow."""
    root = np.array(motion.root_positions)
    root[:, [0, 2]] *= 1.2
    return motion.replace(root_positions=root)


def test_a_clean_clip_exits_with_0(run, walk_bvh: Path) -> None:
    done = run("check", walk_bvh)
    assert done.code == 0
    assert done.out.startswith("ok")


def test_a_jump_of_one_joint_is_found_with_frame_and_joint(run, tmp_path, walk) -> None:
    path = tmp_path / "jump.bvh"
    ml.save(with_a_jump(walk), path)
    done = run("check", path, "--json")
    assert done.code == 1
    findings = json.loads(done.out)["clips"][0]["findings"]
    assert any(
        "LeftForeArm" in finding["problem"] and finding["where"] in ("frame 39", "frame 40")
        for finding in findings
    )


def test_a_walk_that_skates_is_found_by_its_limit(run, tmp_path: Path) -> None:
    path = tmp_path / "skate.bvh"
    ml.save(skating(ml.synthetic.clip("walk").motion), path)
    strict, lax = run("check", path), run("check", path, "--slide", "100")
    assert strict.code == 1
    assert "planted feet move" in strict.out
    assert "planted feet move" not in lax.out


def test_an_unreadable_file_exits_with_2_and_the_rest_is_checked(run, tmp_path, walk_bvh) -> None:
    bad = tmp_path / "bad.bvh"
    bad.write_bytes(walk_bvh.read_bytes()[:300])
    done = run("check", bad, walk_bvh, "--json")
    assert done.code == 2
    summary = json.loads(done.out)
    assert (summary["clean"], summary["unreadable"]) == (1, 1)
    assert "bad.bvh" in done.err


def test_a_missing_file_exits_with_2(run, tmp_path: Path) -> None:
    assert run("check", tmp_path / "none.bvh").code == 2


def test_a_thing_without_feet_can_be_clean(run, tmp_path: Path) -> None:
    rod = ml.Skeleton(["a", "b", "c"], [-1, 0, 1], [[0, 0, 0], [0, 1, 0], [0, 1, 0]])
    still = ml.Motion(rod, np.zeros((30, 3)), np.tile(quat.IDENTITY, (30, 3, 1)), fps=30)
    path = tmp_path / "rod.npz"
    ml.save(still, path)
    done = run("check", path, "--json")
    assert done.code == 0, done.out
    assert json.loads(done.out)["clips"][0]["quality"] is None


def test_a_report_is_written_and_the_list_of_good_clips(run, tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    ml.save(ml.synthetic.clip("kick").motion, clips / "kick.bvh")
    ml.save(skating(ml.synthetic.clip("walk").motion), clips / "skate.bvh")
    report, accept = tmp_path / "report", tmp_path / "good.txt"
    command = ("check", clips, "--report", report, "--accept", accept, "--jobs", "2")
    assert run(*command).code == 1
    assert {path.name for path in report.iterdir()} == {
        "index.html",
        "rows.jsonl",
        "summary.csv",
        "summary.json",
    }
    assert accept.read_text().splitlines() == [str(clips / "kick.bvh")]
    again = run(*command)
    assert again.code == 2
    assert "--force" in again.err
    assert run(*command, "--overwrite").code == 1


def test_limits_of_columns_are_options(run, tmp_path: Path) -> None:
    path = tmp_path / "skate.bvh"
    ml.save(skating(ml.synthetic.clip("walk").motion), path)
    assert run("check", path, "--limit", "slide=inf").code == 0
    wrong = run("check", path, "--limit", "slides=3")
    assert wrong.code == 2
    assert "floor_offset" in wrong.err
    assert run("check", path, "--limit", "slide").code == 2


@pytest.mark.parametrize(
    ("words", "twice"),
    [
        (["--limit", "jitter=3", "--limit", "jitter=5"], "'jitter' twice: 3 and 5"),
        (["--limit", "frame-rate=inf", "--limit", "frame_rate=0"], "'frame_rate' twice"),
        (["--slide", "5", "--limit", "slide=9"], "'slide' twice: 5 and 9"),
        (["--source-fps", "30", "--source-fps", "60"], "'*' twice: 30 and 60"),
        (["--source-fps", "walk=30", "--source-fps", "walk=30"], "'walk' twice: 30 and 30"),
    ],
)
def test_a_name_with_two_values_is_refused(run, walk_bvh, words, twice):
    done = run("check", walk_bvh, *words)
    assert done.code == 2
    assert f"{words[-2]} must give each name one value, got {twice}" in done.err


def test_a_run_that_is_stopped_exits_with_130_and_prints_how_to_go_on(
    run, walk_bvh: Path, tmp_path: Path, monkeypatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ml, "check_dataset", stopped, raising=False)
    done = run("check", walk_bvh, "--report", tmp_path / "r")
    assert done.code == 130
    assert "run the same command again" in done.err


def test_with_a_report_the_worst_are_printed_and_the_others_counted(run, tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    walk = ml.synthetic.clip("walk", duration_s=1.0).motion
    for k in range(13):
        ml.save(walk, folder / f"walk{k:02}.bvh")
    (folder / "broken.bvh").write_text("HIERARCHY")
    answer = run("check", folder, "-o", tmp_path / "report")
    assert answer.code == 2
    assert answer.out.count("WARN") == 10
    assert f"and 2 more with findings in {tmp_path / 'report'}" in answer.out
    assert "1 clean, 12 with findings, 1 unreadable" in answer.out
