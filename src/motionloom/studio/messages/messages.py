"""Every message between page and server. ``client/src/messages.ts`` says the same in TypeScript.

One WebSocket carries all of it, in five forms:

- **Requests**, page to server: JSON text, one object with ``type`` (the tag below) and ``id`` (a
  number that the page chooses). Fields that are not named here are refused.
- **Answers**, server to page: one for every request, with its ``id``. JSON text where there are
  only words and numbers; where there are arrays too, one binary message with the same JSON as its
  head (``wire.py``). A failure is ``{"type": "error", "id", "text", "code",
  "cancelled"}``; the text is for people, the codes are in ``notices.py``.
- **Progress**, server to page: ``{"type": "progress", "id", "stage", "part", "left_s"}`` for a
  request that takes longer than half a second. ``part`` (0 to 1) and ``left_s`` may be null.
- **News**, server to page: ``{"type": "library.changed", "id": 0, "name", "items", "added",
  "changed", "removed"}`` when files of the folder come, change or go.
- **Poses**, server to page: one binary message for every ``control.step`` and ``stream.step``.

Frames, metres, seconds and radians as everywhere in motionloom. Clips go by their library id,
results by their number; no message holds a path.

To add a request: a struct here, a line in :data:`Request`, a function in the room's module, a line
in ``session.py``, and the two types in ``messages.ts``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from motionloom.studio.messages.bounds import (
    MOST_RECORDED,
    Amount,
    BlendFrames,
    Clips,
    Frame,
    Given,
    Held,
    RequestId,
    Text,
    TransitionSeconds,
    Weights,
)
from motionloom.studio.messages.table_messages import TableRequest

__all__ = ["Head", "Request", "decode_request", "read_head", "why_invalid"]

MOST_SPANS = 20_000
MOST_REASON = 300
"""Letters of a reason."""
PlantSpans = Annotated[
    dict[Text, Annotated[list[tuple[Frame, Frame]], Meta(max_length=MOST_SPANS)]],
    Meta(max_length=8),
]
"""All plants of a clip: first and last planted frame of every plant, per kind."""
Parameters = Annotated[dict[Text, Amount], Meta(max_length=8)]


class _Asked(Struct, tag_field="type", forbid_unknown_fields=True, kw_only=True):
    id: RequestId


class Cancel(_Asked, tag="cancel"):
    """Stop another request of this page -> ``done``: ``stopped``, whether there was one.

    The request that is stopped answers with an error whose ``code`` is ``cancelled``.
    """

    request: Given


class LibraryList(_Asked, tag="library.list"):
    """Every clip that can be opened -> ``library``: folder's name and items (:class:`Item`)."""


class LibraryPreview(_Asked, tag="library.preview"):
    """What one clip is -> ``preview``: facts (:class:`Facts`) and a few frames to draw.

    Arrays: ``points`` (N, P, 3) float32.
    """

    clip: Text


class ClipOpen(_Asked, tag="clip.open"):
    """A whole clip to show -> ``clip``: :class:`Shown` and findings."""

    clip: Text
    plants: PlantSpans | None = None
    """Plants set by hand; detected where None."""


class _Making(_Asked, kw_only=True):
    have: Held = []
    """Keys of sources that the page holds: they come without ``shown`` and arrays."""


class TransitionMake(_Making, tag="transition.make", kw_only=True):
    """From A into B -> ``result`` with ``detail`` of room ``transition``.

    ``detail`` has ``at`` and ``length_s`` as they were used, ``candidates`` of the automatic
    search, the ``best`` of them, and ``grid_range``, the ends of the map's scale in metres.

    Further arrays: ``grid`` (n, m) float32, smallest distance of the bodies in metres in every
    ``stride`` frames of A and B; ``grid_best`` (n, m, 2) int32, the frames at which it is;
    ``path`` (N, 2) float32, the frames of A and B that are blended.
    """

    a: Text
    b: Text
    at: tuple[Frame, Frame] | None = None
    length_s: TransitionSeconds = 0.6
    moving: bool = False
    timewarp: bool = True
    clean: bool = True
    plants: Annotated[dict[Text, PlantSpans], Meta(max_length=64)] = {}
    """Plants set by hand, by clip id."""


