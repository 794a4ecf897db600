"""GLB and glTF 2.0: what engines and the web read."""

from __future__ import annotations

from motionloom.formats.gltf.glb_chunks import MAGIC
from motionloom.formats.registry import Format, later

__all__ = ["FORMAT", "read", "write"]

read, write = later("gltf.gltf_read", "read"), later("gltf.gltf_write", "write")


def sniff(head: bytes) -> bool:
    """Whether these bytes begin a .glb, or the JSON of a .gltf."""
    if head[:4] == MAGIC:
        return True
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] == b"{" and b'"asset"' in text and b'"version"' in text


FORMAT = Format(
    name="glb",
    title="glTF 2.0",
    suffixes=(".glb", ".gltf"),
    sniff=sniff,
    read=read,
    write=write,
    unit_m=1.0,
    up="y",
    clip_names=later("gltf.gltf_read", "clip_names"),
    read_skin=later("gltf.gltf_character", "read_skin"),
    only_read=(".gltf",),  # what is written is the binary form, and readers go by the name
)
