"""Which results the audit makes: drawn with a seed; ``protocols/audit.json`` is committed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from audit_clips import COLLECTIONS, audit_clips, bandai_clips, clips_of, frames_at, subject

SHORTEST = 64
"""Frames of a clip that a transition of a second can leave or reach."""
FILE = Path(__file__).resolve().parent / "protocols" / "audit.json"
Case = dict[str, Any]
Protocol = dict[str, list[Case]]

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
    """The committed protocol, or another one drawn with a seed."""
    if seed is None and FILE.exists():
        cases: Protocol = json.loads(FILE.read_text())["cases"]
        return cases
    return draw(seed or 0)


def draw(seed: int) -> Protocol:
    """Cases of every kind."""
    rng = np.random.default_rng(seed)
    cases: Protocol = {}
    for name in COLLECTIONS:
        cases[f"table-{name}"] = _tables(name, rng, 300)
    for name in COLLECTIONS:
        clips = [clip for clip in clips_of(name) if frames_at(clip) >= SHORTEST]
        cases[f"stream-{name}"] = [
            {"collection": name, "seconds": 60, "every_s": 0.7, "seed": int(rng.integers(1 << 30)),
             "start": clips[int(rng.integers(len(clips)))]}
        ]  # fmt: skip
    for name in COLLECTIONS:
        cases[f"fill-{name}"] = _fills(name, rng, 50)
    audit = audit_clips()
    cmu = [name for name in audit if subject(name).isdigit()]
    same = [(a, b) for a in audit for b in audit if a != b and subject(a) == subject(b)]
    other = [(a, b) for a in cmu for b in cmu if subject(a) != subject(b)]
    bandai = [name for name in audit if name.startswith("dataset")]
    cross = [(a, b) for a in cmu for b in bandai] + [(b, a) for a in cmu for b in bandai]
    cases["transition-same"] = _pairs(same, rng, 150)
    cases["transition-other"] = _pairs(other, rng, 70) + _pairs(cross, rng, 30)
    cases["command"] = _pairs(same, rng, 12) + _pairs(other, rng, 5) + _pairs(cross, rng, 5)
    cases["clean"] = [{"clip": name} for name in (*audit, *bandai_clips(), *SINGLE)]
    blends = [
        (a, b)
        for group in WALK_LIKE.values()
        for a in group.split()
        for b in group.split()
        if a < b and (subject(a) == subject(b) or subject(a).isdigit())
    ]
    cases["blend"] = _pairs(blends, rng, 86)
    splices = [(u, low) for u in UPPER.split() for low in LOWER.split() if u != low]
    cases["splice"] = _pairs(splices, rng, 33)
    cases["loop"] = [{"clip": name} for name in LOOPED.split()]
    cases["retarget"] = [{"a": a, "b": b} for a in RIGS for b in RIGS if a != b and a != IN_PLACE]
    return cases


def _tables(name: str, rng: np.random.Generator, count: int) -> list[Case]:
    places = [(a, s, b, t) for a, s, b, t in KNOWN[name]]
    clips = [clip for clip in clips_of(name) if frames_at(clip) >= SHORTEST]
    lengths = {clip: frames_at(clip) for clip in clips}
    while len(places) < count:
        a, b = (clips[int(k)] for k in rng.integers(len(clips), size=2))
        s, t = (int(rng.integers(lengths[clip])) for clip in (a, b))
        places.append((a, s, b, t))
    return [{"collection": name, "source": [a, s], "target": [b, t]} for a, s, b, t in places]


def _fills(name: str, rng: np.random.Generator, count: int) -> list[Case]:
    gaps = list(KNOWN_FILLS.get(name, []))
    clips = [clip for clip in clips_of(name) if frames_at(clip) >= 90]
    while len(gaps) < count:
        clip = clips[int(rng.integers(len(clips)))]
        gaps.append((clip, int(rng.integers(12, frames_at(clip) - 72))))
    return [{"collection": name, "clip": clip, "first": first} for clip, first in gaps]


def _pairs(pairs: list[tuple[str, str]], rng: np.random.Generator, count: int) -> list[Case]:
    chosen = rng.permutation(len(pairs))[:count]
    return [{"a": pairs[int(k)][0], "b": pairs[int(k)][1]} for k in chosen]


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
    document = {"about": f"Cases of ./bench audit, drawn with seed {seed}.", "cases": draw(seed)}
    lines = json.dumps(document, indent=None, separators=(", ", ": "))
    FILE.write_text(lines.replace("}, {", "},\n{").replace('], "', '],\n"') + "\n")


if __name__ == "__main__":
    write()
