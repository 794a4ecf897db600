"""sequence(): any number of clips in a row, joined into one motion."""

from __future__ import annotations

import dataclasses
from collections import abc
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from motionloom._arrays import finite, flag, frames_in, items, of_kind
from motionloom._progress import progress_bar
from motionloom._records import FrozenMapping, record
from motionloom.blending.join import CONTEXT, Candidate
from motionloom.blending.loop import LONGEST_S, SEAM_S, SHORTEST_S, Loop
from motionloom.blending.loop import loop as close_loop
from motionloom.blending.sequence_joints import (
    FEWEST,
    JointOptions,
    OpenJoint,
    Tried,
    asked_shares,
    choose,
    joint_options,
    longest_half,
    named,
    remedy,
)
from motionloom.blending.sequence_rows import (
    ChainedClip,
    MadeJoint,
    Row,
    Rows,
    in_a_row,
    provenance_of,
)
from motionloom.blending.transition import Kept
from motionloom.body.body_map import BodyMap, facing, roles_for
from motionloom.cleanup.cleanup_report import CleanupReport, merged_reports
from motionloom.errors import ArrayError, MotionLoomError, RegistrationError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification, warn_flawed
from motionloom.motion.edit import transform
from motionloom.motion.motion import Footplants, Motion
from motionloom.motion.provenance import Provenance
from motionloom.retargeting.match import clip_names, match_clips
from motionloom.rotation.quat import PlanarTransform

