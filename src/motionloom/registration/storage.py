"""Registration curves on disk: one versioned zip that holds the motions too and runs nothing."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError, FormatError
from motionloom.formats import archive
from motionloom.formats.fileclip import FileClip, Limits, ReadOptions
from motionloom.formats.npz import Bundle, pack_array, write_members
from motionloom.motion.contacts import KINDS, Footplants
from motionloom.motion.motion import Motion
from motionloom.registration.constraints import ConstraintMatch
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.splines import Spline
from motionloom.saving.whole_file import write_whole

__all__ = ["SCHEMA", "load_curve", "save_curve"]

SCHEMA = 1
HEADER = "registration.json"


def save_curve(curve: RegistrationCurve, path: str | Path) -> None:
    """Write a curve, its motions and plants; the same curve gives the same bytes."""
    members: dict[str, bytes] = {}
    for k, (motion, plants) in enumerate(zip(curve.motions, curve.footplants, strict=True)):
        packed = BytesIO()
        archive.write(FileClip(motion, unit_m=1.0, up="y"), packed)
        members[f"motion{k}.mlm"] = packed.getvalue()
        members[f"planted{k}.npy"] = pack_array(plants.planted)
        aligning = curve.alignment[k]
        if aligning is not None:
            members[f"alignment{k}.npy"] = pack_array(aligning.points)
    members["times.npy"] = pack_array(curve.times.points)
    header = {
        "format": "motionloom registration",
        "schema": SCHEMA,
        "motions": len(curve.motions),
        "reference": curve.reference,
        "frames_per_knot": curve.frames_per_knot,
        "costs": list(curve.costs),
        "notes": list(curve.notes),
        "matches": {
            kind: [[list(pair) for pair in match.intervals] for match in curve.matches[kind]]
            for kind in KINDS
        },
    }
    text = json.dumps(header, allow_nan=False, indent=1).encode("ascii")
    write_whole(_file(path), lambda stream: write_members(stream, {HEADER: text, **members}))


def load_curve(path: str | Path) -> RegistrationCurve:
    """The curve in a file that :func:`save_curve` wrote."""
    path = _file(path)
    try:
        with path.open("rb") as stream:
            return _read(Bundle(stream, Limits()))
    except OSError as error:
        raise FormatError(f"The file cannot be read ({error.strerror}).", path=path) from error
    except FormatError as error:
        raise error.at(path) from error
    except (ArrayError, KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise FormatError(
            f"The file must hold a registration curve ({error}).",
            path=path,
            fix="Register the motions again.",
        ) from error


def _file(path: str | Path) -> Path:
    if not isinstance(path, str | Path):
        raise ArrayError(f"`path` must be a file name, got {path!r}.")
    return Path(path)


def _read(bundle: Bundle) -> RegistrationCurve:
    header: dict[str, Any] = json.loads(bundle.member(HEADER))
    if not isinstance(header, dict) or header.get("format") != "motionloom registration":
        raise FormatError("The header must say that this is a registration curve.", where=HEADER)
    if not isinstance(header.get("schema"), int) or header["schema"] > SCHEMA:
        raise FormatError(
            f"The file has schema {header.get('schema')!r}; this motionloom reads up to {SCHEMA}.",
            where=HEADER,
            fix="Install a newer motionloom.",
        )
    n_motions, reference = int(header["motions"]), int(header["reference"])
    if not 2 <= n_motions <= 1024 or not 0 <= reference < n_motions:
        raise FormatError("The header must name two or more motions.", where=HEADER)
    motions = tuple(_motion(bundle, k) for k in range(n_motions))
    plants = tuple(Footplants(bundle.array(f"planted{k}")) for k in range(n_motions))
    times = Spline(_points(bundle, "times", n_motions))
    if np.diff(times.points, axis=0).min() <= 0.0:
        raise FormatError("Times must increase.", where="array 'times'")
    for motion, planted in zip(motions, plants, strict=True):
        if planted.n_frames != motion.n_frames or not motions[0].skeleton.same_joints(
            motion.skeleton
        ):
            raise FormatError("Motions must share a skeleton, and plants cover their motion.")
    alignment = tuple(
        None if k == reference else Spline(_points(bundle, f"alignment{k}", 3))
        for k in range(n_motions)
    )
    if any(a is not None and len(a.points) != len(times.points) for a in alignment):
        raise FormatError("Times and alignments must have as many control points.")
    matches = {
        kind: tuple(
            ConstraintMatch(tuple((float(a), float(b)) for a, b in match))
            for match in header["matches"][kind]
            if len(match) == n_motions
        )
        for kind in KINDS
    }
    return RegistrationCurve(
        motions,
        plants,
        times,
        alignment,
        matches,
        reference,
        float(header["frames_per_knot"]),
        tuple(float(cost) for cost in header["costs"]),
        tuple(str(note) for note in header["notes"]),
    )


def _motion(bundle: Bundle, k: int) -> Motion:
    return archive.read(BytesIO(bundle.member(f"motion{k}.mlm")), ReadOptions()).motion


def _points(bundle: Bundle, key: str, columns: int) -> FloatArray:
    points = np.asarray(bundle.array(key), dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != columns or len(points) < 3:
        raise FormatError(f"Control points must have {columns} columns.", where=f"array {key!r}")
    if not np.isfinite(points).all():
        raise FormatError("Control points must be finite.", where=f"array {key!r}")
    return points
