"""BVH: the text format that nearly every motion-capture tool speaks, in many dialects.

Position channels replace OFFSET, on the root too. Rotations are in degrees, applied in the order
of the channels. Unit, up axis and rest pose are not stated by the format.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from motionloom.errors import FormatError
from motionloom.files.limits import Budget
from motionloom.findings import Finding
from motionloom.formats.bvh.bvh_frames import STILL, GrowingPoses, read_frames
from motionloom.formats.bvh.bvh_header import (
    CHANNEL_NAMES,
    N_TURNS,
    Header,
    NeedMore,
    Node,
    parse_header,
)
from motionloom.formats.bvh.bvh_write import write
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.formats.text import MARK, quoted, refuse_wide_text, unique_names
from motionloom.motion.motion import MAX_JOINTS, Motion, Skeleton

__all__ = ["FORMAT", "read", "write"]

_FIRST_BYTES = 1 << 15
_LONGEST_HEAD = 1 << 23
_CUSTOMARY_FPS = 30.0
_SLOWEST_FRAME_S = 1.0
"""No capture has a frame per second or less."""
_USUAL_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 90.0, 100.0, 120.0, 240.0)


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in a BVH file, in the file's unit and axes."""
    head, header = _read_header(stream, min(options.limits.max_joints, MAX_JOINTS))
    root, roots = _chosen_root(header, options.clip)
    chosen = [i for i, node in enumerate(header.nodes) if node.root == root]
    budget = Budget.of(stream, options.limits)
    poses, odd = read_frames(
        stream,
        head[header.stop :],
        header.line,
        header.nodes,
        chosen,
        stated=header.frames,
        limits=options.limits,
        budget=budget,
    )
    findings = [*header.findings, *odd]
    if len(roots) > 1:
        level = "note" if options.clip else "warning"
        findings.append(
            Finding(
                level,  # type: ignore[arg-type]
                "hierarchy",
                f"There are {len(roots)} roots ({', '.join(map(quoted, roots))}); "
                f"{quoted(roots[root])} was read.",
                f"Add #{roots[-1]} to the path for another one.",
            )
        )
    skeleton = _skeleton([header.nodes[i] for i in chosen], chosen, poses, findings)
    fps = _rate(header.frame_time, findings)
    motion = Motion(
        skeleton,
        poses.root_positions,
        poses.local_quats,
        fps or _CUSTOMARY_FPS,
        joint_translations=poses.translations,
    )
    several = len(roots) > 1
    return FileClip(
        motion,
        fps_stated=fps is not None,
        clip=roots[root] if several else "",
        clips=tuple(roots) if several else (),
        detail=MappingProxyType(
            {
                "names": skeleton.names,
                "channels": tuple(
                    tuple(CHANNEL_NAMES[kind] for kind in header.nodes[i].channels) for i in chosen
                ),
                "frame_time": header.frame_time,
                "newline": "\r\n" if b"\r\n" in head[: header.stop] else "\n",
            }
        ),
        findings=tuple(findings),
    )


def _read_header(stream: BinaryIO, max_joints: int) -> tuple[bytes, Header]:
    """The bytes read so far and the head among them."""
    head = stream.read(_FIRST_BYTES)
    refuse_wide_text(head)
    while True:
        complete = len(head) == 0 or len(more := stream.read(len(head))) == 0
        if not complete:
            head += more
        try:
            return head, parse_header(head, max_joints=max_joints, complete=complete)
        except NeedMore:
            if len(head) > _LONGEST_HEAD:
                raise FormatError(
                    f"The hierarchy must end within {_LONGEST_HEAD} bytes.",
                    fix="This may not be a BVH file.",
                ) from None


def _chosen_root(header: Header, clip: str | None) -> tuple[int, list[str]]:
    roots = [node.name for node in header.nodes if node.parent < 0]
    if clip is None:
        return 0, roots
    if clip not in roots:
        raise FormatError(
            f"No root is called {quoted(clip)}.", fix=f"There are: {', '.join(roots)}."
        )
    return roots.index(clip), roots


