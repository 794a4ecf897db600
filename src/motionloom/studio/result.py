"""A result of any room: the motion, where it came from, and why it is as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.studio.answers import Answer, Why
from motionloom.studio.shown import show_motion

__all__ = ["Result"]


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a room made. The page gets it whole; the server keeps it for export."""

    motion: Motion
    footplants: Footplants
    body: BodyMap
    sources: tuple[str, ...]
    """Clips that it was made of, by id."""
    source_frames: FloatArray
    """Frame of every source at every frame, nan where it has none there. (F, K)"""
    placements: tuple[tuple[float, float, float], ...]
    """Turn and slide (theta, x0, z0) that carry each source's coordinates into the result's."""
    source_motions: tuple[Motion, ...]
    """The sources as they went in: on one skeleton, at one rate."""
    source_plants: tuple[Footplants, ...]
    why: Why
    detail: dict[str, Any]
    """What only its room knows; ``room`` names it."""
    arrays: dict[str, npt.NDArray[Any]]
    """Further arrays of its room."""

    def answer(self, number: int) -> Answer:
        """The message: the motion with its arrays; those of source 0 are named ``0.points`` ..."""
        shown, arrays = show_motion(self.motion, self.footplants, self.body)
        sources = []
        for k, (motion, plants) in enumerate(
            zip(self.source_motions, self.source_plants, strict=True)
        ):
            each, own = show_motion(motion, plants, self.body)
            sources.append(
                {"clip": self.sources[k], "placement": self.placements[k], "shown": each}
            )
            arrays |= {f"{k}.{name}": array for name, array in own.items()}
        return Answer(
            "result",
            {
                "result": number,
                "shown": shown,
                "sources": sources,
                "why": self.why,
                "detail": self.detail,
            },
            {**arrays, "source_frames": self.source_frames, **self.arrays},
        )
