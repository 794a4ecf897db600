"""Draw the picture of docs/how-to/balance.md into docs/img.

python docs/pictures/balance.py [MOCAP_FOLDER]
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.features.balance import support_of

PICTURES = Path(__file__).resolve().parents[1] / "img"
MOCAP = Path(os.environ.get("MOTIONLOOM_MOCAP", PICTURES.parents[2] / "shared" / "mocap"))
BEFORE, AFTER = "#c4452f", "#19734a"


def distance(motion: ml.Motion, plants: ml.Footplants) -> np.ndarray:
    """How far the zero moment point is outside the soles, centimetres. (F,)."""
    body = BodyMap.guess(motion.skeleton)
    support = support_of(motion, foot_points(motion, body=body), plants.planted, body)
    return 100.0 * np.maximum(support.distance(), 0.0)


def main() -> None:
    """Blend two walks, balance the blend, and draw both."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else MOCAP
    warnings.simplefilter("ignore", ml.MotionLoomWarning)
    clips = [ml.load(folder / f"audit/{name}.bvh")[:900] for name in ("07_01", "120_12")]
    blended = ml.blend(clips, [0.5, 0.5])
    sources = ml.match_clips(clips).motions
    balanced = ml.balance(blended.motion, blended.footplants, sources=sources)
    time = np.arange(blended.motion.n_frames) / blended.motion.fps
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 4.4), sharex=True)
    for motion, color, name in (
        (blended.motion, BEFORE, "blended"),
        (balanced.motion, AFTER, "balanced"),
    ):
        top.plot(time, distance(motion, blended.footplants), color=color, label=name)
    top.axhline(100.0 * balanced.allowed_m, color="#888", lw=0.8, ls="--", label="as the sources")
    top.set_ylabel("outside the\nsoles (cm)")
    top.legend(frameon=False, ncol=3)
    ways = np.linalg.norm(
        balanced.motion.world_positions() - blended.motion.world_positions(), axis=-1
    )
    bottom.plot(time, 100.0 * ways.mean(axis=1), color=AFTER, label="mean of the joints")
    bottom.plot(time, 100.0 * ways.max(axis=1), color=AFTER, lw=0.8, ls=":", label="farthest joint")
    bottom.set_ylabel("moved by (cm)")
    bottom.set_xlabel("seconds")
    bottom.legend(frameon=False, ncol=2)
    for axes in (top, bottom):
        axes.spines[["top", "right"]].set_visible(False)
    figure.align_ylabels()
    figure.tight_layout()
    figure.savefig(PICTURES / "balance.png", dpi=110)


if __name__ == "__main__":
    main()
