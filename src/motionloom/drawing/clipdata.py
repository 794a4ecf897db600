"""A clip packed for the player: plain JSON values, arrays as base64 of little-endian numbers."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.drawing.balance_track import track_balance
from motionloom.drawing.camera import travel_heading
from motionloom.drawing.figure import Part
from motionloom.drawing.flesh import build_figure
from motionloom.drawing.footprints import Footprint, track_feet
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import sample
from motionloom.motion.motion import Motion

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
    placement: tuple[float, float, float] | None = None,
    follows: FloatArray | None = None,
) -> dict[str, Any]:
    """What the player needs to show a clip, as values that JSON can hold.

    Positions are rounded to a tenth of a millimetre, which no screen shows, so that the packed
    text is the same on every machine. Balance is in whole millimetres.

    Parameters
    ----------
    motion
        The clip.
    footplants
        Its plants; detected where not given.
    body
        Which joint is which; guessed where not given.
    name
        What the page calls it; its own name by default.
    colour
        Ink for a result, amber and blue for what it was made of.
    placement
        Turn and slide (theta, x0, z0) to where it stands among others.
    follows : (N,)
        Its frame at every frame of the clip that leads the page's clock, nan where it has none.
    """
    body = roles_for(motion.skeleton, body)
    stride = 1
    if motion.n_frames > MAX_FRAMES:
        stride = -(-motion.n_frames // MAX_FRAMES)
        frames = np.arange(0, motion.n_frames, stride)
        footplants = None if footplants is None else Footplants(footplants.planted[frames])
        motion = sample(motion, frames.astype(np.float64), fps=motion.fps / stride)
    figure = build_figure(motion, body=body)
    track = track_feet(motion, footplants, body=body)
    used = sorted({p for part in figure.parts for p in part.points} | {0})
    row = {p: n for n, p in enumerate(used)}
    floor = figure.floor()
    root = motion.root_positions
    span = np.ptp(root[:, [0, 2]], axis=0)
    balance = track and track_balance(motion, track, body=body, floor=floor)
    tracks = {
        key: _millimetres(getattr(balance, key)) if balance else None
        for key in ("com", "zmp", "support")
    }
    among: dict[str, Any] = {}
    if placement is not None:
        among["placement"] = [round(float(value), 4) for value in placement]
    if follows is not None:
        among["follows"] = _base64(np.round(follows / stride, 2))
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
        "parts": [_packed_part(part, row) for part in figure.parts],
        "positions": _base64(np.round(figure.points[:, used], 4)),
        "speeds": _base64(np.round(track.speeds, 3)) if track else None,
        "prints": [_packed_print(mark, floor, figure.height) for mark in track.prints]
        if track
        else [],
        **tracks,
        **among,
    }


def _packed_part(part: Part, row: Mapping[int, int]) -> dict[str, Any]:
    return {
        "name": part.name,
        "side": part.side,
        "points": [row[p] for p in part.points],
        "radii": [round(r, 4) for r in part.radii],
    }


def _packed_print(mark: Footprint, floor: float, height: float) -> dict[str, Any]:
    return {
        "kind": mark.kind,
        "first": mark.first,
        "last": mark.last,
        "place": [round(c, 4) for c in mark.place],
        "heading": round(mark.heading, 4),
        "slides": mark.slides,
        "ground": round(mark.ground(floor, height), 4),
    }


def _base64(values: npt.NDArray[np.float64]) -> str:
    return base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")


def _millimetres(metres: FloatArray) -> str:
    """Whole millimetres of sixteen bits; the least number stands for nothing."""
    whole = np.clip(np.round(1000.0 * metres), -32767, 32767)
    return base64.b64encode(
        np.where(np.isnan(metres), -32768, whole).astype("<i2").tobytes()
    ).decode("ascii")
