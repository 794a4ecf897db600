"""Messages of words only: errors, progress and news. They load without arrays."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["ErrorCode", "encode_error", "encode_news", "encode_progress"]

ErrorCode = Literal["invalid", "refused", "cancelled", "failed"]
"""Why a request failed: the message is not valid; it cannot be done, and the text says why; the
page cancelled it; a defect of the server."""


def encode_error(number: int, text: str, code: ErrorCode = "refused") -> str:
    """The message for a request that failed."""
    body = {"type": "error", "id": number, "text": text, "code": code,
            "cancelled": code == "cancelled"}  # fmt: skip
    return msgspec.json.encode(body).decode()


def encode_progress(number: int, stage: str, part: float | None, left_s: float | None) -> str:
    """The message that reports the progress of a request."""
    body = {"type": "progress", "id": number, "stage": stage, "part": part, "left_s": left_s}
    return msgspec.json.encode(body).decode()


def encode_news(kind: str, body: dict[str, Any]) -> str:
    """A message that no request asked for; its number is 0."""
    return msgspec.json.encode({"type": kind, "id": 0, **body}).decode()
