"""Spoiled files through every reader: each must give a Motion or a FormatError, in bounds.

    python fuzz/run.py --mutator bytes --count 100000 --seed 0 --jobs 2
    python fuzz/run.py --mutator grammar --count 1000000 --results fuzz/results/grammar.json

``bytes`` damages good files (``mutate.py``), ``grammar`` builds odd ones (``grammar.py``), and
``scenes`` changes the trees of small FBX and USD files (``fbx_mutate.py``, ``usd_mutate.py``). Case
``n`` of a seed is always the same file; a failure is kept in ``fuzz/crashes`` and can be read again
with ``--only n``. With ``--results`` finished batches are kept in a file next to it: a campaign
that was stopped, or had only so many ``--minutes``, goes on from there. The bounds are 64 MB and 8
times the file, 2 s and 1 s per 10 MB.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from attempt import CHARACTER, Case, attempt, bounded, limit_memory, peak_bytes, warm_up
from fbx_forms import as_binary, as_text
from fbx_mutate import changed_scene, small_scenes
from grammar import built
from motionloom.findings import MotionLoomWarning
from mutate import mutated
from seeds import Seed, all_seeds
from small_characters import changed_character
from stages import FORMS, reached
from usd_mutate import changed_stage, small_stages, written

CRASHES = Path(__file__).resolve().parent / "crashes"
CASES_AT_ONCE = 10_000
"""Cases that one process reads."""
MOST_KEPT = 200
STRIDE = 1000003
LOADED_SCENES = 21
"""One in so many scenes is loaded whole; it shares no factor with the order of their forms."""
CHARACTERS = 32
"""One in so many scenes is a character."""


@dataclass
class Tally:
    """What became of the cases of a batch."""

    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    """Of FBX and USD: which step refused a file, as ``"fbx models"``."""
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    peak_mb: float = 0.0
    seconds: float = 0.0
    """Processor time."""
    digest: str = ""

    @classmethod
    def of(cls, row: dict[str, Any]) -> Tally:
        """A tally out of its JSON."""
        counts = {key: Counter(row.pop(key)) for key in ("read", "refused", "kinds", "steps")}
        seconds, label = row.pop("slowest")
        return cls(**counts, slowest=(seconds, label), **row)

    def add(self, other: Tally) -> None:
        for mine, theirs in (
            (self.read, other.read),
            (self.refused, other.refused),
            (self.kinds, other.kinds),
            (self.steps, other.steps),
        ):
            mine.update(theirs)
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)
        self.peak_mb = max(self.peak_mb, other.peak_mb)
        self.seconds += other.seconds

    def fail(self, label: str, error: BaseException) -> None:
        lines = traceback.format_exc().splitlines()[-7:]
        self.kinds[type(error).__name__] += 1
        self.failures.append("\n    ".join([f"{label}: {type(error).__name__}: {error}", *lines]))


class Bytes:
    """Cases of the first mutator: half of the first ones cut small files at every byte."""

    def __init__(self, seed: int, only: str | None) -> None:
        self.seed = seed
        self.seeds = [s for s in all_seeds() if only in (None, s.format)]
        self.cuts = [
            (s, n) for s in self.seeds for n in range(0, len(target(s)), 1 + len(target(s)) // 2500)
        ]

    def case(self, number: int) -> Case:
        rng = np.random.Generator(np.random.PCG64([self.seed, number]))
        if number % 2 == 0 and number // 2 < len(self.cuts):
            # A stride that shares no factor with their number spreads them over all files.
            chosen, n_bytes = self.cuts[number // 2 * STRIDE % len(self.cuts)]
            data = target(chosen)[:n_bytes]
        else:
            chosen = self.seeds[int(rng.integers(len(self.seeds)))]
            data = mutated(rng, target(chosen), chosen.format)
        if chosen.spoil_companion:
            return Case(number, chosen.format, chosen.name, chosen.data, data)
        return Case(number, chosen.format, chosen.name, data, chosen.companion)


class Grammar:
    """Cases of the second mutator."""

    def __init__(self, seed: int, only: str | None) -> None:
        self.seed, self.only = seed, only

    def case(self, number: int) -> Case:
        name, data, companion = built(self.seed, number, self.only)
        return Case(number, name, "built", data, companion)


class Scenes:
    """Cases of the third mutator: half USD text, a quarter each of binary and ASCII FBX.

    One file in eight is spoiled by its bytes, and one in eight by its tree and then by its bytes.
    One in 32 is a character with a skin, in turn FBX and GLB, that ``load_character`` reads.
    """

    def __init__(self, seed: int, only: str | None) -> None:
        self.seed, self.only = seed, only

    def case(self, number: int) -> Case:
        rng = np.random.Generator(np.random.PCG64([self.seed, number]))
        if number % CHARACTERS == CHARACTERS - 1 and self.only is None:
            name = ("fbx", "glb")[number // CHARACTERS % 2]
            return Case(number, name, CHARACTER, changed_character(rng, name))
        form = ("usd", "binary", "usd", "text")[number % 4]
        if self.only == "fbx" and form == "usd":
            form = ("binary", "text")[number // 2 % 2]
        name = "usd" if form == "usd" or self.only == "usd" else "fbx"
        way = int(rng.integers(8))
        if way == 0:
            data = good_scene(rng, form if name == "fbx" else "usd")
        else:
            data = changed_stage(rng) if name == "usd" else changed_scene(rng, form)
        if way < 2:
            data = mutated(rng, data, "scene")
        return Case(number, name, form, data, loaded=LOADED_SCENES)


def good_scene(rng: np.random.Generator, form: str) -> bytes:
    """One of the small good files that are changed."""
    if form == "usd":
        return written(small_stages()[int(rng.integers(len(small_stages())))])
    items = small_scenes()[int(rng.integers(len(small_scenes())))]
    return as_text(items) if form == "text" else as_binary(items, 7700, deflated=True)


MUTATORS = {"bytes": Bytes, "grammar": Grammar, "scenes": Scenes}


def target(seed: Seed) -> bytes:
    return seed.companion if seed.spoil_companion else seed.data


def out_of_time(*_: Any) -> None:
    raise TimeoutError("it waits for something")


def run_cases(options: argparse.Namespace, numbers: range, here: Path | None) -> Tally:
    """Read some cases in this process; ``here`` gets the number of the one that is read."""
    cases = MUTATORS[options.mutator](options.seed, options.format)
    tally, digest = Tally(), hashlib.sha256()
    signal.signal(signal.SIGALRM, out_of_time)
    with tempfile.TemporaryDirectory(dir=_memory_disk()) as name, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", MotionLoomWarning)
        warm_up(all_seeds(), Path(name))
        limit_memory()
        start = time.process_time()
        base, place = peak_bytes(), None if here is None else here.open("wb", buffering=0)
        for number in numbers:
            if place is not None:
                place.seek(0)
                place.write(b"%012d" % number)
            case, began = cases.case(number), time.process_time()
            outcome = b"failed"
            try:
                with bounded(len(case.data) + len(case.companion), base):
                    step = attempt(case, Path(name))
                outcome = b"read" if step == "read" else b"refused"
                kind = case.form if case.name == CHARACTER else case.format
                (tally.read if step == "read" else tally.refused)[kind] += 1
                if case.form in FORMS:
                    tally.steps[f"{case.form} {step}"] += 1
            except Exception as error:
                keep(options, case)
                tally.fail(case.label, error)
            digest.update(hashlib.sha256(case.data + case.companion).digest() + outcome)
            tally.slowest = max(tally.slowest, (time.process_time() - began, case.label))
        tally.peak_mb = (peak_bytes() - base) / 1e6
        tally.seconds = time.process_time() - start
    tally.digest = digest.hexdigest()
    return tally


def _memory_disk() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def keep(options: argparse.Namespace, case: Case) -> None:
    CRASHES.mkdir(exist_ok=True)
    if sum(1 for _ in CRASHES.iterdir()) < MOST_KEPT:
        stem = f"{options.mutator}-{case.format}-{options.seed}-{case.number}"
        (CRASHES / stem).write_bytes(case.data)
        if case.companion:
            (CRASHES / f"{stem}.asf").write_bytes(case.companion)


def run_batch(options: argparse.Namespace, first: int) -> tuple[int, Tally]:
    """Some cases in a separate process, so that even a crash of Python is only a failure."""
    total, digests = Tally(), ""
    at, stop = first, min(first + options.at_once, options.count)
    with tempfile.TemporaryDirectory() as name:
        here = Path(name) / "number"
        while at < stop:
            command = [sys.executable, __file__, "--seed", str(options.seed)]
            command += ["--mutator", options.mutator, "--batch", str(at), str(stop), str(here)]
            command += ["--format", options.format] if options.format else []
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                tally = Tally.of(json.loads(done.stdout.splitlines()[-1]))
                total.add(tally)
                digests += tally.digest
                break
            died = int(here.read_bytes()) if here.exists() else at
            total.kinds[f"exit {done.returncode}"] += 1
            total.failures.append(f"case {died}: exit {done.returncode}\n{done.stderr[-1000:]}")
            digests += f"died {died}"
            at = died + 1
    total.digest = hashlib.sha256(digests.encode()).hexdigest()
    return first, total


def campaign(options: argparse.Namespace) -> tuple[Tally, int]:
    """Every batch that is not finished yet, with progress; and how many cases are finished."""
    log = None if options.results is None else options.results.with_suffix(".jsonl")
    key = [options.mutator, options.seed, options.format, options.count, options.at_once]
    finished: dict[int, Tally] = {}
    if log is not None and log.is_file():
        for line in log.read_text().splitlines():
            row = json.loads(line)
            if row["key"] == key:
                finished[row["first"]] = Tally.of(row["tally"])
    firsts = [first for first in range(0, options.count, options.at_once) if first not in finished]
    if finished:
        print(f"{len(finished)} batches are finished already", flush=True)
    start, done = time.perf_counter(), 0
    stop = start + 60.0 * options.minutes

    def batch_in_time(first: int) -> tuple[int, Tally] | None:
        return None if time.perf_counter() > stop else run_batch(options, first)

    with ThreadPoolExecutor(options.jobs) as pool:
        for future in as_completed([pool.submit(batch_in_time, first) for first in firsts]):
            result = future.result()
            if result is None:
                continue
            first, tally = result
            finished[first] = tally
            done += 1
            for failure in tally.failures:
                print(failure, flush=True)
            if log is not None:
                log.parent.mkdir(parents=True, exist_ok=True)
                with log.open("a") as stream:
                    row = {"key": key, "first": first, "tally": vars(tally)}
                    stream.write(json.dumps(row) + "\n")
            taken = time.perf_counter() - start
            n_cases = min(done * options.at_once, options.count)
            left = taken / done * (len(firsts) - done)
            failures = sum(len(each.failures) for each in finished.values())
            n_finished = min(len(finished) * options.at_once, options.count)
            print(
                f"{n_finished} files, {failures} failures, "
                f"{n_cases / taken:.0f} files/s, {left / 60:.0f} min left",
                flush=True,
            )
    total = Tally()
    for first in sorted(finished):
        total.add(finished[first])
    digests = "".join(finished[first].digest for first in sorted(finished))
    total.digest = hashlib.sha256(digests.encode()).hexdigest()
    return total, sum(min(options.at_once, options.count - first) for first in finished)


def report(options: argparse.Namespace, total: Tally, n_cases: int) -> None:
    """Print the counts, and write them where that was asked for."""
    for name in sorted(total.read | total.refused):
        print(f"{name:10} {total.read[name]:7} read {total.refused[name]:7} refused")
    print(
        f"{n_cases} of {options.count} files of mutator {options.mutator}, seed {options.seed}: "
        f"{sum(total.read.values())} read, {sum(total.refused.values())} refused, "
        f"{len(total.failures)} failures {dict(total.kinds) or ''}; slowest "
        f"{total.slowest[0]:.2f} s ({total.slowest[1]}), peak {total.peak_mb:.0f} MB more, "
        f"{n_cases / max(total.seconds, 1e-9):.0f} files per second of a processor"
    )
    shares = {}
    for form in sorted({key.split()[0] for key in total.steps}):
        counts = {key.split()[1]: n for key, n in total.steps.items() if key.split()[0] == form}
        shares[form] = reached(FORMS[form], counts)
        print(f"{form}: {', '.join(f'{step} {share} %' for step, share in shares[form].items())}")
    if options.results is not None:
        summary = {
            "reached_percent": shares,
            "mutator": options.mutator,
            "seed": options.seed,
            "cases": n_cases,
            "cases_wanted": options.count,
            **vars(total),
            "slowest": {"seconds": total.slowest[0], "case": total.slowest[1]},
        }
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(json.dumps(summary, indent=1, sort_keys=True) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutator", choices=tuple(MUTATORS), default="bytes")
    parser.add_argument("--count", type=int, default=10_000, help="how many files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--at-once", type=int, default=CASES_AT_ONCE, help="files of one process")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin nothing after this time")
    parser.add_argument("--format", help="damage files of this format only")
    parser.add_argument("--only", type=int, help="run this one case, and show its trace")
    parser.add_argument("--results", type=Path, help="write a summary to this file, and resume")
    parser.add_argument("--batch", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only is not None:
        tally = run_cases(options, range(options.only, options.only + 1), None)
        print("\n".join(tally.failures) or "clean")
        return 1 if tally.failures else 0
    if options.batch is not None:
        first, stop, here = options.batch
        print(json.dumps(vars(run_cases(options, range(int(first), int(stop)), Path(here)))))
        return 0
    total, n_cases = campaign(options)
    report(options, total, n_cases)
    return 1 if total.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
