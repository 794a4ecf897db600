"""An FBX file in memory: its elements, and the arrays in them, decoded when they are needed."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.files.limits import Budget
from motionloom.formats import decimal_text
from motionloom.formats.fbx.fbx_parse import (
    MAGIC,
    OBJECTS,
    Element,
    StoredArray,
    parse_ascii,
    parse_binary,
)
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.text import refuse_wide_text

OLDEST, NEWEST = 7000, 7999
TEXT_VERSION = re.compile(rb"FBXVersion\s*:\s*(\d{1,9})")

_DTYPES = {"f": "<f4", "d": "<f8", "l": "<i8", "i": "<i4", "b": "|u1", "c": "|u1"}
_BLANKS = bytes.maketrans(b",\r\n\t", b"    ")
_ENDLESS = 1 << 40
_MARK, _MARK_TEXT = 9e22, b" 9e22 "
"""A number that no reader takes, between the arrays of a text."""
_NONE, _NO_BITS = np.zeros(0), np.zeros(0, np.uint32)
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
        return self.numbers_of([element])[0].copy()

    def numbers_of(self, elements: Sequence[Element | None]) -> list[FloatArray]:
        """As :meth:`numbers` of many elements at once, which is faster; None has no numbers."""
        listed = [(each, _array_of(each)) for each in elements if each is not None]
        for element, value in listed:
            if value is None:
                raise FormatError("An array of numbers is needed.", where=self.place(element))
        arrays = [(element, value) for element, value in listed if value is not None]
        if self.is_text:
            decoded = iter(self._scanned(arrays))
        else:
            decoded = (
                np.asarray(self._stored(value, element), dtype=np.float64)
                for element, value in arrays
            )
        return [_NONE if each is None else next(decoded) for each in elements]

    def bits_of(self, elements: Sequence[Element | None]) -> list[npt.NDArray[np.uint32]]:
        """The bits of arrays of float32. ASCII files state them as whole numbers."""
        if not self.is_text:
            return [_NO_BITS if each is None else self._bits(each) for each in elements]
        arrays = self.numbers_of(elements)
        numbers = np.concatenate([_NONE, *arrays])
        bits = np.clip(numbers, -(2.0**31), 2.0**32 - 1.0).astype(np.int64).astype(np.uint32)
        if not (numbers == np.round(numbers)).all():
            for array, own in zip(arrays, _split(bits, arrays), strict=True):
                if not (array == np.round(array)).all():
                    own[:] = _rounded_bits(array)
        return _split(bits, arrays)

    def _bits(self, element: Element) -> npt.NDArray[np.uint32]:
        value = _array_of(element)
        if value is not None and value.kind == "f":
            return self._stored(value, element).view("<u4")
        return _rounded_bits(self.numbers(element))

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

    def _scanned(self, arrays: list[tuple[Element, StoredArray]]) -> list[FloatArray]:
        """Arrays of text in one pass; where one has not the numbers it states, one by one."""
        if not arrays:
            return []
        parts = [self.data[value.start : value.stop] for _, value in arrays]
        n_bytes = sum(map(len, parts)) + len(_MARK_TEXT) * len(parts)
        self.budget.check(7 * n_bytes + 64, "its numbers", self.place(arrays[0][0]))
        text = bytearray(_MARK_TEXT.join([*parts, b""]).translate(_BLANKS))
        numbers, state = np.zeros(len(text) // 2 + 2), decimal_text.new_state(0)
        ended = decimal_text.scan(text, len(text), numbers, state, width=1, expected=_ENDLESS)
        n = int(state[decimal_text.VALUES])
        stops = np.cumsum([value.count + 1 for _, value in arrays]) - 1
        if ended == decimal_text.DONE and n == stops[-1] + 1 and (numbers[stops] == _MARK).all():
            starts = [0, *(stops[:-1] + 1).tolist()]
            return [numbers[i:j] for i, j in zip(starts, stops.tolist(), strict=True)]
        if len(arrays) > 1:
            return [self._scanned([each])[0] for each in arrays]
        element, value = arrays[0]
        raise FormatError(
            f"An array must hold the {value.count} numbers it states, got "
            + (f"{n - 1}." if ended == decimal_text.DONE else "other text."),
            where=self.place(element),
            fix="The file is damaged: copy or export it again.",
        )


def _array_of(element: Element) -> StoredArray | None:
    value = element.values[0] if element.values else None
    is_array = isinstance(value, StoredArray) and value.kind != "r"
    return value if is_array else None


def _rounded_bits(numbers: FloatArray) -> npt.NDArray[np.uint32]:
    return np.clip(numbers, -3e38, 3e38).astype(np.float32).view(np.uint32)


def _split(
    bits: npt.NDArray[np.uint32], arrays: Sequence[FloatArray]
) -> list[npt.NDArray[np.uint32]]:
    stops = list(accumulate(map(len, arrays)))
    return [bits[stop - len(array) : stop] for stop, array in zip(stops, arrays, strict=True)]
