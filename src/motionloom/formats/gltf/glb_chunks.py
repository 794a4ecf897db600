"""Chunks of a .glb file: JSON text, and binary data."""

from __future__ import annotations

import struct

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
