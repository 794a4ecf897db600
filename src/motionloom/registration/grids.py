"""Grids: clips at the rate at which they are compared, and the distances between their frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.body.facing import facing
from motionloom.errors import SkeletonMismatchError
from motionloom.features.pointcloud import PointCloud
from motionloom.motion.motion import Motion
from motionloom.registration.distance import DistanceGrid, distance_grid
from motionloom.registration.long_clips import LongGrid
from motionloom.retargeting.match import clip_names

GRID_RATE = 30.0
"""Frames per second that the grid looks at, as in [KG03]_; more says nothing new about a body."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A motion at the grid's rate."""

    points: FloatArray
    roots: FloatArray
    headings: FloatArray
    """Where the body faces, radians. (n,)"""


def _headings(clip: Motion, body: BodyMap) -> FloatArray:
    """Where the body faces, radians (F,); nan where the skeleton has neither hips nor shoulders."""
    try:
        return facing(clip, body=body)
    except SkeletonMismatchError:
        return np.full(clip.n_frames, np.nan)


def named_clip(clips: Sequence[Motion], k: int) -> str:
    """What errors call a clip: its letter and, where it has one, its name."""
    letter, name = clip_names(len(clips))[k], clips[k].name
    return f"clip {letter} ({name})" if name else f"clip {letter}"


class Grids:
    """Distance grids between clips, each built when it is first asked for.

    Parameters
    ----------
    clips, clouds
        Clips at one rate, and their point clouds.
    window_s
        Seconds over which frames are compared.
    body
        Roles of their joints.
    """

    def __init__(
        self,
        clips: Sequence[Motion],
        clouds: Sequence[PointCloud],
        window_s: float,
        body: BodyMap,
    ) -> None:
        self.stride = max(1, round(clips[0].fps / GRID_RATE))
        """Frames of a clip from one row of a grid to the next."""
        self.rate = clips[0].fps / self.stride
        """Rows per second."""
        longest = 2.0 * max(clip.n_frames for clip in clips)  # a longer window compares no more
        self._half = max(0, round(0.5 * (min(window_s * self.rate, longest) - 1.0)))
        self.weights = clouds[0].weights
        self.clips = [
            Sampled(
                cloud.points[:: self.stride],
                clip.root_positions[:: self.stride],
                _headings(clip, body)[:: self.stride],
            )
            for cloud, clip in zip(clouds, clips, strict=True)
        ]
        self.names = [named_clip(clips, k) for k in range(len(clips))]
        """What errors call the clips."""
        self._grids: dict[tuple[int, int], DistanceGrid] = {}

    def __call__(self, a: int, b: int) -> DistanceGrid:
        """The grid between clips ``a`` and ``b``."""
        if (a, b) not in self._grids:
            report_step("comparing clips", len(self._grids), len(self.clips) ** 2)
            self._grids[a, b] = distance_grid(
                self.clips[a].points, self.clips[b].points, self.weights, half_window=self._half
            )
        return self._grids[a, b]

    def long(self, a: int, b: int) -> LongGrid:
        """The same for clips whose whole grid would be too large."""
        return LongGrid(self.clips[a].points, self.clips[b].points, self.weights, self._half)
