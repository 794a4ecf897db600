"""Godot imports files for engines, and finds bones, rest poses, joints and travel where we do."""

from __future__ import annotations

import json
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.engine_bones import engine_names
from motionloom.intake.engine_export import engine_motion
from motionloom.motion.motion import Motion

pytestmark = [pytest.mark.judge, pytest.mark.slow]

GODOT_M = 1e-5
"""Godot computes in single precision, and the clips lie within 6 m of the origin."""
OPTIMIZED_M = (1e-3, 0.05)
"""What the import with all default settings loses: its optimizer takes keys out."""
SETTINGS = """[remap]

importer="scene"
type="PackedScene"

[deps]

source_file="res://{file}"

[params]

fbx/importer=0
animation/fps={fps:.0f}
_subresources={{"nodes": {{"PATH:AnimationPlayer": {{"optimizer/enabled": false}}}}}}
"""
"""Import settings: every key is kept; FBX is read by ufbx, as new files are."""
MAPPED = """[remap]

importer="scene"
type="PackedScene"

[deps]

source_file="res://child.glb"

[params]

_subresources={"nodes": {"PATH:figure/Skeleton3D": {"retarget/bone_map": Resource("res://map.tres")}}}
"""
"""Import settings of a character: its bones become those of the humanoid profile."""
ALIKE_DEG = 1.5
"""The child has no root bone, so it lacks the small turns of the heading in a straight walk."""
LIMB_BONES = [
    (f"{side}{above}", f"{side}{below}")
    for side in ("Left", "Right")
    for above, below in (
        ("UpperLeg", "LowerLeg"),
        ("LowerLeg", "Foot"),
        ("UpperArm", "LowerArm"),
        ("LowerArm", "Hand"),
    )
]
TRAVEL_M = 1e-3
"""The last ten thousandth of a second is not played, for the clip would start again."""
PROFILE_DIGIT = 1e-3
"""The profile states the axes of thumbs with three digits."""
TIME_LIMIT_S = 220
SCRIPT = Path(__file__).with_name("godot_scenes.gd")
REAL = {"cmu": "cmu_bvh/16_15.bvh", "soldier": "gltf/Soldier.glb#Run"}


@dataclass(frozen=True)
class Case:
    """A file in Godot's project, and the motion that we say is in it."""

    engine: str
    file: str
    motion: Motion
    root: str = "bone"
    defaults: bool = False
    """Whether it is imported without settings."""

    @property
    def wanted(self) -> Motion:
        return engine_motion(self.motion, ml.EngineExport(self.engine, root=self.root))

    def gap_m(self, poses: list[dict[str, list[float]]]) -> float:
        """Largest distance of a joint in Godot from its place in the motion, over all frames."""
        names = self.wanted.skeleton.names
        found = np.array([[pose[name] for name in names] for pose in poses])
        return float(np.linalg.norm(found - self.wanted.world_positions(), axis=2).max())


def motions(mocap: Path | None) -> dict[str, Motion]:
    """A walk that turns away from the origin, and real clips."""
    walk = ml.synthetic.clip("walk", turn=1.0, duration_s=2.0, fps=60).motion
    out = {"walk": ml.move(walk, heading=0.7, x=2.0, z=-3.0)}
    if mocap is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out |= {name: ml.load(str(mocap / file))[:240] for name, file in REAL.items()}
    return out


