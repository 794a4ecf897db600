"""transition(): from one clip into another without a seam."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Unpack

from motionloom._arrays import FloatArray, flag, frames_in, known_options, of_kind, positive
from motionloom._deprecated import warn_renamed
from motionloom._records import record
from motionloom.blending.candidates import Candidate
from motionloom.blending.join import (
    find_places,
    named_place,
)
from motionloom.blending.pair import pair_of
from motionloom.blending.tried_places import (
    TransitionOptions,
    TransitionSettings,
    first_sound,
    other_lengths,
)
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.finalize import Finalized, legs_missing
from motionloom.errors import ArrayError
from motionloom.features.checks.flawed_warning import warn_flawed
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.quality import Quality, measure_quality
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.retargeting.match import MatchedClips, match_clips
from motionloom.rotation.planar import PlanarTransform


@dataclass(frozen=True, slots=True, eq=False)
@record
class Transition:
    """A, then the blend, then B, as one clip.

    Attributes
    ----------
    motion : Motion
        The result, with its feet held where they are planted.
    footplants : Footplants
        Contacts that are held.
    span : tuple of two int
        First and last blended frame of ``motion``.
    notes : tuple of str
        What was changed and decided (clips matched or repaired, a blend made shorter than asked),
        and failed checks.
    verification : Verification
        Quality check of the result against A and B.
    cleanup : CleanupReport or None
        What holding the feet changed; None with ``clean=False``.
    blended : Motion
        The motion before its feet were held.
    frames : array
        Frame of A and of B at every blended frame; whole numbers at both ends. (N, 2)
    candidates : tuple of Candidate
        Places that were considered: the one taken, then the others, best first.
    placement : PlanarTransform
        Transforms B's coordinates into those of the result.
    matched : MatchedClips
        A and B on one skeleton and at one rate.
    passed_over : int
        Number of better places that were dropped because of failed checks.
    """

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    notes: tuple[str, ...]
    verification: Verification
    cleanup: CleanupReport | None
    blended: Motion = field(repr=False)
    frames: FloatArray
    candidates: tuple[Candidate, ...]
    placement: PlanarTransform
    matched: MatchedClips = field(repr=False)
    passed_over: int = 0

    @property
    def body(self) -> BodyMap:
        """Roles of the joints."""
        return self.matched.body

    @property
    def cost(self) -> float:
        """Cost of the place taken, metres; lower is better."""
        return self.candidates[0].cost

    @property
    def score(self) -> float:
        """Old name of ``cost``."""
        warn_renamed("Transition.score", "Transition.cost")
        return self.cost

    @property
    def finished(self) -> Finalized:
        """Old place of the result; use the fields of the transition itself."""
        warn_renamed("Transition.finished", "Transition.motion, footplants and cleanup")
        return Finalized(self.motion, self.footplants, self.cleanup, self.verification)

    @property
    def quality(self) -> Quality:
        """Feet, spikes and jerk of the result."""
        return measure_quality(self.motion, self.footplants, body=self.body)

    @property
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


def transition(
    a: Motion,
    b: Motion,
    *,
    at: tuple[int, int] | None = None,
    length_s: float = 0.6,
    moving: bool = False,
    footplants: tuple[Footplants, Footplants] | None = None,
    body: BodyMap | None = None,
    **options: Unpack[TransitionOptions],
) -> Transition:
    """A motion that is A first and B last, blended between where the two are most similar.

    B is matched to A's skeleton and rate, places for the blend are ranked, and planted feet are
    held. The first place is taken whose result passes the quality check (``ml.verify``). If none
    passes, the one with the fewest failed checks is taken, and ``notes`` names them.

    Parameters
    ----------
    a, b
        The clips.
    at
        Frame of A and frame of B, both at A's rate, that meet in the middle of the blend; the
        best place is found where it is not given.
    length_s
        Seconds of blending. Shortened where the clips have too little around the place. Where no
        place passes the quality check, other lengths are tried, and ``notes`` says so.
    moving
        Look only where both bodies travel; without it a standing pose is often the best match.
    footplants
        Contacts of A and B, each in the clip's own frames; detected where not given.
    body
        Which joint is which; guessed where not given.
    timewarp
        Warp the times of the clips inside the blend so that their poses match (True by default);
        without it both play frame by frame.
    repair_knees
        Whether knees that were captured bent backwards are repaired first.
    match
        If False, B must have A's joints, and bones of other lengths are left as they are.
    clean
        If False, feet are left as the blend has them.
    check
        If False, the best place is taken whatever the quality check finds.

    Returns
    -------
    Transition
        With the motion, its contacts, the places considered, and the result of the check.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk, jog = synthetic.clip("walk").motion, synthetic.clip("jog").motion
    >>> joined = transition(walk, jog)
    >>> joined.verification.passed
    True
    >>> first, last = joined.span
    >>> bool((joined.blended.local_quats[: first + 1] == walk.local_quats[: first + 1]).all())
    True
    """
    _check_arguments(a, b, at)
    positive(length_s, "length_s")
    known_options("transition", TransitionSettings, options)
    moving, settings = flag(moving, "moving"), TransitionSettings(**options)
    matched = match_clips([a, b], footplants=footplants, body=body, match=settings.match)
    pair = pair_of(matched, repair_knees=settings.repair_knees)
    half = frames_in(length_s, pair.a.fps, "length_s", part=0.5)
    places = find_places(pair, half, moving=moving) if at is None else (named_place(pair, at),)
    tried = first_sound(pair, places if settings.check else places[:1], half, settings)
    notes = list(pair.notes)
    if settings.check and at is None and not tried.finalized.verification.passed:
        places, tried, factor = other_lengths(pair, places, tried, half, moving, settings)
        if factor != 1.0:
            half = round(factor * half)
            notes.append(
                f"the blend takes {2 * half / pair.a.fps:.2f} s, not {length_s:g} s: no blend of "
                "that length passes the quality check"
            )
    joined, taken = tried.joined, tried.number
    if taken > 0:
        notes.append(
            f"{taken} better places were left, the best at ({places[0].frame_a}, "
            f"{places[0].frame_b}): the result there fails the quality check"
        )
    n = len(joined.frames)
    if n < 2 * half + 1:
        notes.append(
            f"the blend takes {(n - 1) / pair.a.fps:.2f} s, not {2 * half / pair.a.fps:.2g} s: the "
            "clips have no more frames around this place"
        )
    done = tried.finalized
    if settings.clean and settings.check:
        warn_flawed(done.verification, "transition")
    if settings.clean and (missing := legs_missing(matched.body)):
        notes.append(f"feet are not held: the skeleton has no {', '.join(missing)}")
    return Transition(
        done.motion,
        done.footplants,
        joined.span,
        (*notes, *done.notes),
        done.verification,
        done.cleanup,
        joined.motion,
        joined.frames,
        (places[taken], *places[:taken], *places[taken + 1 :]),
        joined.placement,
        matched,
        taken,
    )


def _check_arguments(a: Motion, b: Motion, at: tuple[int, int] | None) -> None:
    of_kind(a, Motion, "a")
    of_kind(b, Motion, "b")
    if at is not None and (not isinstance(at, tuple | list) or len(at) != 2):
        raise ArrayError(f"`at` must be a frame of A and a frame of B, got {at!r}.")
