"""Digests of files: a row of an earlier run is used again only for the same content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from motionloom.intake.clip_names import split_range

PART = 1 << 20
COMPANIONS = {".amc": (".asf",), ".gltf": (".bin",), ".txt": (".json",)}
"""Files that a clip of the first suffix is read with, by their suffixes, in the same folder."""


def content_digest(path: str) -> str:
    """Digest of a clip's file and of those that it is read with; empty where none can be read."""
    path, part = split_range(path)
    place, clip = Path(path), ""
    if not place.is_file() and "#" in path:
        name, _, clip = path.rpartition("#")
        place = Path(name)
    if part is not None:
        clip += part.text
    digest = hashlib.blake2b(clip.encode("utf-8", "backslashreplace"), digest_size=16)
    others = COMPANIONS.get(place.suffix.lower(), ())
    try:
        files = [place]
        if others:
            files += sorted(
                each for each in place.parent.iterdir() if each.suffix.lower() in others
            )
        for file in files:
            with file.open("rb") as stream:
                while data := stream.read(PART):
                    digest.update(data)
            digest.update(b"\0")
    except (OSError, ValueError, MemoryError):
        return ""
    return digest.hexdigest()
