"""ufbx, three.js and Autodesk's SDK find the joints of our FBX files where we do."""

from __future__ import annotations

import io
import json
import subprocess
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from fuzz.fbx_forms import Craft, as_binary, as_text, crafted
from motionloom.formats.fbx import fbx
from motionloom.formats.file_clip import ReadOptions
from motionloom.intake.axes import to_world
from motionloom.intake.engine_export import ENGINES, engine_motion
from motionloom.motion.motion import Motion

pytestmark = [pytest.mark.judge, pytest.mark.slow]

AGREE_CM = 0.01
"""1e-4 m: ufbx keeps slopes of keys, and three.js all, in single precision."""
TIME_LIMIT_S = 300
HERE = Path(__file__).parent
EMBEDDED = ("walk", "run", "wave", "kick")
REAL = ("cmu_bvh/16_15.bvh", "cmu_bvh/143_01.bvh")


@dataclass(frozen=True)
class Case:
    """A file, and the motion in its unit that we say is in it."""

    file: Path
    motion: Motion
    unit_cm: float = 1.0
    up: str = "y"

    @property
    def frames(self) -> list[int]:
        n = self.motion.n_frames
        return sorted({0, n // 3, n // 2, n - 1})

    def job(self) -> dict[str, Any]:
        times = [frame / self.motion.fps for frame in self.frames]
        return {"file": str(self.file), "times": times}


def read(file: Path) -> Motion:
    return fbx.read(io.BytesIO(file.read_bytes()), ReadOptions(path=file)).motion


def clips(mocap: Path | None) -> dict[str, Motion]:
    """Embedded clips, and real ones."""
    motions = {name: ml.synthetic.clip(name).motion for name in EMBEDDED}
    if mocap is None:
        return motions
    paths = [mocap / name for name in REAL]
    paths += sorted((mocap / "cmu_asfamc").rglob("*.amc"))[:1]
    paths += sorted((mocap / "bandai_bvh").rglob("*.bvh"))[:2]
    paths += [mocap / "gltf" / "Soldier.glb", mocap / "gltf" / "CesiumMan.glb"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motions |= {path.stem: ml.load(path)[:400] for path in paths if path.is_file()}
    return motions


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> list[Case]:
    """What our writer makes of many clips."""
    folder = tmp_path_factory.mktemp("fbx")
    try:
        mocap = request.getfixturevalue("mocap")
    except pytest.skip.Exception:
        mocap = None
    cases = []
    for name, motion in clips(mocap).items():
        file = folder / f"{name}.fbx"
        ml.save(motion, file)
        skeleton = motion.skeleton
        scaled = motion.replace(
            skeleton=ml.Skeleton(
                skeleton.names, skeleton.parents, 100.0 * skeleton.offsets, skeleton.rest_quats
            ),
            root_positions=100.0 * motion.root_positions,
            joint_translations=None
            if motion.joint_translations is None
            else 100.0 * motion.joint_translations,
        )
        cases.append(Case(file, scaled))
    walk = clips(None)["walk"]
    for engine, unit_cm, up in (("unreal", 1.0, "z"), ("unity", 100.0, "y"), ("godot", 100.0, "y")):
        file = folder / f"for_{engine}.fbx"
        ml.save(walk, file, engine=engine)
        cases.append(Case(file, read(file), unit_cm, up))
    return cases


def asked(command: list[str], cases: list[Case], folder: Path) -> dict[str, Any]:
    """What another program answers about all cases, in one process."""
    jobs, out = folder / "jobs.json", folder / "out.json"
    jobs.write_text(json.dumps({case.file.name: case.job() for case in cases}))
    done = subprocess.run(
        [*command, str(jobs), str(out)], capture_output=True, text=True, timeout=TIME_LIMIT_S
    )
    assert out.is_file(), done.stdout + done.stderr
    return dict(json.loads(out.read_text()))


def worst_gap_cm(case: Case, answers: list[dict[str, list[float]]]) -> float:
    positions, names = case.motion.world_positions(), case.motion.skeleton.names
    gaps = [
        np.abs(np.array([answer[name] for name in names], float) - positions[frame]).max()
        for frame, answer in zip(case.frames, answers, strict=True)
    ]
    return case.unit_cm * float(np.max(gaps))


def test_ufbx_finds_the_joints_where_we_do(written: list[Case], ufbx: Path, tmp_path: Path) -> None:
    answers = asked([str(ufbx), str(HERE / "ufbx_positions.py")], written, tmp_path)
    gaps = {case.file.name: worst_gap_cm(case, answers[case.file.name]) for case in written}
    assert max(gaps.values()) < AGREE_CM, gaps


def test_three_finds_the_joints_where_we_do(
    written: list[Case], node: Path, three: Path, tmp_path: Path
) -> None:
    script = HERE / "three_positions.mjs"
    answers = asked([str(node), str(script), str(three)], written, tmp_path)
    gaps = {}
    for case in written:  # it turns every scene to Y up
        upright = replace(case, motion=to_world(case.motion, up=case.up, unit_m=1.0))
        gaps[case.file.name] = worst_gap_cm(upright, answers[case.file.name])
    assert max(gaps.values()) < AGREE_CM, gaps


def test_autodesk_finds_the_joints_where_we_do(mocap: Path, fbx2gltf: Path, tmp_path: Path) -> None:
    """FBX2glTF reads with the SDK of Maya, Unity and Unreal, and samples 24 times a second."""
    program = tmp_path / "FBX2glTF"
    program.write_bytes(fbx2gltf.read_bytes())
    program.chmod(0o755)
    gaps = {}
    for name, motion in clips(mocap).items():
        file, out = tmp_path / f"{name}.fbx", tmp_path / f"{name}.glb"
        motion = motion.replace(fps=24.0)
        ml.save(motion, file)
        command = [str(program), "-b", "-i", str(file), "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
        assert out.is_file(), done.stdout + done.stderr
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            back = ml.load(out, keep_t_pose=True)
        order = [back.skeleton.index(joint) for joint in motion.skeleton.names]
        assert back.n_frames == motion.n_frames
        gaps[name] = np.abs(back.world_positions()[:, order] - motion.world_positions()).max()
    assert max(gaps.values()) < 0.01 * AGREE_CM, gaps


@pytest.mark.parametrize("engine", ENGINES)
def test_autodesk_finds_files_for_engines_upright_in_metres(
    engine: str, fbx2gltf: Path, tmp_path: Path
) -> None:
    """Autodesk's SDK brings the axes and unit of every engine to Y up and metres."""
    program = tmp_path / "FBX2glTF"
    program.write_bytes(fbx2gltf.read_bytes())
    program.chmod(0o755)
    walk = ml.move(ml.synthetic.clip("walk", turn=1.0).motion.replace(fps=24.0), heading=2.0, x=3.0)
    file, out = tmp_path / "walk.fbx", tmp_path / "walk.glb"
    ml.save(walk, file, engine=engine)
    command = [str(program), "-b", "-i", str(file), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    assert out.is_file(), done.stdout + done.stderr
    back = ml.load(out, keep_t_pose=True)
    wanted = engine_motion(walk, ml.EngineExport(engine))
    order = [back.skeleton.index(joint) for joint in wanted.skeleton.names]
    gap = np.abs(back.world_positions()[:, order] - wanted.world_positions()).max()
    assert gap < 0.01 * AGREE_CM


CRAFTS = {
    "orders": Craft(pivots=False, keys="linear"),
    "pivots": Craft(keys="linear"),
    "constant": Craft(keys="constant"),
    "user": Craft(keys="user"),
    "weighted": Craft(keys="weighted"),
    "auto": Craft(keys="auto"),
    "smooth": Craft(keys="smooth"),
    "progressive": Craft(keys="progressive"),
    "tcb": Craft(keys="tcb"),
    "mixed": Craft(),
    "scale": Craft(keys="linear", scale=True),
    "inherit": Craft(keys="linear", scale=True, inherit=True),
    "additive": Craft(keys="linear", layers=3),
    "additive by channel": Craft(keys="linear", layers=3, by_channel=True),
    "override": Craft(keys="linear", layers=3, blend=1),
    "override with a share": Craft(keys="linear", layers=3, blend=2),
    "share by channel": Craft(keys="linear", layers=3, blend=2, by_channel=True),
}


def test_ufbx_and_we_read_crafted_rigs_alike(ufbx: Path, tmp_path: Path) -> None:
    """Pivots, orders, inherit types, layers and tangents, as ASCII and as binary of any width."""
    cases = []
    for seed, (name, craft) in enumerate(CRAFTS.items()):
        items = crafted(np.random.default_rng(seed), craft)
        forms = {"text": as_text(items), "wide": as_binary(items, 7700, deflated=True)}
        for form, data in forms.items():
            file = tmp_path / f"{name} {form}.fbx"
            file.write_bytes(data)
            cases.append(Case(file, read(file)))
    answers = asked([str(ufbx), str(HERE / "ufbx_positions.py")], cases, tmp_path)
    gaps = {case.file.name: worst_gap_cm(case, answers[case.file.name]) for case in cases}
    assert max(gaps.values()) < AGREE_CM, gaps
