"""The container of a GLB file: JSON in one chunk and arrays in another, read and written."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom.errors import FormatError

MAGIC = b"glTF"
JSON_CHUNK, BIN_CHUNK = 0x4E4F534A, 0x004E4942


def chunks(data: bytes) -> tuple[bytes | memoryview, memoryview | None]:
    """The JSON text and the binary chunk of a .glb, or the text alone of a .gltf."""
    if data[:4] != MAGIC:
        return data, None
    if len(data) < 20:
        raise FormatError(f"A .glb has at least 20 bytes, got {len(data)}.", where="byte 4")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FormatError(f"Only glTF 2 can be read, the version is {version}.", where="byte 4")
    if length > len(data):
        raise FormatError(
            f"The header says {length} bytes, got {len(data)}.",
            where="byte 8",
            fix="The file is cut short: copy or download it again.",
        )
    view = memoryview(data)
    text, binary, at = None, None, 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        at += 8
        if at + size > length:
            raise FormatError(f"A chunk of {size} bytes runs past the end.", where=f"byte {at}")
        if kind == JSON_CHUNK and text is None:
            text = view[at : at + size]
        elif kind == BIN_CHUNK and binary is None:
            binary = view[at : at + size]
        at += size
    if text is None:
        raise FormatError("A .glb needs a JSON chunk.", where="byte 12")
    return text, binary


class Pack:
    """The binary chunk while it grows, with an accessor and a buffer view for each array."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._accessors: list[dict[str, Any]] = []
        self._views: list[dict[str, Any]] = []

    def add(
        self, values: npt.NDArray[Any], kind: str, *, target: int = 0, bounds: bool = False
    ) -> int:
        """Append an array (N, C); the number of its accessor."""
        values = np.ascontiguousarray(
            values + np.zeros(1, values.dtype),  # no -0.0: sums in a reader would lose its sign
            dtype="<f4" if values.dtype.kind == "f" else values.dtype.newbyteorder("<"),
        )
        view: dict[str, Any] = {
            "buffer": 0,
            "byteOffset": len(self.data),
            "byteLength": values.nbytes,
        }
        if target:
            view["target"] = target
        code = {"f4": 5126, "u2": 5123, "u4": 5125}[values.dtype.str[1:]]
        accessor: dict[str, Any] = {
            "bufferView": len(self._views),
            "componentType": code,
            "count": len(values),
            "type": kind,
        }
        if bounds:
            accessor["min"] = values.min(axis=0).tolist()
            accessor["max"] = values.max(axis=0).tolist()
        self._views.append(view)
        self._accessors.append(accessor)
        self.data += values.tobytes()
        self.data += b"\0" * (-len(self.data) % 4)
        return len(self._accessors) - 1

    def add_bytes(self, data: bytes) -> int:
        """Append the bytes of a file; the number of their buffer view."""
        self._views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)})
        self.data += data
        self.data += b"\0" * (-len(self.data) % 4)
        return len(self._views) - 1

    def described(self) -> dict[str, Any]:
        """The JSON parts that describe the chunk."""
        return {
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self.data)}],
        }


def write_chunks(stream: BinaryIO, document: dict[str, Any], binary: bytearray) -> None:
    """Write the two chunks of a .glb: its JSON and its arrays."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(binary)
    stream.write(struct.pack("<4sII", MAGIC, 2, total))
    stream.write(struct.pack("<II", len(text), JSON_CHUNK))
    stream.write(text)
    stream.write(struct.pack("<II", len(binary), BIN_CHUNK))
    stream.write(bytes(binary))
