"""save: a Motion into a file of any writable format, in the unit and axes its source had."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from motionloom._arrays import BoolArray, of_kind
from motionloom.errors import FormatError, MotionLoomError, SkeletonMismatchError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.files.writing import stream_errors, write_whole
from motionloom.formats.character import Character
from motionloom.formats.file_clip import FileClip
from motionloom.formats.registry import Format, format_for_writing, known_formats
from motionloom.intake.axes import LONGEST, checked_up, from_world, refuse_absurd, unit_metres
from motionloom.intake.engine_export import (
    EngineExport,
    check_engine_format,
    engine_character,
    engine_motion,
)
from motionloom.intake.load_character import character_in_file, character_of, character_on
from motionloom.motion.motion import HasMotion, Motion, motion_in
from motionloom.motion.provenance import Provenance


@dataclass(frozen=True, slots=True)
class FormatInfo:
    """A file format as users see it.

    Attributes
    ----------
    name : str
        Name that ``format=`` takes.
    title : str
        Name for people.
    suffixes : tuple of str
        Endings of its files.
    can_read, can_write : bool
        Whether it can be read, and written.
    written : tuple of str
        Suffixes of files that can be written.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    can_read: bool
    can_write: bool
    written: tuple[str, ...] = field(default=(), repr=False)


def supported_formats() -> tuple[FormatInfo, ...]:
    """Every format that can be read or written.

    Returns
    -------
    tuple of FormatInfo
        Name, suffixes, and whether it can be read and written.

    Examples
    --------
    >>> bvh = next(known for known in supported_formats() if known.name == "bvh")
    >>> bvh.suffixes, bvh.can_read, bvh.can_write
    (('.bvh',), True, True)
    """
    return tuple(
        FormatInfo(
            each.name, each.title, each.suffixes, each.can_read, each.can_write, each.written
        )
        for each in known_formats()
    )


def save(
    motion: Motion | HasMotion,
    path: str | Path | BinaryIO,
    *,
    unit: str | float | None = None,
    up: str | None = None,
    format: str | None = None,  # noqa: A002 - it is what users call it
    engine: str | EngineExport | None = None,
    character: Character | None = None,
    provenance: Provenance | None = None,
) -> None:
    """Write a motion; the suffix picks the format. The file appears whole or not at all.

    A motion that goes back into the format it came from is written in the unit, axes, channels and
    rotation orders that its file had; into another format in that format's usual ones. An existing
    file is replaced, except the one that the motion was loaded from: inputs are never overwritten.

    A GLB or FBX shows the character: the one that is passed, else that of the file which the motion
    was loaded from, if it is still there and the joints are the same, else a mesh of its bones.

    Parameters
    ----------
    motion
        What to write: a motion, or a result that has one as ``.motion``.
    path
        Where to; or a binary stream, which needs ``format``.
    unit
        Unit of length in the file: ``"m"``, ``"cm"``, ..., or metres per unit.
    up
        Up axis in the file: ``"y"``, ``"z"``, ...
    format
        Name or suffix of the format, where the path's does not say it: ``"bvh"``.
    engine
        ``"unreal"``, ``"unity"`` or ``"godot"``, for a GLB or FBX with the bone names, root bone,
        rest pose, unit and axes of that engine; an :class:`EngineExport` sets more.
    character
        The skin to write, of :func:`load_character`. The motion must be on its joints, as
        :func:`retarget` brings it there. Formats without skins are written as without it.
    provenance
        Where every frame comes from, written into an ``.npz`` (:func:`load_provenance` reads it);
        that of the result by default.

    Returns
    -------
    None
        The file is complete when the function returns.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import synthetic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(synthetic.clip("walk").motion, Path(folder) / "walk.glb")
    ...     (Path(folder) / "walk.glb").stat().st_size > 10_000
    True
    """
    made_of = getattr(motion, "provenance", None) if provenance is None else provenance
    motion = motion_in(motion) or of_kind(motion, Motion, "motion")
    stream: BinaryIO | None = None
    if isinstance(path, str | Path):
        target = Path(path)
        format_ = format_for_writing(target) if format is None else _named(format)
        _refuse_source(motion, target)
    elif hasattr(path, "write"):
        if format is None:
            raise FormatError(
                "A stream has no suffix to pick a format by.", fix='Pass format= (such as "bvh").'
            )
        format_, stream = _named(format), path
    else:
        raise FormatError(
            f"A file is named by a path or given as a binary stream, got {type(path).__name__}."
        )
    shown = _shown(motion, character) if format_.read_skin is not None else None
    if engine is not None:
        export = engine if isinstance(engine, EngineExport) else EngineExport(engine)
        check_engine_format(export, format_.name)
        shown = None if shown is None else engine_character(shown, motion, export)
        motion = engine_motion(motion, export)
        unit = export.unit_m if unit is None else unit
        up = export.up if up is None else up
    clip = _file_clip(motion, format_, unit, up, made_of)
    if shown is not None:
        clip = dataclasses.replace(clip, character=character_in_file(shown, clip))
    write = format_.write
    assert write is not None
    try:
        if stream is not None:
            _write_stream(lambda opened: write(clip, opened), stream)
        else:
            write_whole(target, lambda opened: write(clip, opened))
    except FormatError as error:
        if error.path or stream is not None:
            raise
        raise error.at(target) from None