class BlendMake(_Making, tag="blend.make", kw_only=True):
    """A whole blend -> ``result`` with ``detail`` of room ``blend``.

    Weights, or named parameters with their wanted values, or weights that a hand made while it
    steered.
    """

    clips: Clips
    weights: Weights | None = None
    parameters: Parameters | None = None
    recorded: Annotated[list[Weights], Meta(max_length=MOST_RECORDED)] | None = None
    """Weights of every frame; the curve goes round as often as that takes."""
    clean: bool = True


class BlendSpace(_Asked, tag="blend.space"):
    """What the clips can be steered by -> ``space``: names, ranges, each clip's own values."""

    clips: Clips


class ControlStart(_Asked, tag="control.start"):
    """Begin a live blend -> ``control``: its number ``live`` and its :class:`Looks`."""

    clips: Clips
    loop: bool = True


class ControlStep(_Asked, tag="control.step"):
    """The next frame -> a pose, one binary message with ``live`` and ``frame``; see ``wire.py``."""

    live: Given
    weights: Weights | None = None
    parameters: Parameters | None = None
    frames: BlendFrames = 1
    """How far to go on: clips have more frames a second than screens."""
    record: bool = False
    """Keep the weights of these frames; they come with the answer to ``control.stop``."""


class ControlStop(_Asked, tag="control.stop"):
    """End a live blend -> ``done`` with ``recorded``, the weights of every frame that was kept."""

    live: Given


class SpliceMake(_Making, tag="splice.make", kw_only=True):
    """One clip's upper body on another's legs -> ``result`` with ``detail`` of room ``splice``.

    With ``compare`` its sources are the other three methods' results, and ``detail.methods`` has
    the figures of all four.
    """

    upper: Text
    lower: Text
    method: Literal["naive", "time", "time+space", "full"] = "full"
    where: Text = "torso"
    when_short: Literal["crop", "loop", "hold"] = "crop"
    soft: bool = False
    keep_bend: bool = False
    compare: bool = False


class RenderMake(_Asked, tag="render.make"):
    """A result as a picture or film -> ``export``, as of ``export.make``."""

    result: Given
    kind: Literal["png", "svg", "gif", "mp4"] = "png"
    view: Literal["side", "front", "top", "three-quarter"] = "three-quarter"


class ExportMake(_Asked, tag="export.make"):
    """A result (or clip) as a file -> ``export``: ``url`` below the page's own, name, bytes."""

    what: Text
    """Number of a result as text, or the id of a clip."""
    format: Text
    preset: Text | None = None


class PageMake(_Asked, tag="page.make"):
    """A result as one offline page with its sources -> ``export``, as of ``export.make``."""

    result: Given


class ExportFormats(_Asked, tag="export.formats"):
    """What can be written -> ``formats``: formats, presets, and kinds of ``pictures``."""


class ProjectSave(_Asked, tag="project.save"):
    """Keep the page's state -> ``done``. The server does not look into it."""

    project: dict[str, Any]


class ProjectLoad(_Asked, tag="project.load"):
    """The state saved last -> ``project``: ``project`` or null; ``problem`` of a damaged file."""


Request = (
    Cancel
    | LibraryList
    | LibraryPreview
    | ClipOpen
    | TransitionMake
    | BlendMake
    | BlendSpace
    | ControlStart
    | ControlStep
    | ControlStop
    | SpliceMake
    | RenderMake
    | ExportMake
    | ExportFormats
    | PageMake
    | ProjectSave
    | ProjectLoad
    | TableRequest
)

_decoder: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)


def decode_request(text: str | bytes) -> Request:
    """The request in a message.

    Raises
    ------
    msgspec.MsgspecError
        It is no request, or a field is not in its range.
    RecursionError
        It is nested too deeply.
    """
    return _decoder.decode(text)


class Head(Struct):
    """What every request has."""

    id: RequestId = 0
    type: str = ""


_heads = msgspec.json.Decoder(Head)


def read_head(text: str | bytes) -> Head:
    """Number and type of a request, whatever else is wrong with it; an empty head without them."""
    try:
        return _heads.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return Head()


def why_invalid(error: Exception) -> str:
    """Why a message is not valid, in words for the page.

    Parameters
    ----------
    error
        What :func:`decode_request` raised.
    """
    if isinstance(error, RecursionError):
        return "The message must not be nested more than a few levels deep."
    problem, _, place = str(error)[:MOST_REASON].partition(" - at `")
    field = place.removesuffix("`").removeprefix("$").removeprefix(".")
    if not field:
        return f"The message is not valid: {problem}."
    return f"`{field}` is not valid: {problem}."
