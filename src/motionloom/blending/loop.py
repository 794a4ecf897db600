"""loop(): the best cycle in a clip, with a smooth seam and with its feet held over it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, flag, of_kind, positive
from motionloom._records import record
from motionloom.blending.cycle import Cycle, CycleSearch, close
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.feet import foot_points
from motionloom.body.root_motion import travel_on_root
from motionloom.body.stature import stature
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.contact_speeds import fastest_contact
from motionloom.cleanup.finalize import finalize, legs_missing
from motionloom.errors import RegistrationError
from motionloom.features.checks.flawed_warning import warn_flawed
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.series import series_of
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.contacts import Footplants, contacts_for, runs_of
from motionloom.motion.edit import transform
from motionloom.motion.motion import Motion
from motionloom.rotation.planar import PlanarTransform

SLIDES_M = 0.03
"""A contact that the seam moves farther than this is not labelled as one, metres."""
AROUND_S = 1.0
"""Seconds of other laps on both sides of the one that is used: clean-up reaches no farther."""
OPEN_M = 0.01
"""A cleaned lap whose ends differ by more than this is not used, metres."""
MAX_CHANGE = 0.06
"""Feet are not held if a joint would move farther than this part of the body's height. A cycle that
closes so badly has one foot in two places, such as two steps of a stair. In clips of CMU subjects
16, 69, 83 and 143, cycles that close well move joints by at most 0.046."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Loop:
    """A cycle: its last frame is its first one, moved on by ``closure``.

    Attributes
    ----------
    motion : Motion
        The cycle.
    footplants : Footplants
        Its contacts.
    span : tuple of two int
        First and last frame of the cycle in the clip it was cut from.
    match : array
        Distance of first and last pose of a cycle that starts at each frame, metres rms; nan if
        none fits. (F,)
    cost : float
        The same distance of this cycle before its seam was blended, metres rms.
    closure : PlanarTransform
        What one cycle moves the body by.
    notes : tuple of str
        What was decided (whether the cycle travels, glitches avoided), and failed checks.
    verification : Verification
        Quality check of two laps against the clip.
    cleanup : CleanupReport or None
        What holding the feet changed in one lap; None with ``clean=False``.
    """

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    match: FloatArray
    cost: float
    closure: PlanarTransform
    notes: tuple[str, ...] = ()
    verification: Verification = field(default_factory=lambda: Verification(True))
    cleanup: CleanupReport | None = None

    @property
    def period_s(self) -> float:
        """Seconds of one cycle."""
        return self.motion.duration_s

    @property
    def markers(self) -> SyncMarkers:
        """Foot down, foot up and phase."""
        return sync_markers(self.footplants)


