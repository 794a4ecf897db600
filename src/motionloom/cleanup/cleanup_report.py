"""What clean-up did: the cleaned motion, and a report on every plant and the whole motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from motionloom._records import record
from motionloom.cleanup.legs import Pose
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import FailedCheck, Verification, with_failed
from motionloom.features.footplants.sliding_floor import FAST_M_S
from motionloom.motion.motion import Footplants, Motion
from motionloom.motion.provenance import Provenance

MOST_SLIDE = 0.3
"""From this part of the frames on the floor on, feet that slide are worth a warning."""


@dataclass(frozen=True, eq=False)
@record
class Cleanup:
    """A cleaned motion, the contacts that are held, and how it was changed.

    Attributes
    ----------
    motion : Motion
        The cleaned motion.
    footplants : Footplants
        Those that are held: a part of those given.
    report : CleanupReport
        How far things moved, and what could not be reached.
    check : QualityCheck
        Compares with the given motion, after its knees were repaired.
    """

    motion: Motion
    footplants: Footplants
    report: CleanupReport
    check: QualityCheck = field(repr=False)

    @cached_property
    def verification(self) -> Verification:
        """Quality check of the cleaned motion against the motion as it came in."""
        return _verified(self, None)

    @property
    def span(self) -> tuple[int, int]:
        """First and last frame of the motion."""
        return 0, self.motion.n_frames - 1

    @property
    def cleanup(self) -> CleanupReport:
        """The report, by the name that it has in every result."""
        return self.report

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the contacts, and the failed checks, in words."""
        failed = (f"failed check: {each}" for each in self.verification.failed)
        return (*self.report.notes, *failed)


def verified_in(cleanup: Cleanup, pose: Pose) -> Verification:
    """The verification of a clean-up whose joints are known in the world, which it keeps."""
    if "verification" not in cleanup.__dict__:
        cleanup.__dict__["verification"] = _verified(cleanup, pose)
    return cleanup.verification


def _verified(cleanup: Cleanup, pose: Pose | None) -> Verification:
    """The check against the clip's own frames.

    Left out is what feet that are held do on purpose. They stand where the clip's slide, which
    would be a slip, for that is what a foot does beyond the clip's; contacts and drags are judged
    instead. A body on such a foot does not hover, even if the foot is a millimetre higher than what
    counts as the floor.
    """
    motion = cleanup.motion
    provenance = Provenance.of_edit(motion.name, motion.fps, 0, motion.n_frames)
    found = cleanup.check.verify(
        motion, footplants=cleanup.footplants, provenance=provenance, pose=pose
    )
    planted = cleanup.footplants.planted

    def meant(each: FailedCheck) -> bool:
        on_a_foot = each.check == "hovering" and bool(planted[each.frame].any())
        return on_a_foot or each.check == "foot slip"

    return with_failed(found, (each for each in found.failed if not meant(each)))


def with_report(cleanup: Cleanup, **changes: Any) -> Cleanup:
    """The clean-up with a report in which some figures are others; its verification is kept."""
    report = dataclasses.replace(cleanup.report, **changes)
    changed = dataclasses.replace(cleanup, report=report)
    changed.__dict__.update({k: v for k, v in cleanup.__dict__.items() if k == "verification"})
    return changed


