"""Sync markers: when feet come down and leave, and the phase of the gait between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, of_kind
from motionloom._records import record
from motionloom.motion.motion import Footplants, runs_of


@dataclass(frozen=True, slots=True)
@record
class Marker:
    """One event that engines synchronise clips by.

    Attributes
    ----------
    frame : int
        Frame of the motion.
    side : str
        ``"left"`` or ``"right"``.
    event : str
        ``"down"``: first frame on the ground; ``"up"``: first frame off it.
    """

    frame: int
    side: str
    event: str


@dataclass(frozen=True, slots=True, eq=False)
@record
class SyncMarkers:
    """Foot events of a clip, and its phase.

    Attributes
    ----------
    events : tuple of Marker
        In time order.
    phase : array
        Cycles since the first left foot came down, rising by one from left to left and through one
        half at each right; nan where no two such events lie around. (F,)
    """

    events: tuple[Marker, ...]
    phase: FloatArray


def sync_markers(footplants: Footplants) -> SyncMarkers:
    """Foot down, foot up and phase of a clip with these plants.

    Parameters
    ----------
    footplants
        Contacts of the clip.

    Returns
    -------
    SyncMarkers
        Events in time order, and the phase at every frame.

    Examples
    --------
    >>> planted = np.zeros((40, 4), bool)
    >>> planted[0:8, :2] = planted[10:18, 2:] = planted[20:28, :2] = planted[30:38, 2:] = True
    >>> markers = sync_markers(Footplants(planted))
    >>> [(m.frame, m.side) for m in markers.events if m.event == "down"]
    [(10, 'right'), (20, 'left'), (30, 'right')]
    >>> float(markers.phase[25])
    0.25
    """
    n = of_kind(footplants, Footplants, "footplants").n_frames
    events: list[Marker] = []
    downs: list[tuple[int, str]] = []
    for side, columns in (("left", slice(0, 2)), ("right", slice(2, 4))):
        for first, last in runs_of(np.any(footplants.planted[:, columns], axis=1)):
            if first > 0:
                events.append(Marker(first, side, "down"))
                downs.append((first, side))
            if last < n - 1:
                events.append(Marker(last + 1, side, "up"))
    events.sort(key=lambda m: (m.frame, m.side, m.event))
    return SyncMarkers(tuple(events), _phase(sorted(downs), n))


def _phase(downs: list[tuple[int, str]], n_frames: int) -> FloatArray:
    """Half a cycle from one foot's down to the other's, a whole one to the same foot's."""
    phase = np.full(n_frames, np.nan)
    lefts = [k for k, (_, side) in enumerate(downs) if side == "left"]
    if len(downs) < 2 or not lefts:
        return phase
    value = np.zeros(len(downs))
    for k in range(1, len(downs)):
        value[k] = value[k - 1] + (0.5 if downs[k][1] != downs[k - 1][1] else 1.0)
    value -= value[lefts[0]]
    frames = np.array([frame for frame, _ in downs])
    inside = np.arange(frames[0], frames[-1] + 1)
    phase[inside] = np.interp(inside, frames, value)
    return phase
