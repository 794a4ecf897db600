"""splice(): the upper body of one clip on the legs of another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal, NamedTuple, get_args

import numpy as np

from motionloom._arrays import FloatArray, flag, of_kind, one_of
from motionloom._progress import report_step
from motionloom._records import record
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.source_limits import TURN_FREE
from motionloom.features.checks.verification import Verification, warn_flawed, with_failed
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.motion import Footplants, Motion, joined_name
from motionloom.motion.provenance import Provenance, Track
from motionloom.retargeting.match import MatchedClips, match_clips
from motionloom.rotation import quat
from motionloom.splicing.assembly import Assembled, Assembly, on_captured_legs
from motionloom.splicing.body_parts import Part, Where, parts_of
from motionloom.splicing.lean import lost_twist
from motionloom.splicing.posture import Posed
from motionloom.splicing.smoothing import sample_smoothly, smooth_rotations
from motionloom.splicing.timing import UpperTimes, action_times, slowed_times

Method = Literal["naive", "time", "time+space", "full"]
WhenShort = Literal["crop", "loop", "hold"]
Repair = Literal["made", "all"]
TRUNKS = ("torso", "chest")
CLIPS = ("the locomotion", "the action")
"""Names of the clips in notes."""
SLOWER_ROUNDS = 3
"""Most times that an action is slowed because its arms are too fast."""
AROUND_S = 1.0 / 60.0
"""Seconds around a glitch that are interpolated with it: the step into a glitch that lasts several
frames, or that was resampled, lies there."""
MARGIN = 0.95
"""Corrected speeds stay below this times their limit."""
STEADIER_S = (1.2, 2.0, None)
"""Seconds over which a head that turns too fast follows the torso, tried in order. None, the last
resort, leaves it on the torso."""
CALMING_S = (0.05, 0.1, 0.15)
"""Half widths of the smoothing that is tried where a splice fails its check, seconds."""
Verify = Callable[[Motion], Verification]
"""The check of one try of a splice."""
Spans = Sequence[tuple[int, int]]
"""First and last frame of every contact of a hand."""


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
        Every capture glitch of the locomotion; a note has only their number.
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
        Joints to take from the action: everything above the pelvis, above the last spine joint,
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
        Where capture defects are repaired. ``"made"``: in the action, from which motion is made.
        ``"all"``: in the locomotion too, and its root and legs are then the repaired ones. None:
        nowhere.
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
    _check_options(method, where, when_short, repair, align=align, soft=soft, keep_bend=keep_bend)
    matched = match_clips(
        [lower, upper], footplants=[footplants, None], body=body, names=CLIPS, match=match
    )
    notes, body = matched.named_notes(CLIPS), matched.body
    parts = parts_of(matched.motions[0].skeleton, body, where)
    legs, lower, upper = _repaired(matched, upper, method, repair, notes)
    source, times = action_times(
        upper, lower, matched, notes,
        is_matched=method != "naive", when_short=when_short, align=align, has_hands=where != "head",
    )  # fmt: skip
    check = SpliceCheck(lower, upper, body, parts, steady_head=where in (*TRUNKS, "head"))
    assembly = Assembly(
        source, lower, parts, body, check.fastest_turns(), method,
        walks=times.walks, keep_bend=keep_bend, soft=soft,
    )  # fmt: skip
    assembled = assembly.at(times.frames)
    if method == "full" and when_short == "crop":
        times, assembled = _slowed(assembly, times, assembled, upper)
    if not times.kept_own_time and not times.is_steady:
        rate = float(np.median(times.rates))
        notes.append(f"in step with the legs the action plays at {rate:.2f} times its rate")
    report_step("checking the splice")
    provenance = _provenance((legs, upper), where, times)
    verify = partial(check.verify, provenance=provenance)
    best = Tried(assembled.motion, verify(assembled.motion))
    if method == "full":
        best = _corrected(assembly, times.frames, assembled.action, best, verify, notes)
        warn_flawed(best.verification, "splice")
    spliced = on_captured_legs(best.motion, legs, parts, body)
    details = _faults_of(legs[: spliced.n_frames], parts, body, notes)
    notes += [f"failed check: {each}" for each in best.verification.failed]
    return Splice(
        spliced.replace(name=joined_name(upper, "on", lower), source=lower.source.for_result()),
        times,
        mapped_contacts(hand_contacts, times),
        tuple(notes),
        best.verification,
        matched,
        provenance,
        details,
    )


def _check_options(
    method: Method,
    where: Where,
    when_short: WhenShort,
    repair: Repair | None,
    *,
    align: bool,
    soft: bool,
    keep_bend: bool,
) -> None:
    """Refuse options of unknown values, and options that exclude each other."""
    one_of(method, get_args(Method), "method")
    one_of(when_short, get_args(WhenShort), "when_short")
    one_of(where, get_args(Where), "where")
    if repair is not None:
        one_of(repair, get_args(Repair), "repair")
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
    """Repair the clips: the legs of the result, then the locomotion and action it is made from.

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
    if upper.skeleton is given.skeleton:  # otherwise retargeting has repaired it
        action = repair_capture(upper, body=body, legs=False)
        upper = action.motion
        notes += [f"action: {note}" for note in action.notes]
    upper, n_glitches = without_glitches(upper, body)
    if n_glitches:
        notes.append(f"{n_glitches} frames of the action are capture glitches: interpolated")
    return legs, lower, upper


