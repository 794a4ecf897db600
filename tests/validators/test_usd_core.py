"""usd-core finds no fault with what we write, and sees every joint where it is."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom.formats.usd import usd_flatten
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

pytestmark = pytest.mark.judge

SCRIPT = Path(__file__).with_name("usd_joints.py")
TIME_LIMIT_S = 60

TO_BINARY = "from pxr import Sdf; import sys; Sdf.Layer.FindOrOpen(sys.argv[1]).Export(sys.argv[2])"


def seen(python: Path, file: Path) -> dict[str, Any]:
    done = subprocess.run(
        [str(python), "-I", str(SCRIPT), str(file)],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=True,
    )
    return dict(json.loads(done.stdout))


def odd_motion(*, sliding: bool = False, far: float = 0.0) -> Motion:
    rng = np.random.Generator(np.random.PCG64(2))
    offsets = rng.uniform(-0.3, 0.3, (6, 3))
    skeleton = Skeleton(
        ("a", "b.c", "2nd", "Ärmel", "a b", "a_b"),
        np.array([-1, 0, 1, 1, 3, 0]),
        offsets,
        rest_quats=quat.exp(rng.normal(0.0, 1.0, (6, 3))),
        end_parents=np.array([5, 5]),
        end_offsets=np.array([[0.0, 0.1, 0.0], [0.1, 0.0, 0.0]]),
    )
    t = np.linspace(0.0, 3.0, 12)[:, None, None]
    turns = np.sin(t + np.arange(6)[:, None]) * rng.normal(0.0, 1.0, (6, 3))
    slide = offsets + 0.1 * np.cos(t) if sliding else None
    return Motion(skeleton, far + t[:, 0] * np.ones(3), quat.exp(turns), 59.94, slide)


@pytest.mark.parametrize(
    ("motion", "options"),
    [
        (odd_motion(), {}),
        (odd_motion(sliding=True), {}),
        (odd_motion(far=5000.0), {}),
        (odd_motion(), {"unit": "cm", "up": "z"}),
    ],
    ids=["plain", "sliding", "far", "cm, Z up"],
)
def test_usd_core_agrees(motion, options, tmp_path, usd_core) -> None:
    ml.save(motion, tmp_path / "clip.usda", **options)
    report = seen(usd_core, tmp_path / "clip.usda")
    assert report["faults"] == []
    assert report["rate"] == motion.fps
    assert (report["unit_m"], report["up"]) == ((0.01, "Z") if options else (1.0, "Y"))
    places = np.array(report["positions"]) * report["unit_m"]
    if options:
        places = places[..., [0, 2, 1]] * [1.0, 1.0, -1.0]
    wanted = np.concatenate([motion.world_positions(), motion.end_positions()], axis=1)
    assert np.abs(places - wanted).max() < 2e-6
    assert report["names"][:6] == list(motion.skeleton.names)


@pytest.mark.slow
def test_binary_usd_is_read(tmp_path, usd_core, monkeypatch) -> None:
    motion = odd_motion(sliding=True)
    ml.save(motion, tmp_path / "clip.usda")
    for suffix in (".usdc", ".usd"):
        file = tmp_path / f"clip{suffix}"
        subprocess.run(
            [str(usd_core), "-c", TO_BINARY, str(tmp_path / "clip.usda"), str(file)], check=True
        )
        assert file.read_bytes().startswith(b"PXR-USDC")
        monkeypatch.setattr(usd_flatten.sys, "executable", str(usd_core))
        back = ml.load(file)
        assert back.skeleton.names == motion.skeleton.names
        assert np.abs(back.world_positions() - motion.world_positions()).max() < 2e-6
        rng = np.random.Generator(np.random.PCG64(1))
        n_spoiled = 3 if suffix == ".usdc" else 0
        for _ in range(n_spoiled):  # a file that ends its reader must not end us
            spoiled = bytearray(file.read_bytes())
            for at in rng.integers(8, len(spoiled), 12):
                spoiled[at] = int(rng.integers(256))
            (tmp_path / f"spoiled{suffix}").write_bytes(bytes(spoiled))
            with contextlib.suppress(ml.FormatError):
                ml.load(tmp_path / f"spoiled{suffix}")
        broken = tmp_path / f"broken{suffix}"
        broken.write_bytes(file.read_bytes()[:600])
        with pytest.raises(ml.FormatError):
            ml.load(broken)


@pytest.mark.slow
def test_a_long_clip_of_binary_usd_fits_the_memory(tmp_path, usd_core, monkeypatch) -> None:
    """20,000 frames; the process of usd-core has a limit of memory."""
    walk = ml.synthetic.clip("walk").motion
    rows = np.arange(20_000) % walk.n_frames
    long = walk.replace(
        root_positions=walk.root_positions[rows], local_quats=walk.local_quats[rows]
    )
    ml.save(long, tmp_path / "long.usda")
    files = [str(tmp_path / f"long{suffix}") for suffix in (".usda", ".usdc")]
    subprocess.run([str(usd_core), "-c", TO_BINARY, *files], check=True)
    monkeypatch.setattr(usd_flatten.sys, "executable", str(usd_core))
    back = ml.load(tmp_path / "long.usdc")
    assert back.n_frames == long.n_frames
    assert np.abs(back.root_positions - long.root_positions).max() < 2e-6
