"""Dead ends: clips and labels at whose ends a live character finds no transition that passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from motionloom._progress import progress_bar
from motionloom._records import record
from motionloom.errors import TableError
from motionloom.tables.collection.frames import Frames
from motionloom.tables.collection.labels import Label
from motionloom.tables.stream import Stream
from motionloom.tables.transition_request import Place

BEFORE = 20
"""Frames before the last whole window of a clip: a character thinks of its end from 12 on."""
MOST = 3
"""Windows' lengths within which a character has gone on, or never will."""


@record
class DeadEnds(NamedTuple):
    """Where a live character of a table can only continue badly.

    Attributes
    ----------
    clips : tuple of str
        Clips at whose ends no transition to another captured motion passes the quality check.
    labels : tuple of str
        Labels that cannot be held: at the end of every piece with the label no transition into the
        label passes it.
    """

    clips: tuple[str, ...]
    labels: tuple[str, ...]


def find_dead_ends(
    frames: Frames,
    labels: Sequence[Label],
    length: int,
    stream: Callable[[Place], Stream],
    *,
    progress: bool,
) -> DeadEnds:
    """Play every clip and every labelled piece to its end; ``length`` is that of windows."""
    clips, pieces = [], dict[str, list[bool]]()
    with progress_bar("ends", frames.n_clips + len(labels), shown=progress) as advance:
        for clip, n_frames in zip(frames.ids, np.diff(frames.starts).tolist(), strict=True):
            live = stream((clip, max(0, n_frames - length - BEFORE)))
            if not _goes_on(live, MOST * length):
                clips.append(clip)
            advance(1.0)
        for each in labels:
            live = stream((each.clip, max(each.first, each.last - length // 2 - BEFORE)))
            live.step()
            with suppress(TableError):  # no transition arrives in it: it cannot be an order
                live.hold(each.label)
                pieces.setdefault(each.label, []).append(_goes_on(live, MOST * length))
            advance(1.0)
    return DeadEnds(tuple(clips), tuple(sorted(k for k, good in pieces.items() if not any(good))))


def _goes_on(live: Stream, steps: int) -> bool:
    """Whether the first transition within some steps passes the quality check."""
    for _ in range(steps):
        live.step()
        if live.in_transition:
            return not live.flawed
    return False
