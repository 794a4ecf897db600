"""Table files: named arrays in one file that is checked, mapped into memory, and runs nothing.

Layout: a magic line, the length and digest of a JSON header, the header, and the arrays one after
the other, each on a multiple of 64 bytes. The header names every array's kind, shape, place,
checksum and digest. The same contents give the same bytes. While a table is built, its finished
parts lie in such files, too.
"""

from __future__ import annotations

import hashlib
import json
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom.errors import FormatError, TableError
from motionloom.files import locks
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import parse_json
from motionloom.files.writing import whole_file
from motionloom.tables.collection.catalogue import disk_errors

Arrays = dict[str, npt.NDArray[Any]]
MAGIC = b"motionloom.mlt\r\n"
SCHEMA = 1
ALIGNED = 64
DIGEST_BYTES = 16
FRONT = len(MAGIC) + 8 + DIGEST_BYTES
LONGEST_HEADER = 1 << 28
KINDS = ("|b1", "|i1", "|u1", "<i2", "<u2", "<u4", "<i4", "<i8", "<f2", "<f4", "<f8")
MOST_DIMENSIONS = 8
CHECKED_AT_ONCE = 1 << 22
"""Arrays of up to this many bytes are checked when the file is opened, by a checksum that finds
faults of disks and lines. A search for damage compares all arrays with their digests, which takes
four times as long."""


