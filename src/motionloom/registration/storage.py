"""Registration curves on disk: one versioned zip that holds the motions too and runs nothing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import ROLES, BodyMap
from motionloom.errors import ArrayError, FormatError, MotionLoomError
from motionloom.files.limits import limits_for
from motionloom.files.reading import open_file, parse_json, path_of
from motionloom.files.writing import write_whole
from motionloom.formats.archives import archive
from motionloom.formats.archives.npz import Bundle, pack_array, write_members
from motionloom.formats.file_clip import FileClip
from motionloom.formats.text import shown
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.registration.constraints import ConstraintMatch
from motionloom.registration.gait_cycles import UncutClips
from motionloom.registration.splines import Spline

SCHEMA = 1
HEADER = "registration.json"
LONGEST_HEADER = 1 << 21
MOST_MOTIONS = 1024
LARGEST = 1e12
"""Far beyond every time and distance."""
SMALLEST_STEP = 1e-9
"""Frames from one control point to the next, at least; a registration keeps to 3e-4, and with a
small `epsilon` to less."""
BEYOND = 1.0
"""Frames by which a curve may leave its motions, by rounding."""
SAME_FPS = 1.001e-3
"""Motions whose rates differ by at most this part are registered as they are."""
SAME_SPACING = 1e-6
UNCUT = "uncut_"
"""Prefix of the archive members that hold the clips before they were cut."""
OBJECTS = 1 << 16
"""Bytes of memory for a motion besides its arrays and names."""
COPIES = 3
"""Arrays as large as the control points while a curve is checked and kept."""


def write_curve(path: str | Path, curve: Mapping[str, Any]) -> None:
    """Write the fields of a curve, with motions and plants; the same curve gives the same bytes."""
    members = _clip_members(curve["motions"], curve["footplants"])
    uncut = curve["uncut"]
    if uncut is not None:
        members |= _clip_members(uncut.motions, uncut.footplants, UNCUT)
    for k, aligning in enumerate(curve["alignment"]):
        if aligning is not None:
            members[f"alignment{k}.npy"] = pack_array(aligning.points)
    members["times.npy"] = pack_array(curve["times"].points)
    header = {
        "format": "motionloom registration",
        "schema": SCHEMA,
        "motions": len(curve["motions"]),
        "reference": curve["reference"],
        "frames_per_knot": curve["frames_per_knot"],
        "costs": list(curve["costs"]),
        "notes": list(curve["notes"]),
        "body": None if curve["body"] is None else dataclasses.asdict(curve["body"]),
        "matches": {
            kind: [[list(pair) for pair in match.intervals] for match in matches]
            for kind, matches in curve["matches"].items()
        },
        "uncut": uncut is not None,
        "first_frames": [] if uncut is None else list(uncut.first_frames),
    }
    text = json.dumps(header, allow_nan=False, indent=1).encode("ascii")
    write_whole(
        path_of(path, "path"), lambda stream: write_members(stream, {HEADER: text, **members})
    )


def _clip_members(
    motions: Sequence[Motion], footplants: Sequence[Footplants], prefix: str = ""
) -> dict[str, bytes]:
    """Members of the file that hold motions and their contacts."""
    members = {}
    for k, (motion, plants) in enumerate(zip(motions, footplants, strict=True)):
        packed = BytesIO()
        archive.write(FileClip(motion, unit_m=1.0, up="y"), packed)
        members[f"{prefix}motion{k}.mlm"] = packed.getvalue()
        members[f"{prefix}planted{k}.npy"] = pack_array(plants.planted)
    return members


def read_curve(path: str | Path, *, max_memory: int | str | None = None) -> dict[str, Any]:
    """The fields of the curve in a file that :func:`write_curve` wrote.

    ``max_memory`` is the memory that reading may take, as in :func:`motionloom.load`.
    """
    path, limits = path_of(path, "path"), limits_for(max_memory)
    try:
        with open_file(path, limits.max_bytes) as stream:
            return _read(Bundle(stream, limits))
    except FormatError as error:
        raise error.at(path) from error
    except (ArrayError, KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise FormatError(
            f"The file must hold a registration curve ({error}).",
            path=path,
            fix="Register the motions again.",
        ) from error


def _read(bundle: Bundle) -> dict[str, Any]:
    header = _header(bundle)
    n_motions, reference = header["motions"], header["reference"]
    motions, plants = _clips(bundle, n_motions)
    times = Spline(_points(bundle, "times", n_motions))
    spacing = _checked_times(times, motions, header["frames_per_knot"])
    alignment = tuple(
        None if k == reference else Spline(_points(bundle, f"alignment{k}", 3))
        for k in range(n_motions)
    )
    if any(a is not None and len(a.points) != len(times.points) for a in alignment):
        raise FormatError("Times and alignments must have as many control points.")
    last_u = times.u_end * spacing
    listed = header.get("matches")
    others = [kind for kind in listed if kind not in KINDS] if isinstance(listed, dict) else []
    matches = {kind: _matches(header, kind, n_motions, last_u) for kind in (*KINDS, *others)}
    costs, notes = header.get("costs"), header.get("notes")
    if not isinstance(costs, list) or len(costs) != n_motions or not all(map(_is_number, costs)):
        raise FormatError("`costs` must be one number for each motion.", where=HEADER)
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise FormatError("`notes` must be texts.", where=HEADER)
    return {
        "motions": motions,
        "footplants": plants,
        "times": times,
        "alignment": alignment,
        "matches": matches,
        "reference": reference,
        "frames_per_knot": spacing,
        "costs": tuple(float(cost) for cost in costs),
        "notes": tuple(notes),
        "body": _body(header.get("body"), motions[0].skeleton),
        "uncut": _uncut(bundle, header, motions),
    }


def _clips(
    bundle: Bundle, n_motions: int, prefix: str = ""
) -> tuple[tuple[Motion, ...], tuple[Footplants, ...]]:
    """Motions on one skeleton and at one rate, and their contacts."""
    motions = tuple(_motion(bundle, k, prefix) for k in range(n_motions))
    plants = tuple(_plants(bundle, k, prefix) for k in range(n_motions))
    for motion, planted in zip(motions, plants, strict=True):
        if planted.n_frames != motion.n_frames or not motions[0].skeleton.same_joints(
            motion.skeleton
        ):
            raise FormatError("Motions must share a skeleton, and plants cover their motion.")
        if abs(motion.fps - motions[0].fps) > SAME_FPS * motions[0].fps:
            raise FormatError("Motions must share a rate.")
    return motions, plants


def _uncut(
    bundle: Bundle, header: dict[str, Any], motions: tuple[Motion, ...]
) -> UncutClips | None:
    """The clips that the motions were cut from; files of older versions have none."""
    is_cut = header.get("uncut", False)
    if type(is_cut) is not bool:
        raise FormatError("`uncut` must be true or false.", where=HEADER)
    if not is_cut:
        return None
    clips, plants = _clips(bundle, len(motions), UNCUT)
    firsts = header.get("first_frames", [0] * len(motions))
    if not isinstance(firsts, list) or len(firsts) != len(motions):
        raise FormatError("`first_frames` must be one frame for each motion.", where=HEADER)
    for first, clip, motion in zip(firsts, clips, motions, strict=True):
        if not clip.skeleton.same_joints(motion.skeleton) or clip.n_frames < motion.n_frames:
            raise FormatError(
                "Uncut clips must have the skeleton of the motions cut from them, and no fewer "
                "frames."
            )
        if type(first) is not int or not 0 <= first <= clip.n_frames - motion.n_frames:
            raise FormatError(
                f"`first_frames` must be frames of the uncut clips, got {shown(firsts)}.",
                where=HEADER,
            )
    return UncutClips(clips, plants, tuple(firsts))


def _body(roles: object, skeleton: Skeleton) -> BodyMap | None:
    """Roles of joints; files of older versions have none."""
    if roles is None:
        return None
    if not isinstance(roles, dict) or not set(roles) <= set(ROLES):
        raise FormatError("`body` must give joints to known roles.", where=HEADER)
    joints: dict[str, Any] = {
        role: tuple(joint) if isinstance(joint, list) else joint for role, joint in roles.items()
    }
    try:
        return BodyMap(**joints).checked_for(skeleton)
    except MotionLoomError as error:
        raise FormatError(f"`body` must fit the skeleton ({error}).", where=HEADER) from error


def _header(bundle: Bundle) -> dict[str, Any]:
    """The header; the number of motions and the reference in it are checked."""
    text = bundle.member(HEADER)
    if len(text) > LONGEST_HEADER:
        raise FormatError(
            f"The header must have at most {LONGEST_HEADER} bytes, got {len(text)}.", where=HEADER
        )
    header: dict[str, Any] = parse_json(text, bundle.budget, where=HEADER)
    if not isinstance(header, dict) or header.get("format") != "motionloom registration":
        raise FormatError("The header must say that this is a registration curve.", where=HEADER)
    schema = header.get("schema")
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        raise FormatError(
            f"The file has schema {repr(schema)[:40]}; this motionloom reads up to {SCHEMA}.",
            where=HEADER,
            fix="Install a newer motionloom.",
        )
    n_motions, reference = header.get("motions"), header.get("reference")
    if type(n_motions) is not int or not 2 <= n_motions <= MOST_MOTIONS:
        raise FormatError("The header must name two or more motions.", where=HEADER)
    if type(reference) is not int or not 0 <= reference < n_motions:
        raise FormatError("The reference must be one of the motions.", where=HEADER)
    return header


def _checked_times(times: Spline, motions: tuple[Motion, ...], spacing: object) -> float:
    """The average frames between control points, if the curve goes forwards inside of its motions.

    How many frames a blend has depends on it.
    """
    where = "array 'times'"
    if np.diff(times.points, axis=0).min() < SMALLEST_STEP:
        raise FormatError("Times must increase.", where=where)
    ends = times(np.array([0.0, times.u_end]))
    last = np.array([motion.n_frames - 1.0 for motion in motions])
    if ends[0].min() < -BEYOND or (ends[1] > last + BEYOND).any():
        raise FormatError("Times must be frames of the motions.", where=where)
    average = float((ends[1] - ends[0]).mean()) / times.u_end
    if not _is_number(spacing) or abs(float(str(spacing)) - average) > SAME_SPACING * average:
        raise FormatError(
            f"`frames_per_knot` must be what the times say, {average:g}, got {repr(spacing)[:40]}.",
            where=HEADER,
        )
    return float(str(spacing))


def _matches(
    header: dict[str, Any], kind: str, n_motions: int, last_u: float
) -> tuple[ConstraintMatch, ...]:
    """Plants of one kind that belong together, as intervals of the curve's parameter."""
    listed = header.get("matches")
    if not isinstance(listed, dict) or not isinstance(listed.get(kind), list):
        raise FormatError(f"`matches` must list the plants of {kind}.", where=HEADER)
    matches = []
    for match in listed[kind]:
        if not isinstance(match, list) or len(match) != n_motions:
            raise FormatError("A match must have a plant of each motion.", where=HEADER)
        for plant in match:
            if not isinstance(plant, list) or len(plant) != 2 or not all(map(_is_number, plant)):
                raise FormatError("A plant must be a start and an end.", where=HEADER)
            if min(plant) < -BEYOND or max(plant) > last_u + BEYOND:
                raise FormatError(
                    f"Plants must lie on the curve, 0 to {last_u:g}, got {shown(plant)}.",
                    where=HEADER,
                )
        matches.append(ConstraintMatch(tuple((float(a), float(b)) for a, b in match)))
    return tuple(matches)


