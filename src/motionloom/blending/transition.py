"""transition(), lead_in() and lead_out(): from one clip into another without a seam."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import flag, frames_in, not_negative, of_kind, one_of, positive
from motionloom._progress import report_step
from motionloom._records import record
from motionloom.blending.join import (
    Candidate,
    Join,
    Keep,
    Pair,
    find_places,
    join_at,
    named_place,
    on_one_floor,
    travel_of,
)
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.finalize import Finalized, finalize, legs_missing, same_frames
from motionloom.errors import ArrayError, RegistrationError, SkeletonMismatchError
from motionloom.features.checks.verification import Verification, warn_flawed
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.quality import Quality, measure_quality
from motionloom.motion.edit import pick
from motionloom.motion.motion import Footplants, Motion
from motionloom.motion.provenance import Provenance
from motionloom.retargeting.match import MatchedClips, match_clips
from motionloom.rotation.quat import PlanarTransform

OTHER_LENGTHS = (1.5, 2.0, 2.5, 0.7)
"""Multiples of the asked length that are tried where no place passes the check."""
PLACES_PER_LENGTH = 4
"""Places tried at each of these lengths."""
UNLIKE, TRAVELS_M_S = np.radians(60.0), 0.5
"""Bodies that travel faster than the second, in directions farther apart than the first, seen from
themselves, are noted."""
REPAIRS = ("made", "all")
"""What can be repaired."""
LONGEST_HOLD = 100_000
"""Frames for which a lead can hold its pose."""


@record
class Kept(NamedTuple):
    """How much of A and of B a result has: A up to the place where they meet, and B from there.

    Attributes
    ----------
    names : tuple of str
        Of the clips.
    seconds : tuple of float
        What is kept of both.
    left_out_s : tuple of float
        What is not.
    blend_s : float
        Length of the blend; half of it is of A.
    """

    names: tuple[str, ...]
    seconds: tuple[float, float]
    left_out_s: tuple[float, float]
    blend_s: float

    @property
    def shares(self) -> tuple[float, float]:
        """Kept part of A and of B, 0 to 1."""
        a, b = (
            kept / max(kept + out, 1e-9)
            for kept, out in zip(self.seconds, self.left_out_s, strict=True)
        )
        return a, b

    def __str__(self) -> str:
        a, b = (
            f"{seconds:.1f} s of {name} ({100 * share:.0f} %)"
            for seconds, name, share in zip(self.seconds, self.names, self.shares, strict=True)
        )
        out_a, out_b = self.left_out_s
        return (
            f"keeps {a} and {b}, leaves out {out_a:.1f} s and {out_b:.1f} s; "
            f"blend {self.blend_s:.2f} s"
        )


def kept_at(
    place: Candidate, matched: MatchedClips, names: tuple[str, ...], blend_s: float
) -> Kept:
    """What is kept of two clips that meet at a place."""
    a, b = matched.motions
    before, after = place.frame_a / a.fps, place.frame_b / b.fps
    return Kept(names, (before, b.duration_s - after), (a.duration_s - before, after), blend_s)


@dataclass(frozen=True, slots=True, eq=False)
@record
class Transition:
    """A, then the blend, then B, as one clip.

    Attributes
    ----------
    motion : Motion
        The result, with its feet held where they are planted.
    footplants : Footplants
        Contacts: in the blend and around it those that are held, elsewhere those of the clips.
    span : tuple of two int
        First and last blended frame of ``motion``.
    provenance : Provenance
        Which clip, at which time, every frame comes from, and which frames were changed. All others
        are those of ``matched``, bit for bit: A's where they are, B's moved by ``placement``.
    notes : tuple of str
        What was changed and decided (clips matched, a blend made shorter than asked, glitches of
        the clips), and failed checks.
    verification : Verification
        Quality check of the blend and its fades against A and B; all of the result with
        ``clean="all"``.
    cleanup : CleanupReport or None
        What holding the feet changed; None with ``clean=False``.
    blended : Motion
        The motion before its feet were held.
    candidates : tuple of Candidate
        Places that were considered: the one taken, then the others, best first.
    placement : PlanarTransform
        Transforms B's coordinates into those of the result.
    matched : MatchedClips
        A and B on one skeleton and at one rate; with ``repair="all"`` repaired.
    passed_over : int
        Number of better places that were dropped because of failed checks.
    details : tuple of str
        Every capture glitch of the clips; a note has only their number.
    """

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    provenance: Provenance = field(repr=False)
    notes: tuple[str, ...]
    verification: Verification
    cleanup: CleanupReport | None
    blended: Motion = field(repr=False)
    candidates: tuple[Candidate, ...]
    placement: PlanarTransform
    matched: MatchedClips = field(repr=False)
    passed_over: int = 0
    details: tuple[str, ...] = field(default=(), repr=False)

    @property
    def body(self) -> BodyMap:
        """Roles of the joints."""
        return self.matched.body

    @property
    def cost(self) -> float:
        """Cost of the place taken, metres; lower is better."""
        return self.candidates[0].cost

    @property
    def kept(self) -> Kept:
        """How much of both clips is in the result."""
        first, last = self.span
        blend_s = (last - first) / self.motion.fps
        return kept_at(self.candidates[0], self.matched, self.provenance.sources, blend_s)

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
    keep: float | tuple[float, float] | Literal["late"] = 0.3,
    moving: bool = False,
    footplants: tuple[Footplants, Footplants] | None = None,
    body: BodyMap | None = None,
    timewarp: bool = True,
    repair: Literal["made", "all"] | None = "made",
    match: bool = True,
    clean: bool | Literal["all"] = True,
    check: bool = True,
) -> Transition:
    """A motion that is A first and B last, blended between where the two are most similar.

    B is matched to A's skeleton and rate, places for the blend are ranked, and planted feet are
    held in the blend. What that changes eases off within 0.3 s on both sides; all other frames are
    A's and B's own, bit for bit. The first place is taken whose blend passes the quality check
    (``ml.verify``). If none passes, the one with the fewest failed checks is taken, and ``notes``
    names them.

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
    keep
        The least share of each clip that stays, or of A and of B. Of places that keep so much,
        those that keep more rank higher: all of a clip weighs as much as 10 cm of cost. 0 is
        anywhere, by cost alone; ``"late"`` is as late as possible in A and as early as possible
        in B, within a second. Where no place keeps so much, or no blend there passes the quality
        check, the best other one is taken, and ``notes`` says so.
    moving
        Look only where both bodies travel; without it a standing pose is often the best match.
    footplants
        Contacts of A and B, each in the clip's own frames; detected where not given.
    body
        Which joint is which; guessed where not given.
    timewarp
        Warp the times of the clips inside the blend so that their poses match (True by default);
        without it both play frame by frame.
    repair
        Glitches of the capture, and knees that were captured bent backwards, are repaired where
        motion is made (``"made"``), in both clips from end to end (``"all"``), or nowhere (None).
    match
        If False, B must have A's joints, and bones of other lengths and floors of other heights
        are left as they are.
    clean
        Where planted feet are held: in the blend and while it fades (True), in both clips from end
        to end (``"all"``), or nowhere (False).
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
    >>> first = joined.provenance.copies()[0].n_frames
    >>> bool((joined.motion.local_quats[:first] == walk.local_quats[:first]).all())
    True
    """
    of_kind(a, Motion, "a")
    of_kind(b, Motion, "b")
    if at is not None and (not isinstance(at, tuple | list) or len(at) != 2):
        raise ArrayError(f"`at` must be a frame of A and a frame of B, got {at!r}.")
    positive(length_s, "length_s")
    moving, timewarp = flag(moving, "moving"), flag(timewarp, "timewarp")
    match, check = flag(match, "match"), flag(check, "check")
    kept = checked_keep(keep)
    if repair is not None:
        one_of(repair, REPAIRS, "repair")
    if not isinstance(clean, str) or clean != "all":
        clean = flag(clean, "clean")

    matched = match_clips([a, b], footplants=footplants, body=body, match=match)
    if match:
        matched = on_one_floor(matched)
    pair = Pair.of(matched, repair=repair)
    half = frames_in(length_s, pair.a.fps, "length_s", part=0.5)
    wished = _Wished(moving, kept)
    places = find_places(pair, half, **wished._asdict()) if at is None else (named_place(pair, at),)
    best = _try(pair, places, half, timewarp, clean, at_most=None if check else 1)
    if check and at is None and not best.passed:
        best = _other_length(pair, best, wished, timewarp, clean)
        if isinstance(kept, tuple) and not best.passed:
            best = _keeping_less(pair, best, half, wished, timewarp, clean)
    notes = [*pair.notes, *_compromises(best, half, length_s, pair.a.fps), *_turns(pair, best)]
    if at is None and isinstance(kept, tuple):
        notes += _lost(kept_at(best.place, pair.matched, ("A", "B"), 0.0), kept)
    result = best.finalized
    if clean and check:
        warn_flawed(result.verification, "transition")
    if clean and (missing := legs_missing(pair.body)):
        notes.append(f"feet are not held: the skeleton has no {', '.join(missing)}")
    return Transition(
        result.motion,
        result.footplants,
        best.join.span,
        best.provenance,
        (*notes, *result.notes),
        result.verification,
        result.cleanup,
        best.join.window.captured,
        best.places_taken_first,
        best.join.placement,
        pair.matched,
        best.number,
        pair.details,
    )


class _Attempt(NamedTuple):
    """The best join found at one length of the blend."""

    half: int
    """Half the length of the blend, frames."""
    places: tuple[Candidate, ...]
    number: int
    """Of the place that was taken."""
    join: Join
    finalized: Finalized

    @property
    def passed(self) -> bool:
        return self.finalized.verification.passed

    @property
    def place(self) -> Candidate:
        """The place that was taken."""
        return self.places[self.number]

    @property
    def n_failed(self) -> int:
        return len(self.finalized.verification.failed)

    @property
    def provenance(self) -> Provenance:
        """Where every frame comes from, and which differ from the clips."""
        made, given = self.join.provenance, self.join.window.captured
        changed = made.changed | ~same_frames(self.finalized.motion, given)
        return dataclasses.replace(made, changed=changed)

    @property
    def places_taken_first(self) -> tuple[Candidate, ...]:
        taken, others = self.place, list(self.places)
        del others[self.number]
        return (taken, *others)


class _Wished(NamedTuple):
    """What places should be like."""

    moving: bool
    keep: Keep | None


def checked_keep(keep: object) -> Keep | None:
    """What is to be kept, checked; None for anywhere."""
    if isinstance(keep, str) and keep == "late":
        return "late"
    both = keep if isinstance(keep, tuple | list) else (keep, keep)
    if len(both) != 2 or isinstance(keep, str):
        raise ArrayError(
            f'`keep` must be a share, one for each clip, or "late", got {keep!r}. Use a number '
            "from 0 to 1, such as 0.3."
        )
    a, b = (not_negative(share, "keep") for share in both)
    if max(a, b) > 1.0:
        raise ArrayError(f"`keep` must be at most 1, all of a clip, got {keep!r}.")
    return (a, b) if a or b else None


def _lost(kept: Kept, wished: tuple[float, float]) -> list[str]:
    """A note where a result keeps less than was asked for."""
    if all(share >= least - 1e-9 for share, least in zip(kept.shares, wished, strict=True)):
        return []
    asked = " and ".join(f"{100 * share:.0f} %" for share in dict.fromkeys(wished))
    return [f"no place that keeps {asked} of both clips will do: this is the best other one"]


def _try(
    pair: Pair,
    places: tuple[Candidate, ...],
    half: int,
    timewarp: bool,
    clean: bool | Literal["all"],
    at_most: int | None = None,
) -> _Attempt:
    """Join the clips at one place after another until a result passes the quality check.

    If none passes, the join with the fewest failed checks is returned.
    """
    best: _Attempt | None = None
    tried = places[:at_most]
    for number, place in enumerate(tried):
        report_step("trying places", number, len(tried))
        try:
            join = join_at(pair, place, half, timewarp=timewarp)
        except RegistrationError:
            if best is None and number == len(tried) - 1:
                raise
            continue
        blend = join.verify(pair.check)
        if best is not None and not blend.passed and len(blend.failed) >= best.n_failed:
            continue  # holding the feet repairs none of these failures, and it is slow
        finalized = finalize(
            join.motion,
            join.footplants,
            pair.check,
            body=pair.body,
            clean=bool(clean),
            provenance=join.provenance,
            window=None if clean == "all" else join.window,
        )
        if best is None or len(finalized.verification.failed) < best.n_failed:
            best = _Attempt(half, places, number, join, finalized)
        if finalized.verification.passed:
            break
    assert best is not None  # otherwise the last place has raised
    return best


def _other_length(
    pair: Pair, asked: _Attempt, wished: _Wished, timewarp: bool, clean: bool | Literal["all"]
) -> _Attempt:
    """The first blend of another length that passes the check, or the one that fails least.

    ``asked`` is the failed attempt at the length the caller asked for; it is returned if no other
    length does better.
    """
    best = asked
    for factor in OTHER_LENGTHS:
        half = round(factor * asked.half)
        try:
            places = find_places(pair, half, **wished._asdict())[:PLACES_PER_LENGTH]
            attempt = _try(pair, places, half, timewarp, clean)
        except RegistrationError:
            continue
        if attempt.n_failed < best.n_failed:
            best = attempt
        if attempt.passed:
            break
    return best


def _keeping_less(
    pair: Pair,
    asked: _Attempt,
    half: int,
    wished: _Wished,
    timewarp: bool,
    clean: bool | Literal["all"],
) -> _Attempt:
    """The first blend that passes at a place that keeps less, half or anything, or ``asked``."""
    assert isinstance(wished.keep, tuple)
    a, b = wished.keep
    for keep in ((a / 2.0, b / 2.0), None):
        places = find_places(pair, half, moving=wished.moving, keep=keep)
        attempt = _try(pair, places, half, timewarp, clean)
        if not attempt.passed:
            less = wished._replace(keep=keep)
            attempt = _other_length(pair, attempt, less, timewarp, clean)
        if attempt.passed:
            return attempt
    return asked


def _compromises(best: _Attempt, half: int, length_s: float, fps: float) -> list[str]:
    """In which ways the result is not what the caller asked for."""
    notes = []
    if best.half != half:
        notes.append(
            f"the blend takes {2 * best.half / fps:.2f} s, not {length_s:g} s: no blend of "
            "that length passes the quality check"
        )
    if best.number > 0:
        better = best.places[0]
        notes.append(
            f"{best.number} better places were left, the best at ({better.frame_a}, "
            f"{better.frame_b}): the result there fails the quality check"
        )
    first, last = best.join.span
    n = last - first + 1
    if n < 2 * best.half + 1:
        notes.append(
            f"the blend takes {(n - 1) / fps:.2f} s, not {2 * best.half / fps:.2g} s: the "
            "clips have no more frames around this place"
        )
    for frames, where in zip(best.join.kept, ("before", "after"), strict=True):
        if frames:
            notes.append(
                f"a foot that stands all through the blend is held for {frames / fps:.2f} s "
                f"{where} it, until it swings"
            )
    return notes


def _turns(pair: Pair, best: _Attempt) -> list[str]:
    """A note where the bodies travel in other directions: sideways or backwards into forwards."""
    one = travel_of(pair.a, pair.body)[best.place.frame_a]
    other = travel_of(pair.b, pair.body)[best.place.frame_b]
    speeds = np.linalg.norm([one, other], axis=-1)
    if speeds.min() < TRAVELS_M_S:
        return []
    apart = float(np.arccos(np.clip(one @ other / speeds.prod(), -1.0, 1.0)))
    if apart < UNLIKE:
        return []
    return [
        f"the bodies travel in directions {np.degrees(apart):.0f} degrees apart there, at "
        f"{speeds[0]:.1f} and {speeds[1]:.1f} m/s"
    ]


def lead_in(
    motion: Motion,
    pose: Motion,
    *,
    length_s: float = 0.6,
    hold_s: float = 0.3,
    body: BodyMap | None = None,
    clean: bool = False,
) -> Transition:
    """A clip that begins in a standing pose and is the motion after ``length_s`` of blending.

    The pose is held, then blended into the motion's first frames as they play, so that position
    and speed are the motion's own where the blend ends.

    Parameters
    ----------
    motion
        The clip to lead into.
    pose
        A motion on the same skeleton; its last frame is the standing pose.
    length_s
        Seconds of blending.
    hold_s
        Seconds for which the pose is held before.
    body
        Which joint is which; guessed where not given.
    clean
        If True, planted feet are held; the first or last pose then is not exactly the given one.

    Returns
    -------
    Transition
        From the held pose into the motion.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk, stand = synthetic.clip("walk").motion, synthetic.clip("stand").motion
    >>> start = lead_in(walk, stand)
    >>> bool(np.allclose(start.motion.local_quats[0, 1:], stand.local_quats[-1, 1:]))
    True
    """
    half, hold = _lead_frames(motion, pose, length_s, hold_s)
    held = _held(pose, pose.n_frames - 1, motion.fps, 2 * half + hold + 5)
    at = (half + hold + 2, half + 2)
    made = transition(
        held, motion, at=at, length_s=length_s, timewarp=False, body=body, clean=clean
    )
    return _of_one_frame(made, 0, pose.duration_s)


def lead_out(
    motion: Motion,
    pose: Motion,
    *,
    length_s: float = 0.6,
    hold_s: float = 0.3,
    body: BodyMap | None = None,
    clean: bool = False,
) -> Transition:
    """A clip that is the motion first and ends in a standing pose.

    Parameters
    ----------
    motion
        The clip to lead out of.
    pose
        A motion on the same skeleton; its first frame is the standing pose.
    length_s
        Seconds of blending, the last of the motion.
    hold_s
        Seconds for which the pose is held after.
    body
        Which joint is which; guessed where not given.
    clean
        If True, planted feet are held; the first or last pose then is not exactly the given one.

    Returns
    -------
    Transition
        From the motion into the held pose.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk, stand = synthetic.clip("walk").motion, synthetic.clip("stand").motion
    >>> stop = lead_out(walk, stand)
    >>> bool(np.allclose(stop.motion.local_quats[-1, 1:], stand.local_quats[0, 1:]))
    True
    """
    half, hold = _lead_frames(motion, pose, length_s, hold_s)
    held = _held(pose, 0, motion.fps, 2 * half + hold + 5)
    at = (motion.n_frames - 3 - half, half + 2)
    made = transition(
        motion, held, at=at, length_s=length_s, timewarp=False, body=body, clean=clean
    )
    return _of_one_frame(made, 1, 0.0)


def _lead_frames(motion: Motion, pose: Motion, length_s: float, hold_s: float) -> tuple[int, int]:
    """Frames of half the blend and of the held pose."""
    of_kind(motion, Motion, "motion")
    of_kind(pose, Motion, "pose")
    hold_s = not_negative(hold_s, "hold_s")
    half = frames_in(length_s, motion.fps, "length_s", part=0.5)
    if motion.n_frames < 2 * half + 5:
        raise RegistrationError(
            f"A lead of {length_s:g} s needs a clip of {(2 * half + 5) / motion.fps:.2f} s, "
            f"got {motion.duration_s:.2f} s. Use a shorter `length_s`."
        )
    if not motion.skeleton.same_joints(pose.skeleton):
        raise SkeletonMismatchError(
            f"`pose` must have the motion's joints; {pose!r} and {motion!r} differ. "
            "Use ml.retarget(pose, motion.skeleton) first."
        )
    if hold_s == 0.0:
        return half, 0
    return half, frames_in(hold_s, motion.fps, "hold_s", least=0, most=LONGEST_HOLD)


def _of_one_frame(made: Transition, source: int, time_s: float) -> Transition:
    """The transition, one clip of which is a single frame at a time of its clip."""
    where = made.provenance
    track = where.body
    times = np.where(track.clip == source, time_s, track.time)
    tracks = (dataclasses.replace(track, time=times),)
    return dataclasses.replace(made, provenance=dataclasses.replace(where, tracks=tracks))


def _held(pose: Motion, frame: int, fps: float, n_frames: int) -> Motion:
    """One frame of a motion, repeated."""
    return pick(pose, np.full(n_frames, frame)).replace(fps=fps)
