"""Which results the audit makes: ``protocols/audit.json`` is committed, other seeds are fresh."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from studies.audit.audit_clips import COLLECTIONS, audit_clips, bandai_clips, subject
from studies.audit.audit_draw import Case, Draw, Protocol
from studies.audit.audit_others import PREFIX, draw_others

__all__ = ["PREFIX", "Case", "Protocol", "protocol", "quick"]

FILE = Path(__file__).resolve().parents[1] / "protocols" / "audit.json"

KNOWN = {
    "walks": [("104_09", 24, "35_17", 74), ("16_24", 73, "104_53", 111)],
    "bandai": [],
    "141": [],
    "mixed": [],
}
"""Transitions that are known to have been bad once."""
KNOWN_FILLS = {"bandai": [("dataset-1_run_childish_001", 82)]}
SINGLE = ("136_27", "136_28", "137_26", "56_08", "77_02", "82_06")
WALK_LIKE = {
    "walk": "07_01 07_04 07_11 16_22 16_24 16_26 16_28 16_30 16_32 16_34 35_01 35_03 113_25 "
    "113_26 141_25 141_32 47_01 09_12",
    "run": "09_01 09_05 16_46 16_52 16_54 16_56 35_17 35_20 35_23 127_03 127_09 127_11 127_15 "
    "141_03 141_34 104_06 104_53",
    "jump": "16_02 16_04 16_06 16_07 16_09 16_10 141_04",
    "bandai walk": "dataset-1_walk_tired_001 dataset-1_walk-left_giant_001 "
    "dataset-1_walk_normal_001 dataset-1_walk_happy_001 dataset-1_walk-left_normal_001 "
    "dataset-1_walk-right_normal_001",
    "bandai turn": "dataset-2_walk_active_001 dataset-2_walk-turn-left_active_001 "
    "dataset-2_walk-turn-right_active_001 dataset-2_walk_normal_001 "
    "dataset-2_walk-turn-left_normal_001",
    "bandai run": "dataset-1_run_childish_001 dataset-1_run_normal_001 dataset-1_dash_normal_001",
}
"""Clips that may be blended with one another."""
UPPER = (
    "113_26 113_27 113_13 141_16 70_09 74_03 81_06 115_01 dataset-1_byebye_active_001 "
    "dataset-2_wave-both-hands_active_001 dataset-1_punch_normal_002 120_12"
)
LOWER = (
    "16_22 16_24 16_32 16_52 07_01 35_01 35_17 127_03 104_06 113_25 141_25 47_01 136_13 "
    "dataset-1_walk_tired_001 dataset-2_walk_active_001"
)
LOOPED = (
    "07_01 07_04 07_11 09_01 16_22 16_32 16_46 16_56 35_01 35_03 35_17 35_20 38_03 47_01 104_06 "
    "113_25 120_12 127_03 136_13 141_03 141_25 141_34 dataset-1_run_childish_001 "
    "dataset-1_walk_tired_001 dataset-2_walk_active_001 dataset-2_run_active_001 81_06"
)
RIGS = (
    "16_22", "141_25", "113_25", "dataset-1_walk_tired_001", "Soldier#Walk", "humanoid3d_walk",
    "jesse_dance",
)  # fmt: skip


IN_PLACE = "Soldier#Walk"
"""Walks in place: its feet slide by design, so it is a rig to retarget onto only."""


def protocol(seed: int | None = None) -> Protocol:
    """The committed protocol, or a fresh one: other pairs, frames, gaps and parts of the clips."""
    committed: Protocol = json.loads(FILE.read_text())["cases"]
    if seed is None:
        return committed
    # Separate generators: no seed draws the committed cases again.
    audit = draw_audit(Draw([seed, 2], committed))
    return audit | draw_others(Draw([seed, 3], committed), _cleaned(committed))


def draw(seed: int) -> Protocol:
    """The cases to commit."""
    audit = draw_audit(Draw(seed))
    return audit | draw_others(Draw([seed, 1]), _cleaned(audit))


def _cleaned(cases: Protocol) -> frozenset[str]:
    return frozenset(case["clip"] for case in cases["clean"])


def draw_audit(draw: Draw) -> Protocol:
    """Cases of every kind from the audit clips, and a few of others."""
    cases: Protocol = {}
    for name in COLLECTIONS:
        cases[f"table-{name}"] = draw.tables(name, 300, KNOWN[name])
    for name in COLLECTIONS:
        cases[f"stream-{name}"] = draw.stream(name)
    for name in COLLECTIONS:
        cases[f"fill-{name}"] = draw.fills(name, 50, KNOWN_FILLS.get(name, []))
    audit = audit_clips()
    cmu = [name for name in audit if subject(name).isdigit()]
    same = [(a, b) for a in audit for b in audit if a != b and subject(a) == subject(b)]
    other = [(a, b) for a in cmu for b in cmu if subject(a) != subject(b)]
    bandai = [name for name in audit if name.startswith("dataset")]
    cross = [(a, b) for a in cmu for b in bandai] + [(b, a) for a in cmu for b in bandai]
    cases["transition-same"] = draw.pairs("transition-same", same, 150)
    kind = "transition-other"
    cases[kind] = draw.pairs(kind, other, 70) + draw.pairs(kind, cross, 30)
    cases["command"] = [
        case
        for pairs, count in ((same, 12), (other, 5), (cross, 5))
        for case in draw.pairs("command", pairs, count)
    ]
    cases["clean"] = draw.clips((*audit, *bandai_clips(), *SINGLE))
    blends = [
        (a, b)
        for group in WALK_LIKE.values()
        for a in group.split()
        for b in group.split()
        if a < b and (subject(a) == subject(b) or subject(a).isdigit())
    ]
    cases["blend"] = draw.pairs("blend", blends, 86)
    splices = [(u, low) for u in UPPER.split() for low in LOWER.split() if u != low]
    cases["splice"] = draw.pairs("splice", splices, 33)
    cases["loop"] = draw.clips(LOOPED.split())
    cases["retarget"] = [
        {"a": draw.part(a), "b": b} for a in RIGS for b in RIGS if a != b and a != IN_PLACE
    ]
    return cases


QUICK: dict[str, Callable[[int], int]] = {
    "table-141": lambda n: 40, "table-bandai": lambda n: 40, "fill-bandai": lambda n: 6,
    "transition-same": lambda n: 6, "transition-other": lambda n: 4, "command": lambda n: 1,
    "clean": lambda n: 8, "blend": lambda n: 4, "splice": lambda n: 3, "loop": lambda n: 5,
    "retarget": lambda n: 5,
}  # fmt: skip


def quick(cases: Protocol, seed: int = 0) -> dict[str, list[int]]:
    """Numbers of a few cases of most kinds."""
    rng = np.random.default_rng(seed)
    return {
        kind: sorted(rng.permutation(len(cases[kind]))[: count(len(cases[kind]))].tolist())
        for kind, count in QUICK.items()
        if kind in cases
    }


def write(seed: int = 0) -> None:
    """Write the committed protocol."""
    document = {"about": f"Cases of ./study audit, drawn with seed {seed}.", "cases": draw(seed)}
    lines = json.dumps(document, indent=None, separators=(", ", ": "))
    FILE.write_text(lines.replace("}, {", "},\n{").replace('], "', '],\n"') + "\n")


if __name__ == "__main__":
    write()
