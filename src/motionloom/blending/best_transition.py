"""A transition whose result passes the gate: at the best place, or at the next that does."""

from __future__ import annotations

from dataclasses import dataclass, replace

from motionloom.blending.finish import Finished, finish
from motionloom.blending.transition import Transition, transition
from motionloom.features.verify import Gate
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

__all__ = ["BestTransition", "best_transition", "seam_ratios"]


@dataclass(frozen=True, slots=True, eq=False)
class BestTransition:
    """A transition, what became of it, and what was left for it."""

    joined: Transition
    """Its candidates: the place taken, then the others, best first."""
    finished: Finished
    passed_over: int
    """How many better places were left for this one, because of the gate."""


def best_transition(
    a: Motion,
    b: Motion,
    gate: Gate,
    *,
    footplants: tuple[Footplants, Footplants],
    body: BodyMap,
    at: tuple[int, int] | None = None,
    length_s: float = 0.6,
    moving: bool = False,
    timewarp: bool = True,
    clean: bool = True,
    search: bool = True,
) -> BestTransition:
    """The transition at the first place, best first, whose finished result passes the gate.

    Where none passes, the first that is acceptable is taken, else the best.

    Parameters
    ----------
    a, b, footplants, body, at, length_s, moving, timewarp
        As in :func:`~motionloom.blending.transition.transition`.
    gate
        Of A and B.
    clean
        Whether planted feet are held.
    search
        Off, the best place is taken whatever the gate says. A place that is given always is.
    """

    def join(place: tuple[int, int] | None) -> tuple[Transition, Finished]:
        joined = transition(
            a, b, at=place, length_s=length_s, moving=moving, timewarp=timewarp,
            footplants=footplants, body=body,
        )  # fmt: skip
        return joined, finish(joined.motion, joined.footplants, gate, body=body, clean=clean)

    joined, finished = join(at)
    places, taken = joined.candidates, 0
    if at is None and search:
        for n, place in enumerate(places[1:], start=1):
            if finished.gate.passed:
                break
            again = join((place.frame_a, place.frame_b))
            if again[1].gate.passed or (again[1].acceptable and not finished.acceptable):
                (joined, finished), taken = again, n
    chosen = (places[taken], *places[:taken], *places[taken + 1 :])
    return BestTransition(replace(joined, candidates=chosen), finished, taken)


def seam_ratios(motion: Motion, span: tuple[int, int], gate: Gate) -> tuple[float, float]:
    """Largest joint step into and out of the blended frames, against the sources' largest."""
    first, last = (
        gate.verify_speeds(motion[max(0, at - 1) : at + 2]).step_ratio for at in span
    )  # fmt: skip
    return first, last
