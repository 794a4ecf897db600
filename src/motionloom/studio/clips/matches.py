"""Clips brought together, kept: what a room asks for twice is made once, and sent once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from motionloom.blending.candidates import Candidate
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
from motionloom.studio.messages.messages import PlantSpans
from motionloom.studio.messages.unique_numbers import fresh_number

__all__ = ["Matched", "Matches", "matched_clips", "plants_from"]

KEPT = 12

Places = tuple[tuple[Candidate, ...], tuple[int, int] | None]
"""Places of the automatic search, best first, and the frames of the one that it takes."""


@dataclass(frozen=True, eq=False)
class Matched:
    """Clips on the first one's skeleton and at its rate."""

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    body: BodyMap
    notes: tuple[str, ...]
    """What was done to bring them there."""
    number: int = 0
    """Tells matched clips apart, so that a page is sent each of them once."""

    places: dict[tuple[float, bool], Places] = field(default_factory=dict, repr=False)
    """Results of the search for places, by length of the blend and whether both must travel."""

    @cached_property
    def check(self) -> QualityCheck:
        """The quality check of what is made from the clips."""
        return QualityCheck(self.motions, footplants=self.footplants, body=self.body)

    @cached_property
    def qualities(self) -> tuple[Quality, ...]:
        """What the clips are like; every result of them is judged against it."""
        return tuple(
            measure_quality(motion, plants, body=self.body)
            for motion, plants in zip(self.motions, self.footplants, strict=True)
        )

    @cached_property
    def moment_m(self) -> Limits:
        """How far these bodies get from themselves in a moment: the scale of a match."""
        return moment_m(self.motions, self.body)

    @cached_property
    def distances(self) -> DistanceMap:
        """How far the first two clips are apart at every pair of frames."""
        a, b = self.motions[:2]
        return distance_map(a, b, body=self.body)

    def key(self, k: int) -> str:
        """Name of the clip's motion as it was sent to a page."""
        return f"{self.number}.{k}"


class Matches:
    """Matched clips of a library; those asked for last are kept.

    The same object comes back for the same wish, so that its ``number`` says whether a page has
    its motions already.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._kept: OrderedDict[bytes, Matched] = OrderedDict()

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
        found = self._kept.pop(key, None)
        if found is None:
            opened = [self.library.open(clip) for clip in clips]
            found = matched_clips(opened, set_by_hand, number=fresh_number())
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found


def matched_clips(
    clips: Sequence[Clip], plants: dict[str, PlantSpans], *, number: int = 0
) -> Matched:
    """Clips on one skeleton and at one rate.

    Parameters
    ----------
    clips
        One or more.
    plants
        Plants set by hand, by clip id; they count in the clip's own frames.
    number
        Tells these matched clips from others.
    """
    first = clips[0].motion
    contacts = [
        # What was detected at another rate is detected again, as the library does.
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
    """The clip's plants, or those set by hand instead; of these, ones that overlap are joined.

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
            '"plants as found" above the timeline removes all plants set by hand.'
        ) from None
