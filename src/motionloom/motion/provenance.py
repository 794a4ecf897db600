"""Source and provenance: the file that a clip came from, and the clips that a result was made from.

A source keeps what a file stated, so that saving in the same format restores it. Provenance says
which clips, at which times, every frame of a result was made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray, frozen, positive
from motionloom._records import FrozenMapping, record
from motionloom.errors import ArrayError
from motionloom.findings import Finding


@dataclass(frozen=True, slots=True)
@record
class Floor:
    """The ground a clip stands on, fitted through the planted balls of its feet.

    The ball of a foot stands at ``height_foot + slope_x * x + slope_z * z``.

    Attributes
    ----------
    left_height : float
        Height of the left ball over the world origin, metres.
    right_height : float
        The same of the right ball.
    slope_x : float
        Rise per metre along +X; 0 if the clip's path does not show it.
    slope_z : float
        The same along +Z.
    residual : float
        Root mean square distance of the contacts from the plane, metres.
    """

    left_height: float
    right_height: float
    slope_x: float
    slope_z: float
    residual: float

    @property
    def height(self) -> float:
        """Mean height of both feet, metres."""
        return 0.5 * (self.left_height + self.right_height)


@dataclass(frozen=True, slots=True, eq=False)
@record
class Source:
    """Where a motion came from and how its file stated it.

    Attributes
    ----------
    format : str
        Name in the format registry, empty for a motion made from arrays.
    path : str
        The file.
    clip : str
        Name of the clip inside a file that holds several.
    unit_m : float
        Metres per unit of length in the file.
    up : str
        The file's up axis: ``"x"``, ``"y"`` or ``"z"``, with ``-`` before it where upside down.
    fps : float or None
        Rate that the file stated, ``None`` where it stated none.
    skipped_frames : int
        Leading frames of the file that are not in the motion (a T-pose).
    floor : Floor or None
        The ground that was detected; None where there is none.
    detail : Mapping
        What only this format knows: channels, rest pose, header lines.
    findings : tuple of Finding
        What was noticed while it was read.
    """

    format: str = ""
    path: str = ""
    clip: str = ""
    unit_m: float = 1.0
    up: str = "y"
    fps: float | None = None
    skipped_frames: int = 0
    floor: Floor | None = None
    detail: Mapping[str, Any] = field(default_factory=FrozenMapping)
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.detail, FrozenMapping):
            object.__setattr__(self, "detail", FrozenMapping(self.detail))

    def for_result(self) -> Source:
        """Source of a motion made from this clip: the same unit, axes and channels, no findings.

        Returns
        -------
        Source
            A new source; this one stays as it is.
        """
        return replace(self, findings=(), skipped_frames=0)


# --- Provenance: which clips, at which times, every frame of a result was made from

WHOLE_BODY = "body"
"""Name of the only track of results in which all joints come from the same clips."""
SUM_TOLERANCE = 1e-6
"""Weights of a frame may differ from one in sum by this much."""
NEXT_TOLERANCE = 1e-6
"""Frames: two times of a clip that are one frame apart follow each other within this much."""


class Copy(NamedTuple):
    """Frames of a result that are one clip's own, moved rigidly over the ground.

    Attributes
    ----------
    first, last : int
        First and last such frame of the result.
    source : int
        Index of the clip.
    start : int
        Frame of the clip, at the result's rate, that frame ``first`` is.
    """

    first: int
    last: int
    source: int
    start: int

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return self.last - self.first + 1


class MadeOf(NamedTuple):
    """The captured frames that one live pose is made of.

    Attributes
    ----------
    clips : array of int
        Index of each frame's clip among the ids of the collection. (K,)
    frames : array of int
        Frame of the clip. (K,)
    weights : array
        Its share; the shares add up to 1. (K,)
    changed : bool
        False where the pose is its frame's own, moved over the ground.
    """

    clips: IntArray
    frames: IntArray
    weights: FloatArray
    changed: bool


@dataclass(frozen=True, slots=True, eq=False)
@record
class Track:
    """The clips, times and weights that a part of the body was made from, frame by frame.

    A frame names up to K clips. Unused places have the clip -1, a time of nan and the weight 0.

    Attributes
    ----------
    part : str
        ``"body"`` where the whole body has one track, else the part: ``"upper"``, ``"lower"``.
    clip : array of int
        Index of the clip in ``Provenance.sources``. (F, K)
    time : array
        Seconds in that clip. (F, K)
    weight : array
        Share of the frame that comes from it; the shares of a frame add up to 1. (F, K)
    n_frames : int
        Number of frames of the result; follows from the arrays.
    """

    part: str
    clip: IntArray
    time: FloatArray
    weight: FloatArray
    n_frames: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        clip = frozen(self.clip, "clip", (None, None), np.int64)
        weight = frozen(self.weight, "weight", clip.shape)
        used = clip >= 0
        if np.shape(self.time) != clip.shape:
            raise ArrayError(
                f"`time` must have the shape of `clip`, {clip.shape}, got {np.shape(self.time)}."
            )
        time = frozen(np.where(used, self.time, 0.0), "time", clip.shape)
        if (weight[~used] != 0.0).any():
            raise ArrayError("`weight` must be 0 where no clip is named.")
        if len(clip) and abs(weight.sum(axis=1) - 1.0).max() > SUM_TOLERANCE:
            frame = int(abs(weight.sum(axis=1) - 1.0).argmax())
            raise ArrayError(
                f"`weight` must add up to 1 in every frame, got {weight[frame].sum():.6g} in "
                f"frame {frame}."
            )
        time = np.where(used, time, np.nan)
        time.flags.writeable = False
        for name, value in (("clip", clip), ("time", time), ("weight", weight)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "n_frames", len(clip))

    def __getitem__(self, frames: slice) -> Track:
        return Track(self.part, self.clip[frames], self.time[frames], self.weight[frames])

    def times_in(self, source: int) -> FloatArray:
        """Seconds of one clip at every frame; nan where the clip plays no part.

        Returns
        -------
        array
            Shape (F,).
        """
        here = (self.clip == source) & (self.weight != 0.0)
        slot = here.argmax(axis=1)
        times = np.take_along_axis(self.time, slot[:, None], axis=1)[:, 0]
        return np.asarray(np.where(here.any(axis=1), times, np.nan))

    def weights_of(self, source: int) -> FloatArray:
        """Share of one clip at every frame.

        Returns
        -------
        array
            Shape (F,).
        """
        return np.asarray(np.where(self.clip == source, self.weight, 0.0).sum(axis=1))

    def shares(self, n_sources: int) -> FloatArray:
        """Share of every clip at every frame.

        Returns
        -------
        array
            Shape (F, n_sources).
        """
        return np.stack([self.weights_of(source) for source in range(n_sources)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
@record
class Provenance:
    """Where every frame of a result comes from.

    Attributes
    ----------
    sources : tuple of str
        Names of the clips.
    fps : float
        Frames per second of the result.
    tracks : tuple of Track
        One for the whole body, or one for each part of a splice.
    changed : array of bool
        Frames whose pose is not that of a clip: blended frames, and frames around them in which
        feet were held. All other frames are a clip's own, equal in every local rotation, their
        root moved by one rigid transform. (F,)
    n_frames : int
        Number of frames of the result; follows from the arrays.
    body : Track
        The first track: of the whole body, or of the part that carries it.
    """

    sources: tuple[str, ...]
    fps: float
    tracks: tuple[Track, ...]
    changed: BoolArray
    n_frames: int = field(init=False, repr=False)
    body: Track = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sources, tracks = tuple(self.sources), tuple(self.tracks)
        if not tracks:
            raise ArrayError("`tracks` must hold at least one track, got none.")
        changed = frozen(self.changed, "changed", (tracks[0].n_frames,), np.bool_)
        for track in tracks:
            if track.n_frames != len(changed):
                raise ArrayError(
                    f"`tracks` must have one row per frame ({len(changed)}); {track.part!r} has "
                    f"{track.n_frames}."
                )
            if track.clip.size and not -1 <= track.clip.min() <= track.clip.max() < len(sources):
                raise ArrayError(
                    f"`clip` must be an index into the {len(sources)} sources, or -1; track "
                    f"{track.part!r} has {track.clip.min()} to {track.clip.max()}."
                )
        object.__setattr__(self, "sources", sources)
        object.__setattr__(self, "tracks", tracks)
        object.__setattr__(self, "fps", positive(self.fps, "fps"))
        object.__setattr__(self, "changed", changed)
        object.__setattr__(self, "n_frames", len(changed))
        object.__setattr__(self, "body", tracks[0])

    @classmethod
    def of_clips(
        cls,
        sources: Sequence[str],
        fps: float,
        frames: FloatArray,
        weights: FloatArray,
        changed: BoolArray | None = None,
    ) -> Provenance:
        """Provenance of a result in which each of a few clips plays at a known frame.

        Parameters
        ----------
        sources
            Names of the K clips.
        fps
            Of the result and of the frames.
        frames : (F, K)
            Frame of every clip at the result's rate; anything, nan too, where its weight is 0.
        weights : (F, K)
            Their shares.
        changed : (F,)
            Frames that are not a clip's own; all of them where it is not given.

        Returns
        -------
        Provenance
            With one track for the whole body.
        """
        weights = np.asarray(weights, dtype=np.float64)
        used = weights != 0.0
        clip = np.where(used, np.arange(weights.shape[1])[None, :], -1)
        time = np.where(used, frames, 0.0) / fps
        if changed is None:
            changed = np.ones(len(weights), dtype=bool)
        return cls(tuple(sources), fps, (Track(WHOLE_BODY, clip, time, weights),), changed)

    @classmethod
    def of_live(cls, sources: Sequence[str], fps: float, made: Sequence[MadeOf]) -> Provenance:
        """Provenance of live poses shown one after the other.

        Parameters
        ----------
        sources
            Ids of the collection's clips.
        fps
            Of the collection.
        made
            What each pose is made of.

        Returns
        -------
        Provenance
            With one track for the whole body.
        """
        shape = len(made), max((len(each.clips) for each in made), default=1)
        clip, time, weight = np.full(shape, -1), np.full(shape, np.nan), np.zeros(shape)
        for k, each in enumerate(made):
            n = len(each.clips)
            clip[k, :n], weight[k, :n] = each.clips, each.weights
            time[k, :n] = each.frames / fps
        changed = np.array([each.changed for each in made], dtype=bool)
        return cls(tuple(sources), fps, (Track(WHOLE_BODY, clip, time, weight),), changed)

    @classmethod
    def of_copy(cls, source: str, fps: float, first: int, n_frames: int) -> Provenance:
        """Provenance of ``n_frames`` frames of one clip, unchanged, from frame ``first`` on.

        Returns
        -------
        Provenance
            With one source.
        """
        frames = np.arange(first, first + n_frames, dtype=np.float64)[:, None]
        unchanged = np.zeros(n_frames, dtype=bool)
        return cls.of_clips([source], fps, frames, np.ones_like(frames), unchanged)

    @classmethod
    def of_edit(cls, source: str, fps: float, first: int, n_frames: int) -> Provenance:
        """Provenance of ``n_frames`` frames of one clip from frame ``first`` on, all changed.

        Returns
        -------
        Provenance
            With one source.
        """
        copy = cls.of_copy(source, fps, first, n_frames)
        return replace(copy, changed=np.ones(n_frames, dtype=bool))

    def __getitem__(self, frames: slice) -> Provenance:
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise ArrayError(f"Provenance is cut by frames `first:stop`, got {frames!r}.")
        tracks = tuple(track[frames] for track in self.tracks)
        return Provenance(self.sources, self.fps, tracks, self.changed[frames])

    def copies(self, *, changed_too: bool = False) -> tuple[Copy, ...]:
        """Runs of frames that are one clip's own frames, one after the other.

        Parameters
        ----------
        changed_too
            Also runs of changed frames that each show one frame of one clip.

        Returns
        -------
        tuple of Copy
            In the order of the result.
        """
        return tuple(self._copies(np.zeros_like(self.changed) if changed_too else self.changed))

    def _copies(self, changed: BoolArray) -> Iterator[Copy]:
        track = self.body
        whole = ~changed & (track.weight == 1.0).any(axis=1)
        slot = track.weight.argmax(axis=1)[:, None]
        clip = np.take_along_axis(track.clip, slot, axis=1)[:, 0]
        frame = np.take_along_axis(track.time, slot, axis=1)[:, 0] * self.fps
        whole &= np.abs(frame - np.round(frame)) < NEXT_TOLERANCE * np.maximum(1.0, frame)
        frames = np.flatnonzero(whole)
        if not len(frames):
            return
        start = np.round(frame[frames]).astype(np.int64)
        follows = (np.diff(frames) == 1) & (np.diff(start) == 1) & (np.diff(clip[frames]) == 0)
        ends = np.append(np.flatnonzero(~follows), len(frames) - 1)
        begin = 0
        for end in ends:
            yield Copy(
                int(frames[begin]), int(frames[end]), int(clip[frames[begin]]), int(start[begin])
            )
            begin = end + 1

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """As plain arrays, of which :meth:`of_arrays` makes the same provenance.

        Returns
        -------
        dict
            ``sources``, ``parts`` (P,), ``changed`` (F,), and ``clip``, ``time`` and ``weight``
            (P, F, K): clip -1 and time 0 where fewer than K clips play.
        """
        width = max(track.clip.shape[1] for track in self.tracks)
        tracks = [_widened(track, width) for track in self.tracks]
        clip = np.stack([track.clip for track in tracks])
        time = np.stack([track.time for track in tracks])
        return {
            "sources": np.array(self.sources, dtype=np.str_),
            "parts": np.array([track.part for track in tracks], dtype=np.str_),
            "changed": self.changed,
            "clip": clip,
            "time": np.where(clip >= 0, time, 0.0),
            "weight": np.stack([track.weight for track in tracks]),
        }

    @classmethod
    def of_arrays(
        cls,
        *,
        sources: Sequence[str],
        parts: Sequence[str],
        fps: float,
        changed: npt.NDArray[Any],
        clip: npt.NDArray[Any],
        time: npt.NDArray[Any],
        weight: npt.NDArray[Any],
    ) -> Provenance:
        """The provenance whose :meth:`arrays` these are.

        Returns
        -------
        Provenance
            Refused where the arrays do not fit together.
        """
        if not len(parts) == len(clip) == len(time) == len(weight):
            raise ArrayError(
                f"`clip`, `time` and `weight` must have an entry for each of the {len(parts)} "
                f"parts, got {len(clip)}, {len(time)} and {len(weight)}."
            )
        rows = zip(parts, clip, time, weight, strict=True)
        tracks = tuple(Track(str(part), *each) for part, *each in rows)
        return cls(tuple(map(str, sources)), fps, tracks, changed)

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold: runs of frames in which the same clips play.

        Returns
        -------
        dict
            ``sources``, ``fps``, ``changed`` (first and last frame of every changed run) and, for
            every part, runs with ``first``, ``last`` and their ``clips``, each with its index and
            its times and weights at both ends.
        """
        return {
            "sources": list(self.sources),
            "fps": self.fps,
            "changed": [list(run) for run in _runs(self.changed)],
            "parts": {track.part: _runs_of(track) for track in self.tracks},
        }


