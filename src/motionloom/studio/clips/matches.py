"""Matched clips, cached: what a tab needs twice is computed once and sent once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from motionloom.blending.join import Candidate
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.quality import Quality, measure_quality
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.retargeting.match import match_clips
from motionloom.studio.clips.distance_map import DistanceMap, distance_map
from motionloom.studio.clips.library import Clip, Library
from motionloom.studio.clips.verdict_limits import Limits, moment_m
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.messages.messages import PlantSpans

STORED = 12

Places = tuple[tuple[Candidate, ...], tuple[int, int] | None]
"""Places of the automatic search, best first, and the frames of the one that it takes."""


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
