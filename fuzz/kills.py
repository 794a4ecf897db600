"""Kills at random moments: commands that write are ended, checked, resumed and compared.

    python fuzz/kills.py --count 1000 --seed 0

Each case runs one command on small synthetic clips in a child process and ends it: by SIGKILL, or
in part by SIGTERM or SIGINT; at a random moment, or at one of its calls that touch the disk. Then

- its inputs are as they were;
- a reader sees the state before or the state after, whole, and no damage;
- the same command, run again, leaves the very bytes that it leaves undisturbed, and no other file.

Case ``n`` of a seed draws the same command and moment; ``--only n`` runs it alone.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kill_jobs import Job, Tree, all_jobs, tree_of
from motionloom.tables.collection import ingest

DEADLINE_S = 120.0
"""A command that takes longer hangs."""
AT_A_CALL = 0.6
"""Part of the cases that end at a call which touches the disk."""
TWICE = 0.25
"""Part of the cases whose resumed command is killed, too."""
SIGNALS = [signal.SIGKILL] * 7 + [signal.SIGTERM, signal.SIGINT, signal.SIGINT]
WATCHED = ("open", "os.", "fcntl.", "mmap.")


@dataclass
class Undisturbed:
    """A command that ran to its end."""

    before: Any
    after: Any
    inputs: Tree
    outputs: Tree
    calls: int
    seconds: float


@dataclass
class Tally:
    """What became of the cases."""

    kills: Counter[str] = field(default_factory=Counter)
    signals: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    finished: int = 0
    """Cases whose command was quicker than its end."""
    failures: list[str] = field(default_factory=list)

    @property
    def n_kills(self) -> int:
        return sum(self.kills.values())


def child(job: Job, at: Path, log: Path, end: tuple[int, int] | None = None) -> int:
    """Start a command in a forked process; with ``end`` it sends itself a signal at a call."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        ingest.CHECKPOINT_S = 0.0
        calls = watch(end)
        job.run(at)
        print(calls())
        code = 0
    except KeyboardInterrupt:
        code = 130
    except BaseException:  # a child never returns into the loop of its parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def watch(end: tuple[int, int] | None) -> Callable[[], int]:
    """Count calls that touch the disk; at the one with the number in ``end``, send its signal."""
    count = 0

    def call() -> None:
        nonlocal count
        count += 1
        if end is not None and count == end[0]:
            os.kill(os.getpid(), end[1])

    def heard(event: str, _: tuple[Any, ...]) -> None:
        if event.startswith(WATCHED) and event != "os.kill":
            call()

    def no_sync(_: int) -> None:
        call()  # a kill, unlike a power cut, loses nothing that the system has taken

    os.fsync = no_sync
    sys.addaudithook(heard)
    return lambda: count


