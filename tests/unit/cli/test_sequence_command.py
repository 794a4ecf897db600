"""motionloom sequence: clips, parts of clips and plans."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("takes")
    for kind in ("walk", "jog", "run"):
        ml.save(ml.synthetic.clip(kind, duration_s=3.0, fps=30).motion, place / f"{kind}.bvh")
    return place


@pytest.fixture
def takes(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with three clips, which is the present one."""
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def same(a: Path, b: Path) -> bool:
    return a.read_bytes() == b.read_bytes()


def test_it_prints_a_line_per_clip_and_per_joint(run, takes: Path) -> None:
    done = run("sequence", "walk.bvh", "jog.bvh", "run.bvh", "-o", "out.bvh")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [line[0] for line in lines[:3]] == ["A", "B", "C"]
    joints = [line for line in lines if line.startswith("joint")]
    assert len(joints) == 2
    for line, (a, b) in zip(joints, (("walk", "jog"), ("jog", "run")), strict=True):
        assert f"s of {a}.bvh (" in line and f"s of {b}.bvh (" in line
        for word in ("keeps", "leaves out", "blend 0.60 s", "cost", "passed"):
            assert word in line
    assert "check  passed" in done.out and "wrote  out.bvh" in done.out
    assert ml.load("out.bvh").n_frames > ml.load("walk.bvh").n_frames


