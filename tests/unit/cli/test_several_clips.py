"""Files that hold several clips: every clip is used, or the command prints which was."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

import motionloom as ml


def save_several(file: Path, names: tuple[str, ...]) -> None:
    """A GLB with the same walk under several names."""
    ml.save(ml.synthetic.clip("walk", duration_s=1.0, fps=30).motion, file)
    data = file.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    document["animations"] = [{**document["animations"][0], "name": name} for name in names]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest))
    file.write_bytes(head + struct.pack("<I4s", len(text), b"JSON") + text + rest)


@pytest.fixture
def soldier(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    save_several(folder / "Soldier.glb", ("Idle", "Run", "Walk"))
    return folder / "Soldier.glb"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_every_clip_of_a_file_in_a_folder_is_converted(run, tmp_path: Path, soldier: Path) -> None:
    done = run("convert", soldier.parent, tmp_path / "out", "--to", "bvh")
    assert done.code == 0, done.err
    assert names_in(tmp_path / "out") == ["Soldier_Idle.bvh", "Soldier_Run.bvh", "Soldier_Walk.bvh"]
    assert done.err == ""


def test_no_clip_goes_to_the_file_of_another(run, tmp_path: Path, soldier: Path) -> None:
    ml.save(ml.load(soldier), soldier.with_name("Soldier_Run.glb"))
    save_several(soldier.with_name("odd.glb"), ("a?", "a!"))
    plan = ml.plan_outputs(soldier.parent, tmp_path / "out")
    names = [Path(output).name for _, output in plan]
    assert len(names) == 6
    assert names == [
        "Soldier_Idle.glb", "Soldier_Run.glb", "Soldier_Walk.glb", "Soldier_Run_2.glb",
        "odd_a_.glb", "odd_a__2.glb",
    ]  # fmt: skip
    assert len(ml.plan_outputs(soldier.parent, tmp_path / "out", to="bvh")) == len(
        {output for _, output in ml.plan_outputs(soldier.parent, tmp_path / "out", to="bvh")}
    )


@pytest.mark.parametrize(
    "command",
    [
        "convert {0} {1}",
        "clean {0} -o {1}",
        "balance {0} -o {1}",
        "blend {0} {0}#Run -o {1}",
        "transition {0} {0}#Run -o {1}",
        "splice -u {0} -l {0}#Run -o {1}",
    ],
)
def test_a_file_without_the_name_of_a_clip_gives_the_first_and_a_note(
    run, tmp_path: Path, soldier: Path, command: str
) -> None:
    done = run(*command.format(soldier, tmp_path / "out.bvh").split())
    assert done.code == 0, done.err
    notes = [line for line in done.err.splitlines() if line.startswith("note: ")]
    assert len(notes) == 1
    assert "3 clips ('Idle', 'Run', 'Walk'); this is 'Idle'" in notes[0]


def test_a_named_clip_gives_no_note(run, tmp_path: Path, soldier: Path) -> None:
    done = run("convert", f"{soldier}#Run", tmp_path / "run.bvh")
    assert (done.code, done.err) == (0, "")


def test_pairs_of_a_folder_are_made_of_every_clip(run, tmp_path: Path, soldier: Path) -> None:
    other = tmp_path / "jog.bvh"
    ml.save(ml.synthetic.clip("jog", duration_s=1.0, fps=30).motion, other)
    options = (other, "-o", tmp_path / "out", "--to", "bvh", "--dry-run", "--json")
    plan = json.loads(run("transition", soldier.parent, *options).out)["transitions"]
    assert [Path(each["output"]).name for each in plan] == [
        "Soldier_Idle_to_jog.bvh",
        "Soldier_Run_to_jog.bvh",
        "Soldier_Walk_to_jog.bvh",
    ]
    plan = json.loads(run("transition", f"{soldier}#Run", soldier.parent, *options[1:]).out)
    assert [Path(each["output"]).name for each in plan["transitions"]] == [
        "Soldier_Run_to_Soldier_Idle.bvh",
        "Soldier_Run_to_Soldier_Walk.bvh",
    ]
    blended = json.loads(run("blend", soldier.parent, "-o", "b.bvh", "--dry-run", "--json").out)
    assert [Path(clip).name for clip in blended["inputs"]] == [
        "Soldier.glb#Idle",
        "Soldier.glb#Run",
        "Soldier.glb#Walk",
    ]


def test_results_of_clips_with_one_name_in_two_folders_differ(run, tmp_path: Path) -> None:
    walk = ml.synthetic.clip("walk", duration_s=1.0, fps=30).motion
    for folder in ("a", "b"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        ml.save(walk, tmp_path / "in" / folder / "walk.bvh")
    ml.save(walk, tmp_path / "jog.bvh")
    options = ("-o", tmp_path / "out", "--to", "bvh", "--dry-run", "--json")
    plan = json.loads(run("transition", tmp_path / "in", tmp_path / "jog.bvh", *options).out)
    names = [Path(each["output"]).name for each in plan["transitions"]]
    assert names == ["a_walk_to_jog.bvh", "b_walk_to_jog.bvh"]


@pytest.mark.parametrize("command", ["clean", "balance"])
def test_a_format_that_cannot_be_written_is_refused_before_anything_is_done(
    run, tmp_path: Path, command: str
) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "walk.amc").write_text(":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\n")
    for more in ((), ("--dry-run",)):
        done = run(command, source, "-o", tmp_path / "out", *more)
        assert done.code == 2
        assert "Files that end in .amc can be read but not written" in done.err
        assert "--to bvh" in done.err
        assert not (tmp_path / "out").exists()
        done = run(command, source / "walk.amc", "-o", tmp_path / "out.amc", *more)
        assert done.code == 2
        assert "'.amc' picks no format that can be written" in done.err
    done = run(command, source, "-o", tmp_path / "out", "--to", "bvh", "--dry-run")
    assert done.code == 0, done.err
    assert "walk.bvh" in done.out


def test_a_data_set_is_not_cleaned_into_a_format_that_cannot_be_written(tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("walk", duration_s=1.0).motion, tmp_path / "walk.bvh")
    with pytest.raises(ml.FormatError, match="picks no format that can be written"):
        ml.clean_dataset(tmp_path, tmp_path / "out", to="xyz", progress=False)
    assert not (tmp_path / "out").exists()


def test_clips_with_hostile_names_stay_in_the_folder(run, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    save_several(source / "odd.glb", ("../../../up", "a#b/c", "x" * 300))
    done = run("convert", source, tmp_path / "out", "--to", "bvh")
    assert done.code == 0, done.err
    assert names_in(tmp_path / "out") == [
        "odd_.._.._.._up.bvh",
        "odd_a_b_c.bvh",
        f"odd_{'x' * 100}.bvh",
    ]
    assert names_in(tmp_path) == sorted(["odd.glb", *names_in(tmp_path / "out")])


def test_a_part_of_a_clip_is_named_after_the_clip(run, tmp_path: Path, soldier: Path) -> None:
    for text, frames in (("#Run:0.2s-0.5s", 10), ("#Run:3-7", 5), (":3-7", 5)):
        out = tmp_path / "part.bvh"
        done = run("convert", f"{soldier}{text}", out, "--force", "--source-fps", "Soldier=30")
        assert done.code == 0, done.err
        assert "fits none" not in done.err
        assert ml.load(out).n_frames == frames
        info = run("info", f"{soldier}{text}", "--json")
        assert json.loads(info.out)["clips"][0]["frames"] == frames, info.out


def test_the_file_of_a_part_is_never_overwritten(run, soldier: Path) -> None:
    before = soldier.read_bytes()
    for text in ("#Run:3-7", ":3-7"):
        done = run("convert", f"{soldier}{text}", soldier, "--force")
        assert done.code == 2
        assert "never overwritten" in done.err
    assert soldier.read_bytes() == before


def test_a_range_outside_the_clip_names_clip_and_remedy(run, tmp_path: Path, soldier) -> None:
    for command in (("check",), ("info",), ("convert", "-o")):
        out = [tmp_path / "no.bvh"] if command[0] == "convert" else []
        done = run(command[0], f"{soldier}#Run:0.2s-9s", *out)
        assert done.code == 2
        text = done.out + done.err
        assert "Soldier.glb#Run:0.2s-9s" in text and "ends at 1.00 s" in text
    done = run("transition", f"{soldier}:5-3", soldier, "-o", tmp_path / "no.bvh")
    assert done.code == 2 and "must not begin after its end" in done.err
