"""Constraint matches: which foot plant of one motion is which of the others.

Section 4.4 and Appendix B of [KG03]_. Two copies of the appendix disagree, and both have misprints;
what was decided, and why, stands in docs/papers/registration.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from motionloom._records import record

Interval = tuple[float, float]

SAME = 1e-9
"""Two times are the same if they differ by at most this part of the whole extent."""


@dataclass(frozen=True, slots=True)
@record
class ConstraintMatch:
    """One plant, or part of one, in every motion, as intervals of the curve's parameter.

    Attributes
    ----------
    intervals : tuple of Interval
        Start and end in each motion, in the order of the motions.
    """

    intervals: tuple[Interval, ...]

    def interval(self, weights: Sequence[float]) -> Interval:
        """When the blend with these weights holds the plant; empty if the end is not after.

        Returns
        -------
        Interval
            Where it begins and ends, in the parameter of the curve.
        """
        start = sum(w * i[0] for w, i in zip(weights, self.intervals, strict=True))
        end = sum(w * i[1] for w, i in zip(weights, self.intervals, strict=True))
        return start, end


def match_constraints(motions: Sequence[Sequence[Interval]]) -> tuple[ConstraintMatch, ...]:
    """Plants of one kind, matched across motions; a long one is split to serve several.

    Parameters
    ----------
    motions
        For each motion its disjoint plants, as (start, end) in the curve's parameter.

    Examples
    --------
    >>> a, b = [(0, 100), (150, 200)], [(5, 40), (60, 95), (150, 190)]
    >>> matches = match_constraints([a, b])
    >>> [tuple((round(s, 1), round(e, 1)) for s, e in m.intervals) for m in matches]
    [((0, 38.9), (5, 40)), ((61.1, 100), (60, 95)), ((150, 200), (150, 190))]
    """
    left = [sorted(plants) for plants in motions]
    matches: list[ConstraintMatch] = []
    near = _tolerance(left)
    while left and all(left):
        firsts = [plants[0] for plants in left]
        if not _connected(firsts, near):
            left = _without_earliest(left, near)
            continue
        split = _best_partition(left, near)
        served = [plants for k, plants in enumerate(left) if k not in split]
        matched, rest = [], []
        for k, plants in enumerate(left):
            if k in split:
                gap_start, gap_end = _gap(plants[0], served)
                matched.append((plants[0][0], gap_start))
                rest.append([(gap_end, plants[0][1]), *plants[1:]])
            else:
                matched.append(plants[0])
                rest.append(plants[1:])
        matches.append(ConstraintMatch(tuple(matched)))
        left = rest
    return tuple(matches)


def _tolerance(motions: Sequence[Sequence[Interval]]) -> float:
    """Below this, differences of times are rounding errors, which must not decide a match."""
    times = [time for plants in motions for plant in plants for time in plant]
    return SAME * (max(times) - min(times)) if times else 0.0


def _without_earliest(left: Sequence[list[Interval]], near: float) -> list[list[Interval]]:
    """The plants without the earliest first one, in every motion that has it."""
    start, end = min(plants[0] for plants in left)
    return [
        plants[1:]
        if abs(plants[0][0] - start) <= near and abs(plants[0][1] - end) <= near
        else plants
        for plants in left
    ]


def _best_partition(left: Sequence[list[Interval]], near: float) -> frozenset[int]:
    """The motions to split so that plants overlap most.

    Of several that are equally good, the one that splits the fewest and earliest plants: the order
    of the motions must not decide.
    """
    partitions = {_partition(left, seed, near) for seed in range(len(left))}
    overlaps = {split: _overlap(left, split) for split in partitions}
    enough = max(overlaps.values()) - near * len(left) ** 2
    return min(
        (split for split, overlap in overlaps.items() if overlap >= enough),
        key=lambda split: (len(split), sorted(left[k] for k in split)),
    )


def _subsumes(i: Sequence[Interval], j: Sequence[Interval], near: float) -> bool:
    """Whether i's first plant overlaps j's first two, and i's second comes too late for j's second.

    Then only splitting i's first can serve j's second.
    """
    if len(j) < 2:
        return False
    next_start = i[1][0] if len(i) > 1 else inf
    return i[0][0] < j[0][1] - near and i[0][1] > j[1][0] + near and next_start > j[1][1] + near


def _connected(intervals: Sequence[Interval], near: float) -> bool:
    """Whether the union is one interval; touching counts."""
    ordered = sorted(intervals)
    end = ordered[0][1]
    for start, stop in ordered[1:]:
        if start > end + near:
            return False
        end = max(end, stop)
    return True


def _partition(left: Sequence[list[Interval]], seed: int, near: float) -> frozenset[int]:
    """The motions whose first plant is split, grown from a seed; empty where nothing splits."""
    everyone = range(len(left))
    split = {seed} | {k for k in everyone if not _subsumes(left[seed], left[k], near)}
    while True:
        joining = {
            k
            for k in everyone
            if k not in split and not all(_subsumes(left[s], left[k], near) for s in split)
        }
        if not joining:
            break
        split |= joining
    return frozenset() if len(split) == len(left) else frozenset(split)


def _overlap(left: Sequence[list[Interval]], split: frozenset[int]) -> float:
    """How well the plants lie over one another if these are split.

    Where nothing splits the first plants alone count: read to the letter, the paper would extend
    them all over their second plants, which always wins, and nothing would ever be split.
    """
    spans = [
        plants[0] if k in split or not split else (plants[0][0], plants[1][1])
        for k, plants in enumerate(left)
    ]
    return sum(
        max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
        for k, a in enumerate(spans)
        for b in spans[k + 1 :]
    )


def _gap(plant: Interval, served: Sequence[Sequence[Interval]]) -> Interval:
    """Where a plant is cut: the mean of the cuts by the served motions' own gaps (Eq. 10)."""
    starts, ends = [], []
    for other in served:
        first, second = other[0], other[1]
        reaches_third = len(other) > 2 and other[2][0] < plant[1]
        until = second[1] if reaches_third else plant[1]
        scale = (until - plant[0]) / (second[1] - first[0])
        starts.append(plant[0] + scale * (first[1] - first[0]))
        ends.append(plant[0] + scale * (second[0] - first[0]))
    return sum(starts) / len(starts), sum(ends) / len(ends)
