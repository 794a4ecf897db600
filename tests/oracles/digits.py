"""Numbers as text."""

from __future__ import annotations

from motionloom._arrays import FloatArray
from motionloom.formats.decimal_text import DECIMALS


def rows_as_text(rows: FloatArray, *, newline: str = "\n") -> bytes:
    """The plain form of :func:`rows_as_text`."""
    texts = (" ".join(f"{value:z.{DECIMALS}f}" for value in row) + newline for row in rows.tolist())
    return "".join(texts).encode("ascii")