def _widened(track: Track, width: int) -> Track:
    """The track with more places in every frame, the new ones unused."""
    more = ((0, 0), (0, width - track.clip.shape[1]))
    return Track(
        track.part,
        np.pad(track.clip, more, constant_values=-1),
        np.pad(track.time, more),
        np.pad(track.weight, more),
    )


def _runs(mask: BoolArray) -> list[tuple[int, int]]:
    """First and last frame of every run of true frames."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _runs_of(track: Track) -> list[dict[str, Any]]:
    """Runs of frames in which the same clips play, their times and weights at both ends."""
    if not track.n_frames:
        return []
    clips = np.sort(np.where(track.weight != 0.0, track.clip, -1), axis=1)
    new = np.flatnonzero((np.diff(clips, axis=0) != 0).any(axis=1)) + 1
    firsts = [0, *map(int, new)]
    lasts = [*(first - 1 for first in firsts[1:]), track.n_frames - 1]
    runs = []
    for first, last in zip(firsts, lasts, strict=True):
        playing = []
        for clip in sorted({int(each) for each in clips[first] if each >= 0}):
            times, weights = track.times_in(clip), track.weights_of(clip)
            playing.append(
                {
                    "clip": clip,
                    "time_s": [float(times[first]), float(times[last])],
                    "weight": [float(weights[first]), float(weights[last])],
                }
            )
        runs.append({"first": first, "last": last, "clips": playing})
    return runs
