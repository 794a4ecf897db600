"""Outcomes of mutants: stored while a study runs, explained if no test can notice, reported."""

from __future__ import annotations

import argparse
import json
import platform
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from studies.mutants.mutant_c_sites import CFile
from studies.mutants.mutant_sites import Mutant, SourceFile
from studies.mutants.mutant_tests import Baseline, digest, is_c

DEAD = ("killed", "timeout")
NONE = ("invalid", "same")
"""States of what is no mutant after all: it does not compile, or to the same machine code."""


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant."""

    state: str
    """killed, timeout, survived, invalid, same, or error, which is a fault of the study."""
    test: str
    """The test that noticed it."""
    tests: int
    """How many tests call it."""
    note: str


class Equivalents(dict[str, str]):
    """Reasons why some mutants cannot be noticed, by their names."""

    @classmethod
    def read(cls, path: Path, files: Sequence[SourceFile | CFile]) -> Equivalents:
        """Read the list and check that every entry is a mutant of the present code.

        Raises
        ------
        SystemExit
            An entry has no reason, or its line has changed since.
        """
        equivalents = cls()
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
        by_name = {f.name: f for f in files}
        for entry in entries:
            e = {k: str(entry.get(k, "")) for k in ("file", "source", "before", "after", "reason")}
            key = f"{e['file']} | {e['source']} | {e['before']} -> {e['after']}"
            if not e["reason"]:
                raise SystemExit(f"{path.name}: no reason is given for {key}")
            column = entry.get("column")
            file = by_name.get(e["file"])
            fitting = [m for m in file.mutants if m.key == key] if file else []
            fitting = [m for m in fitting if column in (None, m.column)]
            if not fitting:
                raise SystemExit(
                    f"{path.name}: the code no longer has this mutant: {key}\n"
                    "Remove the entry, or check it against the changed line."
                )
            if len(fitting) > 1:
                columns = ", ".join(str(m.column) for m in fitting)
                raise SystemExit(f"{path.name}: give the `column` ({columns}) of {key}")
            equivalents[fitting[0].name] = e["reason"]
        return equivalents


class Outcomes:
    """Outcomes on disk, valid as long as the code that they are of."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stored: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        self.last = {key: str(entry["state"]) for key, entry in self._stored.items()}
        self._sources: dict[str, str] = {}
        self._tests = ""
        self._nodes: set[str] = set()

    def open(self, root: Path, baseline: Baseline) -> None:
        self._root = root
        self._tests = digest(*(root / f for f in sorted(baseline.items)))
        self._nodes = {t.item.nodeid for t in baseline.tests}

    def _source(self, file: str) -> str:
        if file not in self._sources:
            self._sources[file] = digest(self._root / file)
        return self._sources[file]

    def known(self, mutant: Mutant) -> Outcome | None:
        """The stored outcome: of a killed one while its test exists, else of the same tests."""
        entry = self._stored.get(mutant.name)
        if not entry or entry["source"] != self._source(mutant.file) or entry["state"] == "error":
            return None
        is_dead = entry["state"] in DEAD and entry["test"] in self._nodes
        if not (is_dead or entry["state"] in NONE) and entry["all_tests"] != self._tests:
            return None
        return Outcome(entry["state"], entry["test"], entry["tests"], entry["note"])

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        self._stored[mutant.name] = {
            **asdict(outcome),
            "source": self._source(mutant.file),
            "all_tests": self._tests,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self._stored, indent=0))
        new.replace(self.path)


def folder_of(mutant: Mutant) -> str:
    if is_c(mutant.file):
        return "core"
    return "/".join(mutant.file.split("/")[2:-1])


def share(states: list[str]) -> str:
    dead = sum(s in DEAD for s in states)
    return f"{dead:4d} of {len(states):4d} killed ({100.0 * dead / max(len(states), 1):.1f} %)"


def summary(mutants: list[Mutant], results: Mapping[str, Outcome], n_equivalent: int) -> str:
    """Shares by folder and kind, and every mutant that is alive."""
    nothing = sum(results[m.name].state in NONE for m in mutants)
    mutants = [m for m in mutants if results[m.name].state not in NONE]
    states = {m.name: results[m.name].state for m in mutants}
    lines = []
    for title, of in (("folder", folder_of), ("kind", lambda m: m.kind)):
        lines.append(f"\nby {title}")
        groups: dict[str, list[str]] = {}
        for m in sorted(mutants, key=of):
            groups.setdefault(of(m), []).append(states[m.name])
        lines += [f"  {name:24}{share(some)}" for name, some in groups.items()]
    alive = [m for m in mutants if states[m.name] not in DEAD]
    if alive:
        lines.append("\nalive")
    for m in alive:
        o = results[m.name]
        note = f" ({o.note})" if o.note else ""
        lines.append(f"  {m.file}:{m.line}: {m.kind}, {o.tests} tests{note}: {m.source}")
        lines.append(f"      {m.before}  ->  {m.after}")
    lines.append(
        f"\n{share(list(states.values()))}; not counted: {n_equivalent} equivalent ones, {nothing} "
        "that do not compile or compile to the same code"
    )
    return "\n".join(lines)


def write_results(
    root: Path,
    options: argparse.Namespace,
    mutants: list[Mutant],
    results: Mapping[str, Outcome],
    equivalents: Equivalents,
    chosen: list[Mutant],
) -> None:
    """Counts and the mutants that are alive, as JSON in ``studies/results``."""
    counted = [m for m in mutants if results[m.name].state not in NONE]
    alive = [m for m in counted if results[m.name].state not in DEAD]
    text = {
        "count": len(chosen),
        "seed": options.seed,
        "states": dict(sorted(Counter(results[m.name].state for m in mutants).items())),
        "equivalent": sum(m.name in equivalents for m in chosen),
        "killed_share": round(1.0 - len(alive) / max(len(counted), 1), 4),
        "killed_share_of": {
            name: round(1.0 - sum(m in alive for m in some) / max(len(some), 1), 4)
            for name, some in {
                "C": [m for m in counted if is_c(m.file)],
                "Python": [m for m in counted if not is_c(m.file)],
            }.items()
        },
        "python": platform.python_version(),
        "alive": [
            {
                "file": m.file,
                "line": m.line,
                "kind": m.kind,
                "source": m.source,
                "before": m.before,
                "after": m.after,
                **asdict(results[m.name]),
            }
            for m in alive
        ],
    }
    path = root / "studies" / "results" / f"mutants-seed{options.seed}.json"
    path.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