def loop(
    motion: Motion,
    *,
    shortest_s: float = 0.5,
    longest_s: float = 3.0,
    seam_s: float = 0.2,
    moving: bool | None = None,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    repair_knees: bool = True,
    clean: bool = True,
) -> Loop:
    """The cycle of a clip that closes best, with planted feet held over its seam.

    Feet are held in several laps together, and the middle lap is the result, so that it can be
    repeated without a seam.

    Parameters
    ----------
    motion
        A clip with at least one whole cycle in it.
    shortest_s, longest_s
        How long a cycle may be.
    seam_s
        Seconds before the end over which the pose is led back to the first one.
    moving
        Use only cycles in which the body travels, at about the clip's own travelling speed; with
        False, any cycle. By default True for clips that travel for a second or more: otherwise
        half a second of standing closes best.
    footplants
        Contacts of the clip; detected where not given.
    body
        Which joint is which; guessed where not given.
    repair_knees
        Whether knees that were captured bent backwards are repaired first (True by default).
    clean
        If False, feet are left as the seam has them.

    Returns
    -------
    Loop
        With the cycle, its contacts, what one lap moves the body by, and the quality check.

    Raises
    ------
    RegistrationError
        The clip is shorter than a cycle, or does not travel although ``moving`` is True.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> cycle = loop(synthetic.clip("walk").motion)
    >>> bool(np.allclose(cycle.motion.local_quats[0, 1:], cycle.motion.local_quats[-1, 1:]))
    True
    """
    of_kind(motion, Motion, "motion")
    for value, name in ((seam_s, "seam_s"), (shortest_s, "shortest_s"), (longest_s, "longest_s")):
        positive(value, name)
    moving = None if moving is None else flag(moving, "moving")
    repair_knees, clean = flag(repair_knees, "repair_knees"), flag(clean, "clean")
    body = roles_for(motion.skeleton, body)
    if footplants is None:
        plants = detect_footplants(motion, body=body)
    else:
        plants = contacts_for(footplants, motion.n_frames)
    lengths = _cycle_lengths(motion, shortest_s, longest_s)
    seam = max(2, round(min(seam_s * motion.fps, motion.n_frames)))

    motion, notes = _repaired(motion, body, repair_knees)
    check = QualityCheck([motion], footplants=[plants], body=body)
    search = CycleSearch.of(motion, body, lengths, moving, seam)
    cycle, verification, decisions, match, cost = search.best(check)
    notes += decisions
    span = cycle.first, cycle.first + cycle.motion.n_frames - 1
    labels = np.array(plants.planted[span[0] : span[1] + 1])
    planted, cleanup = _without_slides(cycle.motion, labels, check, seam), None
    if clean:
        labels[-1] = labels[0]
        try:
            held, planted, cleanup = _hold_feet(cycle, labels, check, body)
            rechecked = held.verify(check, planted)
            if len(rechecked.failed) > len(verification.failed):
                raise _NotHeldError("the cycle would fail the quality check")
            cycle, verification = held, rechecked
        except _NotHeldError as reason:
            notes.append(f"feet are not held: {reason}")
        warn_flawed(verification, "loop")
    notes += [f"failed check: {each}" for each in verification.failed]
    return Loop(
        cycle.motion,
        Footplants(planted),
        span,
        match,
        cost,
        cycle.closure,
        tuple(notes),
        verification,
        cleanup,
    )


def _cycle_lengths(motion: Motion, shortest_s: float, longest_s: float) -> tuple[int, int]:
    """Frames of the shortest and of the longest cycle."""
    fps, n = motion.fps, motion.n_frames
    if longest_s < shortest_s:
        raise RegistrationError(
            f"`longest_s` must not be below `shortest_s` ({shortest_s:g}), got {longest_s:g}."
        )
    low, high = max(2, round(min(shortest_s * fps, n))), round(min(n - 1, longest_s * fps))
    if high < low:
        least_s = max(shortest_s, 2.0 / fps)
        if longest_s < least_s:
            raise RegistrationError(
                f"`longest_s` must be at least two frames ({least_s:.3g} s), got {longest_s:g}."
            )
        raise RegistrationError(
            f"A cycle takes at least {least_s:.3g} s; the clip has {motion.duration_s:.2f} s. "
            "Use a longer clip or a smaller `shortest_s`."
        )
    return low, high


def _repaired(motion: Motion, body: BodyMap, knees: bool) -> tuple[Motion, list[str]]:
    """The clip with its travel on the root and its glitches repaired, and notes on both."""
    notes = []
    led = travel_on_root(motion, body=body)
    if led is not motion:
        notes.append("the root bone carries travel and heading, on the ground under the pelvis")
    repaired = repair_capture(led, body=body, knees=knees)
    return repaired.motion, [*notes, *repaired.notes]


def _without_slides(cycle: Motion, planted: BoolArray, check: QualityCheck, seam: int) -> BoolArray:
    """Contacts of the cycle, without those that the seam drags over the ground. (F, 4)."""
    planted = np.array(planted)
    rig = check.rig_for(cycle)
    if len(rig.legs):
        soles = series_of(rig, cycle).soles
        for column in range(4):
            for first, last in runs_of(planted[:, column]):
                ground = soles[first : last + 1, column][:, [0, 2]]
                if last >= cycle.n_frames - seam and np.ptp(ground, axis=0).max() > SLIDES_M:
                    planted[max(first, cycle.n_frames - seam) : last + 1, column] = False
    planted[-1] = planted[0]
    return planted


