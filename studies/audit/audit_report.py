"""What ``./study audit`` prints and writes: sums per kind and per group of clips, and failures."""

from __future__ import annotations

from statistics import mean

from studies.audit.audit_cases import Outcome
from studies.audit.audit_protocol import PREFIX
from studies.report import Figure

REJECTED_GOAL = 1.0
PASSED_GOAL = 97.0
SEVERE_FLIP_DEG = 15.0
"""Thighs and shanks that turn so far in one step have changed their side; a smaller step that
stands out is a defect, but no knee flip."""
GROUPS = {"audit": "audit clips", "other": "other clips"}
"""Sums of the table: ``--clips`` and the name."""


def is_severe(outcome: Outcome) -> bool:
    """Whether a result has a knee flip, a pirouette or a sinking sole."""
    for failure in outcome.failures:
        if failure.check in ("knee backwards", "knee snap", "pirouette", "sinking"):
            return True
        large = failure.check == "flip" and failure.value > SEVERE_FLIP_DEG
        if large and failure.joint.endswith(("knee", "ankle")):
            return True
    return False


def group_of(kind: str) -> str:
    """Which clips a kind uses."""
    return GROUPS["other" if kind.startswith(PREFIX) else "audit"]


def by_kind(outcomes: list[Outcome]) -> dict[str, list[Outcome]]:
    kinds: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        kinds.setdefault(outcome.kind, []).append(outcome)
    return kinds


def sums(outcomes: list[Outcome]) -> dict[str, list[Outcome]]:
    """Outcomes of the audit clips, of the other clips, and all."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(group_of(outcome.kind), []).append(outcome)
    return {**groups, "all": outcomes}


def summary(outcomes: list[Outcome]) -> dict[str, float]:
    """Counts of a kind."""
    passed = [o for o in outcomes if o.passed]
    return {
        "n": len(outcomes),
        "refused": len(outcomes) - len(passed),
        "passed": len(passed),
        "rejected": sum(bool(o.failures) for o in outcomes),
        "rejected among passed": sum(bool(o.failures) for o in passed),
        "severe among passed": sum(is_severe(o) for o in passed),
        "seconds": sum(o.seconds for o in outcomes),
    }


def table_text(outcomes: list[Outcome]) -> str:
    """One line per kind, one for each group of clips and one for all."""
    lines = [
        f"{'':24}{'':>7}{'our check':>16}{'second check, of passed':>28}",
        f"{'kind':24}{'results':>7}{'passed':>9}{'%':>7}{'rejected':>11}{'%':>7}{'severe':>10}",
    ]
    rule = "-" * len(lines[1])
    for group, of_group in sums(outcomes).items():
        lines.append(rule)
        if group != "all":
            lines += [_row(kind, some) for kind, some in by_kind(of_group).items()]
        lines.append(_row(group if group == "all" else f"sum of {group}", of_group))
    for kind, some in by_kind(outcomes).items():
        if errors := fill_errors(some):
            means = (f"{name.split(': ')[1]} {value}" for name, value in errors.items())
            lines.append(f"{kind}, means: {', '.join(means)}")
    seconds = sum(o.seconds for o in outcomes)
    lines.append(f"{seconds:.0f} s of computing; severe: knee flips, pirouettes, sinking soles")
    return "\n".join(lines)


def _row(name: str, outcomes: list[Outcome]) -> str:
    s = summary(outcomes)
    passed, rejected = percents(s)
    return (
        f"{name:24}{s['n']:7.0f}{s['passed']:9.0f}{passed:7.1f}"
        f"{s['rejected among passed']:11.0f}{rejected:7.1f}{s['severe among passed']:10.0f}"
    )


def percents(s: dict[str, float]) -> tuple[float, float]:
    """Per cent of results that pass, and of these per cent that the second check rejects."""
    rejected = 100.0 * s["rejected among passed"] / max(1.0, s["passed"])
    return 100.0 * s["passed"] / max(1.0, s["n"]), rejected


def failure_lines(outcomes: list[Outcome], seed: int | None) -> list[str]:
    """One line for every rejected or refused result."""
    lines = []
    for o in outcomes:
        reproduce = f"./study audit --case {o.case}" + ("" if seed is None else f" --seed {seed}")
        if o.refusal:
            lines.append(f"{o.case}  {o.label}  no result: {o.refusal[:120]!r}  {reproduce}")
        elif o.failures:
            verdict = "passed" if o.passed else "refused"
            worst = "; ".join(str(f) for f in o.failures[:3])
            more = f" and {len(o.failures) - 3} more" if len(o.failures) > 3 else ""
            lines.append(f"{o.case}  {o.label}  ({verdict})  {worst}{more}  {reproduce}")
    return lines


def figures_of(outcomes: list[Outcome]) -> list[Figure]:
    figures = []
    groups = sums(outcomes)
    for name, some in {**by_kind(outcomes), **groups}.items():
        s = summary(some)
        note = ", ".join(f"{key} {value:.4g}" for key, value in s.items())
        goal = REJECTED_GOAL if name in groups else None
        figures.append(
            Figure(f"{name}: rejected among passed", percents(s)[1], "%", lower_is_better=True,
                   value_goal=goal, note=note)
        )  # fmt: skip
    for name, some in groups.items():
        s = summary(some)
        figures.append(
            Figure(f"{name}: severe among passed", s["severe among passed"], "results",
                   lower_is_better=True, value_goal=0.0)
        )  # fmt: skip
        figures.append(Figure(f"{name}: passed", percents(s)[0], "%", value_goal=PASSED_GOAL))
    return figures


def fill_errors(outcomes: list[Outcome]) -> dict[str, object]:
    errors: dict[str, object] = {}
    for kind, some in by_kind(outcomes).items():
        names = dict.fromkeys(name for o in some for name in o.figures)
        for name in names:
            errors[f"{kind}: {name}"] = round(
                mean(o.figures[name] for o in some if name in o.figures), 2
            )
    return errors
