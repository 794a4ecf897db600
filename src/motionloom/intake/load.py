"""load: a clip from any file, in metres with Y up, and what was detected on the way."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import BinaryIO

from motionloom._arrays import FloatArray, positive
from motionloom.errors import ArrayError, FormatError, MotionLoomError
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.formats.fileclip import FileClip, Limits, ReadOptions
from motionloom.formats.registry import format_for_reading
from motionloom.intake import axes, floor, gravity, jumps, legs, t_pose, units, upright
from motionloom.intake.door import Target, find_target, opened
from motionloom.motion.body import BodyMap, stature
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.motion.source import Floor, Source

__all__ = ["inspect_file", "load"]

_POSES_LOOKED_AT = 200


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
) -> Motion:
    """The clip in a file of any known format: metres, Y up, a leading T-pose left out.

    Nothing is moved: no new origin, no floor put to y = 0 (:func:`ground` does that). What was
    detected, and what is odd, is in ``motion.source.findings``; faults are warned about too.

    Parameters
    ----------
    path
        A file, ``"file.glb#Run"`` for one clip of several, ``"-"`` for standard input, or a
        binary stream.
    fps
        Frames per second, where the file says none or a wrong one.
    unit
        ``"m"``, ``"cm"``, ``"mm"``, ``"in"``, ``"cmu"``, ``"dm"``, ``"ft"``, or metres per unit.
    up
        The file's up axis: ``"x"``, ``"y"``, ``"z"``, or with ``-`` before it.
    body
        Which joint is which, where guessing by names and shape goes wrong.
    skeleton
        The file that holds the skeleton, for formats that keep it apart (``.asf`` of ``.amc``).
    clip
        Name of the clip in a file of several; the first by default.
    keep_t_pose
        Whether to keep a leading T-pose.
    strict
        Whether to raise where a warning would be given.

    Raises
    ------
    FormatError
        The file cannot be read; the text says where and what to do.
    """
    target = find_target(path, clip)
    motion = _read(target, fps, unit, up, body, skeleton, keep_t_pose)
    faults = [finding for finding in motion.source.findings if finding.level == "warning"]
    if faults and strict:
        first = faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise FormatError(
            first.problem + more, path=target.said, where=first.where, fix=first.fix or None
        )
    for fault in faults:
        text = f"{target.said}, {fault.where}: {fault.problem} {fault.fix}".rstrip()
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
) -> list[Finding]:
    """Everything noticed about a file; one finding of level ``"error"`` if it cannot be read.

    Takes the options of :func:`load`. Wrong options raise, bad files do not.
    """
    _checked_options(fps, unit, up)
    try:
        motion = _read(find_target(path, clip), fps, unit, up, body, skeleton, False)
    except FormatError as error:
        where = ", ".join(part for part in (error.path, error.where) if part) or "file"
        return [Finding("error", where, error.problem, error.fix or "")]
    except MotionLoomError as error:
        return [Finding("error", str(path), str(error))]
    return list(motion.source.findings)


def _read(
    target: Target,
    fps: float | None,
    unit: str | float | None,
    up: str | None,
    body: BodyMap | None,
    skeleton: str | Path | None,
    keep_t_pose: bool,
) -> Motion:
    _checked_options(fps, unit, up)
    limits = Limits()
    options = ReadOptions(
        path=target.path,
        clip=target.clip,
        skeleton=None if skeleton is None else Path(skeleton),
        limits=limits,
    )
    with opened(target, limits) as (head, stream):
        try:
            known = format_for_reading(head, target.path)
            assert known.read is not None
            found = known.read(stream, options)
        except FormatError as error:
            raise error if error.path else error.at(target.said) from None
        except ArrayError as error:
            raise FormatError(str(error), path=target.said) from error
        except (MemoryError, RecursionError) as error:
            raise FormatError(
                "The file asks for more memory than there is.",
                path=target.said,
                fix="Check that it is whole.",
            ) from error
    source = Source(
        format=known.name,
        path=target.said,
        clip=found.clip,
        fps=found.motion.fps if found.fps_stated else None,
        detail=found.detail,
    )
    try:
        return _settle(found, source, fps, unit, up, body, keep_t_pose)
    except ArrayError as error:
        raise FormatError(str(error), path=target.said) from error


def _settle(
    found: FileClip,
    source: Source,
    fps: float | None,
    unit: str | float | None,
    up: str | None,
    body: BodyMap | None,
    keep_t_pose: bool,
) -> Motion:
    """The clip in metres and Y up, with everything that can be told about it."""
    findings = [*found.findings, *_clip_findings(found), *_stated_rate_findings(found, fps)]
    roles = BodyMap.guess(found.motion.skeleton) if body is None else body
    axis, said_up = _settled_up(found, roles, up)
    standing = axes.skeleton_to_world(found.motion.skeleton, up=axis, unit_m=1.0)
    if axis != "y" and body is None:
        # Guessing looks at which bones point down, and only now does down mean down.
        roles = BodyMap.guess(standing)
    unit_m, said_unit = _settled_unit(found, _stature(standing, roles), unit)
    findings += [said_unit, said_up]

    motion = axes.to_world(found.motion, up=axis, unit_m=unit_m)
    skipped = 0 if keep_t_pose else t_pose.count_t_pose_frames(motion, roles)
    if skipped:
        motion = motion[skipped:]
        findings.append(_t_pose_finding(skipped))
    if fps is not None:
        motion = motion.replace(fps=fps)
    findings += jumps.jump_findings(jumps.find_jumps(motion))
    findings += _body_findings(roles)
    ground, told = _ground_findings(motion, roles, said=fps is not None)
    source = dataclasses.replace(
        source,
        unit_m=unit_m,
        up=axis,
        skipped_frames=skipped,
        floor=ground,
        findings=tuple(findings + told),
    )
    return motion.replace(source=source, name=motion.name or _title(source))


def _settled_up(found: FileClip, roles: BodyMap, up: str | None) -> tuple[str, Finding]:
    if up is not None:
        axis = axes.checked_up(up)
        return axis, Finding("note", "up axis", f"{axis}, as the caller says.")
    if found.up is not None:
        axis = axes.checked_up(found.up)
        return axis, Finding("note", "up axis", f"{axis}, as the format says.")
    return upright.detect_up(_some_positions(found.motion), roles)


def _settled_unit(
    found: FileClip, height: float | None, unit: str | float | None
) -> tuple[float, Finding]:
    if unit is not None:
        unit_m = units.unit_metres(unit)
        return unit_m, units.stature_finding(height, unit_m, said_by="caller")
    if found.unit_m is not None:
        return found.unit_m, units.stature_finding(height, found.unit_m, said_by="format")
    return units.detect_unit(height)


def _some_positions(motion: Motion) -> FloatArray:
    """World positions (N, J, 3) of a few hundred frames spread over the clip."""
    step = -(-motion.n_frames // _POSES_LOOKED_AT)
    moving = motion.joint_translations
    return forward_kinematics(
        motion.skeleton,
        motion.root_positions[::step],
        motion.local_quats[::step],
        joint_translations=None if moving is None else moving[::step],
    )[0]


def _stature(skeleton: Skeleton, roles: BodyMap) -> float | None:
    """Standing height in the skeleton's unit, None where it has no two legs to stand on."""
    needed = (roles.pelvis, roles.left_ankle, roles.right_ankle)
    if any(joint is None for joint in needed):
        return None
    return stature(skeleton, roles)


