"""FBX: what Unity, Unreal, Maya, MotionBuilder and Mixamo exchange."""

from __future__ import annotations

from motionloom.formats.fbx.fbx_parse import MAGIC
from motionloom.formats.registry import Format, later

__all__ = ["FORMAT", "read", "write"]

read, write = later("fbx.fbx_read", "read"), later("fbx.fbx_write", "write")


def sniff(head: bytes) -> bool:
    """Whether these bytes begin an FBX file, binary or ASCII."""
    return head.startswith(MAGIC) or (
        b"FBXHeaderExtension:" in head and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b";", b"F")
    )


FORMAT = Format(
    name="fbx",
    title="FBX 7",
    suffixes=(".fbx",),
    sniff=sniff,
    read=read,
    write=write,
    unit_m=0.01,
    up="y",
    clip_names=later("fbx.fbx_read", "clip_names"),
    read_skin=later("fbx.fbx_character", "read_skin"),
)
