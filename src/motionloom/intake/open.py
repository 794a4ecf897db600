"""Opening what a user points at: a path, a path with a clip's name, a stream, or standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from motionloom.errors import FormatError
from motionloom.formats.registry import SNIFF_BYTES
from motionloom.reading.opening import ReadingErrors, open_file, read_stream
from motionloom.reading.size_limits import Limits


@dataclass(frozen=True, slots=True)
class Target:
    """What to read."""

    label: str
    """The name that the user gave, without the clip: goes into texts and ``Source.path``."""
    path: Path | None
    """The file; None for a stream."""
    clip: str | None
    stream: BinaryIO | None = None


def find_target(file: str | Path | BinaryIO, clip: str | None) -> Target:
    """Which file, and which clip in it.

    ``"Soldier.glb#Run"`` is the clip Run of Soldier.glb, unless a file of that whole name exists.
    ``"-"`` is standard input.
    """
    if not isinstance(file, str | Path):
        if hasattr(file, "read"):
            return Target(str(getattr(file, "name", "stream")), None, clip, file)
        raise FormatError(
            f"A file is named by a path or given as a binary stream, got {type(file).__name__}."
        )
    text = str(file)
    if text == "-":
        return Target("-", None, clip, sys.stdin.buffer)
    if clip is None:
        file, clip = split_clip(text)
        return Target(file, Path(file), clip)
    return Target(text, Path(text), clip)


def split_clip(text: str) -> tuple[str, str | None]:
    """File and clip in ``"Soldier.glb#Run"``; no clip where a file of that whole name exists.

    The names of clips may hold ``#`` and ``/`` too, so the first part that is a file counts.
    """
    marks = [at for at, character in enumerate(text) if character == "#" and at > 0]
    if not marks or _exists(Path(text)):
        return text, None
    for at in marks:
        if is_file(Path(text[:at])):
            return text[:at], text[at + 1 :]
    name = Path(text).name
    at = len(text) - len(name.rpartition("#")[2]) - 1
    return (text[:at], text[at + 1 :]) if name.rfind("#") > 0 else (text, None)


@contextmanager
def opened(target: Target, limits: Limits) -> Iterator[tuple[bytes, BinaryIO]]:
    """The first bytes of the target, for sniffing, and a stream at its beginning that can seek."""
    if target.stream is not None:
        content = _whole(target, target.stream, limits)
        yield content.getbuffer()[:SNIFF_BYTES].tobytes(), content
        return
    assert target.path is not None
    try:
        stream = open_file(target.path, limits.max_bytes, pipes=True)
    except FormatError as error:
        raise error.at(target.label) from None
    with stream:
        with ReadingErrors(Path(target.label)):
            size = stream.seek(0, io.SEEK_END)
            stream.seek(0)
            head = stream.read(SNIFF_BYTES)
            stream.seek(0)
        _check_size(target, size, limits)
        yield head, stream


def _whole(target: Target, stream: BinaryIO, limits: Limits) -> io.BytesIO:
    try:
        content = read_stream(stream, limits.max_bytes)
    except TypeError:
        raise FormatError(
            "A stream must give bytes, got text.",
            path=target.label,
            fix='Open it in binary mode: open(path, "rb").',
        ) from None
    except (OSError, ValueError) as error:  # a closed stream's is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError(f"The stream cannot be read ({reason}).", path=target.label) from error
    _check_size(target, content.getbuffer().nbytes, limits)
    return content


def _check_size(target: Target, size: int, limits: Limits) -> None:
    if size == 0:
        raise FormatError("The file is empty.", path=target.label, fix="Export it again.")
    if size > limits.max_bytes:
        raise FormatError(
            f"A file may hold at most {limits.max_bytes / 1e9:.1f} GB, this one holds "
            f"{size / 1e9:.1f} GB or more.",
            path=target.label,
            fix="Split it into shorter clips.",
        )


def is_file(path: Path) -> bool:
    """Whether a path is a file; no path that cannot be one raises."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