def wait(pid: int, seconds: float) -> int | None:
    """How a child ended: its exit code, or a signal's number below zero; None: it still runs."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            return None
        time.sleep(min(0.002, max(until - time.monotonic(), 0.0)))


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def let_go() -> None:
    """Close the files that were mapped here; later calls pass over all that is alive now."""
    gc.collect()
    gc.freeze()


def undisturbed(job: Job, home: Path) -> Undisturbed:
    """Run a command to its end, here and in a child: it must leave the same bytes."""
    at, log = home / "case", home / "log"
    job.prepare(at)
    with redirect_stdout(io.StringIO()):
        job.run(at)  # in this process: children begin with everything imported
    let_go()
    first = tree_of(at / "out")
    job.prepare(at)
    before, inputs = job.state(at), tree_of(at / "in")
    began = time.monotonic()
    code = wait(child(job, at, log), DEADLINE_S)
    seconds = time.monotonic() - began
    if code != 0:
        raise SystemExit(f"{job.name} fails undisturbed ({code}): {log.read_text()}")
    outputs = tree_of(at / "out")
    if outputs != first:
        raise SystemExit(f"{job.name} leaves other bytes each time")
    calls = int(log.read_text().split()[-1])
    return Undisturbed(before, job.state(at), inputs, outputs, calls, seconds)


def run_case(
    number: int, seed: int, jobs: list[Job], known: dict[str, Undisturbed], home: Path, tally: Tally
) -> None:
    """One case; what is wrong goes into the tally."""
    draw = random.Random(f"{seed} {number}")
    job = jobs[number % len(jobs)]
    goal, at, log = known[job.name], home / "case", home / "log"
    job.prepare(at)
    place = f"case {number}, {job.name}"
    try:
        for _ in range(2 if draw.random() < TWICE else 1):
            place = f"case {number}, {job.name}, {killed(job, goal, at, log, draw, tally)}"
            check_state(job, goal, at, tally)
        code = wait(pid := child(job, at, log), DEADLINE_S)
        if code is None:
            stop(pid)
        if code != 0:
            raise AssertionError(f"resumed, it ends with {code}: {log.read_text()[-800:]}")
        outputs = tree_of(at / "out")
        names = sorted({*outputs, *goal.outputs})
        differing = [name for name in names if outputs.get(name) != goal.outputs.get(name)]
        if differing:
            raise AssertionError(f"resumed, it leaves other files: {', '.join(differing)}")
    except Exception as error:
        tally.failures.append(f"{place}: {type(error).__name__}: {error}")
    let_go()


def killed(
    job: Job, goal: Undisturbed, at: Path, log: Path, draw: random.Random, tally: Tally
) -> str:
    """Start a command and end it; how, in words."""
    sent = draw.choice(SIGNALS)
    if draw.random() < AT_A_CALL:
        call = draw.randint(1, goal.calls)
        moment = f"{sent.name} at call {call} of {goal.calls}"
        code = wait(pid := child(job, at, log, (call, sent)), DEADLINE_S)
    else:
        after = draw.uniform(0.0, goal.seconds)
        moment = f"{sent.name} after {after:.4f} of {goal.seconds:.4f} s"
        code = wait(pid := child(job, at, log), after)
        if code is None:
            os.kill(pid, sent)
            code = wait(pid, DEADLINE_S)
    if code is None:
        stop(pid)
        raise AssertionError(f"{moment}: it hangs")
    if code in (-sent, 130):
        tally.kills[job.name] += 1
        tally.signals[sent.name] += 1
    elif code == 0:
        tally.finished += 1
    else:
        raise AssertionError(f"{moment}: it ends with {code}: {log.read_text()[-800:]}")
    return moment


def check_state(job: Job, goal: Undisturbed, at: Path, tally: Tally) -> None:
    """Refuse changed inputs, and outputs that are neither the old nor the new ones."""
    if tree_of(at / "in") != goal.inputs:
        raise AssertionError("its inputs changed")
    seen = job.state(at)
    parts = list(zip(seen, goal.before, goal.after, strict=True))
    if any(part not in (before, after) for part, before, after in parts):
        raise AssertionError(f"neither the old nor the new output: {seen}")
    is_old, is_new = seen == goal.before, seen == goal.after
    tally.seen["old" if is_old else "new" if is_new else "some files new"] += 1


def summary(tally: Tally, seed: int, cases: int, seconds: float) -> dict[str, Any]:
    """As values that JSON can hold."""
    return {
        "seed": seed,
        "cases": cases,
        "kills": tally.n_kills,
        "by_command": dict(sorted(tally.kills.items())),
        "by_signal": dict(tally.signals),
        "seen_after_the_kill": dict(tally.seen),
        "ended_before_the_signal": tally.finished,
        "failures": tally.failures,
        "seconds": round(seconds, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="kills")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="run this case alone")
    parser.add_argument("--json", type=Path, help="write the summary to this file, too")
    options = parser.parse_args()
    began, tally = time.monotonic(), Tally()
    with tempfile.TemporaryDirectory(prefix="motionloom-kills-") as folder:
        home = Path(folder)
        jobs = all_jobs(home)
        let_go()
        known = {job.name: undisturbed(job, home) for job in jobs}
        start, number = time.monotonic(), 0 if options.only is None else options.only
        while options.only is not None or tally.n_kills < options.count:
            run_case(number, options.seed, jobs, known, home, tally)
            number += 1
            if options.only is not None:
                break
            if number % 20 == 0:
                spent, done = time.monotonic() - start, max(tally.n_kills, 1)
                left = spent / done * max(options.count - done, 0)
                print(f"{done} of {options.count} kills, {len(tally.failures)} failures, "
                      f"{left:.0f} s left", file=sys.stderr, flush=True)  # fmt: skip
    result = summary(tally, options.seed, number, time.monotonic() - began)
    print(json.dumps(result, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
