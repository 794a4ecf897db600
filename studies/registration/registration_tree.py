"""Nine clips on one curve: through a tree of pairs, and every clip with one reference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

import motionloom as ml
from motionloom.motion.contacts import KINDS
from motionloom.registration import many_clips
from motionloom.registration.constraints import match_constraints
from motionloom.registration.many_clips import Edge
from studies.captured_clips import bounds, interval_text, loaded, protocol
from studies.report import Figure


def nine_clips(folder: Path, plan: dict) -> list[ml.Motion]:
    """The clips of the plan, mirrored where it says so."""
    motions = []
    for name, mirrored in plan["clips"]:
        motion = loaded(folder, name)
        motions.append(ml.mirror(motion) if mirrored else motion)
    return motions


def star(cost: np.ndarray, root: int) -> list[Edge]:
    """Every clip registered with the reference itself, as the paper does."""
    return [Edge(root, k) for k in range(len(cost)) if k != root]


@contextmanager
def one_reference() -> Iterator[None]:
    """Within it clips are registered with the reference only."""
    with mock.patch.object(many_clips, "cheapest_tree", star):
        yield


def contacts_apart(curve: ml.RegistrationCurve, clips: list[int]) -> np.ndarray:
    """How far matched contacts of some clips are apart, frames of the curve, per pair and event."""
    apart: list[float] = []
    ends = curve.frames(np.array(curve.u_range))
    for kind in KINDS:
        spans = []
        for k in clips:
            given = np.array(curve.footplants[k].intervals()[kind], dtype=float).reshape(-1, 2)
            inside = given[(given[:, 0] > ends[0, k]) & (given[:, 1] < ends[1, k])]
            spans.append([(float(a), float(b)) for a, b in curve.u_of(k, inside)])
        for match in match_constraints(spans):
            events = np.array(match.intervals)  # (clips, 2)
            for a in range(len(clips)):
                for b in range(a + 1, len(clips)):
                    apart += np.abs(events[a] - events[b]).tolist()
    return np.array(apart)


class Apart(NamedTuple):
    """How far contacts are apart, frames, and how much the clips share."""

    walks: np.ndarray
    jogs: np.ndarray
    shared: float


def both_ways(motions: list[ml.Motion], plan: dict) -> tuple[Apart, Apart]:
    """Clips registered through the tree, and each with one reference."""
    tree = ml.register(motions)
    with one_reference():
        single = ml.register(motions)
    ours, theirs = (
        Apart(
            contacts_apart(curve, plan["walks"]),
            contacts_apart(curve, plan["jogs"]),
            curve.u_range[1],
        )
        for curve in (tree, single)
    )
    return ours, theirs


def tree_figures(folder: Path) -> list[Figure]:
    """How far contacts of walks and of jogs are apart, and how much all clips share."""
    plan = protocol("tree")
    figures = _figures("nine walks, jogs and sneaks", [both_ways(nine_clips(folder, plan), plan)])
    sets = []
    for names in plan["sets"]:
        try:
            sets.append(both_ways([loaded(folder, name) for name in names], plan))
        except ml.RegistrationError as error:
            print(f"{', '.join(names)}: {error}")
    title = f"{len(sets)} sets of three walks, three jogs and a sneak"
    return figures + _figures(title, sets, f"{len(plan['sets'])} sets drawn")


def _figures(title: str, sets: list[tuple[Apart, Apart]], drawn: str = "") -> list[Figure]:
    figures = []
    for kind in ("walks", "jogs"):
        ours, theirs = (
            np.concatenate([getattr(pair[way], kind) for pair in sets]) for way in (0, 1)
        )
        figures.append(
            Figure(f"{title}: contacts of the {kind} apart, median", float(np.median(ours)),
                   "frames", "one reference", float(np.median(theirs)), lower_is_better=True,
                   note=f"{interval_text(bounds(ours, np.median))} and "
                        f"{interval_text(bounds(theirs, np.median))}; {len(ours)} and "
                        f"{len(theirs)} pairs of events; 90th percentile "
                        f"{np.quantile(ours, 0.9):.1f} and {np.quantile(theirs, 0.9):.1f}")
        )  # fmt: skip
    ours, theirs = (float(np.mean([pair[way].shared for pair in sets])) for way in (0, 1))
    figures.append(
        Figure(f"{title}: part that all clips share", ours, "frames", "one reference", theirs,
               note="; ".join(filter(None, ["average frames at 120 Hz", drawn])))
    )  # fmt: skip
    return figures
