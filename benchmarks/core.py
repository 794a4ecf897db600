"""Loading, saving, forward kinematics, memory and start-up, each beside a peer in the same run.

    python benchmarks/core.py [--quick]

The clip is CMU 56_08 where the folder of real clips is found, else one made up of the same size.
Peers and we take turns, and the best of several rounds counts for each: other work on the machine
only ever makes a round slower.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.formats import bvh
from motionloom.formats.fileclip import FileClip, ReadOptions
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat
from report import Figure, write_report

HERE = Path(__file__).resolve().parent
ROUNDS = 25
BIG_BYTES = 500_000_000
N_FRAMES, N_JOINTS = 4000, 31


def real_clip() -> Path | None:
    said = os.environ.get("MOTIONLOOM_MOCAP")
    folder = Path(said) if said else HERE.parent.parent / "shared" / "mocap"
    path = folder / "cmu_bvh" / "56_08.bvh"
    return path if path.is_file() else None


def made_up_clip(folder: Path) -> Path:
    """A BVH of 4,000 frames and 31 joints, where there are no real clips."""
    rng = np.random.Generator(np.random.PCG64(0))
    parents = np.array([-1, *(rng.integers(max(0, j - 3), j) for j in range(1, N_JOINTS))])
    skeleton = Skeleton(
        tuple(f"joint{j}" for j in range(N_JOINTS)), parents, rng.normal(size=(N_JOINTS, 3))
    )
    turns = rng.normal(0.0, 0.02, (N_FRAMES, N_JOINTS, 3)).cumsum(axis=0)
    root = rng.normal(0.0, 0.01, (N_FRAMES, 3)).cumsum(axis=0)
    path = folder / "made_up.bvh"
    with path.open("wb") as stream:
        bvh.write(FileClip(Motion(skeleton, root, quat.exp(turns), 120.0)), stream)
    return path


def best_of(*jobs: Callable[[], object]) -> list[float]:
    """Seconds of each job, the best of several rounds in which they take turns."""
    times = [[] for _ in jobs]  # type: list[list[float]]
    for _ in range(ROUNDS):
        for job, taken in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job()
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def read(path: Path) -> FileClip:
    with path.open("rb") as stream:
        return bvh.read(stream, ReadOptions(path=path))


def load_and_save(path: Path, folder: Path) -> list[Figure]:
    import pybvh

    clip = read(path)
    n_frames = clip.motion.n_frames
    motion = ml.load(path)
    out = folder / "out.bvh"
    raw, whole, peer, raw_save, whole_save, peer_save = best_of(
        lambda: read(path),
        lambda: ml.load(path),
        lambda: pybvh.read_bvh_file(path),
        lambda: bvh.write(clip, io.BytesIO()),
        lambda: ml.save(motion, out),
        lambda: pybvh.write_bvh_file(pybvh.read_bvh_file(path), folder / "peer.bvh"),
    )
    unit = "frames/s"
    rate = {
        "raw": n_frames / raw,
        "whole": n_frames / whole,
        "peer": n_frames / peer,
        "raw_save": n_frames / raw_save,
        "whole_save": motion.n_frames / whole_save,
        "peer_save": n_frames / max(peer_save - peer, 1e-9),
    }
    return [
        Figure("BVH read", rate["raw"], unit, "pybvh load", rate["peer"], ratio_goal=2.0),
        Figure(
            "ml.load (BVH, with all detection)",
            rate["whole"],
            unit,
            "pybvh load",
            rate["peer"],
            ratio_goal=2.0,
        ),
        Figure("BVH write", rate["raw_save"], unit, "BVH read", rate["raw"], ratio_goal=1.0),
        Figure("ml.save (BVH)", rate["whole_save"], unit, "ml.load", rate["whole"], ratio_goal=1.0),
        Figure("BVH write", rate["raw_save"], unit, "pybvh write", rate["peer_save"]),
    ]


def kinematics(path: Path) -> list[Figure]:
    import pybvh
    from pymotion.ops.skeleton import fk

    clip = pybvh.read_bvh_file(path)
    motion = read(path).motion
    skeleton, root, quats = motion.skeleton, motion.root_positions, motion.local_quats
    jobs: tuple[Callable[[], object], ...] = (
        lambda: ml.forward_kinematics(skeleton, root, quats),
        lambda: pybvh.frames_to_node_positions(clip, clip.root_pos, clip.joint_angles),
        lambda: fk(quats, root, skeleton.offsets, skeleton.parents),
    )
    ours, peer = jobs[0](), np.asarray(jobs[2]()[0])  # type: ignore[index]
    assert np.allclose(ours[0], peer, atol=1e-6), "the peer means something else"  # type: ignore[index]
    own, by_pybvh, by_pymotion = (motion.n_frames / seconds for seconds in best_of(*jobs))
    name, unit = "forward kinematics", "frames/s"
    return [
        Figure(name, own, unit, "pybvh", by_pybvh, ratio_goal=25.0),
        Figure(name, own, unit, "upc-pymotion", by_pymotion, ratio_goal=10.0),
    ]


MEMORY_SCRIPT = """
import pathlib, resource, sys, time
import motionloom as ml
from motionloom.formats import bvh
from motionloom.formats.fileclip import ReadOptions
path, small, how = sys.argv[1:]
def load(name):
    if how == "load":
        return ml.load(name)
    with open(name, "rb") as stream:
        return bvh.read(stream, ReadOptions()).motion
