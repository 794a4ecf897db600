"""Figure: a clip given a body, so that knees, feet and weight can be judged by eye."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from motionloom._arrays import FloatArray

Side = Literal["left", "middle", "right"]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the body: the hull of balls at some of the figure's points."""

    name: str
    """``"thigh"``, ``"foot"``, ``"head"``; ``"bone"`` for joints without a role."""
    side: Side
    points: tuple[int, ...]
    """Columns of :attr:`Figure.points`."""
    radii: tuple[float, ...]
    """Metres, one per point."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """World points of a clip and the body parts spanned over them."""

    points: FloatArray
    """Metres. Shape (F, P, 3)."""
    parts: tuple[Part, ...]
    height: float
    """Standing height, metres."""

    @property
    def n_frames(self) -> int:
        """Number of frames F."""
        return len(self.points)

    def nearness(self, part: Part, near: FloatArray) -> float:
        """How near the eye a part is drawn, from the nearness (P,) of the points.

        The neck goes behind the chest that it grows out of, whichever side they are seen from.
        """
        return float(near[list(part.points)].mean()) - (0.08 * self.height) * (part.name == "neck")

    def lowest(self) -> FloatArray:
        """Height of the lowest spot of the body in every frame, metres. Shape (F,)."""
        soles = [part for part in self.parts if part.name in ("foot", "toes")] or self.parts
        reach = [
            self.points[:, p, 1] - r
            for part in soles
            for p, r in zip(part.points, part.radii, strict=True)
        ]
        return np.asarray(np.min(reach, axis=0))

    def floor(self) -> float:
        """Height of the ground that the figure is drawn on, metres.

        Near zero it is zero: what is left is the thickness of a sole, which no file states.
        """
        low = float(np.percentile(self.lowest(), 5.0))
        return 0.0 if abs(low) < 0.012 * self.height else low

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Least and greatest corner (3,) of all balls in all frames."""
        used = sorted({p for part in self.parts for p in part.points})
        widest = max(r for part in self.parts for r in part.radii)
        points = self.points[:, used]
        return points.min(axis=(0, 1)) - widest, points.max(axis=(0, 1)) + widest
