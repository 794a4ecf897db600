"""Feet that carry the body, and the travel of the body, against the clips at the times they play.

No contact labels are needed: a foot carries the body if its sole is as low as the body stands, if
the body does not fall and its weight is over that foot. Its slip is how far it gets over the ground
beyond what the clips' feet do at the mapped times. See core/src/checks/check_support.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom import _core
from motionloom._arrays import BoolArray, FloatArray
from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.features.checks.series import CheckRig, Series
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
        """Read the provenance of a motion; it must fit the motion and the sources."""
        if provenance.n_frames != motion.n_frames:
            raise ArrayError(
                f"`provenance` must have one row per frame of the motion ({motion.n_frames}), got "
                f"{provenance.n_frames}. Cut it as the motion was cut: provenance[first:stop]."
            )
        n = len(sources)
        if len(provenance.sources) != n:
            raise ArrayError(
                f"`provenance` must be about the sources of the check ({n}), in their order; "
                f"it names {len(provenance.sources)}."
            )
        return cls(
            provenance.copies(changed_too=True),
            tuple(playing_clips(provenance, [each.fps for each in sources])),
            provenance.body.shares(n),
            judged_frames(provenance),
        )


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


def judged_frames(provenance: Provenance) -> BoolArray:
    """Frames that are judged: all but copies. Steps into a copy and out of it are judged. (F,)."""
    judged, n = np.ones(provenance.n_frames, dtype=bool), provenance.n_frames
    for first, last, *_ in provenance.copies():
        judged[first + (first > 0) : last + (last == n - 1)] = False
    return judged


# --- Support of feet, and travel

_measure = _core.kernel("ml_support_measure")
_told = _core.kernel("ml_support_told")
_judge = _core.kernel("ml_support_judge")
_record = _core.maker("ml_support")

MOMENTS = _core.integer("ML_SUPPORT_MOMENTS")
"""Moments of a clip around the mapped time."""
AROUND_S = 0.2
"""Seconds of a clip that are measured before and after the times that are used."""
MOST_ROWS = 16
"""Failures of one call at most: three slips, three of travel, four soles."""


class _Seen(NamedTuple):
    velocity: FloatArray
    """Of five points of each sole: to the left, up, ahead, m/s. (F, 2, 5, 3)"""
    share: FloatArray
    """Part of the weight on each foot. (F, 2)"""
    travel: FloatArray
    """Velocity of the pelvis: to the left, ahead, m/s. (F, 2)"""
    heading: FloatArray
    """Of the series, radians. (F,)"""
    soles: FloatArray
    """Of the series, metres. (F, 4, 3)"""
    slowest: npt.NDArray[np.int8]
    """The slowest low point of each sole, -1 where none is low. (F, 2)"""
    falls: npt.NDArray[np.uint8]
    """Frames in which the body falls. (F,)"""


@record
class Support(_Seen):
    """What feet and body do in every frame, seen from the body's heading."""

    @cached_property
    def core(self) -> _core.Record:
        """The support as the core takes it."""
        made: _core.Record = _record(n_frames=len(self.heading), **self._asdict())
        return made

    def __reduce__(self) -> tuple[type[Support], tuple[npt.NDArray[Any], ...]]:
        return Support, tuple(self)


def new_support(series: Series) -> Support:
    """Support of zeros for all frames of a series."""
    n = len(series.heading)
    return Support(
        np.zeros((n, 2, 5, 3)),
        np.zeros((n, 2)),
        np.zeros((n, 2)),
        series.heading,
        series.soles,
        np.full((n, 2), -1, dtype=np.int8),
        np.zeros(n, dtype=np.uint8),
    )


def measure_support(
    series: Series, fps: float, leg: float, first: int, stop: int, out: Support
) -> None:
    """Fill frames ``first`` to ``stop`` - 1; ``leg`` is the length of thigh and shank, metres."""
    levels = np.zeros(len(series.heading))
    _measure(series.core, fps, leg, first, stop, levels, out.core)


def leg_length(rig: CheckRig, positions: FloatArray) -> float:
    """Length of thigh and shank of the left leg, metres, from positions (F, J, 3)."""
    hip, knee, ankle = positions[0, rig.legs[0]]
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))


