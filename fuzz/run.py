"""Spoiled files through every reader: each must give a Motion or a FormatError, in bounds.

    python fuzz/run.py --count 100000 --seed 0 --jobs 1

Case ``n`` of a seed is always the same file; a failure is kept in ``fuzz/crashes`` and can be read
again with ``--only n``. Half of the first cases cut each small file at every byte, the others are
random. Every file goes through the reader of its format and through ``motionloom.load``.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import motionloom as ml
from motionloom.errors import FormatError
from motionloom.findings import MotionLoomWarning
from motionloom.formats.fileclip import FileClip, ReadOptions
from motionloom.formats.registry import Format, known_formats
from mutate import mutated
from seeds import Seed, all_seeds

CRASHES = Path(__file__).resolve().parent / "crashes"
SECONDS = 10.0
"""Budget of time for one file."""
MEMORY = 3 * 1024**3
"""Budget of memory for one file: address space above what the interpreter has at the start."""
REWRITTEN = 0.05
"""Part of the readable cases that are also written and read again."""
CASES_AT_ONCE = 4000
STRIDE = 1000003


@dataclass
class Tally:
    """What became of the cases."""

    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    peak_mb: float = 0.0

    def add(self, other: Tally) -> None:
        self.read += other.read
        self.refused += other.refused
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)
        self.peak_mb = max(self.peak_mb, other.peak_mb)


def all_cuts(seeds: list[Seed]) -> list[tuple[Seed, int]]:
    """Where small files are cut: at every byte; larger ones at some two thousand places."""
    return [(s, n) for s in seeds for n in range(0, len(target(s)), 1 + len(target(s)) // 2500)]


def case(
    seeds: list[Seed], cuts: list[tuple[Seed, int]], seed: int, number: int
) -> tuple[Seed, bytes]:
    """The file of one case."""
    rng = np.random.Generator(np.random.PCG64([seed, number]))
    if number % 2 == 0 and number // 2 < len(cuts):
        # A stride that shares no factor with their number spreads them over all files.
        chosen, n_bytes = cuts[number // 2 * STRIDE % len(cuts)]
        return chosen, target(chosen)[:n_bytes]
    chosen = seeds[int(rng.integers(len(seeds)))]
    return chosen, mutated(rng, target(chosen), chosen.format)


def target(seed: Seed) -> bytes:
    return seed.companion if seed.spoil_companion else seed.data


def out_of_time(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS:g} s")


def check(clip: FileClip | ml.Motion) -> None:
    """Raise where a motion that came out is not valid."""
    motion = clip.motion if isinstance(clip, FileClip) else clip
    if not np.isfinite(motion.world_positions()).all():
        raise AssertionError("world positions are not finite")
    if np.abs(np.linalg.norm(motion.local_quats, axis=-1) - 1.0).max() > 1e-9:
        raise AssertionError("quaternions are not unit")


def rewrite(known: Format, clip: FileClip) -> None:
    if known.write is None or known.read is None:
        return
    stream = io.BytesIO()
    known.write(clip, stream)
    stream.seek(0)
    again = known.read(stream, ReadOptions())
    if again.motion.n_frames != clip.motion.n_frames:
        raise AssertionError("written and read again, it has other frames")


def attempt(
    chosen: Seed, data: bytes, number: int, folder: Path, formats: dict[str, Format]
) -> bool:
    """Whether the file could be read. Anything but a Motion or a FormatError is raised."""
    options = ReadOptions()
    if chosen.companion:
        skeleton = folder / "two.asf"
        skeleton.write_bytes(data if chosen.spoil_companion else chosen.companion)
        options = ReadOptions(path=folder / "two.amc")
    body = chosen.data if chosen.spoil_companion else data
    known = formats[chosen.format]
    assert known.read is not None
    done = False
    try:
        clip = known.read(io.BytesIO(body), options)
        check(clip)
        done = True
        if number % round(1.0 / REWRITTEN) == 0:
            rewrite(known, clip)
    except FormatError as error:
        if not error.problem:
            raise AssertionError("an error without a text") from error
    if chosen.companion:
        (folder / "two.amc").write_bytes(body)
        where: Any = folder / "two.amc"
    else:
        where = io.BytesIO(body)
    with suppress(FormatError):
        check(ml.load(where))
    return done


def run_cases(seed: int, numbers: list[int], only_format: str | None) -> Tally:
    seeds = [s for s in all_seeds() if only_format in (None, s.format)]
    cuts = all_cuts(seeds)
    formats = {known.name: known for known in known_formats()}
    tally = Tally()
    signal.signal(signal.SIGALRM, out_of_time)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", MotionLoomWarning)
        warm_up(seeds, Path(name), formats)
        limit_memory()
        for number in numbers:
            chosen, data = case(seeds, cuts, seed, number)
            label = f"case {number} ({chosen.format} {chosen.name})"
            start = time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                outcome = attempt(chosen, data, number, Path(name), formats)
                (tally.read if outcome else tally.refused)[chosen.format] += 1
            except Exception as error:
                keep(seed, number, chosen, data)
                tally.failures.append(f"{label}: {type(error).__name__}: {error}\n{last_lines()}")
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            tally.slowest = max(tally.slowest, (time.perf_counter() - start, label))
    tally.peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return tally


def warm_up(seeds: list[Seed], folder: Path, formats: dict[str, Format]) -> None:
    """Read every good file once, so that compiling is not taken for slow reading."""
    for chosen in seeds:
        if not attempt(chosen, target(chosen), 0, folder, formats):
            raise SystemExit(f"The good file {chosen.format} {chosen.name} cannot be read.")


def limit_memory() -> None:
    with Path("/proc/self/statm").open() as stream:
        now = int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))


def last_lines() -> str:
    return "".join(f"    {line}\n" for line in traceback.format_exc().splitlines()[-7:])


def keep(seed: int, number: int, chosen: Seed, data: bytes) -> None:
    CRASHES.mkdir(exist_ok=True)
    (CRASHES / f"{chosen.format}-{chosen.name}-{seed}-{number}").write_bytes(data)


def run_batch(said: argparse.Namespace, first: int) -> Tally:
    """Some cases in a process of their own, so that even a crash of Python is only a failure."""
    numbers = range(first, min(first + CASES_AT_ONCE, said.count))
    command = [sys.executable, __file__, "--seed", str(said.seed), "--batch"]
    command += [str(numbers.start), str(numbers.stop)]
    command += ["--format", said.format] if said.format else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        where = f"cases {numbers.start} to {numbers.stop - 1}"
        return Tally(failures=[f"{where}: exit {done.returncode}\n{done.stderr[-2000:]}"])
    found = json.loads(done.stdout.splitlines()[-1])
    seconds, label = found["slowest"]
    counts = {key: Counter(found[key]) for key in ("read", "refused")}
    return Tally(
        **counts, failures=found["failures"], slowest=(seconds, label), peak_mb=found["peak_mb"]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="how many files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--format", help="spoil files of this format only")
    parser.add_argument("--only", type=int, help="run this one case, and show its trace")
    parser.add_argument("--batch", type=int, nargs=2, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.only is not None:
        found = run_cases(said.seed, [said.only], said.format)
        print("\n".join(found.failures) or "clean")
        return 1 if found.failures else 0
    if said.batch is not None:
        print(json.dumps(vars(run_cases(said.seed, list(range(*said.batch)), said.format))))
        return 0
    total, start = Tally(), time.perf_counter()
    with ThreadPoolExecutor(said.jobs) as pool:
        firsts = range(0, said.count, CASES_AT_ONCE)
        for done, tally in enumerate(pool.map(lambda first: run_batch(said, first), firsts), 1):
            total.add(tally)
            for failure in tally.failures:
                print(failure, flush=True)
            if done % 5 == 0:
                print(f"{done * CASES_AT_ONCE} files, {len(total.failures)} failures", flush=True)
    for name in sorted(total.read | total.refused):
        print(f"{name:10} {total.read[name]:7} read {total.refused[name]:7} refused")
    print(
        f"{said.count} files, seed {said.seed}: {sum(total.read.values())} read, "
        f"{sum(total.refused.values())} refused, {len(total.failures)} failures; slowest "
        f"{total.slowest[0]:.2f} s ({total.slowest[1]}), peak {total.peak_mb:.0f} MB, "
        f"{time.perf_counter() - start:.0f} s in all"
    )
    return 1 if total.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
