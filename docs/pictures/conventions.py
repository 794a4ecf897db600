"""Draw docs/img/axes.png: a character with heading 0 and the axes of the world.

python docs/pictures/conventions.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

import motionloom as ml

PICTURE = Path(__file__).resolve().parents[1] / "img" / "axes.png"
AXES = {"x": ((0.9, 0, 0), "+X, its left", "#c8472f"), "y": ((0, 2.1, 0), "+Y, up", "#3d8b37")}
AXES["z"] = ((0, 0, 1.1), "+Z, forward", "#2f6fa8")


def main() -> None:
    """Draw one frame of a walk in three dimensions; the plot's third axis is our Y."""
    walk = ml.synthetic.clip("walk").motion
    points = walk.world_positions()[20]
    points = points - [points[0, 0], 0, points[0, 2]]
    figure = plt.figure(figsize=(5.2, 5.2))
    axes = figure.add_subplot(projection="3d")
    for joint, parent in enumerate(walk.skeleton.parents):
        if parent >= 0:
            x, y, z = zip(points[parent], points[joint], strict=True)
            axes.plot(z, x, y, color="#333333", linewidth=4, solid_capstyle="round")
    for (x, y, z), text, colour in AXES.values():
        axes.quiver(0, 0, 0, z, x, y, color=colour, arrow_length_ratio=0.08, linewidth=2)
        axes.text(1.08 * z, 1.08 * x, 1.03 * y, text, color=colour, fontsize=12)
    axes.set_box_aspect((1, 1, 1.15))
    axes.set_xlim(-0.9, 1.2), axes.set_ylim(-1.05, 1.05), axes.set_zlim(0, 2.1)
    axes.view_init(elev=18, azim=-52)
    axes.set_axis_off()
    figure.savefig(PICTURE, dpi=110, bbox_inches="tight", metadata={"Software": None})


if __name__ == "__main__":
    main()
