from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.root_motion import travel_on_pelvis, with_root_bone

SLIDE_CM = 0.2
"""What a cleaned plant may still slide: the text of a BVH file rounds."""
BVH_TEXT_M = 1e-5


@pytest.fixture(scope="module")
def gaits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gaits")
    for kind in ("walk", "jog"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.0).motion, folder / f"{kind}.bvh")
    return folder


def test_a_transition_begins_as_a_and_ends_as_b(run, gaits: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    raw = "--raw", "--allow-flawed", "--json"  # feet of a raw blend slip
    done = run("transition", gaits / "walk.bvh", gaits / "jog.bvh", "-o", out, *raw)
    assert done.code == 0, done.err
    facts = json.loads(done.out)["transitions"][0]
    made, walk, jog = ml.load(out), ml.load(gaits / "walk.bvh"), ml.load(gaits / "jog.bvh")
    first, last = facts["span"]
    before = walk.world_positions()[: first + 1]
    assert np.abs(made.world_positions()[: first + 1] - before).max() < BVH_TEXT_M
    after = made.n_frames - 1 - last
    mine = made.world_positions()[-after:, :, 1]
    assert np.abs(mine - jog.world_positions()[-after:, :, 1]).max() < BVH_TEXT_M


def test_it_prints_place_costs_check_feet_and_what_was_written(run, gaits, tmp_path) -> None:
    out = tmp_path / "out.glb"
    done = run("transition", gaits / "walk.bvh", gaits / "jog.bvh", "-o", out, "--show", "2")
    assert done.code == 0, done.err
    for word in ("walk.bvh", "place", "pose", "blend", "check", "passed", "slide", str(out)):
        assert word in done.out
    assert done.out.count("--at ") <= 2


def test_a_blend_that_had_to_be_shorter_is_reported(run, gaits: Path, tmp_path: Path) -> None:
    pair = (gaits / "walk.bvh", gaits / "jog.bvh")
    long = run("transition", *pair, "-o", tmp_path / "long.bvh", "--length", "4", "--allow-flawed")
    assert long.code == 0, long.err
    assert "not 4 s: the clips have no more frames" in long.out
    short = run("transition", *pair, "-o", tmp_path / "short.bvh", "--length", "0.5")
    assert "asked for" not in short.out


def test_feet_are_cleaned_unless_raw_is_given(run, gaits: Path, tmp_path: Path) -> None:
    pair = (gaits / "walk.bvh", gaits / "jog.bvh")
    clean = run("transition", *pair, "-o", tmp_path / "clean.bvh", "--json")
    raw = run("transition", *pair, "-o", tmp_path / "raw.bvh", "--raw", "--allow-flawed", "--json")
    feet = json.loads(clean.out)["transitions"][0]["cleanup"]
    assert feet["slide_after_cm"] < min(SLIDE_CM, feet["slide_before_cm"])
    assert json.loads(raw.out)["transitions"][0]["cleanup"] is None
    assert (tmp_path / "clean.bvh").read_bytes() != (tmp_path / "raw.bvh").read_bytes()


def test_the_place_can_be_given(run, gaits: Path, tmp_path: Path) -> None:
    pair = (gaits / "walk.bvh", gaits / "jog.bvh")
    out = tmp_path / "out.bvh"
    done = run("transition", *pair, "-o", out, "--at", "60", "70", "--allow-flawed", "--json")
    assert done.code == 0, done.err
    place = json.loads(done.out)["transitions"][0]["place"]
    assert (place["frame_a"], place["frame_b"]) == (60, 70)
    refused = run("transition", *pair, "-o", tmp_path / "no.bvh", "--at", "0", "70")
    assert refused.code == 2
    assert "two frames on both sides" in refused.err
    assert not (tmp_path / "no.bvh").exists()


def test_a_flawed_result_is_not_written_unless_allowed(
    run, gaits: Path, tmp_path: Path, flawed: None
) -> None:
    command = ("transition", gaits / "walk.bvh", gaits / "jog.bvh", "-o")
    refused = run(*command, tmp_path / "no.bvh", "--at", "60", "70")
    assert refused.code == 3
    assert "--allow-flawed" in refused.err
    assert "LeftLeg" in refused.err
    assert not (tmp_path / "no.bvh").exists()
    done = run(*command, tmp_path / "no.bvh", "--at", "60", "70", "--json")
    assert done.code == 3
    (made,) = json.loads(done.out)["transitions"]
    failed = made["verification"]["failed"][0]
    assert failed["joint"] == "LeftLeg" and f"frame {failed['frame']}" in refused.err
    assert not (tmp_path / "no.bvh").exists()
    forced = run(*command, tmp_path / "yes.bvh", "--at", "60", "70", "--allow-flawed")
    assert forced.code == 0, forced.err
    assert "FAILED" in forced.out and "LeftLeg" in forced.out
    assert (tmp_path / "yes.bvh").exists()


def test_another_skeleton_is_retargeted_and_reported_or_refused(run, gaits, tmp_path) -> None:
    jog = ml.synthetic.clip("jog", duration_s=2.0, height=1.5).motion
    bones = jog.skeleton
    other = ml.Skeleton(
        [f"rig:{name}" for name in bones.names],
        bones.parents,
        bones.offsets,
        end_parents=bones.end_parents,
        end_offsets=bones.end_offsets,
    )
    ml.save(ml.Motion(other, jog.root_positions, jog.local_quats, jog.fps), tmp_path / "other.bvh")
    out = tmp_path / "out.bvh"
    pair = (gaits / "walk.bvh", tmp_path / "other.bvh")
    done = run("transition", *pair, "-o", out)
    assert done.code == 0, done.err
    assert "another skeleton: retargeted" in done.out
    offsets = ml.load(out).skeleton.offsets
    assert np.abs(offsets - ml.load(gaits / "walk.bvh").skeleton.offsets).max() < BVH_TEXT_M
    refused = run("transition", *pair, "-o", tmp_path / "no.bvh", "--no-retarget")
    assert refused.code == 2
    assert "retarget" in refused.err


def test_floors_that_differ_are_reported_and_put_level(run, gaits, tmp_path) -> None:
    jog = ml.load(gaits / "jog.bvh")
    raised = jog.root_positions + np.array([0.0, 0.1, 0.0])
    ml.save(jog.replace(root_positions=raised), tmp_path / "raised.bvh")
    pair = (gaits / "walk.bvh", tmp_path / "raised.bvh")
    done = run("transition", *pair, "-o", tmp_path / "as-it-is.bvh")
    assert "--ground" in done.out
    levelled = run("transition", *pair, "-o", tmp_path / "level.bvh", "--ground")
    assert levelled.code == 0, levelled.err
    assert "put on y = 0" in levelled.out
    last = [
        ml.load(tmp_path / f"{name}.bvh").root_positions[-1, 1] for name in ("as-it-is", "level")
    ]
    assert last[0] == pytest.approx(last[1], abs=0.02)


def test_folders_give_every_pair_and_a_dry_run_writes_nothing(run, gaits, tmp_path) -> None:
    target = tmp_path / "out"
    command = ("transition", gaits, gaits / "jog.bvh", "-o", target, "--to", "glb", "--json")
    planned = run(*command, "--dry-run")
    assert planned.code == 0, planned.err
    assert not target.exists()
    assert run(*command).code == 0
    assert [path.name for path in target.iterdir()] == ["walk_to_jog.glb"]
    without_format = run("transition", gaits, gaits / "jog.bvh", "-o", tmp_path / "more")
    assert without_format.code == 2
    assert "--to" in without_format.err


def test_inputs_and_existing_files_are_left_alone(run, gaits: Path, tmp_path: Path) -> None:
    pair = (gaits / "walk.bvh", gaits / "jog.bvh")
    before = pair[1].read_bytes()
    refused = run("transition", *pair, "-o", pair[1], "--force")
    assert refused.code == 2
    assert pair[1].read_bytes() == before
    (tmp_path / "there.bvh").write_text("mine")
    assert run("transition", *pair, "-o", tmp_path / "there.bvh").code == 2
    assert (tmp_path / "there.bvh").read_text() == "mine"


def test_a_root_bone_that_lies_still_carries_the_travel_of_the_result(run, tmp_path: Path) -> None:
    for kind in ("walk", "jog"):
        rooted = with_root_bone(ml.synthetic.clip(kind, duration_s=2.0, turn=0.8).motion)
        lies = rooted.replace(  # only its root bone is looked at
            root_positions=np.tile([0.5, 0.0, 0.2], (rooted.n_frames, 1)),
            local_quats=np.tile([1.0, 0.0, 0.0, 0.0], (*rooted.local_quats.shape[:2], 1)),
        )
        ml.save(travel_on_pelvis(rooted, like=lies), tmp_path / f"{kind}.bvh")
    out = tmp_path / "out.bvh"
    pair = (tmp_path / "walk.bvh", tmp_path / "jog.bvh")
    done = run("transition", *pair, "-o", out, "--raw", "--allow-flawed")
    assert done.code == 0, done.err
    assert "travel and heading moved to the root bone" in done.out
    made, walk = ml.load(out), ml.load(tmp_path / "walk.bvh")
    assert np.ptp(made.root_positions, axis=0).max() > 1.0
    apart = made.world_positions()[:8, 1:] - walk.world_positions()[:8, 1:]
    assert np.abs(apart).max() < 5 * BVH_TEXT_M


def test_options_that_have_no_effect_are_reported(run, gaits: Path, tmp_path: Path) -> None:
    clips = (gaits / "walk.bvh", gaits / "jog.bvh")
    out, at = tmp_path / "out.bvh", ("--at", "40", "40")
    done = run("transition", *clips, "-o", out, *at, "--keep", "0.3", "--moving", "--anyway")
    assert done.code == 0, done.err
    assert "--at names the place: --keep and --moving, by which one is found" in done.err
    done = run("transition", *clips, "-o", out, *at, "--anyway", "--force")
    assert done.code == 0 and "has no effect" not in done.err
    done = run("transition", *clips, "-o", out, "--raw", "--clean-all", "--force")
    assert done.code == 2 and "leave out one of them" in done.err
