"""Draw docs/img/characters.png: a transition on its own bones and on two characters.

    python docs/pictures/characters.py [MOCAP_FOLDER]

The soldier comes from a folder of real clips (see CONTRIBUTING); the other is the man of boxes.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.collections import PolyCollection
from PIL import Image

mpl.use("Agg")
from matplotlib import pyplot as plt

import motionloom as ml
from fuzz.box_man import box_man, box_man_glb

PICTURE = Path(__file__).resolve().parents[1] / "img" / "characters.png"
POSES = 7
RIGHT = np.array([0.34, 0.0, 0.94])
"""The direction across the picture: mostly the way that the body walks."""
VIEWER = np.array([-0.94, 0.0, 0.34])
"""Where the viewer is."""
LIGHT = np.array([-0.55, 0.65, 0.52])


def texture_colours(character: ml.Character, number: int) -> np.ndarray:
    """Red, green and blue of every triangle of a mesh. (T, 3)."""
    mesh = character.meshes[number]
    colours = np.full((len(mesh.triangles), 3), 0.7)
    for surface in set(mesh.surfaces.tolist()) - {-1}:
        material = character.materials[surface]
        rows = mesh.surfaces == surface
        colours[rows] = np.array(material.colour[:3]) ** (1 / 2.2)
        texture = material.textures.get("colour")
        if texture is None or not mesh.uvs:
            continue
        image = np.asarray(Image.open(io.BytesIO(texture.data)).convert("RGB")) / 255.0
        uv = mesh.uvs[0][mesh.triangles[rows]].mean(axis=1) % 1.0
        height, width = image.shape[:2]
        at = (uv * [width, height]).astype(int).clip(0, [width - 1, height - 1])
        colours[rows] *= image[at[:, 1], at[:, 0]]
    return colours


def draw_character(axes: plt.Axes, character: ml.Character, motion: ml.Motion) -> None:
    """Seven poses side by side, seen from the side."""
    for k, frame in enumerate(np.linspace(0, motion.n_frames - 1, POSES).astype(int)):
        points = character.posed(motion, int(frame))
        pelvis = motion.world_positions()[frame, 0]
        points = points - [pelvis[0], 0.0, pelvis[2]]
        start, polygons, colours, depths = 0, [], [], []
        for number, mesh in enumerate(character.meshes):
            corners = points[start : start + len(mesh.points)][mesh.triangles]
            start += len(mesh.points)
            normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
            shade = 0.65 + 0.75 * np.clip(normal @ LIGHT, 0.0, 1.0)
            seen = normal @ VIEWER > -0.05
            colours.append((texture_colours(character, number) * shade[:, None])[seen])
            flat = np.stack([corners @ RIGHT, corners[..., 1]], axis=-1)
            polygons.append((flat + np.array([1.15 * k, 0.0]))[seen])
            depths.append((corners.mean(axis=1) @ VIEWER)[seen])
        order = np.argsort(np.concatenate(depths))
        axes.add_collection(
            PolyCollection(
                np.concatenate(polygons)[order],
                facecolors=np.clip(np.concatenate(colours)[order], 0.0, 1.0),
                edgecolors="face",
                linewidths=0.2,
            )
        )


def draw_bones(axes: plt.Axes, motion: ml.Motion) -> None:
    """The same poses as lines."""
    positions = motion.world_positions()
    for k, frame in enumerate(np.linspace(0, motion.n_frames - 1, POSES).astype(int)):
        at = positions[frame] - positions[frame, 0] * [1.0, 0.0, 1.0]
        for j, parent in enumerate(motion.skeleton.parents.tolist()):
            if parent >= 0:
                pair = at[[parent, j]]
                axes.plot(pair @ RIGHT + 1.15 * k, pair[:, 1], color="0.25", lw=1.6)


def main() -> None:
    """Draw the picture."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["MOTIONLOOM_MOCAP"])
    warnings.simplefilter("ignore")
    made = ml.transition(ml.synthetic.clip("walk").motion, ml.synthetic.clip("run").motion).motion
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "man.glb"
        path.write_bytes(box_man_glb(box_man(ml.synthetic.skeleton(1.5))))
        characters = [ml.load_character(folder / "gltf" / "Soldier.glb"), ml.load_character(path)]
    figure, rows = plt.subplots(3, 1, figsize=(10.0, 8.6), layout="constrained")
    draw_bones(rows[0], made)
    titles = ["embedded walk to run", "on the soldier of three.js", "on a man of boxes, 1.5 m tall"]
    for axes, character in zip(rows[1:], characters, strict=True):
        draw_character(axes, character, ml.retarget(made, character))
    for axes, title in zip(rows, titles, strict=True):
        axes.set_xlim(-0.75, 1.15 * (POSES - 1) + 0.75)
        axes.set_ylim(-0.06, 2.0)
        axes.set_aspect("equal")
        axes.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        axes.set_axis_off()
        axes.set_title(title, loc="left", fontsize=10)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
