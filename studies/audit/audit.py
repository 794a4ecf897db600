"""Are results on real clips acceptable? An independent check decides.

    ./study audit [--quick] [--clips audit|other] [--only KIND] [--seed N] [--pictures FOLDER]
    ./study audit --case KIND:NUMBER [--seed N] [--pictures FOLDER]

Makes every kind of result from the audit clips and from all other real clips (kinds that start with
``other-``), asks motionloom's own check about each, and judges each with a check written
independently of it, from joint positions only (``audit_check.py``). Exits with 1 if more than 1 %
of the results that motionloom passes are rejected, if a knee flips, a body pirouettes or a sole
sinks more than 2.5 cm in any of them, or if less than 97 % pass. Code was developed on the
committed cases; ``--seed`` draws fresh ones: other pairs, frames, gaps and parts of the same clips.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from studies.audit.audit_cases import Outcome, label_of, make, maker_of, run_case
from studies.audit.audit_clips import is_built, library
from studies.audit.audit_pictures import save_case_strip, save_pictures
from studies.audit.audit_protocol import Case, Protocol, protocol, quick
from studies.audit.audit_report import (
    GROUPS,
    failure_lines,
    figures_of,
    fill_errors,
    group_of,
    percents,
    summary,
    table_text,
)
from studies.report import write_report

GUARD = {"rejected": 0.0, "severe": 0, "passed": 88.0}
"""What a change may not fall behind: per cent of passed results that are rejected, severe ones of
them, and per cent that pass."""
CHUNK = {"table": 25, "stream": 1, "fill": 10, "command": 2}
WEIGHT = {"table": 0.1, "stream": 15.0, "fill": 0.4, "command": 5.0, "transition": 1.0}
"""About how many seconds a case takes, for the time left; half a second for others."""
BUILD_WEIGHT = 25.0
Job = tuple[str, list[tuple[int, Case]]]


def run_job(job: Job) -> list[Outcome]:
    kind, cases = job
    if not cases:
        library(kind)
        return []
    return [outcome for number, case in cases for outcome in run_case(kind, number, case)]


def chosen(options: argparse.Namespace) -> dict[str, list[tuple[int, Case]]]:
    """Number and case of everything that this run makes."""
    cases: Protocol = protocol(options.seed)
    numbers = quick(cases) if options.quick else {k: list(range(len(v))) for k, v in cases.items()}
    if options.clips:
        numbers = {k: v for k, v in numbers.items() if group_of(k) == GROUPS[options.clips]}
    if options.only:
        numbers = {k: v for k, v in numbers.items() if k.startswith(options.only)}
        if not numbers:
            raise SystemExit(f"--only must be the start of one of {', '.join(cases)}.")
    return {kind: [(n, cases[kind][n]) for n in some] for kind, some in numbers.items()}


def jobs_of(cases: dict[str, list[tuple[int, Case]]]) -> Iterator[Job]:
    """Collections to build first, then chunks of cases; those that need no collection first."""
    needed = dict.fromkeys(
        case["collection"] for some in cases.values() for _, case in some if "collection" in case
    )
    yield from ((name, []) for name in needed if not is_built(name))
    for kind in sorted(cases, key=lambda kind: any("collection" in c for _, c in cases[kind])):
        step = CHUNK.get(maker_of(kind), 5)
        some = cases[kind]
        yield from ((kind, some[k : k + step]) for k in range(0, len(some), step))


def weight(job: Job) -> float:
    kind, some = job
    return len(some) * WEIGHT.get(maker_of(kind), 0.5) if some else BUILD_WEIGHT


def run(cases: dict[str, list[tuple[int, Case]]], workers: int) -> list[Outcome]:
    """All outcomes, made by some processes; a line on standard error shows the time left."""
    jobs = list(jobs_of(cases))
    total, done = sum(map(weight, jobs)), 0.0
    started = time.perf_counter()
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run_job, job): job for job in jobs}
        for future in as_completed(waiting):
            outcomes += future.result()
            spent = time.perf_counter() - started
            done += weight(waiting[future])
            left = spent / done * (total - done)
            line = f"audit: {len(outcomes)} results, {spent:.0f} s, about {left:.0f} s left"
            print(f"\r{line:70}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return sorted(outcomes, key=lambda o: (list(cases).index(o.kind), o.number, o.part))


def show_case(text: str, options: argparse.Namespace) -> int:
    """Make one case again, print everything wrong with it, and draw it."""
    kind, _, number = text.partition(":")
    at, _, part = number.partition(".")
    cases = protocol(options.seed)
    if kind not in cases or not at.isdigit() or int(at) >= len(cases[kind]):
        raise SystemExit(f"--case must be KIND:NUMBER with a kind of {', '.join(cases)}.")
    case = cases[kind][int(at)]
    result = make(kind, case)[int(part or 0)]
    print(f"{text}  {result.label or label_of(case)}  {case}")
    print(f"motionloom's check: {'passed' if result.passed else 'failed'}")
    for failure in result.failures:
        print(f"  {failure}")
    if not result.failures:
        print("  nothing is wrong with it")
    folder = Path(options.pictures or "audit_pictures")
    print(f"picture: {save_case_strip(result, text, folder)}")
    return 0


def guarded(outcomes: list[Outcome]) -> int:
    """1 where results are worse than the guard allows, which is what was reached, not the goal."""
    s = summary(outcomes)
    passed, rejected = percents(s)
    worse = [
        text
        for text, bad in (
            (f"rejected among passed: {rejected:.1f} %", rejected > GUARD["rejected"]),
            (f"severe among passed: {s['severe among passed']:.0f}",
             s["severe among passed"] > GUARD["severe"]),
            (f"passed: {passed:.1f} %", passed < GUARD["passed"]),
        )
        if bad
    ]  # fmt: skip
    print("worse than the guard: " + "; ".join(worse) if worse else f"within the guard {GUARD}")
    return 1 if worse else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few results of most kinds")
    parser.add_argument("--clips", choices=list(GROUPS), default="", help="only these clips")
    parser.add_argument("--only", default="", metavar="KIND", help="kinds that start like this")
    parser.add_argument("--seed", type=int, default=None, help="fresh cases instead of committed")
    parser.add_argument("--case", default="", metavar="KIND:NUMBER", help="one result in detail")
    parser.add_argument("--pictures", default="", metavar="FOLDER", help="strips go here")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument(
        "--guard",
        action="store_true",
        help=f"fail only where it is worse than {GUARD}: for tests of a change",
    )
    parser.add_argument(
        "--name",
        default="audit",
        help="writes results/NAME.json; a part of the audit or other cases need a NAME for it",
    )
    options = parser.parse_args()
    if options.case:
        return show_case(options.case, options)
    outcomes = run(chosen(options), options.jobs)
    lines = failure_lines(outcomes, options.seed)
    print("\n".join(lines))
    print(table_text(outcomes))
    figures = figures_of(outcomes)
    partial = bool(options.quick or options.only or options.clips or options.seed is not None)
    about = {**fill_errors(outcomes), "partial": partial, "seed": options.seed, "failures": lines}
    if not partial or options.name != "audit":
        write_report(options.name, figures, about=about, quiet=True)
    if options.pictures:
        save_pictures(outcomes, protocol(options.seed), Path(options.pictures))
    if options.guard:
        return guarded(outcomes)
    missed = [figure for figure in figures if figure.met is False]
    for figure in missed:
        print(f"not met: {figure.name} {figure.value:.3g} {figure.unit}, goal {figure.goal}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
