"""Contacts of the hands: frames of the action brought to frames of the splice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from motionloom.errors import ArrayError
from motionloom.splicing.timing import UpperTimes

Spans = Sequence[tuple[int, int]]


def mapped_contacts(
    contacts: Mapping[str, Spans] | None, times: UpperTimes
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Frames of the action brought to frames of the result; what lies outside is dropped."""
    mapped: dict[str, tuple[tuple[int, int], ...]] = {}
    n = len(times.frames)
    if contacts is not None and not isinstance(contacts, Mapping):
        raise ArrayError(
            "`hand_contacts` must map hands to frames, such as {'left': [(10, 45)]}, got "
            f"{type(contacts).__name__}."
        )
    for hand, spans in (contacts or {}).items():
        if hand not in ("left", "right"):
            raise ArrayError(f"`hand_contacts` must be keyed by 'left' and 'right', got {hand!r}.")
        left = []
        for first, last in _checked_spans(spans):
            start = int(np.searchsorted(times.frames, first - 1e-9))
            stop = int(np.searchsorted(times.frames, last + 1e-9)) - 1
            if start < n and stop >= start:
                left.append((start, stop))
        mapped[hand] = tuple(left)
    return mapped


def _checked_spans(spans: Spans) -> Spans:
    try:
        pairs = [(int(first), int(last)) for first, last in spans]
    except (TypeError, ValueError):
        pairs = [(1, 0)]
    if any(first > last for first, last in pairs):
        raise ArrayError(
            "`hand_contacts` must list the first and last frame of every contact, such as "
            f"{{'left': [(10, 45)]}}, got {spans!r}."
        )
    return pairs
