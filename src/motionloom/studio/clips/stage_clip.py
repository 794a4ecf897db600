"""A motion made ready to be drawn: a body of points and parts, its contacts and its balance."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.drawing.figure import build_figure
from motionloom.drawing.footprints import track_balance, track_feet
from motionloom.motion.motion import Footplants, Motion
from motionloom.studio.clips.point_rig import looks_of
from motionloom.studio.messages.answers import Print, Shown
from motionloom.studio.messages.looks import Looks

PREVIEW_FRAMES = 24

Arrays = dict[str, npt.NDArray[Any]]


def show_motion(
    motion: Motion, footplants: Footplants | None, body: BodyMap
) -> tuple[Shown, Arrays]:
    """What the page needs to draw a motion, and its arrays; see :class:`Shown`."""
    figure = build_figure(motion, body=body)
    looks, used = looks_of(motion, figure, body)
    arrays: Arrays = {"points": figure.points[:, used]}
    track = track_feet(motion, footplants, body=body)
    prints: list[Print] = []
    if track is not None:
        arrays["planted"], arrays["speeds"] = track.planted, track.speeds
        for mark in track.prints:
            x, _, z = mark.place
            ground = mark.ground(looks.floor, figure.height)
            prints.append(
                Print(mark.kind, mark.first, mark.last, (x, ground, z), mark.heading, mark.slides)
            )
        balance = track_balance(motion, track, body=body, floor=looks.floor)
        if balance is not None:
            arrays |= {"com": balance.com, "zmp": balance.zmp, "support": balance.support}
    return Shown(motion.name or "clip", motion.n_frames, motion.fps, looks, prints), arrays


def preview_points(motion: Motion, body: BodyMap) -> tuple[Looks, FloatArray]:
    """A few frames of the first two seconds, each at the origin. (N, P, 3)."""
    # A body needs a clip: its facing is an average over frames. Two seconds are enough.
    span = motion[: max(2, round(2.0 * motion.fps))]
    chosen = np.unique(np.linspace(0, span.n_frames - 1, PREVIEW_FRAMES).astype(int))
    figure = build_figure(span, body=body)
    looks, used = looks_of(span, figure, body)
    points = figure.points[chosen][:, used].copy()
    points[..., [0, 2]] -= points[:, looks.root, None][..., [0, 2]]
    return looks, points
