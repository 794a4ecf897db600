"""A result of any room: the motion, where it came from, and why it is as it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.studio.clips.stage_clip import show_motion
from motionloom.studio.messages.answers import Answer, Why

__all__ = ["Result"]


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a room made. The page gets it whole; the server keeps it for export."""

    motion: Motion
    footplants: Footplants
    body: BodyMap
    sources: tuple[str, ...]
    """What stands beside it, by name: clips that it was made of, or other ways of making it."""
    source_frames: FloatArray
    """Frame of every source at every frame, nan where it has none there. (F, K)"""
    placements: tuple[tuple[float, float, float], ...]
    """Turn and slide (theta, x0, z0) that carry each source's coordinates into the result's."""
    source_motions: tuple[Motion, ...]
    """The sources as they went in: on one skeleton, at one rate."""
    source_plants: tuple[Footplants, ...]
    source_keys: tuple[str, ...]
    """Names under which a page keeps the sources' motions."""
    why: Why
    detail: dict[str, Any]
    """What only its room knows; ``room`` names it."""
    arrays: dict[str, npt.NDArray[Any]]
    """Further arrays of its room."""
    clips: tuple[str, ...] = ()
    """Clips that it was made of, by id."""
    files: dict[str, str] = field(default_factory=dict)
    """Texts that the told command line reads, by the file's name."""

    def answer(self, number: int, have: Collection[str] = ()) -> Answer:
        """The message: the motion with its arrays; those of source 0 are named ``0.points`` ...

        Parameters
        ----------
        number
            Of the result.
        have
            Keys of sources that the page holds and that are not sent again.
        """
        report_step("drawing the result")
        shown, arrays = show_motion(self.motion, self.footplants, self.body)
        sources = []
        for k, (motion, plants) in enumerate(
            zip(self.source_motions, self.source_plants, strict=True)
        ):
            told: dict[str, Any] = {"clip": self.sources[k], "key": self.source_keys[k],
                                    "placement": self.placements[k], "shown": None}  # fmt: skip
            sources.append(told)
            report_step("drawing the sources", k, len(self.source_motions))
            if self.source_keys[k] not in have:
                told["shown"], own = show_motion(motion, plants, self.body)
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
