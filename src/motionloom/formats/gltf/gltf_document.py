"""The contents of a glTF file: its JSON, its buffers, and the arrays in them, all checked."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.files.limits import Budget
from motionloom.files.reading import parse_json, read_file
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.gltf.glb_chunks import chunks
from motionloom.formats.text import shown

COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
FREE_ZEROS = 1024**2
"""Bytes of zeros an accessor without stored data may ask for: more is a memory bomb."""
TIMES_DECODED = 4
"""How often the memory that a file may take is filled with arrays, one after the other."""
MARK = "motionloom"
"""Key under which our own facts stand in `extras`."""
GENERATOR, BONES = "motionloom", "bones"
"""The generator of our files, and the mesh that shows the skeleton where there is no skin."""
WRAPS = {33071: "clamp", 33648: "mirror", 10497: "repeat"}
NEAREST = 9728
OPACITIES = {"OPAQUE": "opaque", "MASK": "mask", "BLEND": "blend"}


class Document:
    """One glTF file: the JSON as it is, and arrays by accessor number."""

    def __init__(self, data: bytes, options: ReadOptions) -> None:
        self.options = options
        self.budget = Budget(options.limits, len(data))
        self.budget.take(len(data), "its contents")
        text, self._binary = chunks(data)
        self.json = _parsed(bytes(text), self.budget)
        self._listed: dict[str, list[dict[str, Any]]] = {}
        self._decoded = 0
        self._zeros_left = FREE_ZEROS
        self._buffers: dict[int, bytes | memoryview] = {}

    def listed(self, key: str) -> list[dict[str, Any]]:
        """The list of objects under a key of the document; checked once."""
        if key not in self._listed:
            self._listed[key] = objects(self.json.get(key), key)
        return self._listed[key]

    def accessor(self, index: Any, where: str, width: int) -> FloatArray:
        """The values of an accessor as float64. Shape (N, width).

        Integers are scaled to [0, 1] or [-1, 1] where the file says that they are normalised.
        """
        listed = self.listed("accessors")
        number = index_of(index, len(listed), where)
        spec, where = listed[number], f"accessor {number}"
        count = _count(spec.get("count"), where)
        have = WIDTHS.get(str(spec.get("type")), 0)
        if have != width:
            raise FormatError(
                f"Values of {width} numbers are needed, its type is {spec.get('type')!r}.",
                where=where,
            )
        self._decode(count * width * 8, where)
        if "bufferView" in spec:
            raw = self._stored(spec, spec.get("componentType"), count, width, where)
        else:
            raw = self._zeros(spec, count, width, where)
        if isinstance(spec.get("sparse"), dict):
            raw = self._patched(raw, spec, spec["sparse"], where)
        return _as_numbers(raw, spec.get("normalized") is True)

    def accessor_count(self, index: Any, where: str) -> int:
        """How many values an accessor has."""
        listed = self.listed("accessors")
        return _count(listed[index_of(index, len(listed), where)].get("count"), where)

    def accessor_width(self, index: Any, where: str) -> int:
        """How many numbers each value of an accessor has."""
        listed = self.listed("accessors")
        return WIDTHS.get(str(listed[index_of(index, len(listed), where)].get("type")), 0)

    def view_bytes(self, index: Any, where: str) -> bytes:
        """A copy of the bytes of a buffer view."""
        views = self.listed("bufferViews")
        number = index_of(index, len(views), where)
        view, place = views[number], f"bufferView {number}"
        start = _count(view.get("byteOffset", 0), place)
        length = _count(view.get("byteLength"), place)
        data = self._buffer(view.get("buffer"), place)
        if start + length > len(data):
            raise FormatError(
                f"Bytes {start} to {start + length} must lie in a buffer of {len(data)} bytes.",
                where=place,
                fix="The file is cut short or damaged: copy or download it again.",
            )
        self.budget.take(length, "these bytes", place)
        return bytes(data[start : start + length])

    def uri_bytes(self, uri: Any, where: str) -> bytes:
        """The bytes at an address: in the address itself, or in a file of the same folder."""
        if not isinstance(uri, str):
            raise FormatError("An address is needed.", where=where)
        if uri.startswith("data:"):
            self.budget.take(len(uri), "these bytes", where)
            return _decoded(uri, where)
        return self._companion(uri, where)

    def _zeros(self, spec: dict[str, Any], count: int, width: int, where: str) -> npt.NDArray[Any]:
        dtype = _component(spec.get("componentType"), where)
        self._zeros_left -= count * width * dtype.itemsize
        if self._zeros_left < 0:
            raise FormatError(
                f"Accessors without stored data may hold {FREE_ZEROS} bytes in all, "
                f"this one asks for {count} values.",
                where=where,
            )
        return np.zeros((count, width), dtype)

    def _stored(
        self, spec: dict[str, Any], component: Any, count: int, width: int, where: str
    ) -> npt.NDArray[Any]:
        """Values that lie in a buffer view, in their own kind of number. Shape (count, width)."""
        dtype = _component(component, where)
        views = self.listed("bufferViews")
        number = index_of(spec.get("bufferView"), len(views), where)
        view = views[number]
        extensions = view.get("extensions")
        named = extensions if isinstance(extensions, dict) else {}
        compressed = [name for name in named if "compression" in name]
        if compressed:
            raise FormatError(
                f"The data is packed with {compressed[0]}, which cannot be read.",
                where=f"bufferView {number}",
                fix="Export it again without compression.",
            )
        start = _count(view.get("byteOffset", 0), f"bufferView {number}")
        length = _count(view.get("byteLength"), f"bufferView {number}")
        offset = _count(spec.get("byteOffset", 0), where)
        size = width * dtype.itemsize
        stride = _count(view.get("byteStride", size), f"bufferView {number}", least=1)
        data = self._buffer(view.get("buffer"), f"bufferView {number}")
        needed = offset + (stride * (count - 1) + size if count else 0)
        if stride < size or needed > length or start + length > len(data):
            raise FormatError(
                f"{count} values of {size} bytes, {stride} apart from byte {offset}, must fit into "
                f"bytes {start} to {start + length} of a buffer of {len(data)} bytes.",
                where=where,
                fix="The file is cut short or damaged: copy or download it again.",
            )
        if not count:
            return np.zeros((0, width), dtype)
        return np.ndarray(
            (count, width), dtype, data, start + offset, strides=(stride, dtype.itemsize)
        )

    def _patched(
        self, raw: npt.NDArray[Any], spec: dict[str, Any], sparse: dict[str, Any], where: str
    ) -> npt.NDArray[Any]:
        indices, values = sparse.get("indices"), sparse.get("values")
        if not isinstance(indices, dict) or not isinstance(values, dict):
            raise FormatError("A sparse accessor needs indices and values.", where=where)
        count = _count(sparse.get("count"), where)
        self._decode(count * (raw.shape[1] + 1) * 8, where)
        if indices.get("componentType") not in (5121, 5123, 5125):
            raise FormatError("Sparse indices must be unsigned integers.", where=where)
        at = self._stored(indices, indices["componentType"], count, 1, where)[:, 0]
        if count and int(at.max()) >= len(raw):
            raise FormatError(
                f"Sparse indices must be below {len(raw)}, got {int(at.max())}.", where=where
            )
        out = np.array(raw)
        out[at] = self._stored(values, spec.get("componentType"), count, raw.shape[1], where)
        return out

    def _buffer(self, index: Any, where: str) -> bytes | memoryview:
        listed = self.listed("buffers")
        number = index_of(index, len(listed), where)
        if number not in self._buffers:
            uri = listed[number].get("uri")
            where = f"buffer {number}"
            data: bytes | memoryview
            if uri is None and number == 0 and self._binary is not None:
                data = self._binary
            elif isinstance(uri, str):
                data = self.uri_bytes(uri, where)
            else:
                raise FormatError("A buffer needs an address or a binary chunk.", where=where)
            self._buffers[number] = data
        return self._buffers[number]

    def _companion(self, uri: str, where: str) -> bytes:
        """The bytes of a file in the same folder (or below it), and of no other."""
        relative = PurePosixPath(unquote(uri))
        unsafe = ":" in uri or "\\" in uri or "\0" in str(relative)
        if unsafe or relative.is_absolute() or ".." in relative.parts:
            raise FormatError(
                f"Other files are only read from the file's folder, got {uri[:80]!r}.",
                where=where,
                fix="Put the file next to it, or pack everything into one .glb.",
            )
        if self.options.path is None:
            raise FormatError(
                f"It is in another file ({uri[:80]!r}), which a stream cannot reach.",
                where=where,
                fix="Load it by its path, or pack everything into one .glb.",
            )
        folder = self.options.path.parent.resolve()
        path = Path(folder, *relative.parts)
        try:
            path = path.resolve()
            if not path.is_relative_to(folder) or not path.is_file():
                raise FileNotFoundError
            size = path.stat().st_size
            if size > self.options.limits.max_bytes:
                raise FormatError(f"{uri[:80]!r} is too large.", where=where)
            self.budget.add_file(size)
            self.budget.take(size, "this buffer", where)
            return read_file(path, size)
        except (OSError, ValueError) as error:
            raise FormatError(
                f"{uri[:80]!r} must lie in the file's folder and be readable.", where=where
            ) from error

    def _decode(self, size: int, where: str) -> None:
        """Count an array that is about to be made, for many may be made of the same few bytes."""
        self.budget.check(size, "this array", where)
        self._decoded += size
        most = TIMES_DECODED * self.budget.total
        if self._decoded > most:
            raise FormatError(
                f"All arrays together must have at most {most} bytes.",
                where=where,
                fix="Export it without arrays that share their data.",
            )


def _parsed(text: bytes, budget: Budget) -> dict[str, Any]:
    parsed = parse_json(text, budget, where="JSON", constants=True)
    asset = parsed.get("asset") if isinstance(parsed, dict) else None
    if not isinstance(asset, dict):
        raise FormatError("A glTF file must say its `asset`.", where="JSON")
    if not str(asset.get("version", "")).startswith("2."):
        raise FormatError(
            f"Only glTF 2 can be read, the version is {str(asset.get('version'))[:20]!r}.",
            where="asset",
        )
    return dict(parsed)


def objects(json_value: Any, what: str) -> list[dict[str, Any]]:
    """The list of objects in a JSON value; empty where it is missing."""
    if json_value is None:
        return []
    if not isinstance(json_value, list) or not all(isinstance(v, dict) for v in json_value):
        raise FormatError("A list of objects is needed.", where=what)
    return json_value


def index_of(value: Any, length: int, where: str) -> int:
    """``value`` as an index below ``length``."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < length:
        raise FormatError(f"An index below {length} is needed, got {shown(value)}.", where=where)
    return value


def _count(value: Any, where: str, *, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise FormatError(
            f"A whole number from {least} is needed, got {shown(value)}.", where=where
        )
    return value


def _decoded(uri: str, where: str) -> bytes:
    head, comma, body = uri.partition(",")
    if not comma or not head.endswith(";base64"):
        raise FormatError("A data address must be base64.", where=where)
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"The base64 cannot be read ({error}).", where=where) from error


def _component(code: Any, where: str) -> np.dtype[Any]:
    if not isinstance(code, int) or code not in COMPONENTS:
        raise FormatError(
            f"The component type must be one of {', '.join(map(str, COMPONENTS))}, "
            f"got {shown(code)}.",
            where=where,
        )
    return np.dtype(COMPONENTS[code])


def _as_numbers(raw: npt.NDArray[Any], normalized: bool) -> FloatArray:
    with np.errstate(invalid="ignore"):  # some NaNs complain when cast; all are refused later
        values = raw.astype(np.float64)
    if not normalized or raw.dtype.kind == "f":
        return values
    return np.maximum(values / float(np.iinfo(raw.dtype).max), -1.0)
