"""Seconds of captured clips that are synthesized again: windows, folds, and what is around them.

They were drawn once, before any method was tried on them, and stand in
``protocols/told_apart.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.index_build import build_index
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.gap_windows import Gap, gap_of
from motionloom.tables.synthesis.synthesis import Synthesis, rig_of, synthesize
from studies.captured_clips import Protocol, protocol
from studies.tables.natural_candidates import (
    frames_of_subject,
    window_length,
)
from studies.tables.pinning import COLUMNS, Pinning

CONTEXT_S = 0.2
FOLDS = 3


@dataclass(frozen=True, slots=True)
class Second:
    """One second of a take, with the captured frames around it."""

    subject: str
    take: str
    frame: int
    """First frame of the second, which is given, as its last one is."""
    fold: int
    """Takes of this fold are in no collection that the second is made from."""


class Ground(Pinning):
    """A group's captured frames, and without the takes of one fold: what methods may use."""

    def __init__(self, folder: Path, subject: str, fold: int) -> None:
        plan = plan_of(subject)
        captured = frames_of_subject(folder, subject)
        left_out = tuple(plan["folds"][fold])
        frames = without(captured, left_out)
        length, context = window_length(captured), round(CONTEXT_S * captured.fps)
        super().__init__(captured, rig_of(frames), length, context)
        self.subject, self.fold = subject, fold
        self.left_out, self.frames = left_out, frames
        self.index: WindowIndex = build_index(frames, length=length)
        self._takes: dict[str, Motion] = {}
        self._gaps: dict[Second, Gap] = {}

    def take(self, name: str) -> Motion:
        """A whole take, for methods that are given a motion with a gap: they read its sides."""
        if name not in self._takes:
            k = self.captured.ids.index(name)
            first, stop = self.captured.starts[k : k + 2]
            self._takes[name] = self.captured.motion(int(first), int(stop) - 1, name=name)
        return self._takes[name]

    def gap(self, second: Second) -> Gap:
        """The second cut out: its first and last frame and what is before and after."""
        if second not in self._gaps:
            first, last = second.frame + 1, second.frame + self.length - 2
            self._gaps[second] = gap_of(self.frames, self.take(second.take), first, last)
        return self._gaps[second]

    def row(self, second: Second) -> int:
        """The second's first row among all takes."""
        return self.captured.row_of(second.take, second.frame)

    def ends(self, second: Second) -> tuple[int, int]:
        """Its first and last row: all that methods know, with the frames outside."""
        row = self.row(second)
        return row, row + self.length - 1

    def pinned(self, second: Second, recipe: Recipe, *, feet: bool = False) -> Synthesis:
        """Windows bent to the postures and velocities of a second's ends, as the table does.

        The same kernel for all methods. Rows of the recipe are those of all takes. Where the result
        leads over the ground is free. What is captured comes out as it was.
        """
        return synthesize(self.captured, recipe, rig=self.rig, feet=feet, ends=self.ends(second))

    def with_context(self, second: Second, result: Synthesis | None = None) -> Motion:
        """The second as captured, or as synthesized, between the captured frames around it.

        The frames after a synthesized second go on from where it leads.
        """
        first, last = self.ends(second)
        if result is None:
            return self.captured.motion(first - self.context, last + self.context)
        lead = self.captured.motion(first - self.context, first - 1)
        follow = self.captured.motion(last, last + self.context)
        follow = ml.move(follow, heading=float(result.heading[-1] - self.captured.heading[last]))
        way = result.root_positions[-1] - follow.root_positions[0]
        follow = ml.move(follow, x=float(way[0]), z=float(way[2]))[1:]
        parts = (lead, result, follow)
        root = np.concatenate([part.root_positions for part in parts])
        quats = quat.make_continuous(np.concatenate([part.local_quats for part in parts]))
        return Motion(self.captured.skeleton, root, quats, self.captured.fps)


def without(frames: Frames, left_out: tuple[str, ...]) -> Frames:
    """Frames less those of some clips."""
    chosen = [k for k, name in enumerate(frames.ids) if name not in left_out]
    rows = np.concatenate([np.arange(frames.starts[k], frames.starts[k + 1]) for k in chosen])
    lengths = [int(frames.starts[k + 1] - frames.starts[k]) for k in chosen]
    jumps = np.flatnonzero(np.isin(rows, frames.glitch_rows))
    columns: dict[str, Any] = {
        name: np.ascontiguousarray(getattr(frames, name)[rows]) for name in COLUMNS
    }
    return Frames(
        frames.skeleton,
        frames.body_map,
        frames.fps,
        tuple(frames.ids[k] for k in chosen),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        **columns,
        glitch_rows=jumps,
    )


@lru_cache(maxsize=1)
def told_apart_plan() -> Protocol:
    return protocol("told_apart")


def plan_of(subject: str) -> Protocol:
    plan: Protocol = told_apart_plan()["groups"][subject]
    return plan


def seconds_of(subject: str, which: str = "windows") -> list[Second]:
    """Windows of a group, in the order in which they were drawn."""
    plan = plan_of(subject)
    fold = {take: k for k, takes in enumerate(plan["folds"]) for take in takes}
    return [Second(subject, take, frame, fold[take]) for take, frame in plan[which]]
