"""Blender reads what we write, and finds every joint where we say it is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from motionloom.formats import bvh, glb
from motionloom.formats.fileclip import FileClip, ReadOptions
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

pytestmark = [pytest.mark.judge, pytest.mark.slow]

BLENDER_M = 1e-4
"""Blender computes in float32."""
CMU_UNIT_M = 0.0254 / 0.45
TIME_LIMIT_S = 240
SCRIPT = Path(__file__).with_name("blender_positions.py")


def lopsided(*, sliding: bool = False) -> Motion:
    """An asymmetric rig with odd rest rotations, as smooth and random as a test needs."""
    rng = np.random.Generator(np.random.PCG64(11))
    names = ("hips", "spine", "head", "left_arm", "left_hand", "right_leg", "right_foot")
    offsets = rng.uniform(-0.5, 0.5, (7, 3))
    skeleton = Skeleton(
        names,
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


def cmu_walk(mocap: Path) -> FileClip:
    """A second of a real walk, in CMU's own unit."""
    path = mocap / "cmu_bvh" / "16_15.bvh"
    with path.open("rb") as stream:
        clip = bvh.read(stream, ReadOptions(path=path))
    return FileClip(clip.motion[100:220], unit_m=CMU_UNIT_M, up="y")


def positions_in_blender(
    blender: Path, file: Path, motion: Motion, frames: list[int], start_s: float
) -> list[dict[str, list[float]]]:
    out = file.with_suffix(".json")
    command = [str(blender), "--background", "--factory-startup", "--python-exit-code", "3"]
    command += ["--python", str(SCRIPT), "--", str(file), str(out), str(motion.fps), str(start_s)]
    done = subprocess.run(
        [*command, *map(str, frames)], capture_output=True, text=True, timeout=TIME_LIMIT_S
    )
    assert out.is_file(), done.stdout + done.stderr
    return list(json.loads(out.read_text())["positions"])


def worst_gap(
    blender: Path, file: Path, motion: Motion, *, unit_m: float = 1.0, start_s: float = 0.0
) -> tuple[float, int]:
    """Largest distance over some frames and all joints, metres, and how many joints were met."""
    frames = [0, motion.n_frames // 3, motion.n_frames // 2, motion.n_frames - 1]
    ours = motion.world_positions()
    gap, met = 0.0, 0
    for frame, heads in zip(
        frames, positions_in_blender(blender, file, motion, frames, start_s), strict=True
    ):
        for j, name in enumerate(motion.skeleton.names):
            theirs = np.array(heads[name])
            gap = max(gap, unit_m * float(np.linalg.norm(theirs - ours[frame, j])))
            met += 1
    return gap, met


@pytest.mark.parametrize("sliding", [False, True])
@pytest.mark.parametrize("suffix", ["bvh", "glb"])
def test_blender_puts_the_joints_of_a_lopsided_rig_where_we_do(
    blender: Path, tmp_path: Path, suffix: str, sliding: bool
) -> None:
    motion, file = lopsided(sliding=sliding), tmp_path / f"rig.{suffix}"
    write = bvh.write if suffix == "bvh" else glb.write
    with file.open("wb") as stream:
        write(FileClip(motion, unit_m=1.0, up="y"), stream)
    gap, met = worst_gap(blender, file, motion)
    assert met == 4 * motion.skeleton.n_joints
    assert gap < BLENDER_M


def test_blender_puts_the_joints_of_a_real_walk_where_we_do_from_bvh(
    blender: Path, tmp_path: Path, mocap: Path
) -> None:
    clip, file = cmu_walk(mocap), tmp_path / "walk.bvh"
    with file.open("wb") as stream:
        bvh.write(clip, stream)
    gap, _ = worst_gap(blender, file, clip.motion, unit_m=CMU_UNIT_M)
    assert gap < BLENDER_M


def test_blender_puts_the_joints_of_a_real_walk_where_we_do_from_glb(
    blender: Path, tmp_path: Path, mocap: Path
) -> None:
    file = tmp_path / "walk.glb"
    with file.open("wb") as stream:
        glb.write(cmu_walk(mocap), stream)
    with file.open("rb") as stream:
        motion = glb.read(stream, ReadOptions(path=file)).motion
    gap, _ = worst_gap(blender, file, motion)
    assert gap < BLENDER_M


@pytest.mark.parametrize(("name", "start_s"), [("Soldier", 0.0), ("CesiumMan", 1 / 24)])
def test_blender_reads_the_files_of_others_as_we_do(
    blender: Path, tmp_path: Path, mocap: Path, name: str, start_s: float
) -> None:
    """Soldier is scaled by 0.01 and turned above its hips, CesiumMan turned twice by matrices."""
    path = mocap / "gltf" / f"{name}.glb"
    with path.open("rb") as stream:
        motion = glb.read(stream, ReadOptions(path=path)).motion
    file = tmp_path / path.name
    file.symlink_to(path)
    gap, met = worst_gap(blender, file, motion, start_s=start_s)
    assert met == 4 * motion.skeleton.n_joints
    assert gap < BLENDER_M