@dataclass(frozen=True, slots=True)
@record
class CleanupReport:
    """How far things moved, and what could not be reached. Metres, seconds, radians.

    Attributes
    ----------
    plants : tuple of PlantReport
        Every plant.
    held_part : float or None
        Held frames as a part of the labelled ones; None without labels.
    contact_speed_before, contact_speed_after : float or None
        Highest speed of a point from one labelled frame to the next, m/s; None without labels.
        After: of contacts that were not released.
    worst_before, worst_after : tuple or None
        Frame and kind of these.
    joint_change_mean, joint_change_max : float
        Distance that joints moved in the world, over all joints and frames.
    root_shift_max : float
        Largest distance that the root was moved.
    foot_turn_max : float
        Largest turn of a foot.
    stretch_max : float
        Largest change of a leg's length as a part of it; 0 for rigid bones.
    unreached_frames : int
        Held frames in which a point is more than half a millimetre from its place.
    unreached_max : float
        Largest distance of a held point from its place.
    penetration_before, penetration_after : float
        Deepest that a heel or ball is under the ground shown by the holds of its foot.
    loose_frames : int
        Frames of a heel or ball that were not held because the leg would have turned too fast.
    knees : tuple of str
        Knees that were captured bent backwards and now bend forwards, one line each.
    calmed : bool
        Whether contacts were found on a calmed copy, because the clip skates.
    floor_slide : float or None
        Part of the frames with a foot on the floor, labelled or not, in which it slides after
        clean-up; None where it was not measured, nothing is on a floor, or the clip is in place.
    """

    plants: tuple[PlantReport, ...]
    held_part: float | None
    contact_speed_before: float | None
    contact_speed_after: float | None
    worst_before: tuple[int, str] | None
    worst_after: tuple[int, str] | None
    joint_change_mean: float
    joint_change_max: float
    root_shift_max: float
    foot_turn_max: float
    stretch_max: float
    unreached_frames: int
    unreached_max: float
    penetration_before: float
    penetration_after: float
    loose_frames: int = 0
    knees: tuple[str, ...] = ()
    calmed: bool = False
    floor_slide: float | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the contacts."""
        lines = []
        if self.calmed:
            lines.append("the clip skates: contacts were found on a calmed copy of it")
        if self.floor_slide is not None and self.floor_slide > MOST_SLIDE:
            lines.append(
                f"{100 * self.floor_slide:.0f} % of frames on the floor still slide faster than "
                f"{FAST_M_S:g} m/s"
            )
        return tuple(lines)

    @property
    def slide_before(self) -> float:
        """Largest slide of a held point before, metres; 0 where nothing is held."""
        return max((p.slide_before for p in self.plants if p.held), default=0.0)

    @property
    def slide_after(self) -> float:
        """Largest slide of a held point after, metres."""
        return max((p.slide_after for p in self.plants if p.held), default=0.0)

    @property
    def let_go(self) -> tuple[PlantReport, ...]:
        """Footplants that were not held at all."""
        return tuple(p for p in self.plants if p.held is None)

    def later(self, by: int) -> CleanupReport:
        """The report of a part that begins at frame ``by``, in frames of the whole motion.

        Returns
        -------
        CleanupReport
            The same values; frames count from the start of the whole motion.
        """
        plants = tuple(
            dataclasses.replace(
                each,
                first=each.first + by,
                last=each.last + by,
                held=None if each.held is None else (each.held[0] + by, each.held[1] + by),
            )
            for each in self.plants
        )
        before, after = (
            None if worst is None else (worst[0] + by, worst[1])
            for worst in (self.worst_before, self.worst_after)
        )
        return dataclasses.replace(self, plants=plants, worst_before=before, worst_after=after)

    @property
    def summary(self) -> str:
        """How far planted feet slid before and after, in one line."""
        if not self.plants:
            return "no footplants: nothing to hold"
        edges = ""
        if self.worst_after is not None and self.contact_speed_after is not None:
            frame, kind = self.worst_after
            edges = (
                f"; fastest at the edges of plants: {100 * self.contact_speed_after:.1f} cm/s "
                f"at frame {frame} ({kind.replace('_', ' ')})"
            )
        held = len(self.plants) - len(self.let_go)
        return (
            f"slide while held {100 * self.slide_before:.1f} -> {100 * self.slide_after:.2f} cm, "
            f"{held} of {len(self.plants)} plants held{edges}"
        )

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold.

        Returns
        -------
        dict
            The figures by their names.
        """
        frame, kind = self.worst_after if self.worst_after is not None else (None, None)
        return {
            "slide_before_cm": 100 * self.slide_before,
            "slide_after_cm": 100 * self.slide_after,
            "plants": len(self.plants),
            "plants_let_go": len(self.let_go),
            "held_part": self.held_part,
            "contact_speed_before": self.contact_speed_before,
            "contact_speed_after": self.contact_speed_after,
            "worst_frame": frame,
            "worst_point": kind,
            "joint_change_mean_cm": 100 * self.joint_change_mean,
            "joint_change_max_cm": 100 * self.joint_change_max,
            "unreached_frames": self.unreached_frames,
            "calmed": self.calmed,
            "floor_slide": self.floor_slide,
        }

    def __str__(self) -> str:
        if not self.plants:
            none = "no plants: nothing to hold, nothing changed"
            return "\n".join([none, *self.notes, *self._knee_lines()])
        held = [p for p in self.plants if p.held]
        part = 0.0 if self.held_part is None else self.held_part
        lines = [
            f"slide {100 * self.slide_before:.1f} -> {100 * self.slide_after:.2f} cm, "
            f"{len(held)} of {len(self.plants)} plants held for {100 * part:.0f} % "
            "of their frames"
        ]
        before, after = self.contact_speed_before, self.contact_speed_after
        if self.worst_after is not None and before is not None and after is not None:
            frame, kind = self.worst_after
            lines.append(
                f"fastest contact {100 * before:.0f} -> "
                f"{100 * after:.0f} cm/s, worst frame {frame} "
                f"({kind.replace('_', ' ')})"
            )
        lines.append(
            f"joints moved {100 * self.joint_change_mean:.1f} cm on average, "
            f"{100 * self.joint_change_max:.1f} at most; root {100 * self.root_shift_max:.1f} cm, "
            f"feet turned up to {np.degrees(self.foot_turn_max):.0f} degrees"
        )
        if self.stretch_max > 0.0:
            lines.append(f"legs stretched by up to {100 * self.stretch_max:.1f} %")
        if self.unreached_frames:
            lines.append(
                f"out of reach in {self.unreached_frames} frames, "
                f"by up to {100 * self.unreached_max:.1f} cm"
            )
        if self.loose_frames:
            lines.append(
                f"not held in {self.loose_frames} frames, where the leg would turn too fast"
            )
        return "\n".join([*lines, *self.notes, *self._knee_lines()])

    def _knee_lines(self) -> list[str]:
        return [f"{note}: repaired" for note in self.knees]


