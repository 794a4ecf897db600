"""The catalogue of a collection: which clips it holds, from which files, on which skeleton."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from motionloom._arrays import IntArray, positive
from motionloom.body.anatomy import FootOffsets
from motionloom.body.body_map import ROLES, BodyMap
from motionloom.errors import ArrayError, FormatError, MotionLoomError, TableError
from motionloom.files.limits import FREE_MEMORY, Budget, Limits
from motionloom.files.reading import parse_json, read_file
from motionloom.files.writing import disk_fault, whole_file
from motionloom.motion.motion import Skeleton
from motionloom.tables.collection.frames import FARTHEST_M

FORMAT = "motionloom collection"
SCHEMA = 1
LARGEST_CATALOGUE = 1 << 30
MEMORY_PER_BYTE = 16
"""Bytes of memory for a byte of a catalogue: short records take twelve times their text."""
SLOWEST_FPS, FASTEST_FPS = 1.0, 1000.0
"""Rates that captured motion comes at: others are typing errors, or seconds per frame."""
MOST_ROWS = 1 << 48
LONGEST_PATH = 4096
PLANTS = ("thresholds", "learned")
Check = Callable[[object], bool]


class ClipEntry(NamedTuple):
    """One clip that a file holds."""

    clip: str
    """Its name in a file of several, else empty."""
    skeleton: str
    """Key of the skeleton it came on; empty where it cannot be used."""
    frames: int
    """At the collection's rate."""
    notes: tuple[str, ...]
    """What was noticed and done when it was read."""
    error: str = ""
    """Why it is left out."""


class FileRecord(NamedTuple):
    """One file of the folder as it was read."""

    file: str
    """Path in the folder, with slashes."""
    key: str
    """Digest of its contents and of all options of reading it."""
    clips: tuple[ClipEntry, ...]
    error: str = ""
    """Why nothing of it could be read."""


class ClipRecord(NamedTuple):
    """One clip of the collection."""

    id: str
    file: str
    clip: str
    key: str
    """That of its file: rows are used again while it stays the same."""
    first: int
    """Its first row."""
    frames: int
    digest: str
    """Of its rows."""
    notes: tuple[str, ...]
    """What was done to match it to the common skeleton."""
    jumps: tuple[int, ...] = ()
    """Frames with a capture glitch."""


