"""Blank matplotlib pictures and how they are saved: no global state, the same bytes each time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from motionloom._arrays import one_of
from motionloom._extras import require_extra
from motionloom.drawing.theme import LIGHT, hex_of
from motionloom.files.reading import path_of
from motionloom.files.writing import stream_errors, write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# What each kind would stamp into the file, and must not: the same clip gives the same bytes.
_STAMPS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}

PNG_EFFORT = 2
"""Of 9: flat colours get little smaller by more, and pictures take twice as long."""


def blank_canvas(size: tuple[int, int]) -> Canvas:
    """An empty picture of so many pixels across and down.

    Raises
    ------
    MotionLoomError
        The extra ``pictures`` is not installed.
    """
    require_extra("pictures", "A picture")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(size[0] / 100, size[1] / 100), dpi=100, facecolor=hex_of(LIGHT.paper))
    FigureCanvasAgg(canvas)
    return canvas


def save_canvas(canvas: Canvas, target: Path | BinaryIO, kind: str) -> None:
    """Write a picture as ``"png"``, ``"svg"`` or ``"pdf"``; a file appears whole or not at all.

    Raises
    ------
    FormatError
        The file cannot be written.
    """
    from matplotlib import rc_context

    one_of(kind, _STAMPS, "kind")
    # A fixed salt: the names of an SVG's parts are otherwise drawn at random.
    with rc_context({"svg.hashsalt": "motionloom", "svg.fonttype": "none"}):
        # In memory first: encoders that write to a file themselves hide why that failed.
        picture = io.BytesIO()
        options: dict[str, Any] = (
            {"pil_kwargs": {"compress_level": PNG_EFFORT}} if kind == "png" else {}
        )
        canvas.savefig(picture, format=kind, metadata=_STAMPS[kind], **options)
    if hasattr(target, "write"):
        with stream_errors():
            target.write(picture.getvalue())
    else:
        write_bytes(path_of(target, "target"), picture.getvalue())
