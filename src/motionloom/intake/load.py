"""load: a clip from any file, in metres with Y up, and what was detected on the way."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypedDict, Unpack

from motionloom._arrays import flag, known_options, of_kind
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, FormatError, MotionLoomError
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.formats.archives.plain_arrays import read_provenance
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.registry import format_for_reading
from motionloom.intake.clip_range import split_range
from motionloom.intake.normalize import Stated, normalize_clip, normalize_own
from motionloom.intake.open import Target, find_target, opened
from motionloom.intake.read_errors import read_errors
from motionloom.motion.motion import Motion
from motionloom.motion.provenance import Provenance
from motionloom.reading.size_limits import Limits, limits_for

_OWN = "archive"
"""The format that keeps a Motion whole, source and all."""


class LoadOptions(TypedDict, total=False):
    """Keyword arguments of :func:`motionloom.load` that few callers need."""

    keep_t_pose: bool
    strict: bool
    max_memory: int | str | None


@dataclass(frozen=True, slots=True)
class _Settings:
    keep_t_pose: bool = False
    strict: bool = False
    max_memory: int | str | None = None


def load(
    path: str | Path | BinaryIO,
    *,
    fps: float | None = None,
    unit: str | float | None = None,
    up: str | None = None,
    body: BodyMap | None = None,
    skeleton: str | Path | None = None,
    clip: str | None = None,
    **options: Unpack[LoadOptions],
) -> Motion:
    """The clip in a file of any known format: metres, Y up, a leading T-pose left out.

    The clip is not moved: :func:`ground` puts its floor to y = 0. ``motion.source.findings`` lists
    what was detected and what is odd; faults also raise a warning.

    Parameters
    ----------
    path
        A file, ``"file.glb#Run"`` for one clip of several, ``"-"`` for standard input, or a
        binary stream. ``"walk.bvh:2s-5.5s"`` and ``"walk.bvh:120-330"`` are a part of a clip, by
        seconds or by its first and last frame.
    fps
        Frames per second, if the file states none or a wrong one.
    unit
        ``"m"``, ``"cm"``, ``"mm"``, ``"in"``, ``"cmu"``, ``"dm"``, ``"ft"``, or metres per unit.
    up
        The file's up axis: ``"x"``, ``"y"``, ``"z"``, or with ``-`` before it.
    body
        Which joint is which, if guessing by names and shape is wrong.
    skeleton
        The file that holds the skeleton, for formats that keep it apart (``.asf`` of ``.amc``).
    clip
        Name of the clip in a file of several; the first by default.
    keep_t_pose
        Whether to keep a leading T-pose.
    strict
        Whether to raise where a warning would be given.
    max_memory
        Memory that reading may take, in bytes or as ``"2GB"``. By default 64 MB and 8 times the
        size of the file; the environment variable ``MOTIONLOOM_MAX_MEMORY`` sets another default.

    Returns
    -------
    Motion
        The clip; what was noticed about its file is in ``motion.source.findings``.

    Raises
    ------
    FormatError
        The file cannot be read; the text names the place and a remedy.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(synthetic.clip("walk").motion, Path(folder) / "walk.bvh")
    ...     load(Path(folder) / "walk.bvh").fps
    60.0
    """
    known_options("load", _Settings, options)
    settings = _Settings(**options)
    stated = Stated.checked(fps, unit, up, body, settings.keep_t_pose)
    strict = flag(settings.strict, "strict")
    path, part = split_range(path) if isinstance(path, str) else (path, None)
    target = find_target(path, _name_of(clip))
    motion = _read(target, skeleton, stated, limits_for(settings.max_memory))
    if part is not None:
        motion = part.cut(motion)
    faults = [finding for finding in motion.source.findings if finding.level == "warning"]
    if faults and strict:
        first = faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise FormatError(
            first.problem + more, path=target.label, where=first.where, fix=first.fix or None
        )
    for fault in faults:
        text = f"{target.label}, {fault.where}: {fault.problem} {fault.fix}".rstrip()
        warnings.warn(text, MotionLoomWarning, stacklevel=2)
    return motion


def inspect_file(
    path: str | Path | BinaryIO,
    *,
    fps: float | None = None,
    unit: str | float | None = None,
    up: str | None = None,
    body: BodyMap | None = None,
    skeleton: str | Path | None = None,
    clip: str | None = None,
    max_memory: int | str | None = None,
) -> list[Finding]:
    """All findings about a file; one of level ``"error"`` if it cannot be read.

    Wrong options raise, bad files do not.

    Parameters
    ----------
    path, fps, unit, up, body, skeleton, clip, max_memory
        As of :func:`load`.

    Returns
    -------
    list of Finding
        Notes, warnings and errors, with what to do about each.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "broken.bvh"
    ...     _ = file.write_text("HIERARCHY")
    ...     [finding.level for finding in inspect_file(file)]
    ['error']
    """
    stated, limits = Stated.checked(fps, unit, up, body), limits_for(max_memory)
    name = _name_of(clip)
    try:
        path, part = split_range(path) if isinstance(path, str) else (path, None)
        motion = _read(find_target(path, name), skeleton, stated, limits)
        if part is not None:
            motion = part.cut(motion)
    except FormatError as error:
        return [Finding("error", error.where or "file", error.problem, error.fix or "")]
    except MotionLoomError as error:
        return [Finding("error", "file", str(error))]
    return list(motion.source.findings)


def load_provenance(
    path: str | Path | BinaryIO, *, max_memory: int | str | None = None
) -> Provenance:
    """Where every frame of a saved result comes from.

    Parameters
    ----------
    path
        An ``.npz`` file that :func:`save` wrote of a result, or a binary stream of one.
    max_memory
        As of :func:`load`.

    Returns
    -------
    Provenance
        Clips, times and weights of every frame.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> a, b = (ml.synthetic.clip(name).motion for name in ("walk", "wave"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ml.save(ml.transition(a, b), Path(folder) / "walk to wave.npz")
    ...     ml.load_provenance(Path(folder) / "walk to wave.npz").sources
    ('walk', 'wave')
    """
    limits = limits_for(max_memory)
    target = find_target(path, None)
    with opened(target, limits) as (_, stream), read_errors(target.label):
        return read_provenance(stream, ReadOptions(path=target.path, limits=limits))


def _name_of(clip: str | None) -> str | None:
    return None if clip is None else of_kind(clip, str, "clip")


def _read(target: Target, skeleton: str | Path | None, stated: Stated, limits: Limits) -> Motion:
    if skeleton is not None and not isinstance(skeleton, str | Path):
        raise ArrayError(f"`skeleton` must be a path, got {type(skeleton).__name__}.")
    options = ReadOptions(
        path=target.path,
        clip=target.clip,
        skeleton=None if skeleton is None else Path(skeleton),
        limits=limits,
    )
    with opened(target, limits) as (head, stream), read_errors(target.label):
        format_ = format_for_reading(head, target.path)
        assert format_.read is not None
        clip = format_.read(stream, options)
        if format_.name == _OWN:
            return normalize_own(clip, format_.name, target.label, stated)
        return normalize_clip(clip, format_.name, target.label, stated)
