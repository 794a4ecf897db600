"""Odd calls of every public function: each must give a sound result or a MotionLoomError.

    python fuzz/calls.py --count 20000 --seed 0

Call ``n`` of a seed is always the same call; ``--only n`` runs it again and shows its trace. A
sound result has finite numbers, unit rotations and a repr of one line. A warning of numpy, a raw
exception, more than ten seconds of work, or memory beyond the limit is a failure.
"""

from __future__ import annotations

import argparse
import dataclasses
import faulthandler
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import motionloom as ml
from attempt import limit_memory
from call_arguments import Call
from motionloom.findings import MotionLoomWarning
from public_calls import call, fields_of

SECONDS = 10.0
"""Processor time that a call may take."""
STUCK_S = 100.0
"""After so long in compiled code, where no alarm is heard, the process is ended."""
CALLS_AT_ONCE = 500
LONGEST_REPR = 120
NAN_ALLOWED = {"match", "phase", "u_of", "reach"}
"""Arrays that are documented to hold nan where nothing is defined."""


@dataclass
class Tally:
    """What became of the calls."""

    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def add(self, other: Tally) -> None:
        self.done += other.done
        self.refused += other.refused
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)


def out_of_time(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS:g} s")


def last_lines() -> str:
    return "".join(f"    {line}\n" for line in traceback.format_exc().splitlines()[-7:])


def check(value: Any, name: str, seen: set[int]) -> None:
    """Raise where a result holds what it must not hold."""
    if id(value) in seen or name in NAN_ALLOWED:
        return
    seen.add(id(value))
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        raise AssertionError(f"{name} is {value}")
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
        raise AssertionError(f"{name} holds numbers that are not finite")
    if isinstance(value, Mapping):
        for key, each in value.items():
            check(each, f"{name}[{key!r}]", seen)
    elif isinstance(value, list | tuple):
        for each in value:
            check(each, name, seen)
    elif dataclasses.is_dataclass(value) and type(value).__module__.startswith("motionloom"):
        shown = repr(value)
        if len(shown) > LONGEST_REPR or "\n" in shown:
            raise AssertionError(f"repr of {type(value).__name__} has {len(shown)} characters")
        for each_name, each in fields_of(value).items():
            check(each, each_name, seen)
    if isinstance(value, ml.Motion) and not np.isfinite(value.world_positions()).all():
        raise AssertionError("world positions are not finite")


def attempt(made: Call) -> bool:
    """Whether the call gave a result. Anything but that or a MotionLoomError is raised."""
    try:
        check(made(), made.name.split(".")[-1], set())
    except ml.MotionLoomError as error:
        if len(str(error)) < 20:
            raise AssertionError(f"the error does not help: {error}") from error
        return False
    return True


def run_calls(seed: int, numbers: list[int], only: str | None) -> Tally:
    """These calls, in this process."""
    tally = Tally()
    signal.signal(signal.SIGPROF, out_of_time)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", MotionLoomWarning)
        limited = False
        for number in numbers:
            start, label = time.perf_counter(), f"call {number}"
            print(f"at {number}", flush=True)
            faulthandler.dump_traceback_later(STUCK_S, exit=True)
            try:
                made = call(np.random.Generator(np.random.PCG64([seed, number])), only)
                label = f"call {number}: {made}"
                if not limited:
                    limit_memory()
                    limited = True
                start = time.perf_counter()
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                outcome = attempt(made)
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                (tally.done if outcome else tally.refused)[made.name] += 1
            except Exception as error:
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                text = f"{type(error).__name__}: {error}"[:500]
                tally.failures.append(f"{label[:400]}\n  {text}\n{last_lines()}")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                faulthandler.cancel_dump_traceback_later()
            tally.slowest = max(tally.slowest, (time.perf_counter() - start, label[:200]))
    return tally


def run_batch(given: argparse.Namespace, first: int, last: int) -> Tally:
    """Some calls in a separate process, so that even a crash of Python is only a failure."""
    command = [
        sys.executable,
        str(Path(__file__).resolve()),
        "--seed",
        str(given.seed),
        "--batch",
        str(first),
        str(last),
    ]
    command += ["--function", given.function] if given.function else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        stopped = int(done.stdout.split()[-1])
        ended = Tally(failures=[f"call {stopped}: exit {done.returncode}\n{done.stderr[-2000:]}"])
        if stopped > first:
            ended.add(run_batch(given, first, stopped))
        if stopped + 1 < last:
            ended.add(run_batch(given, stopped + 1, last))
        return ended
    found = json.loads(done.stdout.splitlines()[-1])
    seconds, label = found["slowest"]
    counts = {key: Counter(found[key]) for key in ("done", "refused")}
    return Tally(**counts, failures=found["failures"], slowest=(seconds, label))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2_000, help="how many calls")
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--function", help="call this function only, by its name in public_calls")
    parser.add_argument("--only", type=int, help="run this one call, and show its trace")
    parser.add_argument("--batch", type=int, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only is not None:
        found = run_calls(given.seed, [given.only], given.function)
        print("\n".join(found.failures) or f"clean: {found.slowest[1]}")
        return 1 if found.failures else 0
    if given.batch is not None:
        os.chdir(tempfile.mkdtemp())  # some texts are taken for names of files
        numbers = list(range(*given.batch))
        print(json.dumps(vars(run_calls(given.seed, numbers, given.function))), flush=True)
        return 0
    total, start = Tally(), time.perf_counter()
    for first in range(given.first, given.first + given.count, CALLS_AT_ONCE):
        tally = run_batch(given, first, min(first + CALLS_AT_ONCE, given.first + given.count))
        total.add(tally)
        for failure in tally.failures:
            print(failure, flush=True)
    for name in sorted(total.done | total.refused):
        print(f"{name:26} {total.done[name]:7} done {total.refused[name]:7} refused")
    print(
        f"{given.count} calls, seed {given.seed}: {sum(total.done.values())} results, "
        f"{sum(total.refused.values())} refused, {len(total.failures)} failures; slowest "
        f"{total.slowest[0]:.2f} s ({total.slowest[1]}), {time.perf_counter() - start:.0f} s in all"
    )
    return 1 if total.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