@dataclass(frozen=True, slots=True)
@record
class PlantReport:
    """One plant before and after. Frames are those of the motion, lengths metres.

    Attributes
    ----------
    kind : str
        ``left_heel``, ``left_toe``, ``right_heel`` or ``right_toe``.
    first : int
        First frame, as labelled.
    last : int
        Last frame, as labelled.
    held : tuple of two int or None
        First and last frame held, None where the plant was let go.
    slide_before, slide_after : float
        Farthest two places of the point over the ground while held (or labelled, if let go).
    label_slide_before, label_slide_after : float
        The same over the whole label.
    """

    kind: str
    first: int
    last: int
    held: tuple[int, int] | None
    slide_before: float
    slide_after: float
    label_slide_before: float
    label_slide_after: float


def merged_reports(reports: Sequence[CleanupReport]) -> CleanupReport:
    """One report on parts of a motion that were cleaned one by one, frames counted alike.

    Means are over the parts, each by the joints that it has.
    """
    before = max(reports, key=lambda each: each.contact_speed_before or 0.0)
    after = max(reports, key=lambda each: each.contact_speed_after or 0.0)
    parts = [each.held_part for each in reports if each.held_part is not None]

    def most(name: str) -> float:
        return max(float(getattr(each, name)) for each in reports)

    return CleanupReport(
        plants=tuple(plant for each in reports for plant in each.plants),
        held_part=sum(parts) / len(parts) if parts else None,
        contact_speed_before=before.contact_speed_before,
        contact_speed_after=after.contact_speed_after,
        worst_before=before.worst_before,
        worst_after=after.worst_after,
        joint_change_mean=sum(each.joint_change_mean for each in reports) / len(reports),
        joint_change_max=most("joint_change_max"),
        root_shift_max=most("root_shift_max"),
        foot_turn_max=most("foot_turn_max"),
        stretch_max=most("stretch_max"),
        unreached_frames=sum(each.unreached_frames for each in reports),
        unreached_max=most("unreached_max"),
        penetration_before=most("penetration_before"),
        penetration_after=most("penetration_after"),
        loose_frames=sum(each.loose_frames for each in reports),
        knees=tuple(dict.fromkeys(knee for each in reports for knee in each.knees)),
    )
