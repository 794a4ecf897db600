"""How well found footplants agree with true ones, counted in whole plants."""

from __future__ import annotations

from dataclasses import dataclass

from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.motion.motion import KINDS, Footplants

__all__ = ["PlantScore", "score_footplants"]

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
@record
class PlantScore:
    """Plants that agree, that were missed, and that are not true. Scores can be added."""

    hits: int = 0
    missed: int = 0
    extra: int = 0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 where there was nothing to find."""
        total = 2 * self.hits + self.missed + self.extra
        return 2.0 * self.hits / total if total else 1.0

    def __add__(self, other: PlantScore) -> PlantScore:
        return PlantScore(
            self.hits + other.hits, self.missed + other.missed, self.extra + other.extra
        )


def score_footplants(
    truth: Footplants, detected: Footplants, *, within: int = 2, shortest: int = 1
) -> dict[str, PlantScore]:
    """For each kind, how many plants were found with both ends right.

    Parameters
    ----------
    truth, detected
        Over the same frames.
    within
        Frames by which each end may be off.
    shortest
        True plants of fewer frames count neither way, nor does what was found in their place: the
        ends of a clip can leave a frame or two of a plant, which is no plant to any detector.

    Examples
    --------
    >>> truth = Footplants.from_intervals({"left_toe": ((10, 30), (50, 70))}, 80)
    >>> detected = Footplants.from_intervals({"left_toe": ((11, 32), (50, 60))}, 80)
    >>> score_footplants(truth, detected)["left_toe"]
    PlantScore(hits=1, missed=1, extra=1)
    """
    if truth.n_frames != detected.n_frames:
        raise ArrayError(
            f"`detected` must have the frames of `truth` ({truth.n_frames}), "
            f"got {detected.n_frames}."
        )
    true_spans, found_spans = truth.intervals(), detected.intervals()
    return {kind: _score(true_spans[kind], found_spans[kind], within, shortest) for kind in KINDS}


def _score(truth: Spans, detected: Spans, within: int, shortest: int) -> PlantScore:
    whole = [span for span in truth if span[1] - span[0] + 1 >= shortest]
    stubs = [span for span in truth if span not in whole]
    left = [
        span
        for span in detected
        if not any(span[0] <= b + within and span[1] >= a - within for a, b in stubs)
    ]
    hits = 0
    for first, last in whole:
        near = [s for s in left if abs(s[0] - first) <= within and abs(s[1] - last) <= within]
        if near:
            hits += 1
            left.remove(near[0])
    return PlantScore(hits, len(whole) - hits, len(left))