@dataclass(frozen=True, slots=True, eq=False)
class TableFile:
    """A table file that was opened: what it says of itself, and its arrays."""

    path: Path
    header: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
    """Memory-mapped; nothing written to them reaches the file."""
    size: int
    """Bytes."""

    def array(self, name: str, kind: str, shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
        """The array of a name, if it has this kind and shape; None matches any length.

        Raises
        ------
        TableError
            It is missing, or of another kind or shape.
        """
        array = self.arrays.get(name)
        if array is None:
            raise self.damaged(f"the array {name!r} is missing")
        if array.dtype.str != kind:
            raise self.damaged(f"the array {name!r} must be of kind {kind}, got {array.dtype.str}")
        fits = array.ndim == len(shape) and all(
            want in (None, have) for want, have in zip(shape, array.shape, strict=True)
        )
        if not fits:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise self.damaged(
                f"the array {name!r} must have the shape ({wanted}), got {array.shape}"
            )
        return array

    def damaged(self, why: str) -> TableError:
        """The error for a file whose content cannot be right."""
        return _damaged(self.path, why)

    def find_damage(self) -> list[str]:
        """Arrays that are not what was written, in words; reads everything."""
        return [
            f"the array {section['name']!r} is damaged"
            for section in self.header["sections"]
            if _digest(self.arrays[section["name"]]) != section["digest"]
        ]


def write_table_file(
    path: Path,
    header: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    *,
    to_disk: bool = True,
) -> None:
    """Write a table file, whole or not at all.

    With ``to_disk`` it is on the disk when this returns; without, a power cut may still lose it.
    """
    packed = {name: _packed(name, array) for name, array in arrays.items()}
    sections, place = [], 0
    for name, array in packed.items():
        sections.append(
            {
                "name": name,
                "kind": array.dtype.str,
                "shape": list(array.shape),
                "at": place,
                "crc32": _checksum(array),
                "digest": _digest(array),
            }
        )
        place += _lines(array.nbytes)
    document = {"format": "motionloom table", "schema": SCHEMA, **header, "sections": sections}
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    front = text.encode("ascii")
    front += b" " * (-(FRONT + len(front)) % ALIGNED)
    digest = hashlib.blake2b(front, digest_size=DIGEST_BYTES).digest()
    with disk_errors(path, "Nothing was changed."), whole_file(path, to_disk=to_disk) as stream:
        stream.write(MAGIC + len(front).to_bytes(8, "little") + digest + front)
        for array in packed.values():
            stream.write(array.tobytes())
            stream.write(bytes(-array.nbytes % ALIGNED))


def open_table_file(path: Path) -> TableFile:
    """The table in a file, checked; its arrays are read when they are touched.

    Raises
    ------
    TableError
        The file is not there, is no table, is of another version, or is damaged.
    """
    mapped = _mapped(path)
    header, start = _header(path, mapped)
    arrays: dict[str, npt.NDArray[Any]] = {}
    place = start
    for section in header["sections"]:
        array = _section(path, mapped, section, start, place)
        if section["name"] in arrays:
            raise _damaged(path, f"it holds two arrays called {section['name'][:80]!r}")
        arrays[section["name"]] = array
        end = place + array.nbytes
        place += _lines(array.nbytes)
        if mapped[end:place].any():
            raise _damaged(path, f"there is something in the gap after {section['name'][:80]!r}")
    if mapped.size != place:
        raise _damaged(path, "it is longer or shorter than its header says")
    opened = TableFile(path, header, arrays, int(mapped.size))
    small = [s for s in header["sections"] if arrays[s["name"]].nbytes <= CHECKED_AT_ONCE]
    for section in small:
        if _checksum(arrays[section["name"]]) != section["crc32"]:
            raise _damaged(path, f"the array {section['name'][:80]!r} is not what was written")
    return opened


def _mapped(path: Path) -> npt.NDArray[np.uint8]:
    """The bytes of a file, in private pages: nothing written to them reaches the file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
            raise TableError(f"{path} cannot be opened as a table: it is no file.")
        # Compiled code meets the arrays that it meets in memory, writable ones.
        return np.asarray(np.memmap(path, dtype=np.uint8, mode="c"))
    except FileNotFoundError:
        raise TableError(f"{path} is not there. Build it with motionloom table build.") from None
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        reason = getattr(error, "strerror", None) or "it is empty"
        raise TableError(f"{path} cannot be opened as a table: {reason}.") from error


def _header(path: Path, mapped: npt.NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """What the file says of itself, and where its arrays begin."""
    front = mapped[:FRONT].tobytes()
    if front[: len(MAGIC)] != MAGIC:
        begin = front[:8].decode("ascii", "replace")
        raise TableError(
            f"{path} is no motionloom table: it begins with {begin!r}. "
            "Tables are made by motionloom table build."
        )
    length = int.from_bytes(front[len(MAGIC) : len(MAGIC) + 8], "little")
    if len(front) < FRONT or length > min(LONGEST_HEADER, mapped.size - FRONT):
        raise _damaged(path, "it ends within its header")
    if (FRONT + length) % ALIGNED:
        raise _damaged(path, f"its header has {length} bytes, and its arrays begin between lines")
    text = mapped[FRONT : FRONT + length].tobytes()
    if hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest() != front[len(MAGIC) + 8 :]:
        raise _damaged(path, "its header is not what was written")
    try:
        header = parse_json(text, Budget(Limits(), len(text)), where="header")
    except FormatError as error:
        raise _damaged(path, f"its header cannot be read ({error})") from error
    if not isinstance(header, dict) or header.get("format") != "motionloom table":
        raise TableError(f"{path} is no motionloom table.")
    schema = header.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise TableError(
            f"{path} has schema {repr(schema)[:40]}; this motionloom reads {SCHEMA}. "
            "Build the table again."
        )
    if not isinstance(header.get("sections"), list):
        raise _damaged(path, "its header does not list its arrays")
    return header, FRONT + length


def _section(
    path: Path, mapped: npt.NDArray[np.uint8], section: object, start: int, place: int
) -> npt.NDArray[Any]:
    """The array that a section describes; arrays follow one another, so ``place`` is known."""
    if not isinstance(section, dict) or not isinstance(section.get("name"), str):
        raise _damaged(path, "an array is not described")
    name = section["name"][:80]
    kind, shape, at = section.get("kind"), section.get("shape"), section.get("at")
    if not isinstance(kind, str) or kind not in KINDS:
        raise _damaged(path, f"it holds an array of kind {repr(kind)[:40]}")
    if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
        raise _damaged(path, f"the array {name!r} must have up to {MOST_DIMENSIONS} dimensions")
    if not all(type(n) is int and 0 <= n <= mapped.size for n in shape):
        raise _damaged(path, f"the array {name!r} reaches beyond its end")
    size = np.dtype(kind).itemsize * prod(shape)
    if type(at) is not int or start + at != place or place + size > mapped.size:
        raise _damaged(path, f"the array {name!r} reaches beyond its end or into another one")
    if type(section.get("crc32")) is not int or not isinstance(section.get("digest"), str):
        raise _damaged(path, f"the array {name!r} has no checksum")
    return np.asarray(mapped[place : place + size].view(kind).reshape(shape))


def _lines(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _damaged(path: Path, why: str) -> TableError:
    return TableError(f"{path} is damaged: {why}. Build the table again.")


def _packed(name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    packed = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if packed.dtype.str not in KINDS:
        raise TableError(f"Arrays of kind {array.dtype} cannot be in a table, as {name!r} is.")
    return packed


def _checksum(array: npt.NDArray[Any]) -> int:
    return zlib.crc32(_bytes(array).data)


def _digest(array: npt.NDArray[Any]) -> str:
    return hashlib.blake2b(_bytes(array).data, digest_size=DIGEST_BYTES).hexdigest()


def _bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@contextmanager
def locked(table: Path) -> Iterator[None]:
    """Hold ``X.mlt.lock`` while a table is built or extended.

    Raises
    ------
    TableError
        Another process or thread holds it; the message names it.
    """
    with ExitStack() as held:
        with disk_errors(table, "Nothing was changed."):
            file = table.with_name(f"{table.name}.lock")
            held.enter_context(locks.locked(file, f"{table} is being built already"))
        yield


class Parts:
    """Results by name in a folder ``X.mlt.part``, each under a digest of its inputs.

    A result that is damaged, cut short, or of other inputs counts as not there.
    """

    def __init__(self, table: Path) -> None:
        self.table = table
        self.folder = table.with_name(f"{table.name}.part")

    def load(self, name: str, inputs: str, check: Callable[[TableFile], object]) -> Arrays | None:
        """The arrays stored under a name, if they are of these inputs.

        Parameters
        ----------
        name, inputs
            As they were saved.
        check
            Raises a TableError where the arrays are not what they must be.
        """
        try:
            file = open_table_file(self._file(name))
            if file.header.get("inputs") != inputs or file.find_damage():
                return None
            check(file)
        except TableError:
            return None
        return file.arrays

    def save(self, name: str, inputs: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep arrays under a name."""
        try:
            with disk_errors(self.folder, "Nothing was changed."):
                self.folder.mkdir(parents=True, exist_ok=True)
            write_table_file(self._file(name), {"inputs": inputs}, arrays, to_disk=False)
        except TableError as error:
            raise TableError(
                f"{error} The finished parts of {self.table.name} are kept: build it again to "
                "resume."
            ) from error

    def discard(self) -> None:
        """Forget all parts; the folder goes too, unless it holds other files."""
        if not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            if file.name.endswith((".part.mlt", ".new")):
                with suppress(OSError):
                    file.unlink()
        with suppress(OSError):
            self.folder.rmdir()

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.part.mlt"
