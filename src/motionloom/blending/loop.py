"""loop(): the best cycle in a clip, with a smooth seam."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TypedDict, Unpack

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, flag, known_options, of_kind, positive
from motionloom._records import record
from motionloom.blending.cycle_feet import hold_feet
from motionloom.blending.cycle_search import CycleSearch, first_sound
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.root_motion import travel_on_root
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.errors import RegistrationError
from motionloom.features.checks.flawed_warning import warn_flawed
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.series import series_of
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.footplants.sync_markers import SyncMarkers, sync_markers
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.contacts import Footplants, contacts_for, runs_of
from motionloom.motion.motion import Motion
from motionloom.rotation.planar import PlanarTransform

SLIDES_M = 0.03
"""A contact that the seam moves farther than this is not labelled as one, metres."""


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


class LoopOptions(TypedDict, total=False):
    """Keyword arguments of :func:`motionloom.loop` that few callers need."""

    repair_knees: bool
    clean: bool


def loop(
    motion: Motion,
    *,
    shortest_s: float = 0.5,
    longest_s: float = 3.0,
    seam_s: float = 0.2,
    moving: bool | None = None,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    **options: Unpack[LoopOptions],
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
    known_options("loop", _Settings, options)
    settings = _Settings(**options)
    body = roles_for(motion.skeleton, body)
    if footplants is None:
        plants = detect_footplants(motion, body=body)
    else:
        plants = contacts_for(footplants, motion.n_frames)
    fps, n = motion.fps, motion.n_frames
    low, high = _cycle_frames(motion, shortest_s, longest_s)
    motion, notes = _prepared(motion, body, settings)
    check = QualityCheck([motion], footplants=[plants], body=body)
    seam = max(2, round(min(seam_s * fps, n)))
    taken = first_sound(CycleSearch.of(motion, body, (low, high), moving, seam), check)
    notes += taken.notes
    cycle, verification, cleanup = taken.cycle, taken.verification, None
    labels = np.array(plants.planted[cycle.first : cycle.first + cycle.motion.n_frames])
    planted = _true_labels(cycle.motion, labels, check, seam)
    closed, closure = cycle.motion, cycle.closure
    if settings.clean:
        labels[-1] = labels[0]
        held = hold_feet(cycle, labels, check, body=body, failures=len(verification.failed))
        if isinstance(held, str):
            notes.append(f"feet are not held: {held}")
        else:
            closed, verification, cleanup = held.motion, held.verification, held.cleanup
            planted, closure = held.footplants.planted, held.closure
        warn_flawed(verification, "loop")
    notes += [f"failed check: {each}" for each in verification.failed]
    return Loop(
        closed,
        Footplants(planted),
        (cycle.first, cycle.first + cycle.motion.n_frames - 1),
        taken.match,
        taken.cost,
        closure,
        tuple(notes),
        verification,
        cleanup,
    )


def _cycle_frames(motion: Motion, shortest_s: float, longest_s: float) -> tuple[int, int]:
    """Fewest and most frames of a cycle."""
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


@dataclass(frozen=True, slots=True)
class _Settings:
    """The options of a loop, checked."""

    repair_knees: bool = True
    clean: bool = True

    def __post_init__(self) -> None:
        for each in fields(self):
            flag(getattr(self, each.name), each.name)


def _prepared(motion: Motion, body: BodyMap, settings: _Settings) -> tuple[Motion, list[str]]:
    """The clip with its travel on the root and its glitches repaired, and notes on both."""
    notes = []
    led = travel_on_root(motion, body=body)
    if led is not motion:
        notes.append("the root bone carries travel and heading, on the ground under the pelvis")
    repaired = repair_capture(led, body=body, knees=settings.repair_knees)
    return repaired.motion, [*notes, *repaired.notes]


def _true_labels(cycle: Motion, planted: BoolArray, check: QualityCheck, seam: int) -> BoolArray:
    """Contacts of the cycle without those that its seam moves over the ground. (F, 4)."""
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