def test_parts_of_clips_are_joined(run, takes: Path) -> None:
    clips = ("walk.bvh:0.5s-2.5s", "jog.bvh:10-80", "walk.bvh:20-")
    done = run("sequence", *clips, "-o", "out.bvh", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert [each["frames"] for each in facts["inputs"]] == [61, 71, 71]
    assert [each["file"] for each in facts["inputs"]] == list(clips)
    assert len(facts["joints"]) == 2
    for first, last in (each["alone"] for each in facts["inputs"]):
        assert 0 <= first <= last < 71
    again = run("sequence", "walk.bvh:9s-12s", "jog.bvh", "-o", "no.bvh")
    assert again.code == 2
    assert "walk.bvh:9s-12s" in again.err and "ends at 3.00 s" in again.err


def test_a_plan_makes_the_same_bytes_and_can_be_edited(run, takes: Path) -> None:
    first = run("sequence", "walk.bvh:10-", "jog.bvh", "run.bvh", "-o", "a.bvh", "--plan", "p.json")
    assert first.code == 0, first.err
    for number, command in enumerate((("--from", "p.json"), ("p.json",))):
        out = takes / f"again{number}.bvh"
        done = run("sequence", *command, "-o", out)
        assert done.code == 0, done.err
        assert same(takes / "a.bvh", out)
    plan = json.loads(Path("p.json").read_text())
    assert [each["clip"] for each in plan["clips"]] == ["walk.bvh:10-", "jog.bvh", "run.bvh"]
    assert all(len(each["sha256"]) == 64 for each in plan["clips"])
    del plan["joints"][1], plan["clips"][2]
    plan["joints"][0] |= {"length_s": 0.4, "at": None}
    Path("edited.json").write_text(json.dumps(plan))
    done = run("sequence", "edited.json", "-o", "b.bvh", "--json")
    assert done.code == 0, done.err
    (joint,) = json.loads(done.out)["joints"]
    assert joint["length_s"] == pytest.approx(0.4)


def test_paths_of_a_plan_are_relative_to_it(run, takes: Path, monkeypatch) -> None:
    run("sequence", "walk.bvh", "jog.bvh", "-o", "a.bvh", "--plan", "plans/p.json")
    assert json.loads(Path("plans/p.json").read_text())["clips"][0]["clip"] == "../walk.bvh"
    monkeypatch.chdir(takes / "plans")
    done = run("sequence", "p.json", "-o", "b.bvh")
    assert done.code == 0, done.err
    assert same(takes / "a.bvh", takes / "plans" / "b.bvh")


def test_a_file_that_changed_is_named(run, takes: Path) -> None:
    run("sequence", "walk.bvh", "jog.bvh", "-o", "a.bvh", "--plan", "p.json")
    ml.save(ml.load("jog.bvh")[5:], "shorter.bvh")
    Path("shorter.bvh").replace("jog.bvh")
    done = run("sequence", "p.json", "-o", "b.bvh")
    assert done.code == 2
    assert "jog.bvh" in done.err and "has changed since the plan" in done.err
    assert not Path("b.bvh").exists()
    plan = json.loads(Path("p.json").read_text())
    del plan["clips"][1]["sha256"]
    Path("p.json").write_text(json.dumps(plan))
    assert run("sequence", "p.json", "-o", "b.bvh", "--allow-flawed").code == 0
    Path("jog.bvh").unlink()
    plan["clips"][1]["sha256"] = "0" * 64
    Path("p.json").write_text(json.dumps(plan))
    done = run("sequence", "p.json", "-o", "c.bvh")
    assert done.code == 2 and "jog.bvh" in done.err and "Put it back" in done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be used"),
        ("[]", "cannot be used"),
        ('{"format": "x", "version": 1}', "no motionloom sequence plan"),
        ('{"format": "motionloom sequence plan", "version": 1}', "has no clips, joints"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(run, takes: Path, text: str, words: str) -> None:
    Path("p.json").write_text(text)
    done = run("sequence", "p.json", "-o", "out.bvh")
    assert done.code == 2
    assert words in done.err and "p.json" in done.err and "--plan" in done.err


def test_a_plan_with_too_many_joints_says_how_many_there_are(run, takes: Path) -> None:
    run("sequence", "walk.bvh", "jog.bvh", "-o", "a.bvh", "--plan", "p.json")
    plan = json.loads(Path("p.json").read_text())
    plan["joints"] *= 2
    Path("p.json").write_text(json.dumps(plan))
    done = run("sequence", "p.json", "-o", "b.bvh")
    assert done.code == 2
    assert "one entry each (1), got 2" in done.err


def test_options_can_be_one_for_every_joint(run, takes: Path) -> None:
    clips = ("walk.bvh", "jog.bvh", "walk.bvh")
    options = ("--length", "0.4,0.8", "--method", "registration,cut", "--keep", "0,0.5")
    done = run("sequence", *clips, "-o", "out.bvh", *options, "--json")
    assert done.code == 0, done.err
    one, two = json.loads(done.out)["joints"]
    assert one["length_s"] == pytest.approx(0.4) and one["verification"]["passed"]
    assert two["method"] == "cut" and two["verification"] is None
    assert (one["keep"], two["keep"]) == (0.0, [0.5, 0.5])
    done = run("sequence", *clips, "-o", "no.bvh", "--length", "0.4,0.8,1")
    assert done.code == 2
    assert "one per joint (2), got 3" in done.err


def test_a_loop_and_a_heading(run, takes: Path) -> None:
    options = ("--loop", "--turn-to", "90")
    done = run("sequence", "walk.bvh", "jog.bvh", "-o", "lap.bvh", *options, "--plan", "p.json")
    assert done.code == 0, done.err
    lap = ml.load("lap.bvh")
    along = lap.root_positions[10] - lap.root_positions[0]
    assert along[0] > 3.0 * abs(along[2])
    joints = [line for line in done.out.splitlines() if line.startswith("joint")]
    assert len(joints) == 2
    pose = lap.local_quats[[0, -1], 1:]
    assert np.abs(np.abs((pose[0] * pose[1]).sum(axis=-1)) - 1.0).max() < 1e-6
    again = run("sequence", "p.json", "-o", "again.bvh")
    assert again.code == 0, again.err
    assert same(takes / "lap.bvh", takes / "again.bvh")


def test_a_flawed_result_is_not_written_but_its_plan_is(run, takes: Path, flawed: None) -> None:
    clips = ("walk.bvh", "jog.bvh")
    done = run("sequence", *clips, "-o", "no.bvh", "--plan", "p.json", "--keep", "0")
    assert done.code == 3
    assert "--allow-flawed" in done.err
    assert "joint 1" in done.out and "LeftLeg" in done.out
    assert not Path("no.bvh").exists() and Path("p.json").exists()
    assert run("sequence", "p.json", "-o", "yes.bvh", "--allow-flawed").code == 0


def test_nothing_is_replaced_without_force(run, takes: Path) -> None:
    before = Path("walk.bvh").read_bytes()
    for clips in (("walk.bvh", "jog.bvh"), ("walk.bvh:10-", "jog.bvh")):
        done = run("sequence", *clips, "-o", "walk.bvh", "--force")
        assert done.code == 2 and "never overwritten" in done.err
        done = run("sequence", *clips, "-o", "o.bvh", "--plan", "walk.bvh", "--force")
        assert done.code == 2 and "never overwritten" in done.err
    assert Path("walk.bvh").read_bytes() == before
    Path("p.json").write_text("mine")
    done = run("sequence", "walk.bvh", "jog.bvh", "-o", "out.bvh", "--plan", "p.json")
    assert done.code == 2 and "exists already" in done.err
    assert Path("p.json").read_text() == "mine" and not Path("out.bvh").exists()


def test_wrong_uses_are_explained(run, takes: Path) -> None:
    for command, words in (
        (("-o", "out.bvh"), "one clip or more"),
        (("walk.bvh", "--from", "p.json", "-o", "out.bvh"), "--from takes the clips of the plan"),
        (("walk.bvh", "jog.bvh", "--keep", "most", "-o", "out.bvh"), "--keep must be a number"),
        (("walk.bvh", "jog.bvh", "--method", "table", "-o", "out.bvh"), "registration, cut"),
        (("missing.bvh", "jog.bvh", "-o", "out.bvh"), "missing.bvh"),
    ):
        done = run("sequence", *command)
        assert done.code == 2, done.out
        assert words in done.err
    done = run("sequence", "walk.bvh", "jog.bvh:5-12", "walk.bvh", "-o", "out.bvh")
    assert done.code == 2
    assert "jog.bvh:5-12, has 8 frames" in done.err and "'cut'" in done.err


def test_a_clip_alone_is_written_as_it_is(run, takes: Path) -> None:
    done = run("sequence", "walk.bvh", "-o", "out.bvh")
    assert done.code == 0, done.err
    assert "nothing is joined" in done.out
    assert (ml.load("out.bvh").local_quats == ml.load("walk.bvh").local_quats).all()


def test_dry_run_and_standard_output(run, takes: Path) -> None:
    done = run("sequence", "walk.bvh", "jog.bvh", "-o", "out.bvh", "--dry-run")
    assert done.code == 0 and "would write out.bvh  from 2 clips" in done.out
    assert not Path("out.bvh").exists()
    done = run("sequence", "walk.bvh", "jog.bvh", "-o", "-", "--to", "bvh")
    assert done.code == 0, done.err
    assert done.out.startswith("HIERARCHY")