ALTERNATIVES = 3
"""Other places that are listed for every joint."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class SequenceJoint:
    """How one clip of a sequence leads to the next.

    Attributes
    ----------
    clips : tuple of two int
        Indices of both clips.
    place : Candidate
        Where they meet, in frames of both at the rate of the result, and what it costs.
    kept : Kept
        How much of both clips plays, after all their joints, and the length of the blend.
    leaves, enters : int
        Last frame of the clip before and first frame of the clip after that play alone.
    span : tuple of two int
        The same two frames in the result; everything between them is blended.
    verification : Verification or None
        Quality check of the frames around the joint; None for a cut, which is not checked.
    cleanup : CleanupReport or None
        What holding the feet changed.
    alternatives : tuple of Candidate
        Other good places at which the joints beside this one could stay.
    options : Mapping
        What makes the same joint again: ``keep``, ``length_s``, ``method``, ``moving``, ``at``.
    notes : tuple of str
        What was decided.
    """

    clips: tuple[int, int]
    place: Candidate
    kept: Kept
    leaves: int
    enters: int
    span: tuple[int, int]
    verification: Verification | None
    cleanup: CleanupReport | None
    alternatives: tuple[Candidate, ...]
    options: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
@record
class Sequence:
    """Clips in a row as one motion.

    Attributes
    ----------
    motion : Motion
        The result; of a loop the last frame is the first one, moved by ``closure``.
    footplants : Footplants
        Contacts: around the joints those that are held, elsewhere those of the clips.
    span : tuple of two int
        First frame of the first blend and last frame of the last one; see ``joints`` for each.
    provenance : Provenance
        Which clip, at which time, every frame comes from, and which frames were changed. All others
        are those of the clips, bit for bit, moved by ``placements``.
    notes : tuple of str
        What was changed and decided, and failed checks.
    verification : Verification
        Quality check of all joints.
    cleanup : CleanupReport or None
        What holding the feet changed.
    joints : tuple of SequenceJoint
        How each clip leads to the next.
    names : tuple of str
        Of the clips.
    shares : tuple of float
        How much of every clip plays, 0 to 1: from the place where it is entered to the place where
        it is left.
    alone : tuple
        First and last frame of every clip that play without another clip, at the rate of the
        result. The result has these frames, and those inside of the blends.
    n_frames : tuple of int
        Frames of every clip at the rate of the result.
    placements : tuple of PlanarTransform
        Transform the coordinates of every clip into those of the result.
    closure : PlanarTransform or None
        What one cycle of a loop moves the body by.
    body : BodyMap
        Roles of the joints.
    turn_to : float or None
        Heading of the first frame that was asked for, radians.
    """

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    provenance: Provenance = field(repr=False)
    notes: tuple[str, ...]
    verification: Verification
    cleanup: CleanupReport | None
    joints: tuple[SequenceJoint, ...]
    names: tuple[str, ...]
    shares: tuple[float, ...]
    alone: tuple[tuple[int, int], ...]
    n_frames: tuple[int, ...]
    placements: tuple[PlanarTransform, ...] = field(repr=False)
    closure: PlanarTransform | None
    body: BodyMap = field(repr=False)
    turn_to: float | None = None

    @property
    def report(self) -> tuple[str, ...]:
        """One line per joint: what is kept and left out of both clips, the blend, the check."""
        return tuple(_line(joint) for joint in self.joints)

    @property
    def plan(self) -> dict[str, Any]:
        """What makes the same result again, as values that JSON can hold.

        Its ``joints`` are what :func:`motionloom.sequence` takes as ``joints``. Their ``frames``
        are how many both clips have: beside a clip with another number a place is chosen anew.
        """
        clips = [
            {"name": name, "frames": count, "alone": list(alone)}
            for name, count, alone in zip(self.names, self.n_frames, self.alone, strict=True)
        ]
        return {
            "clips": clips,
            "fps": self.motion.fps,
            "loop": self.closure is not None,
            "turn_to": self.turn_to,
            "joints": [
                {**joint.options, "frames": [self.n_frames[k] for k in joint.clips]}
                for joint in self.joints
            ],
        }


def _line(joint: SequenceJoint) -> str:
    """A joint in a line."""
    if joint.verification is None:
        return f"{joint.kept}; {joint.notes[0]}"
    cost = f"cost {100 * joint.place.cost:.1f} cm"
    return f"{joint.kept}, {cost}, {joint.verification.describe(most=1)}"


def sequence(
    clips: abc.Iterable[Motion],
    *,
    joints: abc.Sequence[Mapping[str, Any] | None] | None = None,
    keep: float | tuple[float, float] | Literal["late"] | None = None,
    length_s: float | None = None,
    method: Literal["registration", "cut"] = "registration",
    moving: bool = False,
    loop: bool = False,
    turn_to: float | None = None,
    names: abc.Sequence[str] | None = None,
    body: BodyMap | None = None,
    timewarp: bool = True,
    match: bool = True,
    clean: bool = True,
    check: bool = True,
    progress: bool = False,
) -> Sequence:
    """Clips in a row as one motion, each joined to the next as :func:`transition` joins two.

    All clips are matched to the first one's skeleton and rate. The places of all joints are chosen
    together, so that every clip is left after it was entered and enough of it plays. Frames outside
    the blends and their fades are the clips' own, bit for bit.

    Parameters
    ----------
    clips
        One or more, in their order. Each is read once, so that a sequence that loads clips when
        they are asked for needs memory for the result only.
    joints
        Options of single joints: for each joint None or a mapping with ``keep``, ``length_s``,
        ``method``, ``moving`` and ``at``, the frames of both clips that meet, at the first clip's
        rate. With ``frames``, how many both clips must have for ``at`` to hold: otherwise the place
        is chosen anew, with a note. ``Sequence.plan["joints"]`` makes the same joints again.
    keep
        Least share of a clip that plays, after both of its cuts, by default 0.3; a pair for the
        clip before and the clip after a joint. ``"late"`` leaves clips in their last second and
        enters them in their first. Where no places keep so much, the best others are taken, with a
        note.
    length_s
        Seconds of blending, by default 0.6; shorter where a clip between two joints is short.
    method
        ``"registration"`` blends along a registration of both clips, as ``transition`` does.
        ``"cut"`` blends nothing.
    moving
        Look only for places where both bodies travel.
    loop
        Whether the last clip leads back to the first, which makes a cycle. One clip alone is closed
        as :func:`loop` does it: ``keep`` is then the least share that the cycle has (by default
        0.5 to 3 s), and ``length_s`` the length of its seam (0.2 s). With ``"late"``, a cut or
        ``at`` its end is joined to its beginning as other clips are.
    turn_to
        Heading of the result's first frame, radians; 0 faces +Z and pi/2 faces +X.
    names
        What notes and errors call the clips; by default their own names, else A, B, C.
    body
        Which joint of the first clip is which; guessed where not given.
    timewarp
        As of :func:`transition`.
    match
        If False, clips with other joints than the first raise an error.
    clean
        If False, feet are left as the blends have them.
    check
        If False, the best places are taken whatever the quality check finds.
    progress
        Whether to draw a bar on standard error, if that is a terminal.

    Returns
    -------
    Sequence
        With the motion, every joint, and a plan.

    Raises
    ------
    RegistrationError
        A clip is too short for the joints on both sides.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> kinds = ("walk", "jog", "walk")
    >>> joined = sequence([synthetic.clip(kind).motion for kind in kinds])
    >>> len(joined.joints), joined.verification.passed
    (2, True)
    """
    loop, check, progress = flag(loop, "loop"), flag(check, "check"), flag(progress, "progress")
    if names is not None:
        names = items(names, "names", "texts")
    if not isinstance(clips, abc.Sequence):
        clips = items(clips, "clips", "motions")
    if not len(clips):
        raise ArrayError("`clips` must be one motion or more, got none.")
    if names is not None and len(names) != len(clips):
        raise ArrayError(f"`names` must have one name per clip ({len(clips)}), got {len(names)}.")
    count = len(clips) if loop else len(clips) - 1
    usual = {"keep": keep, "length_s": length_s, "method": method, "moving": moving}
    options = joint_options(joints, count, {**usual, "at": None, "frames": None})
    if turn_to is not None:
        turn_to = finite(turn_to, "turn_to")
    settings = {"timewarp": flag(timewarp, "timewarp"), "clean": flag(clean, "clean")}
    closing = _Closing.of(options[0]) if loop and len(clips) == 1 else None
    if closing is not None:
        motion = of_kind(clips[0], Motion, "clips[0]")
        name = _name(motion, 0, names, "A")
        made = closing.close(motion, name, body, settings["clean"])
        body = roles_for(motion.skeleton, body)
        return _turned(_cycle(motion, name, made, closing, body), turn_to)
    with progress_bar("joining", len(clips) + 2 * count, shown=progress) as advance:
        matched, body = _matched(clips, names, body, flag(match, "match"), advance)
        if not count:
            return _turned(_alone(matched[0], body), turn_to)
        open_joints = []
        for j, each in enumerate(options):
            numbers = j, (j + 1) % len(clips)
            pair = matched[numbers[0]], matched[numbers[1]]
            half = _half(each, pair, numbers, len(clips), loop)
            open_joint = OpenJoint(each, numbers, pair, body, half, settings, check)
            _open(open_joint, j)
            open_joints.append(open_joint)
            advance(1)
        path = choose(open_joints, matched, loop=loop, made=advance)
    result = _turned(_result(matched, open_joints, path, body, loop), turn_to)
    if clean and check:
        warn_flawed(result.verification, "sequence")
    return result


# --- Clips


def _matched(
    clips: abc.Sequence[Motion],
    names: abc.Sequence[str] | None,
    body: BodyMap | None,
    match: bool,
    advance: abc.Callable[[float], None],
) -> tuple[list[ChainedClip], BodyMap]:
    """The clips on the first one's skeleton and at its rate, read one after the other."""
    letters = clip_names(len(clips))
    done: list[ChainedClip] = []
    for k, letter in enumerate(letters):
        motion = of_kind(clips[k], Motion, f"clips[{k}]")
        name = _name(motion, k, names, letter)
        first = done[:1]
        try:
            found = match_clips(
                [*(each.motion for each in first), motion],
                footplants=[*(each.footplants for each in first), None],
                names=[*(each.name for each in first), name],
                body=body,
                match=match,
            )
        except MotionLoomError as error:
            raise type(error)(f"Clip {k + 1}, {name}: {error}") from error
        body = found.body
        done.append(ChainedClip(name, found.motions[-1], found.footplants[-1], found.notes[-1]))
        advance(1)
    assert body is not None
    return done, body


