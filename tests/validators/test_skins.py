"""Other programs find the points of skins where our linear blend skinning has them."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

import motionloom as ml
from fuzz.box_man import box_man, box_man_glb
from fuzz.box_man_fbx import box_man_items
from fuzz.fbx_forms import as_binary

pytestmark = [pytest.mark.judge, pytest.mark.slow]

AGREE_M = 1e-4
TIME_LIMIT_S = 300
FRAMES = (0, 13, 29)
HERE = Path(__file__).parent
REAL = ("gltf/Soldier.glb", "gltf/CesiumMan.glb")


@dataclass(frozen=True)
class Case:
    """A file, and where we say that the points of its skin are in each frame."""

    file: Path
    points: list[np.ndarray]
    images: tuple[int, ...]
    """Bytes of each different image."""

    def job(self) -> dict[str, Any]:
        return {"file": str(self.file), "times": [frame / 60.0 for frame in FRAMES]}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> list[Case]:
    """A man of boxes and real characters, walking, as GLB and FBX; for engines, too."""
    folder = tmp_path_factory.mktemp("skins")
    man = box_man()
    paths = [folder / "man.glb", folder / "man_too.fbx"]
    paths[0].write_bytes(box_man_glb(man.with_four_shares()))
    paths[1].write_bytes(as_binary(box_man_items(man.with_four_shares())))
    try:
        mocap = request.getfixturevalue("mocap")
        paths += [mocap / name for name in REAL]
    except pytest.skip.Exception:
        pass
    found = []
    for path in paths:
        character = ml.load_character(path)
        walk = ml.retarget(ml.synthetic.clip("walk").motion[:30], character)
        points = [character.posed(walk, frame) for frame in FRAMES]
        images = {t.data for m in character.materials for t in m.textures.values()}
        for suffix in (".glb", ".fbx"):
            out = folder / f"{path.stem}_walks{suffix}"
            ml.save(walk, out, character=character)
            found.append(Case(out, points, tuple(sorted(map(len, images)))))
        under_root = folder / f"{path.stem}_under_root.fbx"
        ml.save(
            ml.with_root_bone(walk, name="travel"), under_root, character=over_origin(character)
        )
        found.append(Case(under_root, points, tuple(sorted(map(len, images)))))
    return found


def over_origin(character: ml.Character) -> ml.Character:
    """The character at rest with its hips straight over the origin, where Blender connects them."""
    shift = np.array([0.0, 0.93, 0.0]) - character.skeleton.offsets[0]
    meshes = []
    for mesh in character.meshes:
        binds = np.array(mesh.binds)
        binds[..., 3] -= binds[..., :3] @ shift
        meshes.append(dataclasses.replace(mesh, points=mesh.points + shift, binds=binds))
    return dataclasses.replace(character, meshes=tuple(meshes))


def asked(command: list[str], cases: list[Case], folder: Path) -> dict[str, Any]:
    """What another program answers about all cases, in one process."""
    jobs, out = folder / "jobs.json", folder / "out.json"
    jobs.write_text(json.dumps({case.file.name: case.job() for case in cases}))
    done = subprocess.run(
        [*command, str(jobs), str(out)], capture_output=True, text=True, timeout=TIME_LIMIT_S
    )
    assert out.is_file(), done.stdout + done.stderr
    return dict(json.loads(out.read_text()))


def farthest_m(ours: np.ndarray, theirs: np.ndarray) -> float:
    """How far a point of one set is from the nearest of the other: corners may be split."""
    pairs = ((ours, theirs), (theirs, ours))
    return max(float(cKDTree(one).query(other)[0].max()) for one, other in pairs)


def worst_gap_m(case: Case, frames: list[Any], unit_m: float) -> float:
    theirs = [unit_m * np.array(frame, dtype=float) for frame in frames]
    return max(farthest_m(a, b) for a, b in zip(case.points, theirs, strict=True))


def test_ufbx_carries_points_as_we_do(cases: list[Case], ufbx: Path, tmp_path: Path) -> None:
    ours = [case for case in cases if case.file.suffix == ".fbx"]
    answers = asked([str(ufbx), str(HERE / "ufbx_skin.py")], ours, tmp_path)
    gaps = {}
    for case in ours:
        frames = [np.concatenate(list(frame.values())) for frame in answers[case.file.name]]
        gaps[case.file.name] = worst_gap_m(case, frames, 0.01)
    assert max(gaps.values()) < AGREE_M, gaps


def test_three_carries_points_as_we_do_and_gets_every_image(
    cases: list[Case], node: Path, three: Path, tmp_path: Path
) -> None:
    answers = asked([str(node), str(HERE / "three_skin.mjs"), str(three)], cases, tmp_path)
    gaps = {
        case.file.name: worst_gap_m(
            case,
            answers[case.file.name]["frames"],
            0.01 if case.file.suffix == ".fbx" else 1.0,
        )
        for case in cases
    }
    assert max(gaps.values()) < AGREE_M, gaps
    for case in cases:
        assert set(answers[case.file.name]["images"]) == set(case.images), case.file.name


def test_blender_carries_points_as_we_do_and_shows_every_image(
    cases: list[Case], blender: Path, tmp_path: Path
) -> None:
    script = str(HERE / "blender_skin.py")
    options = ["--background", "--factory-startup", "--python", script, "--"]
    answers = asked([str(blender), *options], cases, tmp_path)
    gaps = {
        case.file.name: worst_gap_m(case, answers[case.file.name]["frames"], 1.0) for case in cases
    }
    assert max(gaps.values()) < AGREE_M, gaps
    for case in cases:
        sizes = answers[case.file.name]["images"]
        assert len(sizes) >= len(case.images) and all(min(size) > 0 for size in sizes.values())


def test_autodesk_reads_the_skin_and_the_images(
    cases: list[Case], fbx2gltf: Path, tmp_path: Path
) -> None:
    """FBX2glTF reads with the SDK of Maya, Unity and Unreal; bind poses and shares come back."""
    program = tmp_path / "FBX2glTF"
    program.write_bytes(fbx2gltf.read_bytes())
    program.chmod(0o755)
    for case in cases:
        if case.file.suffix != ".fbx":
            continue
        out = tmp_path / f"{case.file.stem}.glb"
        command = [str(program), "-b", "-i", str(case.file), "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S)
        assert out.is_file(), done.stdout + done.stderr
        back = ml.load_character(out)
        motion = ml.load(out, keep_t_pose=True)
        gap = farthest_m(back.posed(motion, 0), case.points[0])
        assert gap < AGREE_M, (case.file.name, gap)
        images = {len(t.data) for m in back.materials for t in m.textures.values()}
        assert images and images <= set(case.images), case.file.name


def test_the_gltf_validator_finds_no_fault(
    cases: list[Case], node: Path, gltf_validator: Path
) -> None:
    for case in cases:
        if case.file.suffix != ".glb":
            continue
        command = [str(node), str(HERE / "validate_gltf.js"), str(gltf_validator), str(case.file)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=True
        )
        codes = {issue["code"] for issue in json.loads(done.stdout)["messages"]}
        # Maps of normals without tangents, and texture coordinates without texture, as they came.
        assert codes <= {"MESH_PRIMITIVE_GENERATED_TANGENT_SPACE", "UNUSED_OBJECT"}, case.file.name
