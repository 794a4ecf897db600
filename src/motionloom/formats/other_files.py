"""Files that hold no clip and turn up in folders of clips: recognised by their first bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from motionloom.errors import FormatError

_PAGES = (b"<!doctype html", b"<html")
_LARGEST_C3D_BLOCK = 16
"""The parameters of a C3D file begin in one of its first blocks."""


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
