"""Places that are tried for a transition, until one passes the quality check."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple, TypedDict

from motionloom._arrays import flag
from motionloom._progress import report_step
from motionloom.blending.candidates import Candidate
from motionloom.blending.join import (
    Joined,
    copied_frames,
    find_places,
    join_at,
    verify_blend,
)
from motionloom.blending.pair import Pair
from motionloom.cleanup.finalize import Finalized, finalize
from motionloom.errors import RegistrationError

OTHER_LENGTHS = (1.5, 2.0, 2.5, 0.7)
"""Lengths of the blend, relative to the one asked for, that are tried where no place passes."""
OTHER_PLACES = 4
"""Places that are tried at each of them."""


class TransitionOptions(TypedDict, total=False):
    """Keyword arguments of :func:`motionloom.transition` that few callers need."""

    timewarp: bool
    repair_knees: bool
    match: bool
    clean: bool
    check: bool


@dataclass(frozen=True, slots=True)
class TransitionSettings:
    """The options of a transition, checked."""

    timewarp: bool = True
    repair_knees: bool = True
    match: bool = True
    clean: bool = True
    check: bool = True

    def __post_init__(self) -> None:
        for each in fields(self):
            flag(getattr(self, each.name), each.name)


class Tried(NamedTuple):
    """A join, made ready to be written, and the number of its place."""

    joined: Joined
    finalized: Finalized
    number: int


def other_lengths(
    pair: Pair,
    places: tuple[Candidate, ...],
    tried: Tried,
    half: int,
    moving: bool,
    settings: TransitionSettings,
) -> tuple[tuple[Candidate, ...], Tried, float]:
    """Places, join and length of the first other length that passes, or that fails least.

    ``places`` and ``tried`` are those of the length asked for, and are returned where no other is
    better.
    """
    best = places, tried, 1.0
    for factor in OTHER_LENGTHS:
        other = max(1, round(factor * half))
        try:
            nearest = find_places(pair, other, moving=moving)[:OTHER_PLACES]
            again = first_sound(pair, nearest, other, settings)
        except RegistrationError:
            continue
        if len(again.finalized.verification.failed) < len(best[1].finalized.verification.failed):
            best = nearest, again, factor
        if again.finalized.verification.passed:
            break
    return best


def first_sound(
    pair: Pair, places: tuple[Candidate, ...], half: int, settings: TransitionSettings
) -> Tried:
    """The join at the best place that passes the check; else the one that fails fewest checks."""
    best: tuple[int, Tried] | None = None
    for number, place in enumerate(places):
        report_step("trying places", number, len(places))
        try:
            joined = join_at(pair, place, half, timewarp=settings.timewarp)
        except RegistrationError:
            if best is None and number == len(places) - 1:
                raise
            continue
        blend = verify_blend(pair, joined)
        if best is not None and not blend.passed and len(blend.failed) >= best[0]:
            continue  # holding its feet does not mend it
        done = finalize(
            joined.motion,
            joined.footplants,
            pair.check,
            body=pair.body,
            clean=settings.clean,
            copied=copied_frames(joined.span, joined.frames, 0, joined.motion.n_frames),
        )
        failed = len(done.verification.failed)
        if best is None or failed < best[0]:
            best = (failed, Tried(joined, done, number))
        if done.verification.passed:
            break
    assert best is not None
    return best[1]
