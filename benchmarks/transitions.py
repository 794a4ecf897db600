"""Speed and memory of transition tables, part by part, each in a separate process.

    ./bench transitions [collection] [search] [kills] [runtime]

Windows, pairs and seeds stand in ``studies/protocols/transitions_*.json``; each part
writes ``results/transitions_<part>.json`` and can be run alone as ``transitions_<part>.py``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

PARTS = {
    "collection": "ingest, opening, sizes",
    "search": "all recipes between representatives",
    "kills": "builds that are killed and go on",
    "runtime": "what a transition costs; seams, feet and pace of a thousand",
}


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
        script = Path(__file__).with_name(f"transitions_{part}.py")
        if subprocess.run([sys.executable, script], env=environment, check=False).returncode:
            missed.append(part)
    if missed:
        print(f"\nParts with a goal that was not reached: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
