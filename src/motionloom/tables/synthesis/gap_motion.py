"""The motion around a gap, on the skeleton and at the rate of the collection that fills it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import of_kind
from motionloom.errors import ArrayError
from motionloom.features.glitches.repair import resample_repaired
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.tables.collection.common_skeleton import (
    bones_apart,
    common_of,
    make_rigid,
    onto_common,
)
from motionloom.tables.collection.frames import Frames
from motionloom.tables.synthesis.gap_windows import check_gap

SAME_RATE = 1e-6
"""Rates that differ by less than this part of the collection's are the same."""
EXAMPLE = 240
"""Frames of a captured clip that show how the collection's joints are twisted."""


class GapMotion(NamedTuple):
    """A motion with a gap."""

    motion: Motion
    first: int
    last: int
    """Frames of the gap, both in it."""
    notes: tuple[str, ...] = ()
    """What was changed, in words."""


def matched_gap(frames: Frames, motion: Motion, first: int, last: int) -> GapMotion:
    """The motion resampled and retargeted to a collection where it differs, and its gap there.

    What the motion has in the gap is not read: the frames before and after it are joined by a
    straight way first.
    """
    of_kind(motion, Motion, "motion")
    first, last = check_gap(motion, first, last)
    same_rate = abs(motion.fps - frames.fps) <= SAME_RATE * frames.fps
    if same_rate and fits(motion, frames):
        return GapMotion(motion, first, last)
    notes: list[str] = []
    bridged = _bridged(motion, first, last)
    if not same_rate:
        bridged, repairs = resample_repaired(bridged, frames.fps)
        notes += [f"resampled from {motion.fps:g} to {frames.fps:g} fps", *repairs]
        first, last = _resampled_gap(first, last, motion.fps, frames.fps)
    elif bridged.fps != frames.fps:
        bridged = bridged.replace(fps=frames.fps)
    if not fits(bridged, frames):
        bridged, changes = make_rigid(bridged)
        end = min(EXAMPLE, int(frames.starts[1])) - 1
        example = frames.motion(0, end)
        common = common_of(example, frames.body_map)
        carried = onto_common(bridged, common, example, plants_by_name="thresholds")
        bridged = carried.motion
        notes += [*changes, *carried.notes]
    return GapMotion(bridged, first, last, tuple(notes))


def fits(motion: Motion, frames: Frames) -> bool:
    """Whether a motion has the joints and bones of a collection, all rigid."""
    return (
        motion.joint_translations is None
        and motion.skeleton.same_joints(frames.skeleton)
        and not bones_apart(motion.skeleton, frames.skeleton).any()
    )


def _bridged(motion: Motion, first: int, last: int) -> Motion:
    """The motion with the frames of its gap replaced by a straight way."""
    share = np.linspace(0.0, 1.0, last - first + 3)[1:-1]
    root, quats = np.array(motion.root_positions), np.array(motion.local_quats)
    root[first : last + 1] = root[first - 1] + share[:, None] * (root[last + 1] - root[first - 1])
    quats[first : last + 1] = quat.slerp(
        quats[None, first - 1], quats[None, last + 1], share[:, None]
    )
    moving = motion.joint_translations
    if moving is not None:
        moving = np.array(moving)
        before, after = moving[first - 1], moving[last + 1]
        moving[first : last + 1] = before + share[:, None, None] * (after - before)
    return motion.replace(root_positions=root, local_quats=quats, joint_translations=moving)


def _resampled_gap(first: int, last: int, before: float, after: float) -> tuple[int, int]:
    """The frames of a gap at another rate: all between the last one before it and the next."""
    rate = after / before
    start = int(np.floor((first - 1) * rate + 1e-9)) + 1
    end = int(np.ceil((last + 1) * rate - 1e-9)) - 1
    if end < start:
        raise ArrayError(
            f"The gap must have a frame at the collection's {after:g} fps; frames {first} to "
            f"{last} at {before:g} fps have none. Fill a longer gap."
        )
    return start, end
