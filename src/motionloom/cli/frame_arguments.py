"""Places in a collection on the command line: a clip's id and a frame, as in 143_01:30."""

from __future__ import annotations

from motionloom.errors import ArrayError

__all__ = ["place_of", "place_text"]


def place_of(text: str) -> tuple[str, int]:
    """Clip id and frame in ``CLIP:FRAME``."""
    clip, _, frame = text.rpartition(":")
    try:
        return (clip, int(frame)) if clip else _refused(text)
    except ValueError:
        return _refused(text)


def _refused(text: str) -> tuple[str, int]:
    raise ArrayError(f"A place must be CLIP:FRAME, such as 143_01:30, got {text!r}.")


def place_text(clip: str, frame: int) -> str:
    """What :func:`place_of` reads."""
    return f"{clip}:{frame}"
