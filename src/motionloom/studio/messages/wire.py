"""Answers and poses as bytes.

A binary answer is::

    4 bytes   "MLA1"
    4 bytes   length of the head, little-endian uint32
    head      the answer as JSON, with ``arrays``: [{"name", "dtype", "shape"}, ...]; padded with
              spaces to a multiple of 4
    arrays    one after the other, little-endian, each padded to a multiple of 4

A pose is 16 bytes of head and the body's points::

    4 bytes   "MLP1"
    4 bytes   number of the live blend, uint32
    4 bytes   number of the frame, uint32
    4 bytes   planted bits (1 left heel, 2 left toe, 4 right heel, 8 right toe), uint32
    points    (P, 3) float32
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.notices import encode_head

ANSWER, POSE = b"MLA1", b"MLP1"


def encode_answer(number: int, answer: Answer) -> str | bytes:
    """The message for an answer: text, or bytes where it has arrays."""
    if not answer.arrays:
        return encode_head(number, answer.body).decode()
    packed = [(name, _plain(array)) for name, array in answer.arrays.items()]
    layout = [
        {"name": name, "dtype": array.dtype.name, "shape": array.shape} for name, array in packed
    ]
    text = encode_head(number, answer.body, arrays=layout)
    text += b" " * (-len(text) % 4)
    parts = [ANSWER, struct.pack("<I", len(text)), text]
    for _, array in packed:
        data = array.tobytes()
        parts.append(data + b"\0" * (-len(data) % 4))
    return b"".join(parts)


def encode_pose(live: int, frame: int, planted: BoolArray, points: FloatArray) -> bytes:
    """The message for one frame of a live blend."""
    bits = sum(1 << k for k in range(4) if planted[k])
    return POSE + struct.pack("<III", live, frame, bits) + points.astype("<f4").tobytes()


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array as one of the three types that the page reads."""
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array, dtype="|u1")
    if array.dtype.kind in "iu" and array.dtype != np.uint8:
        return np.ascontiguousarray(array, dtype="<i4")
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(array, dtype="<f4")
