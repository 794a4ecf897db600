"""What the run time costs a game: opening a file, a transition, a frame of a live character.

    python benchmarks/runtime.py [--table FILE.mlt] [--rounds N]

CMU subject 143, 42 takes at 60 Hz. Without a table file one of 24 medoids is built in memory. The
library is the amalgamation, compiled as docs/runtime.md has it. Times are of one processor, the
best of several rounds; the peer is the same table asked from Python.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.tables.query import transition
from motionloom.tables.runtime_file import save_runtime
from motionloom.tables.runtime_table import RuntimeTable
from report import Figure, write_report
from studies.captured_clips import mocap
from transitions_runtime import table_143

HERE = Path(__file__).resolve().parent
PAIRS = 100
FRAME_US = 1e6 / 60.0
FLAGS = ("-std=c11", "-O3", "-ffp-contract=off")
FILE_MB = 12.0
"""Promised for this table."""
NAMES = {
    "open": "open a file",
    "transition": "transition",
    "step": "frame of a character",
    "order": "frame in which it follows an order",
    "change_of_mind": "the same in the middle of a transition",
    "play": "frame, with an order every half second",
}


def compiled(folder: Path) -> Path:
    """The program that is timed."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise SystemExit("This benchmark needs a C compiler.")
    subprocess.run([sys.executable, HERE.parent / "scripts" / "amalgamate.py", folder], check=True)
    sources = [folder / "motionloom.c", HERE / "runtime_speed.c"]
    program = folder / "speed"
    command = [compiler, *FLAGS, f"-I{folder}", *sources, "-lm", "-o", program]
    subprocess.run(command, check=True)
    return program


def timed(program: Path, file: Path) -> dict[str, tuple[float, float]]:
    """Means and 99th percentiles of one round."""
    done = subprocess.run([program, file], check=True, capture_output=True, text=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {name: (float(mean), float(most)) for name, mean, most in lines}


def asked_from_python(table: RuntimeTable) -> float:
    """Mean microseconds of the processor of a transition."""
    rng = np.random.Generator(np.random.PCG64(0))
    place = table.frames.place_of
    rows = rng.choice(table.frames.windows(table.length), (PAIRS, 2))
    pairs = [(place(int(a)), place(int(b) + table.length - 1)) for a, b in rows]
    start = time.process_time()
    for src, dst in pairs:
        transition(table, src, dst)
    return 1e6 * (time.process_time() - start) / PAIRS


def main() -> None:
    """Time the library and Python in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    given = options.table
    table: RuntimeTable = ml.TransitionTable.open(given) if given else table_143(mocap())
    asked_from_python(table)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, file = compiled(folder), folder / "lib.mlr"
        size = save_runtime(table, file)
        rounds, peers = [], []
        for _ in range(options.rounds):
            rounds.append(timed(program, file))
            peers.append(asked_from_python(table))
    best = {key: tuple(min(each[key][k] for each in rounds) for k in (0, 1)) for key in rounds[0]}
    figures = [Figure("file", size / 1e6, "MB", lower_is_better=True, value_goal=FILE_MB)]
    for key, what in (("table_bytes", "memory of a table"), ("character_bytes", "of a character")):
        figures.append(Figure(what, best[key][0] / 1e6, "MB", lower_is_better=True))
    for key, what in NAMES.items():
        mean, most = best[key]
        note = "" if key == "open" else f"1 of 100 takes {most / 1e3:.3g} ms or more"
        if key == "play":
            note += f"; {FRAME_US / mean:.0f} characters a processor at 60 Hz"
        peer = ("transition from Python", min(peers) / 1e3) if key == "transition" else ("", None)
        figures.append(
            Figure(what, mean / 1e3, "ms", *peer, lower_is_better=True, note=note)
        )  # fmt: skip
    frames = table.frames
    about = {
        "clips": len(frames.ids),
        "frames": int(frames.starts[-1]),
        "joints": frames.skeleton.n_joints,
        "frames of a transition": table.length,
        "flags": " ".join(FLAGS),
    }
    write_report("runtime", figures, about=about)


if __name__ == "__main__":
    main()
