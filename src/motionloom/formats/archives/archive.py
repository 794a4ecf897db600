"""motionloom's own archive, ``.mlm``: a whole Motion, exactly, in one small zip.

A zip of stored members: ``motionloom.json`` first (schema version, names, rate, source, and the
SHA-256 of every array), then one ``.npy`` per array in float64. Nothing in it is executed, the
same motion always gives the same bytes, and numpy alone can open the arrays.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from types import MappingProxyType
from typing import Any, BinaryIO, get_args

import numpy as np
import numpy.typing as npt

from motionloom._arrays import finite, positive, unit_of_length, whole
from motionloom.errors import ArrayError, FormatError
from motionloom.files.reading import parse_json
from motionloom.findings import Finding, Level
from motionloom.formats.archives.npz import (
    Bundle,
    bounded,
    first_member,
    pack_array,
    unpack_array,
    write_members,
)
from motionloom.formats.archives.plain_arrays import UPS
from motionloom.formats.bvh.bvh_header import CHANNEL_NAMES
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.formats.text import shown
from motionloom.motion.motion import Motion, Skeleton
from motionloom.motion.provenance import Floor, Source

SCHEMA = 1
HEADER = "motionloom.json"
_SKELETON_ARRAYS = ("parents", "offsets", "rest_quats", "end_parents", "end_offsets")
_MOTION_ARRAYS = ("root_positions", "local_quats", "joint_translations")
_DROP = object()


def sniff(head: bytes) -> bool:
    """Whether these bytes begin a zip whose first member is our header."""
    return first_member(head) == HEADER


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in an archive; ``motion.source`` is what it was when it was written."""
    return read_bundle(Bundle(stream, options.limits))


