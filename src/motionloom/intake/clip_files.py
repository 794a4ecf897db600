"""Which files are clips, and which hold several."""

from __future__ import annotations

from pathlib import Path

from motionloom.errors import FormatError
from motionloom.formats.fileclip import Limits, ReadOptions
from motionloom.formats.registry import SNIFF_BYTES, Format, known_formats

__all__ = ["is_clip", "may_be_clip", "names_inside"]

AMBIGUOUS = (".txt", ".json", ".npz")
"""Suffixes that anything can have: only the contents tell a clip from a readme."""


def may_be_clip(path: Path) -> bool:
    """Whether a file's name is that of a clip in a format that can be read."""
    return bool(_known(path))


def is_clip(path: Path) -> bool:
    """Whether a file is a clip in a format that can be read, by its name and, in doubt, its head.

    Raises
    ------
    OSError
        Its head cannot be read.
    """
    known = _known(path)
    if not known or not path.is_file():
        return False
    if path.suffix.lower() not in AMBIGUOUS:
        return True
    with path.open("rb") as stream:
        head = stream.read(SNIFF_BYTES)
    return any(each.sniff(head) for each in known)


def names_inside(path: Path) -> tuple[str, ...]:
    """Names of the clips of a file of several; none where it is one clip, or cannot be read.

    ``"file.glb#name"`` names one of them. Only what describes the animations is looked at.
    """
    if path.suffix.lower() not in (".glb", ".gltf"):
        return ()
    from motionloom.formats.gltf_animation import animation_names
    from motionloom.formats.gltf_document import Document
    from motionloom.formats.opening import open_file
    from motionloom.formats.text import read_bounded

    limits = Limits()
    try:
        with open_file(path, limits.max_bytes) as stream:
            data = read_bounded(stream, limits)
        names = animation_names(Document(data, ReadOptions(path=path, limits=limits)))
    except (FormatError, OSError):
        return ()
    return names if len(names) > 1 else ()


def _known(path: Path) -> list[Format]:
    suffix = path.suffix.lower()
    return [each for each in known_formats() if each.can_read and suffix in each.suffixes]
