"""Clips brought together, kept: what a room asks for twice is made once, and sent once."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from motionloom.studio.finishing import Matched, match_clips
from motionloom.studio.library import Library
from motionloom.studio.messages import PlantSpans

__all__ = ["Matches"]

KEPT = 12


class Matches:
    """Matched clips of a library; those asked for last are kept.

    The same object comes back for the same wish, so that its ``number`` says whether a page has
    its motions already.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._numbers = itertools.count(1)
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
        key = msgspec.json.encode([list(clips), sorted(set_by_hand.items())])
        found = self._kept.pop(key, None)
        if found is None:
            opened = [self.library.open(clip) for clip in clips]
            found = match_clips(opened, set_by_hand, number=next(self._numbers))
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found