def _name(motion: Motion, k: int, names: abc.Sequence[str] | None, letter: str) -> str:
    """What notes and errors call clip ``k``."""
    return (motion.name or letter) if names is None else of_kind(names[k], str, f"names[{k}]")


def _half(
    options: JointOptions,
    pair: tuple[ChainedClip, ChainedClip],
    numbers: tuple[int, int],
    n_clips: int,
    loop: bool,
) -> int:
    """Half the frames of a blend: as asked, or fewer beside a clip that is left soon again."""
    if options.method == "cut":
        return 0
    half = frames_in(options.length_s, pair[0].motion.fps, "length_s", part=0.5)
    for clip, number in zip(pair, numbers, strict=True):
        if not loop and number in (0, n_clips - 1):
            continue
        most = longest_half(clip)
        if most < FEWEST:
            raise RegistrationError(
                f"Clip {number + 1}, {clip.name}, has {clip.motion.n_frames} frames, too few for "
                "blends on both sides. Use a longer part of it, leave it out, or join it with the "
                "method 'cut'."
            )
        half = min(half, most)
    return half


def _open(joint: OpenJoint, j: int) -> None:
    """Find the places of a joint; an error names both clips."""
    a, b = joint.clips
    at, frames, n = joint.options.at, joint.options.frames, (a.motion.n_frames, b.motion.n_frames)
    if at is not None and frames not in (None, n):
        joint.options = joint.options._replace(at=None)
        joint.notes.append(
            f"its place was chosen for clips of {frames[0]} and {frames[1]} frames, which have "
            f"{n[0]} and {n[1]}: it is chosen anew"
        )
    try:
        joint.find(joint.half)
    except (ArrayError, RegistrationError) as error:
        text = str(error)
        for letter, k, clip in zip("AB", joint.numbers, joint.clips, strict=True):
            text = text.replace(f"clip {letter} ", f"clip {k + 1}, {clip.name}, ")
        one, other = (f"clip {k + 1}, {c.name}" for k, c in zip(joint.numbers, (a, b), strict=True))
        raise type(error)(f"Joint {j + 1}, from {one}, to {other}: {text}") from error


