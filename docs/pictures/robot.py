"""Draw the picture of docs/how-to/feed-a-robot.md into docs/img.

python docs/pictures/robot.py [MOCAP_FOLDER]
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import motionloom as ml

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "img"
MODEL = ROOT / "tests" / "unit" / "intake" / "biped.xml"
MOCAP = Path(os.environ.get("MOTIONLOOM_MOCAP", ROOT.parent / "shared" / "mocap"))
CLIP, FIRST, LAST, N_POSES = "audit/07_01.bvh", 60, 240, 9
LEFT, RIGHT, MIDDLE = "#c4452f", "#2f6fc4", "#555"


def joint_map(motion: ml.Motion) -> dict[str, str]:
    """Joints of the clip for joints of the model, by the clip's body roles."""
    body, names = ml.BodyMap.guess(motion.skeleton), motion.skeleton.names
    joints = {f"waist_{turn}_joint": names[body.spine[-1]] for turn in ("yaw", "roll", "pitch")}
    for side in ("left", "right"):
        for turn in ("pitch", "roll", "yaw"):
            joints[f"{side}_hip_{turn}_joint"] = names[getattr(body, f"{side}_hip")]
            joints[f"{side}_shoulder_{turn}_joint"] = names[getattr(body, f"{side}_shoulder")]
        joints[f"{side}_knee_joint"] = names[getattr(body, f"{side}_knee")]
        joints[f"{side}_elbow_joint"] = names[getattr(body, f"{side}_elbow")]
        for turn in ("pitch", "roll"):
            joints[f"{side}_ankle_{turn}_joint"] = names[getattr(body, f"{side}_ankle")]
    return joints


def draw(axes: plt.Axes, motion: ml.Motion, along: np.ndarray, title: str) -> None:
    """Poses from the side, next to each other."""
    places = motion.world_positions()
    for k, frame in enumerate(np.linspace(0, motion.n_frames - 1, N_POSES).astype(int)):
        pose = places[frame] - places[frame, 0] * [1.0, 0.0, 1.0]
        flat = np.stack([pose @ along + 0.85 * k, pose[:, 1]], axis=1)
        for joint, parent in enumerate(motion.skeleton.parents):
            name = motion.skeleton.names[joint].lower()
            color = LEFT if "left" in name else RIGHT if "right" in name else MIDDLE
            if parent >= 0:
                axes.plot(*flat[[parent, joint]].T, color=color, lw=2.0, solid_capstyle="round")
    axes.axhline(0.0, color="#999", lw=0.8)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title, loc="left", fontsize=10)


def main() -> None:
    """Carry a captured walk over to the model, and draw both."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else MOCAP
    warnings.simplefilter("ignore", ml.MotionLoomWarning)
    walk = ml.ground(ml.load(folder / CLIP))[FIRST:LAST]
    robot = ml.load_robot(MODEL)
    clip = robot.clip(walk, joints=joint_map(walk))
    travel = (walk.root_positions[-1] - walk.root_positions[0]) * [1.0, 0.0, 1.0]
    along = travel / np.linalg.norm(travel)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 4.2))
    draw(top, walk, along, "captured (CMU 07_01)")
    draw(bottom, robot.motion(clip.qpos, clip.fps), along, "on 23 hinges of a small robot")
    figure.tight_layout()
    figure.savefig(PICTURES / "robot.png", dpi=110)
    for note in clip.notes:
        sys.stdout.write(f"{note}\n")


if __name__ == "__main__":
    main()