# --- Holding the feet over the seam


class _NotHeldError(Exception):
    """Why the feet of a cycle cannot be held, in words."""


def _hold_feet(
    cycle: Cycle, planted: BoolArray, check: QualityCheck, body: BodyMap
) -> tuple[Cycle, BoolArray, CleanupReport]:
    """The cycle with planted feet held over its seam, the contacts held, and what was changed.

    Several laps are cleaned together and the middle one is used: in it every contact that crosses
    the seam is whole, and clean-up changes every lap alike.
    """
    if missing := legs_missing(body):
        raise _NotHeldError(f"the skeleton has no {', '.join(missing)}")
    if planted.all(axis=0).any():
        # A foot that stands all the time does not travel from lap to lap.
        still = PlanarTransform.identity()
        cycle = cycle._replace(motion=close(cycle.motion, still, cycle.seam), closure=still)
    length, fps = cycle.motion.n_frames - 1, cycle.motion.fps
    n_before = int(np.ceil(AROUND_S * fps / length))
    n_laps = 2 * n_before + 1
    labels = np.concatenate([*[planted[:-1]] * n_laps, planted[-1:]])
    done = finalize(
        cycle.laps(n_laps), Footplants(labels), check, body=body, copied=cycle.copied(n_laps)
    )
    if done.cleanup is None:
        raise _NotHeldError("the cycle would fail the quality check")
    first = n_before * length
    held = np.array(done.footplants.planted[first : first + length + 1])
    held[-1] = held[0]

    place = PlanarTransform.identity()
    for _ in range(n_before):
        place = cycle.closure @ place
    middle = transform(done.motion[first : first + length + 1], place.inverse())
    gap = transform(middle[:1], cycle.closure).world_positions() - middle[-1:].world_positions()
    if np.linalg.norm(gap, axis=-1).max() > OPEN_M:
        raise _NotHeldError("the cycle would not close")
    seam = max(
        cycle.seam, round(0.5 * length)
    )  # the gap of a few millimetres closes over half a lap
    motion = close(middle, cycle.closure, seam).replace(
        name=cycle.motion.name, source=cycle.motion.source
    )
    change = np.linalg.norm(motion.world_positions() - cycle.motion.world_positions(), axis=-1)
    if change.max() > MAX_CHANGE * stature(motion.skeleton, body):
        joint = motion.skeleton.names[int(change.max(axis=0).argmax())]
        raise _NotHeldError(
            f"{joint} would move by {100.0 * change.max():.0f} cm, as the ends differ too much"
        )
    speed, worst = fastest_contact(foot_points(motion, body=body), held, fps)
    report = dataclasses.replace(
        _of_one_lap(done.cleanup, first, length), contact_speed_after=speed, worst_after=worst
    )
    return cycle._replace(motion=motion), held, report


def _of_one_lap(report: CleanupReport, first: int, length: int) -> CleanupReport:
    """The part of the report that is about one lap, in frames of that lap.

    A contact that crosses the seam belongs to the lap in which it begins; one that lasts a whole
    lap or longer is listed with all of that lap.
    """
    plants = tuple(
        dataclasses.replace(
            each,
            first=max(each.first - first, 0),
            last=each.last - first if each.first >= first else min(each.last - first, length),
            held=None
            if each.held is None
            else (max(each.held[0] - first, 0), each.held[1] - first),
        )
        for each in report.plants
        if first <= each.first < first + length
        or (each.first < first and each.last >= first + length)
    )
    worst_before, worst_after = (
        None if worst is None else ((worst[0] - first) % length, worst[1])
        for worst in (report.worst_before, report.worst_after)
    )
    return dataclasses.replace(
        report, plants=plants, worst_before=worst_before, worst_after=worst_after
    )