# --- One clip that loops


class _Closing(NamedTuple):
    """How a clip alone is closed: the options of a joint as :func:`loop` takes them."""

    moving: bool
    share: float | None
    """Least share of the clip in the cycle; None for the usual lengths."""
    seam_s: float

    @classmethod
    def of(cls, options: JointOptions) -> _Closing | None:
        """None where the clip's end is joined to its beginning as other clips are."""
        if options.method != "registration" or options.at is not None or options.keep == "late":
            return None
        return cls(
            options.moving,
            None if "keep" in options.usual else max(options.share(0), options.share(1)),
            SEAM_S if "length_s" in options.usual else options.length_s,
        )

    def close(self, motion: Motion, name: str, body: BodyMap | None, clean: bool) -> Loop:
        """The cycle; an error names the clip."""
        least_s, most_s = SHORTEST_S, LONGEST_S
        if self.share is not None:
            least_s = max(self.share * motion.duration_s, 2.0 / motion.fps)
            most_s = max(LONGEST_S, motion.duration_s)
        if round(least_s * motion.fps) > motion.n_frames - 1:
            raise RegistrationError(
                f"Clip 1, {name}, must have {least_s:.2g} s or more for a cycle, got "
                f"{motion.duration_s:.2f} s. Use a longer clip, or say with `keep` how much of it "
                "a cycle must have at least."
            )
        try:
            return close_loop(
                motion,
                shortest_s=least_s,
                longest_s=most_s,
                seam_s=self.seam_s,
                moving=self.moving or None,
                body=body,
                clean=clean,
            )
        except RegistrationError as error:
            raise RegistrationError(f"Clip 1, {name}: {error}") from error


