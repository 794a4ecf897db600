"""Clips on one skeleton and at one rate, as a result needs them, and how far apart they are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._progress import report_step
from motionloom.blending.join import Candidate
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.quality import Quality, measure_quality
from motionloom.motion.motion import Footplants, Motion
from motionloom.registration.timewarp import distance_grid, point_cloud
from motionloom.retargeting.match import match_clips
from motionloom.studio.clips.library import Clip, Library
from motionloom.studio.clips.verdict_limits import Limits, moment_m
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.messages.messages import PlantSpans

STORED = 12
Places = tuple[tuple[Candidate, ...], tuple[int, int] | None]
"""Places of the automatic search, best first, and the frames of the one that it takes."""
MOST_CELLS = 240
"""Rows or columns of the map."""
RATE_HZ = 30.0
WINDOW_S = 0.17
"""Rate and window of the comparison: those of the search for places."""
BLOCK_CELLS = 2_000_000
"""Pairs of frames that are compared at a time."""
HIGH = 98.0
"""Percentile of the distances at which the map's scale ends."""


@dataclass(frozen=True, eq=False)
class Matched:
    """Clips on the first one's skeleton and at its rate."""

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    body: BodyMap
    notes: tuple[str, ...]
    """What matching changed."""
    number: int = 0
    """Identifies these matched clips, so that each is sent to a page once."""

    places: dict[tuple[float, bool], Places] = field(default_factory=dict, repr=False)
    """Results of the search for places, by length of the blend and whether both must move."""

    @cached_property
    def check(self) -> QualityCheck:
        """The quality check of results from the clips."""
        return QualityCheck(self.motions, footplants=self.footplants, body=self.body)

    @cached_property
    def qualities(self) -> tuple[Quality, ...]:
        """Quality of the clips, the reference for every result of them."""
        return tuple(
            measure_quality(motion, plants, body=self.body)
            for motion, plants in zip(self.motions, self.footplants, strict=True)
        )

    @cached_property
    def moment_m(self) -> Limits:
        """How far these bodies move in a moment: the scale of a match."""
        return moment_m(self.motions, self.body)

    @cached_property
    def distances(self) -> DistanceMap:
        """Distance of the first two clips at every pair of frames."""
        a, b = self.motions[:2]
        return distance_map(a, b, body=self.body)

    def key(self, k: int) -> str:
        """Name of the clip's motion for pages."""
        return f"{self.number}.{k}"


class Matches:
    """Matched clips of a library; the last ones are cached.

    The same request gives the same object: its ``number`` shows whether a page has its motions.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._stored: OrderedDict[bytes, Matched] = OrderedDict()

    def of(self, clips: Sequence[str], plants: dict[str, PlantSpans] | None = None) -> Matched:
        """The clips on the first one's skeleton and at its rate.

        Parameters
        ----------
        clips
            By their ids.
        plants
            Those set by hand, by clip.
        """
        set_by_hand = {clip: spans for clip, spans in (plants or {}).items() if clip in clips}
        versions = [self.library.version(clip) for clip in clips]
        key = msgspec.json.encode([versions, sorted(set_by_hand.items())])
        matched = self._stored.pop(key, None)
        if matched is None:
            opened = [self.library.open(clip) for clip in clips]
            matched = matched_clips(opened, set_by_hand, number=fresh_number())
        self._stored[key] = matched
        while len(self._stored) > STORED:
            self._stored.popitem(last=False)
        return matched


def matched_clips(
    clips: Sequence[Clip], plants: dict[str, PlantSpans], *, number: int = 0
) -> Matched:
    """Clips on one skeleton and at one rate.

    Parameters
    ----------
    clips
        One or more.
    plants
        Plants set by hand, by clip id, in frames of the clip.
    number
        Identifies the matched clips.
    """
    first = clips[0].motion
    contacts = [
        # Contacts at another rate are detected again, as the public functions do.
        plants_from(clip, plants.get(clip.id))
        if clip.id in plants or clip.motion.fps == first.fps
        else None
        for clip in clips
    ]
    matched = match_clips(
        [clip.motion for clip in clips],
        footplants=contacts,
        bodies=[clip.body for clip in clips],
        names=[clip.id for clip in clips],
    )
    notes = [
        f"{clip.id}, {note}"
        for clip, changed in zip(clips, matched.notes, strict=True)
        for note in changed
    ]
    return Matched(matched.motions, matched.footplants, matched.body, tuple(notes), number)


def plants_from(clip: Clip, spans: PlantSpans | None) -> Footplants | None:
    """The clip's plants, or those set by hand; overlapping ones are merged.

    Raises
    ------
    ArrayError
        A kind is unknown, or a plant ends before it begins or lies outside the clip.
    """
    if spans is None:
        return clip.footplants
    try:
        return Footplants.from_intervals(
            {kind: tuple(listed) for kind, listed in spans.items()}, clip.motion.n_frames
        )
    except ArrayError as error:
        raise ArrayError(
            f"The plants set by hand for {clip.id} do not fit the clip: {error} The button "
            '"use detected plants" above the timeline removes all plants set by hand.'
        ) from None


@dataclass(frozen=True, slots=True, eq=False)
class DistanceMap:
    """Distances in metres; a cell of several frames has the smallest of them."""

    distances: FloatArray
    """Shape (n, m), float32."""
    best: npt.NDArray[np.int32]
    """Frames of A and B at which each cell has its distance. Shape (n, m, 2)."""
    stride: int
    """Frames of A and of B in a cell."""

    @property
    def range_m(self) -> tuple[float, float]:
        """Ends of the scale: the smallest distance, and one that few cells exceed."""
        return float(self.distances.min()), float(np.percentile(self.distances, HIGH))


def distance_map(a: Motion, b: Motion, *, body: BodyMap) -> DistanceMap:
    """The distance map of two clips on one skeleton at one rate."""
    step = max(1, round(a.fps / RATE_HZ))
    clouds = [point_cloud(motion, body=body) for motion in (a, b)]
    rows, columns = (cloud.points[::step] for cloud in clouds)
    group = -(-max(len(rows), len(columns)) // MOST_CELLS)
    half = max(1, round(0.5 * (WINDOW_S * a.fps / step - 1.0)))
    high = max(1, BLOCK_CELLS // (len(columns) * group)) * group
    parts = []
    for first in range(0, len(rows), high):
        report_step("comparing the clips", first, len(rows))
        low, end = max(0, first - half), min(len(rows), first + high + half)
        cost = distance_grid(rows[low:end], columns, clouds[0].weights, half_window=half).cost
        block = np.sqrt(cost[first - low : first - low + high]).astype(np.float32)
        parts.append(_smallest(block, group, first))
    distances, best = (np.concatenate(each) for each in zip(*parts, strict=True))
    return DistanceMap(distances, best * np.int32(step), step * group)


def _smallest(
    block: npt.NDArray[np.float32], group: int, first: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Smallest distance of every cell of ``group`` by ``group`` pairs, and where it is."""
    n, m = -(-block.shape[0] // group), -(-block.shape[1] // group)
    padded = np.full((n * group, m * group), np.inf, dtype=np.float32)
    padded[: block.shape[0], : block.shape[1]] = block
    cells = padded.reshape(n, group, m, group).swapaxes(1, 2).reshape(n, m, group * group)
    at = np.argmin(cells, axis=-1)
    row = first + group * np.arange(n)[:, None] + at // group
    column = group * np.arange(m)[None, :] + at % group
    return cells.min(axis=-1), np.stack([row, column], axis=-1).astype(np.int32)
