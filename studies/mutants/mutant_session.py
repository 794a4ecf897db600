"""One pytest session that runs tests in forked processes.

Everything is imported and collected once. A forked process then runs some of the tests: all of them
once to see which functions each calls and how long it takes, and later the tests that call a
mutated function, up to the first failure.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

SLACK_S = 10.0
TIMES = 5.0
"""A test may take so many times as long as without a mutant, plus the slack, in processor time."""
WALL_TIMES = 20.0
"""A process that sleeps is ended after so many times its limit of processor time."""
MEMORY_BYTES = 8 << 30
Function = tuple[str, int]
"""File relative to the project, and first line of a function, decorators included.

A kernel of the C core is the file that ``_core.kernel`` gives it, ``<ml_noun_verb>``, and 1.
"""


@dataclass
class Seen:
    """What one test does without a mutant."""

    setup_s: float = 0.0
    call_s: float = 0.0
    outcome: str = "passed"
    functions: set[Function] = field(default_factory=set)


class Watch:
    """Which functions of the package, and kernels of the C core, each test calls."""

    def __init__(self, root: Path) -> None:
        self.root = f"{root}/"
        self.stack: list[set[Function]] = [set()]
        self.of_fixture: dict[Any, set[Function]] = {}
        self._known: dict[CodeType, Function | None] = {}

    def _name(self, code: CodeType) -> Function | None:
        file = code.co_filename
        if file == f"<{code.co_name}>":  # not where its code is made
            return file, 1
        if not file.startswith(self.root):
            return None
        return file[len(self.root) :], code.co_firstlineno

    def __call__(self, frame: FrameType, what: str, _: object) -> None:
        code = frame.f_code
        if code not in self._known:
            self._known[code] = self._name(code)
        reached = self._known[code]
        if reached:
            self.stack[-1].add(reached)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        self.stack.append(set())
        try:
            return (yield)
        finally:
            self.of_fixture[fixturedef] = self.stack.pop()

    def take(self, item: Any) -> set[Function]:
        """Everything that a test called, its fixtures included."""
        reached = set(self.stack[0])
        self.stack[0].clear()
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            for definition in definitions:
                reached |= self.of_fixture.get(definition, set())
        return reached


class Reports:
    """Outcomes of the test that runs."""

    def __init__(self) -> None:
        self.reports: list[Any] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.reports.append(report)

    def take(self) -> Seen:
        seen = Seen()
        for report in self.reports:
            if report.when == "call":
                seen.call_s += report.duration
            else:
                seen.setup_s += report.duration
            if report.outcome != "passed" and seen.outcome != "failed":
                seen.outcome = report.outcome
        self.reports.clear()
        return seen


def forget_cached_results(wrappers: list[Any]) -> None:
    for wrapper in wrappers:
        wrapper.cache_clear()


def cached_functions() -> list[Any]:
    kind = type(functools.lru_cache(len))
    cached = [o for o in gc.get_objects() if type(o) is kind]
    return [o for o in cached if (o.__module__ or "").split(".")[0] in ("motionloom", "tests")]


@dataclass
class Child:
    """A forked process."""

    pid: int
    pipe: int
    folder: str
    deadline: float
    lines: bytes = b""
    status: int | None = None

    @property
    def messages(self) -> list[Any]:
        return [json.loads(line) for line in self.lines.splitlines()]


def start(work: Callable[[Callable[[object], None]], None], wall_s: float) -> Child:
    """Fork, and run ``work`` with a function that sends JSON back."""
    folder = tempfile.mkdtemp(prefix="mutant-")
    out, into = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(into)
        return Child(pid, out, folder, time.monotonic() + wall_s)
    status = 70
    try:
        os.close(out)
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = tempfile.tempdir = folder
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        def send(message: object) -> None:
            os.write(into, json.dumps(message).encode() + b"\n")

        work(send)
        status = 0
    except BaseException as error:
        os.write(into, json.dumps({"error": f"{type(error).__name__}: {error}"}).encode() + b"\n")
    finally:
        os._exit(status)


def end(child: Child) -> Child:
    """Wait for a process whose pipe is closed, and clean up after it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        os.kill(child.pid, signal.SIGKILL)
    os.close(child.pipe)
    shutil.rmtree(child.folder, ignore_errors=True)
    return child


def run_all(starts: Iterator[Callable[[], tuple[Any, Child]]], jobs: int) -> Iterator[Any]:
    """Pairs of what was started and its ended process, in the order in which they end."""
    running: dict[int, tuple[Any, Child]] = {}
    more = True
    while more or running:
        while more and len(running) < jobs:
            begin = next(starts, None)
            if begin is None:
                more = False
                break
            what, child = begin()
            running[child.pipe] = (what, child)
        ready, _, _ = select.select(list(running), [], [], 0.5)
        for pipe in list(running):
            what, child = running[pipe]
            if pipe in ready:
                part = os.read(pipe, 1 << 20)
                child.lines += part
                if part:
                    continue
                _, status = os.waitpid(child.pid, 0)
                child.status = status
            elif time.monotonic() < child.deadline:
                continue
            else:
                os.killpg(child.pid, signal.SIGKILL)
                os.waitpid(child.pid, 0)
                child.status = signal.SIGPROF
            del running[pipe]
            yield what, end(child)


def run_item(item: Any, following: Any, reports: Reports) -> Seen:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return reports.take()


def watch_items(items: list[Any], root: Path, send: Callable[[object], None]) -> None:
    """Run tests and send what each calls and how long it takes."""
    reports, watch = Reports(), Watch(root)
    manager = items[0].config.pluginmanager
    manager.register(reports)
    manager.register(watch)
    wrappers = cached_functions()
    for k, item in enumerate(items):
        forget_cached_results(wrappers)
        threading.settrace(watch)
        sys.settrace(watch)
        try:
            started = time.process_time()
            seen = run_item(item, items[k + 1] if k + 1 < len(items) else None, reports)
            spent = time.process_time() - started
        finally:
            sys.settrace(None)
            threading.settrace(None)
        shorter = min(1.0, spent / max(seen.setup_s + seen.call_s, 1e-3))
        send(
            {
                "test": item.nodeid,
                "setup_s": round(seen.setup_s * shorter, 3),
                "call_s": round(seen.call_s * shorter, 3),
                "outcome": seen.outcome,
                "functions": sorted(watch.take(item)),
            }
        )


def run_items(items: list[Any], limits: list[float], send: Callable[[object], None]) -> None:
    """Run tests up to the first that fails, and send its name."""
    reports = Reports()
    items[0].config.pluginmanager.register(reports)
    forget_cached_results(cached_functions())
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for k, (item, limit) in enumerate(zip(items, limits, strict=True)):
        send({"test": item.nodeid})
        signal.setitimer(signal.ITIMER_PROF, limit)
        seen = run_item(item, items[k + 1] if k + 1 < len(items) else None, reports)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        if seen.outcome == "failed":
            send({"failed": item.nodeid})
            return