def _cycle(motion: Motion, name: str, made: Loop, asked: _Closing, body: BodyMap) -> Sequence:
    """One clip, closed as a cycle by :func:`loop`."""
    first, last = made.span
    n, fps, length = motion.n_frames, motion.fps, made.motion.n_frames - 1
    seam = min(length - 1, max(2, round(asked.seam_s * fps)))
    kept_s, left_s = length / fps, (n - 1 - length) / fps
    joint = SequenceJoint(
        (0, 0),
        Candidate(last, first, made.cost, made.cost, 0.0, False),
        Kept((name, name), (kept_s, kept_s), (left_s, left_s), seam / fps),
        last - seam,
        first,
        (length - seam, length),
        made.verification,
        made.cleanup,
        (),
        FrozenMapping(
            {
                "at": None,
                "length_s": asked.seam_s,
                "method": "registration",
                "keep": asked.share,
                "moving": asked.moving,
            }
        ),
    )
    return Sequence(
        made.motion,
        made.footplants,
        joint.span,
        dataclasses.replace(made.provenance, sources=(name,)),
        made.notes,
        made.verification,
        made.cleanup,
        (joint,),
        (name,),
        (length / (n - 1),),
        ((first, last - seam),),
        (n,),
        (PlanarTransform.identity(),),
        made.closure,
        body,
    )


# --- The result


def _alone(clip: ChainedClip, body: BodyMap) -> Sequence:
    """One clip, to which nothing is joined."""
    n = clip.motion.n_frames
    rows = Rows.captured(clip, 0, 0, n)
    return Sequence(
        rows.motion,
        clip.footplants,
        (0, n - 1),
        provenance_of(rows, [clip.name]),
        (*(f"{clip.name}: {note}" for note in clip.notes), "one clip: nothing is joined"),
        Verification(True),
        None,
        (),
        (clip.name,),
        (1.0,),
        ((0, n - 1),),
        (n,),
        (PlanarTransform.identity(),),
        None,
        body,
    )


def _result(
    clips: list[ChainedClip], joints: list[OpenJoint], path: list[int], body: BodyMap, loop: bool
) -> Sequence:
    """The clips in a row with the joints that were chosen."""
    tried = [joint.tried[number] for joint, number in zip(joints, path, strict=True)]
    made = [each for each in tried if each is not None]
    alone = _alone_in(clips, joints, made, loop)
    plays = _plays(
        [joint.choices[i].at for joint, i in zip(joints, path, strict=True)], clips, loop
    )
    numbers, of_joints, begins = list(range(len(clips))), [each.joint for each in made], 0
    if loop:  # the first clip and its joint come again, so that one lap can be cut out anywhere
        numbers += [0, 1 % len(clips)]
        of_joints.append(of_joints[0])
    row = in_a_row(clips, numbers, of_joints)
    rows = row.rows
    if loop:
        begins, ends = _one_lap(row, of_joints[len(clips) - 1], len(clips))
        rows = rows.part(begins, ends + 1)
    done = []
    for j, joint in enumerate(joints):
        offset = row.offsets[j] - begins
        between = alone[joint.numbers[0]][0], alone[joint.numbers[1]][1]
        done.append(_joint(joint, path[j], made[j], offset, between, plays))
    found = [each.verification for each in done if each.verification is not None]
    mixed = [(first - begins, last - begins) for first, last in row.mixed if first >= begins]
    found += [_checked(rows, span, clips, body) for span in mixed]
    verification = _merged(found, len(rows.planted) - loop)
    reports = [each.cleanup for each in done if each.cleanup is not None]
    names = [clip.name for clip in clips]
    name = f"{names[0]} to {names[-1]}"
    return Sequence(
        rows.motion.replace(name=name, source=clips[0].motion.source.for_result()),
        Footplants(rows.planted),
        (min(each.span[0] for each in done), max(each.span[1] for each in done)),
        provenance_of(rows, names),
        tuple(_notes(clips, joints, done, plays, mixed, verification, loop)),
        verification,
        merged_reports(reports) if reports else None,
        tuple(done),
        tuple(names),
        tuple(_shares(plays, clips)),
        tuple(alone),
        tuple(clip.motion.n_frames for clip in clips),
        row.placements[: len(clips)],
        row.placements[len(clips)] if loop else None,
        body,
    )


