"""The ground path of a body, and the clock of its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray

PER_FRAME = 4
"""Grid points per frame: footprints are read between them, frames exactly on them."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Where the body is planned to be at every moment, from before the clip to after it."""

    times: FloatArray
    """Seconds, even; the clip runs from 0 to its duration. Shape (N,)."""
    ground: FloatArray
    """World x and z of the body, metres. Shape (N, 2)."""
    heading: FloatArray
    """Where the body faces, radians, not wrapped. Shape (N,)."""
    phase: FloatArray
    """Gait cycles, rising; whole at left heel strikes. Shape (N,)."""
    frames: slice
    """The clip's own frames on the grid."""

    def when(self, phase: float) -> float:
        """Time at which the gait reaches ``phase``."""
        return float(np.interp(phase, self.phase, self.times))

    def place(self, time: float) -> tuple[FloatArray, float]:
        """Ground position (2,) and heading at ``time``."""
        x, z = (float(np.interp(time, self.times, self.ground[:, c])) for c in (0, 1))
        return np.array([x, z]), float(np.interp(time, self.times, self.heading))


def lay_course(
    *,
    duration_s: float,
    fps: float,
    margin_s: float,
    velocity: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    heading: Callable[[FloatArray], FloatArray],
    phase: Callable[[FloatArray], FloatArray],
) -> Course:
    """The course whose body moves at ``velocity`` (forward, leftward), from the origin at time 0.

    Parameters
    ----------
    duration_s, fps
        Of the clip; it has ``round(duration_s * fps) + 1`` frames.
    margin_s
        How far the course reaches beyond both ends of the clip, for the steps that cross them.
    velocity, heading, phase
        Functions of time, seconds (N,).
    """
    n_frames = round(duration_s * fps) + 1
    before = int(np.ceil(margin_s * fps)) * PER_FRAME
    step = 1.0 / (fps * PER_FRAME)
    n = 2 * before + (n_frames - 1) * PER_FRAME + 1
    times = np.asarray((np.arange(n) - before) * step, dtype=np.float64)
    facing = heading(times)
    forward, left = velocity(times)
    sin, cos = np.sin(facing), np.cos(facing)
    rate = np.stack(np.broadcast_arrays(forward * sin + left * cos, forward * cos - left * sin), 1)
    ground = np.zeros((n, 2))
    ground[1:] = np.cumsum(0.5 * step * (rate[1:] + rate[:-1]), axis=0)
    ground -= ground[before]
    return Course(
        times,
        ground,
        facing,
        phase(times),
        slice(before, before + (n_frames - 1) * PER_FRAME + 1, PER_FRAME),
    )
