"""FBX: what Unity, Unreal, Maya, MotionBuilder and Mixamo exchange."""

from __future__ import annotations

from motionloom.formats.fbx.fbx_binary import MAGIC
from motionloom.formats.fbx.fbx_character import read_skin
from motionloom.formats.fbx.fbx_read import clip_names, read
from motionloom.formats.fbx.fbx_write import write
from motionloom.formats.registry import Format

__all__ = ["FORMAT", "read", "write"]


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
    clip_names=clip_names,
    read_skin=read_skin,
)
