"""Read files that others wrote: paths, bytes, text, CSV and JSON, within limits.

A file may be a pipe, a socket or a device, and its text may be broken or nested without end: each
reader here raises a FormatError that names the file, the problem and a remedy.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import select
import stat
import time
from collections.abc import Iterator
from math import isinf
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn

from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import VARIABLE, Budget, Limits

IMPOSSIBLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL)
"""Errors of the system for paths at which no file is and no file can be made."""
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
LARGEST_CSV = 64 << 20
"""Bytes of a CSV file."""
MOST_CSV_MEMORY = 512 << 20
"""Bytes of memory that the rows of a CSV file may take: seven hundred thousand labels."""
# Bytes of memory that a reader keeps for a row and for each cell in it, and a little more.
_ROW, _CELL = 320, 80
# Bytes that Python takes for each part of a parsed document, as measured, and a little more.
_LIST, _OBJECT, _ITEM, _STRING, _KEY = 96, 192, 44, 64, 32
_TWO_BYTES, _FOUR_BYTES = re.compile(rb"[\xc4-\xff]"), re.compile(rb"[\xf0-\xff]")
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MAY_BE_INFINITE = re.compile(rb"[eE]\+?\d{3}|\d{200}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def path_of(value: object, name: str) -> Path:
    """``value`` as a path, if it is one that a disk can have.

    Parameters
    ----------
    value
        The path; no file needs to be there.
    name
        The argument's name, for the error text.

    Raises
    ------
    ArrayError
        It is no path, or a file with this path cannot exist: the name is too long, holds
        characters that no name can have, or leads through links without end. Or it lies in a
        folder that this user may not enter.
    """
    if not isinstance(value, str | Path) or not str(value):
        raise ArrayError(f"`{name}` must be a path, got {repr(value)[:60]}.")
    try:
        Path(value).stat()
    except ValueError:  # a NUL, or half a surrogate pair
        reason = "no name can have these characters"
    except PermissionError as error:
        raise ArrayError(
            f"`{name}` must be a path that can be reached, got {str(value)!r}: {error.strerror}. "
            "Check the rights of its folders."
        ) from error
    except OSError as error:
        if error.errno not in IMPOSSIBLE:
            return Path(value)
        reason = str(error.strerror)
    else:
        return Path(value)
    raise ArrayError(
        f"`{name}` must be a path that a file can have, got {str(value)!r}: {reason}. "
        "Choose another name."
    )


def printable(path: str) -> str:
    """``path`` as text that can be printed and stored: bytes that are no UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


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
        without a writer.
    """
    with ReadingErrors(path):
        # Without O_NONBLOCK, opening a pipe waits until a writer opens it.
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


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The line and the cells of every row of a CSV file that is not empty.

    Parameters
    ----------
    path
        UTF-8, with or without a byte order mark.

    Raises
    ------
    FormatError
        The file cannot be read, is no text between commas, or would take too much memory.
    """
    data = read_file(path, LARGEST_CSV)
    n_rows = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n") + 1
    try:
        Budget(
            Limits(max_memory=None if VARIABLE in os.environ else MOST_CSV_MEMORY), len(data)
        ).take(2 * len(data) + _ROW * n_rows + _CELL * (n_rows + data.count(b",")), "its rows")
    except FormatError as error:
        raise FormatError(
            error.problem,
            path=path,
            fix=f"Split the file, or raise the limit by the environment variable {VARIABLE}.",
        ) from None
    import csv

    decoded(data, path)  # so that an error names its byte: below, the text comes in blocks
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    rows = csv.reader(text, skipinitialspace=True)
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise FormatError(
                f"The file must hold short values between commas ({error}).",
                path=path,
                where=f"line {rows.line_num}",
                fix="Save it again as CSV.",
            ) from error
        if cells is None:
            return
        if cells:
            yield rows.line_num, cells


def parsed_size(data: bytes) -> int:
    """Bytes that the text and what it is parsed into take at most, without parsing it."""
    width = 1  # of a character in memory
    if not data.isascii():
        width = 4 if _FOUR_BYTES.search(data) else 2 if _TWO_BYTES.search(data) else 1
    inside = 4 if b"\\u" in data else width
    return (
        (width + inside) * len(data)
        + _LIST * data.count(b"[")
        + _OBJECT * data.count(b"{")
        + _ITEM * data.count(b",")
        + _KEY * data.count(b":")
        + _STRING * (data.count(b'"') // 2)
    )


def parse_json(data: bytes, budget: Budget, *, where: str, constants: bool = False) -> Any:
    """The document in ``data`` (UTF-8).

    Parameters
    ----------
    data
        The text.
    budget
        What the document takes stays asked for: it lives as long as its file is read.
    where
        Place in the file, for errors.
    constants
        Whether ``NaN`` and ``Infinity``, which are no JSON, and infinite numbers are read.

    Raises
    ------
    FormatError
        The text is no JSON, holds broken characters or infinite numbers, is nested too deeply, or
        takes more memory than the budget has.
    """
    budget.take(parsed_size(data), "its JSON", where)
    check_floats = not constants and _MAY_BE_INFINITE.search(data)
    try:
        document = json.loads(
            data.decode("utf-8-sig"),
            parse_constant=None if constants else _refuse,
            parse_float=_finite if check_floats else None,
        )
    except RecursionError as error:
        raise FormatError(
            "The text must be JSON (it is nested too deeply).", where=where
        ) from error
    except ValueError as error:
        raise FormatError(f"The text must be JSON ({error}).", where=where) from error
    if _HALF.search(data):
        check_unicode(document, where=where)
    return document


def check_unicode(document: Any, *, where: str) -> None:
    """Raise where a text in a document holds half a surrogate pair, which no file can hold."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            refuse_surrogates(value, where=where)
        elif isinstance(value, dict):
            waiting.extend(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def refuse_surrogates(text: str, *, where: str) -> None:
    """Raise where a text holds half a surrogate pair."""
    if not text.isascii() and (match := _SURROGATE.search(text)):
        start = max(0, match.start() - 20)
        raise FormatError(
            f"Text must be Unicode, got half a surrogate pair in {text[start : match.end()]!a}.",
            where=where,
            fix="Rename it in the tool that wrote the file.",
        )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:20]} is no finite number")
    return number