def _alone_in(
    clips: list[ChainedClip], joints: list[OpenJoint], made: list[Tried], loop: bool
) -> list[tuple[int, int]]:
    """First and last frame of every clip that play without another."""
    alone = []
    for k, clip in enumerate(clips):
        first = made[k - 1].joint.enters if k or loop else 0
        last = made[k].joint.leaves if k < len(made) else clip.motion.n_frames - 1
        if first > last:
            raise RegistrationError(
                f"{named(k, clip)}, must play alone for a frame or more, and is left at its frame "
                f"{last} before it is entered at its frame {first}. {remedy(joints, k)}"
            )
        alone.append((first, last))
    return alone


def _plays(
    places: list[tuple[int, int]], clips: list[ChainedClip], loop: bool
) -> list[tuple[int, int]]:
    """Frames of every clip from the place where it is entered to the one where it is left."""
    return [
        (
            places[k - 1][1] if k or loop else 0,
            places[k][0] if k < len(places) else clip.motion.n_frames - 1,
        )
        for k, clip in enumerate(clips)
    ]


def _shares(plays: list[tuple[int, int]], clips: list[ChainedClip]) -> list[float]:
    return [
        (last - first) / max(1, clip.motion.n_frames - 1)
        for clip, (first, last) in zip(clips, plays, strict=True)
    ]


def _one_lap(row: Row, closing: MadeJoint, n_clips: int) -> tuple[int, int]:
    """First and last frame of a cycle in a row in which the first clip comes again."""
    again = row.offsets[n_clips]
    begins = closing.ends
    for _, last in row.mixed:
        if last >= again:  # the fades of both joints meet in the first clip
            begins = last + 1 - again
    return begins, again + begins


def _joint(
    joint: OpenJoint,
    number: int,
    made: Tried,
    offset: int,
    between: tuple[int, int],
    plays: list[tuple[int, int]],
) -> SequenceJoint:
    """The report of a joint, with frames counted in the result."""
    choice, options = joint.choices[number], joint.options
    first = offset + made.joint.leaves
    found = made.verification
    if found is not None:
        found = _later(found, offset)
    fps = joint.clips[0].motion.fps
    taken = {
        "at": list(choice.at),
        "length_s": 2.0 * choice.half / fps if choice.half else options.length_s,
        "method": options.method,
        "keep": list(options.keep) if isinstance(options.keep, tuple) else options.keep or 0.0,
        "moving": options.moving,
    }
    seconds, left_out_s = [], []
    for clip, which in zip(joint.clips, joint.numbers, strict=True):
        of_clip, last_frame = plays[which], clip.motion.n_frames - 1
        seconds.append((of_clip[1] - of_clip[0]) / fps)
        left_out_s.append((last_frame - of_clip[1] + of_clip[0]) / fps)
    kept = Kept(
        (joint.clips[0].name, joint.clips[1].name),
        (seconds[0], seconds[1]),
        (left_out_s[0], left_out_s[1]),
        (made.joint.n_blended + 1) / fps if choice.half else 0.0,
    )
    return SequenceJoint(
        joint.numbers,
        choice.place,
        kept,
        made.joint.leaves,
        made.joint.enters,
        (first, first + made.joint.n_blended + 1),
        found,
        None if made.cleanup is None else made.cleanup.later(offset),
        joint.others(number, *between)[:ALTERNATIVES],
        FrozenMapping(taken),
        made.notes,
    )