def peak():
    # Of this program alone: getrusage begins with what the one that started it had.
    status = pathlib.Path("/proc/self/status")
    if status.is_file():
        words = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(words.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
load(small)
before = peak()
start = time.perf_counter()
motion = load(path)
seconds = time.perf_counter() - start
after = peak()
arrays = motion.local_quats.nbytes + motion.root_positions.nbytes
if motion.joint_translations is not None:
    arrays += motion.joint_translations.nbytes
print(after - before, arrays, motion.n_frames, seconds)
"""


def memory(path: Path, folder: Path) -> list[Figure]:
    """Peak memory of loading a file of 500 MB, beyond what the interpreter had, over its arrays."""
    big = folder / "big.bvh"
    head, _, rows = path.read_bytes().partition(b"Frame Time")
    first_line, _, rows = rows.partition(b"\n")
    rows = rows.rstrip() + b"\n"
    n_copies = BIG_BYTES // len(rows)
    with big.open("wb") as stream:
        stream.write(head + b"Frame Time" + first_line + b"\n")
        for _ in range(n_copies):
            stream.write(rows)
    figures = []
    for how, name in (("read", "BVH read"), ("load", "ml.load")):
        words = run([sys.executable, "-W", "ignore", "-c", MEMORY_SCRIPT, big, path, how]).split()
        peak, arrays, n_frames, seconds = (float(word) for word in words)
        figures.append(
            Figure(
                f"{name}, 500 MB BVH: peak memory over its arrays",
                peak / arrays,
                "x",
                lower_is_better=True,
                value_goal=2.5,
                note=f"{arrays / 1e6:.0f} MB of arrays, {n_frames:.0f} frames in {seconds:.1f} s",
            )
        )
    big.unlink()
    return figures


def run(command: list[object], **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stderr}")
    return done.stdout


def start_up(folder: Path, *, demo: bool) -> list[Figure]:
    program = [sys.executable, "-m", "motionloom"]
    (seconds,) = best_of(lambda: run([*program, "--help"]))
    figures = [
        Figure("motionloom --help", seconds, "s", lower_is_better=True, value_goal=0.5),
    ]
    if not demo:
        return figures
    cache = str(folder / "cache")
    for name, goal in (("cold", 90.0), ("warm", 30.0)):
        start = time.perf_counter()
        run([*program, "demo", "-o", folder / f"demo_{name}"], NUMBA_CACHE_DIR=cache)
        seconds = time.perf_counter() - start
        figures.append(
            Figure(f"demo, {name} cache", seconds, "s", lower_is_better=True, value_goal=goal)
        )
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the 500 MB file and the demo")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="motionloom_bench_") as name:
        folder = Path(name)
        real = real_clip()
        path = real or made_up_clip(folder)
        figures = [*load_and_save(path, folder), *kinematics(path)]
        if not quick:
            figures += memory(path, folder)
        figures += start_up(folder, demo=not quick)
        clip = "CMU 56_08" if real else f"made up, {N_FRAMES} frames, {N_JOINTS} joints"
        rounds = f"best of {ROUNDS} rounds in turns"
        write_report("core", figures, about={"clip": clip, "rounds": rounds, "quick": quick})
    return 0 if all(figure.met is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
