"""The Khronos glTF validator reports nothing about what we write."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.gltf import glb
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

pytestmark = pytest.mark.judge

TIME_LIMIT_S = 60
SCRIPT = Path(__file__).with_name("validate_gltf.js")


def issues(node: Path, validator: Path, clip: FileClip, file: Path) -> dict[str, object]:
    with file.open("wb") as stream:
        glb.write(clip, stream)
    done = subprocess.run(
        [str(node), str(SCRIPT), str(validator), str(file)],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=True,
    )
    return dict(json.loads(done.stdout))


def chain(n_joints: int, n_frames: int, *, sliding: bool = False, far: float = 0.0) -> Motion:
    rng = np.random.Generator(np.random.PCG64(2))
    offsets = rng.uniform(-0.3, 0.3, (n_joints, 3))
    skeleton = Skeleton(
        tuple(f"joint {j}" for j in range(n_joints)),
        np.arange(n_joints) - 1,
        offsets,
        rest_quats=quat.exp(rng.normal(0.0, 1.0, (n_joints, 3))),
        end_parents=np.array([n_joints - 1]),
        end_offsets=np.array([[0.0, 0.1, 0.0]]),
    )
    t = np.linspace(0.0, 3.0, n_frames)[:, None, None]
    turns = np.sin(t + np.arange(n_joints)[:, None]) * rng.normal(0.0, 1.0, (n_joints, 3))
    slide = offsets + 0.1 * np.cos(t) if sliding else None
    return Motion(skeleton, far + t[:, 0] * np.ones(3), quat.exp(turns), 59.94, slide)


@pytest.mark.parametrize(
    "motion",
    [
        pytest.param(chain(6, 40), id="chain"),
        pytest.param(chain(6, 40, sliding=True), id="sliding"),
        pytest.param(chain(5, 1), id="one frame"),
        pytest.param(chain(1, 10), id="one joint"),
        pytest.param(chain(300, 3), id="300 joints"),
        pytest.param(chain(4, 9, far=4000.0), id="far away"),
    ],
)
def test_our_files_have_no_issues_at_all(
    node: Path, gltf_validator: Path, tmp_path: Path, motion: Motion
) -> None:
    report = issues(node, gltf_validator, FileClip(motion, unit_m=1.0, up="y"), tmp_path / "a.glb")
    assert (report["numErrors"], report["numWarnings"]) == (0, 0), report["messages"]
    assert report["messages"] == []


@pytest.mark.parametrize("name", ["Soldier", "CesiumMan"])
def test_real_files_written_again_have_no_issues(
    node: Path, gltf_validator: Path, tmp_path: Path, mocap: Path, name: str
) -> None:
    path = mocap / "gltf" / f"{name}.glb"
    with path.open("rb") as stream:
        clip = glb.read(stream, ReadOptions(path=path))
    report = issues(node, gltf_validator, clip, tmp_path / "a.glb")
    assert (report["numErrors"], report["numWarnings"]) == (0, 0), report["messages"]
