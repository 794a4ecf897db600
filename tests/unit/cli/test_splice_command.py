from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import motionloom as ml
from motionloom.cli import splice_command as command
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.rotation import quat

BVH_TEXT_M = 1e-5
"""A BVH file rounds its numbers."""


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    for kind, options in (("carry", {}), ("walk", {"turn": 1.2}), ("jog", {}), ("wave", {})):
        ml.save(ml.synthetic.clip(kind, duration_s=2.0, **options).motion, folder / f"{kind}.bvh")
    return folder


@pytest.fixture
def flawed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every splice fails its quality check, in a joint of the action."""
    flaw = ml.FailedCheck("rotation speed", "LeftForeArm", 7, 900.0, 300.0, "deg/s")
    monkeypatch.setattr(QualityCheck, "verify", lambda *_, **__: ml.Verification(False, (flaw,)))


def test_options_are_those_of_the_library() -> None:
    from motionloom.splicing import body_parts as parts
    from motionloom.splicing import splice

    assert get_args(command.Where) == get_args(parts.Where)
    assert get_args(command.Method) == get_args(splice.Method)
    assert get_args(command.WhenShort) == get_args(splice.WhenShort)


def test_legs_and_root_of_the_result_are_those_of_the_lower_clip(run, clips, tmp_path) -> None:
    out = tmp_path / "out.bvh"
    done = run("splice", "--upper", clips / "carry.bvh", "--lower", clips / "walk.bvh", "-o", out)
    assert done.code == 0, done.err
    made, walk = ml.load(out), ml.load(clips / "walk.bvh")
    body = ml.BodyMap.guess(walk.skeleton)
    legs = [body.pelvis, body.left_hip, body.left_knee, body.left_ankle, body.right_ankle]
    apart = made.world_positions()[:, legs] - walk.world_positions()[: made.n_frames, legs]
    assert np.abs(apart).max() < BVH_TEXT_M
    hands = [body.left_wrist, body.right_wrist]
    apart = made.world_positions()[:, hands] - walk.world_positions()[: made.n_frames, hands]
    assert np.abs(apart).max() > 0.1


def test_it_prints_clips_times_notes_check_and_what_was_written(run, clips, tmp_path) -> None:
    out = tmp_path / "out.glb"
    done = run("splice", "-u", clips / "wave.bvh", "-l", clips / "jog.bvh", "-o", out)
    assert done.code == 0, done.err
    assert done.err == ""
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "upper", "lower", "time", "note", "check", "wrote",
    ]  # fmt: skip
    assert "the rate of its clip" in done.out
    assert "passed" in done.out
    assert str(out) in done.out


def test_json_is_one_object_with_the_same_facts(run, clips: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    command = ("splice", "-u", clips / "carry.bvh", "-l", clips / "walk.bvh", "-o", out, "--json")
    done = run(*command)
    assert done.code == 0, done.err
    (facts,) = json.loads(done.out)["splices"]
    assert facts["output"] == str(out)
    assert facts["frames"] == ml.load(out).n_frames
    assert 0.5 - 1e-3 <= facts["playback_rate"]["slowest"] <= facts["playback_rate"]["median"]
    assert facts["playback_rate"]["median"] <= facts["playback_rate"]["fastest"] <= 2.0 + 1e-3
    assert set(facts["provenance"]["parts"]) == {"lower", "upper"}
    assert facts["details"] == []
    assert facts["verification"]["passed"] is True
    assert facts["own_time"] is False


def test_the_rate_is_printed_as_it_is(run, clips: Path, tmp_path: Path) -> None:
    ml.save(ml.synthetic.clip("run", duration_s=2.0).motion, tmp_path / "run.bvh")
    pair = ("splice", "-u", clips / "carry.bvh", "-l", tmp_path / "run.bvh")
    done = run(*pair, "-o", tmp_path / "out.bvh", "--allow-flawed", "--json")
    (facts,) = json.loads(done.out)["splices"]
    assert not facts["own_time"]
    rate = facts["playback_rate"]["median"]
    assert rate > 1.5
    said = run(*pair, "-o", tmp_path / "again.bvh", "--allow-flawed").out
    assert f"at {rate:.2f} times the rate of its clip in the median" in said


def test_glitches_of_the_legs_stay_and_are_listed_on_request(run, clips, tmp_path) -> None:
    walk = ml.load(clips / "walk.bvh")
    quats = np.array(walk.local_quats)
    knee = ml.BodyMap.guess(walk.skeleton).left_knee
    quats[60, knee] = quat.multiply(quats[60, knee], quat.exp(np.array([1.2, 0.0, 0.0])))
    ml.save(walk.replace(local_quats=quats), tmp_path / "glitch.bvh")
    pair = ("splice", "-u", clips / "carry.bvh", "-l", tmp_path / "glitch.bvh", "-o")
    made = {}
    for name, option in {"made": (), "all": ("--repair", "all"), "verbose": ("--verbose",)}.items():
        done = run(*pair, tmp_path / f"{name}.bvh", *option)
        assert done.code == 0, done.err
        made[name] = done.out
    assert "capture glitch" in made["made"]
    assert "the locomotion: frame" not in made["made"]
    assert "the locomotion: frame 60" in made["verbose"]
    assert "capture glitch" not in made["all"]


def test_fewer_steps_and_other_parts_give_other_motions(run, clips: Path, tmp_path: Path) -> None:
    pair = ("splice", "-u", clips / "carry.bvh", "-l", clips / "walk.bvh")
    options = {
        "full": (),
        "naive": ("--method", "naive"),
        "left": ("--where", "left_arm"),
        "soft": ("--soft",),
    }
    made = {}
    for name, option in options.items():
        done = run(*pair, "-o", tmp_path / f"{name}.bvh", "--allow-flawed", *option)
        assert done.code == 0, done.err
        made[name] = (tmp_path / f"{name}.bvh").read_bytes()
    assert len(set(made.values())) == len(options)
    walk = ml.load(clips / "walk.bvh")
    body = ml.BodyMap.guess(walk.skeleton)
    left = ml.load(tmp_path / "left.bvh")
    apart = left.world_positions() - walk.world_positions()[: left.n_frames]
    assert np.abs(apart[:, body.right_wrist]).max() < BVH_TEXT_M
    assert np.abs(apart[:, body.left_wrist]).max() > 0.1


def test_a_deep_bend_is_lost_and_reported_or_kept(run, clips: Path, tmp_path: Path) -> None:
    carry = ml.load(clips / "carry.bvh")
    body = ml.BodyMap.guess(carry.skeleton)
    half = 0.6 * np.sin(np.linspace(0.0, np.pi, carry.n_frames)) ** 2
    bend = np.stack([np.cos(half), np.sin(half), 0.0 * half, 0.0 * half], axis=-1)
    quats = np.array(carry.local_quats)
    quats[:, body.spine[0]] = quat.multiply(bend, quats[:, body.spine[0]])
    ml.save(carry.replace(local_quats=quats), tmp_path / "bow.bvh")
    pair = ("splice", "-u", tmp_path / "bow.bvh", "-l", clips / "walk.bvh")
    lost = run(*pair, "-o", tmp_path / "lost.bvh")
    assert lost.code == 0, lost.err
    assert "--keep-bend" in lost.out
    kept = run(*pair, "-o", tmp_path / "kept.bvh", "--keep-bend")
    assert kept.code == 0, kept.err
    assert "--keep-bend" not in kept.out
    lowest = [
        ml.load(tmp_path / f"{name}.bvh").world_positions()[:, body.neck, 1].min()
        for name in ("lost", "kept")
    ]
    assert lowest[1] < lowest[0] - 0.1


@pytest.mark.parametrize("how", ["loop", "hold"])
def test_legs_that_outlast_the_action_are_cropped_and_reported_or_used(
    run, clips: Path, tmp_path: Path, how: str
) -> None:
    short = ml.load(clips / "carry.bvh")[:80]
    ml.save(short, tmp_path / "short.bvh")
    pair = ("splice", "-u", tmp_path / "short.bvh", "-l", clips / "walk.bvh")
    cropped = run(*pair, "-o", tmp_path / "crop.bvh")
    assert cropped.code == 0, cropped.err
    assert "--when-short" in cropped.out
    whole = run(*pair, "-o", tmp_path / "whole.bvh", "--when-short", how, "--allow-flawed")
    assert whole.code == 0, whole.err
    n_frames = ml.load(clips / "walk.bvh").n_frames
    assert ml.load(tmp_path / "crop.bvh").n_frames < n_frames
    assert ml.load(tmp_path / "whole.bvh").n_frames == n_frames


def test_a_part_of_the_action_can_be_taken(run, clips: Path, tmp_path: Path) -> None:
    pair = ("splice", "-u", clips / "wave.bvh", "-l", clips / "jog.bvh", "--json")
    part = run(*pair, "-o", tmp_path / "part.bvh", "--upper-span", "0.5", "1.5")
    assert part.code == 0, part.err
    facts = json.loads(part.out)["splices"][0]
    assert facts["begins_s"] == pytest.approx(0.5)
    assert ml.load(tmp_path / "part.bvh").duration_s == pytest.approx(1.0, abs=0.02)
    refused = run(*pair, "-o", tmp_path / "no.bvh", "--upper-span", "1.5", "0.5")
    assert refused.code == 2
    assert "--upper-span" in refused.err
    assert not (tmp_path / "no.bvh").exists()


def test_a_jump_of_the_legs_torso_does_not_come_through(run, clips: Path, tmp_path: Path) -> None:
    walk = ml.load(clips / "walk.bvh")
    body = ml.BodyMap.guess(walk.skeleton)
    quats = np.array(walk.local_quats)
    half = 0.35
    aside = np.array([np.cos(half), 0.0, np.sin(half), 0.0])
    quats[90:, body.spine[0]] = quat.multiply(aside, quats[90:, body.spine[0]])
    ml.save(walk.replace(local_quats=quats), tmp_path / "jump.bvh")
    done = run(
        *("splice", "-u", clips / "carry.bvh", "-l", tmp_path / "jump.bvh"),
        *("-o", tmp_path / "yes.bvh", "--allow-flawed"),  # the head still follows a half turn
    )
    assert done.code == 0, done.err

    def fastest(path: Path) -> float:
        chest = ml.load(path).world_quats()[:, body.spine[-1]]
        return float(quat.angle_between(chest[:-1], chest[1:]).max())

    assert fastest(tmp_path / "yes.bvh") < 0.5 * fastest(tmp_path / "jump.bvh")


def test_a_flawed_result_is_not_written_unless_allowed(
    run, clips: Path, tmp_path: Path, flawed: None
) -> None:
    pair = ("splice", "-u", clips / "carry.bvh", "-l", clips / "walk.bvh", "-o")
    refused = run(*pair, tmp_path / "no.bvh")
    assert refused.code == 3
    assert "--allow-flawed" in refused.err
    assert "frame 7" in refused.err
    assert not (tmp_path / "no.bvh").exists()
    forced = run(*pair, tmp_path / "yes.bvh", "--allow-flawed")
    assert forced.code == 0, forced.err
    assert "FAILED" in forced.out
    assert (tmp_path / "yes.bvh").exists()


def test_another_skeleton_is_retargeted_and_reported_or_refused(run, clips, tmp_path) -> None:
    carry = ml.synthetic.clip("carry", duration_s=2.0, height=1.5).motion
    bones = carry.skeleton
    other = ml.Skeleton(
        [f"rig:{name}" for name in bones.names],
        bones.parents,
        bones.offsets,
        end_parents=bones.end_parents,
        end_offsets=bones.end_offsets,
    )
    moved = ml.Motion(other, carry.root_positions, carry.local_quats, carry.fps)
    ml.save(moved, tmp_path / "other.bvh")
    pair = ("splice", "-u", tmp_path / "other.bvh", "-l", clips / "walk.bvh", "-o")
    done = run(*pair, tmp_path / "out.bvh")
    assert done.code == 0, done.err
    assert "another skeleton: retargeted" in done.out
    assert (
        ml.load(tmp_path / "out.bvh").skeleton.names == ml.load(clips / "walk.bvh").skeleton.names
    )
    refused = run(*pair, tmp_path / "no.bvh", "--no-retarget")
    assert refused.code == 2
    assert "retarget" in refused.err


def test_a_clip_that_is_no_body_is_refused_with_a_remedy(run, clips, tmp_path) -> None:
    rod = ml.Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    still = ml.Motion(rod, np.zeros((30, 3)), np.tile([1.0, 0, 0, 0], (30, 2, 1)), fps=60)
    ml.save(still, tmp_path / "rod.bvh")
    for pair in (
        (tmp_path / "rod.bvh", clips / "walk.bvh"),
        (clips / "walk.bvh", tmp_path / "rod.bvh"),
    ):
        refused = run("splice", "-u", pair[0], "-l", pair[1], "-o", tmp_path / "no.bvh")
        assert refused.code == 2
        assert len(refused.err.strip().splitlines()) == 1
        assert not (tmp_path / "no.bvh").exists()


def test_a_folder_of_legs_gives_a_splice_on_each(run, clips: Path, tmp_path: Path) -> None:
    legs, target = tmp_path / "legs", tmp_path / "out"
    legs.mkdir()
    for name in ("walk", "jog"):
        (legs / f"{name}.bvh").write_bytes((clips / f"{name}.bvh").read_bytes())
    command = ("splice", "-u", clips / "wave.bvh", "-l", legs, "-o", target, "--to", "glb")
    planned = run(*command, "--dry-run")
    assert planned.code == 0, planned.err
    assert planned.out.count("would write") == 2
    assert not target.exists()
    done = run(*command, "--json")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["splices"]) == 2
    assert sorted(p.name for p in target.iterdir()) == ["wave_on_jog.glb", "wave_on_walk.glb"]
    without_format = run("splice", "-u", clips / "wave.bvh", "-l", legs, "-o", tmp_path / "more")
    assert without_format.code == 2
    assert "--to" in without_format.err


def test_one_bad_clip_of_a_folder_does_not_stop_the_others(run, clips, tmp_path) -> None:
    legs, target = tmp_path / "legs", tmp_path / "out"
    legs.mkdir()
    (legs / "jog.bvh").write_bytes((clips / "jog.bvh").read_bytes())
    (legs / "bad.bvh").write_text("HIERARCHY\nnothing")
    done = run("splice", "-u", clips / "wave.bvh", "-l", legs, "-o", target, "--to", "bvh")
    assert done.code == 2
    assert "bad.bvh" in done.err
    assert [p.name for p in target.iterdir()] == ["wave_on_jog.bvh"]


def test_inputs_and_existing_files_are_left_alone(run, clips: Path, tmp_path: Path) -> None:
    pair = ("splice", "-u", clips / "carry.bvh", "-l", clips / "walk.bvh", "-o")
    before = (clips / "walk.bvh").read_bytes()
    assert run(*pair, clips / "walk.bvh", "--force").code == 2
    assert (clips / "walk.bvh").read_bytes() == before
    (tmp_path / "there.bvh").write_text("mine")
    assert run(*pair, tmp_path / "there.bvh").code == 2
    assert (tmp_path / "there.bvh").read_text() == "mine"


def test_the_clip_can_go_to_standard_output(run, clips: Path) -> None:
    done = run(
        "splice", "-u", clips / "carry.bvh", "-l", clips / "walk.bvh", "-o", "-", "--to", "bvh"
    )
    assert done.code == 0, done.err
    assert done.out.startswith("HIERARCHY")