class Told(NamedTuple):
    """Measures of the playing clips at the frames of a result, one row for each clip."""

    feet: FloatArray
    """(P, F, 2, 9, 2)"""
    travel: FloatArray
    """(P, F, 9, 2)"""
    rates: FloatArray
    """(P, F)"""
    lows: FloatArray
    """(P, F, 4)"""


def told_by(
    playing: Sequence[Playing],
    supports: Sequence[Support],
    rates: Sequence[float],
    result: Support,
    fps: float,
    span: tuple[int, int],
) -> Told:
    """Measure every playing clip at frames ``span`` (first, stop) of a result."""
    first, stop = span
    n, many = stop - first, len(playing)
    told = Told(
        np.zeros((many, n, 2, MOMENTS, 2)),
        np.zeros((many, n, MOMENTS, 2)),
        np.zeros((many, n)),
        np.zeros((many, n, 4)),
    )
    for row, (source, at) in enumerate(playing):
        _told(
            supports[source].core, rates[source], result.core, fps, first, stop, at,
            told.feet[row], told.travel[row], told.rates[row], told.lows[row],
        )  # fmt: skip
    return told


def support_rows(
    result: Support, fps: float, span: tuple[int, int], told: Told, judged: BoolArray
) -> FloatArray:
    """Failures of support and travel: check, joint, frame, value, limit. (N, 5)."""
    first, stop = span
    rows, n_found = np.zeros((MOST_ROWS, 5)), np.zeros(1, dtype=np.int64)
    _judge(
        result.core, fps, first, stop, len(told.rates), *told,
        np.ascontiguousarray(judged, dtype=np.bool_), 1.0, np.zeros((stop - first + 1, 10)),
        MOST_ROWS, rows, n_found,
    )  # fmt: skip
    return rows[: int(n_found[0])]


class SourceSupports:
    """Support of the sources of a check: measured where they play, and kept.

    Parameters
    ----------
    sources
        The clips.
    series
        What was measured of them.
    """

    def __init__(self, sources: Sequence[Motion], series: Sequence[Series]) -> None:
        self._clips = [(each.fps, each.n_frames) for each in sources]
        self._series = series
        self._known: dict[int, tuple[int, int, Support]] = {}

    def failures(
        self, series: Series, fps: float, leg: float, played: Played, judged: BoolArray
    ) -> FloatArray:
        """Failures of support and travel of a result: check, joint, frame, value, limit. (N, 5).

        Parameters
        ----------
        series, fps
            What was measured of the result, and its rate.
        leg
            Length of thigh and shank, metres.
        played
            The clips that play in it.
        judged : (F,)
            Frames that are judged; at least one.
        """
        frames = np.flatnonzero(judged)
        span = int(frames[0]), int(frames[-1]) + 1
        supports = [
            self._support_of(source, _used_frames(played.clips, source, slice(*span)), leg)
            for source in range(len(self._clips))
        ]
        result = new_support(series)
        measure_support(series, fps, leg, *span, result)
        rates = [rate for rate, _ in self._clips]
        told = told_by(played.clips, supports, rates, result, fps, span)
        return support_rows(result, fps, span, told, judged)

    def _support_of(self, source: int, ends: FloatArray, leg: float) -> Support:
        """Support of a source, known in the frames around ``ends`` at least."""
        series = self._series[source]
        first, stop, support = self._known.get(source) or (0, 0, new_support(series))
        if len(ends):
            fps, n = self._clips[source]
            around = round(AROUND_S * fps)
            low = min(max(int(ends[0]) - around, 0), n - 1)
            high = min(int(ends[1]) + around + 1, n)
            if low < first or high > stop:
                first, stop = (min(low, first), max(high, stop)) if stop else (low, high)
                measure_support(series, fps, leg, first, stop, support)
                self._known[source] = first, stop, support
        return support


def _used_frames(playing: Sequence[Playing], source: int, span: slice) -> FloatArray:
    """First and last frame of a source that play within a span; an empty array for none."""
    frames = [each.at[span] for each in playing if each.source == source]
    known = np.concatenate([at[np.isfinite(at)] for at in frames]) if frames else np.zeros(0)
    return np.array([known.min(), known.max()]) if len(known) else known
