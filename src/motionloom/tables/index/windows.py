"""Windows: the second of motion that starts at a row, as numbers that can be compared.

A window is named by its first row. It is seen from the body in its centre frame, so that windows
which differ in nothing but place and heading are the same, and their distance is Euclidean: one
matrix product for many windows at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from motionloom._arrays import IntArray
from motionloom._core import kernel
from motionloom.body.body_map import ROLES, BodyMap
from motionloom.errors import TableError
from motionloom.motion.motion import Skeleton
from motionloom.tables.collection.frames import RELEASED_BYTES, FloatArray32, Frames, release_frames
from motionloom.tables.index.matrices import shortened

RATE_HZ = 15.0
"""Windows are sampled at about this rate: denser samples cost more and cluster no better."""
BLOCK = 2048
"""Windows whose features are held at a time."""
ZERO_LENGTH_M = 1e-4
"""A joint nearer than this to its parent says nothing that the parent does not say."""

_features = kernel("ml_window_features")


@dataclass(frozen=True, slots=True, eq=False)
class WindowShape:
    """What of a window is compared."""

    length: int
    """Frames in a window, T."""
    offsets: IntArray
    """Frames of the window that are looked at, 0 to T - 1. (S,)"""
    joints: IntArray
    """Joints that are looked at. (J',)"""

    @property
    def centre(self) -> int:
        """The frame whose root stands over the origin and faces heading 0."""
        return self.length // 2

    @property
    def width(self) -> int:
        """How many numbers describe a window."""
        return 3 * len(self.offsets) * len(self.joints)


@lru_cache(maxsize=8)  # asked for with every context, and always for the same skeleton
def compared_joints(skeleton: Skeleton, body: BodyMap) -> IntArray:
    """Joints that are compared: those of the body's roles and between them, each place once.

    Fingers, props and faces are left out: they are many, and small. So are joints that lie on
    their parent. A skeleton without roles is compared by all its joints that have a length.
    """
    used: set[int] = set()
    for role in ROLES:
        value = getattr(body, role)
        for joint in value if isinstance(value, tuple) else (value,):
            while joint is not None and joint >= 0 and joint not in used:
                used.add(int(joint))
                joint = int(skeleton.parents[joint])
    length = np.linalg.norm(skeleton.offsets, axis=-1)
    joints = [
        joint
        for joint in (sorted(used) or range(skeleton.n_joints))
        if skeleton.parents[joint] < 0 or length[joint] > ZERO_LENGTH_M
    ]
    return np.array(joints, dtype=np.int64)


def window_shape(frames: Frames, length: int, *, joints: IntArray | None = None) -> WindowShape:
    """What is compared of windows of ``length`` frames.

    Parameters
    ----------
    frames
        The collection.
    length
        Frames in a window, at least 2.
    joints
        Joints to look at; :func:`compared_joints` by default.
    """
    if length < 2:
        raise TableError(f"A window must have at least 2 frames, got {length}.")
    step = max(1, min(round(frames.fps / RATE_HZ), length // 2))
    offsets = np.arange((length // 2) % step, length, step, dtype=np.int64)
    if joints is None:
        joints = compared_joints(frames.skeleton, frames.body_map)
    return WindowShape(length, offsets, np.ascontiguousarray(joints, dtype=np.int64))


def windows_of(frames: Frames, length: int, *, stride: int = 1, at_least: int = 1) -> IntArray:
    """First rows of the windows, if there are enough of them.

    Parameters
    ----------
    frames
        The collection.
    length
        Frames in a window.
    stride
        Frames from a window's start to the next one's.
    at_least
        How many windows the work needs.
    """
    if stride < 1:
        raise TableError(f"`stride` must be at least 1 frame, got {stride}.")
    rows = frames.windows(length, stride=stride)
    if len(rows) >= at_least:
        return rows
    longest = int(np.diff(frames.starts).max(initial=0))
    seconds = length / frames.fps
    if longest < length:
        raise TableError(
            f"A clip must have at least {length} frames ({seconds:g} s at {frames.fps:g} fps), but "
            f"the longest of the {frames.n_clips} clips has {longest}. Choose a shorter "
            "`length_s`, or add longer clips."
        )
    raise TableError(
        f"The collection must have at least {at_least} windows of {seconds:g} s (one every "
        f"{stride} frames), but its {frames.n_clips} clips have {len(rows)}. Ask for fewer "
        "clusters, a smaller stride, or add clips."
    )


def window_from(frames: Frames, row: int, length: int) -> tuple[int, int]:
    """First row of the window that starts at ``row``, and by how many frames it had to start early.

    Near a clip's end there is no such window; the clip's last one is then taken.
    """
    _, last = _clip_windows(frames, row, length)
    return min(row, last), max(0, row - last)


def window_to(frames: Frames, row: int, length: int) -> tuple[int, int]:
    """First row of the window that ends at ``row``, and by how many frames it had to end late.

    Near a clip's start there is no such window; the clip's first one is then taken.
    """
    first, _ = _clip_windows(frames, row, length)
    wanted = row - length + 1
    return max(wanted, first), max(0, first - wanted)


def _clip_windows(frames: Frames, row: int, length: int) -> tuple[int, int]:
    """First rows of the first and of the last window of the clip that ``row`` is in."""
    clip = frames.clip_at(row)
    first, last = int(frames.starts[clip]), int(frames.starts[clip + 1]) - length
    if last < first:
        raise TableError(
            f"Clip {frames.ids[clip]!r} must have at least {length} frames "
            f"({length / frames.fps:g} s) to be gone from or to, but it has "
            f"{last - first + length}."
        )
    return first, last


def window_features(frames: Frames, rows: IntArray, shape: WindowShape) -> FloatArray32:
    """Joint positions of windows, seen from the body in each one's centre frame, (N, width).

    They are scaled so that the distance of two is the root mean square over joints and frames of
    how far a joint of one is from the same joint of the other, in metres.

    Parameters
    ----------
    frames
        The collection.
    rows
        First rows of the windows. (N,)
    shape
        What is compared.
    """
    out = np.zeros((len(rows), shape.width), dtype=np.float32)
    n_rows, n_joints, _ = frames.body.shape
    _features(
        n_rows,
        n_joints,
        frames.heading,
        frames.ground,
        frames.body,
        len(rows),
        np.ascontiguousarray(rows, dtype=np.int64),
        shape.centre,
        len(shape.offsets),
        shape.offsets,
        len(shape.joints),
        shape.joints,
        out,
    )
    return out


def stream_features(
    frames: Frames, rows: IntArray, shape: WindowShape, *, block: int = BLOCK
) -> Iterator[tuple[slice, FloatArray32]]:
    """Features of many windows, ``block`` windows at a time: which of ``rows``, and the numbers.

    Rows that are mapped from files do not stay in memory once they are read.
    """
    read = 0
    for first in range(0, len(rows), block):
        part = slice(first, min(first + block, len(rows)))
        yield part, window_features(frames, rows[part], shape)
        read += abs(int(rows[part.stop - 1] - rows[part.start])) * frames.body[0].nbytes
        if read > RELEASED_BYTES:
            release_frames(frames)
            read = 0


def distances(a: FloatArray32, b: FloatArray32) -> FloatArray32:
    """Distance of every window of ``a`` (N, D) from every one of ``b`` (M, D), in metres."""
    middle = b.mean(axis=0, dtype=np.float64)
    step, (these, those) = shortened(b.shape[1], a - middle, b - middle)
    squared = these @ those.T  # of short numbers: nothing is rounded
    squared *= -2.0
    squared += np.square(these).sum(axis=1)[:, None]
    squared += np.square(those).sum(axis=1)
    np.sqrt(np.maximum(squared, 0.0, out=squared), out=squared)
    return (step * squared).astype(np.float32)
