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
from motionloom.formats.file_clip import FileClip, FileSkin, ReadOptions

SNIFF_BYTES = 4096
_MODULES = (
    "archives.archive",
    "gltf.glb",
    "fbx.fbx",
    "bvh.bvh",
    "usd.usd",
    "acclaim.amc",
    "deepmimic.deepmimic",
    "amass",
    "robots.robot_clips",
    "archives.plain_arrays",
)
_PAGES = (b"<!doctype html", b"<html")
_LARGEST_C3D_BLOCK = 16
"""The parameters of a C3D file begin in one of its first blocks."""


@dataclass(frozen=True, slots=True)
class Format:
    """One file format: how to tell it, read it and write it."""

    name: str
    """Short lower-case name: ``"bvh"``."""
    title: str
    """Its name for people: ``"Biovision hierarchy"``."""
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
    """Measured details that the writer takes in ``FileClip.detail``: ``"contacts"``."""

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


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A kind of file."""

    start: bytes
    name: str
    fix: str


OTHER_FILES = (
    OtherFile(
        b"version https://git-lfs",
        "a pointer of Git LFS, not the file itself",
        "Fetch the file: git lfs pull.",
    ),
    OtherFile(b"\x1f\x8b", "compressed by gzip", "Unpack it first: gunzip."),
    OtherFile(b"BZh", "compressed by bzip2", "Unpack it first: bunzip2."),
    OtherFile(b"\xfd7zXZ", "compressed by xz", "Unpack it first: unxz."),
    OtherFile(b"7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it and name a file in it."),
    OtherFile(b"Rar!", "a RAR archive", "Unpack it and name a file in it."),
    OtherFile(b"BLENDER", "a Blender scene", "Export it from Blender as glTF, FBX or BVH."),
    OtherFile(b"\x89HDF", "an HDF5 file", "Save its arrays as .npz."),
    OtherFile(b"%PDF", "a PDF document", "Name the file of the clip."),
)


def refuse_other_file(head: bytes, path: Path | None = None) -> None:
    """Raise a FormatError that names the kind of a file that holds no clip.

    Parameters
    ----------
    head
        Its first bytes. Bytes of an unknown kind are accepted.
    path
        The file, for the error.
    """
    for other in OTHER_FILES:
        if head.startswith(other.start):
            raise FormatError(f"The file is {other.name}.", path=path, fix=other.fix)
    if head.lstrip()[:14].lower().startswith(_PAGES):
        raise FormatError(
            "The file is a web page: its download failed.",
            path=path,
            fix="Download it again; the site may want a login.",
        )


def is_c3d(head: bytes) -> bool:
    """Whether the first bytes are those of a C3D file."""
    return len(head) > 2 and 0 < head[0] <= _LARGEST_C3D_BLOCK and head[1] == 0x50
