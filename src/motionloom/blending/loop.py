"""loop(): the best cycle in a clip, with a smooth seam and with its feet held over it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, flag, of_kind, one_of, positive
from motionloom._records import record
from motionloom.blending.cycle import Cycle, CycleSearch
from motionloom.body.anatomy import stature
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.root_motion import travel_on_root
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.finalize import legs_missing, same_frames
from motionloom.errors import RegistrationError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.source_limits import series_of
from motionloom.features.checks.verification import Verification, warn_flawed
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.motion import Footplants, Motion, contacts_for, runs_of
from motionloom.motion.provenance import Provenance
from motionloom.rotation.quat import PlanarTransform

SHORTEST_S, LONGEST_S, SEAM_S = 0.5, 3.0, 0.2
"""Seconds of the shortest and the longest cycle, and of the seam that closes it, by default."""
SLIDES_M = 0.03
"""A contact that the seam moves farther than this is not labelled as one, metres."""
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
    provenance : Provenance
        Which frame of the clip every frame is, and which were changed: the seam, and frames before
        and after it. All others are the clip's own, bit for bit.
    notes : tuple of str
        What was decided (whether the cycle travels, glitches avoided), the frames that differ from
        the clip, and failed checks.
    verification : Verification
        Quality check of two laps against the clip.
    cleanup : CleanupReport or None
        What holding the feet changed around the seam; None with ``clean=False``.
    """

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    match: FloatArray
    cost: float
    closure: PlanarTransform
    provenance: Provenance = field(repr=False)
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
    shortest_s: float = SHORTEST_S,
    longest_s: float = LONGEST_S,
    seam_s: float = SEAM_S,
    moving: bool | None = None,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    repair: Literal["made", "all"] | None = "made",
    clean: bool = True,
) -> Loop:
    """The cycle of a clip that closes best, with planted feet held over its seam.

    Its end is led back to its beginning over a short seam. What that and the held feet change eases
    off within 0.3 s before the seam and after the beginning; all other frames are the clip's own.

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
    repair
        Glitches of the capture, and knees that were captured bent backwards, are repaired where
        motion is made (``"made"``), in all of the clip (``"all"``), or nowhere (None).
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
    clean = flag(clean, "clean")
    if repair is not None:
        one_of(repair, ("made", "all"), "repair")
    body = roles_for(motion.skeleton, body)
    if footplants is None:
        plants = detect_footplants(motion, body=body)
    else:
        plants = contacts_for(footplants, motion.n_frames)
    lengths = _cycle_lengths(motion, shortest_s, longest_s)
    seam = max(2, round(min(seam_s * motion.fps, motion.n_frames)))

    motion, notes = _prepared(motion, body, repair == "all")
    check = QualityCheck([motion], footplants=[plants], body=body)
    search = CycleSearch.of(
        motion, plants.planted, body, lengths, moving=moving, seam=seam, repairs=repair == "made"
    )
    cycle, verification, decisions, match, cost = search.best(check)
    notes += decisions
    span = cycle.first, cycle.first + cycle.motion.n_frames - 1
    cycle = cycle._replace(planted=_without_slides(cycle, check))
    made, planted, cleanup = cycle.motion, cycle.planted, None
    if clean:
        try:
            made, planted, cleanup, verification = _hold_feet(cycle, check, body, verification)
        except _NotHeldError as reason:
            notes.append(f"feet are not held: {reason}")
        warn_flawed(verification, "loop")
    changed = ~same_frames(made, cycle.captured)
    notes += _changes(changed)
    notes += [f"failed check: {each}" for each in verification.failed]
    frames = np.arange(span[0], span[1] + 1, dtype=np.float64)[:, None]
    return Loop(
        made,
        Footplants(planted),
        span,
        match,
        cost,
        cycle.closure,
        Provenance.of_clips(
            [motion.name or "A"], motion.fps, frames, np.ones_like(frames), changed
        ),
        tuple(notes),
        verification,
        cleanup,
    )


def _changes(changed: BoolArray) -> list[str]:
    """A note on the frames that are not the clip's own."""
    spans = [f"{first} to {last}" for first, last in runs_of(changed)]
    if not spans:
        return []
    return [f"frames {' and '.join(spans)} differ from the clip; all others are its own"]


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


def _prepared(motion: Motion, body: BodyMap, repaired: bool) -> tuple[Motion, list[str]]:
    """The clip with its travel on the root, repaired where all of it is to be, and notes."""
    notes = []
    led = travel_on_root(motion, body=body)
    if led is not motion:
        notes.append("the root bone carries travel and heading, on the ground under the pelvis")
    if not repaired:
        return led, notes
    done = repair_capture(led, body=body)
    return done.motion, [*notes, *done.notes]


def _without_slides(cycle: Cycle, check: QualityCheck) -> BoolArray:
    """Contacts of the cycle, without those that the seam drags over the ground. (F, 4)."""
    planted, motion, seam = np.array(cycle.planted), cycle.motion, cycle.seam
    rig = check.rig_for(motion)
    if len(rig.legs):
        soles = series_of(rig, motion).soles
        for column in range(4):
            for first, last in runs_of(planted[:, column]):
                ground = soles[first : last + 1, column][:, [0, 2]]
                if last >= motion.n_frames - seam and np.ptp(ground, axis=0).max() > SLIDES_M:
                    planted[max(first, motion.n_frames - seam) : last + 1, column] = False
    planted[-1] = planted[0]
    return planted


# --- Holding the feet over the seam


class _NotHeldError(Exception):
    """Why the feet of a cycle cannot be held, in words."""


def _hold_feet(
    cycle: Cycle, check: QualityCheck, body: BodyMap, loose: Verification
) -> tuple[Motion, BoolArray, CleanupReport, Verification]:
    """The cycle with planted feet held over its seam, its contacts, what was changed, the check.

    Feet are held in two laps around the step from one to the other. ``loose`` is the check of the
    cycle without that.
    """
    if missing := legs_missing(body):
        raise _NotHeldError(f"the skeleton has no {', '.join(missing)}")
    done = cycle.finished(check, body, clean=True)
    if done.cleanup is None or len(done.verification.failed) > len(loose.failed):
        raise _NotHeldError("the cycle would fail the quality check")
    motion, held = cycle.lap_of(done)
    change = np.linalg.norm(motion.world_positions() - cycle.motion.world_positions(), axis=-1)
    if change.max() > MAX_CHANGE * stature(motion.skeleton, body):
        joint = motion.skeleton.names[int(change.max(axis=0).argmax())]
        raise _NotHeldError(
            f"{joint} would move by {100.0 * change.max():.0f} cm, as the ends differ too much"
        )
    return motion, held, _of_one_lap(done.cleanup, motion.n_frames - 1), done.verification


def _of_one_lap(report: CleanupReport, length: int) -> CleanupReport:
    """The report with frames of one lap: a contact that begins in the second one begins there.

    A contact that crosses the seam goes on beyond the last frame.
    """

    def back(frame: int) -> int:
        return frame - length if frame >= length else frame

    plants = tuple(
        dataclasses.replace(
            each,
            first=back(each.first),
            last=each.last - each.first + back(each.first),
            held=None
            if each.held is None
            else (
                each.held[0] - each.first + back(each.first),
                each.held[1] - each.first + back(each.first),
            ),
        )
        for each in report.plants
    )
    before, after = (
        None if worst is None else (worst[0] % length, worst[1])
        for worst in (report.worst_before, report.worst_after)
    )
    return dataclasses.replace(report, plants=plants, worst_before=before, worst_after=after)
