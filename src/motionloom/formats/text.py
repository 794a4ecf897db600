"""Text files as people's tools write them: any newline, a byte order mark, an unknown encoding."""

from __future__ import annotations

from typing import BinaryIO

from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.motion.motion import Skeleton

MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which some tools put first."""
LARGEST = 1e12
"""Far beyond every length, angle and rate; sums and products of such numbers stay finite."""
_LONGEST_QUOTE = 40


def read_bounded(stream: BinaryIO, limits: Limits, budget: Budget | None = None) -> bytes:
    """All bytes in ``stream``, or an error where they exceed the limit."""
    budget = budget or Budget.of(stream, limits)
    data = stream.read(min(limits.max_bytes, budget.n_bytes or limits.max_bytes) + 1)
    if len(data) > limits.max_bytes:
        raise FormatError(
            f"A file may have at most {limits.max_bytes} bytes, and this one has more.",
            fix="Cut it into shorter clips.",
        )
    budget.take(len(data), "its text")
    return data


def refuse_wide_text(head: bytes) -> None:
    """Raise where the file begins as UTF-16 or UTF-32, in which no letter is where it seems."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(
            "The text must be ASCII or UTF-8, and this file is UTF-16.",
            where="byte 0",
            fix="Save it again as UTF-8.",
        )


def decoded(data: bytes) -> str:
    """``data`` as text: UTF-8, and where it is not that, Latin-1, so that every byte is read."""
    refuse_wide_text(data)
    data = data.removeprefix(MARK)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def quoted(token: bytes | str) -> str:
    """``token`` for an error text: printable, short, in quotes."""
    text = decoded(token) if isinstance(token, bytes) else token
    short = text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 3]}..."
    return repr(short)


def shown(value: object) -> str:
    """``value`` of a file's header for an error text: short, whatever it is."""
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 3]}..."


def unique_names(names: list[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """Names with ``_2``, ``_3`` ... added where one came before, and which were changed.

    An empty name becomes ``joint_<index>``.
    """
    stated = set(names)
    taken: set[str] = set()
    count: dict[str, int] = {}
    unique, changed = [], []
    for index, stated_name in enumerate(names):
        name = base = stated_name or f"joint_{index}"
        number = count.get(base, 1)
        while name in taken or (name != stated_name and name in stated):
            number += 1
            name = f"{base}_{number}"
        count[base] = number
        if name != stated_name:
            changed.append((index, stated_name))
        taken.add(name)
        unique.append(name)
    return unique, changed


def end_names(skeleton: Skeleton) -> list[str]:
    """A name for every end site that no joint and no other end site has."""
    taken = set(skeleton.names)
    names = []
    for parent in skeleton.end_parents:
        base = name = f"{skeleton.names[parent]}_end"
        again = 2
        while name in taken:
            name, again = f"{base}_{again}", again + 1
        taken.add(name)
        names.append(name)
    return names
