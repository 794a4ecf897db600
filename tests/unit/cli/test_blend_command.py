from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml

STRAIGHT_M = 0.15
"""How far the middle of a left and a right turn may stray from the line it starts on."""


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turns")
    for name, turn in (("left", 0.9), ("right", -0.9)):
        clip = ml.synthetic.clip("walk", duration_s=3.0, turn=turn)
        ml.save(clip.motion, folder / f"{name}.bvh")
    return folder


def test_half_left_and_half_right_goes_straight(run, turns: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    done = run("blend", turns / "left.bvh", turns / "right.bvh", "-w", "0.5,0.5", "-o", out)
    assert done.code == 0, done.err
    for word in ("left.bvh", "curve", "plants", "check", "passed", "slide", str(out)):
        assert word in done.out
    path = ml.load(out).root_positions[:, [0, 2]]
    way = path[-1] - path[0]
    aside = np.abs((path - path[0]) @ np.array([-way[1], way[0]])) / np.hypot(*way)
    assert aside.max() < STRAIGHT_M
    source = ml.load(turns / "left.bvh").root_positions[:, [0, 2]]
    length = np.linalg.norm(np.diff(source, axis=0), axis=1).sum()
    assert np.hypot(*way) > 0.75 * length


def test_a_folder_is_its_clips_and_equal_weights_are_the_default(run, turns, tmp_path) -> None:
    done = run("blend", turns, "-o", tmp_path / "out.bvh", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert [Path(each["file"]).name for each in facts["inputs"]] == ["left.bvh", "right.bvh"]
    assert facts["mean_weights"] == [0.5, 0.5]
    assert facts["verification"]["passed"]


def test_a_table_of_weights_steers(run, turns: Path, tmp_path: Path) -> None:
    table = tmp_path / "steer.csv"
    table.write_text("time,left,right\n0,1,0\n1.0,1,0\n1.5,0,1\n")
    out = tmp_path / "out.bvh"
    done = run("blend", turns, "-w", table, "-o", out, "--json")
    assert done.code == 0, done.err
    mean = json.loads(done.out)["mean_weights"]
    assert 0.2 < mean[0] < 0.8
    assert sum(mean) == pytest.approx(1.0)


def test_rows_without_a_time_are_frames(run, turns: Path, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("0.25,0.75\n" * 10)
    done = run("blend", turns, "-w", table, "-o", tmp_path / "out.bvh", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["mean_weights"] == [0.25, 0.75]


@pytest.mark.parametrize(
    ("weights", "word"),
    [
        ("0.5", "one value per clip (2)"),
        ("0.5,half", "numbers"),
        ("0.5,0.9", "sum to 1"),
        ("nan,1", "finite"),
        ("0,0", "sum to 1"),
    ],
)
def test_weights_that_make_no_sense_are_refused(run, turns, tmp_path, weights, word) -> None:
    done = run("blend", turns, "-w", weights, "-o", tmp_path / "out.bvh")
    assert done.code == 2
    assert word in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out.bvh").exists()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "at least one row"),
        ("1,0\n1\n", "line 2"),
        ("1,0\na,b\n", "line 2"),
        ("0,1,0\n0,1,0\n", "increase"),
    ],
)
def test_a_bad_table_is_refused_with_its_place(run, turns, tmp_path, text, word) -> None:
    table = tmp_path / "bad.csv"
    table.write_text(text)
    done = run("blend", turns, "-w", table, "-o", tmp_path / "out.bvh")
    assert done.code == 2
    assert word in done.err
    assert "bad.csv" in done.err


def test_negative_weights_may_go_beyond_the_clips(run, tmp_path: Path) -> None:
    for name, speed in (("slow", 1.0), ("fast", 1.5)):
        clip = ml.synthetic.clip("walk", duration_s=2.5, speed=speed)
        ml.save(clip.motion, tmp_path / f"{name}.bvh")
    out = tmp_path / "faster.bvh"
    pair = (tmp_path / "slow.bvh", tmp_path / "fast.bvh")
    done = run("blend", *pair, "-w", "-0.6,1.6", "-o", out)
    assert done.code == 0, done.err
    assert "meant to go beyond" in done.out

    def speed_of(path: Path) -> float:
        motion = ml.load(path)
        way = motion.root_positions[-1] - motion.root_positions[0]
        return float(np.hypot(way[0], way[2]) / motion.duration_s)

    assert speed_of(out) > 1.05 * speed_of(pair[1])


def test_one_clip_is_no_blend(run, turns: Path, tmp_path: Path) -> None:
    done = run("blend", turns / "left.bvh", "-o", tmp_path / "out.bvh")
    assert done.code == 2
    assert "two clips" in done.err


def test_a_dry_run_writes_nothing(run, turns: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    assert run("blend", turns, "-o", out, "--dry-run").code == 0
    assert not out.exists()


def test_the_result_has_the_unit_of_the_first_clip(run, turns: Path, tmp_path: Path) -> None:
    metres = tmp_path / "left.bvh"
    ml.save(ml.load(turns / "left.bvh"), metres, unit="m")
    out = tmp_path / "out.bvh"
    assert run("blend", metres, turns / "right.bvh", "-o", out).code == 0
    assert ml.load(out).source.unit_m == 1.0


def test_headings_of_a_table_of_weights_name_the_clips(run, turns: Path, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("right,left\n" + "0.25,0.75\n" * 4)
    done = run("blend", turns, "-w", table, "-o", tmp_path / "out.bvh", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["mean_weights"] == [0.75, 0.25]


@pytest.mark.parametrize(
    ("heading", "word"),
    [
        ("left,up", "'up' is no clip"),
        ("left,left", "'left' occurs twice"),
        ("time,left", "'time' is no clip"),
        ("left,right,time", "'time' is no clip"),
    ],
)
def test_headings_that_name_no_clip_are_refused(run, turns, tmp_path, heading, word) -> None:
    table = tmp_path / "rows.csv"
    table.write_text(f"{heading}\n1,0\n")
    done = run("blend", turns, "-w", table, "-o", tmp_path / "out.bvh")
    assert done.code == 2
    assert word in done.err
    assert "rows.csv, line 1" in done.err


def test_clips_are_cut_to_cycles(run, tmp_path: Path) -> None:
    walks = [ml.synthetic.clip("walk", duration_s=5.0, speed=v).motion for v in (1.1, 1.4)]
    for k, walk in enumerate(walks):
        ml.save(walk, tmp_path / f"walk{k}.bvh")
    clips = [tmp_path / "walk0.bvh", tmp_path / "walk1.bvh"]
    out = tmp_path / "out.bvh"
    done = run("blend", *clips, "--cycles", "--sync-contacts", "--duration", "4", "-o", out)
    assert done.code == 0, done.err
    assert done.out.count("cut to its cycle") == 2
    curve = ml.register([ml.load(clip) for clip in clips], cycles=True, sync_contacts=True)
    by_python = ml.blend(curve, [0.5, 0.5], duration_s=4.0)
    ml.save(by_python.motion, tmp_path / "same.bvh")
    assert (tmp_path / "same.bvh").read_bytes() == out.read_bytes()


def test_a_blend_of_cycles_is_written_whole(run, tmp_path: Path) -> None:
    for name, turn in (("left", 0.6), ("straight", 0.0), ("right", -0.6)):
        ml.save(ml.synthetic.clip("walk", turn=turn).motion, tmp_path / f"{name}.bvh")
    clips = [tmp_path / f"{name}.bvh" for name in ("left", "straight", "right")]
    done = run("blend", *clips, "--cycles", "--duration", "5", "-o", tmp_path / "long.bvh")
    assert done.code == 0, done.err
    done = run("blend", *clips[1:], "--cycles", "-o", tmp_path / "round.bvh")
    assert done.code == 0, done.err
    assert "frames 0 to 64, 0 to 64" in done.out
    assert ml.load(tmp_path / "round.bvh").n_frames == 65


def test_the_notes_of_a_blend_are_printed(run, turns: Path, tmp_path: Path) -> None:
    file = tmp_path / "holds.csv"
    file.write_text("left,left_wrist,0.5,2.5\nright,left_wrist,0.5,2.5\n")  # both walk away
    words = ("--constraints", file, "--allow-flawed", "-o", tmp_path / "out.bvh")
    done = run("blend", turns / "left.bvh", turns / "right.bvh", *words)
    assert done.code == 0, done.err
    assert "the arm is too short" in done.out


def test_foot_speeds_and_knots_reach_the_registration(run, turns: Path, tmp_path: Path) -> None:
    words = ("--foot-speeds", "1", "--knot", "0.15")
    done = run("blend", turns, *words, "-o", tmp_path / "out.bvh", "--json")
    assert done.code == 0, done.err
    clips = [ml.load(turns / f"{name}.bvh") for name in ("left", "right")]
    curve = ml.register(clips, foot_speeds=1.0, knot_s=0.15)
    facts = json.loads(done.out)["curve"]
    assert facts["costs_m"] == pytest.approx(list(curve.costs), rel=1e-4)
    assert facts["last_frames"] == pytest.approx(curve.frames(curve.u_range[1]).tolist(), rel=1e-4)


def test_a_parameter_is_asked_for_in_place_of_weights(run, turns: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    done = run("blend", turns, "--parameter", "turn=0.3", "-o", out)
    assert done.code == 0, done.err
    assert ml.measure(ml.load(out), "turn") == pytest.approx(0.3, abs=0.05)


def test_joint_weights_reach_the_registration(run, turns: Path, tmp_path: Path) -> None:
    joints = ml.load(turns / "left.bvh").skeleton.names
    words = [word for name in joints if "Arm" in name for word in ("--joint-weights", f"{name}=0")]
    costs = [
        json.loads(run("blend", turns, *more, "-o", tmp_path / name, "--json").out)["curve"]
        for name, more in (("plain.bvh", []), ("weighted.bvh", words))
    ]
    assert costs[0]["costs_m"] != costs[1]["costs_m"]


def test_a_file_of_constraints_holds_a_hand(run, tmp_path: Path) -> None:
    stand = ml.synthetic.clip("stand", duration_s=3.0).motion
    for name in ("one", "two"):
        ml.save(stand, tmp_path / f"{name}.bvh")
    file = tmp_path / "holds.csv"
    file.write_text("clip,name,start_s,end_s\none,left_wrist,0.5,1.5\ntwo,left_wrist,0.5,1.6\n")
    clips = [tmp_path / "one.bvh", tmp_path / "two.bvh"]
    words = ["--ends", "match", "--constraints", file, "-o", tmp_path / "out.bvh"]
    done = run("blend", *clips, *words)
    assert done.code == 0, done.err
    assert "left_wrist: 1 matched" in done.out
    assert "left_wrist held in frames" in done.out
    facts = json.loads(run("blend", *clips, *words, "--force", "--json").out)
    assert facts["hands"][0]["speed_after"] < 1e-6
    assert facts["constraints"]["left_wrist"] == [facts["hands"][0]["frames"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--joint-weights", "LeftHand"], "LeftHand=0"),
        (["--joint-weights", "=0"], "LeftHand=0"),
        (["--joint-weights", "Wing=0"], "Wing"),
        (["--foot-speeds", "-1"], "--foot-speeds"),
        (["--knot", "0"], "--knot"),
        (["--parameter", "turn"], "turn=0.3"),
        (["--parameter", "height=1"], "right_wrist.height"),
        (["--parameter", "turn=40"], "cannot be reached"),
        (["--parameter", "turn=0.3", "--weights", "1,0"], "leave out --weights"),
        (["--parameter", "turn=0.3", "--parameter", "turn=-0.3"], "'turn' twice: 0.3 and -0.3"),
        (
            ["--joint-weights", "LeftHand=0", "--joint-weights", "LeftHand=1"],
            "--joint-weights must give each name one value, got 'LeftHand' twice",
        ),
        (["--constraints", "nowhere.csv"], "nowhere.csv"),
        (["--cycles", "--ends", "match"], "--cycles"),
    ],
)
def test_wrong_options_of_the_registration_are_refused(run, turns, tmp_path, words, message):
    done = run("blend", turns, *words, "-o", tmp_path / "out.bvh")
    assert done.code == 2
    assert message in done.err


def test_a_rate_whose_pattern_fits_no_file_is_reported(run, turns: Path, tmp_path: Path) -> None:
    clips, out = (turns / "left.bvh", turns / "right.bvh"), tmp_path / "o.bvh"
    done = run("blend", *clips, "-o", out, "--source-fps", "lfet=30", "--dry-run")
    assert done.code == 0, done.err
    assert "--source-fps 'lfet=30' fits none of the files" in done.err
