"""Quality of transition tables: the experiments, part by part, each in a separate process.

    ./study transitions [inbetween] [join] [natural] [masses]

Windows, pairs, candidates, seeds and takes stand in ``protocols/transitions_*.json``; each part
writes ``results/transitions_<part>.json``.
"""

from __future__ import annotations

import os
import subprocess
import sys

from studies.parts import asked_parts

PARTS = {
    "inbetween": "seconds cut out of captured clips, made again",
    "join": "captured windows of a table, pinned, against baselines pinned in the same way",
    "natural": "naturalness against captured truth",
    "masses": "masses fitted to the balance of one subject",
}


def main() -> int:
    parts = asked_parts(__doc__.splitlines()[0], PARTS)
    # One thread for matrix products: threads of two libraries would wait for each other.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    missed = []
    for part in parts:
        print(f"\n## {part}: {PARTS[part]}", flush=True)
        command = [sys.executable, "-m", f"studies.tables.transitions_{part}"]
        if subprocess.run(command, env=environment, check=False).returncode:
            missed.append(part)
    if missed:
        print(f"\nParts with a goal that was not reached: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