def _checked(
    rows: Rows, span: tuple[int, int], clips: list[ChainedClip], body: BodyMap
) -> Verification:
    """Quality check of frames in which the fades of two joints are mixed, against their clip."""
    clip = clips[int(rows.clip[span[0], 0])]
    low, high = max(0, span[0] - CONTEXT), min(len(rows.planted), span[1] + CONTEXT + 1)
    found = QualityCheck([clip.motion], footplants=[clip.footplants], body=body).verify(
        rows.motion[low:high],
        footplants=Footplants(rows.planted[low:high]),
        span=(span[0] - low, span[1] - low),
    )
    return _later(found, low)


def _later(found: Verification, by: int) -> Verification:
    """A check of frames that begin at frame ``by`` of the result."""
    return dataclasses.replace(
        found,
        failed=tuple(dataclasses.replace(each, frame=each.frame + by) for each in found.failed),
        glitches=tuple(each._replace(frame=each.frame + by) for each in found.glitches),
    )


def _merged(found: list[Verification], n_frames: int) -> Verification:
    """The checks of all joints as one; frames before the first of a loop are at its end."""
    failed = [
        dataclasses.replace(each, frame=each.frame % n_frames)
        for joint in found
        for each in joint.failed
    ]
    glitches = [
        each._replace(frame=each.frame % n_frames) for joint in found for each in joint.glitches
    ]
    return Verification(
        all(each.passed for each in found),
        tuple(failed),
        tuple(finding for each in found for finding in each.unsound),
        tuple(dict.fromkeys(glitches)),
    )


def _notes(
    clips: list[ChainedClip],
    joints: list[OpenJoint],
    done: list[SequenceJoint],
    plays: list[tuple[int, int]],
    mixed: list[tuple[int, int]],
    verification: Verification,
    loop: bool,
) -> list[str]:
    """What was changed in the clips and decided at the joints."""
    notes = [f"{clip.name}: {note}" for clip in clips for note in clip.notes]
    for number, (joint, report) in enumerate(zip(joints, done, strict=True), start=1):
        notes += [f"joint {number}: {note}" for note in joint.notes]
        names = dict(zip("AB", (clip.name for clip in joint.clips), strict=True))
        for note in report.notes:
            letter = note[0] if note.startswith(("A has", "B has", "A: ", "B: ")) else None
            where = f"joint {number}: " if letter is None else names[letter]
            notes.append(where + (note if letter is None else note[1:]))
        wanted, length_s = joint.options.length_s, report.options["length_s"]
        if abs(length_s - wanted) > 1.5 / joint.clips[0].motion.fps:
            why = "no blend of that length passes the quality check"
            if joint.half < frames_in(wanted, joint.clips[0].motion.fps, "length_s", part=0.5):
                why = "a clip has too few frames between two joints for more"
            notes.append(
                f"joint {number}: the blend takes {length_s:.2f} s, not {wanted:g} s: {why}"
            )
    shares = asked_shares([joint.options for joint in joints], len(clips), loop)
    for clip, asked, share in zip(clips, shares, _shares(plays, clips), strict=True):
        if share < asked - 1e-9:
            notes.append(f"{clip.name}: {100 * share:.0f} % of it play, not {100 * asked:.0f} %")
    for first, last in mixed:
        notes.append(f"frames {first} to {last}: the fades of two joints meet there and are mixed")
    notes += [f"failed check: {each}" for each in verification.failed]
    return list(dict.fromkeys(notes))


def _turned(result: Sequence, turn_to: float | None) -> Sequence:
    """The result turned about its first root, so that it begins with a heading."""
    if turn_to is None:
        return result
    start = result.motion.root_positions[0]
    turn = turn_to - float(facing(result.motion[:1], body=result.body)[0])
    by = (
        PlanarTransform(0.0, float(start[0]), float(start[2]))
        @ PlanarTransform(turn, 0.0, 0.0)
        @ PlanarTransform(0.0, -float(start[0]), -float(start[2]))
    )
    closure = result.closure
    return dataclasses.replace(
        result,
        motion=transform(result.motion, by),
        placements=tuple(by @ each for each in result.placements),
        closure=None if closure is None else by @ closure @ by.inverse(),
        turn_to=turn_to,
    )