def _ground_findings(
    motion: Motion, roles: BodyMap, *, said: bool
) -> tuple[Floor | None, list[Finding]]:
    """The floor, where there are feet to tell it by, and what feet and flights tell."""
    tracks = legs.track_legs(motion, roles)
    fitted = None if tracks is None else floor.fit_floor(tracks)
    if tracks is None or fitted is None:
        return None, []
    ground, elsewhere = fitted
    findings = [floor.floor_finding(ground, elsewhere, tracks)]
    check = gravity.check_rate(motion, roles, tracks, ground)
    if check is not None:
        findings.append(gravity.rate_finding(check, motion.fps, said=said))
    return ground, findings


def _clip_findings(found: FileClip) -> list[Finding]:
    if len(found.clips) < 2:
        return []
    listed = ", ".join(repr(name) for name in found.clips)
    return [
        Finding(
            "note",
            "clips",
            f"the file holds {len(found.clips)} clips ({listed}); this is {found.clip!r}.",
            f"Name another as in file#{found.clips[-1]}, or pass clip=.",
        )
    ]


def _stated_rate_findings(found: FileClip, fps: float | None) -> list[Finding]:
    stated = f"{found.motion.fps:g}"
    if fps is not None:
        was = f"the file says {stated}" if found.fps_stated else "the file says none"
        return [Finding("note", "frame rate", f"{fps:g}, as the caller says; {was}.")]
    if not found.fps_stated:
        return [
            Finding(
                "note",
                "frame rate",
                f"the file says none; {stated} is the custom of its format.",
                "Pass fps= to say another.",
            )
        ]
    return []


def _t_pose_finding(skipped: int) -> Finding:
    frames = "frame 0 is a T-pose" if skipped == 1 else f"frames 0 to {skipped - 1} are a T-pose"
    left = "it was" if skipped == 1 else "they were"
    return Finding(
        "note",
        "frame 0",
        f"{frames} in front of the motion; {left} left out.",
        "Pass keep_t_pose=True to keep it.",
    )


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


def _title(source: Source) -> str:
    stem = Path(source.path).stem if source.path != "-" else ""
    return f"{stem}#{source.clip}" if source.clip and stem else stem


def _checked_options(fps: float | None, unit: str | float | None, up: str | None) -> None:
    """Wrong options are the caller's mistake, not the file's: said before the file is opened."""
    if fps is not None:
        positive(fps, "fps")
    if unit is not None:
        units.unit_metres(unit)
    if up is not None:
        axes.checked_up(up)
