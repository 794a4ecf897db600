"""Plans of motionloom sequence: what is to be joined, read from a file and written to one.

A plan is JSON that people edit, so every field is checked, and an error names the file, the field,
what came and what to write.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import motionloom as ml
from motionloom.cli.clip_arguments import Reading

PLAN_FORMAT = "motionloom sequence plan"
PLAN_VERSION = 1
EMBEDDED = "embedded:"
MAKE_ONE = "Write a plan with motionloom sequence CLIP... -o OUT --plan PLAN.json."


@dataclass(frozen=True, slots=True)
class Task:
    """A sequence to make: from the options, or from a plan."""

    paths: list[str]
    joints: list[dict[str, Any] | None]
    loop: bool
    turn_to_deg: float | None
    timewarp: bool
    retarget: bool
    ground: bool
    raw: bool
    reading: Reading
    plan: Path | None = None
    """The plan that it was read from."""
    digests: list[str | None] = field(default_factory=list)
    """SHA-256 that the files must have, where the plan says it."""
    fps: float | None = None
    """Rate at which the plan counts the frames of places."""
    notes: list[str] = field(default_factory=list)
    """What of the plan no longer fits its clips."""

    @property
    def names(self) -> list[str]:
        """What notes and errors call the clips."""
        return [Path(path).name for path in self.paths]


# --- Fields


def _is_number(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value)) and least <= value <= most
    except OverflowError:
        return False


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_rate(value: object) -> bool:
    return _is_number(value, 1e-6, 1e6)


def _is_pair(value: object, each: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(each, value))


def _is_share(value: object) -> bool:
    return _is_number(value, 0.0, 1.0)


def _none_or(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or test(value)


Fields = Mapping[str, tuple[str, Callable[[Any], bool]]]
"""What the value of a field must be, in words that say what to write, and its test."""

FLAG = ("true or false", _is_flag)
RATE = ("frames per second above 0, such as 30, or null", _none_or(_is_rate))
OF_PLAN: Fields = {
    "format": (f'"{PLAN_FORMAT}"', lambda value: value == PLAN_FORMAT),
    "version": (f"{PLAN_VERSION}", lambda value: _is_count(value, 1) and value == PLAN_VERSION),
    "clips": (
        'a list of one clip or more, such as [{"clip": "walk.bvh"}]',
        lambda value: isinstance(value, list) and bool(value),
    ),
    "fps": RATE,
    "joints": (
        "a list with one entry per joint, each null or such as {}",
        lambda value: isinstance(value, list),
    ),
    "loop": FLAG,
    "turn_to_deg": ("degrees such as 90, or null", _none_or(_is_number)),
    "timewarp": FLAG,
    "retarget": FLAG,
    "ground": FLAG,
    "raw": FLAG,
    "reading": ('an object such as {"fps": null}', lambda value: isinstance(value, dict)),
}
NEEDED = ("clips", "joints", "loop", "turn_to_deg", "timewarp", "retarget", "ground", "reading")
OF_CLIP: Fields = {
    "clip": ('the path of a clip, such as "walk.bvh:120-330"', _is_text),
    "sha256": (
        "the 64 hexadecimal digits of the file's SHA-256, or null for any file",
        _none_or(lambda value: _is_text(value) and re.fullmatch("[0-9a-f]{64}", value) is not None),
    ),
    "frames": ("a whole number above 0, or null", _none_or(lambda value: _is_count(value, 1))),
}
OF_JOINT: Fields = {
    "at": (
        "a frame of both clips, such as [179, 13], or null for the best place",
        _none_or(lambda value: _is_pair(value, lambda each: _is_count(each, 0))),
    ),
    "length_s": (
        "seconds above 0, such as 0.6, or null",
        _none_or(lambda value: _is_number(value, 1e-9)),
    ),
    "method": ('"registration" or "cut"', lambda value: value in ("registration", "cut")),
    "keep": (
        'a share from 0 to 1, two of them such as [0.3, 0.5], "late", or null',
        _none_or(lambda v: v == "late" or _is_share(v) or _is_pair(v, _is_share)),
    ),
    "moving": FLAG,
    "clips": (
        "the names of both clips that the place was chosen for, or null",
        _none_or(lambda value: _is_pair(value, _is_text)),
    ),
}
OF_READING: Fields = {
    "fps": RATE,
    "source_fps": (
        'a list of patterns of file names with their rates, such as [["143_*", 60]], or []',
        lambda value: (
            isinstance(value, list)
            and all(
                isinstance(each, list)
                and len(each) == 2
                and _is_text(each[0])
                and _is_rate(each[1])
                for each in value
            )
        ),
    ),
    "unit": ('a unit such as "cm", or null', _none_or(_is_text)),
    "up": ('an axis such as "z", or null', _none_or(_is_text)),
    "body": ("the path of a file with body roles, or null", _none_or(_is_text)),
    "robot": ("the path of a MuJoCo model, or null", _none_or(_is_text)),
}


def _refuse(file: Path, name: str, must: str, value: object) -> NoReturn:
    shown = json.dumps(value, ensure_ascii=False)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise ml.FormatError(
        f'"{name}" in the plan must be {must}, got {shown}.',
        path=file,
        fix=f"Correct it, or start again: {MAKE_ONE}",
    )


def _fields(
    file: Path, where: str, values: object, fields: Fields, needed: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The fields of an object, all checked; unknown ones are refused."""
    if not isinstance(values, dict):
        _refuse(file, where, f"an object with {', '.join(fields)}", values)
    prefix = f"{where}." if where else ""
    for name in needed:
        if name not in values:
            raise ml.FormatError(
                f'"{prefix}{name}" must be in the plan, and is missing.',
                path=file,
                fix=f"Write {fields[name][0]}, or start again: {MAKE_ONE}",
            )
    for name, value in values.items():
        if name not in fields:
            known = ", ".join(fields)
            raise ml.FormatError(
                f'"{prefix}{name}" in the plan is no field that is known; there are {known}.',
                path=file,
                fix="Correct its name, or take it out.",
            )
        must, test = fields[name]
        if not test(value):
            _refuse(file, prefix + name, must, value)
    return values


