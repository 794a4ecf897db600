"""DeepMimic motions: JSON with one row of numbers per frame; another file has the skeleton.

A row is the frame's duration, the root's position and rotation, and then every joint in the
skeleton's order: four numbers (w, x, y, z) for a spherical joint, one angle about z for a hinge.
Metres, Y up; the character faces +X.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.deepmimic.deepmimic_rows import read_rows
from motionloom.formats.deepmimic.deepmimic_skeleton import HUMANOID, Character, skeletons_nearby
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.formats.text import MARK, quoted, read_bounded
from motionloom.motion.motion import Motion
from motionloom.reading.size_limits import Budget
from motionloom.rotation import quat

_CUSTOMARY_FPS = 30.0
_SAME_DURATION = 1e-4
_UNIT = 1e-2
_NO_DIRECTION = 1e-6


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in a DeepMimic motion file, in metres."""
    limits = options.limits
    budget = Budget.of(stream, limits)
    data = read_bounded(stream, limits, budget)
    facts, rows, character = read_rows(
        data, limits, budget, lambda width: _character(width, options, budget)
    )
    findings: list[Finding] = []
    roots = rows[:, 1:4].copy()
    quats = quat.make_continuous(_local_quats(rows, character, findings))
    fps, times = _timing(rows[:, 0], findings)
    if times is not None:
        roots, quats = _at_constant_rate(times, fps or _CUSTOMARY_FPS, roots, quats, budget)
    return FileClip(
        Motion(character.skeleton, roots, quats, fps or _CUSTOMARY_FPS),
        unit_m=1.0,
        up="y",
        fps_stated=fps is not None,
        detail=MappingProxyType({"loop": facts.get("Loop") == "wrap"}),
        findings=tuple(findings),
    )


def _character(width: int, options: ReadOptions, budget: Budget) -> Character:
    """The skeleton whose joints take just as many values as a row has."""
    most = options.limits.max_joints
    if options.skeleton is not None:
        characters = [Character.from_file(options.skeleton, most, budget)]
    else:
        characters = [HUMANOID, *skeletons_nearby(options.path, most, budget)]
    for character in characters:
        if character.width == width:
            return character
    wanted = " or ".join(str(character.width) for character in characters)
    raise FormatError(
        f"A frame must have {wanted} values for this skeleton, got {width}.",
        where="frame 0",
        fix="Say the character's file with skeleton=.",
    )


def _local_quats(rows: FloatArray, character: Character, findings: list[Finding]) -> FloatArray:
    quats = np.zeros((len(rows), character.skeleton.n_joints, 4))
    quats[..., 0] = 1.0
    worst = 0.0
    at = 4
    for joint, size in enumerate(character.sizes):
        values = rows[:, at : at + size]
        at += size
        if size == 1:
            half = 0.5 * values[:, 0]
            quats[:, joint, 0], quats[:, joint, 3] = np.cos(half), np.sin(half)
        elif size == 4:
            norms = np.linalg.norm(values, axis=1)
            if norms.min() < _NO_DIRECTION:
                raise FormatError(
                    f"A rotation of {quoted(character.skeleton.names[joint])} is no quaternion.",
                    where=f"frame {int(norms.argmin())}",
                    fix="Repair or cut this frame.",
                )
            worst = max(worst, float(np.abs(norms - 1.0).max()))
            quats[:, joint] = values / norms[:, None]
    if worst > _UNIT:
        findings.append(
            Finding(
                "warning",
                "Frames",
                f"Quaternions are off unit length by up to {worst:.2g}; they were normalised.",
                "Check that they are (w, x, y, z).",
            )
        )
    return quat.multiply(character.skeleton.rest_quats, quats)


def _timing(
    durations: FloatArray, findings: list[Finding]
) -> tuple[float | None, FloatArray | None]:
    """Frames per second, and every frame's time where the durations differ."""
    steps = durations[:-1] if len(durations) > 1 else durations  # the last one leads nowhere
    typical = float(np.median(steps))
    with np.errstate(over="ignore", divide="ignore"):
        fps = float(np.float64(1.0) / typical)
    if not (typical > 0.0 and np.isfinite(fps)):
        findings.append(
            Finding(
                "warning",
                "Frames",
                f"Durations must be above 0 seconds, got {typical:g}; "
                f"{_CUSTOMARY_FPS:g} frames per second were assumed.",
                "Say the rate with fps=.",
            )
        )
        return None, None
    if np.abs(steps - typical).max() <= _SAME_DURATION * typical:
        return fps, None
    if steps.min() < 0.0:
        raise FormatError(
            f"A duration must not be negative, got {steps.min():g}.",
            where=f"frame {int(steps.argmin())}",
        )
    findings.append(
        Finding(
            "warning",
            "Frames",
            f"Durations differ ({steps.min():g} to {steps.max():g} s); "
            f"the motion was resampled at {fps:.6g} frames per second.",
        )
    )
    return fps, np.concatenate([[0.0], np.cumsum(steps)])


def _at_constant_rate(
    times: FloatArray, fps: float, roots: FloatArray, quats: FloatArray, budget: Budget
) -> tuple[FloatArray, FloatArray]:
    """Root positions and rotations at ``0, 1 / fps, 2 / fps ...`` up to the last time."""
    n_frames = int(np.floor(times[-1] * fps + 1e-6)) + 1
    # One very long duration must not make a small file large.
    if n_frames > 16 * len(times):
        raise FormatError(
            f"The durations differ too much: {n_frames} frames would stand for {len(times)}.",
            where="Frames",
            fix="Give every frame the same duration.",
        )
    budget.check_poses(n_frames, quats.shape[1])
    wanted = np.minimum(np.arange(n_frames) / fps, times[-1])
    after = np.clip(np.searchsorted(times, wanted, side="right"), 1, len(times) - 1)
    before = after - 1
    gap = times[after] - times[before]
    t = np.where(gap > 0.0, (wanted - times[before]) / np.where(gap > 0.0, gap, 1.0), 0.0)
    moved = roots[before] + t[:, None] * (roots[after] - roots[before])
    return moved, quat.slerp(quats[before], quats[after], t[:, None])


_OPENING = re.compile(rb"\s*\{")


def _sniff(head: bytes) -> bool:
    head = head.removeprefix(MARK)
    return bool(_OPENING.match(head)) and (b'"Frames"' in head or b'"Loop"' in head)


FORMAT = Format(
    name="deepmimic",
    title="DeepMimic motion",
    suffixes=(".txt",),
    sniff=_sniff,
    read=read,
    unit_m=1.0,
)
