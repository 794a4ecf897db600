"""Points of a C3D file, by the package ``c3d``, in the file's own unit and axes."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._extras import require_extra
from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.findings import Finding
from motionloom.formats.registry import refuse_other_file
from motionloom.formats.text import LARGEST, quoted, unique_names

UNITS_M = {"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1.0, "in": 0.0254, "ft": 0.3048}
CUSTOM_UNIT = "mm"
HEAD_BYTES = 512
_AXES = ("x", "y", "z")
_BYTES_PER_POINT = 80


@dataclass(frozen=True, slots=True, eq=False)
class C3dPoints:
    """The points of a file over time."""

    names: tuple[str, ...]
    positions: FloatArray
    """Zeros where a point was not seen. Shape (F, P, 3)."""
    seen: BoolArray
    """Shape (F, P)."""
    fps: float
    unit_m: float
    up: str | None
    """Where the file states which axis points up on a screen."""
    findings: tuple[Finding, ...]


def read_points(data: bytes, limits: Limits) -> C3dPoints:
    """The points in a file's bytes."""
    if not data:
        raise FormatError("The file is empty.", fix="Export it again.")
    refuse_other_file(data[:64])
    if data[1:2] != b"\x50":
        raise FormatError("A C3D file must have 0x50 as its second byte.", where="byte 1")
    if len(data) < HEAD_BYTES:
        raise FormatError(
            f"A C3D file must have at least {HEAD_BYTES} bytes, got {len(data)}.",
            fix="The file is cut short: copy or download it again.",
        )
    require_extra("c3d", "A C3D file", error=FormatError)
    import c3d

    budget = Budget(limits, len(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns of what is a finding or an error here
        try:
            reader = c3d.Reader(io.BytesIO(data))
            n_points, n_frames = int(reader.point_used), int(reader.frame_count)
            if n_points < 1 or n_frames < 1:
                raise FormatError(f"No points: {n_points} markers over {n_frames} frames.")
            if n_points > limits.max_joints or n_frames > limits.max_frames:
                raise FormatError(
                    f"At most {limits.max_joints} markers and {limits.max_frames} frames can be "
                    f"read, got {n_points} and {n_frames}."
                )
            budget.take(_BYTES_PER_POINT * n_points * n_frames, "its points")
            values = [points[:, :4] for _, points, _ in reader.read_frames()]
            return _points(reader, values)
        except FormatError:
            raise
        except Exception as error:  # the package raises whatever a broken file leads it to
            reason = f"{type(error).__name__}: {error}"
            raise FormatError(
                f"The file cannot be read ({reason[:200]}).",
                fix="Check that it opens in the tool that wrote it.",
            ) from error


def _points(reader: Any, values: list[FloatArray]) -> C3dPoints:
    if not values:
        raise FormatError("The file ends before its first frame.")
    samples = np.array(values, dtype=np.float64)
    findings: list[Finding] = []
    if len(values) < int(reader.frame_count):
        problem = f"The file ends after {len(values)} of {reader.frame_count} frames."
        findings.append(Finding("warning", "frames", problem))
    finite = np.isfinite(samples[..., :3]).all(axis=-1)
    seen = finite & (samples[..., 3] >= 0.0) & (np.abs(samples[..., :3]) < LARGEST).all(axis=-1)
    unplaced = seen & (samples[..., :3] == 0.0).all(axis=-1)
    if unplaced.any():
        problem = f"{unplaced.sum()} points at exactly (0, 0, 0) count as not seen."
        findings.append(Finding("warning", "points", problem))
        seen &= ~unplaced
    positions = np.where(seen[..., None], samples[..., :3], 0.0)
    fps = float(reader.point_rate)
    if not 0.1 <= fps <= 1e6:
        raise FormatError(f"The rate must be above 0, got {fps:g}.", where="POINT:RATE")
    names = [str(label).strip() for label in reader.point_labels][: positions.shape[1]]
    names += [""] * (positions.shape[1] - len(names))
    names = [name or f"marker_{k}" for k, name in enumerate(names)]
    return C3dPoints(
        tuple(unique_names(names)[0]),
        positions,
        seen,
        fps,
        _unit(reader, findings),
        _stated_up(reader),
        tuple(findings),
    )


def _unit(reader: Any, findings: list[Finding]) -> float:
    entry = reader.get("POINT:UNITS")
    text = "" if entry is None else str(entry.string_value).strip().strip("\0").lower()
    if text in UNITS_M:
        return UNITS_M[text]
    came = f"the file states {quoted(text)}" if text else "the file states none"
    findings.append(
        Finding(
            "warning" if text else "note",
            "unit",
            f"{CUSTOM_UNIT}, usual for C3D; {came}.",
            "Pass unit= if it is another.",
        )
    )
    return UNITS_M[CUSTOM_UNIT]


def _stated_up(reader: Any) -> str | None:
    """The axis that ``POINT:Y_SCREEN`` points up on a screen."""
    entry = reader.get("POINT:Y_SCREEN")
    text = "" if entry is None else str(entry.string_value).strip().strip("\0").lower()
    axis = text[-1:]
    if axis not in _AXES or text[:-1] not in ("", "+", "-"):
        return None
    return f"-{axis}" if text[0] == "-" else axis