# --- Reading a plan


def read_plan(file: Path) -> Task:
    """What a plan says. Its paths are relative to its folder."""
    values = _plan_in(file)
    clips = [
        _fields(file, f"clips[{k}]", each, OF_CLIP, ("clip",))
        for k, each in enumerate(values["clips"])
    ]
    joints: list[dict[str, Any] | None] = [
        None if each is None else dict(_fields(file, f"joints[{j}]", each, OF_JOINT))
        for j, each in enumerate(values["joints"])
    ]
    count = len(clips) if values["loop"] else len(clips) - 1
    if len(joints) != count:
        raise ml.FormatError(
            f'"joints" in the plan must have one entry each ({count}), got {len(joints)}.',
            path=file,
            fix="Add entries that are null, or take out those of clips that are gone.",
        )
    read = {"source_fps": [], **_fields(file, "reading", values["reading"], OF_READING)}
    read["source_fps"] = tuple((name, float(rate)) for name, rate in read["source_fps"])
    for name in ("body", "robot"):
        if read.get(name) is not None:
            read[name] = Path(_from_plan(read[name], file))
            if not read[name].is_file():
                must = f"{OF_READING[name][0]}; there is no such file"
                _refuse(file, f"reading.{name}", must, str(read[name]))
    paths = [_from_plan(each["clip"], file) for each in clips]
    names = [Path(path).name for path in paths]
    notes = []
    for j, joint in enumerate(joints):
        if joint is None:
            continue
        after = (j + 1) % len(clips)
        between = joint.pop("clips", None)
        if joint.get("at") is None:
            continue
        if between is not None and between != [names[j], names[after]]:
            del joint["at"]
            notes.append(
                f"joint {j + 1}: the plan has its place for {between[0]} and {between[1]}, not for "
                f"{names[j]} and {names[after]}: it is chosen anew"
            )
        elif None not in (frames := [clips[k].get("frames") for k in (j, after)]):
            joint["frames"] = frames
    return Task(
        paths,
        joints,
        values["loop"],
        values["turn_to_deg"],
        values["timewarp"],
        values["retarget"],
        values["ground"],
        values.get("raw", False),
        Reading(**read),
        file,
        [each.get("sha256") for each in clips],
        values.get("fps"),
        notes,
    )


