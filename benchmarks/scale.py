"""Beyond one machine: every figure of engines and large collections, part by part.

    python benchmarks/scale.py [cluster] [collection] [gpu] [model]

Each part runs in processes of its own and writes its figures to ``results``. The collection needs
15 GB of disk and an hour; the GPU's part needs an NVIDIA card, and is left out where there is none.
The model prints what the measured constants predict; see ``studies/reports/scale.md``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PARTS = {
    "cluster": "dask: two workers against one, workers killed, a scheduler lost",
    "collection": "tens of hours ingested, clustered, looked up and asked",
    "gpu": "all recipes on one GPU",
    "model": "time, memory and bytes of larger work, from measured constants",
}


def commands(part: str, folder: Path) -> list[list[str | Path]]:
    """What a part runs, one after the other; ``folder`` is for what passes between them."""
    if part != "gpu":
        return [[f"scale_{part}.py"]]
    return [
        ["transitions_gpu.py", "--export", folder],
        ["gpu_search.py", folder / "terms_50.npz", folder / "terms_200.npz", "--out", folder],
        ["transitions_gpu.py", "--found", folder],
    ]


def missing(part: str) -> str:
    """Why a part cannot run here, or nothing."""
    if part != "gpu":
        return ""
    from motionloom.errors import MotionLoomError
    from motionloom.tables.engines.gpu_module import find_device

    try:
        find_device()
    except MotionLoomError as error:
        return str(error)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"parts must be of {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    # One thread for matrix products: threads of two libraries would wait for each other.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    missed = []
    for part in options.parts or PARTS:
        print(f"\n## {part}: {PARTS[part]}", flush=True)
        if why := missing(part):
            print(f"left out: {why}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for words in commands(part, Path(folder)):
                command = [sys.executable, HERE / words[0], *words[1:]]
                if subprocess.run(command, env=environment, check=False).returncode:
                    missed.append(part)
                    break
    if missed:
        print(f"\nParts with a goal that was not reached: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