def add_child(folder: Path) -> None:
    """A small character with a skeleton that Godot itself brings to the profile."""
    walk = ml.synthetic.clip("walk", duration_s=1.0).motion
    child = ml.retarget(walk, ml.synthetic.skeleton(1.2))
    ml.save(child, folder / "child.glb")
    (folder / "child.glb.import").write_text(MAPPED)
    names = engine_names(child.skeleton, ml.BodyMap.guess(child.skeleton), "godot")
    lines = [
        f'bone_map/{name} = &"{own}"' for name, own in zip(names, child.skeleton.names, strict=True)
    ]
    head = '[gd_resource type="BoneMap" format=3]\n\n[sub_resource '
    head += 'type="SkeletonProfileHumanoid" id="1"]\n\n[resource]\nprofile = SubResource("1")\n'
    (folder / "map.tres").write_text(head + "\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def project(
    godot: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[list[Case], dict[str, Any]]:
    """All cases and what Godot answers about them, in one run."""
    folder = tmp_path_factory.mktemp("godot")
    try:
        mocap = request.getfixturevalue("mocap")
    except pytest.skip.Exception:
        mocap = None
    cases = [
        Case(engine, f"{name}_{engine}{suffix}", motion)
        for name, motion in motions(mocap).items()
        for engine, suffix in (("godot", ".glb"), ("godot", ".fbx"), ("unreal", ".fbx"),
                               ("unity", ".fbx"))
    ]  # fmt: skip
    cases.append(Case("godot", "still.glb", cases[0].motion, "in-place"))
    run = ml.synthetic.clip("run", duration_s=2.0, fps=30).motion
    cases.append(Case("godot", "defaults.glb", run, defaults=True))
    straight = ml.synthetic.clip("walk", duration_s=2.0, fps=30).motion
    cases.append(Case("godot", "straight.glb", straight))
    add_child(folder)
    for case in cases:
        export = ml.EngineExport(case.engine, root=case.root)
        ml.save(case.motion, folder / case.file, engine=export)
        if not case.defaults:
            text = SETTINGS.format(file=case.file, fps=case.motion.fps)
            (folder / f"{case.file}.import").write_text(text)
    (folder / "project.godot").write_text("config_version=5\n")
    jobs, out = folder / "jobs.json", folder / "out.json"
    times = {
        case.file: (np.arange(case.motion.n_frames) / case.motion.fps).tolist() for case in cases
    }
    asked: dict[str, Any] = {file: {"times": each} for file, each in times.items()}
    asked["straight.glb"]["on"] = "child.glb"
    jobs.write_text(json.dumps(asked))
    printed = ""
    for options in (["--import"], ["--script", str(SCRIPT), "--", str(jobs), str(out)]):
        command = [str(godot), "--headless", "--path", str(folder), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
        printed += done.stdout + done.stderr
    assert out.is_file(), printed
    return cases, json.loads(out.read_text())


def test_godot_finds_the_joints_where_we_do(project: tuple[list[Case], Any]) -> None:
    cases, answers = project
    for case in cases:
        answer = answers[case.file]
        assert answer["length"] == pytest.approx(case.motion.duration_s, abs=1e-3)
        assert answer["meshes"] >= 1
        if not case.defaults:
            assert case.gap_m(answer["poses"]) < GODOT_M, case.file


def test_default_settings_of_the_import_take_keys_out(project: tuple[list[Case], Any]) -> None:
    """Why the documentation says to switch the optimizer off."""
    case = next(each for each in project[0] if each.defaults)
    gap = case.gap_m(project[1][case.file]["poses"])
    assert OPTIMIZED_M[0] < gap < OPTIMIZED_M[1]


def test_bones_for_godot_are_those_of_its_humanoid_profile(
    project: tuple[list[Case], Any],
) -> None:
    cases, answers = project
    profile = answers["profile"]
    for case in (each for each in cases if each.engine == "godot"):
        bones = answers[case.file]["bones"]
        known = [name for name in bones if name in profile]
        assert {"Root", "Hips", "Spine", "Neck", "Head", "LeftToes", "RightHand"} <= set(known)
        for name in known:
            above = bones[name]["parent"]
            while above and above not in profile:
                above = bones[above]["parent"]
            wanted = profile[name]["parent"]
            while wanted and wanted not in bones:  # a spine of two joints has no upper chest
                wanted = profile[wanted]["parent"]
            assert above == wanted, (case.file, name)
            if case.file == "soldier_godot.fbx" and name not in ("Root", "Hips"):
                continue  # an FBX rests as the skin of its character was bound, feet spread
            axes, there = np.array(bones[name]["rest"])[:3], np.array(profile[name]["rest"])[:3]
            assert np.abs(axes - there).max() < PROFILE_DIGIT, (case.file, name)


def test_animations_play_on_characters_with_a_bone_map(project: tuple[list[Case], Any]) -> None:
    """Limbs of a child of 1.2 m point where those of the clip do."""
    answer = project[1]["straight.glb"]
    worst = 0.0
    for own, other in zip(answer["poses"], answer["on"], strict=True):
        for above, below in LIMB_BONES:
            bones = [np.subtract(pose[below], pose[above]) for pose in (own, other)]
            units = [bone / np.linalg.norm(bone) for bone in bones]
            worst = max(worst, float(np.degrees(np.arccos(np.clip(units[0] @ units[1], -1, 1)))))
    child = np.linalg.norm(np.subtract(answer["on"][0]["Head"], answer["on"][0]["LeftFoot"]))
    clip = np.linalg.norm(np.subtract(answer["poses"][0]["Head"], answer["poses"][0]["LeftFoot"]))
    assert child < 0.8 * clip  # it is another body
    assert worst < ALIKE_DEG


def test_root_motion_in_godot_is_the_travel_of_the_clip(project: tuple[list[Case], Any]) -> None:
    cases, answers = project
    for case in (each for each in cases if each.engine != "unreal"):
        moved, wanted = answers[case.file]["root_motion"], case.wanted
        assert np.abs(moved["travel"] - wanted.root_positions[-1]).max() < TRAVEL_M, case.file
        turn = np.abs(np.dot(moved["turn"], wanted.world_quats()[-1, 0]))
        assert turn == pytest.approx(1.0, abs=1e-5), case.file
    walked = next(each for each in cases if each.file == "walk_godot.glb")
    assert np.linalg.norm(answers[walked.file]["root_motion"]["travel"]) > 2.0
    assert np.abs(answers["still.glb"]["root_motion"]["travel"]).max() == 0.0
