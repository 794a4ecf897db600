"""Numbers out of text."""

from __future__ import annotations

import re


def scan(data: bytes) -> list[float]:
    """The numbers in ``data`` by ``float``, one token at a time."""
    text = re.sub(rb"(#|//)[^\r\n]*", b"", data)
    text = re.sub(rb"(?<=[0-9.])([+-])", rb" \1", text)
    return [float(token) for token in text.split()]
