"""A transition whose finished result passes the quality check: at the best place, or the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from motionloom.blending.finish import Finished, finish
from motionloom.blending.pair import Pair
from motionloom.blending.transition import Transition, copied_frames, join_pair

__all__ = ["BestTransition", "best_transition"]


@dataclass(frozen=True, slots=True, eq=False)
class BestTransition:
    """A transition, what became of it, and what was left for it."""

    joined: Transition
    """Its candidates: the place taken, then the others, best first."""
    finished: Finished
    passed_over: int
    """How many better places were left for this one, because of failed checks."""


def best_transition(
    pair: Pair,
    *,
    at: tuple[int, int] | None = None,
    length_s: float = 0.6,
    moving: bool = False,
    timewarp: bool = True,
    clean: bool = True,
    search: bool = True,
) -> BestTransition:
    """The transition at the first place, best first, whose finished result passes the check.

    Where none passes, the one with the fewest failed checks.

    Parameters
    ----------
    pair
        The clips, ready.
    at, length_s, moving, timewarp
        As in :func:`~motionloom.blending.transition.transition`.
    clean
        Whether planted feet are held.
    search
        Off, the best place is taken whatever the check says. A place that is given always is.
    """

    def join(place: tuple[int, int] | None) -> tuple[Transition, Finished]:
        joined = join_pair(pair, at=place, length_s=length_s, moving=moving, timewarp=timewarp)
        finished = finish(
            joined.motion,
            joined.footplants,
            pair.check,
            body=pair.body,
            clean=clean,
            copied=copied_frames(joined.span, joined.frames, 0, joined.motion.n_frames),
        )
        return joined, finished

    joined, finished = join(at)
    places, taken = joined.candidates, 0
    if at is None and search:
        for n, place in enumerate(places[1:], start=1):
            if finished.verification.passed:
                break
            again = join((place.frame_a, place.frame_b))
            if len(again[1].verification.failed) < len(finished.verification.failed):
                (joined, finished), taken = again, n
    chosen = (places[taken], *places[:taken], *places[taken + 1 :])
    return BestTransition(replace(joined, candidates=chosen), finished, taken)
