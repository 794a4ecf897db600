"""Universal Scene Description: what film and simulation tools read."""

from __future__ import annotations

from motionloom.formats.registry import Format, later

__all__ = ["FORMAT", "read", "write"]

read, write = later("usd.usd_read", "read"), later("usd.usd_write", "write")

BINARY = b"PXR-USDC"
TEXT = b"#usda "


def sniff(head: bytes) -> bool:
    """Whether these bytes begin USD, as text or binary."""
    return head.startswith((BINARY, TEXT))


FORMAT = Format(
    name="usd",
    title="Universal Scene Description",
    suffixes=(".usda", ".usd", ".usdc", ".usdz"),
    sniff=sniff,
    read=read,
    write=write,
    unit_m=1.0,
    up="y",
    only_read=(".usd", ".usdc", ".usdz"),  # what is written is text
)
