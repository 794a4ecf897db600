"""Ranges of the values that a page sends: wide enough for any use, narrow enough to be safe."""

from __future__ import annotations

import itertools
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

MOST_CLIPS = 16
"""Clips of one blend."""
MOST_RECORDED = 15_000
"""Frames of a recording: a minute at 240 frames a second, and some."""

RequestId = Annotated[int, Meta(ge=0, le=2**53)]
Frame = Annotated[int, Meta(ge=0, le=2**31 - 1)]
"""Frame of a clip. The handler checks that the clip has it."""
Given = Annotated[int, Meta(ge=0, le=2**53)]
"""A number that the server gave out."""
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
BlendFrames = Annotated[int, Meta(ge=1, le=16)]
"""Frames of one step of a live blend."""
StreamFrames = Annotated[int, Meta(ge=1, le=30)]
"""Frames of one step of a live character."""
Clusters = Annotated[int, Meta(ge=2, le=200)]
LookupSize = Annotated[int, Meta(ge=2, le=2000)]
Rescored = Annotated[int, Meta(ge=0, le=4096)]
Rate = Annotated[float, Meta(ge=1.0, le=240.0)]
Seconds = Annotated[float, Meta(ge=0.0, le=30.0)]
"""Seconds of a clip before or after a transition."""
TransitionSeconds = Annotated[float, Meta(ge=0.01, le=10.0)]
TableSeconds = Annotated[float, Meta(ge=0.1, le=10.0)]
Amount = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""A weight, or a wanted value."""
Text = Annotated[str, Meta(max_length=4000)]
"""An id or a name."""
Clips = Annotated[list[Text], Meta(max_length=MOST_CLIPS)]
Weights = Annotated[list[Amount], Meta(max_length=MOST_CLIPS)]
Held = Annotated[list[Text], Meta(max_length=1000)]
"""Keys of motions that the page has already."""

_numbers = itertools.count(1)


class BaseRequest(Struct, tag_field="type", forbid_unknown_fields=True, kw_only=True):
    """What every request has; ``answer`` is the class of its answer, None for a pose."""

    answer: ClassVar[type[Struct] | None] = None
    id: RequestId


def fresh_number() -> int:
    """A number that no session of this server has used before for a result or a live motion."""
    return next(_numbers)
