"""The rows of a collection on disk: one raw file per column, appended to, mapped into memory."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom.errors import TableError
from motionloom.files.locks import take_lease
from motionloom.files.writing import disk_fault, whole_file
from motionloom.tables.collection.clip_frames import ClipFrames, fault_of_rows

COPY_BYTES = 1 << 24
CHECKED_AT_ONCE = 1 << 22
"""Columns of up to this many bytes are checked value by value on opening, larger ones before they
are searched; see :func:`motionloom.tables.collection.frames.check_frames`."""


class Column(NamedTuple):
    """One array of the frames: a row of it is a frame's."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def row_bytes(self) -> int:
        """Bytes of one frame."""
        return int(self.dtype.itemsize * np.prod(self.shape, dtype=np.int64))

    def file(self, folder: Path, generation: int) -> Path:
        """Where the column lies."""
        return folder / f"{self.name}.{generation}.rows"


def columns_of(n_joints: int) -> tuple[Column, ...]:
    """The columns of a collection whose skeleton has ``n_joints``, in the order of ClipFrames."""
    double, single, flag = np.dtype("<f8"), np.dtype("<f4"), np.dtype(np.bool_)
    return (
        Column("heading", double, ()),
        Column("ground", double, (2,)),
        Column("quats", single, (n_joints, 4)),
        Column("body", single, (n_joints, 3)),
        Column("points", single, (4, 3)),
        Column("planted", flag, (4,)),
    )


def open_rows(
    folder: Path, generation: int, n_joints: int, n_rows: int
) -> tuple[npt.NDArray[Any], ...]:
    """The columns' first ``n_rows`` rows, mapped; small ones are checked value by value.

    The files stay as long as the arrays: see :mod:`motionloom.files.locks`.
    """
    mapped = []
    for column in columns_of(n_joints):
        file = column.file(folder, generation)
        wanted = n_rows * column.row_bytes
        with _opened_rows(file, wanted) as stream:
            if not take_lease(stream):
                raise TableError(f"{file} is being removed: the collection was ingested again.")
            rows = np.memmap(stream, dtype=column.dtype, mode="r", shape=(n_rows, *column.shape))
        mapped.append(np.asarray(rows))
        fault = fault_of_rows(column.name, mapped[-1]) if wanted <= CHECKED_AT_ONCE else ""
        if fault:
            raise TableError(
                f"{file} holds {fault}. The collection is damaged: delete {folder} and ingest "
                "again."
            )
    return tuple(mapped)


def _opened_rows(file: Path, wanted: int) -> BinaryIO:
    """A column's file, open; refused where it holds fewer bytes than it must."""
    held = "is not there"
    try:
        if file.is_file():
            held = f"holds {file.stat().st_size}"
            if file.stat().st_size >= wanted:
                return file.open("rb")
    except FileNotFoundError:
        held = "is not there"
    except OSError as error:
        held = f"cannot be opened ({error.strerror})"
    raise TableError(
        f"{file} must hold {wanted} bytes, but {held}. "
        "The collection is damaged: ingest its folder again."
    )


def overlong_rows(folder: Path, generation: int, n_joints: int, n_rows: int) -> list[str]:
    """Columns with more than ``n_rows`` rows, in words; an ingest that died may leave such."""
    faults = []
    for column in columns_of(n_joints):
        file = column.file(folder, generation)
        wanted, held = n_rows * column.row_bytes, file.stat().st_size
        if held > wanted:
            faults.append(
                f"{file.name} holds {held - wanted} bytes too many, which nothing reads: an "
                "ingest was stopped, or something else wrote to it. Ingest again."
            )
    return faults


def holds_rows(folder: Path, generation: int, n_joints: int, n_rows: int) -> bool:
    """Whether the columns of a generation are there and have at least so many rows."""
    for column in columns_of(n_joints):
        file = column.file(folder, generation)
        if not file.is_file() or file.stat().st_size < n_rows * column.row_bytes:
            return False
    return True


class RowWriter:
    """Appends rows to the columns of one generation.

    Rows count only once an index names them, so a writer that dies leaves a valid collection; the
    next one writes over what it left.
    """

    def __init__(self, folder: Path, generation: int, n_joints: int, n_rows: int) -> None:
        self.folder = folder
        self.generation = generation
        self.n_rows = n_rows
        self.columns = columns_of(n_joints)
        self._streams = []
        for column in self.columns:
            file = column.file(folder, generation)
            stream = file.open("r+b" if file.exists() else "w+b")
            stream.truncate(n_rows * column.row_bytes)
            stream.seek(0, os.SEEK_END)
            self._streams.append(stream)

    def append(self, clip: ClipFrames) -> int:
        """Write a clip's rows; the first one's number comes back."""
        first = self.n_rows
        for column, stream, values in zip(self.columns, self._streams, clip, strict=True):
            packed = np.ascontiguousarray(values, dtype=column.dtype)
            assert packed.shape == (len(clip.heading), *column.shape)
            stream.write(packed.data)
        self.n_rows += len(clip.heading)
        return first

    def copy(self, generation: int, start: int, n_rows: int) -> int:
        """Write rows that another generation holds; the first one's number comes back."""
        first = self.n_rows
        for column, stream in zip(self.columns, self._streams, strict=True):
            with column.file(self.folder, generation).open("rb") as source:
                source.seek(start * column.row_bytes)
                left = n_rows * column.row_bytes
                while left:
                    part = source.read(min(left, COPY_BYTES))
                    if not part:
                        raise TableError(
                            f"{source.name} ends too early. The collection is damaged: delete "
                            f"{self.folder} and ingest again."
                        )
                    stream.write(part)
                    left -= len(part)
        self.n_rows += n_rows
        return first

    def flush(self) -> None:
        """All that was written is on the disk."""
        for stream in self._streams:
            stream.flush()
            os.fsync(stream.fileno())

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for stream in self._streams:
            with suppress(OSError):  # a full disk complains again on closing
                stream.close()


def digest_rows(clip: ClipFrames) -> str:
    """Digest of a clip's rows as they are stored, in hexadecimal."""
    digest = hashlib.blake2b(digest_size=16)
    for column, values in zip(columns_of(clip.quats.shape[1]), clip, strict=True):
        digest.update(np.ascontiguousarray(values, dtype=column.dtype).data)
    return digest.hexdigest()


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write JSON so that the file is the old one or the new one at every moment."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    with whole_file(path) as stream:
        stream.write(text.encode("ascii") + b"\n")


@contextmanager
def disk_errors(path: Path, state: str) -> Iterator[None]:
    """Errors of the disk in words: what could not be written, why, and what stays."""
    try:
        yield
    except OSError as error:
        reason, remedy = disk_fault(error)
        raise TableError(f"{path} cannot be written: {reason}. {state} {remedy}.") from error
