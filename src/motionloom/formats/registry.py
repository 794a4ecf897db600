"""The formats that motionloom knows, in the order they are tried.

Adding one: write ``formats/<name>.py`` with a module-level ``FORMAT``, add its name to
``_MODULES``, and give the contract test in ``tests/formats`` an example file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from motionloom.errors import FormatError
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.file_skin import FileSkin
from motionloom.formats.other_files import is_c3d, refuse_other_file
from motionloom.saving.whole_file import write_whole

__all__ = [
    "Format",
    "format_for_reading",
    "format_for_writing",
    "known_formats",
    "later",
    "write_whole",
]

SNIFF_BYTES = 4096

_MODULES = (
    "archives.archive",
    "gltf.glb",
    "fbx.fbx",
    "bvh.bvh",
    "usd.usd",
    "acclaim.amc",
    "deepmimic.deepmimic",
    "amass.amass",
    "robots.robot_csv",
    "archives.plain_arrays",
)


@dataclass(frozen=True, slots=True)
class Format:
    """One file format: how to tell it, read it and write it."""

    name: str
    """Short lower-case name: ``"bvh"``."""
    title: str
    """What people call it: ``"Biovision hierarchy"``."""
    suffixes: tuple[str, ...]
    """Lower case, with the dot, the usual one first."""
    sniff: Callable[[bytes], bool]
    """Whether a file that begins with these bytes is surely of this format."""
    read: Callable[[BinaryIO, ReadOptions], FileClip] | None = None
    write: Callable[[FileClip, BinaryIO], None] | None = None
    unit_m: float | None = None
    """Unit written by default, metres per unit."""
    up: str = "y"
    """Up axis written by default."""
    only_read: tuple[str, ...] = ()
    """Suffixes that are read but not written."""
    clip_names: Callable[[bytes, ReadOptions], tuple[str, ...]] | None = None
    """Names of the clips in the bytes of a file, where one can hold several."""
    details: tuple[str, ...] = ()
    """What the writer takes in ``FileClip.detail`` that must be measured: ``"contacts"``."""

    read_skin: Callable[[BinaryIO, ReadOptions], FileSkin] | None = None
    """Reads the meshes of a character; formats that have it also write ``FileClip.character``."""

    @property
    def can_read(self) -> bool:
        """Whether files of this format can be loaded."""
        return self.read is not None

    @property
    def written(self) -> tuple[str, ...]:
        """Suffixes that can be written."""
        suffixes = tuple(suffix for suffix in self.suffixes if suffix not in self.only_read)
        return suffixes if self.can_write else ()

    @property
    def can_write(self) -> bool:
        """Whether motions can be saved in this format."""
        return self.write is not None


def later(module: str, name: str) -> Callable[..., Any]:
    """A function of a module of formats, which is imported when it is first called."""

    def called(*arguments: Any) -> Any:
        return getattr(import_module(f"motionloom.formats.{module}"), name)(*arguments)

    return called


@cache
def known_formats() -> tuple[Format, ...]:
    """Every format, in the order in which contents are sniffed."""
    return tuple(import_module(f"motionloom.formats.{name}").FORMAT for name in _MODULES)


def can_hold_several(path: Path) -> Format | None:
    """The format of a file name, where files of that format can hold several clips."""
    suffix = path.suffix.lower()
    for each in known_formats():
        if each.clip_names is not None and suffix in each.suffixes:
            return each
    return None


def format_for_reading(head: bytes, path: Path | None) -> Format:
    """The format of a file: by its first bytes, then by its suffix."""
    for each in known_formats():
        if each.can_read and each.sniff(head):
            return each
    refuse_other_file(head, path)
    suffix = path.suffix.lower() if path else ""
    if suffix == ".c3d" or is_c3d(head):
        raise FormatError(
            "A C3D file holds markers and no skeleton, which a clip needs.",
            path=path,
            fix="ml.load_points reads its markers.",
        )
    for each in known_formats():
        if each.can_read and suffix in each.suffixes:
            return each
    raise FormatError(
        "The contents are of no format that can be read"
        + (f", and the suffix {suffix!r} is not known." if suffix else "."),
        path=path,
        fix=f"Readable are: {_suffixes(reading=True)}.",
    )


def format_for_writing(path: Path) -> Format:
    """The format that a file name's suffix picks."""
    suffix = path.suffix.lower()
    for each in known_formats():
        if suffix in each.written:
            return each
    raise FormatError(
        f"The suffix {suffix!r} picks no format that can be written.",
        path=path,
        fix=f"Writable are: {_suffixes(reading=False)}.",
    )


def _suffixes(*, reading: bool) -> str:
    """Every suffix once, in the order of the formats."""
    listed = (
        (each.suffixes if each.can_read else ()) if reading else each.written
        for each in known_formats()
    )
    return ", ".join(dict.fromkeys(suffix for suffixes in listed for suffix in suffixes))
