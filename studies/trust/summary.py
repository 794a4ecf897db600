"""What the cases of a run say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.trust.draw import Case
from studies.trust.independent import KINDS

LITTLE = 0.15
"""A transition that keeps less of a clip loses it."""
JUDGED = ("transitions", "tables", "blends", "splices", "loops")
GOALS = {
    "transitions that keep less than 15 % of a clip": 5.0,
    "transitions that pass": 93.0,
    "blends refused or failed": 10.0,
    "rejected among passed, more than captured": 1.0,
}
"""Per cent: at most, at least, at most, at most."""


def summary(cases: Sequence[Case]) -> dict[str, Any]:
    """Counts of every kind, and whether the goals are met."""
    kinds = {kind: some for kind in JUDGED if (some := _of(cases, kind))}
    figures: dict[str, Any] = {"kinds": {kind: _counts(some) for kind, some in kinds.items()}}
    judged = [case for some in kinds.values() for case in some if case["passed"]]
    together = {
        "passed": len(judged),
        "rejected": sum(bool(case["alarms"]) for case in judged),
        "captured alike rejected": sum(bool(case["captured"]) for case in judged),
    }
    figures["together"] = together
    figures["goals"] = _goals(kinds, together)
    figures["met"] = all(goal["met"] for goal in figures["goals"].values())
    if transitions := kinds.get("transitions"):
        figures["baselines"] = {
            name: _alarms(
                [{"alarms": c["baselines"][name]} for c in transitions if "baselines" in c]
            )
            for name in ("cross-fade", "inertialization")
        }
    if live := _of(cases, "live"):
        figures["live"] = _live(live)
    figures["alarms"] = [
        {"kind": c["kind"], "number": c["number"], "case": c["case"], "alarms": c["alarms"]}
        for c in judged if c["alarms"]
    ]  # fmt: skip
    return figures


def _of(cases: Sequence[Case], kind: str) -> list[Case]:
    return sorted((c for c in cases if c["kind"] == kind), key=lambda c: int(c["number"]))


def _alarms(cases: Sequence[Case]) -> dict[str, int]:
    """How many cases have an alarm of each kind, and of any."""
    counts = Counter(kind for c in cases for kind in {a["kind"] for a in c["alarms"]})
    any_kind = sum(bool(c["alarms"]) for c in cases)
    return {"cases": len(cases), "rejected": any_kind, **{kind: counts[kind] for kind in KINDS}}


def _counts(cases: Sequence[Case]) -> dict[str, Any]:
    passed = [case for case in cases if case["passed"]]
    copies = [case["copies"] for case in cases if "copies" in case]
    return {
        "drawn": len(cases),
        "refused": sum("refusal" in case for case in cases),
        "crashed": sum("crash" in case for case in cases),
        "passed": len(passed),
        "keep little": sum(min(case.get("kept") or [1.0]) < LITTLE for case in cases),
        "alarms": _alarms(passed),
        "captured alike": _alarms([{"alarms": case["captured"]} for case in passed]),
        "told by provenance": sum(case.get("map") == "provenance" for case in cases),
        "captured frames": sum(each["frames"] for each in copies),
        "results with a changed captured frame": sum(not each["sound"] for each in copies),
        "failed checks": dict(
            Counter(case["failed"] for case in cases if not case["passed"] and "failed" in case)
        ),
    }


def _goals(kinds: dict[str, list[Case]], together: dict[str, int]) -> dict[str, Any]:
    goals: dict[str, tuple[float, bool]] = {}
    little, passing, refused, rejected = GOALS
    if some := kinds.get("transitions"):
        counts = _counts(some)
        share = 100.0 * counts["keep little"] / len(some)
        goals[little] = (share, share <= GOALS[little])
        share = 100.0 * counts["passed"] / len(some)
        goals[passing] = (share, share >= GOALS[passing])
    if some := kinds.get("blends"):
        share = 100.0 * (1.0 - _counts(some)["passed"] / len(some))
        goals[refused] = (share, share <= GOALS[refused])
    if n := together["passed"]:
        more = 100.0 * (together["rejected"] - together["captured alike rejected"]) / n
        goals[rejected] = (more, more <= GOALS[rejected])
    return {
        name: {"value": round(value, 2), "goal": GOALS[name], "met": met}
        for name, (value, met) in goals.items()
    }


def _live(cases: Sequence[Case]) -> dict[str, Any]:
    """Per collection: minutes, freezes, failed checks, orders met, latencies."""
    figures: dict[str, Any] = {}
    for name in dict.fromkeys(case["case"]["collection"] for case in cases):
        some = [c for c in cases if c["case"]["collection"] == name]
        made = [c for c in some if "refusal" not in c]
        figures[name] = {
            "minutes": len(made),
            "refused": len(some) - len(made),
            **{key: sum(c[key] for c in made)
               for key in ("freezes", "orders", "orders met", "rejected spans")},
            "failed checks": [text for c in made for text in c["failed checks"]],
            "flawed s": round(sum(c["flawed s"] for c in made), 2),
            **{key: _median_and_most([c[key] for c in made])
               for key in ("p50 ms", "p95 ms", "p99 ms", "worst ms", "slip cm")},
        }  # fmt: skip
    return figures


def _median_and_most(values: Sequence[float]) -> tuple[float, float]:
    return round(float(np.median(values)), 2), round(max(values), 2)


def table_text(figures: dict[str, Any]) -> str:
    """The figures as lines of text."""
    head = ("kind", "drawn", "refused", "passed", "keep < 15 %", "rejected", *KINDS,
            "captured rejected", "copies changed")  # fmt: skip
    rows = [head]
    for kind, c in figures["kinds"].items():
        rows.append((
            kind, c["drawn"], c["refused"], c["passed"], c["keep little"], c["alarms"]["rejected"],
            *(c["alarms"][each] for each in KINDS), c["captured alike"]["rejected"],
            c["results with a changed captured frame"],
        ))  # fmt: skip
    for name, c in figures.get("baselines", {}).items():
        rows.append((name, c["cases"], "", "", "", c["rejected"], *(c[k] for k in KINDS), "", ""))
    widths = [max(len(str(row[k])) for row in rows) for k in range(len(head))]
    lines = [
        "  ".join(str(cell).rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    for name, goal in figures["goals"].items():
        met = "met" if goal["met"] else "NOT MET"
        lines.append(f"{name}: {goal['value']} % (goal {goal['goal']} %): {met}")
    for name, live in figures.get("live", {}).items():
        lines.append(f"live {name}: " + ", ".join(f"{key} {value}" for key, value in live.items()))
    for alarm in figures["alarms"]:
        first = alarm["alarms"][0]
        lines.append(
            f"alarm {alarm['kind']}:{alarm['number']} {first['kind']} ({first['what']}) "
            f"{first['value']} at {first['first']}-{first['last']}  {alarm['case']}"
        )
    return "\n".join(lines)