def _is_number(value: object) -> bool:
    return (type(value) is int or type(value) is float) and -LARGEST <= value <= LARGEST


def _motion(bundle: Bundle, k: int, prefix: str) -> Motion:
    """A motion of the file; all of them together take what the file may take."""
    packed, budget = bundle.member(f"{prefix}motion{k}.mlm"), bundle.budget
    inner = Bundle(BytesIO(packed), bundle.limits, budget)
    motion = archive.read_bundle(inner).motion  # its arrays and names stay taken
    budget.give_back(len(packed))
    budget.take(OBJECTS, f"{prefix}motion {k}")
    return motion


def _plants(bundle: Bundle, k: int, prefix: str) -> Footplants:
    name = f"{prefix}planted{k}"
    planted = bundle.array(name)
    bundle.budget.take(planted.nbytes, "its plants", f"array {name!r}")
    if planted.dtype != np.bool_ or (planted.size and planted.view(np.uint8).max() > 1):
        raise FormatError("Plants must be true or false.", where=f"array {name!r}")
    return Footplants(planted)


def _points(bundle: Bundle, key: str, columns: int) -> FloatArray:
    numbers = bundle.numbers(key, (None, columns))
    bundle.budget.take(COPIES * 8 * numbers.size, "its curve", f"array {key!r}")
    points = np.array(numbers, dtype=np.float64)
    if len(points) < 3:
        raise FormatError(
            f"There must be three control points or more, got {len(points)}.",
            where=f"array {key!r}",
        )
    return points
