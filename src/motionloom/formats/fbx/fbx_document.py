"""An FBX file in memory: its elements, and the arrays in them, decoded when they are needed."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.bvh import decimal_text
from motionloom.formats.fbx.fbx_ascii import parse_ascii
from motionloom.formats.fbx.fbx_binary import MAGIC, parse_binary
from motionloom.formats.fbx.fbx_element import OBJECTS, Element, StoredArray
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.text import refuse_wide_text
from motionloom.reading.size_limits import Budget

OLDEST, NEWEST = 7000, 7999
TEXT_VERSION = re.compile(rb"FBXVersion\s*:\s*(\d{1,9})")

_DTYPES = {"f": "<f4", "d": "<f8", "l": "<i8", "i": "<i4", "b": "|u1", "c": "|u1"}
_BLANKS = bytes.maketrans(b",\r\n\t", b"    ")
_ENDLESS = 1 << 40
BLOCK = 1 << 14


class FbxDocument:
    """One FBX file."""

    def __init__(self, data: bytes, options: ReadOptions, kinds: frozenset[str] = OBJECTS) -> None:
        self.data = data
        self.limits = options.limits
        self.budget = Budget(options.limits, len(data))
        self.budget.take(len(data), "its bytes")
        self._lines: list[int] = []
        self.is_text = not data.startswith(MAGIC)
        if self.is_text:
            refuse_wide_text(data)
            stated = TEXT_VERSION.search(data[:65536])
            self._check_version(None if stated is None else int(stated[1]))
            self.top = parse_ascii(data, self.budget, kinds)
        else:
            if len(data) > 27:
                self._check_version(int.from_bytes(data[23:27], "little"))
            _, self.top = parse_binary(data, self.budget, kinds)

    def _check_version(self, version: int | None) -> None:
        if version is None:
            raise FormatError(
                "The contents are no FBX: the head states no version.",
                where="byte 0",
                fix="Check that it is an FBX file.",
            )
        if not OLDEST <= version <= NEWEST:
            raise FormatError(
                f"FBX from version 7.0 to 7.7 can be read, and this file has {version / 1000:g}.",
                where="byte 23" if not self.is_text else "FBXVersion",
                fix="Save it as FBX 2011 or later, for example with Blender or FBX Converter.",
            )

    def place(self, element: Element) -> str:
        """Where an element is, for errors."""
        if self.is_text:
            return f"line {self._line(element.at)} ({element.name[:40]})"
        return f"byte {element.at} ({element.name[:40]})"

    def _line(self, at: int) -> int:
        """The line of a byte: lines of whole blocks are counted once."""
        data, block = self.data, at // BLOCK
        if not self._lines:
            starts = range(0, len(data), BLOCK)
            counts = (data.count(b"\n", start, start + BLOCK) for start in starts)
            self._lines = [0, *accumulate(counts)]
        return 1 + self._lines[block] + data.count(b"\n", block * BLOCK, at)

    def numbers(self, element: Element) -> FloatArray:
        """The array that is the first value of an element, as float64. Shape (N,)."""
        value = element.values[0] if element.values else None
        if not isinstance(value, StoredArray) or value.kind == "r":
            raise FormatError("An array of numbers is needed.", where=self.place(element))
        if value.kind == "t":
            return self._scanned(value, element)
        return np.asarray(self._stored(value, element), dtype=np.float64)

    def bits(self, element: Element) -> npt.NDArray[np.uint32]:
        """The bits of an array of float32. Shape (N,). ASCII files state them as whole numbers."""
        value = element.values[0] if element.values else None
        if isinstance(value, StoredArray) and value.kind == "f":
            return self._stored(value, element).view("<u4").copy()
        numbers = self.numbers(element)
        if self.is_text and (numbers == np.round(numbers)).all():
            return np.clip(numbers, -(2.0**31), 2.0**32 - 1.0).astype(np.int64).astype(np.uint32)
        return np.clip(numbers, -3e38, 3e38).astype(np.float32).view(np.uint32)

    def raw_bytes(self, element: Element) -> bytes | None:
        """The file that is packed into an element, in ASCII as base64; None where there is none."""
        value = element.values[0] if element.values else None
        if isinstance(value, StoredArray) and value.kind == "r":
            self.budget.take(value.count, "a packed file", self.place(element))
            return self.data[value.start : value.stop]
        text = "".join(each for each in element.values if isinstance(each, str))
        if not text:
            return None
        self.budget.take(len(text), "a packed file", self.place(element))
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return None

    def _stored(self, value: StoredArray, element: Element) -> FloatArray:
        dtype = np.dtype(_DTYPES[value.kind])
        size = value.count * dtype.itemsize
        # Twice: what is unpacked, and the array of float64 made of it.
        self.budget.check(size + 8 * value.count, f"{value.count} numbers", self.place(element))
        raw: bytes | memoryview = memoryview(self.data)[value.start : value.stop]
        if value.deflated:
            try:
                raw = zlib.decompressobj().decompress(raw, size + 1)
            except zlib.error as error:
                raise FormatError(
                    f"A deflated array cannot be unpacked ({error}).",
                    where=self.place(element),
                    fix="The file is damaged: copy or export it again.",
                ) from error
        if len(raw) != size:
            raise FormatError(
                f"An array of {value.count} numbers must have {size} bytes, got "
                f"{len(raw)}{' or more' if len(raw) > size else ''}.",
                where=self.place(element),
                fix="The file is damaged: copy or export it again.",
            )
        return np.frombuffer(raw, dtype=dtype)

    def _scanned(self, value: StoredArray, element: Element) -> FloatArray:
        n_bytes = value.stop - value.start
        self.budget.check(7 * n_bytes + 64, f"{value.count} numbers", self.place(element))
        text = bytearray(self.data[value.start : value.stop].translate(_BLANKS) + b" ")
        numbers, state = np.zeros(len(text) // 2 + 2), decimal_text.new_state(0)
        ended = decimal_text.scan(text, len(text), numbers, state, width=1, expected=_ENDLESS)
        n = int(state[decimal_text.VALUES])
        if ended != decimal_text.DONE or n != value.count:
            raise FormatError(
                f"An array must hold the {value.count} numbers it states, got "
                + (f"{n}." if ended == decimal_text.DONE else "other text."),
                where=self.place(element),
                fix="The file is damaged: copy or export it again.",
            )
        return numbers[:n].copy()
