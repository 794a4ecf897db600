"""Feet that carry the body, and the travel of the body, against the clips at the times they play.

No contact labels are needed: a foot carries the body if its sole is as low as the body stands, if
the body does not fall and its weight is over that foot. Its slip is how far it gets over the ground
beyond what the clips' feet do at the mapped times. See core/src/checks/check_support.c.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom import _core
from motionloom._arrays import BoolArray, FloatArray
from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.features.checks.series import CheckRig, Series, series_record
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
        unchanged = np.zeros(provenance.n_frames, dtype=bool)
        return cls(
            dataclasses.replace(provenance, changed=unchanged).copies(),
            tuple(playing_clips(provenance, [each.fps for each in sources])),
            np.stack([provenance.body.weights_of(k) for k in range(n)], axis=1),
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

MOMENTS = _core.integer("ML_SUPPORT_MOMENTS")
"""Moments of a clip around the mapped time."""
AROUND_S = 0.2
"""Seconds of a clip that are measured before and after the times that are used."""
MOST_ROWS = 16
"""Failures of one call at most: three slips, three of travel, four soles."""


@record
class Support(NamedTuple):
    """What feet and body do in every frame, seen from the body's heading."""

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
    _measure(series_record(series), fps, leg, first, stop, levels, support_record(out))


def support_record(support: Support) -> _core.Record:
    """As the core takes it."""
    return _core.record("ml_support", n_frames=len(support.heading), **support._asdict())


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
    own = support_record(result)
    for row, (source, at) in enumerate(playing):
        _told(
            support_record(supports[source]), rates[source], own, fps, first, stop, at,
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
        support_record(result), fps, first, stop, len(told.rates), *told,
        np.ascontiguousarray(judged, dtype=np.bool_), 1.0, np.zeros((stop - first + 1, 10)),
        MOST_ROWS, rows, n_found,
    )  # fmt: skip
    return rows[: int(n_found[0])]


def used_frames(playing: Sequence[Playing], n_sources: int, span: slice) -> Iterator[FloatArray]:
    """First and last frame of every source that play within a span; an empty array for none."""
    for source in range(n_sources):
        frames = [each.at[span] for each in playing if each.source == source]
        known = np.concatenate([at[np.isfinite(at)] for at in frames]) if frames else np.zeros(0)
        yield np.array([known.min(), known.max()]) if len(known) else known
