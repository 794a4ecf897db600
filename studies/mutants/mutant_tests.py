"""Which tests are worth running for a mutant, from one run of all tests without mutants."""

from __future__ import annotations

import ast
import hashlib
import json
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies.mutants.mutant_c_sites import c_files
from studies.mutants.mutant_c_syntax import CallGraph
from studies.mutants.mutant_session import (
    SLACK_S,
    TIMES,
    Child,
    Function,
    run_all,
    start,
    watch_items,
)
from studies.mutants.mutant_sites import Mutant, first_line

SHARED = ("tests/properties/", "tests/formats/")
"""Folders of tests that count for every folder of the package, as do the files of tests/unit."""
FILE_WALL_S = 1200.0
"""A file of tests that waits longer than this in a forked process is left out."""
MOST_FAILING = 0.01
"""Part of the tests that may fail without a mutant; they are left out."""


def digest(*paths: Path) -> str:
    total = hashlib.sha256()
    for path in paths:
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:20]


@dataclass
class Test:
    """A test without mutants."""

    item: Any
    setup_s: float
    call_s: float
    functions: frozenset[Function]

    @property
    def file(self) -> str:
        return str(self.item.nodeid).split("::")[0]


@dataclass
class NameUse:
    """Functions by the names that they read, and module-level names by those they are made of."""

    functions: dict[str, set[Function]] = field(default_factory=lambda: defaultdict(set))
    derived: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, path: Path, name: str) -> None:
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                stored = {n.id for n in names_in(statement) if isinstance(n.ctx, ast.Store)}
                for read in names_in(statement):
                    self.derived[read.id] |= stored - {read.id}
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    here = (name, first_line(node))
                    for inner in ast.walk(node):
                        used = getattr(inner, "id", None) or getattr(inner, "attr", None)
                        if isinstance(used, str):
                            self.functions[used].add(here)
                    if isinstance(statement, ast.ClassDef):
                        self.functions[statement.name].add(here)

    def of(self, names: tuple[str, ...]) -> set[Function]:
        waiting, met = list(names), set()
        while waiting:
            name = waiting.pop()
            if name not in met:
                met.add(name)
                waiting += self.derived.get(name, ())
        return {f for name in met for f in self.functions.get(name, ())}


def names_in(node: ast.AST) -> list[ast.Name]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Name)]


