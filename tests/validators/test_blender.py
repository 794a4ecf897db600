"""Blender reads what we write, and what others write, and finds every joint where we do."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.root_motion import with_root_bone
from motionloom.formats.bvh import bvh
from motionloom.formats.fbx import fbx
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.gltf import glb
from motionloom.intake.axes import to_world
from motionloom.intake.engine_export import EngineExport, engine_motion
from motionloom.intake.load import load
from motionloom.intake.save import save
from motionloom.motion.edit import move
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

pytestmark = [pytest.mark.judge, pytest.mark.slow]

BLENDER_M = 1e-4
"""Blender computes in float32."""
CMU_UNIT_M = 0.0254 / 0.45
TIME_LIMIT_S = 300
SCRIPT = Path(__file__).with_name("blender_positions.py")
WRITERS = {".bvh": bvh.write, ".glb": glb.write, ".fbx": fbx.write}
READERS = {".glb": glb.read, ".fbx": fbx.read}


@dataclass(frozen=True)
class Case:
    """A file for Blender, and the motion that we say is in it."""

    file: Path
    motion: Motion
    unit_m: float = 1.0
    """Metres per unit in ``motion``."""
    start_s: float = 0.0
    skin: bool = False
    """Whether the points of its mesh are asked for."""

    @property
    def frames(self) -> list[int]:
        """First, two in the middle, last."""
        n = self.motion.n_frames
        return [0, n // 3, n // 2, n - 1]

    def job(self) -> dict[str, Any]:
        return {
            "file": str(self.file),
            "frames": self.frames,
            "fps": self.motion.fps,
            "start_s": self.start_s,
            "skin": self.skin,
        }


def lopsided(*, sliding: bool) -> Motion:
    """An asymmetric rig with odd rest rotations, as smooth and random as a test needs."""
    rng = np.random.Generator(np.random.PCG64(11))
    offsets = rng.uniform(-0.5, 0.5, (7, 3))
    skeleton = Skeleton(
        ("hips", "spine", "head", "left_arm", "left_hand", "right_leg", "right_foot"),
        np.array([-1, 0, 1, 1, 3, 0, 5]),
        offsets,
        rest_quats=quat.exp(rng.normal(0.0, 0.6, (7, 3))),
        end_parents=np.array([2, 4, 6]),
        end_offsets=rng.uniform(-0.2, 0.2, (3, 3)),
    )
    t = np.linspace(0.0, 1.0, 31)[:, None, None]
    turns = np.sin(4.0 * t + np.arange(7)[:, None]) * rng.normal(0.0, 1.0, (7, 3))
    root = np.array([0.3, 0.9, -0.2]) + t[:, 0] * np.array([1.5, 0.1, 2.5])
    slide = offsets + 0.1 * np.sin(5.0 * t + np.arange(7)[:, None]) if sliding else None
    return Motion(skeleton, root, quat.exp(turns), 30.0, slide)


def ours(motion: Motion, file: Path) -> Case:
    """A motion in metres, written by us."""
    with file.open("wb") as stream:
        WRITERS[file.suffix](FileClip(motion, unit_m=1.0, up="y"), stream)
    return Case(file, motion, skin=file.suffix == ".fbx")


def for_engine(file: Path) -> Case:
    """A walk laid out for the engine that the file is named after; Blender turns it upright."""
    motion = move(synthetic.clip("walk", turn=1.0).motion, heading=2.0, x=3.0)
    save(motion, file, engine=file.stem)
    return Case(file, engine_motion(motion, EngineExport(file.stem)))


def rooted(motion: Motion, file: Path) -> Case:
    """A motion in centimetres under a root bone, with the hips at rest straight over it."""
    offsets = np.array(motion.skeleton.offsets)
    offsets[0] = [0.0, 0.93, 0.0]
    resting = dataclasses.replace(motion.skeleton, offsets=offsets)
    under = with_root_bone(motion.replace(skeleton=resting))
    save(under, file)
    return Case(file, under)


def pillar() -> Motion:
    """A chain that rests straight up, where Blender connects bones, and slides and turns."""
    offsets = np.array([[0.0, 0.0, 0.0], [0.0, 0.9, 0.0], [0.0, 0.3, 0.0], [0.0, 0.01, 0.0]])
    skeleton = Skeleton(("hips", "spine", "chest", "head"), np.array([-1, 0, 1, 2]), offsets)
    t = np.linspace(0.0, 1.0, 31)[:, None, None]
    waves = np.sin(4.0 * t + np.arange(4)[:, None]) * np.array([0.3, 0.2, 0.1])
    root = np.array([0.3, 0.9, -0.2]) + t[:, 0] * np.array([1.5, 0.1, 2.5])
    return Motion(skeleton, root, quat.exp(3.0 * waves), 30.0, offsets + waves)


def cmu_second(mocap: Path) -> Motion:
    """A second of a real walk in its own unit."""
    path = mocap / "cmu_bvh" / "16_15.bvh"
    with path.open("rb") as stream:
        return bvh.read(stream, ReadOptions(path=path)).motion[100:220]


def cmu_walk(mocap: Path, file: Path) -> Case:
    """That second, read and written by us: metric as GLB, else in its own unit."""
    motion = cmu_second(mocap)
    with file.open("wb") as stream:
        WRITERS[file.suffix](FileClip(motion, unit_m=CMU_UNIT_M, up="y"), stream)
    if file.suffix == ".bvh":
        return Case(file, motion, unit_m=CMU_UNIT_M)
    with file.open("rb") as stream:
        clip = READERS[file.suffix](stream, ReadOptions(path=file))
    return Case(file, to_world(clip.motion, up="y", unit_m=clip.unit_m or 1.0))


def theirs(path: Path, file: Path, start_s: float) -> Case:
    """A file that another tool wrote, read by us."""
    with path.open("rb") as stream:
        motion = glb.read(stream, ReadOptions(path=path)).motion
    file.symlink_to(path)
    return Case(file, motion, start_s=start_s)


EMBEDDED: dict[str, Callable[[Path], Case]] = {
    "rig.bvh": lambda file: ours(lopsided(sliding=False), file),
    "rig.glb": lambda file: ours(lopsided(sliding=False), file),
    "sliding.bvh": lambda file: ours(lopsided(sliding=True), file),
    "sliding.glb": lambda file: ours(lopsided(sliding=True), file),
    "embedded.bvh": lambda file: ours(synthetic.clip("walk").motion, file),
    "rig.fbx": lambda file: ours(lopsided(sliding=False), file),
    "sliding.fbx": lambda file: ours(lopsided(sliding=True), file),
    "embedded.fbx": lambda file: ours(synthetic.clip("walk").motion, file),
    "pillar.fbx": lambda file: ours(pillar(), file),
    "rooted.fbx": lambda file: rooted(synthetic.clip("walk").motion, file),
    "embedded.glb": lambda file: ours(synthetic.clip("walk").motion, file),
    "unreal.fbx": for_engine,
    "unity.fbx": for_engine,
    "godot.glb": for_engine,
}
REAL: dict[str, Callable[[Path, Path], Case]] = {
    "cmu.bvh": cmu_walk,
    "cmu.glb": cmu_walk,
    "cmu.fbx": cmu_walk,
    "cmu_rooted.fbx": lambda mocap, file: rooted(
        to_world(cmu_second(mocap), up="y", unit_m=CMU_UNIT_M), file
    ),
    "bandai_rooted.fbx": lambda mocap, file: rooted(
        load(min((mocap / "bandai_bvh").rglob("*.bvh")))[:120], file
    ),
    # Scaled by 0.01 and turned above its hips; turned twice by matrices above them.
    "Soldier.glb": lambda mocap, file: theirs(mocap / "gltf" / file.name, file, 0.0),
    "CesiumMan.glb": lambda mocap, file: theirs(mocap / "gltf" / file.name, file, 1 / 24),
}


def asked(blender: Path, cases: dict[str, Case], folder: Path) -> dict[str, Any]:
    """What Blender reports about all cases, in one run: starting it is most of the time."""
    jobs, out = folder / "jobs.json", folder / "out.json"
    jobs.write_text(json.dumps({name: case.job() for name, case in cases.items()}))
    command = [str(blender), "--background", "--factory-startup", "--python-exit-code", "3"]
    command += ["--python", str(SCRIPT), "--", str(jobs), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    assert out.is_file(), done.stdout + done.stderr
    return dict(json.loads(out.read_text()))


@pytest.fixture(scope="module")
def verdicts(
    blender: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, tuple[Case, Any]]:
    folder = tmp_path_factory.mktemp("blender")
    cases = {name: make(folder / name) for name, make in EMBEDDED.items()}
    try:
        mocap = request.getfixturevalue("mocap")
    except pytest.skip.Exception:
        pass  # the tests of real files are skipped on their own
    else:
        cases |= {name: make(mocap, folder / name) for name, make in REAL.items()}
    measured = asked(blender, cases, folder)
    return {name: (case, measured[name]) for name, case in cases.items()}


def worst_gap_m(case: Case, measured: list[dict[str, list[float]]]) -> float:
    """Largest distance over some frames and every joint, metres."""
    positions, names = case.motion.world_positions(), case.motion.skeleton.names
    gaps = [
        np.linalg.norm(np.array([heads[name] for name in names]) - positions[frame], axis=1).max()
        for frame, heads in zip(case.frames, measured, strict=True)
    ]
    return case.unit_m * float(max(gaps))


@pytest.mark.parametrize("name", EMBEDDED)
def test_blender_finds_the_joints_where_we_do(
    verdicts: dict[str, tuple[Case, Any]], name: str
) -> None:
    assert worst_gap_m(*verdicts[name]) < BLENDER_M


@pytest.mark.parametrize("name", REAL)
def test_blender_finds_the_joints_of_real_clips_where_we_do(
    verdicts: dict[str, tuple[Case, Any]], mocap: Path, name: str
) -> None:
    assert worst_gap_m(*verdicts[name]) < BLENDER_M


def test_blender_moves_the_mesh_of_an_fbx_with_its_bones(
    verdicts: dict[str, tuple[Case, Any]],
) -> None:
    """Each bone's shape begins at its joint, so a point of the mesh must be there."""
    case, measured = verdicts["embedded.fbx"]
    skeleton, positions = case.motion.skeleton, case.motion.world_positions()
    tails = sorted({*skeleton.parents[1:].tolist(), *skeleton.end_parents.tolist()})
    for frame, heads in zip(case.frames, measured, strict=True):
        gaps = np.array(heads["skin"])[:, None] - positions[frame][tails]
        assert np.linalg.norm(gaps, axis=2).min(axis=0).max() < BLENDER_M
