"""Zips of numpy arrays, opened with care: sizes are checked before anything is unpacked.

``numpy.load`` trusts what a zip says about itself. Here every member's declared size, header, kind
of number and shape are checked first, and pickled members are never opened.
"""

from __future__ import annotations

import io
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import refuse_surrogates
from motionloom.formats.text import LARGEST

MAX_MEMBERS = 1024
MAX_DIRECTORY = 1 << 20
"""Bytes of the list of members, whose every entry takes ten times as much when it is read."""
_BLOCK = 1 << 20
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
MAX_HEADER = 10_000
MAX_DIMENSIONS = 8
_KINDS = re.compile(r"[<>|=]?(?:f[248]|[iu][1248]|b1|[US][1-9][0-9]{0,4})")


def first_member(head: bytes) -> str | None:
    """Name of the first member of a zip that begins with these bytes, None if it is no zip."""
    if len(head) < _LOCAL_HEADER.size:
        return None
    fields = _LOCAL_HEADER.unpack_from(head)
    if fields[0] != b"PK\x03\x04":
        return None
    name = head[_LOCAL_HEADER.size : _LOCAL_HEADER.size + fields[9]]
    return name.decode("utf-8", "replace")


class _ShortReads:
    """A stream that refuses long reads while the directory of a zip is read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.most: int | None = MAX_DIRECTORY
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, n: int = -1) -> bytes:
        if self.most is None:
            return self._stream.read(n)
        data = self._stream.read(self.most + 1 if n < 0 else min(n, self.most + 1))
        if len(data) > self.most:
            raise FormatError(
                f"The directory of a zip must have at most {self.most} bytes.",
                where="end of file",
                fix="Save the arrays under fewer and shorter names.",
            )
        return data

    def seekable(self) -> bool:
        return True


class Bundle:
    """The members of a zip, unpacked one at a time and only after their sizes were checked.

    Parameters
    ----------
    stream
        The zip.
    limits
        How large it may be.
    budget
        Memory that reading it may take; by default that of a file of its size.
    """

    def __init__(self, stream: BinaryIO, limits: Limits, budget: Budget | None = None) -> None:
        self.limits = limits
        self.budget = budget or Budget.of(stream, limits)
        careful = _ShortReads(stream)
        try:
            self._zip = zipfile.ZipFile(careful)
            careful.most = None
            entries = self._zip.infolist()
        except _BROKEN as error:
            raise FormatError(
                f"The zip directory cannot be read ({error}).",
                where="end of file",
                fix="The file is cut short or damaged: copy or download it again.",
            ) from error
        if len(entries) > MAX_MEMBERS:
            raise FormatError(f"A zip must hold at most {MAX_MEMBERS} members, got {len(entries)}.")
        declared = sum(entry.file_size for entry in entries)
        if declared > limits.max_bytes:
            raise FormatError(
                f"The members must unpack to at most {limits.max_bytes} bytes, "
                f"their headers say {declared}."
            )
        self._entries = {entry.filename: entry for entry in entries}
        if len(self._entries) != len(entries):
            raise FormatError("Every member of the zip must have its own name, some share one.")

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the arrays, without ``.npy``."""
        return tuple(name[:-4] for name in self._entries if name.endswith(".npy"))

    def member(self, name: str) -> bytes:
        """The unpacked bytes of one member."""
        where = f"member {name!r}"
        if name not in self._entries:
            raise FormatError("The member is missing.", where=where)
        entry = self._entries[name]
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError("A member must be stored or deflated.", where=where)
        if entry.compress_type == zipfile.ZIP_STORED and entry.compress_size != entry.file_size:
            raise FormatError("A stored member's two sizes must be the same.", where=where)
        self.budget.take(entry.file_size, "this member", where)
        try:
            with self._zip.open(entry) as unpacked:
                data = _read_exactly(unpacked, entry.file_size, where)
        except _BROKEN as error:
            raise FormatError(
                f"The member cannot be unpacked ({error}).",
                where=where,
                fix="The file is damaged: copy or download it again.",
            ) from error
        return data

    def array(self, key: str) -> npt.NDArray[Any]:
        """The array called ``key``: numbers or text, never objects."""
        if key not in self.keys:
            names = ", ".join(sorted(self.keys)) or "none"
            raise FormatError(
                f"An array called {key!r} is needed; there are: {names}.",
                fix=f"Add it with numpy.savez(..., {key}=...).",
            )
        return unpack_array(self.member(f"{key}.npy"), where=f"array {key!r}")

    def numbers(self, key: str, shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
        """The array called ``key`` if it holds numbers in this shape; None matches any length."""
        array = self.array(key)
        if array.dtype.kind not in "fiu":
            raise FormatError(f"Numbers are needed, got {array.dtype}.", where=f"array {key!r}")
        fits = array.ndim == len(shape) and all(
            want in (None, have) for want, have in zip(shape, array.shape, strict=True)
        )
        if not fits:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise FormatError(
                f"The shape must be ({wanted}), got {array.shape}.", where=f"array {key!r}"
            )
        if array.dtype != np.float64:
            self.budget.take(array.size * 8, "its numbers", f"array {key!r}")
        return bounded(array, where=f"array {key!r}")

    def number(self, key: str) -> float:
        """The single number in the array called ``key``."""
        array = self.array(key)
        if array.dtype.kind not in "fiu" or array.size != 1:
            raise FormatError(
                f"One number is needed, got {array.dtype} of shape {array.shape}.",
                where=f"array {key!r}",
            )
        return float(bounded(array, where=f"array {key!r}").reshape(()))

    def texts(self, key: str) -> list[str]:
        """The texts in the array called ``key``, flat."""
        array = self.array(key)
        self.budget.check(array.size * (array.itemsize + 80), "its texts", f"array {key!r}")
        try:
            if array.dtype.kind == "U":
                order = array.dtype.byteorder.replace("|", "=")
                codes = np.frombuffer(array.tobytes(), np.dtype(f"{order}u4"))
                if codes.size and codes.max() > sys.maxunicode:  # numpy would not survive it
                    raise ValueError(f"{codes.max()} is no character")
                texts = [str(text) for text in array.ravel().tolist()]
                for text in texts:
                    refuse_surrogates(text, where=f"array {key!r}")
                return texts
            if array.dtype.kind == "S":
                return [bytes(text).decode("utf-8") for text in array.ravel().tolist()]
        except ValueError as error:
            raise FormatError(
                f"The text cannot be decoded ({error}).", where=f"array {key!r}"
            ) from error
        raise FormatError(f"Text is needed, got {array.dtype}.", where=f"array {key!r}")


def _read_exactly(unpacked: IO[bytes], size: int, where: str) -> bytes:
    """``size`` bytes, read in blocks: one read of all would hold them twice for a moment."""
    content = io.BytesIO(bytes(size))
    while block := unpacked.read(min(_BLOCK, size + 1 - content.tell())):
        content.write(block)
        if content.tell() > size:
            break
    if content.tell() != size:
        got = "more" if content.tell() > size else content.tell()
        raise FormatError(f"The member must unpack to {size} bytes, got {got}.", where=where)
    return content.getvalue()


def write_members(stream: BinaryIO, members: Mapping[str, npt.NDArray[Any] | bytes]) -> None:
    """Write a zip of arrays and bytes, the same bytes every time: stored, with no clock in it."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            data = content if isinstance(content, bytes) else pack_array(content)
            archive.writestr(entry, data)


def unpack_array(data: bytes, *, where: str) -> npt.NDArray[Any]:
    """The array in the bytes of an ``.npy`` file; nothing in it is evaluated or unpickled."""
    if data[:6] != b"\x93NUMPY" or len(data) < 12 or data[6] not in (1, 2, 3):
        raise FormatError("An .npy array must begin with its mark and version.", where=where)
    wide = data[6] > 1
    size = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    start = (12 if wide else 10) + size
    if size > MAX_HEADER or start > len(data):
        raise FormatError(f"The array's header says it is {size} bytes long.", where=where)
    header = data[start - size : start].decode("latin-1")
    descr = re.search(r"'descr':\s*'([^']*)'", header)
    order = re.search(r"'fortran_order':\s*(True|False)", header)
    shape_text = re.search(r"'shape':\s*\(([0-9,\s]*)\)", header)
    if descr and "O" in descr[1]:
        raise FormatError(
            "The array holds pickled Python objects, which could run code and are never opened.",
            where=where,
            fix="Save it as numbers or text.",
        )
    if not (descr and order and shape_text and _KINDS.fullmatch(descr[1])):
        raise FormatError(
            f"The array must hold numbers or text, its header says {header.strip()[:80]!r}.",
            where=where,
        )
    dtype = np.dtype(descr[1])
    lengths = [part.strip() for part in shape_text[1].split(",") if part.strip()]
    if len(lengths) > MAX_DIMENSIONS or any(len(part) > 12 for part in lengths):
        raise FormatError(f"The shape ({shape_text[1][:80]}) is beyond all bounds.", where=where)
    try:
        shape = tuple(int(part) for part in lengths)
    except ValueError as error:
        raise FormatError(f"The shape ({shape_text[1][:80]}) is broken.", where=where) from error
    count = 1
    for length in shape:  # Python integers: the product cannot overflow
        count *= length
    if count * dtype.itemsize != len(data) - start:
        raise FormatError(
            f"Shape {shape} of {dtype} needs {count * dtype.itemsize} bytes, "
            f"got {len(data) - start}.",
            where=where,
        )
    flat = np.frombuffer(data, dtype, count=count, offset=start)
    return flat.reshape(shape, order="F" if order[1] == "True" else "C")


def bounded(array: npt.NDArray[Any], *, where: str) -> npt.NDArray[Any]:
    """``array`` itself, if its numbers are finite and of a size that means something."""
    if array.dtype.kind != "f" or not array.size:
        return array
    # As Python's numbers, for half precision cannot hold the bound; False for NaN, too.
    with np.errstate(invalid="ignore"):  # some NaNs warn when they are converted
        if max(float(array.max()), -float(array.min())) <= LARGEST:
            return array
        place = _first_beyond(array)
    raise FormatError(
        f"Numbers must be finite and within {LARGEST:g}, got {array[place]} at {place}.",
        where=where,
        fix="Repair or cut these frames first.",
    )


def _first_beyond(array: npt.NDArray[Any]) -> tuple[int, ...]:
    """Where a number that is not within the bound stands; looks at one block at a time."""
    order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
    flat = array.reshape(-1, order=order)
    few = 1 << 16
    for start in range(0, flat.size, few):
        beyond = np.flatnonzero(~(np.abs(flat[start : start + few]) <= np.float64(LARGEST)))
        if beyond.size:
            return tuple(
                int(i) for i in np.unravel_index(start + beyond[0], array.shape, order=order)
            )
    raise AssertionError("every number is within the bound")


def pack_array(array: npt.NDArray[Any]) -> bytes:
    """The bytes of an ``.npy`` file that holds ``array``, little-endian and in C order."""
    array = np.asarray(array, order="C")
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    text = f"{{'descr': '{little.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
    padding = -(10 + len(text) + 1) % 64
    header = text.encode("ascii") + b" " * padding + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + little.tobytes()
