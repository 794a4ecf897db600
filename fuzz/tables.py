"""Crafted tables, collections and curves: each must work, or be refused by a typed error.

    python fuzz/tables.py --kind table --count 5000 --seed 0 --jobs 1

Files have valid checksums and wrong content: every array of every section and every header field is
changed. Case ``n`` of a kind and a seed is always the same file; ``--only n`` runs it again. A case
fails by any other exception, a signal, more than 1 GB, or more than 20 s of processor time.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

KINDS = ("table", "collection", "curve")
SECONDS = 20.0
"""Processor time of one case."""
WALL_SECONDS = 120.0
"""Wall time after which a process is taken to hang inside a kernel, and ends itself."""
MEMORY = 1 << 30
"""Bytes of address space above what the process has after the good files were used."""
CASES_AT_ONCE = 500


class OutOfTimeError(BaseException):
    """Not an Exception, so that no code that is tested catches it."""


def out_of_time(*_: Any) -> None:
    raise OutOfTimeError(f"more than {SECONDS:g} s")


def run_batch(kind: str, seed: int, numbers: range, folder: Path) -> None:
    """Run cases in this process; a line of JSON before and after each."""
    import numpy as np

    from motionloom.findings import MotionLoomWarning
    from table_cases import open_base
    from table_uses import run_case, use_collection, use_curve, use_table

    faulthandler.enable()
    signal.signal(signal.SIGPROF, out_of_time)

    def draw(number: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64([seed, KINDS.index(kind), number]))

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as own:
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", MotionLoomWarning)
        good = Path(own) / "good"
        shutil.copytree(folder, good)
        base = open_base(good)  # its own, for cases are written next to the good files
        opened = {
            "table": lambda: use_table(good / "clips.mlt", base, draw(0)),
            "collection": lambda: use_collection(good / "clips.mlc", base, draw(0)),
            "curve": lambda: use_curve(good / "curve.mlr", good),
        }[kind]()
        if not opened:
            raise SystemExit(f"The good {kind} cannot be opened.")
        limit_memory()
        for number in numbers:
            print(json.dumps({"begins": number}), flush=True)
            place = Path(own) / f"{number}"
            place.mkdir()
            outcome: dict[str, Any] = {"number": number, "failure": ""}
            began = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            faulthandler.dump_traceback_later(WALL_SECONDS, exit=True)
            try:
                outcome["opened"] = run_case(kind, draw(number), base, place)
            except (Exception, OutOfTimeError) as error:
                lines = traceback.format_exc().splitlines()[-14:]
                outcome["failure"] = f"{type(error).__name__}: {error}\n    " + "\n    ".join(lines)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                faulthandler.cancel_dump_traceback_later()
            outcome["seconds"] = time.process_time() - began
            shutil.rmtree(place, ignore_errors=True)
            print(json.dumps(outcome), flush=True)


def limit_memory() -> None:
    with Path("/proc/self/statm").open() as stream:
        now = int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))


def run_all(kind: str, seed: int, numbers: range, base: Path) -> list[dict[str, Any]]:
    """Outcomes of all cases; a process that dies costs one case, and the next goes on after it."""
    outcomes: list[dict[str, Any]] = []
    first = numbers.start
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    while first < numbers.stop:
        command = [sys.executable, __file__, "--kind", kind, "--seed", str(seed)]
        command += ["--base", str(base), "--batch", str(first), str(numbers.stop)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        outcomes += [line for line in lines if "number" in line]
        begun = [line["begins"] for line in lines if "begins" in line]
        if not begun:
            raise SystemExit(f"A process did not begin:\n{done.stderr[-3000:]}")
        if done.returncode:
            died = f"exit {done.returncode}\n{done.stderr[-1500:]}"
            outcomes.append({"number": begun[-1], "failure": died, "seconds": 0.0})
        first = begun[-1] + 1
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=KINDS, help="one kind of file; all by default")
    parser.add_argument("--count", type=int, default=1000, help="cases of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", type=int, help="run this one case")
    parser.add_argument("--base", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.batch is not None:
        run_batch(chosen.kind, chosen.seed, range(*chosen.batch), chosen.base)
        return 0
    from table_cases import make_base

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        make_base(Path(folder))
        for kind in KINDS if chosen.kind is None else (chosen.kind,):
            first, stop = chosen.first, chosen.first + chosen.count
            if chosen.only is not None:
                first, stop = chosen.only, chosen.only + 1
            failures += campaign(kind, chosen, range(first, stop), Path(folder))
    return 1 if failures else 0


def campaign(kind: str, chosen: argparse.Namespace, numbers: range, base: Path) -> int:
    """Run the cases of one kind and print what came of them; returns the number of failures."""
    began, counts, slowest, failures = time.perf_counter(), Counter[str](), (0.0, 0), 0
    parts = [numbers[k : k + CASES_AT_ONCE] for k in range(0, len(numbers), CASES_AT_ONCE)]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for outcomes in pool.map(lambda part: run_all(kind, chosen.seed, part, base), parts):
            for outcome in outcomes:
                slowest = max(slowest, (outcome["seconds"], outcome["number"]))
                if outcome["failure"]:
                    failures += 1
                    print(f"{kind} case {outcome['number']}: {outcome['failure']}", flush=True)
                else:
                    counts["opened" if outcome["opened"] else "refused"] += 1
    print(
        f"{kind}: {len(numbers)} cases, seed {chosen.seed}: {counts['opened']} opened and worked, "
        f"{counts['refused']} refused, {failures} failures; slowest {slowest[0]:.1f} s (case "
        f"{slowest[1]}), {time.perf_counter() - began:.0f} s in all",
        flush=True,
    )
    return failures


if __name__ == "__main__":
    raise SystemExit(main())
