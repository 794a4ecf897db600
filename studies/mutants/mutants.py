"""Do the tests notice small deliberate mistakes in the numeric code?

    ./study mutants [--count 300] [--seed 0] [--jobs 2] [--only TEXT] [--survivors] [--list]
                    [--control]

Chooses small changes ("mutants": ``<`` for ``<=``, a sign, an index one too large) spread evenly
over the numeric code, Python and C, and runs for each the unit and property tests that call the
changed function; of Python, those of its folder. A mutant that no test notices survives: the line
is not tested. Mutants that change nothing that can be observed are listed with a reason in
``equivalent_mutants.toml`` and are not counted; nor are changes of C that do not compile, or that
compile to the same machine code. A stopped run goes on where it stopped; after a change of tests
only the survivors run again.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import fcntl
import importlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from studies.mutants.mutant_apply import MutantFailsError, apply
from studies.mutants.mutant_c_sites import CFile, c_files
from studies.mutants.mutant_core import CoreBuild, DoesNotCompileError, SameCodeError, use_library
from studies.mutants.mutant_results import (
    DEAD,
    NONE,
    Equivalents,
    Outcome,
    Outcomes,
    summary,
    write_results,
)
from studies.mutants.mutant_session import TIMES, WALL_TIMES, Child, run_all, run_items, start
from studies.mutants.mutant_sites import Mutant, SourceFile, sample
from studies.mutants.mutant_tests import Baseline, Test, is_c

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    *("registration", "blending", "motion", "body", "rotation", "features", "cleanup", "splicing"),
    *("retargeting", "formats", "tables/score", "tables/search"),
    *("tables/synthesis", "tables/index", "tables"),
)
OTHER_TESTS = [
    *(f"tables/{name}" for name in ("engines", "evaluation")),
    "tables/collection/test_collection_damage.py",
    *("formats/test_fuzz.py", "test_examples.py"),
]
"""Tests of what is not mutated, or that run in other processes, which never see a mutant."""
NOT_COPIED = (".git", ".venv", "node_modules", "build", "dist", "demo-out", "docs", ".judges")


def numeric_files(root: Path) -> list[SourceFile | CFile]:
    """Files of the mutated folders that compute with numbers, and the C core."""
    files: list[SourceFile | CFile] = [*c_files(root)]
    for folder in FOLDERS:
        for path in sorted((root / "src" / "motionloom" / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "import numpy" in text or "import math" in text:
                files.append(SourceFile(path, str(path.relative_to(root))))
    return files


def test_folders(mutants: list[Mutant]) -> list[str]:
    """The folders of tests that some mutants need."""
    own = {f"tests/unit/{m.file.split('/')[2]}" for m in mutants if not is_c(m.file)}
    if any(is_c(m.file) for m in mutants):
        own |= {"tests/unit/core", *(f"tests/unit/{folder.split('/')[0]}" for folder in FOLDERS)}
    alone = sorted(p.name for p in (ROOT / "tests/unit").glob("test_*.py"))
    alone = [f"tests/unit/{name}" for name in alone if name not in OTHER_TESTS]
    return [*sorted(own), *alone, "tests/properties", "tests/formats"]


def private_copy(root: Path, state: Path) -> Path:
    """The project in a folder of the study, so that edits meanwhile change nothing."""
    copy = state / "project"
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns(*NOT_COPIED, "*.pyc")
    shutil.copytree(root, copy, ignore=ignored, symlinks=True)
    return copy


def use_copy(copy: Path) -> None:
    """Make this process and those it starts import the package from the copy."""
    shared = ROOT.parent / "shared" / "mocap"
    if "MOTIONLOOM_MOCAP" not in os.environ and shared.is_dir():
        os.environ["MOTIONLOOM_MOCAP"] = str(shared)
    source = str(copy / "src")
    sys.path.insert(0, source)
    os.environ["PYTHONPATH"] = source
    sys.dont_write_bytecode = True
    os.chdir(copy)


class Study:
    """The session's plugin: runs without mutants, then one process for each mutant."""

    def __init__(self, root: Path, mutants: list[Mutant], options: argparse.Namespace) -> None:
        self.root, self.mutants, self.options = root, mutants, options
        files = numeric_files(root)
        self.files = {f.name: f for f in files}
        self.core = CoreBuild(root, options.state, [f for f in files if isinstance(f, CFile)])
        self.outcomes = Outcomes(options.state / "outcomes.json")
        self.results: dict[str, Outcome] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        for name in (name for name in self.files if not is_c(name)):
            importlib.import_module(name[4:-3].replace("/", "."))
        baseline = Baseline(self.root, session.items, self.options.state / "tests.json")
        baseline.run(self.options.jobs, self.say)
        self.outcomes.open(self.root, baseline)
        self.run(baseline)
        return True

    def say(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r{text:78}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def run(self, baseline: Baseline) -> None:
        waiting = []
        for mutant in self.mutants:
            earlier = None if self.options.control else self.outcomes.known(mutant)
            if earlier:
                self.results[mutant.name] = earlier
            else:
                waiting.append((mutant, baseline.tests_of(mutant, self.options.budget)))
        started = time.monotonic()
        for k, (mutant, outcome) in enumerate(self._run_all(baseline, waiting), start=1):
            self.results[mutant.name] = outcome
            if not self.options.control:
                self.outcomes.add(mutant, outcome)
            left = (time.monotonic() - started) / k * (len(waiting) - k)
            bad = sum(o.state in ("survived", "error") for o in self.results.values())
            self.say(
                f"mutants: {k} of {len(waiting)}, {bad} not killed, about {left:.0f} s left; "
                f"{outcome.state} {mutant.file.removeprefix('src/motionloom/')}:{mutant.line}"
            )

    def _run_all(
        self, baseline: Baseline, waiting: list[tuple[Mutant, list[Test]]]
    ) -> Iterator[tuple[Mutant, Outcome]]:
        for mutant, tests in waiting:
            if not tests:
                yield mutant, Outcome("survived", "", 0, "no test calls it")
        some = [(mutant, tests) for mutant, tests in waiting if tests]
        starts = (self._start(baseline, mutant, tests) for mutant, tests in some)
        for (mutant, tests), child in run_all(starts, self.options.jobs):
            yield mutant, outcome_of(child, tests)

    def _start(
        self, baseline: Baseline, mutant: Mutant, tests: list[Test]
    ) -> Callable[[], tuple[Any, Child]]:
        limits = baseline.limits_of(tests)

        def work(send: Callable[[object], None]) -> None:
            try:
                if not self.options.control and not self._apply(mutant):
                    send({"unchanged": True})
                    return
            except MutantFailsError as error:
                send({"failed": f"import: {error}"})
                return
            except DoesNotCompileError as error:
                send({"invalid": str(error)})
                return
            except SameCodeError:
                send({"same": True})
                return
            run_items([t.item for t in tests], limits, send)

        expected = sum(t.setup_s + t.call_s for t in tests)
        return lambda: ((mutant, tests), start(work, 300.0 + WALL_TIMES * TIMES * expected))

    def _apply(self, mutant: Mutant) -> int:
        """Put a mutant into this process; how much of it changed."""
        file = self.files[mutant.file]
        if isinstance(file, CFile):
            return use_library(self.core.make(mutant, Path(tempfile.mkdtemp())))
        return apply(file, mutant)


def outcome_of(child: Child, tests: list[Test]) -> Outcome:
    """What an ended process reports about its mutant."""
    messages = child.messages
    last = next((m["test"] for m in reversed(messages) if "test" in m), "")
    if failed := [m["failed"] for m in messages if "failed" in m]:
        return Outcome("killed", failed[0], len(tests), "")
    for state in NONE:
        if why := [m[state] for m in messages if state in m]:
            return Outcome(state, "", len(tests), str(why[0]))
    if errors := [m["error"] for m in messages if "error" in m]:
        return Outcome("error", last, len(tests), errors[0])
    if any("unchanged" in m for m in messages):
        return Outcome("survived", "", len(tests), "the changed code is the same")
    if child.status:
        number = child.status & 127
        state = "timeout" if number in (9, 27) else "killed"
        return Outcome(state, last, len(tests), f"signal {number}")
    return Outcome("survived", "", len(tests), "")


def read_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./study mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0, help="chooses other mutants")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    parser.add_argument("--only", default="", help="only mutants whose file or text holds this")
    parser.add_argument("--survivors", action="store_true", help="run only what survived before")
    parser.add_argument(
        "--control", action="store_true", help="change nothing: every mutant must survive"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument(
        "--budget", type=float, default=60.0, help="seconds of unmutated tests for each mutant"
    )
    parser.add_argument("--goal", type=float, default=0.9, help="share to be killed, else exit 1")
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "mutants")
    options = parser.parse_args(arguments)
    options.state = options.state.resolve()
    if options.count < 1 or options.jobs < 1:
        parser.error("--count and --jobs must be at least 1")
    return options


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    files = numeric_files(ROOT)
    equivalents = Equivalents.read(ROOT / "studies" / "mutants" / "equivalent_mutants.toml", files)
    mutants = sample(files, options.count, options.seed)
    mutants = [m for m in mutants if options.only in m.key]
    counted = [m for m in mutants if m.name not in equivalents]
    if options.survivors:
        outcomes = Outcomes(options.state / "outcomes.json").last
        counted = [m for m in counted if outcomes.get(m.name) not in (*DEAD, *NONE)]
    if options.list:
        for mutant in counted:
            print(f"{mutant.file}:{mutant.line}: {mutant.kind}: {mutant.before} -> {mutant.after}")
        return 0
    options.state.mkdir(parents=True, exist_ok=True)
    with (options.state / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another study uses this folder; choose one with --state.", file=sys.stderr)
            return 2
        return run_study(options, mutants, counted, equivalents)


def run_study(
    options: argparse.Namespace,
    mutants: list[Mutant],
    counted: list[Mutant],
    equivalents: Equivalents,
) -> int:
    """Run the counted mutants and report; the exit status."""
    copy = private_copy(ROOT, options.state)
    try:
        use_copy(copy)
        study = Study(copy, counted, options)
        study.core.prepare()
        wanted = [*test_folders(counted), "-q", "-s", "--timeout=0"]
        wanted += ["-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--no-summary"]
        wanted += [f"--ignore=tests/unit/{path}" for path in OTHER_TESTS]
        status = pytest.main(wanted, plugins=[study])
    finally:
        os.chdir(ROOT)
    if len(study.results) < len(counted):
        print(f"The tests could not be collected (pytest's status {status}).", file=sys.stderr)
        return 2
    print(summary(counted, study.results, sum(m.name in equivalents for m in mutants)))
    if options.control:
        return int(any(o.state != "survived" for o in study.results.values()))
    if not (options.only or options.survivors):
        write_results(ROOT, options, counted, study.results, equivalents, mutants)
    states = [o.state for o in study.results.values() if o.state not in NONE]
    return 0 if sum(s in DEAD for s in states) >= options.goal * len(states) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