class Baseline:
    """Every test: what it calls and how long it takes."""

    def __init__(self, root: Path, items: list[Any], store: Path) -> None:
        self.root, self.store = root, store
        self.items: dict[str, list[Any]] = defaultdict(list)
        for item in items:
            self.items[item.nodeid.split("::")[0]].append(item)
        sources = sorted((root / "src").rglob("*.py"))
        helpers = sorted((root / "tests").rglob("*.py"))
        helpers = [p for p in helpers if not p.name.startswith("test_")]
        core = sorted((root / "core").rglob("*.[ch]"))
        common = digest(*sources, *helpers, *core)
        self.calls = CallGraph(list(c_files(root)))
        self.keys = {f: common + digest(root / f) for f in self.items}
        self.uses = NameUse()
        for path in [*sources, *sorted((root / "tests").rglob("*.py"))]:
            self.uses.add(path, str(path.relative_to(root)))
        self._known: dict[str, Any] = {}
        if store.exists():
            self._known = json.loads(store.read_text())
        self.tests: list[Test] = []
        self.failing: list[str] = []

    def run(self, jobs: int, say: Callable[[str], None]) -> None:
        """Run the tests of files that are new or changed."""
        waiting = [f for f, k in self.keys.items() if self._known.get(f, {}).get("key") != k]
        for done, (file, child) in enumerate(run_all(self._starts(waiting), jobs), start=1):
            say(f"tests without mutants: {done} of {len(waiting)} files")
            messages = child.messages
            if child.status == signal.SIGPROF:
                say(f"{file} did not end within {FILE_WALL_S:.0f} s and is left out")
                del self.items[file]
                continue
            if child.status or any("error" in m for m in messages):
                why = [m["error"] for m in messages if "error" in m]
                raise SystemExit(f"{file} could not be run without a mutant: {why or child.status}")
            self._known[file] = {"key": self.keys[file], "tests": messages}
            self._save()
        for file, items in self.items.items():
            seen = {m["test"]: m for m in self._known[file]["tests"]}
            for item in items:
                self._add(item, seen[item.nodeid])
        if len(self.failing) > MOST_FAILING * len(self.tests):
            names = "\n  ".join(self.failing[:20])
            raise SystemExit(f"{len(self.failing)} tests fail without a mutant:\n  {names}")

    def _starts(self, files: list[str]) -> Iterator[Callable[[], tuple[str, Child]]]:
        for file in files:

            def work(send: Callable[[object], None], file: str = file) -> None:
                watch_items(self.items[file], self.root, send)

            yield lambda file=file, work=work: (file, start(work, FILE_WALL_S))  # type: ignore[misc]

    def _add(self, item: Any, seen: dict[str, Any]) -> None:
        if seen["outcome"] == "failed":
            self.failing.append(item.nodeid)
        if seen["outcome"] == "passed":
            functions = frozenset((name, line) for name, line in seen["functions"])
            self.tests.append(Test(item, seen["setup_s"], seen["call_s"], functions))

    def _save(self) -> None:
        self.store.parent.mkdir(parents=True, exist_ok=True)
        new = self.store.with_suffix(".new")
        new.write_text(json.dumps(self._known))
        new.replace(self.store)

    def tests_of(self, mutant: Mutant, budget_s: float) -> list[Test]:
        """Tests that call the mutated function, the most likely and quickest files first."""
        reached = self.reached(mutant)
        groups: dict[str, list[Test]] = defaultdict(list)
        far: dict[str, int] = {}
        for test in self.tests:
            called = reached.keys() & test.functions
            if called and is_of_folder(test.file, mutant.file):
                groups[test.file].append(test)
                steps = min(reached[function] for function in called)
                far[test.file] = min(steps, far.get(test.file, steps))
        stem = Path(mutant.file).stem

        def rank(file: str) -> tuple[bool, float]:
            seconds = sum(t.setup_s + t.call_s for t in groups[file])
            return stem not in file, (1 + far[file]) * seconds

        chosen: list[Test] = []
        spent = 0.0
        for file in sorted(groups, key=rank):
            setup = max(t.setup_s for t in groups[file])
            for test in groups[file]:
                if spent + setup + test.call_s <= budget_s:
                    chosen.append(test)
                    spent += test.call_s
            spent += setup
        return chosen

    def reached(self, mutant: Mutant) -> dict[Function, int]:
        """Functions that run the mutated code, by the calls between; in C those of the header."""
        if is_c(mutant.file):
            kernels = self.calls.kernels_of(mutant.file, mutant.names[0])
            return {(f"<{name}>", 1): steps for name, steps in kernels.items()}
        inner = {(mutant.file, line) for line in mutant.scope[-1:]}
        return dict.fromkeys(inner or self.uses.of(mutant.names), 0)

    def limits_of(self, tests: list[Test]) -> list[float]:
        """Processor time for each of some tests."""
        setups: dict[str, float] = defaultdict(float)
        for test in self.tests:
            setups[test.file] = max(setups[test.file], test.setup_s)
        return [SLACK_S + TIMES * (t.call_s + setups[t.file]) for t in tests]


def is_c(file: str) -> bool:
    return file.endswith((".c", ".h"))


def is_of_folder(test: str, source: str) -> bool:
    """Whether a file of tests is of the folder of a source file, or of all folders; C has none."""
    if is_c(source):
        return True
    folder = source.split("/")[2]
    own = test.startswith(f"tests/unit/{folder}/")
    return (
        own or test.startswith(SHARED) or (test.startswith("tests/unit/") and test.count("/") == 2)
    )