def without_glitches(motion: Motion, body: BodyMap) -> tuple[Motion, int]:
    """Interpolate glitches from the frames around them; also the number of interpolated frames.

    A splice runs the action at up to twice its rate, which makes a glitch twice as fast. Glitches
    at an end of the motion, where there is nothing to interpolate from, stay.

    Parameters
    ----------
    motion
        F frames.
    body
        Which joint is which.
    """
    around = round(AROUND_S * motion.fps)
    bad = sorted(
        {
            frame
            for glitch in find_glitches(motion, body=body)
            for frame in range(glitch.frame - around, glitch.frame + around + 1)
        }
    )
    if not bad:
        return motion, 0
    good = np.setdiff1d(np.arange(motion.n_frames), bad)
    inner = [f for f in bad if good[0] < f < good[-1]] if len(good) else []
    if not inner:
        return motion, 0
    frames = np.arange(motion.n_frames, dtype=np.float64)
    outer = np.setdiff1d(np.arange(motion.n_frames, dtype=np.int64), inner)
    return sample_smoothly(motion, frames, knots=outer), len(inner)


def _slowed(
    assembly: Assembly, times: UpperTimes, assembled: Assembled, upper: Motion
) -> tuple[UpperTimes, Assembled]:
    """Slow the action until no arm is too fast in the world: its times, and the splice at them."""
    for _ in range(SLOWER_ROUNDS):
        report_step("slowing the action")
        slower = slowed_times(times, assembled.motion, upper, assembly.lower, assembly.body)
        if slower is None:
            break
        times, assembled = slower, assembly.at(slower.frames)
    return times, assembled


class SpliceCheck:
    """The quality check of a splice against both clips, which are measured once.

    Only joints of the action are judged. The others are copies of the locomotion.

    Parameters
    ----------
    lower, upper
        The locomotion and the action, on one skeleton at one rate.
    body
        Which joint is which.
    parts
        What is taken from the action.
    steady_head
        Whether the head is judged too; it is not where it stays the locomotion's own.
    """

    def __init__(
        self,
        lower: Motion,
        upper: Motion,
        body: BodyMap,
        parts: Sequence[Part],
        *,
        steady_head: bool = True,
    ) -> None:
        names = lower.skeleton.names
        self._judged = {names[joint] for part in parts for joint in part.joints}
        plants = [_no_contacts(each) for each in (lower, upper)]
        self._lower, self._steady_head = lower, steady_head
        self._check = QualityCheck([lower, upper], footplants=plants, body=body, together=True)

    def fastest_turns(self) -> FloatArray:
        """Rotation speeds of joints that the check accepts with a margin, rad/s. (J,)."""
        fastest = np.full(self._lower.skeleton.n_joints, np.inf)
        judged = self._check.rig_for(self._lower).checked
        own = self._check.limits_for(self._lower).turn
        fastest[judged] = np.maximum(own, MARGIN * TURN_FREE)
        return fastest

    def verify(self, spliced: Motion, *, provenance: Provenance) -> Verification:
        """Whether the splice passes."""
        found = self._check.verify(
            spliced,
            footplants=_no_contacts(spliced),
            provenance=provenance,
            held=False,
            steady_head=self._steady_head,
        )
        return with_failed(found, (each for each in found.failed if each.joint in self._judged))


def _no_contacts(motion: Motion) -> Footplants:
    return Footplants(np.zeros((motion.n_frames, 4), dtype=bool))


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


class Tried(NamedTuple):
    """A splice and its quality check."""

    motion: Motion
    verification: Verification

    def or_better(self, motion: Motion, verify: Verify) -> Tried:
        """Whichever fails fewer checks: ``motion``, or else this splice."""
        again = verify(motion)
        if len(again.failed) < len(self.verification.failed):
            return Tried(motion, again)
        return self

    @property
    def turns_head(self) -> bool:
        """Whether the head turns faster than the check accepts."""
        return any(each.check == "head turn" for each in self.verification.failed)


