"""motionloom sequence: clips, parts of clips and plans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    assert "another --length or --keep" in done.err
    done = run("sequence", "p.json", "-o", "no.bvh")
    assert done.code == 3 and 'Edit "at", "length_s" or "keep" in p.json, or write' in done.err
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


# --- Plans decide alone, and are read with care


def planned(run: Any, *options: str, clips: tuple[str, ...] = ("walk.bvh", "jog.bvh")) -> Any:
    """A plan, written together with out.bvh, as values."""
    done = run("sequence", *clips, "-o", "out.bvh", "--plan", "p.json", *options)
    assert done.code == 0, done.err
    return json.loads(Path("p.json").read_text())


def rerun(run: Any, plan: Any, *options: str) -> Any:
    Path("edited.json").write_text(json.dumps(plan))
    return run("sequence", "edited.json", "-o", "again.bvh", "--force", *options)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("--turn-to", "90"), '"turn_to_deg"'),
        (("--loop",), '"loop"'),
        (("--length", "0.2"), '"length_s" of its joints'),
        (("--length", "0.6"), '"length_s" of its joints'),
        (("--keep", "0.9"), '"keep" of its joints'),
        (("--method", "cut"), '"method" of its joints'),
        (("--moving",), '"moving" of its joints'),
        (("--fps", "15"), '"fps" in "reading"'),
        (("--source-fps", "30"), '"source_fps" in "reading"'),
        (("--source-unit", "cm"), '"unit" in "reading"'),
        (("--source-up", "y"), '"up" in "reading"'),
        (("--body", "roles.toml"), '"body" in "reading"'),
        (("--no-timewarp",), '"timewarp"'),
        (("--no-retarget",), '"retarget"'),
        (("--ground",), '"ground"'),
        (("--raw",), '"raw"'),
    ],
)
def test_options_that_a_plan_decides_are_refused(
    run, takes: Path, options: tuple[str, ...], field: str
) -> None:
    """Were they dropped in silence, the result would be another than the one asked for."""
    for source in (("p.json",), ("--from", "p.json")):
        done = run("sequence", *source, "-o", "no.bvh", *options)
        assert done.code == 2
        for word in ("p.json", options[0], "must not be given", "Edit the plan", field):
            assert word in done.err
        assert not Path("no.bvh").exists()


def test_all_options_that_are_refused_are_named_together(run, takes: Path) -> None:
    planned(run)
    options = ("--loop", "--keep", "0.9", "--fps", "15", "--ground")
    done = run("sequence", "--from", "p.json", "-o", "no.bvh", *options)
    assert done.code == 2
    assert "--keep, --loop, --ground, --fps must not be given" in done.err


def test_every_option_that_decides_the_result_is_refused_or_of_the_output() -> None:
    from inspect import signature

    from motionloom.cli.sequence_command import OF_PLANS, sequence

    of_output = {
        "context", "output", "clips", "from_", "plan", "allow_flawed", "to", "character", "engine",
        "root", "force", "dry_run", "as_json",
    }  # fmt: skip
    assert set(signature(sequence).parameters) == of_output | set(OF_PLANS)


def test_a_plan_holds_whether_feet_are_held(run, takes: Path) -> None:
    plan = planned(run, "--raw", "--allow-flawed")
    assert plan["raw"] is True
    assert rerun(run, plan, "--allow-flawed").code == 0
    assert same(takes / "out.bvh", takes / "again.bvh")
    del plan["raw"]  # as in plans of earlier versions
    assert rerun(run, plan, "--allow-flawed").code == 0
    assert not same(takes / "out.bvh", takes / "again.bvh")


@pytest.mark.parametrize("kind", ["same", "relative", "link", "dangling", "hard"])
def test_a_plan_is_never_the_output(run, takes: Path, kind: str) -> None:
    plan = {"same": "out.bvh", "relative": "../" + takes.name + "/out.bvh"}.get(kind, "p.bvh")
    if kind in ("link", "hard"):
        Path("out.bvh").write_text("mine")
    if kind in ("link", "dangling"):
        Path("p.bvh").symlink_to("out.bvh")
    if kind == "hard":
        Path("p.bvh").hardlink_to("out.bvh")
    forced = () if kind == "same" else ("--force",)
    done = run("sequence", "walk.bvh", "jog.bvh", "-o", "out.bvh", "--plan", plan, *forced)
    assert done.code == 2
    assert "must be two files, and are one" in done.err and plan in done.err
    if Path("out.bvh").exists():
        assert Path("out.bvh").read_text() == "mine"


def test_a_plan_that_is_run_is_never_overwritten(run, takes: Path) -> None:
    plan = planned(run)
    done = run("sequence", "p.json", "-o", "b.bvh", "--plan", "p.json", "--force")
    assert done.code == 2 and "never overwritten" in done.err
    assert json.loads(Path("p.json").read_text()) == plan


WRONG: tuple[Any, ...] = (None, 5, "x", [], {}, -1.5, True, float("nan"), [[]], "\0")


def fields_of(values: Any, where: str = "") -> list[tuple[str, Callable[[Any], None]]]:
    """Every field and entry of a plan, and what sets it."""
    named = values.items() if isinstance(values, dict) else enumerate(values)
    found = []
    for key, value in list(named):
        if isinstance(values, dict):
            name = f"{where}.{key}" if where else key
        else:
            name = f"{where}[{key}]"

        def put(new: Any, values: Any = values, key: Any = key) -> None:
            values[key] = new

        found.append((name, put))
        if isinstance(value, dict | list):
            found += fields_of(value, name)
    return found


def test_wrong_values_are_refused_with_file_field_and_remedy(run, takes: Path) -> None:
    """Read only: what is accepted here is run by other tests."""
    from motionloom.cli.sequence_plan import read_plan

    text = json.dumps(planned(run, "--source-fps", "w*=30"))
    file, refused = Path("wrong.json"), 0
    names = [name for name, _ in fields_of(json.loads(text))]
    assert {"clips[0].sha256", "joints[0].at[1]", "reading.source_fps[0]"} <= set(names)
    for number, name in enumerate(names):
        for wrong in WRONG:
            plan = json.loads(text)
            fields_of(plan)[number][1](wrong)
            file.write_text(json.dumps(plan))
            try:
                read_plan(file)
            except ml.FormatError as error:
                refused += 1
                words = str(error)
                assert "wrong.json" in words and error.fix, (name, wrong)
                if not name.startswith(("format", "version")):
                    outer = name.partition("[")[0].partition(".")[0]
                    field = "joints" if (outer, wrong) == ("loop", True) else outer
                    assert f'"{field}' in words and "must" in words, (name, wrong, words)
    assert refused > 200


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("sha256", lambda p: p["clips"][0].update(sha256=5), '"clips[0].sha256" in the plan must'),
        ("typo", lambda p: p.update(turnto=5), '"turnto" in the plan is no field'),
        ("option", lambda p: p["joints"][0].update(length=1), '"joints[0].length" in the plan is'),
        ("clip", lambda p: p["clips"][0].pop("clip"), '"clips[0].clip" must be in the plan'),
        ("no clips", lambda p: p.update(clips=[]), '"clips" in the plan must be a list of one'),
        ("place", lambda p: p["joints"][0].update(at=[9999, 3]), '"at" must leave two frames'),
        ("rate", lambda p: p.update(fps=60), '"fps" in the plan must be the rate of its first'),
        ("new rate", lambda p: p["reading"].update(fps=15), "at which places are counted, got 30"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(
    run, takes: Path, name: str, change: Callable[[Any], Any], words: str
) -> None:
    plan = planned(run)
    change(plan)
    done = rerun(run, plan)
    assert done.code == 2, done.out
    assert words in done.err and "edited.json" in done.err
    assert not Path("again.bvh").exists()


def test_places_of_another_part_are_chosen_anew(run, takes: Path) -> None:
    """Kept, they would lie elsewhere in the clip by as many frames as its part begins later."""
    clips = ("walk.bvh:10-80", "jog.bvh", "run.bvh")
    plan = planned(run, clips=clips)
    assert plan["joints"][0]["clips"] == ["walk.bvh:10-80", "jog.bvh"]
    plan["clips"][0]["clip"] = "walk.bvh:15-85"  # as many frames, but others
    done = rerun(run, plan, "--json", "--allow-flawed")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["notes"][0].startswith("joint 1: the plan has its place for walk.bvh:10-80")
    assert facts["joints"][1]["at"] == plan["joints"][1]["at"]
    fresh = run("sequence", "walk.bvh:15-85", *clips[1:], "-o", "f.bvh", "--json")
    assert facts["joints"][0]["at"] == json.loads(fresh.out)["joints"][0]["at"]
    shown = rerun(run, plan, "--allow-flawed")
    assert "note   joint 1: the plan has its place" in shown.out


def test_numbers_of_frames_and_a_new_rate_are_compared(run, takes: Path) -> None:
    plan = planned(run)
    plan["clips"][0]["frames"] = 3
    done = rerun(run, plan, "--allow-flawed")
    assert done.code == 0, done.err
    assert "note   joint 1: its place was chosen for clips of 3 and 91 frames" in done.out
    assert same(takes / "out.bvh", takes / "again.bvh")
    plan = planned(run, "--force")
    del plan["fps"]
    plan["reading"]["fps"] = 15
    done = rerun(run, plan, "--allow-flawed")
    assert done.code == 0, done.err
    assert "which have 46 and 46: it is chosen anew" in done.out
    assert ml.load("again.bvh").fps == pytest.approx(15)


def test_a_clip_that_is_left_out_of_a_plan_takes_its_places_along(run, takes: Path) -> None:
    plan = planned(run, clips=("walk.bvh", "jog.bvh", "run.bvh"))
    del plan["clips"][1], plan["joints"][1]
    done = rerun(run, plan, "--allow-flawed")
    assert done.code == 0, done.err
    assert "place for walk.bvh and jog.bvh, not for walk.bvh and run.bvh" in done.out


# --- One clip that loops


def test_one_clip_loops_as_loop_does(run, takes: Path) -> None:
    done = run("sequence", "walk.bvh", "-o", "lap.bvh", "--loop", "--json", "--plan", "p.json")
    assert done.code == 0, done.err
    facts, cycle = json.loads(done.out), ml.loop(ml.load("walk.bvh"))
    ml.save(cycle.motion, "cycle.bvh")
    assert same(takes / "lap.bvh", takes / "cycle.bvh")
    assert facts["notes"] == list(cycle.notes)
    assert facts["joints"][0]["verification"]["passed"] is cycle.verification.passed
    again = run("sequence", "p.json", "-o", "again.bvh")
    assert again.code == 0, again.err
    assert same(takes / "lap.bvh", takes / "again.bvh")
    assert "joint 1  keeps" in again.out and "blend 0.20 s" in again.out


def test_a_clip_that_cannot_be_named_by_the_error_is_named_by_its_number(run, takes: Path) -> None:
    done = run("sequence", "walk.bvh", "jog.bvh:10-13", "-o", "no.bvh")
    assert done.code == 2
    assert "Joint 1, from clip 1, walk.bvh, to clip 2, jog.bvh:10-13: " in done.err
    assert "at least 7 frames" in done.err
