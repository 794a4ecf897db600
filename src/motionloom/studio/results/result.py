"""A result of any tab: the motion, its sources, and what explains it."""

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
from motionloom.studio.clips.stage_clip import Arrays, show_motion
from motionloom.studio.messages.result_messages import Detail, ResultAnswer, Source, Why


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a tab makes. The page gets all of it; the server stores it for export."""

    motion: Motion
    footplants: Footplants
    body: BodyMap
    sources: tuple[str, ...]
    """What is shown next to it, by name: its clips, or results of other methods."""
    source_frames: FloatArray
    """Frame of every source at every frame, nan where a source has none. (F, K)"""
    placements: tuple[tuple[float, float, float], ...]
    """Turn and shift (theta, x0, z0) from each source's coordinates to the result's."""
    source_motions: tuple[Motion, ...]
    """The sources after matching: one skeleton, one rate."""
    source_plants: tuple[Footplants, ...]
    source_keys: tuple[str, ...]
    """Names under which a page stores the sources' motions."""
    why: Why
    detail: Detail
    """What only its tab knows."""
    arrays: dict[str, npt.NDArray[Any]]
    """Further arrays of its tab."""
    clips: tuple[str, ...] = ()
    """Its clips, by id."""
    files: dict[str, str] = field(default_factory=dict)
    """Texts that the shown command line reads, by the file's name."""

    @property
    def tab(self) -> str:
        """Name of the tab that made it."""
        return str(self.detail.__struct_config__.tag)

    def answer(self, number: int, have: Collection[str] = ()) -> tuple[ResultAnswer, Arrays]:
        """The head of the message and its arrays; those of source 0 are named ``0.points`` ...

        Parameters
        ----------
        number
            Of the result.
        have
            Keys of sources that the page has and that are not sent again.
        """
        report_step("drawing the result")
        shown, arrays = show_motion(self.motion, self.footplants, self.body)
        sources = []
        for k, key in enumerate(self.source_keys):
            report_step("drawing the sources", k, len(self.source_keys))
            drawn = None
            if key not in have:
                motion, plants = self.source_motions[k], self.source_plants[k]
                drawn, own = show_motion(motion, plants, self.body)
                arrays |= {f"{k}.{name}": array for name, array in own.items()}
            sources.append(Source(self.sources[k], key, self.placements[k], drawn))
        head = ResultAnswer(number, shown, sources, self.why, self.detail)  # type: ignore[arg-type]
        return head, {**arrays, "source_frames": self.source_frames, **self.arrays}