def read_bundle(bundle: Bundle) -> FileClip:
    """The clip in an archive whose zip is open; what it takes stays taken of the budget."""
    header = _header(bundle)
    arrays = {key: _checked(bundle, key, header) for key in header["sha256"]}
    if "local_quats" in arrays and arrays["local_quats"].ndim == 3:
        n_frames, n_joints = arrays["local_quats"].shape[:2]
        bundle.budget.check_poses(n_frames, n_joints, sliding="joint_translations" in arrays)
    try:
        skeleton = Skeleton(
            header["names"], **{key: arrays[key] for key in _SKELETON_ARRAYS if key in arrays}
        )
        motion = Motion(
            skeleton,
            fps=_typed(header["fps"], float, int),
            name=_typed(header.get("name", ""), str),
            source=_source(header.get("source", {})),
            **{key: arrays[key] for key in _MOTION_ARRAYS if key in arrays},
        )
        limits = bundle.limits
        if skeleton.n_joints > limits.max_joints or motion.n_frames > limits.max_frames:
            raise ArrayError(f"{motion!r} is beyond the limits {limits}.")
        unit_m, up = header["unit_m"], header["up"]
        return FileClip(
            motion,
            unit_m=None if unit_m is None else unit_of_length(_typed(unit_m, float, int), "unit_m"),
            up=None if up is None else UPS[UPS.index(up)],
            clip=_typed(header.get("clip", ""), str),
        )
    except (ArrayError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise FormatError(
            f"The header and the arrays must describe a motion ({error}).", where=HEADER
        ) from error


def write(clip: FileClip, stream: BinaryIO) -> None:
    """Write the clip with all that its motion and its source know."""
    motion = clip.motion
    arrays = {key: getattr(motion.skeleton, key) for key in _SKELETON_ARRAYS}
    arrays |= {
        key: getattr(motion, key) for key in _MOTION_ARRAYS if getattr(motion, key) is not None
    }
    members = {f"{key}.npy": pack_array(array) for key, array in arrays.items()}
    header = {
        "format": "motionloom motion",
        "schema": SCHEMA,
        "name": motion.name,
        "clip": clip.clip,
        "fps": motion.fps,
        "unit_m": clip.unit_m,
        "up": clip.up,
        "names": list(motion.skeleton.names),
        "source": _plain(_source_fields(motion.source)),
        "sha256": {name[:-4]: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    text = json.dumps(header, allow_nan=False, indent=1).encode("ascii")
    write_members(stream, {HEADER: text, **members})


def _header(bundle: Bundle) -> dict[str, Any]:
    header = parse_json(bundle.member(HEADER), bundle.budget, where=HEADER)
    if not isinstance(header, dict) or header.get("format") != "motionloom motion":
        raise FormatError("The header must say that this is a motionloom motion.", where=HEADER)
    schema = header.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise FormatError(f"The schema must be a whole number, got {shown(schema)}.", where=HEADER)
    if schema > SCHEMA:
        raise FormatError(
            f"The archive has schema {schema}; this motionloom reads up to {SCHEMA}.",
            where=HEADER,
            fix="Install a newer motionloom.",
        )
    if not isinstance(header.get("sha256"), dict) or not isinstance(header.get("names"), list):
        raise FormatError("The header must list names and checksums.", where=HEADER)
    return header


def _checked(bundle: Bundle, key: str, header: dict[str, Any]) -> npt.NDArray[Any]:
    if key not in _SKELETON_ARRAYS + _MOTION_ARRAYS:
        raise FormatError(f"Schema {SCHEMA} knows no array called {key!r}.", where=HEADER)
    data = bundle.member(f"{key}.npy")
    if hashlib.sha256(data).hexdigest() != header["sha256"][key]:
        raise FormatError(
            "The array's checksum must be the one in the header, it is not.",
            where=f"array {key!r}",
            fix="The file was damaged or edited: take it from a backup.",
        )
    array = unpack_array(data, where=f"array {key!r}")
    if array.dtype != np.float64:
        bundle.budget.take(array.size * 8, "its numbers", f"array {key!r}")
    return bounded(array, where=f"array {key!r}")


def _source_fields(source: Source) -> dict[str, Any]:
    values = {field.name: getattr(source, field.name) for field in fields(source)}
    values["floor"] = None if source.floor is None else asdict(source.floor)
    values["findings"] = [asdict(finding) for finding in source.findings]
    return values


def _source(stored: Any) -> Source:
    """The source that the header states; TypeError where a field has another type."""
    stored = _typed(stored, dict)
    floor = _typed(stored.get("floor") or {}, dict)
    findings = [_typed(finding, dict) for finding in _typed(stored.get("findings", []), list)]
    for finding in findings:
        if finding.get("level") not in get_args(Level):
            raise TypeError(f"no level is called {str(finding.get('level'))[:40]!r}")
    fps = stored.get("fps")
    return Source(
        **{key: _typed(stored.get(key, ""), str) for key in ("format", "path", "clip")},
        unit_m=unit_of_length(_typed(stored.get("unit_m", 1.0), float, int), "source.unit_m"),
        up=UPS[UPS.index(_typed(stored.get("up", "y"), str))],
        fps=None if fps is None else positive(_typed(fps, float, int), "source.fps"),
        skipped_frames=whole(stored.get("skipped_frames", 0), "source.skipped_frames", least=0),
        floor=_floor(floor) if floor else None,
        detail=MappingProxyType(_detail(_typed(stored.get("detail", {}), dict))),
        findings=tuple(
            Finding(**{key: _typed(text, str) for key, text in finding.items()})
            for finding in findings
        ),
    )


def _floor(stored: dict[str, Any]) -> Floor:
    return Floor(**{key: finite(value, f"source.floor.{key}") for key, value in stored.items()})


def _detail(stored: dict[str, Any]) -> dict[str, Any]:
    """Details that a format keeps for its writer; a BVH's channels must fit the joints it names."""
    detail: dict[str, Any] = _frozen(stored)
    if "names" not in detail or "channels" not in detail:  # no writer looks at one alone
        return detail
    names, channels = detail["names"], detail["channels"]
    if not isinstance(names, tuple) or not isinstance(channels, tuple):
        raise TypeError("source.detail must list names and channels")
    if len(names) != len(channels):
        raise TypeError("source.detail must list channels for each of its names")
    for own in channels:
        if not isinstance(own, tuple) or not all(name in CHANNEL_NAMES for name in own):
            raise TypeError(f"source.detail must list names of channels, got {str(own)[:40]!r}")
    return detail


def _typed(value: Any, *kinds: type) -> Any:
    if isinstance(value, bool) or not isinstance(value, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{wanted} is needed, got {str(value)[:40]!r}")
    return value


def _plain(value: Any) -> Any:
    """``value`` as JSON can hold it; what it cannot hold is left out of lists and mappings."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _DROP
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist()) if value.dtype.kind in "fiubU" else _DROP
    if isinstance(value, Mapping):
        pairs = ((key, _plain(part)) for key, part in value.items() if isinstance(key, str))
        return {key: part for key, part in pairs if part is not _DROP}
    if isinstance(value, list | tuple):
        parts = [_plain(part) for part in value]
        return _DROP if any(part is _DROP for part in parts) else parts
    return _DROP


def _frozen(value: Any) -> Any:
    """JSON values with tuples for lists, as the readers make them."""
    if isinstance(value, dict):
        return {key: _frozen(part) for key, part in value.items()}
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value


FORMAT = Format(
    name="archive",
    title="motionloom archive",
    suffixes=(".mlm",),
    sniff=sniff,
    read=read,
    write=write,
    unit_m=1.0,
    up="y",
)
