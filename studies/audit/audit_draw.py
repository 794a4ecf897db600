"""How cases of the audit are drawn: pairs, parts, frames and gaps of captured clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from studies.audit.audit_clips import clips_of, frames_at

Case = dict[str, Any]
Protocol = dict[str, list[Case]]
Pair = tuple[str, str]
SHORTEST = 64
"""Frames of a clip that a transition of a second can leave or reach."""
PART = (0.6, 0.95)
"""Shares of a clip that a fresh case uses where the committed case is the whole clip."""


class Draw:
    """A generator of cases.

    Parameters
    ----------
    seed
        Of the random generator.
    committed
        Cases to avoid. With them the draw is a fresh one: no pair is drawn again, cases known to
        be bad are left out, and cases that are one clip use a random part of it.
    """

    def __init__(self, seed: int | Sequence[int], committed: Protocol | None = None) -> None:
        self.rng = np.random.default_rng(seed)
        self.fresh = committed is not None
        self._used = {
            (kind, case["a"], case["b"])
            for kind, cases in (committed or {}).items()
            for case in cases
            if "a" in case
        }
        self._places = [
            case for cases in (committed or {}).values() for case in cases if "collection" in case
        ]

    def tables(
        self, name: str, count: int, drawn_before: Sequence[tuple[Any, ...]] = ()
    ) -> list[Case]:
        """Table transitions between random frames of a collection."""
        cases = [_transition(name, *place) for place in drawn_before if not self.fresh]
        clips = [clip for clip in clips_of(name) if frames_at(clip) >= SHORTEST]
        lengths = {clip: frames_at(clip) for clip in clips}
        while len(cases) < count:
            a, b = (clips[int(k)] for k in self.rng.integers(len(clips), size=2))
            s, t = (int(self.rng.integers(lengths[clip])) for clip in (a, b))
            self._add(cases, _transition(name, a, s, b, t))
        return cases

    def stream(self, name: str) -> list[Case]:
        """A minute of a live character that starts in a random clip."""
        clips = [clip for clip in clips_of(name) if frames_at(clip) >= SHORTEST]
        return [
            {"collection": name, "seconds": 60, "every_s": 0.7,
             "seed": int(self.rng.integers(1 << 30)),
             "start": clips[int(self.rng.integers(len(clips)))]}
        ]  # fmt: skip

    def fills(
        self, name: str, count: int, drawn_before: Sequence[tuple[str, int]] = ()
    ) -> list[Case]:
        """Gaps of a second in random clips of a collection."""
        cases = [_gap(name, *gap) for gap in drawn_before if not self.fresh]
        clips = [clip for clip in clips_of(name) if frames_at(clip) >= 90]
        while len(cases) < count:
            clip = clips[int(self.rng.integers(len(clips)))]
            self._add(cases, _gap(name, clip, int(self.rng.integers(12, frames_at(clip) - 72))))
        return cases

    def _add(self, cases: list[Case], case: Case) -> None:
        if case not in self._places:
            cases.append(case)

    def pairs(self, kind: str, pairs: Sequence[Pair], count: int) -> list[Case]:
        """Some of the pairs."""
        unused = [pair for pair in pairs if (kind, *pair) not in self._used]
        chosen = self.rng.permutation(len(unused))[:count]
        return [{"a": unused[int(k)][0], "b": unused[int(k)][1]} for k in chosen]

    def within(self, kind: str, groups: Mapping[str, Sequence[str]], count: int) -> list[Case]:
        """Pairs of clips of the same group; each group is as likely, whatever its size."""
        return self._by_group(kind, [(name, name) for name in groups], groups, count)

    def across(self, kind: str, groups: Mapping[str, Sequence[str]], count: int) -> list[Case]:
        """Pairs of clips of two groups; each pair of groups is as likely, whatever their sizes."""
        between = [(a, b) for a in groups for b in groups if a != b]
        return self._by_group(kind, between, groups, count)

    def _by_group(
        self,
        kind: str,
        between: Sequence[Pair],
        groups: Mapping[str, Sequence[str]],
        count: int,
    ) -> list[Case]:
        possible = {
            (a, b)
            for left, right in between
            for a in groups[left]
            for b in groups[right]
            if a != b and (kind, a, b) not in self._used
        }
        pairs: dict[Pair, None] = {}
        while len(pairs) < min(count, len(possible)):
            ends = between[int(self.rng.integers(len(between)))]
            some = [groups[name] for name in ends]
            a, b = (each[int(self.rng.integers(len(each)))] for each in some)
            if (a, b) in possible:
                pairs[a, b] = None
        return [{"a": a, "b": b} for a, b in pairs]

    def clips(self, names: Sequence[str]) -> list[Case]:
        """One case for every clip."""
        return [{"clip": self.part(name)} for name in names]

    def part(self, name: str) -> str:
        """The clip; a random part of it in a fresh draw."""
        if not self.fresh:
            return name
        share = self.rng.uniform(*PART)
        start = self.rng.uniform(0.0, 1.0 - share)
        return f"{name}@{start:.3f}-{start + share:.3f}"


def _transition(name: str, a: str, s: int, b: str, t: int) -> Case:
    return {"collection": name, "source": [a, s], "target": [b, t]}


def _gap(name: str, clip: str, first: int) -> Case:
    return {"collection": name, "clip": clip, "first": first}