@dataclass(frozen=True, slots=True, eq=False)
class Common:
    """What all clips of a collection share."""

    skeleton: Skeleton
    body: BodyMap
    feet: tuple[FootOffsets, FootOffsets]

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold; floats come back to the last bit."""
        return {
            "skeleton": skeleton_json(self.skeleton),
            "roles": {role: getattr(self.body, role) for role in ROLES},
            "feet": [
                {
                    name: value.tolist() if isinstance(value, np.ndarray) else value
                    for name, value in (
                        (entry.name, getattr(foot, entry.name))
                        for entry in dataclasses.fields(foot)
                    )
                }
                for foot in self.feet
            ],
        }

    @classmethod
    def of_json(cls, document: dict[str, Any]) -> Common:
        """From what :meth:`json` returned."""
        skeleton = skeleton_of_json(document["skeleton"])
        roles: dict[str, Any] = {
            role: tuple(value) if role == "spine" else value
            for role, value in document["roles"].items()
        }
        feet: list[dict[str, Any]] = [
            {name: np.array(v) if isinstance(v, list) else v for name, v in foot.items()}
            for foot in document["feet"]
        ]
        left, right = (FootOffsets(**foot) for foot in feet)
        return cls(skeleton, BodyMap(**roles).checked_for(skeleton), (left, right))


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """All that is known of a collection but its rows."""

    folder: str
    """The folder of the sources, seen from the folder that holds the collection."""
    fps: float
    options: dict[str, Any]
    common: Common
    generation: int
    """Which files hold the rows."""
    clips: tuple[ClipRecord, ...]
    files: tuple[FileRecord, ...]

    @property
    def n_rows(self) -> int:
        """Frames of all clips together."""
        return self.clips[-1].first + self.clips[-1].frames if self.clips else 0

    def jumps(self) -> IntArray:
        """Rows that windows are not to be made of, ascending."""
        if self.options.get("keep_jumps", False):
            return np.zeros(0, dtype=np.int64)
        rows = [clip.first + frame for clip in self.clips for frame in clip.jumps]
        return np.array(rows, dtype=np.int64)

    def digest(self) -> str:
        """Digest of everything a table is built on: clips in order, rows, skeleton, rate."""
        common = {key: value for key, value in self.common.json().items() if key != "feet"}
        content = [SCHEMA, self.fps, common, [[c.id, c.frames, c.digest] for c in self.clips]]
        content += [self.jumps().tolist()] if len(self.jumps()) else []
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def read_catalogue(path: Path) -> Catalogue:
    """The catalogue in a file; an error in words where it is none."""
    try:
        text = read_file(path, LARGEST_CATALOGUE)
    except FormatError as error:
        raise TableError(str(error)) from error
    limits = Limits(max_memory=FREE_MEMORY + MEMORY_PER_BYTE * len(text))
    try:
        document = parse_json(text, Budget(limits, len(text)), where="catalogue")
    except FormatError as error:
        raise TableError(
            f"{path} must be a catalogue of a collection, and is damaged ({error}) "
            "Ingest the folder again."
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TableError(f"{path} is no catalogue of a motionloom collection.")
    if type(document.get("schema")) is not int or document["schema"] != SCHEMA:
        raise TableError(
            f"{path} has schema {repr(document.get('schema'))[:40]}; this motionloom reads "
            f"{SCHEMA}. Ingest the folder again."
        )
    try:
        check_document(document)
        clips = tuple(
            ClipRecord(*each[:7], *(tuple(values) for values in each[7:]))
            for each in document["clips"]
        )
        files = tuple(
            FileRecord(
                file,
                key,
                tuple(ClipEntry._make([*each[:3], tuple(each[3]), each[4]]) for each in entries),
                error,
            )
            for file, key, entries, error in document["files"]
        )
        catalogue = Catalogue(
            str(document["folder"]),
            float(document["fps"]),
            dict(document["options"]),
            Common.of_json(document["common"]),
            int(document["generation"]),
            clips,
            files,
        )
    except (LookupError, TypeError, ValueError, ArithmeticError, MotionLoomError) as error:
        raise TableError(
            f"{path} must be a catalogue of a collection, and is damaged ({error}). "
            "Ingest the folder again."
        ) from error
    _check_clips(path, catalogue)
    return catalogue


def check_document(document: dict[str, Any]) -> None:
    """Check the type and the range of every value of a catalogue.

    Raises
    ------
    ValueError
        A value is missing, of another type, or out of its range; the text names it.
    """
    folder, fps = document.get("folder"), document.get("fps")
    _require(_is_text(folder) and len(str(folder)) <= LONGEST_PATH, "its folder is no path")
    _require(_is_number(fps, FASTEST_FPS) and float(str(fps)) >= SLOWEST_FPS, "its rate cannot be")
    _require(_is_count(document.get("generation")), "its generation is no number")
    options = document.get("options")
    _require(
        isinstance(options, dict)
        and all(isinstance(value, bool | str) for value in options.values())
        and options.get("plants", PLANTS[0]) in PLANTS,
        "its options are not described",
    )
    _require(_is_list(document.get("clips"), _is_clip), "its clips are not described")
    _require(bool(document["clips"]), "it has no clips")
    _require(_is_list(document.get("files"), _is_file), "its files are not described")
    common = document.get("common")
    if not isinstance(common, dict):
        raise ValueError("what its clips share is not described")
    _check_skeleton(common.get("skeleton"))
    n_joints = len(common["skeleton"]["names"])
    _check_roles(common.get("roles"), n_joints)
    _check_feet(common.get("feet"), n_joints)


def _check_skeleton(skeleton: object) -> None:
    if not isinstance(skeleton, dict):
        raise ValueError("its skeleton is not described")
    _require(_is_list(skeleton.get("names"), _is_text), "the names of its joints are no texts")
    for name in ("parents", "end_parents"):
        _require(_is_list(skeleton.get(name), _is_joint), f"{name!r} of its skeleton are no joints")
    for name, width in (("offsets", 3), ("end_offsets", 3), ("rest_quats", 4)):
        _require(
            _is_list(skeleton.get(name), partial(_is_vector, width=width)),
            f"{name!r} of its skeleton must be rows of {width} numbers up to {FARTHEST_M:g}",
        )


def _check_roles(roles: object, n_joints: int) -> None:
    if not isinstance(roles, dict) or not set(roles) <= set(ROLES):
        raise ValueError("the roles of its joints are not described")
    for role, joints in roles.items():
        several = joints if role == "spine" else [] if joints is None else [joints]
        _require(
            _is_list(several, partial(_is_joint, most=n_joints)) and -1 not in several,
            f"the role {role!r} must be played by one of {n_joints} joints",
        )


def _check_feet(feet: object, n_joints: int) -> None:
    if not isinstance(feet, list) or len(feet) != 2:
        raise ValueError("its feet are not described")
    names = {entry.name for entry in fields(FootOffsets)}
    for foot in feet:
        _require(isinstance(foot, dict) and set(foot) == names, "its feet are not described")
        joints = [foot["ankle"], *([] if foot["toe"] is None else [foot["toe"]])]
        _require(
            all(_is_joint(joint, n_joints) and joint >= 0 for joint in joints),
            f"its feet must hang on two of {n_joints} joints",
        )
        _require(
            all(_is_vector(foot[name], 3) for name in names - {"ankle", "toe"}),
            f"points of its feet must be three numbers up to {FARTHEST_M:g}",
        )


def _is_clip(clip: object) -> bool:
    if not isinstance(clip, list) or not 8 <= len(clip) <= 9:
        return False
    texts = [*clip[:4], clip[6]]
    jumps = clip[8] if len(clip) == 9 else []
    return (
        all(map(_is_text, texts))
        and _is_count(clip[4])
        and _is_count(clip[5])
        and _is_list(clip[7], _is_text)
        and _is_list(jumps, _is_count)
    )


def _is_file(file: object) -> bool:
    if not isinstance(file, list) or len(file) != 4:
        return False
    return all(map(_is_text, (file[0], file[1], file[3]))) and _is_list(file[2], _is_found)


def _is_found(entry: object) -> bool:
    if not isinstance(entry, list) or len(entry) != 5:
        return False
    clip, skeleton, frames, notes, error = entry
    return (
        all(map(_is_text, (clip, skeleton, error)))
        and _is_count(frames)
        and _is_list(notes, _is_text)
    )


def _require(fits: bool, why: str) -> None:
    if not fits:
        raise ValueError(why)


def _is_list(value: object, check: Check) -> bool:
    return isinstance(value, list) and all(map(check, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < MOST_ROWS


def _is_joint(value: object, most: int = MOST_ROWS) -> bool:
    return type(value) is int and -1 <= value < most


def _is_number(value: object, most: float = FARTHEST_M) -> bool:
    return (type(value) is int or type(value) is float) and -most <= value <= most


def _is_vector(value: object, width: int) -> bool:
    return isinstance(value, list) and len(value) == width and all(map(_is_number, value))


def checked_rate(value: float, name: str) -> float:
    """A rate that a collection can have."""
    rate = positive(value, name)
    if not SLOWEST_FPS <= rate <= FASTEST_FPS:
        raise ArrayError(
            f"`{name}` must be {SLOWEST_FPS:g} to {FASTEST_FPS:g} frames per second, got {rate:g}."
        )
    return rate


def _check_clips(path: Path, catalogue: Catalogue) -> None:
    """Refuse a catalogue that was edited into something that no ingest writes."""
    clips = catalogue.clips
    listed = {(file.file, entry.clip) for file in catalogue.files for entry in file.clips}
    in_order = all(
        list(clip.jumps) == sorted({frame for frame in clip.jumps if frame < clip.frames})
        for clip in clips
    )
    if not in_order or len({clip.id for clip in clips}) < len(clips):
        raise TableError(f"{path} is damaged: its clips are not described. Ingest again.")
    if any((clip.file, clip.clip) not in listed for clip in clips):
        raise TableError(f"{path} is damaged: clips come from no file. Ingest the folder again.")
    rows = np.array([[clip.first, clip.frames] for clip in clips], dtype=np.int64).reshape(-1, 2)
    if np.any(rows[:, 1] < 1) or not np.array_equal(rows[:, 0], np.cumsum(rows[:, 1]) - rows[:, 1]):
        raise TableError(f"{path} is damaged: rows overlap. Ingest the folder again.")


def write_catalogue(path: Path, catalogue: Catalogue) -> None:
    """Write the catalogue; from then on the rows it names are the collection's."""
    write_json(
        path,
        {
            "format": FORMAT,
            "schema": SCHEMA,
            "folder": catalogue.folder,
            "fps": catalogue.fps,
            "options": catalogue.options,
            "common": catalogue.common.json(),
            "generation": catalogue.generation,
            "clips": [list(clip) for clip in catalogue.clips],
            "files": [list(file) for file in catalogue.files],
        },
    )


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write JSON so that the file is the old one or the new one at every moment."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    with whole_file(path) as stream:
        stream.write(text.encode("ascii") + b"\n")


