"""The container of a GLB file while it is written: arrays into one chunk, JSON into another."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom.formats.gltf.glb_chunks import BIN_CHUNK, JSON_CHUNK, MAGIC


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
