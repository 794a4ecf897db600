"""Planned: the second that a live character would play next, and what is blended out of it.

Whoever is told to go elsewhere in the middle of a transition leaves a motion that no clip has: the
rest of the transition, and then the clip that it was to arrive in. Those frames are a window like
any other. Blended as the source, they begin with the pose and the speed that are shown, and what
stands is held where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.transitions.collecting.frames import ClipFrames, Frames, clip_frames
from motionloom.transitions.making.inertialize import decayed
from motionloom.transitions.making.rig import ROWS, Rows
from motionloom.transitions.making.synthesis import Synthesis, make_frames
from motionloom.transitions.scoring.weights import weights_of
from motionloom.transitions.tables.ready_table import ReadyTable

__all__ = ["Planned", "blend_planned", "fade_into", "joined", "seen_from_body"]

SETTLE_S = 0.4
"""Seconds in which what is left of a clip settles into a captured motion that goes on."""


class Planned(NamedTuple):
    """Frames where a character stands, one after another."""

    root: FloatArray
    """Metres. (n, 3)"""
    quats: FloatArray
    """Local rotations. (n, J, 4)"""
    heading: FloatArray
    """Radians. (n,)"""
    planted: BoolArray
    """Left heel, left ball, right heel, right ball. (n, 4)"""

    def part(self, first: int, stop: int | None = None) -> Planned:
        """Some of the frames, as slices count them."""
        some = slice(first, stop)
        return Planned(self.root[some], self.quats[some], self.heading[some], self.planted[some])


def joined(parts: Sequence[Planned]) -> Planned:
    """Frames one part after another."""
    return Planned(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def fade_into(before: Planned, after: Planned, fps: float) -> Planned:
    """``after``, which takes over from the last frame of ``before``, without its first frame.

    It begins with the pose and the speed of ``before``; the difference fades.

    Parameters
    ----------
    before
        Two frames at least, or one that stands still.
    after
        Two frames at least; the first one stands where ``before`` ends.
    fps
        Frames per second.
    """
    times = np.arange(len(after.root)) / fps
    last, previous = before.part(-1), before.part(-2)
    turn = quat.log(quat.multiply(last.quats[0], quat.conjugate(after.quats[0])))
    # Speeds by one step on each side: what comes before the new frames is not looked up.
    speeds = [
        quat.log(quat.multiply(two[1], quat.conjugate(two[0]))) * fps
        for two in (previous.quats[[0, -1]], after.quats[:2])
    ]
    lift = last.root[0, 1:2] - after.root[0, 1:2]
    climbs = [(two[1, 1:2] - two[0, 1:2]) * fps for two in (previous.root[[0, -1]], after.root[:2])]
    turns = decayed(turn, speeds[0] - speeds[1], times, blend_s=SETTLE_S)
    lifts = decayed(lift, climbs[0] - climbs[1], times, blend_s=SETTLE_S)
    root = np.array(after.root)
    root[:, 1] += lifts[:, 0]
    quats = quat.multiply(quat.exp(turns), after.quats)
    return Planned(root, quats, after.heading, after.planted).part(1)


def seen_from_body(frames: Frames, planned: Planned) -> ClipFrames:
    """Planned frames as a collection keeps its clips."""
    motion = Motion(frames.skeleton, planned.root, planned.quats, frames.fps)
    return clip_frames(motion, body=frames.body_map, footplants=Footplants(planned.planted))


def blend_planned(table: ReadyTable, own: ClipFrames, windows: Sequence[int]) -> Synthesis:
    """Frames that leave a planned window over captured ones, where the character stands.

    Parameters
    ----------
    table
        Made ready.
    own
        Of :func:`seen_from_body`: as many frames as the table's windows have; the first is shown
        already.
    windows
        First rows of the other windows, the target's last.
    """
    length = table.length
    rows = np.concatenate([np.arange(row, row + length) for row in windows])
    columns = []
    for name in ROWS:
        stored = getattr(table.rows, name)
        columns.append(np.concatenate([getattr(own, name).astype(stored.dtype), stored[rows]]))
    n_ways = 1 + len(windows)
    at = length * np.arange(n_ways)[None, :] + np.arange(length)[:, None]
    speed = max(table.pace_at(row)[0] for row in windows)
    weights = weights_of(table.family, n_ways, length)
    fps = table.frames.fps
    return make_frames(Rows(*columns), table.rig, at, weights, fps, speed)