@contextmanager
def disk_errors(path: Path, state: str) -> Iterator[None]:
    """Errors of the disk in words: what could not be written, why, and what stays."""
    try:
        yield
    except OSError as error:
        reason, remedy = disk_fault(error)
        raise TableError(f"{path} cannot be written: {reason}. {state} {remedy}.") from error


def skeleton_json(skeleton: Skeleton) -> dict[str, Any]:
    """A skeleton as values that JSON can hold; floats come back to the last bit."""
    return {
        "names": list(skeleton.names),
        "parents": skeleton.parents.tolist(),
        "offsets": skeleton.offsets.tolist(),
        "rest_quats": skeleton.rest_quats.tolist(),
        "end_parents": skeleton.end_parents.tolist(),
        "end_offsets": skeleton.end_offsets.tolist(),
    }


def skeleton_of_json(document: dict[str, Any]) -> Skeleton:
    """From what :func:`skeleton_json` returned."""
    return Skeleton(
        tuple(document["names"]),
        np.array(document["parents"], dtype=np.int64),
        np.array(document["offsets"], dtype=np.float64).reshape(-1, 3),
        np.array(document["rest_quats"], dtype=np.float64).reshape(-1, 4),
        np.array(document["end_parents"], dtype=np.int64),
        np.array(document["end_offsets"], dtype=np.float64).reshape(-1, 3),
    )