def _plan_in(file: Path) -> dict[str, Any]:
    """The fields of a file, if it is a plan."""
    try:
        values = json.loads(file.read_bytes())
        if not isinstance(values, dict):
            raise ValueError(f"it must hold an object, not a {type(values).__name__}")
        if values.get("format") != PLAN_FORMAT or values.get("version") != PLAN_VERSION:
            raise ValueError(f"it is no {PLAN_FORMAT} of version {PLAN_VERSION}")
    except OSError as error:
        raise ml.FormatError(
            f"The plan cannot be read: {error.strerror}.", path=file, fix=MAKE_ONE
        ) from None
    except (ValueError, RecursionError) as error:
        raise ml.FormatError(
            f"The plan cannot be used: {error}.", path=file, fix=MAKE_ONE
        ) from None
    missing = [name for name in NEEDED if name not in values]
    if missing:
        raise ml.FormatError(
            f"The plan cannot be used: it has no {', '.join(missing)}.", path=file, fix=MAKE_ONE
        )
    return _fields(file, "", values, OF_PLAN)


def check_digests(task: Task) -> None:
    """Refuse files that are not those that a plan was made of."""
    for number, (path, wanted) in enumerate(zip(task.paths, task.digests, strict=False)):
        if wanted is None:
            continue
        try:
            found = _digest(path)
        except OSError as error:
            raise ml.FormatError(
                f"The plan's clip cannot be read: {error.strerror}.",
                path=path,
                fix=f'Put it back, or change "clips[{number}].clip" in {task.plan}.',
            ) from None
        if found != wanted:
            has = "has no checksum" if found is None else f"SHA-256 {found[:12]}..."
            raise ml.FormatError(
                "The file has changed since the plan was written: its places may fit no more "
                f"({has}, the plan has {wanted[:12]}...).",
                path=path,
                fix=f'Make the plan again, or take "clips[{number}].sha256" out of {task.plan}.',
            )


def _digest(path: str) -> str | None:
    """SHA-256 of a clip's file; None for embedded clips and standard input."""
    file = _file_of(path)
    if file is None:
        return None
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _file_of(path: str) -> Path | None:
    """The file that a clip, or a part of one, is in."""
    path, _ = ml.split_range(path)
    if path == "-" or path.startswith(EMBEDDED):
        return None
    ends = [at for at, character in enumerate(path) if character == "#"]
    for end in (len(path), *ends):
        if Path(path[:end]).is_file():
            return Path(path[:end])
    return Path(path)


# --- Writing a plan


def write_plan(file: Path, task: Task, result: ml.Sequence) -> None:
    """Write what makes the same result again."""
    made, names = result.plan, task.names
    reading = asdict(task.reading)
    for name in ("body", "robot"):
        reading[name] = None if reading[name] is None else _in_plan(str(reading[name]), file)
    clips = [
        {"clip": _in_plan(path, file), "sha256": _digest(path), "frames": each["frames"]}
        for path, each in zip(task.paths, made["clips"], strict=True)
    ]
    joints = []
    for j, joint in enumerate(made["joints"]):
        del joint["frames"]  # the clips have them
        joints.append({**joint, "clips": [names[j], names[(j + 1) % len(names)]]})
    values = {
        "format": PLAN_FORMAT,
        "version": PLAN_VERSION,
        "clips": clips,
        "fps": made["fps"],
        "joints": joints,
        "loop": task.loop,
        "turn_to_deg": task.turn_to_deg,
        "timewarp": task.timewarp,
        "retarget": task.retarget,
        "ground": task.ground,
        "raw": task.raw,
        "reading": reading,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _in_plan(path: str, file: Path) -> str:
    """A path as a plan holds it: relative to the plan's folder."""
    if path.startswith(EMBEDDED):
        return path
    if path == "-":
        raise ml.ArrayError("A plan cannot hold standard input: name files.")
    try:
        return os.path.relpath(path, file.parent)
    except ValueError:  # on another drive
        return str(Path(path).resolve())


def _from_plan(path: str, file: Path) -> str:
    return path if path.startswith(EMBEDDED) else os.path.normpath(file.parent / path)
