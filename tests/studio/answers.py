"""Binary answers of the studio, read as the page reads them."""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from motionloom.studio.messages.wire import ANSWER

KINDS = {"float32": "<f4", "uint8": "|u1", "int32": "<i4"}


def decode_answer(message: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Head and arrays of a binary answer."""
    if message[:4] != ANSWER:
        raise ValueError(f"a binary answer must begin with {ANSWER!r}, got {message[:4]!r}")
    (length,) = struct.unpack_from("<I", message, 4)
    head = msgspec.json.decode(message[8 : 8 + length])
    at, arrays = 8 + length, {}
    for layout in head.pop("arrays"):
        count = int(np.prod(layout["shape"], dtype=np.int64))
        array = np.frombuffer(message, KINDS[layout["dtype"]], count, at).reshape(layout["shape"])
        arrays[layout["name"]] = array
        at += array.nbytes + -array.nbytes % 4
    return head, arrays
