"""AMC: Acclaim motions, on a skeleton in an ASF file next to them.

Angles turn about the axes of their bone: ``C R C^-1`` with ``R = Rz Ry Rx`` for ``rx ry rz``.
Most AMC files hold no frame rate; 120 per second is the custom.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from motionloom.errors import FormatError
from motionloom.formats.acclaim.amc_frames import FrameTable
from motionloom.formats.acclaim.asf import ROOT, AcclaimSkeleton, fixed_axes_quat, parse_asf
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.formats.text import LARGEST, MARK, quoted
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import MAX_JOINTS
from motionloom.reading.opening import read_file
from motionloom.reading.size_limits import Budget
from motionloom.rotation import quat

CUSTOMARY_FPS = 120.0
_LARGEST_SKELETON = 1 << 21


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in an AMC file, on the skeleton of its ASF, in the skeleton's unit."""
    budget = Budget.of(stream, options.limits)
    body = _read_skeleton(options, budget)
    table = FrameTable(body, options.limits, budget)
    table.take(stream)
    motion = _motion(body, table)
    return FileClip(
        motion,
        unit_m=body.unit_m,
        fps_stated=table.fps is not None,
        detail=MappingProxyType({"names": body.skeleton.names}),
        findings=(*body.findings, *table.findings),
    )


def find_skeleton(path: Path) -> Path:
    """The ASF file that belongs to an AMC: its own name, its subject's, or the only one there."""
    try:
        nearby = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf")
    except OSError:
        nearby = []
    for stem in (path.stem, path.stem.rpartition("_")[0]):
        for candidate in nearby:
            if stem and candidate.stem.lower() == stem.lower():
                return candidate
    if len(nearby) == 1:
        return nearby[0]
    raise FormatError(
        f"An AMC motion needs its skeleton, and {len(nearby)} .asf files next to it could be it."
        if nearby
        else "An AMC motion needs its skeleton, and there is no .asf file next to it.",
        fix="Say which with skeleton=.",
    )


def _read_skeleton(options: ReadOptions, budget: Budget) -> AcclaimSkeleton:
    if options.skeleton is None and options.path is None:
        raise FormatError(
            "An AMC motion needs its skeleton, an .asf file.", fix="Say which with skeleton=."
        )
    path = options.skeleton or find_skeleton(options.path or Path())
    try:
        data = read_file(path, _LARGEST_SKELETON)
    except FormatError as error:
        raise FormatError(
            f"The skeleton {path.name} cannot be read: {error.problem}",
            fix="Say which with skeleton=.",
        ) from error
    budget.add_file(len(data))
    try:
        return parse_asf(data, max_joints=min(options.limits.max_joints, MAX_JOINTS))
    except FormatError as error:
        raise FormatError(
            error.problem, where=f"{path.name}, {error.where}", fix=error.fix
        ) from error


def _motion(body: AcclaimSkeleton, table: FrameTable) -> Motion:
    values = np.frombuffer(table.values, dtype=np.float64).reshape(table.n_frames, -1)
    if not (sane := np.abs(values) <= LARGEST).all():
        frame = int(np.argwhere(~sane)[0, 0])
        raise FormatError(
            f"All values must be finite and at most {LARGEST:g}, and one is not.",
            where=f"frame {frame}",
            fix="Repair or cut this frame.",
        )
    quats = np.zeros((table.n_frames, len(body.bones), 4))
    quats[..., 0] = 1.0
    roots = np.tile(body.root_position, (table.n_frames, 1))
    to_radians = np.pi / 180.0 if table.degrees else 1.0
    at = 0
    for index, bone in enumerate(body.bones):
        columns = {dof: at + i for i, dof in enumerate(bone.dofs)}
        at += len(bone.dofs)
        turns = [dof for dof in bone.dofs if dof.startswith("r")]
        if turns:
            angles = to_radians * values[:, [columns[dof] for dof in turns]]
            letters = "".join(dof[1].upper() for dof in turns)
            turn = fixed_axes_quat(angles, letters)
            axes = body.axes[index]
            quats[:, index] = quat.multiply(quat.multiply(axes, turn), quat.conjugate(axes))
        for axis, dof in enumerate(("tx", "ty", "tz")):
            if dof in columns and bone.name == ROOT:
                roots[:, axis] += values[:, columns[dof]]
        if bone.name != ROOT and len(turns) < len(bone.dofs):
            table.note("skeleton", f"Bone {quoted(bone.name)} also slides; that was left out.")
    return Motion(body.skeleton, roots, quats, table.fps or CUSTOMARY_FPS)


_AMC_WORD = re.compile(
    rb"(?:\s++|#[^\r\n]*+)*+:(FULLY-SPECIFIED|DEGREES|RADIANS|SAMPLES-PER-SECOND)", re.I
)
_ASF_WORD = re.compile(
    rb"(?:\s++|#[^\r\n]*+)*+:(version|name|units|documentation|root|bonedata)\b", re.I
)


def _sniff(head: bytes) -> bool:
    # A skeleton is taken too, so that the reader can say which file to load instead.
    head = head.removeprefix(MARK)
    return bool(_AMC_WORD.match(head) or _ASF_WORD.match(head))


FORMAT = Format(
    name="amc", title="Acclaim motion (ASF/AMC)", suffixes=(".amc",), sniff=_sniff, read=read
)
