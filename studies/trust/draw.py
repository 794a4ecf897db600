"""Cases for the trust study, drawn from captured clips with a seed of the commit."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studies.audit.audit_clips import frames_at, mocap, path_of, subject
from studies.audit.audit_protocol import LOOPED, LOWER, UPPER, WALK_LIKE

Case = dict[str, Any]
COUNTS = {"transitions": 100, "tables": 300, "blends": 60, "splices": 60, "loops": 30, "live": 60}
"""How many of each kind; live play in minutes."""
COLLECTIONS = ("walks", "bandai", "143", "69")
FOLDERS = ("audit", "cmu_bvh", "bandai_bvh")
LEAST_S, MOST_S = 1.0, 12.0
SHARES = {"same": 0.5, "other": 0.35, "rig": 0.15}
"""Pairs of clips of one subject, of two subjects of one rig, and of two rigs."""
ALIKE = {
    "walk": WALK_LIKE["walk"] + " 16_15 16_16 16_21 16_31 16_47 16_58 69_01 69_02 69_03 69_05",
    "run": WALK_LIKE["run"] + " 16_35 16_36 16_45 16_55",
    "jump": WALK_LIKE["jump"] + " 16_01 16_03 16_05",
    "left": "16_11 16_12 16_17 16_18 16_23 16_27 69_24 69_25 69_26 69_31 69_32 69_33",
    "right": "16_13 16_14 16_19 16_20 16_25 16_29 69_20 69_21 69_22 69_28 69_29 69_30",
    "bandai walk": WALK_LIKE["bandai walk"],
    "bandai turn": WALK_LIKE["bandai turn"],
    "bandai run": WALK_LIKE["bandai run"] + " dataset-2_run_normal_001 dataset-2_run_active_001",
}
"""Clips that may be blended with one another."""
MORE_UPPER = " 143_20 143_23 143_25 143_26 14_31 74_05 dataset-1_bye_normal_001"
MORE_LOWER = " 16_15 16_47 69_01 69_24 143_32 143_42 39_02 dataset-2_walk_normal_001"
MORE_LOOPED = " 16_15 16_31 16_58 69_01 143_32 143_42 78_33 77_12 dataset-2_walk_normal_001"


def commit() -> str:
    """The hash of the commit that is checked out."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=Path(__file__).parent, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def seed_of(commit_hash: str) -> int:
    """The seed that a commit stands for."""
    return int(commit_hash[:12], 16)


def drawn(seed: int, kind: str, count: int | None = None) -> list[Case]:
    """The cases of one kind; fewer of them are the first of all."""
    rng = np.random.default_rng([seed, list(COUNTS).index(kind)])
    cases = _DRAW[kind](rng, COUNTS[kind])
    return cases[:count]


def names() -> list[str]:
    """All captured clips of a second and more, as ``FOLDER/NAME``; long ones in part."""
    return [
        f"{folder}/{path.stem}"
        for folder in FOLDERS
        for path in sorted((mocap() / folder).glob("*.bvh"))
        if frames_at(f"{folder}/{path.stem}", 30.0) >= 30.0 * LEAST_S
    ]


def part(name: str, rng: np.random.Generator) -> str:
    """The clip, or 12 s of it somewhere."""
    seconds = frames_at(name, 30.0) / 30.0
    if seconds <= MOST_S:
        return name
    share = MOST_S / seconds
    start = rng.uniform(0.0, 1.0 - share)
    return f"{name}@{start:.3f}-{start + share:.3f}"


def rig(name: str) -> str:
    """ "cmu" or "bandai"."""
    return "bandai" if "dataset" in name else "cmu"


def _by_subject(pool: Sequence[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in pool:
        groups.setdefault(subject(name), []).append(name)
    return groups


def _one(rng: np.random.Generator, pool: Sequence[str]) -> str:
    """A clip: each subject is as likely, however many clips it has."""
    groups = _by_subject(pool)
    group = groups[list(groups)[int(rng.integers(len(groups)))]]
    return group[int(rng.integers(len(group)))]


def _transitions(rng: np.random.Generator, count: int) -> list[Case]:
    """Pairs of clips, each pair once: of subjects with two clips there are few."""
    pool = [name for name in names() if "jesse" not in name]
    several = [name for name in pool if len(_by_subject(pool)[subject(name)]) > 1]
    cases: dict[tuple[str, str], Case] = {}
    while len(cases) < count:
        way = str(rng.choice(list(SHARES), p=list(SHARES.values())))
        a = _one(rng, several if way == "same" else pool)
        fits = {
            "same": [b for b in pool if subject(b) == subject(a) and b != a],
            "other": [b for b in pool if subject(b) != subject(a) and rig(b) == rig(a)],
            "rig": [b for b in pool if rig(b) != rig(a)],
        }[way]
        if fits:
            b = _one(rng, fits)
            cases.setdefault((a, b), {"a": part(a, rng), "b": part(b, rng), "pair": way})
    return list(cases.values())


def _tables(rng: np.random.Generator, count: int) -> list[Case]:
    """Frames as shares of the clips of a collection, which is built when it is needed."""
    return [
        {"collection": COLLECTIONS[k % len(COLLECTIONS)], "at": rng.random(4).round(6).tolist()}
        for k in range(count)
    ]


def _blends(rng: np.random.Generator, count: int) -> list[Case]:
    cases: list[Case] = []
    groups = list(ALIKE.values())
    while len(cases) < count:
        group = groups[int(rng.integers(len(groups)))].split()
        n = 3 if rng.random() < 0.25 else 2
        clips = sorted(str(c) for c in rng.choice(group, size=min(n, len(group)), replace=False))
        weights = rng.dirichlet(np.full(len(clips), 4.0)).round(3)
        weights[-1] = round(1.0 - float(weights[:-1].sum()), 3)
        cases.append({"clips": clips, "weights": weights.tolist()})
    return cases


def _splices(rng: np.random.Generator, count: int) -> list[Case]:
    uppers, lowers = (UPPER + MORE_UPPER).split(), (LOWER + MORE_LOWER).split()
    cases: dict[tuple[str, str], Case] = {}
    while len(cases) < count:
        upper, lower = _one(rng, uppers), _one(rng, lowers)
        if upper != lower:
            cases.setdefault((upper, lower), {"upper": upper, "lower": lower})
    return list(cases.values())


def _loops(rng: np.random.Generator, count: int) -> list[Case]:
    """Parts of clips that go in cycles: 60 to 95 % of each, somewhere."""
    pool = [name for name in (LOOPED + MORE_LOOPED).split() if path_of(name)]
    cases: list[Case] = []
    while len(cases) < count:
        name, share = _one(rng, pool), rng.uniform(0.6, 0.95)
        start = rng.uniform(0.0, 1.0 - share)
        cases.append({"clip": f"{name}@{start:.3f}-{start + share:.3f}"})
    return cases


def _live(rng: np.random.Generator, count: int) -> list[Case]:
    return [
        {"collection": COLLECTIONS[k % len(COLLECTIONS)], "seed": int(rng.integers(1 << 30))}
        for k in range(count)
    ]


_DRAW = {
    "transitions": _transitions, "tables": _tables, "blends": _blends, "splices": _splices,
    "loops": _loops, "live": _live,
}  # fmt: skip
