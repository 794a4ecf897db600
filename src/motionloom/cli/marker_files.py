"""C3D files on the command line: what they hold, and their markers as .csv or .npz."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import motionloom as ml
from motionloom.cli.clip_arguments import Reading
from motionloom.cli.jobs import Done
from motionloom.cli.output import finding_json

SUFFIX = ".c3d"
WRITTEN = (".csv", ".npz")


def holds_markers(path: str) -> bool:
    """Whether a file is one of markers, by its name."""
    return Path(path).suffix.lower() == SUFFIX


def load_markers(path: str, reading: Reading) -> ml.MarkerClip:
    """The markers of a file, read with the user's options."""
    return ml.load_points(path, unit=reading.unit, up=reading.up)


def describe_markers(path: str, clip: ml.MarkerClip) -> dict[str, Any]:
    """Facts about markers, as values that JSON can hold."""
    low, high = (clip.positions[clip.seen].min(0), clip.positions[clip.seen].max(0))
    return {
        "file": path,
        "format": "c3d",
        "clip": "",
        "frames": clip.n_frames,
        "fps": clip.fps,
        "duration_s": (clip.n_frames - 1) / clip.fps,
        "unit_m": clip.unit_m,
        "up": clip.up,
        "markers": len(clip.names),
        "marker_names": list(clip.names),
        "seen_share": float(clip.seen.mean()),
        "size_m": (high - low).tolist(),
        "findings": [finding_json(finding) for finding in clip.findings],
    }


def marker_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines that are printed of facts about markers."""
    across, tall, deep = facts["size_m"]
    time = f"{facts['frames']} frames at {facts['fps']:g} fps, {facts['duration_s']:.2f} s"
    space = f"{ml.named_unit(facts['unit_m'])}, {facts['up']} up; within "
    return [
        ("format", facts["format"]),
        ("time", time),
        ("space", f"{space}{across:.2f} x {deep:.2f} m, {tall:.2f} m high"),
        ("markers", f"{facts['markers']}: {' '.join(facts['marker_names'])}"),
        ("seen", f"{100.0 * facts['seen_share']:.4g} % of all points"),
    ]


def convert_markers(output: str, clip: ml.MarkerClip) -> Done:
    """Write the markers of a file."""
    clip.save(output)
    return Done(
        f"{clip.n_frames} frames at {clip.fps:g} fps, {len(clip.names)} markers",
        {
            "frames": clip.n_frames,
            "fps": clip.fps,
            "findings": [finding_json(finding) for finding in clip.findings],
        },
    )


def refuse_markers_as(path: str, output: str, *, changed: bool) -> None:
    """Refuse an output that cannot hold markers, and options that change clips."""
    if changed:
        raise ml.FormatError(
            "Of a C3D file only --source-unit and --source-up can be given: its markers are "
            "written as they were captured, in metres and Y up.",
            path=path,
            fix="Leave out the other options.",
        )
    if Path(output).suffix.lower() not in WRITTEN:
        raise ml.FormatError(
            "A C3D file holds markers and no skeleton, so it can be written as .csv or .npz only.",
            path=path,
            fix="For another format, solve a skeleton from the markers in the tool that captured "
            "them.",
        )
