"""Motions bent to the postures and velocities of two captured frames, all by the same kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import motionloom as ml
from motionloom._arrays import BoolArray
from motionloom.body.body_map import facing
from motionloom.motion.motion import Footplants, Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames, clip_frames
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.synthesis import Rig, Synthesis, synthesize

COLUMNS = ("heading", "ground", "quats", "body", "points", "planted")
"""Of a collection's frames."""


class Surrounded(NamedTuple):
    """A synthesized second with frames before and after it, which show its velocities there."""

    motion: Motion
    first: int
    """Frame at which the second starts."""


class Pinning:
    """Bends what methods make to frames of a collection, by the table's kernel.

    Parameters
    ----------
    captured
        The frames of all takes.
    rig
        Of their skeleton.
    length
        Frames of a second.
    context
        Frames before and after it that show its velocities.
    """

    def __init__(self, captured: Frames, rig: Rig, length: int, context: int) -> None:
        self.captured, self.rig, self.length, self.context = captured, rig, length, context

    def pinned_motion(
        self, ends: tuple[int, int], around: Surrounded, *, planted: BoolArray | None = None
    ) -> Synthesis:
        """A motion that a method synthesized, bent to the postures and velocities of two rows.

        With ``planted``, who stands in each frame of the second (T, 4), feet are held as the table
        holds them.
        """
        frames = self._with_motion(ends, around, planted)
        row, last = int(frames.starts[2]) + around.first, int(frames.starts[1])
        recipe = Recipe((row, row, row), self.length, pinned=True)
        feet = planted is not None
        return synthesize(frames, recipe, rig=self.rig, feet=feet, ends=(last - 1, last))

    def _with_motion(
        self, ends: tuple[int, int], around: Surrounded, planted: BoolArray | None
    ) -> Frames:
        """A collection of three clips: the frames before a second, those after it, and a motion."""
        whole, clip = self.captured, self.captured.clip_at(ends[0])
        low = max(ends[0] - self.context, int(whole.starts[clip]))
        high = min(ends[1] + self.context + 1, int(whole.starts[clip + 1]))
        rows = np.r_[low : ends[0] + 1, ends[1] : high]
        motion, first = around.motion, around.first
        contacts = np.zeros((motion.n_frames, 4), dtype=bool)
        if planted is not None:
            contacts[first : first + len(planted)] = planted
        result = clip_frames(motion, body=whole.body_map, footplants=Footplants(contacts))
        columns = [
            np.concatenate([np.asarray(getattr(whole, name))[rows], part])
            for name, part in zip(COLUMNS, result, strict=True)
        ]
        lengths = ends[0] + 1 - low, high - ends[1], motion.n_frames
        starts = np.cumsum([0, *lengths]).astype(np.int64)
        names = ("before", "after", "synthesized")
        return Frames(whole.skeleton, whole.body_map, whole.fps, names, starts, *columns)

    def surrounded(self, frames: Frames, motion: Motion, *, before: int, after: int) -> Surrounded:
        """A motion between the rows of ``frames`` before one and after another.

        It starts where the row ``before`` is; the rows after ``after`` are moved to where it ends.
        """
        clip, other = frames.clip_at(before), frames.clip_at(after)
        first = max(before - self.context, int(frames.starts[clip]))
        stop = min(after + self.context + 1, int(frames.starts[other + 1]))
        parts = [motion]
        if first < before:
            parts.insert(0, frames.motion(first, before - 1))
        if stop > after + 1:
            follow = frames.motion(after, stop - 1)
            body = frames.body_map
            turn = facing(motion[-1:], body=body)[0] - facing(follow[:1], body=body)[0]
            follow = ml.move(follow, heading=float(turn))
            way = motion.root_positions[-1] - follow.root_positions[0]
            parts.append(ml.move(follow, x=float(way[0]), z=float(way[2]))[1:])
        root = np.concatenate([part.root_positions for part in parts])
        quats = np.concatenate([part.local_quats for part in parts])
        whole = motion.replace(root_positions=root, local_quats=quat.make_continuous(quats))
        return Surrounded(whole, before - first)
