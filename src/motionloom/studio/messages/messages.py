"""Every request that a page sends. ``client/src/messages.ts`` has the same types in TypeScript.

One WebSocket carries all of it, in five forms:

- **Requests**, page to server: JSON text, one object with ``type`` (the tag below) and ``id`` (a
  number that the page chooses). Unknown fields are refused.
- **Answers**, server to page: one for every request, with its ``id``; the classes are in
  ``answers.py`` and ``table_messages.py``. JSON text without arrays; with arrays one binary message
  with the same JSON as its head (``wire.py``). A failure is an ``ErrorNotice`` of ``notices.py``.
- **Progress**, server to page: ``ProgressNotice`` for a request that takes longer than half a
  second.
- **News**, server to page: ``LibraryChanged`` when files of the folder are added, changed or
  removed; its ``id`` is 0.
- **Poses**, server to page: one binary message for every ``control.step`` and ``stream.step``.

Frames, metres, seconds and radians as everywhere in motionloom. Clips go by their library id,
results by their number; no message has a path in it.

To add a request: a struct here that names its ``answer``, a line in :data:`Request`, a function in
the tab's module of ``panels``, and a line in ``session.py``. Then run
``scripts/generate_messages.py``, which writes the types of the client.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, Struct, field

from motionloom.studio.messages import answers
from motionloom.studio.messages.bounds import (
    MOST_RECORDED,
    Amount,
    BaseRequest,
    BlendFrames,
    Clips,
    Frame,
    Given,
    RequestId,
    Text,
    TransitionSeconds,
    Weights,
)
from motionloom.studio.messages.result_messages import MakeRequest
from motionloom.studio.messages.table_messages import TableRequest

MOST_SPANS = 20_000
MOST_REASON = 300
"""Letters of a reason."""
PlantSpans = Annotated[
    dict[Text, Annotated[list[tuple[Frame, Frame]], Meta(max_length=MOST_SPANS)]],
    Meta(max_length=8),
]
"""All plants of a clip: first and last planted frame of every plant, per kind."""
Parameters = Annotated[dict[Text, Amount], Meta(max_length=8)]


class Cancel(BaseRequest, tag="cancel"):
    """Stop another request of this page.

    The stopped request is answered with an error whose ``code`` is ``cancelled``.
    """

    answer: ClassVar = answers.Stopped
    request: Given


class LibraryList(BaseRequest, tag="library.list"):
    """List every clip that can be opened."""

    answer: ClassVar = answers.LibraryListed


class LibraryPreview(BaseRequest, tag="library.preview"):
    """Preview one clip: its facts and a few frames to draw."""

    answer: ClassVar = answers.Preview
    clip: Text


class ClipOpen(BaseRequest, tag="clip.open"):
    """Open a whole clip."""

    answer: ClassVar = answers.ClipOpened
    clip: Text
    plants: PlantSpans | None = None
    """Plants set by hand; detected where None."""


class TransitionMake(MakeRequest, tag="transition.make", kw_only=True):
    """Make a transition from A into B; its detail is ``TransitionDetail``.

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
    plants: Annotated[dict[Text, PlantSpans], Meta(max_length=64)] = field(default_factory=dict)
    """Plants set by hand, by clip id."""


class BlendMake(MakeRequest, tag="blend.make", kw_only=True):
    """Make a whole blend; its detail is ``BlendDetail``.

    It has weights, or named parameters with their wanted values, or recorded weights of a live
    blend.
    """

    clips: Clips
    weights: Weights | None = None
    parameters: Parameters | None = None
    recorded: Annotated[list[Weights], Meta(max_length=MOST_RECORDED)] | None = None
    """Weights of every frame; the curve repeats as often as needed."""
    cycles: bool = False
    """Cut every clip to a gait cycle first."""
    sync_contacts: bool = False
    """Draw times to contacts that all clips share."""
    clean: bool = True


class BlendSpace(BaseRequest, tag="blend.space"):
    """Measure what the clips can be steered by."""

    answer: ClassVar = answers.Space
    clips: Clips
    cycles: bool = False
    sync_contacts: bool = False


class ControlStart(BaseRequest, tag="control.start"):
    """Begin a live blend."""

    answer: ClassVar = answers.LiveStarted
    clips: Clips
    loop: bool = True
    cycles: bool = False
    sync_contacts: bool = False


class ControlStep(BaseRequest, tag="control.step"):
    """The next frame, as a pose: one binary message; see ``wire.py``."""

    live: Given
    weights: Weights | None = None
    parameters: Parameters | None = None
    frames: BlendFrames = 1
    """Frames to advance: clips have more frames a second than screens."""
    record: bool = False
    """Store the weights of these frames; the answer to ``control.stop`` has them."""


class ControlStop(BaseRequest, tag="control.stop"):
    """End a live blend; the weights of every recorded frame come back."""

    answer: ClassVar = answers.Recorded
    live: Given


class SpliceMake(MakeRequest, tag="splice.make", kw_only=True):
    """Put one clip's upper body on another's legs; its detail is ``SpliceDetail``.

    With ``compare`` its sources are the other three methods' results, and ``detail.methods`` has
    the figures of all four.
    """

    upper: Text
    lower: Text
    method: answers.Method = "full"
    where: Text = "torso"
    when_short: Literal["crop", "loop", "hold"] = "crop"
    align: bool = False
    soft: bool = False
    keep_bend: bool = False
    compare: bool = False


class RenderMake(BaseRequest, tag="render.make"):
    """Draw a result as a picture or film."""

    answer: ClassVar = answers.Export
    result: Given
    kind: answers.Picture = "png"
    view: Literal["side", "front", "top", "three-quarter"] = "three-quarter"


class ExportMake(BaseRequest, tag="export.make"):
    """Write a result or a clip as a file."""

    answer: ClassVar = answers.Export
    what: Text
    """Number of a result as text, or the id of a clip."""
    format: Text
    preset: Text | None = None


class PageMake(BaseRequest, tag="page.make"):
    """Write a result with its sources as one offline page."""

    answer: ClassVar = answers.Export
    result: Given


class ExportFormats(BaseRequest, tag="export.formats"):
    """List what can be written."""

    answer: ClassVar = answers.Formats


class ProjectSave(BaseRequest, tag="project.save"):
    """Store the page's state. The server does not read it."""

    answer: ClassVar = answers.Done
    project: dict[str, Any]


class ProjectLoad(BaseRequest, tag="project.load"):
    """Load the state that was stored last."""

    answer: ClassVar = answers.ProjectLoaded


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
    """Number and type of a request, even of an invalid one; an empty head without them."""
    try:
        return _heads.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return Head()


def why_invalid(error: Exception) -> str:
    """Text for the page that explains an error of :func:`decode_request`."""
    if isinstance(error, RecursionError):
        return "The message must not be nested more than a few levels deep."
    problem, _, place = str(error)[:MOST_REASON].partition(" - at `")
    name = place.removesuffix("`").removeprefix("$").removeprefix(".")
    if not name:
        return f"The message is not valid: {problem}."
    return f"`{name}` is not valid: {problem}."
