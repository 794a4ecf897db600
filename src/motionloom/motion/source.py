"""Source: what a file stated, so that saving in the same format restores it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from motionloom._records import FrozenMapping, record
from motionloom.findings import Finding


@dataclass(frozen=True, slots=True)
@record
class Floor:
    """The ground a clip stands on, fitted through the planted balls of its feet.

    The ball of a foot stands at ``height_foot + slope_x * x + slope_z * z``.

    Attributes
    ----------
    left_height : float
        Height of the left ball over the world origin, metres.
    right_height : float
        The same of the right ball.
    slope_x : float
        Rise per metre along +X; 0 if the clip's path does not show it.
    slope_z : float
        The same along +Z.
    residual : float
        Root mean square distance of the contacts from the plane, metres.
    """

    left_height: float
    right_height: float
    slope_x: float
    slope_z: float
    residual: float

    @property
    def height(self) -> float:
        """Mean height of both feet, metres."""
        return 0.5 * (self.left_height + self.right_height)


@dataclass(frozen=True, slots=True, eq=False)
@record
class Source:
    """Where a motion came from and how its file stated it.

    Attributes
    ----------
    format : str
        Name in the format registry, empty for a motion made from arrays.
    path : str
        The file.
    clip : str
        Name of the clip inside a file that holds several.
    unit_m : float
        Metres per unit of length in the file.
    up : str
        The file's up axis: ``"x"``, ``"y"`` or ``"z"``, with ``-`` before it where upside down.
    fps : float or None
        Rate that the file stated, ``None`` where it stated none.
    skipped_frames : int
        Leading frames of the file that are not in the motion (a T-pose).
    floor : Floor or None
        The ground that was detected; None where there is none.
    detail : Mapping
        What only this format knows: channels, rest pose, header lines.
    findings : tuple of Finding
        What was noticed while it was read.
    """

    format: str = ""
    path: str = ""
    clip: str = ""
    unit_m: float = 1.0
    up: str = "y"
    fps: float | None = None
    skipped_frames: int = 0
    floor: Floor | None = None
    detail: Mapping[str, Any] = field(default_factory=FrozenMapping)
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.detail, FrozenMapping):
            object.__setattr__(self, "detail", FrozenMapping(self.detail))

    def for_result(self) -> Source:
        """Source of a motion made from this clip: the same unit, axes and channels, no findings.

        Returns
        -------
        Source
            A new source; this one stays as it is.
        """
        return replace(self, findings=(), skipped_frames=0)
