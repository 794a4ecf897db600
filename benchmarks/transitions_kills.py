"""A build of a table killed at random moments and resumed: the same bytes as an undisturbed one.

    python benchmarks/transitions_kills.py [--kills 20] [--clusters 24] [--jobs 2]

CMU subject 143 at 60 Hz, or embedded clips where there are no real ones. Each kill is a SIGKILL of
the whole group of processes after a random share of the time that an undisturbed build takes; where
a build ends before twenty kills are made, the next one starts from nothing. Every other build runs
in one process instead of several.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import motionloom as ml
from report import Figure, write_report
from studies.captured_clips import mocap

BUILD = """
import sys
import motionloom as ml
if __name__ == "__main__":
    lib = ml.Collection.open(sys.argv[1])
    ml.build_table(lib, out=sys.argv[2], clusters=int(sys.argv[3]), lookup=2 * int(sys.argv[3]),
                   jobs=int(sys.argv[4]), score="paper", progress=False)
"""


def ingested(home: Path) -> ml.Collection:
    """Clips of subject 143, or embedded ones, as a collection."""
    folder = home / "clips"
    folder.mkdir()
    real = mocap()
    if real is not None:
        for file in (real / "cmu_bvh").glob("143_*.bvh"):
            (folder / file.name).symlink_to(file)
        return ml.Collection.ingest(folder, source_fps={"143_*": 60.0})
    for kind in ml.synthetic.kinds():
        ml.save(ml.synthetic.clip(kind, duration_s=4.0).motion, folder / f"{kind}.bvh")
    return ml.Collection.ingest(folder)


def run(kills: int = 20, clusters: int = 24, jobs: int = 2, seed: int = 0) -> list[Figure]:
    rng = np.random.Generator(np.random.PCG64(seed))
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        home = Path(temporary)
        script = home / "build.py"
        script.write_text(BUILD)
        lib = ingested(home)

        def start(out: Path, n_jobs: int) -> subprocess.Popen[bytes]:
            words = [sys.executable, script, lib.path, out, str(clusters), str(n_jobs)]
            return subprocess.Popen(words, start_new_session=True)

        began = time.perf_counter()
        whole = home / "whole.mlt"
        if start(whole, jobs).wait() != 0:
            raise SystemExit("the undisturbed build failed")
        taken = time.perf_counter() - began
        made, same, builds, shares = 0, 0, 0, []
        while made < kills:
            out = home / f"killed{builds}.mlt"
            builds += 1
            n_jobs = 1 + (builds % 2) * (jobs - 1)
            while not out.exists():
                process = start(out, n_jobs)
                share = float(rng.uniform(0.05, 0.9)) if made < kills else np.inf
                try:
                    process.wait(None if share == np.inf else share * taken)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    made += 1
                    shares.append(round(share, 2))
            same += out.read_bytes() == whole.read_bytes()
            left = Path(f"{out}.part").exists()
            if left:
                raise SystemExit("parts were left behind")
            out.unlink()
        shutil.rmtree(lib.path)
    note = f"undisturbed {taken:.0f} s; killed after shares {shares} of it"
    name = f"builds with the bytes of an undisturbed one, of {builds} killed {made} times"
    return [Figure(name, same / builds, "", value_goal=1.0, note=note)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--clusters", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    figures = run(options.kills, options.clusters, options.jobs)
    write_report("transitions_kills", figures, about=vars(options))
