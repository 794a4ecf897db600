"""Opening a file that may not be one: pipes, sockets and devices do not stop the reader."""

from __future__ import annotations

import io
import os
import select
import stat
import time
from pathlib import Path
from typing import IO, BinaryIO

from motionloom.errors import FormatError

WRITER_S = 1.0
"""How long a pipe may have no writer."""
SILENCE_S = 30.0
"""How long the writer of a pipe may write nothing."""

_BLOCK = 1 << 20
_KINDS = {
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFIFO: "a pipe",
}


def open_file(path: Path, max_bytes: int, *, pipes: bool = False) -> BinaryIO:
    """A stream that can seek, at the beginning of a file.

    Parameters
    ----------
    path
        The file.
    max_bytes
        How much of a pipe is read.
    pipes
        Whether a pipe is read, too: whole, into memory.

    Raises
    ------
    FormatError
        It is not there or cannot be opened, it is a folder, a device or a socket, or it is a pipe
        that nothing is written to.
    """
    with ReadingErrors(path):
        # Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    try:
        kind = stat.S_IFMT(os.fstat(handle).st_mode)
        if kind == stat.S_IFREG:
            return os.fdopen(handle, "rb")
        if kind == stat.S_IFDIR:
            raise FormatError(
                "This is a folder, and a file is needed.",
                path=path,
                fix="Name one of the files in it.",
            )
        if kind != stat.S_IFIFO or not pipes:
            raise FormatError(
                f"This is {_KINDS.get(kind, 'no file')}, and a file is needed.",
                path=path,
                fix="Name a file.",
            )
        content = _read_pipe(handle, path, max_bytes)
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return content


def read_file(path: Path, max_bytes: int) -> bytes:
    """Everything in a file; errors as in :func:`open_file`, and where it has more bytes."""
    with open_file(path, max_bytes) as stream, ReadingErrors(path):
        data = read_stream(stream, max_bytes).getvalue()
    if len(data) > max_bytes:
        raise FormatError(
            f"The file must have at most {max_bytes} bytes, and has more.",
            path=path,
            fix="Check that it is the right file, or split it.",
        )
    return data


def read_text(path: Path, max_bytes: int) -> str:
    """The text in a file, UTF-8 with or without a mark; errors as in :func:`read_file`."""
    return decoded(read_file(path, max_bytes), path)


def decoded(data: bytes, path: Path) -> str:
    """The text in the bytes of a file, UTF-8 with or without a mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            "The text must be UTF-8, and is not.",
            path=path,
            where=f"byte {error.start}",
            fix="Save it again as UTF-8.",
        ) from error


class ReadingErrors:
    """Errors of the system within it become a FormatError: the file, the reason and a remedy.

    A class, for a generator's frame and the error would refer to each other, and all that the
    callers hold (such as files of a collection) would stay until the next garbage collection.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        if isinstance(error, FileNotFoundError):
            raise FormatError(
                "There is no such file.", path=self.path, fix="Check the path."
            ) from None
        # A ValueError is a NUL, or a character that no name can have.
        if isinstance(error, OSError | ValueError):
            reason = getattr(error, "strerror", None) or str(error)
            raise FormatError(
                f"The file cannot be read ({reason}).",
                path=self.path,
                fix="Check the path and the right to read it.",
            ) from error


def read_stream(stream: IO[bytes], max_bytes: int) -> io.BytesIO:
    """Everything in a stream, up to one byte more than the limit."""
    content = io.BytesIO()
    while content.tell() <= max_bytes:
        block = stream.read(min(_BLOCK, max_bytes + 1 - content.tell()))
        if not block:
            break
        content.write(block)  # raises TypeError for text
    content.seek(0)
    return content


def _read_pipe(handle: int, path: Path, max_bytes: int) -> io.BytesIO:
    content = io.BytesIO()
    waiting = select.poll()
    waiting.register(handle, select.POLLIN | select.POLLHUP)
    start = time.monotonic()
    while content.tell() <= max_bytes:
        try:
            block = os.read(handle, _BLOCK)
        except BlockingIOError:  # there is a writer, and it has written nothing yet
            if not waiting.poll(1000.0 * SILENCE_S):
                raise FormatError(
                    f"Nothing was written to this pipe for {SILENCE_S:g} s.", path=path
                ) from None
            continue
        content.write(block)
        if block:
            continue
        if content.tell() or time.monotonic() - start > WRITER_S:
            break
        waiting.poll(100)
        time.sleep(0.01)
    if not content.tell():
        raise FormatError(
            "This is a pipe, and nothing is written to it.",
            path=path,
            fix="Name a file, or start what writes to the pipe first.",
        )
    content.seek(0)
    return content
