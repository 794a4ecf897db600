"""What clean-up did: per plant, and over the whole motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.holds import Hold
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.motion import Motion

__all__ = ["Cleanup", "CleanupReport", "PlantReport", "contact_speed", "slide_of"]


@dataclass(frozen=True, slots=True)
class PlantReport:
    """One plant before and after. Frames are those of the motion, lengths metres."""

    kind: str
    """``left_heel``, ``left_toe``, ``right_heel`` or ``right_toe``."""
    first: int
    last: int
    """As labelled."""
    held: tuple[int, int] | None
    """First and last frame held, None where the plant was let go."""
    slide_before: float
    slide_after: float
    """Farthest two places of the point over the ground while held (or labelled, if let go)."""
    label_slide_before: float
    label_slide_after: float
    """The same over the whole label."""


@dataclass(frozen=True, slots=True)
class CleanupReport:
    """How far things moved, and what could not be reached. Metres, seconds, radians."""

    plants: tuple[PlantReport, ...]
    held_part: float
    """Held frames as a part of the labelled ones; nan without labels."""
    contact_speed_before: float
    contact_speed_after: float
    """Highest speed of a point from one labelled frame to the next, m/s; nan without labels."""
    worst_before: tuple[int, str] | None
    worst_after: tuple[int, str] | None
    """Frame and kind of these."""
    joint_change_mean: float
    joint_change_max: float
    """Way of the joints in the world, over all joints and frames."""
    root_shift_max: float
    foot_turn_max: float
    """Largest turn of a foot."""
    stretch_max: float
    """Largest change of a leg's length as a part of it; 0 for rigid bones."""
    unreached_frames: int
    unreached_max: float
    """Held frames in which a point is more than a tenth of a millimetre from its place."""
    penetration_before: float
    penetration_after: float
    """Deepest that a heel or ball is under the ground shown by the holds of its foot."""

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
        """Plants that were not held at all."""
        return tuple(p for p in self.plants if p.held is None)

    def __str__(self) -> str:
        if not self.plants:
            return "no plants: nothing to hold, nothing changed"
        held = [p for p in self.plants if p.held]
        lines = [
            f"slide {100 * self.slide_before:.1f} -> {100 * self.slide_after:.2f} cm, "
            f"{len(held)} of {len(self.plants)} plants held for {100 * self.held_part:.0f} % "
            "of their frames"
        ]
        if self.worst_after is not None and self.worst_before is not None:
            frame, kind = self.worst_after
            lines.append(
                f"fastest contact {100 * self.contact_speed_before:.0f} -> "
                f"{100 * self.contact_speed_after:.0f} cm/s, worst frame {frame} "
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
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class Cleanup:
    """A cleaned motion, the plants it holds, and what that took."""

    motion: Motion
    footplants: Footplants
    """Those that are held: a part of those given."""
    report: CleanupReport


def slide_of(track: FloatArray) -> float:
    """Distance over the ground between the two farthest places of a track (F, 3), metres."""
    ground = track[:, [0, 2]]
    far = ground[np.argmax(np.sum((ground - ground[0]) ** 2, axis=-1))]
    return float(np.sqrt(np.sum((ground - far) ** 2, axis=-1).max()))


def contact_speed(
    points: FloatArray, planted: BoolArray, fps: float
) -> tuple[float, tuple[int, str] | None]:
    """Highest speed from one planted frame to the next, and its frame and kind."""
    both = planted[:-1] & planted[1:]
    if not both.any():
        return float("nan"), None
    steps = np.where(both, np.linalg.norm(np.diff(points, axis=0), axis=-1), -1.0)
    frame, kind = np.unravel_index(int(np.argmax(steps)), steps.shape)
    return float(steps[frame, kind] * fps), (int(frame), KINDS[int(kind)])


def plant_reports(
    holds: tuple[Hold, ...], let_go: tuple[Hold, ...], before: FloatArray, after: FloatArray
) -> tuple[PlantReport, ...]:
    """One report per plant, by kind, then in time."""
    reports = []
    for hold in sorted((*holds, *let_go), key=lambda h: (h.kind, h.label)):
        first, last = hold.label
        a, b = hold.label if hold in let_go else hold.span
        reports.append(
            PlantReport(
                KINDS[hold.kind],
                first,
                last,
                None if hold in let_go else hold.span,
                slide_of(before[a : b + 1, hold.kind]),
                slide_of(after[a : b + 1, hold.kind]),
                slide_of(before[first : last + 1, hold.kind]),
                slide_of(after[first : last + 1, hold.kind]),
            )
        )
    return tuple(reports)
