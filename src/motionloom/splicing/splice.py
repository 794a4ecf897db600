"""splice(): the upper body of one clip on the legs of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np

from motionloom._arrays import FloatArray, flag, of_kind, one_of
from motionloom._progress import report_step
from motionloom._records import record
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.features.checks.verification import Verification, warn_flawed
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion, joined_name
from motionloom.motion.provenance import Provenance, Track
from motionloom.retargeting.match import MatchedClips, match_clips
from motionloom.splicing.action_times import Timing, action_times
from motionloom.splicing.assembly import Assembled, Assembly, on_captured_legs
from motionloom.splicing.body_parts import Part, Where, parts_of
from motionloom.splicing.glitches import without_glitches
from motionloom.splicing.hand_contacts import Spans, mapped_contacts
from motionloom.splicing.posture import Posed
from motionloom.splicing.splice_check import (
    SpliceCheck,
    Verify,
    calm_splice,
    steadier_head,
    without_twist,
)
from motionloom.splicing.timing import UpperTimes, slowed_times
from motionloom.splicing.twist import lost_twist

Method = Literal["naive", "time", "time+space", "full"]
WhenShort = Literal["crop", "loop", "hold"]
Repair = Literal["made", "all"]
TRUNKS = ("torso", "chest")
CLIPS = ("the locomotion", "the action")
"""Names of the clips in notes."""
SLOWER_ROUNDS = 3
"""How often an action is slowed where its arms are too fast."""


@dataclass(frozen=True, eq=False)
@record
class Splice:
    """A spliced motion; it starts at the lower clip's first frame.

    Attributes
    ----------
    motion : Motion
        The spliced motion.
    timewarp : UpperTimes
        Which frame of the action each frame of the result has.
    hand_contacts : Mapping
        Contacts of the hands that were given with the action, at the result's frames.
    notes : tuple of str
        What was changed and decided, and what of the action is lost.
    verification : Verification
        Quality check of the action's joints against both clips; the head's turn rate included.
        Joints of the locomotion are copies and are not judged.
    matched : MatchedClips
        The lower and the upper clip on one skeleton and at one rate.
    provenance : Provenance
        Where both parts of the body come from: ``"lower"`` from the locomotion, ``"upper"``, or
        the part that ``where`` names, from the action.
    details : tuple of str
        What a note only counts: every capture glitch of the locomotion.
    """

    motion: Motion
    timewarp: UpperTimes
    hand_contacts: Mapping[str, tuple[tuple[int, int], ...]]
    notes: tuple[str, ...]
    verification: Verification
    matched: MatchedClips = field(repr=False)
    provenance: Provenance = field(repr=False)
    details: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def footplants(self) -> Footplants:
        """The lower clip's: its root and legs are the result's."""
        return self.matched.first_footplants[: self.motion.n_frames]

    @property
    def span(self) -> tuple[int, int]:
        """First and last spliced frame: all of them."""
        return 0, self.motion.n_frames - 1

    @property
    def cleanup(self) -> None:
        """Nothing is cleaned: feet stay exactly where the lower clip has them."""
        return None

    @property
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


def splice(
    upper: Motion,
    lower: Motion,
    *,
    method: Method = "full",
    where: Where = "torso",
    when_short: WhenShort = "crop",
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    align: bool = False,
    soft: bool = False,
    keep_bend: bool = False,
    hand_contacts: Mapping[str, Spans] | None = None,
    repair: Repair | None = "made",
    match: bool = True,
) -> Splice:
    """The action of one clip's upper body on the locomotion of another.

    Root and legs of the result are the locomotion's, equal to the last bit. The torso sways as the
    locomotion's torso does, without its frame noise, while the head stays as steady as in the
    action.

    Parameters
    ----------
    upper
        Clip with the action. On another skeleton it is retargeted, at another rate resampled, which
        the notes report.
    lower
        Clip with the locomotion.
    method
        ``"full"``; or fewer steps, to compare: ``"naive"`` copies joints frame by frame,
        ``"time"`` also keeps step, ``"time+space"`` also moves the torso as the locomotion's
        moves, ``"full"`` also keeps the action's mean posture.
    where
        What is taken from the action: everything above the pelvis, above the last spine joint,
        both arms, one arm, or the head.
    when_short
        What to do if the legs continue after the action ends: crop them, loop the action, or hold
        its last frame.
    footplants
        Plants of the lower clip; detected where not given.
    body
        Which joint is which; guessed where not given.
    align
        Also align an action captured standing: its strokes, such as punches, coincide with steps of
        the legs. By default it keeps its own time.
    soft
        Blend the spine from the locomotion to the action joint by joint; arms and head stay
        where the hard split has them.
    keep_bend
        Keep deep bends of the action too, which the locomotion's torso does not make.
    hand_contacts
        First and last frames of the action in which a hand holds on to something, by
        ``"left"`` and ``"right"``; they come back at the result's frames.
    repair
        Where capture defects are repaired. ``"made"``: where motion is made, which is in the
        action. ``"all"``: in the locomotion too, and its root and legs are then the repaired ones.
        None: nowhere.
    match
        If False, both clips must have the same joints, and bones of other lengths are left as
        they are.

    Returns
    -------
    Splice
        With the motion, its contacts, the timing of the action, and the quality check.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> carry, turn = synthetic.clip("carry").motion, synthetic.clip("walk", turn=1.2).motion
    >>> spliced = splice(upper=carry, lower=turn)
    >>> n = spliced.motion.n_frames
    >>> bool((spliced.motion.root_positions == turn.root_positions[:n]).all())
    True
    """
    for clip, name in ((upper, "upper"), (lower, "lower")):
        of_kind(clip, Motion, name)
    _check_choices(method, where, when_short, repair)
    _check_flags(method, where, align=align, soft=soft, keep_bend=keep_bend)
    matched = match_clips(
        [lower, upper], footplants=[footplants, None], body=body, names=CLIPS, match=match
    )
    notes = matched.named_notes(CLIPS)
    parts = parts_of(matched.motions[0].skeleton, matched.body, where)
    legs, lower, upper = _repaired(matched, upper, method, repair, notes)
    timing = Timing(
        method != "naive", when_short, lambda: matched.first_footplants,
        align=align, has_hands=where != "head",
    )  # fmt: skip
    source, times = action_times(upper, lower, matched.body, timing, notes)
    check = SpliceCheck(lower, upper, matched.body, parts, steady_head=where in (*TRUNKS, "head"))
    assembly = Assembly(
        source, lower, parts, matched.body, check.fastest_turns(), method,
        walks=times.walks, keep_bend=keep_bend, soft=soft,
    )  # fmt: skip
    assembled = assembly.at(times.frames)
    if method == "full" and when_short == "crop":
        times, assembled = _slowed(assembly, times, assembled, upper)
    notes += _rate_note(times)
    report_step("checking the splice")
    provenance = _provenance((legs, upper), where, times)
    verify = partial(check.verify, provenance=provenance)
    spliced, verification = assembled.motion, verify(assembled.motion)
    if method == "full":
        spliced, verification = _corrected(
            assembly, times.frames, assembled, verification, verify, notes
        )
        warn_flawed(verification, "splice")
    spliced = on_captured_legs(spliced, legs, parts, matched.body)
    details = _faults_of(legs[: spliced.n_frames], parts, matched.body, notes)
    notes += [f"failed check: {each}" for each in verification.failed]
    return Splice(
        spliced.replace(name=joined_name(upper, "on", lower), source=lower.source.for_result()),
        times,
        mapped_contacts(hand_contacts, times),
        tuple(notes),
        verification,
        matched,
        provenance,
        details,
    )


def _slowed(
    assembly: Assembly, times: UpperTimes, assembled: Assembled, upper: Motion
) -> tuple[UpperTimes, Assembled]:
    """Times at which no arm is too fast in the world, and the splice at them."""
    for _ in range(SLOWER_ROUNDS):
        report_step("slowing the action")
        slower = slowed_times(times, assembled.motion, upper, assembly.lower, assembly.body)
        if slower is None:
            break
        times, assembled = slower, assembly.at(slower.frames)
    return times, assembled


def _provenance(clips: tuple[Motion, Motion], where: Where, times: UpperTimes) -> Provenance:
    """The clips and times of both parts of the body."""
    n, (lower, upper) = len(times.frames), clips
    ones, action = np.ones((n, 1)), "upper" if where in TRUNKS else where
    at = np.arange(n)[:, None] / lower.fps, times.action_frames[:, None] / lower.fps
    tracks = (
        Track("lower", np.full((n, 1), 0), at[0], ones),
        Track(action, np.full((n, 1), 1), at[1], ones),
    )
    return Provenance((lower.name, upper.name), lower.fps, tracks, np.ones(n, dtype=bool))


def _rate_note(times: UpperTimes) -> list[str]:
    """A note where keeping step changes the rate of the action for most of the time."""
    if times.kept_own_time or times.is_steady:
        return []
    rate = float(np.median(times.rates))
    return [f"in step with the legs the action plays at {rate:.2f} times its rate"]


def _faults_of(
    legs: Motion, parts: tuple[Part, ...], body: BodyMap, notes: list[str]
) -> tuple[str, ...]:
    """Capture glitches of joints copied from the locomotion; ``notes`` get their count."""
    names = legs.skeleton.names
    made = {names[joint] for part in parts for joint in part.joints}
    faults = [each for each in find_glitches(legs, body=body) if each.joint not in made]
    if faults:
        plural = "es" if len(faults) > 1 else ""
        notes.append(
            f"the locomotion has {len(faults)} capture glitch{plural}; `motionloom clean` repairs "
            "what can be repaired"
        )
    return tuple(f"the locomotion: frame {each.frame}, {each.joint}" for each in faults)


def _corrected(
    assembly: Assembly,
    frames: FloatArray,
    assembled: Assembled,
    verification: Verification,
    verify: Verify,
    notes: list[str],
) -> tuple[Motion, Verification]:
    """The splice corrected where it fails its check; ``notes`` get what was lost and smoothed."""
    spliced, action = assembled
    part = assembly.parts[0]
    if part.is_trunk:
        if not verification.passed:
            spliced, verification = without_twist(assembly, frames, spliced, verification, verify)
        result = Posed.of(spliced)
        notes += [] if assembly.keep_bend else _lost_bends(action, result, part)
        notes += lost_twist(action.positions, result.positions, assembly.body)
    if any(each.check == "head turn" for each in verification.failed):
        spliced, verification = steadier_head(assembly, frames, spliced, verification, verify)
    if not verification.passed:
        spliced, verification = calm_splice(spliced, verification, assembly.parts, verify, notes)
    return spliced, verification


def _check_choices(
    method: Method, where: Where, when_short: WhenShort, repair: Repair | None
) -> None:
    one_of(method, get_args(Method), "method")
    one_of(when_short, get_args(WhenShort), "when_short")
    one_of(where, get_args(Where), "where")
    if repair is not None:
        one_of(repair, get_args(Repair), "repair")


def _check_flags(method: Method, where: Where, *, align: bool, soft: bool, keep_bend: bool) -> None:
    for name, value in (("align", align), ("soft", soft), ("keep_bend", keep_bend)):
        flag(value, name)
    if align and method == "naive":
        raise ArrayError(
            "`align` puts the action in step, and method='naive' copies it frame by frame, got "
            "align=True with method='naive'. Use method='time' or method='full'."
        )
    if keep_bend and method != "full":
        raise ArrayError(
            "`keep_bend` keeps bends as a part of the posture, which only method='full' keeps, got "
            f"keep_bend=True with method={method!r}. Use method='full'."
        )
    if (soft or keep_bend) and where not in TRUNKS:
        raise ArrayError(
            f"`soft` and `keep_bend` are for where='torso' or where='chest', got where={where!r}: "
            "arms and head hang on the locomotion's own spine."
        )


def _repaired(
    matched: MatchedClips, given: Motion, method: Method, repair: Repair | None, notes: list[str]
) -> tuple[Motion, Motion, Motion]:
    """Legs of the result, and locomotion and action as motion is made of them.

    The torso sways with a locomotion whose trunk is repaired; its legs stay as captured. ``notes``
    get what was repaired.
    """
    (legs, upper), body = matched.motions, matched.body
    lower = legs
    if repair == "all":
        whole = repair_capture(legs, body=body)
        legs = lower = whole.motion
        notes += [f"legs: {note}" for note in whole.notes]
    if method == "naive" or repair is None:
        return legs, lower, upper
    if repair == "made":
        lower = repair_capture(legs, body=body, legs=False).motion
    if upper.skeleton is given.skeleton:  # retargeting has repaired it otherwise
        action = repair_capture(upper, body=body, legs=False)
        upper = action.motion
        notes += [f"action: {note}" for note in action.notes]
    upper, n_glitches = without_glitches(upper, body)
    if n_glitches:
        notes.append(f"{n_glitches} frames of the action are capture glitches: interpolated")
    return legs, lower, upper


def _lost_bends(action: Posed, spliced: Posed, part: Part) -> list[str]:
    """Deep bends of the action that the locomotion's torso does not make, in words."""
    deepest = []
    for _, positions, _ in (action, spliced):
        trunk = positions[:, part.held].mean(axis=1) - positions[:, part.joint]
        level = np.linalg.norm(trunk[:, [0, 2]], axis=-1)
        deepest.append(float(np.degrees(np.arctan2(level, trunk[:, 1])).max()))
    if deepest[0] <= deepest[1] + 20.0:
        return []
    return [
        f"the action bends its torso by up to {deepest[0]:.0f} degrees, the splice by "
        f"{deepest[1]:.0f}, because the torso moves as the locomotion's does; keep_bend=True "
        "keeps it"
    ]
