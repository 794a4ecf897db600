"""Draw docs/img/retarget.png: one embedded walk on four skeletons, and print what it measures.

    python docs/pictures/retarget.py [MOCAP_FOLDER]

The target skeletons come from a folder of real clips (see CONTRIBUTING).
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import foot_points
from studies.pictures.contact_sheet import SheetEntry, save_sheet

PICTURE = Path(__file__).resolve().parents[1] / "img" / "retarget.png"

TARGETS = {
    "CMU subject 16": "cmu_bvh/16_15.bvh",
    "Mixamo soldier": "gltf/Soldier.glb",
    "DeepMimic humanoid": "deepmimic_txt/humanoid3d_walk.txt",
}
PAIRS = [
    ("cmu_bvh/16_15.bvh", "bandai_bvh/dataset-1_walk_normal_001.bvh"),
    ("cmu_bvh/16_15.bvh", "gltf/Soldier.glb"),
    ("cmu_bvh/16_15.bvh", "deepmimic_txt/humanoid3d_walk.txt"),
    ("cmu_bvh/16_35.bvh", "gltf/Soldier.glb"),
    ("cmu_bvh/143_32.bvh", "cmu_bvh/16_15.bvh"),
    ("cmu_asfamc/16_15.amc", "cmu_bvh/16_15.bvh"),
    ("bandai_bvh/dataset-1_walk_normal_001.bvh", "cmu_bvh/16_15.bvh"),
    ("bandai_bvh/dataset-1_walk_normal_001.bvh", "gltf/Soldier.glb"),
    ("bandai_bvh/dataset-1_kick_normal_001.bvh", "ugly/Boxing_Toes.bvh"),
    ("deepmimic_txt/humanoid3d_walk.txt", "cmu_bvh/16_15.bvh"),
    ("ugly/sfu_0005_Walking001.bvh", "cmu_bvh/16_15.bvh"),
    ("ugly/Boxing_Toes.bvh", "cmu_bvh/143_32.bvh"),
]


def main(arguments: list[str]) -> None:
    """Draw the picture and print the table."""
    warnings.simplefilter("ignore", UserWarning)
    folder = Path(arguments[0]) if arguments else PICTURE.parents[3] / "shared" / "mocap"
    walk = ml.synthetic.clip("walk", turn=0.4)
    entries = [SheetEntry(walk.motion, "the embedded walk", "the source", walk.footplants)]
    for title, path in TARGETS.items():
        made = ml.retarget(walk.motion, ml.load(folder / path), footplants=walk.footplants)
        entries.append(SheetEntry(made, title, "retargeted", walk.footplants))
    save_sheet(entries, PICTURE)
    print(
        "| source | target | arms, mean | legs, mean (maximum) | planted feet, source and result |"
    )
    print("|---|---|---|---|---|")
    for source, target in PAIRS:
        print(measured_row(folder, source, target))


def measured_row(folder: Path, source: str, target: str) -> str:
    """One row of the table: turns of the limbs in degrees, speeds of planted points in cm/s."""
    motion = ml.load(folder / source)[:900]
    plants = ml.detect_footplants(motion)
    made = ml.retarget(motion, ml.load(folder / target), footplants=plants)
    arms = limb_errors(motion, made, ("shoulder", "elbow", "wrist"))
    legs = limb_errors(motion, made, ("hip", "knee", "ankle"))
    before, after = (100 * planted_speed(clip, plants) for clip in (motion, made))
    return (
        f"| {Path(source).name} | {Path(target).name} | {arms.mean():.1f}° | "
        f"{legs.mean():.1f}° ({legs.max():.0f}°) | {before:.1f}, {after:.1f} cm/s |"
    )


def limb_errors(a: ml.Motion, b: ml.Motion, parts: tuple[str, str, str]) -> np.ndarray:
    """Angles between the two bones of both limbs, degrees."""
    directions = []
    for motion in (a, b):
        body, at = ml.BodyMap.guess(motion.skeleton), motion.world_positions()
        bones = []
        for side in ("left", "right"):
            top, middle, end = (getattr(body, f"{side}_{part}") for part in parts)
            bones += [at[:, middle] - at[:, top], at[:, end] - at[:, middle]]
        stacked = np.stack(bones)
        directions.append(stacked / np.linalg.norm(stacked, axis=-1, keepdims=True))
    cos = np.sum(directions[0] * directions[1], axis=-1)
    return np.asarray(np.degrees(np.arccos(np.clip(cos, -1.0, 1.0))))


def planted_speed(motion: ml.Motion, plants: ml.Footplants) -> float:
    """Mean speed of planted foot points, m/s."""
    speeds = np.linalg.norm(np.diff(foot_points(motion), axis=0), axis=-1) * motion.fps
    return float(speeds[plants.planted[1:] & plants.planted[:-1]].mean())


if __name__ == "__main__":
    main(sys.argv[1:])