def _write_stream(write: Callable[[BinaryIO], None], stream: BinaryIO) -> None:
    """Write into a caller's stream; one of text, or one that is closed, is refused."""
    try:
        stream.write(b"")
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"The stream must be open and take bytes ({error}).",
            fix='Open it in binary mode: open(path, "wb").',
        ) from error
    with stream_errors():
        write(stream)


def _file_clip(
    motion: Motion,
    format_: Format,
    unit: str | float | None,
    up: str | None,
    made_of: Provenance | None,
) -> FileClip:
    """The motion in the unit and axes that the file will have."""
    source = motion.source
    goes_home = source.format == format_.name
    detail: dict[str, Any] = dict(source.detail) if goes_home else {}
    if unit is not None:
        unit_m = unit_metres(unit)
    elif goes_home:
        unit_m = source.unit_m
    else:
        unit_m = 1.0 if format_.unit_m is None else format_.unit_m
    own_up = source.up if goes_home else format_.up
    axis = own_up if up is None else checked_up(up)
    if "contacts" in format_.details:
        detail["contacts"] = _contacts(motion)
    if "provenance" in format_.details and made_of is not None:
        detail["provenance"] = made_of
    turned = from_world(motion, up=axis, unit_m=unit_m)
    refuse_absurd(turned, longest=LONGEST / 2.0)  # rest rotations may turn a vector to one axis
    return FileClip(motion=turned, unit_m=unit_m, up=axis, clip=source.clip, detail=detail)


def _shown(motion: Motion, character: Character | None) -> Character | None:
    """The character to write; None for bones."""
    if character is None:
        return character_of(motion)
    shown = character_on(of_kind(character, Character, "character"), motion)
    if shown is None:
        raise SkeletonMismatchError(
            "`motion` must be on the joints of `character`. "
            "Carry it over first: ml.retarget(motion, character)."
        )
    return shown


def _contacts(motion: Motion) -> BoolArray | None:
    """Which foot points stand, where there are feet to tell by."""
    try:
        return detect_footplants(motion).planted
    except MotionLoomError:
        return None


def _named(name: str) -> Format:
    wanted = str(name).lower().removeprefix(".")
    for each in known_formats():
        if each.can_write and (each.name == wanted or f".{wanted}" in each.written):
            return each
    writable = ", ".join(suffix[1:] for each in known_formats() for suffix in each.written)
    raise FormatError(f"{name!r} is no format that can be written.", fix=f"Writable: {writable}.")


def _refuse_source(motion: Motion, target: Path) -> None:
    if motion.source.path in ("", "-"):
        return
    try:
        same = target.exists() and target.samefile(motion.source.path)
    except (OSError, ValueError):
        return
    if same:
        raise FormatError(
            "This is the file that the motion was loaded from, and inputs are never overwritten.",
            path=target,
            fix="Choose another name.",
        )
