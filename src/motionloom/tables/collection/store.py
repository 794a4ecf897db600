"""The rows of a collection on disk: raw columns, mapped into memory, in generations.

Every ingest writes new files of rows, and one catalogue names those that count. The files of a
published generation never change. Readers hold a lease on the generation that they have mapped;
it is removed by the first ingest after the last of them is gone.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Container, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom.errors import TableError
from motionloom.files.locks import locked, remove_unleased, take_lease
from motionloom.tables.collection.catalogue import (
    Catalogue,
    ClipRecord,
    Common,
    FileRecord,
    disk_errors,
    read_catalogue,
)
from motionloom.tables.collection.folder_clips import ClipToPack
from motionloom.tables.collection.frames import ClipFrames, fault_of_rows

CATALOGUE = "catalogue.json"
"""Names the generation that counts: replacing it publishes another one."""
PART = "catalogue.part.json"
"""The catalogue so far of an ingest that is under way, or was stopped."""
LOCK = "ingest.lock"
ROWS = re.compile(r"(heading|ground|quats|body|points|planted)\.(\d{1,18})\.rows")
BEFORE = re.compile(r"catalogue\.(\d{1,18})\.json")
FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
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
    """Whether the columns of a generation are there and have at least ``n_rows`` rows."""
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


@contextmanager
def writing_collection(folder: Path, out: Path) -> Iterator[None]:
    """Make the folder of a collection and hold its lock; a folder that stays empty is removed.

    Parameters
    ----------
    folder
        The clips.
    out
        The collection.

    Raises
    ------
    TableError
        Another process or thread writes the collection, or it is no place for one.
    """
    if out.resolve() == folder.resolve():
        raise TableError(
            f"{out} must be another folder than that of the clips: a collection is written into a "
            "separate folder. Choose another out=, as lib.mlc next to the clips."
        )
    if out.exists() and not out.is_dir():
        raise TableError(f"{out} must be the folder of a collection, but is a file.")
    missing = [each for each in (out, *out.parents) if not each.exists()]
    try:
        with ExitStack() as held:
            with disk_errors(out, "Nothing was changed."):
                out.mkdir(parents=True, exist_ok=True)
                try:
                    held.enter_context(locked(out / LOCK, f"{out} is being written already"))
                except OSError as error:
                    # Where nothing can be written, a collection that is complete needs no lock.
                    if error.errno not in FORBIDDEN:
                        raise
            yield
    finally:
        with suppress(OSError):  # the first that is not empty ends it
            for each in missing:
                each.rmdir()


def before_file(folder: Path, generation: int) -> Path:
    """The catalogue of a generation that another one has followed."""
    return folder / f"catalogue.{generation}.json"


def generations_before(folder: Path) -> list[int]:
    """Generations that tables may still be built on, by their catalogues."""
    matches = (BEFORE.fullmatch(file.name) for file in folder.glob("catalogue.*.json"))
    return [int(match[1]) for match in matches if match]


def discard_generations(folder: Path, *, but: Container[int]) -> None:
    """Remove the catalogues of all other generations, and rows that no reader has open."""
    columns = defaultdict(list)
    for file in sorted(folder.glob("*.rows")):
        match = ROWS.fullmatch(file.name)
        if match is not None:
            columns[int(match[2])].append(file)
    for file in folder.glob("catalogue.*.json"):
        match = BEFORE.fullmatch(file.name)
        if match is not None and int(match[1]) not in but:
            with suppress(OSError):
                file.unlink()
    for generation, files in columns.items():
        if generation not in but:
            remove_unleased(files)


def free_generation(folder: Path, used: list[int]) -> int:
    """A number above those used, of which no file is there."""
    matches = (ROWS.fullmatch(file.name) for file in folder.glob("*.rows"))
    return max([*used, *(int(match[2]) for match in matches if match)], default=0) + 1


def earlier_catalogues(out: Path) -> tuple[Catalogue | None, Catalogue | None]:
    """The catalogue that is there and the one of an ingest that was stopped, if any."""
    if not any((out / name).exists() for name in (CATALOGUE, PART)):
        ours = (".rows", ".new", LOCK)
        strangers = [each.name for each in out.iterdir() if not each.name.endswith(ours)]
        if strangers:
            raise TableError(
                f"{out} is a folder with other things in it ({strangers[0]}, ...), and nothing is "
                "written over them. Choose another out=."
            )
    return _catalogues(out)


def _catalogues(out: Path) -> tuple[Catalogue | None, Catalogue | None]:
    catalogues: list[Catalogue | None] = []
    for name in (CATALOGUE, PART):
        try:
            catalogues.append(read_catalogue(out / name))
        except TableError:
            catalogues.append(None)  # damaged or from another version: all of it can be read again
    return catalogues[0], catalogues[1]


def clear_after(out: Path, now: Catalogue, *, keep_before: bool) -> None:
    """Remove what a complete collection does not use, unless a reader has it open."""
    with suppress(OSError):
        (out / PART).unlink(missing_ok=True)
        before_file(out, now.generation).unlink(missing_ok=True)  # it was never followed
        for name in (CATALOGUE, PART):
            (out / f".{name}.new").unlink(missing_ok=True)  # named so by older versions
    before = generations_before(out) if keep_before else []
    discard_generations(out, but=[now.generation, *before])


def clear_unnamed(out: Path) -> None:
    """Remove rows that no catalogue will ever name: a full disk has better uses for its space."""
    named = [each.generation for each in _catalogues(out) if each is not None]
    discard_generations(out, but=[*named, *generations_before(out)])


def is_complete(
    old: Catalogue, records: list[FileRecord], options: dict[str, object], out: Path
) -> bool:
    """Whether the old catalogue is that of the same files, read in the same way, and has rows."""
    have = {(record.file, record.key) for record in old.files}
    is_same = have == {(r.file, r.key) for r in records} and old.options == options
    return is_same and _has_rows(old, out)


def _has_rows(catalogue: Catalogue, out: Path) -> bool:
    n_joints = catalogue.common.skeleton.n_joints
    return holds_rows(out, catalogue.generation, n_joints, catalogue.n_rows)


def rows_to_copy(
    old: Catalogue | None, common: Common, out: Path
) -> dict[tuple[str, str, str], ClipRecord]:
    """Clips whose rows can be used again, by file, clip and key."""
    if old is None or old.common.json() != common.json() or not _has_rows(old, out):
        return {}
    return {(clip.file, clip.clip, clip.key): clip for clip in old.clips}


def begun_rows(
    clips: list[ClipToPack],
    plan: Catalogue,
    old: Catalogue | None,
    part: Catalogue | None,
    out: Path,
) -> tuple[tuple[ClipRecord, ...], int]:
    """Rows of a stopped ingest that stand already where they belong, and the generation to write.

    Never a generation that was published: its files stay as they are.
    """
    wanted = [(clip.id, clip.file.file, clip.entry.clip, clip.file.key) for clip in clips]
    published = [] if old is None else [old.generation]
    if (
        part is not None
        and part.generation not in published
        and part.common.json() == plan.common.json()
    ):
        have = [(clip.id, clip.file, clip.clip, clip.key) for clip in part.clips]
        if _has_rows(part, out) and have == wanted[: len(have)]:
            return part.clips, part.generation
    with suppress(OSError):
        (out / PART).unlink()
    discard_generations(out, but=[*published, *generations_before(out)])
    return (), free_generation(out, published)


def forget_before(source_folder: Path, path: Path) -> None:
    """Remove the states before a collection grew: the tables built on them are extended."""
    if not generations_before(path):
        return
    with suppress(TableError), writing_collection(source_folder, path):
        now = read_catalogue(path / CATALOGUE)
        discard_generations(path, but=[now.generation])
