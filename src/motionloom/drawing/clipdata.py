"""A clip packed for the player: plain JSON values, arrays as base64 of little-endian float32."""

from __future__ import annotations

import base64
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from motionloom.drawing.anatomy import build_figure
from motionloom.drawing.camera import travel_heading
from motionloom.drawing.footprints import track_feet
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import sample
from motionloom.motion.motion import Motion

__all__ = ["Colour", "pack_clip"]

Colour = Literal["ink", "amber", "blue"]

MAX_FRAMES = 6000
"""Of longer clips every second frame is shown, or every third: a page stays below ten megabytes."""


def pack_clip(
    motion: Motion,
    *,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    name: str | None = None,
    colour: Colour = "ink",
) -> dict[str, Any]:
    """What the player needs to show a clip, as values that JSON can hold.

    Positions are rounded to a tenth of a millimetre, which no screen shows, so that the packed
    text is the same on every machine.
    """
    if motion.n_frames > MAX_FRAMES:
        step = -(-motion.n_frames // MAX_FRAMES)
        kept = np.arange(0, motion.n_frames, step)
        footplants = None if footplants is None else Footplants(footplants.planted[kept])
        motion = sample(motion, kept.astype(np.float64), fps=motion.fps / step)
    figure = build_figure(motion, body=body)
    track = track_feet(motion, footplants, body=body)
    used = sorted({p for part in figure.parts for p in part.points} | {0})
    row = {p: n for n, p in enumerate(used)}
    floor = figure.floor()
    root = motion.root_positions
    span = np.ptp(root[:, [0, 2]], axis=0)
    prints = [
        {
            "kind": mark.kind,
            "first": mark.first,
            "last": mark.last,
            "place": [round(c, 4) for c in mark.place],
            "heading": round(mark.heading, 4),
            "slides": mark.slides,
            "ground": round(mark.ground(floor, figure.height), 4),
        }
        for mark in (track.prints if track else ())
    ]
    return {
        "name": name or motion.name or "clip",
        "fps": motion.fps,
        "frames": motion.n_frames,
        "colour": colour,
        "height": round(figure.height, 4),
        "floor": round(floor, 4),
        "heading": round(travel_heading(motion), 4),
        "middle": [round(float(c), 4) for c in 0.5 * (root.min(axis=0) + root.max(axis=0))],
        "extent": round(float(np.hypot(*span)) + figure.height, 4),
        "points": len(used),
        "root": row[0],
        "parts": [
            {
                "name": part.name,
                "side": part.side,
                "points": [row[p] for p in part.points],
                "radii": [round(r, 4) for r in part.radii],
            }
            for part in figure.parts
        ],
        "positions": _base64(np.round(figure.points[:, used], 4)),
        "speeds": _base64(np.round(track.speeds, 3)) if track else None,
        "prints": prints,
    }


def _base64(values: npt.NDArray[np.float64]) -> str:
    return base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")
