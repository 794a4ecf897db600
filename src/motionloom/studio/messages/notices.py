"""Messages of words only: errors, progress and news. They load without arrays."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

ErrorCode = Literal["invalid", "refused", "cancelled", "failed"]
"""Why a request failed: the message is not valid; it cannot be done, and the text explains why; the
page cancelled it; a defect of the server."""


class ErrorNotice(Struct, frozen=True, tag_field="type", tag="error"):
    """A request that failed; the text is for people."""

    text: str
    code: ErrorCode
    cancelled: bool


class ProgressNotice(Struct, frozen=True, tag_field="type", tag="progress"):
    """Progress of a request; ``part`` runs from 0 to 1."""

    stage: str
    part: float | None
    left_s: float | None


def encode_error(number: int, text: str, code: ErrorCode = "refused") -> str:
    """The message for a request that failed."""
    return encode_head(number, ErrorNotice(text, code, code == "cancelled")).decode()


def encode_head(number: int, head: Struct, **more: object) -> bytes:
    """A message as JSON: the number of its request (0 for news), further fields, and its head."""
    own = msgspec.json.encode({"id": number, **more})
    return own[:-1] + b"," + msgspec.json.encode(head)[1:]
