"""What a provenance tells the check: clips that play in every frame, and frames to judge."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.motion.provenance import Copy, Provenance


class Playing(NamedTuple):
    """A clip that plays in a result."""

    source: int
    at: FloatArray
    """Its frame at every frame of the result; nan where it does not play. (F,)"""


class Played(NamedTuple):
    """The clips that play in a result. By default nothing is known of them."""

    shown: tuple[Copy, ...] = ()
    """Runs of frames that each show a frame of one clip, as it is or with changes. A joint may do
    there what it does in the clip's frame."""
    clips: tuple[Playing, ...] = ()
    """Clips whose feet, travel and falls every frame is compared with."""
    weights: FloatArray | None = None
    """Share of every source in every frame; floors are mixed by them. (F, K)"""
    judged: BoolArray | None = None
    """Frames that are judged; all by default. (F,)"""

    @classmethod
    def of(cls, provenance: Provenance, motion: Motion, sources: Sequence[Motion]) -> Played:
        """What the provenance of a motion tells; it must fit the motion and the sources."""
        checked_provenance(provenance, motion, len(sources))
        return cls(
            shown_frames(provenance),
            tuple(playing_clips(provenance, [each.fps for each in sources])),
            weights_in(provenance),
            judged_frames(provenance),
        )


def checked_provenance(provenance: Provenance, motion: Motion, n_sources: int) -> None:
    """Refuse a provenance that is not about the motion and the sources."""
    if provenance.n_frames != motion.n_frames:
        raise ArrayError(
            f"`provenance` must have one row per frame of the motion ({motion.n_frames}), got "
            f"{provenance.n_frames}. Cut it as the motion was cut: provenance[first:stop]."
        )
    if len(provenance.sources) != n_sources:
        raise ArrayError(
            f"`provenance` must be about the sources of the check ({n_sources}), in their order; "
            f"it names {len(provenance.sources)}."
        )


def shown_frames(provenance: Provenance) -> tuple[Copy, ...]:
    """Frames that show a frame of one clip, as it is or with changes."""
    unchanged = np.zeros(provenance.n_frames, dtype=bool)
    return dataclasses.replace(provenance, changed=unchanged).copies()


def playing_clips(provenance: Provenance, rates: Sequence[float]) -> list[Playing]:
    """Clips of the part that carries the body. One that plays at two times at once is there twice.

    Parameters
    ----------
    provenance
        Of the result.
    rates
        Frames per second of each source.
    """
    track = provenance.body
    found = []
    for slot in range(track.clip.shape[1]):
        used = track.weight[:, slot] != 0.0
        for source in np.unique(track.clip[used, slot]):
            here = used & (track.clip[:, slot] == source)
            at = np.where(here, track.time[:, slot] * rates[source], np.nan)
            found.append(Playing(int(source), at))
    return found


def weights_in(provenance: Provenance) -> FloatArray:
    """Share of every source in every frame of the part that carries the body. (F, K)."""
    each = [provenance.body.weights_of(k) for k in range(len(provenance.sources))]
    return np.stack(each, axis=1)


def judged_frames(provenance: Provenance) -> BoolArray:
    """Frames that are judged: all but copies. Steps into a copy and out of it are judged. (F,)."""
    judged, n = np.ones(provenance.n_frames, dtype=bool), provenance.n_frames
    for first, last, *_ in provenance.copies():
        judged[first + (first > 0) : last + (last == n - 1)] = False
    return judged
