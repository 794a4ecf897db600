"""Single arrays in numpy's own format, read without running anything."""

from __future__ import annotations

import re
import struct
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from motionloom.errors import FormatError
from motionloom.formats.text import LARGEST

MAX_HEADER = 10_000
MAX_DIMENSIONS = 8
_KINDS = re.compile(r"[<>|=]?(?:f[248]|[iu][1248]|b1|[US][1-9][0-9]{0,4})")


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
    with np.errstate(invalid="ignore"):  # some of what is no number warns when it is converted
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
