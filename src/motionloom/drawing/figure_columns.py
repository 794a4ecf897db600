"""Figures in columns, each seen from the same side of its own hips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.drawing.camera import Camera, View, camera_for
from motionloom.drawing.canvas import LIGHT, hex_of
from motionloom.motion.motion import Motion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADROOM = 1.22
"""Height of a row, in statures."""
CALM_S = 0.4
"""Seconds over which the camera's heading is smoothed, so that hips are seen to sway."""


class Row:
    """Axes in metres with evenly spaced columns, the floor at zero."""

    def __init__(self, axes: Axes, height: float, columns: int) -> None:
        self.axes, self.high = axes, HEADROOM * height
        box = axes.get_window_extent()
        self.wide = self.high * float(box.width / box.height)
        self.centres = (np.arange(columns) + 0.5) * self.wide / columns
        axes.set_axis_off()

    def label(self, column: int, text: str) -> None:
        """Write below a column."""
        self.axes.text(
            float(self.centres[column]), -0.03 * self.high, text, ha="center", va="top", size=7.5,
            color=hex_of(LIGHT.label),
        )  # fmt: skip

    def close(self, *, top: float = 0.0) -> None:
        """Set the limits; what climbs by ``top`` is drawn smaller so as to stay in the picture."""
        grown = (self.high + top) / self.high
        middle, half = 0.5 * self.wide, 0.5 * self.wide * grown
        low = -0.12 * self.high
        self.axes.set_xlim(middle - half, middle + half)
        self.axes.set_ylim(low, low + self.high * grown)


def spread_moments(n_frames: int, moments: int) -> list[int]:
    """Frames evenly spread over a clip, first and last included."""
    return [round(float(f)) for f in np.linspace(0, n_frames - 1, moments)]


def calm_heading(motion: Motion, body: BodyMap) -> FloatArray:
    """Where the hips face, smoothed over a stretch. (F,)."""
    left, right = body.require("left_hip", "right_hip", task="finding where hips face")
    positions = motion.world_positions()
    across = positions[:, left] - positions[:, right]
    heading = np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))  # ahead is across x up
    half = min(round(CALM_S * motion.fps), (motion.n_frames - 1) // 2)
    padded = np.pad(heading, half, mode="edge")
    return np.convolve(padded, np.ones(2 * half + 1) / (2 * half + 1), mode="valid")


def side_view(motion: Motion, frame: int, heading: float, view: View, floor: float) -> Camera:
    """The view of one frame from the body's side, the ground below the root at zero."""
    root = motion.root_positions[frame]
    return camera_for(heading, view, target=np.array([root[0], floor, root[2]]))


def mean_lean(motion: Motion, body: BodyMap) -> float:
    """How far the shoulders are ahead of the hips on average, radians; negative leans back."""
    positions = motion.world_positions()
    joints = body.require(
        "left_shoulder", "right_shoulder", "left_hip", "right_hip", task="measuring a lean"
    )
    left, right, left_hip, right_hip = (positions[:, j] for j in joints)
    trunk = 0.5 * (left + right - left_hip - right_hip)
    across = left_hip - right_hip
    ahead = np.cross(across, [0.0, 1.0, 0.0])
    ahead /= np.maximum(np.linalg.norm(ahead, axis=-1, keepdims=True), 1e-12)
    return float(np.arctan2(np.sum(trunk * ahead, axis=-1), trunk[:, 1]).mean())
