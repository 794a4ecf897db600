"""Draw docs/img/mixamo_to_unreal.png: a turning walk on Mixamo's rig, and laid out for Unreal.

python docs/pictures/mixamo_to_unreal.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import motionloom as ml
from motionloom.motion.motion import forward_kinematics

PICTURE = Path(__file__).resolve().parents[1] / "img" / "mixamo_to_unreal.png"
BONE, PATH = "#47667f", "#d1495b"
NAMED = {
    "root": (-34, -4), "pelvis": (-42, 0), "spine_02": (-58, -4), "head": (8, 0),
    "upperarm_l": (-8, -16), "hand_l": (-14, 8), "thigh_l": (8, -3), "calf_l": (8, -3),
    "ball_l": (8, -3),
}  # fmt: skip
"""Bones that are named, and where their names stand, in points."""


def main() -> None:
    """Draw the picture."""
    rig = ml.synthetic.clip("walk", turn=0.9, duration_s=4.0, fps=30).motion
    with tempfile.TemporaryDirectory() as folder:
        ml.save(rig, Path(folder) / "clip.fbx", engine="unreal")
        unreal = ml.load(Path(folder) / "clip.fbx", keep_t_pose=True)
    figure = plt.figure(figsize=(11.0, 3.4), dpi=110)
    for left, clip, title in (
        (0.0, rig, "Mixamo: the hips carry travel, turn, sway and tilt"),
        (0.36, unreal, "Unreal: a root bone carries travel and turn"),
    ):
        axes: Any = figure.add_axes((left + 0.01, 0.0, 0.34, 0.95))
        draw_walk(axes, clip, clip is unreal)
        figure.text(left + 0.18, 0.93, title, ha="center", fontsize=11)
    draw_rest(figure.add_axes((0.73, 0.08, 0.26, 0.82)), unreal.skeleton)
    figure.text(0.86, 0.93, "its rest pose and names", ha="center", fontsize=11)
    figure.savefig(PICTURE)


def drawn(points: Any) -> Any:
    """Points (..., 3) in the picture: seen from the side and from above. (..., 2)."""
    x, y, z = np.moveaxis(np.asarray(points), -1, 0)
    return np.stack([z + 0.35 * x, y + 0.45 * x], axis=-1)


def draw_walk(axes: Any, clip: ml.Motion, is_rooted: bool) -> None:
    """Some frames of the clip, and the path of its first joint with its heading."""
    at, turns = clip.world_pose()
    low, high = at.min(axis=(0, 1)), at.max(axis=(0, 1))
    corners = [(x, 0.0, z) for x, z in ((low[0], low[2]), (low[0], high[2]))]
    corners += [(x, 0.0, z) for x, z in ((high[0], high[2]), (high[0], low[2]))]
    axes.fill(*drawn(corners).T, color="#eeeeee", zorder=0)
    seen = drawn(at)
    for frame in range(0, clip.n_frames, 30):
        for j in range(2 if is_rooted else 1, clip.skeleton.n_joints):
            axes.plot(*seen[frame, [j, clip.skeleton.parents[j]]].T, color=BONE, lw=1.6)
    axes.plot(*seen[:, 0].T, color=PATH, lw=2.2)
    if is_rooted:
        w, y = turns[:, 0, 0], turns[:, 0, 2]
        ahead = np.stack([2 * w * y, np.zeros_like(w), 1 - 2 * y * y], axis=1)
        for frame in range(0, clip.n_frames, 30):
            start, end = drawn(at[frame, 0]), drawn(at[frame, 0] + 0.5 * ahead[frame])
            axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": PATH, "lw": 2})
    axes.set_aspect("equal")
    axes.axis("off")


def draw_rest(axes: Any, skeleton: ml.Skeleton) -> None:
    """The rest pose from the front, with some names."""
    at = forward_kinematics(skeleton, skeleton.offsets[:1], skeleton.rest_quats[None])[0][0]
    for j in range(2, skeleton.n_joints):
        ends = at[[j, skeleton.parents[j]]]
        axes.plot(ends[:, 0], ends[:, 1], color=BONE, lw=3.0, solid_capstyle="round")
    axes.axhline(0.0, color="#bbbbbb", lw=1.0)
    for name, shift in NAMED.items():
        x, y = at[skeleton.index(name), :2]
        axes.plot(x, y, "o", color=PATH, ms=5)
        axes.annotate(name, (x, y), shift, textcoords="offset points", fontsize=9)
    axes.set_aspect("equal")
    axes.set_xlim(-1.0, 1.15)
    axes.axis("off")


if __name__ == "__main__":
    main()
