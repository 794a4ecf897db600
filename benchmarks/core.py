"""Speed of the core and what stands on it, memory and start-up, with peers in the same run.

    python benchmarks/core.py [--quick] [--old PATH] [--only WORD] [--processor]

``--old`` names another motionloom, as a source tree or an environment: it is timed in turns with
this one. Clips are CMU's where the folder of real clips is found, else made up of the same size.
Everybody takes turns, each in a warm process, and the best of several rounds counts: other work on
the machine only ever makes a round slower. Where it never rests, ``--processor`` takes each
process's own time, spread over its threads.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from core_jobs import FEW, GRID_FRAMES, clip_path, file_clip, mocap
from core_turns import Row, figures_of, new_worker, old_worker
from report import Figure, table, write_report

ROUNDS = 25
BIG_BYTES = 500_000_000


def rows(n_frames: int, n_long: int, n_short: int, n_blended: int) -> list[Row]:
    """Every row of the README's table of speed, and the kernels behind it."""
    frames_s = {"unit": "frames/s", "scale": float(n_frames), "rate": True}
    us: dict = {"unit": "us", "scale": 1e6}
    ms: dict = {"unit": "ms", "scale": 1e3}
    grid = f"{GRID_FRAMES} x {GRID_FRAMES}"
    bodies = (
        ("pybvh kinematics", "pybvh", 25.0),
        ("upc-pymotion kinematics", "upc-pymotion", 10.0),
    )
    return [
        Row("read", "BVH read", **frames_s, peers=(("pybvh load", "pybvh", 3.0),)),
        Row("load", "ml.load (BVH, with all detection)", **frames_s,
            peers=(("pybvh load", "pybvh", 2.0),)),
        Row("write", "BVH write", **frames_s, peers=(("pybvh write", "pybvh", 3.0),)),
        Row("forward kinematics", "forward kinematics", **frames_s, goal=2e6, peers=bodies,
            rounds=2 * ROUNDS),
        Row("quaternion products", f"quaternion products, {n_frames} frames", **us),
        Row("vectors turned", f"vectors turned, {n_frames} frames", **us),
        Row("turns of joints", f"turns of joints, {n_frames} frames", **us),
        Row("limbs solved", "limbs solved, 4000", **us),
        Row("one kernel", "call of one kernel", **us, goal=3.0, only_new=True),
        Row("one product", "call of quat.multiply, one product", **us),
        Row("grid", f"distance grid {grid}", **ms, peers=(("numpy grid", "plain numpy", 8.0),)),
        Row("path", f"time warp {grid}", **ms),
        Row("plants", "foot plants found, per frame", "us", 1e6 / n_long),
        Row("registration", f"two clips of {GRID_FRAMES} frames registered", **ms),
        Row("blend", "blend of 4 clips, per pose", "us", 1e6 / n_blended),
        Row("control step", "step of a live blend of 4 clips", **us),
        Row("group", f"where 4 clips stand at {GRID_FRAMES} parameters", **us),
        Row("splice", "splice of 110 frames", **ms),
        Row("transition of two clips", "transition of two clips, place found", **ms, rounds=8),
        Row("clean-up, long", f"clean-up per frame, {n_long} frames", "ms", 1e3 / n_long,
            goal=0.015, rounds=12),
        Row("clean-up, short", f"clean-up per frame, {n_short} frames", "ms", 1e3 / n_short,
            goal=0.015),
        Row("verify", f"a clip of {n_short} frames verified", **ms),
        Row("table transition", "table transition, 32 recipes re-scored", **ms, goal=0.6,
            peers=(("inertialized", "inertialization, no feet", None),)),
        Row("table transition, not re-scored", "table transition, not re-scored", **ms),
        Row("table transition to a label", "table transition to a label", **ms, rounds=10),
        Row("table transition, refined", "table transition, recipe refined", **ms, rounds=5),
        Row("stream step", f"step of a live character, {FEW} with a transition", **us),
        Row("terms of a window", "terms of a window", **us),
        Row("recipes scored", "recipes scored", "recipes/s", 4000.0, rate=True),
        Row("clusters", "50 clusters found", "s", rounds=2),
        Row("search", "6.4 million recipes searched, 2 threads", "s", goal=15.0, rounds=2),
    ]  # fmt: skip


def sizes() -> tuple[int, int, int, int]:
    """Frames of the clips that are timed, as ``core_jobs.py`` makes them."""
    import motionloom as ml
    from core_jobs import curve, loaded

    n_frames = file_clip().motion.n_frames
    if mocap() is None:
        n_long, n_short = 4000, 471
    else:
        n_long, n_short = (loaded(name).n_frames for name in ("56_08", "16_15"))
    return n_frames, n_long, n_short, len(ml.blend(curve(), [0.4, 0.3, 0.2, 0.1]).u)


def speed(arguments: list[str], old: Path | None, only: str, *, quick: bool) -> list[Figure]:
    new, before = new_worker(arguments), None if old is None else old_worker(old, arguments)
    chosen = [row for row in rows(*sizes()) if only in row.name]
    if quick:
        chosen = [row for row in chosen if row.job not in ("search", "clusters")]
    figures: list[Figure] = []
    for row in chosen:
        figures += figures_of(row, new, before)
        print(table(figures[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    for worker in (new, before):
        if worker is not None:
            worker.close()
    return figures


MEMORY_SCRIPT = """
import pathlib, resource, sys, time
import motionloom as ml
from motionloom.formats.bvh import bvh
from motionloom.formats.file_clip import ReadOptions
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


def start_up(folder: Path, *, demo: bool, own: bool) -> list[Figure]:
    program = [sys.executable, "-m", "motionloom"]
    figures = []
    jobs = {"motionloom --help": ([*program, "--help"], 0.5, 10)}
    if demo:
        jobs["motionloom demo"] = ([*program, "demo", "-o", folder / "demo"], 15.0, 1)
    for name, (command, goal, rounds) in jobs.items():
        taken = []
        for _ in range(rounds):
            start = _clock(own)
            run(command)
            taken.append(_clock(own) - start)
        figures.append(Figure(name, min(taken), "s", lower_is_better=True, value_goal=goal))
    return figures


def _clock(own: bool) -> float:
    """Seconds: those that programs which were started took of processors, or on the wall."""
    times = os.times()
    return times.children_user + times.children_system if own else time.perf_counter()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="without the search, the 500 MB file and the demo"
    )
    parser.add_argument("--old", type=Path, help="another motionloom to take turns with")
    parser.add_argument("--only", default="", help="only speeds whose name has this in it")
    parser.add_argument("--processor", action="store_true", help="own time, not the clock's")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="motionloom_bench_") as name:
        folder = Path(name)
        sys.argv[1:] = [name]  # where jobs write
        arguments = [name, "processor"] if options.processor else [name]
        figures = speed(arguments, options.old, options.only, quick=options.quick)
        if options.only:
            print(table(figures))
            return 0
        if not options.quick:
            figures += memory(clip_path(), folder)
        figures += start_up(folder, demo=not options.quick, own=options.processor)
        about: dict[str, object] = {
            "clips": "CMU" if mocap() else "made up",
            "rounds": "in turns; of each call the best, of a job's calls the median",
            "clock": "each process's own time" if options.processor else "the clock on the wall",
            "quick": options.quick,
        }
        if options.old is not None:
            about["before"] = "the motionloom that --old names, in turns with this one"
        write_report("core", figures, about=about)
    return 0 if all(figure.met is not False for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
