"""TableCheck: the quality check of synthesized motion against its source clips.

The kernels are those of :mod:`motionloom.features.checks`. A few captured frames before and after
are checked with the synthesized ones, so that seams are seen as a viewer sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import integer
from motionloom._records import record
from motionloom.body.anatomy import foot_offsets, knees_of_pose
from motionloom.features.checks.quality_check import leg_length, measure_support, new_support
from motionloom.features.checks.source_limits import (
    LOWS,
    CheckedMotion,
    CheckRig,
    Limits,
    Series,
    drag_lengths,
    free_fall_gap,
    judge,
    measure_limits,
    measure_series,
    merged,
    new_series,
    no_grounds,
    no_limits,
    rig_of_body,
)
from motionloom.features.checks.verification import (
    MOST_FOUND,
    FailedCheck,
    Verification,
    failed_checks,
)
from motionloom.features.glitches.glitch_frames import glitch_mask
from motionloom.motion.motion import Motion, forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.synthesis.synthesis import Rig

MARGIN = integer("ML_TABLE_MARGIN")
"""Captured frames before and after the synthesized ones that are checked with them."""
SAMPLES = 400
"""Rows of a collection that show how its knees bend."""


@record
class Checked(NamedTuple):
    """The result of the check; its texts are made on demand."""

    failures: FloatArray
    """Rows of the kernel: check, joint, frame, value, limit. (n, 5)"""
    rig: CheckRig
    names: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not len(self.failures)

    @property
    def badness(self) -> float:
        """How bad it is, to compare flawed results: failed checks, each by how far it is over."""
        value, limit = np.abs(self.failures[:, 3]), np.abs(self.failures[:, 4])
        return float(np.sum(1.0 + np.abs(value - limit) / np.maximum(limit, 1e-9)))

    def verification(self, first: int = 0) -> Verification:
        """In words; ``first`` is where the made frames begin in the motion."""
        rows = np.array(self.failures)
        rows[:, 2] += first
        failed = tuple[FailedCheck, ...](failed_checks(self.rig, self.names, rows))
        return Verification(not failed, failed)


class TableCheck:
    """The check of a collection; limits of clips are measured when they are first needed.

    Parameters
    ----------
    frames
        The collection.
    rig
        Of its skeleton.
    """

    def __init__(self, frames: Frames, rig: Rig) -> None:
        self.frames, self.rig = frames, rig
        self.check_rig = _check_rig(frames, rig)
        n_clips = len(frames.starts) - 1
        ends = np.cumsum([0, *(part.size for part in _packed(no_limits(self.check_rig)))]).tolist()
        self._fields = [slice(first, stop) for first, stop in pairwise(ends)]
        self.limits = np.zeros((n_clips, ends[-1]))
        self.hovers = np.zeros(frames.n_rows, dtype=np.float32)
        self.slowest = np.full((frames.n_rows, 2), -1, dtype=np.int8)
        self.measured = np.zeros(n_clips, dtype=np.bool_)
        self._leg = leg_length(self.check_rig, frames.body[:1].astype(np.float64))
        self._drags: dict[tuple[int, float], FloatArray] = {}

    def limits_of(self, clips: Sequence[int]) -> Limits:
        """What some clips together reach at most."""
        for clip in clips:
            self.measure(clip)
        together = self.limits[list(clips)].max(axis=0)
        return _unpacked([together[field] for field in self._fields])

    def measure(self, clip: int) -> None:
        """Measure the limits of a clip, unless they are known."""
        if not self.measured[clip]:
            self.limits[clip] = np.concatenate(_packed(self._measure(clip)))
            self.measured[clip] = True

    def drags_of(self, clips: Sequence[int], higher: float) -> FloatArray:
        """How far feet of some clips go along a floor that is so much higher, metres. (12,)."""
        for clip in clips:
            if (clip, higher) not in self._drags:
                soles = self._series(clip)[1].soles
                floor = self.limits_of([clip]).floor
                self._drags[clip, higher] = drag_lengths(soles, floor + higher, self.frames.fps)
        return np.asarray(np.max([self._drags[clip, higher] for clip in clips], axis=0))

    def _series(self, clip: int) -> tuple[Motion, Series]:
        """A clip, and what is measured of it."""
        frames = self.frames
        motion = frames.motion(int(frames.starts[clip]), int(frames.starts[clip + 1]) - 1)
        positions, world = motion.world_pose()
        series = new_series(self.check_rig, motion.n_frames)
        quats = np.array(motion.local_quats)
        measure_series(self.check_rig, frames.fps, positions, world, quats, series)
        return motion, series

    def _measure(self, clip: int) -> Limits:
        frames = self.frames
        first, last = int(frames.starts[clip]), int(frames.starts[clip + 1]) - 1
        motion, series = self._series(clip)
        jumps = np.asarray(frames.glitch_rows)
        inside = jumps[(jumps >= first) & (jumps <= last)] - first
        glitched = glitch_mask(motion, inside.tolist())
        planted = np.asarray(frames.planted[first : last + 1])
        limits = measure_limits(self.check_rig, series, planted, frames.fps, glitched)
        own = self.hovers[first : last + 1]
        free_fall_gap(series.soles, series.lowest, series.mass, limits.highest, frames.fps, own)
        support = new_support(series)
        measure_support(series, frames.fps, self._leg, 0, motion.n_frames, support)
        self.slowest[first : last + 1] = support.slowest
        return limits

    def motion(
        self,
        root: FloatArray,
        quats: FloatArray,
        heading: FloatArray,
        planted: BoolArray,
        span: tuple[int, int],
        clips: Sequence[int],
        *,
        around: Limits | None = None,
        higher: float = 0.0,
    ) -> Checked:
        """Any frames as arrays of a motion; those of ``span`` are checked.

        Parameters
        ----------
        root, quats
            Roots (F, 3) and local rotations (F, J, 4).
        heading : (F,)
            Headings that the body should have.
        planted : (F, 4)
            Contacts.
        span
            First and last frame that is checked.
        clips
            The clips that the frames were made from.
        around
            Limits of other motion that the frames belong to.
        higher
            How much higher the floor is that feet may not be dragged along, metres.
        """
        limits = self.limits_of(clips)
        if higher:
            drags = self.drags_of(clips, higher)
            limits = limits._replace(floor=limits.floor + higher, drag=drags)
        if around is not None:
            # Feet stand where the motion around them does, wherever those of the clips stand.
            limits = merged([limits, around])._replace(floor=around.floor)
        fps, n_frames = self.frames.fps, len(quats)
        positions, world = forward_kinematics(self.frames.skeleton, root, quats)
        series = new_series(self.check_rig, n_frames)
        measure_series(self.check_rig, fps, positions, world, quats, series)
        skipped = np.zeros(n_frames, dtype=np.bool_)
        allowed = np.zeros((0, len(self.check_rig.checked), 3))
        failed = np.zeros((MOST_FOUND, 5))
        checked = CheckedMotion(series, planted, fps, span[0], span[1], skipped, heading)
        n = judge(checked, limits, allowed, no_grounds(), failed)
        failed[:n, 2] -= span[0]
        return Checked(failed[:n], self.check_rig, self.frames.skeleton.names)


def _check_rig(frames: Frames, rig: Rig) -> CheckRig:
    """The rig for the checks, with the collection's own soles."""
    at = np.unique(np.linspace(0, frames.n_rows - 1, SAMPLES).astype(np.int64))
    quats = quat.normalize(frames.quats[at].astype(np.float64))
    pose = forward_kinematics(frames.skeleton, np.zeros((len(at), 3)), quats)
    example = frames.motion(int(frames.starts[0]), int(frames.starts[1]) - 1)
    feet = foot_offsets(frames.skeleton, frames.body_map, motion=example)
    knees = knees_of_pose(frames.skeleton, frames.body_map, feet, pose)
    check_rig = rig_of_body(frames.skeleton, frames.body_map, knees, feet)
    return check_rig._replace(soles=np.array(rig.soles))


def _packed(limits: Limits) -> list[FloatArray]:
    """Limits as arrays of which the larger is always the wider: lower bounds with their sign."""
    return [
        -getattr(limits, name) if name in LOWS else getattr(limits, name) for name in Limits._fields
    ]


def _unpacked(parts: list[FloatArray]) -> Limits:
    for k in _LOWS:
        parts[k] = -parts[k]
    return Limits(*parts)


_LOWS = [k for k, name in enumerate(Limits._fields) if name in LOWS]
