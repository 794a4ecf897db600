"""load: a clip from any file, in metres with Y up, and what was detected on the way."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from motionloom._arrays import flag, of_kind, positive
from motionloom.body.anatomy import stature
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, FormatError, MotionLoomError
from motionloom.features.glitches.glitch_frames import (
    find_sudden_turns,
    sudden_turn_findings,
)
from motionloom.files.limits import Limits, limits_for
from motionloom.files.reading import printable
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.formats.archives.plain_arrays import read_provenance
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import format_for_reading
from motionloom.intake.airborne import check_rate, find_floating, floating_findings, rate_finding
from motionloom.intake.axes import checked_up, detect_up, skeleton_to_world, to_world
from motionloom.intake.clip_faults import count_t_pose_frames, knee_findings, root_bone_findings
from motionloom.intake.clip_names import Target, find_target, opened, read_errors, split_range
from motionloom.intake.floor import fit_floor, floor_finding, track_legs
from motionloom.intake.units import detect_unit, refuse_absurd, stature_finding, unit_metres
from motionloom.motion.edit import pick
from motionloom.motion.motion import Motion, Skeleton
from motionloom.motion.provenance import Floor, Provenance, Source

_OWN = "archive"
"""The format that keeps a Motion whole, source and all."""
_ENOUGH_POSES = 80
"""Poses of a clip that are enough to find its up axis and its skeleton, spread over all frames."""


@dataclass(frozen=True, slots=True)
class Stated:
    """Facts about a file that the caller of load states; None is left to the file and to detection.

    Wrong values are the caller's mistake, not the file's, and raise before a file is opened.
    """

    fps: float | None = None
    unit_m: float | None = None
    up: str | None = None
    body: BodyMap | None = None
    clip: str | None = None
    keep_t_pose: bool = False

    @classmethod
    def checked(
        cls,
        fps: float | None,
        unit: str | float | None,
        up: str | None,
        body: BodyMap | None,
        clip: str | None,
        keep_t_pose: bool = False,
    ) -> Stated:
        """The options of load, checked."""
        return cls(
            None if fps is None else positive(fps, "fps"),
            None if unit is None else unit_metres(unit),
            None if up is None else checked_up(up),
            None if body is None else of_kind(body, BodyMap, "body"),
            None if clip is None else of_kind(clip, str, "clip"),
            flag(keep_t_pose, "keep_t_pose"),
        )


def load(
    path: str | Path | BinaryIO,
    *,
    fps: float | None = None,
    unit: str | float | None = None,
    up: str | None = None,
    body: BodyMap | None = None,
    skeleton: str | Path | None = None,
    clip: str | None = None,
    keep_t_pose: bool = False,
    strict: bool = False,
    max_memory: int | str | None = None,
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
    stated = Stated.checked(fps, unit, up, body, clip, keep_t_pose)
    strict = flag(strict, "strict")
    target, motion = _find_and_read(path, skeleton, stated, limits_for(max_memory))
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
    stated, limits = Stated.checked(fps, unit, up, body, clip), limits_for(max_memory)
    try:
        _, motion = _find_and_read(path, skeleton, stated, limits)
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


def _find_and_read(
    path: str | Path | BinaryIO, skeleton: str | Path | None, stated: Stated, limits: Limits
) -> tuple[Target, Motion]:
    """The file that a path names, and its clip, cut to the named range."""
    path, part = split_range(path) if isinstance(path, str) else (path, None)
    target = find_target(path, stated.clip)
    motion = _read(target, skeleton, stated, limits)
    return target, motion if part is None else part.cut(motion)


def _read(target: Target, skeleton: str | Path | None, stated: Stated, limits: Limits) -> Motion:
    """Read a clip by the reader of its format, and bring it to metres and Y up."""
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
        normalize = _normalize_own if format_.name == _OWN else _normalize
        return normalize(clip, format_.name, printable(target.label), stated)


def _normalize(clip: FileClip, format_name: str, path: str, stated: Stated) -> Motion:
    """Bring a clip to metres and Y up, and note in its source what was stated and detected."""
    refuse_absurd(clip.motion, stated.fps)
    findings = [*_reader_findings(clip, stated.fps), *_clip_findings(clip)]
    roles = BodyMap.guess(clip.motion.skeleton) if stated.body is None else stated.body
    roles.checked_for(clip.motion.skeleton)
    axis, up_finding = _normal_up(clip, roles, stated.up)
    standing = skeleton_to_world(_mean_skeleton(clip.motion), up=axis, unit_m=1.0)
    if axis != "y" and stated.body is None:
        # Guessing looks at which bones point down, and only now does down mean down.
        roles = BodyMap.guess(standing)
    unit_m, unit_finding = _normal_unit(clip, standing, roles, stated.unit_m)
    findings += [unit_finding, up_finding]

    motion = to_world(clip.motion, up=axis, unit_m=unit_m)
    held = count_t_pose_frames(motion, roles)
    skipped = 0 if stated.keep_t_pose else held
    motion = motion[skipped:]
    if held:
        findings.append(_t_pose_finding(held, stays=stated.keep_t_pose))
    if stated.fps is not None:
        motion = motion.replace(fps=stated.fps)
    # A T-pose that stays jumps into the motion, and a finding reports that already.
    turns = tuple(each for each in find_sudden_turns(motion) if each.frame > held - skipped)
    findings += sudden_turn_findings(turns)
    findings += _body_findings(roles)
    findings += knee_findings(motion, roles)
    findings += root_bone_findings(motion, roles)
    ground, notes = _ground_findings(motion, roles, rate_stated=stated.fps is not None)
    source = Source(
        format=format_name,
        path=path,
        clip=clip.clip,
        unit_m=unit_m,
        up=axis,
        fps=clip.motion.fps if clip.fps_stated else None,
        skipped_frames=skipped,
        floor=ground,
        detail=clip.detail,
        findings=tuple(findings + notes),
    )
    stem = Path(path).stem if path != "-" else ""
    title = f"{stem}#{clip.clip}" if clip.clip and stem else stem
    return motion.replace(source=source, name=motion.name or title)


def _reader_findings(clip: FileClip, fps: float | None) -> list[Finding]:
    """Findings of the reader, and a note on where the frame rate comes from."""
    on_rate = [finding for finding in clip.findings if "fps=" in finding.fix]
    if fps is not None:
        # Those findings ask for fps=, and the caller has passed it.
        was = f"{clip.motion.fps:.6g}" if clip.fps_stated else "none"
        stated = Finding("note", "frame rate", f"{fps:g}, as the caller says; the file says {was}.")
        return [*(finding for finding in clip.findings if finding not in on_rate), stated]
    if clip.fps_stated or on_rate:
        return list(clip.findings)
    usual = f"the file states none; {clip.motion.fps:g} is usual for its format."
    note = Finding("note", "frame rate", usual, "Pass fps= to set another.")
    return [*clip.findings, note]


def _clip_findings(clip: FileClip) -> list[Finding]:
    if len(clip.clips) < 2:
        return []
    listed = ", ".join(repr(name) for name in clip.clips)
    return [
        Finding(
            "note",
            "clips",
            f"the file holds {len(clip.clips)} clips ({listed}); this is {clip.clip!r}.",
            f"Name another as in file#{clip.clips[-1]}, or pass clip=.",
        )
    ]


def _normal_up(clip: FileClip, roles: BodyMap, up: str | None) -> tuple[str, Finding]:
    """The up axis: as the caller or the format states it, or by how the body stands."""
    if up is not None:
        return up, Finding("note", "up axis", f"{up}, as the caller says.")
    if clip.up is not None:
        axis = checked_up(clip.up)
        return axis, Finding("note", "up axis", f"{axis}, as the format says.")
    step = -(-clip.motion.n_frames // _ENOUGH_POSES)
    return detect_up(pick(clip.motion, slice(None, None, step)).world_positions(), roles)


def _mean_skeleton(motion: Motion) -> Skeleton:
    """The skeleton with the offsets that a motion with sliding joints really uses."""
    if motion.joint_translations is None:
        return motion.skeleton
    step = -(-motion.n_frames // _ENOUGH_POSES)
    offsets = np.median(motion.joint_translations[::step], axis=0)
    return dataclasses.replace(motion.skeleton, offsets=offsets)


def _normal_unit(
    clip: FileClip, standing: Skeleton, roles: BodyMap, unit_m: float | None
) -> tuple[float, Finding]:
    """Metres per unit: as stated, or by the height of the skeleton, which stands with Y up."""
    two_legs = None not in (roles.pelvis, roles.left_ankle, roles.right_ankle)
    height = stature(standing, roles) if two_legs else None
    if unit_m is not None:
        return unit_m, stature_finding(height, unit_m, stated_by="caller")
    if clip.unit_m is not None:
        return clip.unit_m, stature_finding(height, clip.unit_m, stated_by="format")
    return detect_unit(height)


def _t_pose_finding(held: int, *, stays: bool) -> Finding:
    frames = "frame 0 is a T-pose" if held == 1 else f"frames 0 to {held - 1} are a T-pose"
    if stays:
        return Finding("note", "frame 0", f"{frames} in front of the motion, kept as asked.")
    left = "it was" if held == 1 else "they were"
    text = f"{frames} in front of the motion; {left} left out."
    return Finding("note", "frame 0", text, "Pass keep_t_pose=True to keep it.")


def _body_findings(roles: BodyMap) -> list[Finding]:
    missing = roles.missing()
    if not missing:
        return []
    return [
        Finding(
            "note",
            "body roles",
            f"not found: {', '.join(missing)}.",
            "Name them with body=, where the skeleton has them.",
        )
    ]


def _ground_findings(
    motion: Motion, roles: BodyMap, *, rate_stated: bool
) -> tuple[Floor | None, list[Finding]]:
    """The floor, where the clip has feet, and findings about floor, floating and frame rate."""
    tracks = track_legs(motion, roles)
    fitted = None if tracks is None else fit_floor(tracks)
    if tracks is None or fitted is None:
        return None, []
    ground, n_others = fitted
    findings = [floor_finding(ground, n_others, tracks)]
    findings += floating_findings(find_floating(tracks, ground))
    check = check_rate(motion, roles, tracks, ground)
    if check is not None:
        findings.append(rate_finding(check, stated=rate_stated))
    return ground, findings


def _normalize_own(clip: FileClip, format_name: str, path: str, stated: Stated) -> Motion:
    """A clip from our own archive, which states unit, axes and source: nothing is detected."""
    refuse_absurd(clip.motion, stated.fps)
    unit_m = (clip.unit_m or 1.0) if stated.unit_m is None else stated.unit_m
    axis = checked_up(clip.up or "y") if stated.up is None else stated.up
    motion = to_world(clip.motion, up=axis, unit_m=unit_m)
    source = dataclasses.replace(
        motion.source, path=path, format=motion.source.format or format_name
    )
    return motion.replace(source=source, fps=motion.fps if stated.fps is None else stated.fps)