def _corrected(
    assembly: Assembly,
    frames: FloatArray,
    action: Posed,
    best: Tried,
    verify: Verify,
    notes: list[str],
) -> Tried:
    """Correct the splice where it fails its check; ``notes`` get what was lost and smoothed."""
    part = assembly.parts[0]
    if part.is_trunk:
        if not best.verification.passed:
            untwisted = replace(assembly, keep_twist=False).at(frames).motion
            best = best.or_better(untwisted, verify)
        result = Posed.of(best.motion)
        notes += [] if assembly.keep_bend else _lost_bends(action, result, part)
        notes += lost_twist(action.positions, result.positions, assembly.body)
    # An action that twists its torso quickly keeps its head still against it. On a torso that does
    # not twist, the neck must do the opposite, and the head still follows some of it: then it
    # follows the torso more slowly. The head of a performer with a stiff neck sways with the torso
    # instead. Such an action played faster turns that head too fast, and it stays on the torso.
    for steady_s in STEADIER_S:
        if best.turns_head:
            best = best.or_better(assembly.at(frames, steady_s=steady_s).motion, verify)
    if not best.verification.passed:
        best = _calmed(best, assembly.parts, verify, notes)
    return best


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


def _calmed(best: Tried, parts: Sequence[Part], verify: Verify, notes: list[str]) -> Tried:
    """Smooth joints of the action where they fail the check, as far as that helps."""
    names = best.motion.skeleton.names
    own = {names[joint] for part in parts for joint in part.joints}
    calmed: set[str] = set()
    for half_s in CALMING_S:
        spliced, quats = best.motion, np.array(best.motion.local_quats)
        failing = [each for each in best.verification.failed if each.joint in own]
        if not failing:
            break
        for each in failing:
            joint, near = names.index(each.joint), round(3.0 * half_s * spliced.fps)
            whole = each.check == "head turn"
            first = 0 if whole else max(0, each.frame - near)
            stop = spliced.n_frames if whole else min(spliced.n_frames, each.frame + near + 1)
            for at in (joint, *_carrier(spliced, joint, own)):
                smooth = smooth_rotations(quats[:, at], spliced.fps, half_width_s=half_s, degree=1)
                share = _bump(stop - first) if not whole else np.ones(stop - first)
                quats[first:stop, at] = quat.slerp(quats[first:stop, at], smooth[first:stop], share)
            calmed.add(each.joint)
        best = best.or_better(spliced.replace(local_quats=quat.make_continuous(quats)), verify)
        if best.verification.passed:
            notes.append(f"smoothed where too abrupt: {', '.join(sorted(calmed))}")
            break
    return best


def _carrier(spliced: Motion, joint: int, own: set[str]) -> tuple[int, ...]:
    """The joint above, where it is the action's too: it carries what fails."""
    parent = int(spliced.skeleton.parents[joint])
    return (parent,) if parent >= 0 and spliced.skeleton.names[parent] in own else ()


def _bump(n: int) -> FloatArray:
    """0 at both ends of ``n`` frames, 1 in the middle half. (n,)."""
    return np.asarray(np.clip(2.0 - 4.0 * np.abs(np.linspace(-0.5, 0.5, n)), 0.0, 1.0))


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


def mapped_contacts(
    contacts: Mapping[str, Spans] | None, times: UpperTimes
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Convert contacts from the action's frames to the result's; contacts outside are dropped."""
    mapped: dict[str, tuple[tuple[int, int], ...]] = {}
    n = len(times.frames)
    if contacts is not None and not isinstance(contacts, Mapping):
        raise ArrayError(
            "`hand_contacts` must map hands to frames, such as {'left': [(10, 45)]}, got "
            f"{type(contacts).__name__}."
        )
    for hand, spans in (contacts or {}).items():
        if hand not in ("left", "right"):
            raise ArrayError(f"`hand_contacts` must be keyed by 'left' and 'right', got {hand!r}.")
        inside = []
        for first, last in _checked_spans(spans):
            start = int(np.searchsorted(times.frames, first - 1e-9))
            stop = int(np.searchsorted(times.frames, last + 1e-9)) - 1
            if start < n and stop >= start:
                inside.append((start, stop))
        mapped[hand] = tuple(inside)
    return mapped


def _checked_spans(spans: Spans) -> Spans:
    try:
        pairs = [(int(first), int(last)) for first, last in spans]
    except (TypeError, ValueError):
        pairs = [(1, 0)]
    if any(first > last for first, last in pairs):
        raise ArrayError(
            "`hand_contacts` must list the first and last frame of every contact, such as "
            f"{{'left': [(10, 45)]}}, got {spans!r}."
        )
    return pairs
