"""Clips and the joints between them, put one after the other as one motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.blending.transition import Transition
from motionloom.cleanup.finalize import ease_to
from motionloom.motion.edit import concatenate, pick, transform
from motionloom.motion.motion import Footplants, Motion
from motionloom.motion.provenance import WHOLE_BODY, Provenance, Track
from motionloom.rotation.quat import PlanarTransform, ease


class ChainedClip(NamedTuple):
    """A clip on the skeleton and at the rate of the result."""

    name: str
    motion: Motion
    footplants: Footplants
    notes: tuple[str, ...]


class Rows(NamedTuple):
    """Frames of the result that follow each other."""

    motion: Motion
    planted: BoolArray
    clip: IntArray
    """The two clips that a frame is made of; -1 for none. (F, 2)"""
    time: FloatArray
    weight: FloatArray
    changed: BoolArray

    def part(self, first: int, stop: int) -> Rows:
        """Some of the frames, one or more."""
        frames = slice(first, stop)
        return Rows(
            self.motion[frames],
            self.planted[frames],
            self.clip[frames],
            self.time[frames],
            self.weight[frames],
            self.changed[frames],
        )

    def copy(self) -> Rows:
        """The same frames, which keep nothing alive that they were cut from."""
        return Rows(
            pick(self.motion, np.arange(len(self.planted))),
            self.planted.copy(),
            self.clip.copy(),
            self.time.copy(),
            self.weight.copy(),
            self.changed.copy(),
        )

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Frames one after the other."""
        return cls(
            concatenate([part.motion for part in parts]),
            np.concatenate([part.planted for part in parts]),
            np.concatenate([part.clip for part in parts]),
            np.concatenate([part.time for part in parts]),
            np.concatenate([part.weight for part in parts]),
            np.concatenate([part.changed for part in parts]),
        )

    def moved(self, by: PlanarTransform) -> Rows:
        """The frames turned and slid over the ground."""
        return self._replace(motion=transform(self.motion, by))

    @classmethod
    def captured(cls, clip: ChainedClip, number: int, first: int, stop: int) -> Rows:
        """A clip's own frames."""
        n = stop - first
        time = np.stack([np.arange(first, stop) / clip.motion.fps, np.full(n, np.nan)], axis=1)
        return cls(
            clip.motion[first:stop],
            clip.footplants.planted[first:stop],
            np.tile(np.array([number, -1]), (n, 1)),
            time,
            np.tile(np.array([1.0, 0.0]), (n, 1)),
            np.zeros(n, dtype=bool),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MadeJoint:
    """How one clip leads to the next: the frames that are neither's own, and where they lie."""

    leaves: int
    """Last frame of the clip before that plays alone."""
    enters: int
    """First frame of the clip after that plays alone."""
    n_blended: int
    """Frames between those two."""
    first: int
    """Frame of the clip before at which ``rows`` begin."""
    rows: Rows | None
    """The blend and the fades around it, in the coordinates of the clip before; None for a cut."""
    placement: PlanarTransform
    """Transforms the coordinates of the clip after into those of the clip before."""

    @property
    def ends(self) -> int:
        """First frame of the clip after that follows ``rows``."""
        if self.rows is None:
            return self.enters
        first_of_after = self.leaves + self.n_blended + 1
        return self.enters + self.first + len(self.rows.planted) - first_of_after

    @classmethod
    def of(cls, made: Transition, clips: tuple[int, int]) -> MadeJoint:
        """The frames of a transition that are neither clip's own."""
        leaves, last = made.span
        frames = np.flatnonzero(made.provenance.changed)
        first = min(leaves + 1, int(frames[0]))
        stop = max(last, int(frames[-1]) + 1)
        track = made.provenance.body
        numbers = np.array([*clips, -1])  # the last for frames that name no second clip
        enters = round(float(track.times_in(1)[last]) * made.motion.fps)
        rows = Rows(
            made.motion,
            made.footplants.planted,
            numbers[track.clip],
            track.time,
            track.weight,
            made.provenance.changed,
        )
        rows = rows.part(first, stop).copy()
        return cls(leaves, enters, last - leaves - 1, first, rows, made.placement)

    @classmethod
    def cut(cls, frames: tuple[int, int], placement: PlanarTransform) -> MadeJoint:
        """The clip before up to a frame, then the clip after from a frame on."""
        return cls(frames[0], frames[1], 0, frames[0] + 1, None, placement)


class Row(NamedTuple):
    """Clips in a row."""

    rows: Rows
    offsets: tuple[int, ...]
    """Frame of the result at which frame 0 of every clip is, or would be."""
    placements: tuple[PlanarTransform, ...]
    """Transform the coordinates of every clip into those of the result."""
    mixed: tuple[tuple[int, int], ...]
    """First and last frame of places where two joints change the same frames of a clip."""


def in_a_row(
    clips: Sequence[ChainedClip], numbers: Sequence[int], joints: Sequence[MadeJoint]
) -> Row:
    """One clip after the other: clip ``numbers[0]``, the first joint, clip ``numbers[1]`` ..."""
    offset, place, row, enters = 0, PlanarTransform.identity(), 0, 0
    pieces: list[Rows] = []
    offsets, placements, mixed = [0], [place], list[tuple[int, int]]()
    for number, joint in zip(numbers[:-1], joints, strict=True):
        begins = offset + joint.first
        if row < begins:
            own = Rows.captured(clips[number], number, row - offset, joint.first)
            pieces.append(own.moved(place))
            row = begins
        if joint.rows is not None:
            made = joint.rows.moved(place)
            if begins < row:  # the fades of two joints meet in a short clip
                both = max(begins, offset + enters), min(row, offset + joint.leaves)
                made = _faded(pieces, row, made, begins, both)
                mixed.append((both[0], both[1] - 1))
                row = both[1]
            pieces.append(made)
            row += len(made.planted)
        offset += joint.leaves + 1 + joint.n_blended - joint.enters
        place, enters = place @ joint.placement, joint.enters
        offsets.append(offset)
        placements.append(place)
    last = clips[numbers[-1]]
    if row - offset < last.motion.n_frames:
        own = Rows.captured(last, numbers[-1], row - offset, last.motion.n_frames)
        pieces.append(own.moved(place))
    return Row(Rows.joined(pieces), tuple(offsets), tuple(placements), tuple(mixed))


def _faded(pieces: list[Rows], row: int, made: Rows, begins: int, both: tuple[int, int]) -> Rows:
    """Lead the last of the pieces, which ends before ``row``, over to the frames of a new joint.

    The new frames begin at row ``begins``; rows ``both[0]`` up to ``both[1]`` are led over. Returns
    the new frames that follow.
    """
    before = pieces.pop()
    starts = row - len(before.planted)
    if both[0] > starts:
        pieces.append(before.part(0, both[0] - starts))
    if both[1] > both[0]:
        ours = before.part(both[0] - starts, both[1] - starts)
        pieces.append(_mixed(ours, made.part(both[0] - begins, both[1] - begins)))
    return made.part(both[1] - begins, len(made.planted))


def _mixed(one: Rows, other: Rows) -> Rows:
    """Frames that lead from one version of a clip to the other."""
    n = len(one.planted)
    share = 1.0 - ease((np.arange(n) + 1.0) / (n + 1.0))
    planted = np.where(share[:, None] < 0.5, one.planted, other.planted)
    changed = one.changed | other.changed
    motion = ease_to(one.motion, other.motion, share)
    return one._replace(motion=motion, planted=planted, changed=changed)


def provenance_of(rows: Rows, sources: Sequence[str]) -> Provenance:
    """Where every frame comes from."""
    track = Track(WHOLE_BODY, rows.clip, rows.time, rows.weight)
    return Provenance(tuple(sources), rows.motion.fps, (track,), rows.changed)
