"""Landing: a passage comes down as a body falls, and stands about as high as its windows do.

Windows that are bent to meet a gap's ends keep what they lack there for most of the gap. Where an
end is in the air, or has its legs drawn up, the body would hover over the floor that the windows
stand on.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.rotation.easing import smoothstep
from motionloom.tables.collection.frames import Frames
from motionloom.tables.synthesis.leg_kernels import chain_pose, sole_points
from motionloom.tables.synthesis.passage import Passage
from motionloom.tables.synthesis.synthesis import Rig

GRAVITY = 9.81
"""m/s2."""
CLEAR = 0.03
"""Soles may be this much higher than the windows', metres: an average of feet in different phases
is."""
WIDE_S, EDGE_S = 0.1, 0.15
"""The body comes down within about the first; at the gap's start and end it is where it was
captured, from the second on it may be lower, seconds."""


def land(
    frames: Frames,
    rig: Rig,
    at: IntArray,
    weights: FloatArray,
    passage: Passage,
    stands: BoolArray,
) -> Passage:
    """The passage with its body lowered where both feet are higher than in the windows.

    A body that is in the air at an end falls from there, or rises to it: so high it may be.

    Parameters
    ----------
    frames, rig
        The collection and its skeleton.
    at, weights
        Rows of the windows (K, L) and their weights (K,).
    passage
        Their average.
    stands : (2,)
        Whether the body stands at the gap's start and at its end: the floor is there by as much
        higher than the windows' as its soles are.
    """
    root = np.array(passage.root_positions)
    soles = sole_points(rig, *chain_pose(rig, root, passage.local_quats))[..., 1].min(axis=1)
    floor = weights @ frames.points[at][..., 1].min(axis=-1)
    floor = floor + _raised(soles - floor, stands)
    ways = ((soles, root[:, 1]), (soles[::-1], root[::-1, 1]))
    rise, fall = (_flight(low, height, frames.fps) for low, height in ways)
    highest = np.maximum(np.maximum(rise, fall[::-1]), floor)
    root[:, 1] -= _gentle(np.maximum(soles - highest - CLEAR, 0.0), frames.fps)
    return passage._replace(root_positions=root)


def _raised(excess: FloatArray, stands: BoolArray) -> FloatArray:
    """How much higher the gap's floor is than the windows', by the ends that stand. (L,)."""
    ends = [float(excess[k]) for k, on in zip((0, -1), stands, strict=True) if on]
    return np.linspace(ends[0], ends[-1], len(excess)) if ends else np.zeros(len(excess))


def _flight(soles: FloatArray, height: FloatArray, fps: float) -> FloatArray:
    """Heights (L,) of the soles of a body in free fall from the first frame on."""
    t = np.arange(len(soles)) / fps
    return np.asarray(soles[0] + fps * (height[1] - height[0]) * t - 0.5 * GRAVITY * t * t)


def _gentle(drops: FloatArray, fps: float) -> FloatArray:
    """Drops (L,) that come and go without a jerk, with none at both ends."""
    length, half = len(drops), max(int(WIDE_S * fps), 1)
    parts = np.square(1.0 - np.square(np.arange(-half, half + 1) / (half + 1)))
    smooth = np.convolve(np.pad(drops, half), parts / parts.sum(), mode="valid")
    at = np.arange(length)
    inside = np.minimum(at, length - 1 - at) / max(EDGE_S * fps, 1.0)
    return np.asarray(smooth * smoothstep(np.minimum(inside, 1.0)))