def _skeleton(
    nodes: list[Node], chosen: list[int], poses: GrowingPoses, findings: list[Finding]
) -> Skeleton:
    """The kept joints, standing where the rows put them if they stay there."""
    names, changed = unique_names([node.name for node in nodes])
    if changed:
        renamed = ", ".join(f"{quoted(stated)} to {quoted(names[i])}" for i, stated in changed[:5])
        findings.append(
            Finding(
                "warning",
                "hierarchy",
                f"Joint names must be unique; {len(changed)} were changed: {renamed}"
                + (", ..." if len(changed) > 5 else "."),
            )
        )
    bare = [name for node, name in zip(nodes, names, strict=True) if node.offset is None]
    if bare:
        findings.append(
            Finding(
                "warning",
                "hierarchy",
                f"{len(bare)} joints have no OFFSET, {quoted(bare[0])} first; 0 0 0 was used.",
            )
        )
    place = {file_index: i for i, file_index in enumerate(chosen)}
    offsets = np.array([node.offset or (0.0, 0.0, 0.0) for node in nodes])
    if poses.translations is None:
        moved = np.abs(poses.placements - offsets).max(axis=1) > STILL
        moved[0] = (
            False  # the root's position is the motion's, and its OFFSET part of the rest pose
        )
        if moved.any():
            offsets[moved] = poses.placements[moved]
            findings.append(
                Finding(
                    "note",
                    "hierarchy",
                    f"{int(moved.sum())} joints have position channels that stay the same and "
                    "differ from OFFSET; they were used as offsets.",
                )
            )
    if any(kind >= N_TURNS for node in nodes for kind in node.channels):
        findings.append(Finding("warning", "hierarchy", "Scale channels were left out."))
    ends = [(i, end) for i, node in enumerate(nodes) for end in node.ends]
    return Skeleton(
        tuple(names),
        np.array([place.get(node.parent, -1) for node in nodes]),
        offsets,
        end_parents=np.array([i for i, _ in ends], dtype=np.int64),
        end_offsets=np.array([end for _, end in ends]).reshape(-1, 3),
    )


def _rate(frame_time: str, findings: list[Finding]) -> float | None:
    """Frames per second, or None where the file states no usable frame time."""
    try:
        seconds = float(frame_time)
    except ValueError:
        seconds = math.nan
    if seconds > 0.0 and math.isfinite(seconds) and math.isfinite(1.0 / seconds):
        findings += _slow_rate(seconds)
        return 1.0 / seconds
    findings.append(
        Finding(
            "warning",
            "Frame Time",
            f"`Frame Time:` must be above 0 seconds, got {quoted(frame_time)}; "
            f"{_CUSTOMARY_FPS:g} frames per second were assumed.",
            "Say the rate with fps=.",
        )
    )
    return None


def _slow_rate(seconds: float) -> list[Finding]:
    """A warning where a frame lasts for seconds: the number is in milliseconds, or a rate."""
    if seconds < _SLOWEST_FRAME_S:
        return []
    is_rate = seconds in _USUAL_RATES
    meant = seconds if is_rate else 1000.0 / seconds
    what = "the rate itself" if is_rate else "the time of a frame in milliseconds"
    return [
        Finding(
            "warning",
            "Frame Time",
            f"`Frame Time: {seconds:g}` is in seconds, which gives {1.0 / seconds:.2g} frames per "
            f"second. It looks like {what}.",
            f"Pass fps={meant:.4g} if it is.",
        )
    ]


def _sniff(head: bytes) -> bool:
    return head.removeprefix(MARK).lstrip()[:9].upper() == b"HIERARCHY"


FORMAT = Format(
    name="bvh",
    title="Biovision hierarchy",
    suffixes=(".bvh",),
    sniff=_sniff,
    read=read,
    write=write,
    unit_m=0.01,
)
