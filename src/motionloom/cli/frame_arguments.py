"""Frames on the command line: CLIP:FRAME of a collection, A:B of a clip."""

from __future__ import annotations

import re
from typing import Annotated

import typer

import motionloom as ml

Frames = Annotated[
    str | None, typer.Option("--frames", metavar="A:B", help="Only these frames, B left out.")
]


def frames_of(text: str | None) -> slice:
    """Frames ``A:B`` as a slice; both ends may be left out."""
    if text is None:
        return slice(None)
    parts = re.fullmatch(r"(-?\d{1,18})?:(-?\d{1,18})?", text.strip())
    if not parts:
        raise ml.ArrayError(f"--frames must be A:B, such as 10:120, got {text!r}.")
    first, last = (None if part is None else int(part) for part in parts.groups())
    return slice(first, last)


def place_of(text: str) -> tuple[str, int]:
    """Clip id and frame in ``CLIP:FRAME``."""
    clip, _, frame = text.rpartition(":")
    if not clip or not re.fullmatch(r"-?\d{1,18}", frame):
        raise ml.ArrayError(f"A place must be CLIP:FRAME, such as 143_01:30, got {text!r}.")
    return clip, int(frame)


def place_text(clip: str, frame: int) -> str:
    """What :func:`place_of` reads."""
    return f"{clip}:{frame}"
