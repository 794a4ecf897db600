"""Strips of the audit's worst results and of random ones, each with the reasons under its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from motionloom.drawing.strip import save_strip
from studies.audit.audit_cases import Made, Outcome, label_of, make
from studies.audit.audit_protocol import Protocol

COUNT = 20
REASONS = 3
WIDEST = 150
"""Characters of a title."""


def save_case_strip(result: Made, case: str, folder: Path, label: str = "") -> Path:
    """Draw one result; the title gives what is wrong with it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.replace(':', '_')}.png"
    reasons = "; ".join(str(failure) for failure in result.failures[:REASONS]) or "nothing is wrong"
    title = f"{case} {result.label or label}: {reasons}"
    save_strip(
        result.motion, path, footplants=result.footplants, title=title[:WIDEST], ghosts=11,
        view="three-quarter",
    )  # fmt: skip
    return path


def excess(outcome: Outcome) -> float:
    """How far the worst value of a result is above its limit, as a part of the limit."""
    worst = [abs(f.value - f.limit) / max(abs(f.limit), 1e-3) for f in outcome.failures]
    return max(worst, default=0.0)


def save_pictures(outcomes: list[Outcome], cases: Protocol, folder: Path) -> None:
    """The worst results that motionloom passes, and as many random ones; with a page of all."""
    shown = [o for o in outcomes if not o.refusal]
    worst = sorted((o for o in shown if o.failures and o.passed), key=excess, reverse=True)[:COUNT]
    rng = np.random.default_rng(0)
    some = [shown[int(k)] for k in rng.permutation(len(shown))[:COUNT]]
    page = ["<!doctype html><meta charset=utf-8><title>Audit</title><style>img{width:100%}</style>"]
    for title, group in (("Worst results", worst), ("Random results", some)):
        page.append(f"<h2>{title}</h2>")
        for outcome in group:
            case = cases[outcome.kind][outcome.number]
            result = make(outcome.kind, case)[outcome.part]
            path = save_case_strip(result, outcome.case, folder, label_of(case))
            reasons = "<br>".join(str(failure) for failure in result.failures) or "nothing is wrong"
            page.append(f"<h3>{outcome.case} {outcome.label}</h3><p>{reasons}</p>")
            page.append(f"<img src='{path.name}'>")
    (folder / "index.html").write_text("\n".join(page))
    print(f"pictures: {folder / 'index.html'}")
