"""splice(): the upper body of one clip on the legs of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from motionloom._arrays import flag, of_kind, one_of
from motionloom._progress import report_step
from motionloom._records import record
from motionloom.blending.loop import loop
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, RegistrationError
from motionloom.features.checks.verify import Verification
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import concatenate, transform
from motionloom.motion.motion import Motion
from motionloom.retargeting.match import MatchedClips, match_clips
from motionloom.splicing.assembly import Assembly
from motionloom.splicing.body_parts import Part, Where, parts_of
from motionloom.splicing.glitches import without_glitches
from motionloom.splicing.posture import Posed
from motionloom.splicing.splice_check import SpliceCheck, calm_splice, steadier_head
from motionloom.splicing.timing import UpperTimes, find_upper_times, own_times, slowed_times
from motionloom.splicing.twist import lost_twist

__all__ = ["Splice", "splice"]

Method = Literal["naive", "time", "time+space", "full"]
WhenShort = Literal["crop", "loop", "hold"]
Spans = Sequence[tuple[int, int]]
TRUNKS = ("torso", "chest")
CLIPS = ("the locomotion", "the action")
"""Names of the clips in notes."""
SLOWER_ROUNDS = 3
"""How often an action is slowed where its arms are too fast."""


@dataclass(frozen=True, eq=False)
@record
class Splice:
    """A spliced motion; it starts at the lower clip's first frame."""

    motion: Motion
    footplants: Footplants
    """The lower clip's: its root and legs are the result's."""
    timewarp: UpperTimes
    """Which frame of the action each frame of the result has."""
    hand_contacts: Mapping[str, tuple[tuple[int, int], ...]]
    """Contacts of the hands that were given with the action, at the result's frames."""
    notes: tuple[str, ...]
    """What was changed and decided, and what of the action is lost."""
    verification: Verification
    """Quality check of every joint against both clips; the head's turn rate included."""
    matched: MatchedClips = field(repr=False)
    """The lower and the upper clip on one skeleton and at one rate."""

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
    soft: bool = False,
    keep_bend: bool = False,
    footplants: Footplants | None = None,
    hand_contacts: Mapping[str, Spans] | None = None,
    body: BodyMap | None = None,
    repair_knees: bool = True,
    match: bool = True,
) -> Splice:
    """The action of one clip's upper body on the locomotion of another.

    The torso sways as the locomotion's torso does, without its frame noise, while the head stays as
    steady as in the action. Capture glitches of the action are interpolated.

    Parameters
    ----------
    upper
        Clip with the action. On another skeleton it is retargeted, at another rate resampled, and
        the notes say so.
    lower
        Clip with the locomotion; root and legs of the result are exactly its own.
    method
        ``"full"``; or fewer steps, to compare: ``"naive"`` copies joints frame by frame,
        ``"time"`` also keeps step, ``"time+space"`` also moves the torso as the locomotion's
        moves, ``"full"`` also keeps the action's mean posture.
    where
        What is taken from the action: everything above the pelvis, above the last spine joint,
        both arms, one arm, or the head.
    when_short
        What to do with legs that go on after the action ends: crop them, loop the action, or hold
        its last frame.
    soft
        Let the spine go over from the locomotion to the action joint by joint; arms and head stay
        where the hard split has them.
    keep_bend
        Keep deep bends of the action too, which the locomotion's torso does not make.
    footplants
        Plants of the lower clip; detected where not given.
    hand_contacts
        First and last frames of the action in which a hand holds on to something, by
        ``"left"`` and ``"right"``; they come back at the result's frames.
    body
        Which joint is which; guessed where not given.
    repair_knees
        Whether knees of the locomotion that were captured bent backwards are repaired first.
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
    >>> made = splice(upper=carry, lower=turn)
    >>> n = made.motion.n_frames
    >>> bool((made.motion.root_positions == turn.root_positions[:n]).all())
    True
    """
    of_kind(upper, Motion, "upper")
    of_kind(lower, Motion, "lower")
    one_of(method, get_args(Method), "method")
    one_of(when_short, get_args(WhenShort), "when_short")
    one_of(where, get_args(Where), "where")
    soft, keep_bend = flag(soft, "soft"), flag(keep_bend, "keep_bend")
    if (soft or keep_bend) and where not in TRUNKS:
        raise ArrayError(
            f"`soft` and `keep_bend` are for where='torso' or where='chest', got where={where!r}: "
            "arms and head hang on the locomotion's own spine."
        )
    if hand_contacts is not None and not isinstance(hand_contacts, Mapping):
        raise ArrayError(
            "`hand_contacts` must map hands to frames, such as {'left': [(10, 45)]}, got "
            f"{type(hand_contacts).__name__}."
        )
    repair_knees = flag(repair_knees, "repair_knees")
    matched = match_clips(
        [lower, upper], footplants=[footplants, None], body=body, names=CLIPS, match=match
    )
    body, (lower, upper), notes = matched.body, matched.motions, matched.named_notes(CLIPS)
    parts = parts_of(lower.skeleton, body, where)
    repaired = repair_capture(lower, body=body, knees=repair_knees)
    lower = repaired.motion
    notes += [f"legs: {note}" for note in repaired.notes]
    if method != "naive":
        mended = repair_capture(upper, body=body, knees=repair_knees)
        notes += [f"action: {note}" for note in mended.notes]
        upper, n_glitches = without_glitches(mended.motion, body)
        if n_glitches:
            notes.append(f"{n_glitches} frames of the action are capture glitches: interpolated")
    source, times = upper, _times(upper, lower, body, method)
    if when_short == "loop" and len(times.frames) < lower.n_frames:
        source = _lengthened(upper, lower, notes)
        times = _times(source, lower, body, method)
    if times.kept_own_time and method != "naive":
        notes.append("one of the clips does not walk: the action keeps its own time")
    times = _held_on(times, lower, when_short)
    if len(times.frames) < 2:
        raise RegistrationError(
            "No frames are left that both clips have. Use a longer action or locomotion."
        )
    check = SpliceCheck(lower, upper, body)
    assembly = Assembly(
        source, lower, parts, body, check.fastest_turns(), method, keep_bend=keep_bend, soft=soft
    )
    made, action = assembly.at(times.frames)
    for _ in range(SLOWER_ROUNDS if method == "full" and when_short == "crop" else 0):
        report_step("slowing the action")
        slower = slowed_times(times, made, upper, lower, body)
        if slower is None:
            break
        times = slower
        made, action = assembly.at(times.frames)
    if method == "full" and where in TRUNKS:
        result = Posed.of(made)
        notes += [] if keep_bend else _lost_bends(action, result, parts[0])
        notes += lost_twist(action.positions, result.positions, body)
    report_step("checking the splice")
    verification = check.verify(made)
    if method == "full" and any(each.check == "head turn" for each in verification.failed):
        made, verification = steadier_head(assembly, times.frames, made, verification, check)
    if not verification.passed and method == "full":
        made, verification = calm_splice(made, verification, parts, check, notes)
    notes += [f"failed check: {each}" for each in verification.failed]
    return Splice(
        made.replace(name=f"{upper.name} on {lower.name}".strip()),
        matched.footplants[0][: made.n_frames],
        times,
        _mapped(hand_contacts or {}, times),
        tuple(notes),
        verification,
        matched,
    )


