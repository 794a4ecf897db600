"""Foot tracks: height and speed of each heel and ball over time, with the plants."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.drawing.canvas import (
    INK,
    LIGHT,
    PLANTED,
    SLIDING,
    blank_canvas,
    hex_of,
    save_canvas,
)
from motionloom.drawing.footprints import SLIDE_SPEED, track_feet
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import KINDS, Footplants, Motion


def save_tracks(
    motion: Motion,
    target: Path | BinaryIO,
    *,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    size: tuple[int, int] = (1400, 720),
    title: str | None = None,
    kind: str = "png",
) -> None:
    """Write a picture of four lanes, one per heel and ball, as PNG, SVG or PDF.

    In each lane the line is the speed (metres per second, at the left), the dotted one the height
    (centimetres, at the right); planted stretches are green, red where the point slides.
    """
    track = track_feet(motion, footplants, body=body)
    if track is None:
        raise SkeletonMismatchError(
            f"Foot tracks need a skeleton with two feet, and none were found in {motion!r}. "
            "Pass body=."
        )
    canvas = blank_canvas(size)
    lanes = canvas.subplots(4, 1, sharex=True)
    frames = np.arange(motion.n_frames)
    label = hex_of(LIGHT.label)
    for k, axes in enumerate(lanes):
        axes.set_facecolor(hex_of(LIGHT.paper))
        for mark in track.prints:
            if mark.kind == KINDS[k]:
                colour = hex_of(SLIDING if mark.slides else PLANTED)
                axes.axvspan(mark.first - 0.5, mark.last + 0.5, color=colour, alpha=0.22, lw=0)
        axes.plot(frames, track.speeds[:, k], color=hex_of(INK), lw=1.3)
        axes.axhline(SLIDE_SPEED, color=label, lw=0.6, ls=(0, (4, 4)))
        axes.set_ylim(0, max(1.0, float(np.percentile(track.speeds, 99))))
        axes.set_ylabel(f"{KINDS[k].replace('_', ' ')}\nm/s", color=label, size=9)
        heights = axes.twinx()
        heights.plot(frames, 100 * track.points[:, k, 1], color=label, lw=1.1, ls=":")
        heights.set_ylabel("cm", color=label, size=9)
        for each in (axes, heights):
            each.tick_params(labelsize=8, colors=label, length=2)
            for spine in each.spines.values():
                spine.set_visible(False)
        axes.grid(axis="x", color=hex_of(LIGHT.grid), lw=0.6)
    lanes[0].set_xlim(0, max(motion.n_frames - 1, 1))
    lanes[-1].set_xlabel(f"frame, at {motion.fps:g} fps", color=label, size=9)
    canvas.suptitle(
        motion.name if title is None else title, x=0.01, ha="left", size=12, weight="bold",
        color=hex_of(INK), parse_math=False,
    )  # fmt: skip
    canvas.tight_layout(rect=(0, 0, 1, 0.98), h_pad=0.4)
    save_canvas(canvas, target, kind)