def _times(upper: Motion, lower: Motion, body: BodyMap, method: str) -> UpperTimes:
    return own_times(lower, upper) if method == "naive" else find_upper_times(lower, upper, body)


def _lengthened(upper: Motion, lower: Motion, notes: list[str]) -> Motion:
    """The action repeated until it outlasts the locomotion at half its pace."""
    longest = upper.duration_s
    cycle = loop(upper, shortest_s=0.5 * longest, longest_s=longest, clean=False)
    wanted = 2 * lower.n_frames + cycle.motion.n_frames
    times = int(np.ceil(wanted / max(cycle.motion.n_frames - 1, 1)))
    lap, laps, place = cycle.motion[:-1], [], None
    for _ in range(times):
        laps.append(lap if place is None else transform(lap, place))
        place = cycle.closure if place is None else cycle.closure @ place
    first, last = cycle.span
    notes.append(f"the action loops over its frames {first} to {last}")
    return concatenate(laps).replace(name=upper.name)


def _held_on(times: UpperTimes, lower: Motion, how: str) -> UpperTimes:
    """Times that stay on the action's last frame until the locomotion ends, if asked for."""
    missing = lower.n_frames - len(times.frames)
    if how != "hold" or missing <= 0:
        return times
    held = np.concatenate([times.frames, np.full(missing, times.frames[-1])])
    return UpperTimes(held, times.path, times.cost, times.stride, times.first, times.kept_own_time)


def _lost_bends(action: Posed, made: Posed, part: Part) -> list[str]:
    """Deep bends of the action that the locomotion's torso does not make, in words."""
    deepest = []
    for _, positions, _ in (action, made):
        trunk = positions[:, part.held].mean(axis=1) - positions[:, part.joint]
        level = np.linalg.norm(trunk[:, [0, 2]], axis=-1)
        deepest.append(float(np.degrees(np.arctan2(level, trunk[:, 1])).max()))
    if deepest[0] <= deepest[1] + 20.0:
        return []
    return [
        f"the action bends its torso by up to {deepest[0]:.0f} degrees, the splice by "
        f"{deepest[1]:.0f}, for the torso moves as the locomotion's does; keep_bend=True keeps it"
    ]


def _mapped(
    contacts: Mapping[str, Spans], times: UpperTimes
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Frames of the action brought to frames of the result; what lies outside is dropped."""
    mapped: dict[str, tuple[tuple[int, int], ...]] = {}
    n = len(times.frames)
    for hand, spans in contacts.items():
        if hand not in ("left", "right"):
            raise ArrayError(f"`hand_contacts` must be keyed by 'left' and 'right', got {hand!r}.")
        kept = []
        for first, last in _checked_spans(spans):
            start = int(np.searchsorted(times.frames, first - 1e-9))
            stop = int(np.searchsorted(times.frames, last + 1e-9)) - 1
            if start < n and stop >= start:
                kept.append((start, stop))
        mapped[hand] = tuple(kept)
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
