"""The 77 joints of SOMA: legs are called Leg and Shin."""

from __future__ import annotations

import numpy as np

import motionloom as ml


def soma_skeleton() -> ml.Skeleton:
    """SOMA's names and tree with rough lengths, metres."""
    joints: list[tuple[str, str, tuple[float, float, float]]] = [("Hips", "", (0.0, 0.95, 0.0))]
    above = "Hips"
    for name, rise in (
        *(("Spine1", 0.1), ("Spine2", 0.1), ("Chest", 0.12)),
        *(("Neck1", 0.18), ("Neck2", 0.05), ("Head", 0.05)),
    ):
        joints.append((name, above, (0.0, rise, 0.0)))
        above = name
    for name, place in (
        ("HeadEnd", (0.0, 0.18, 0.0)),
        ("Jaw", (0.0, 0.01, 0.04)),
        ("LeftEye", (0.03, 0.06, 0.08)),
        ("RightEye", (-0.03, 0.06, 0.08)),
    ):
        joints.append((name, "Head", place))
    for side, x in (("Left", 1.0), ("Right", -1.0)):
        joints += [
            (f"{side}Shoulder", "Chest", (0.03 * x, 0.14, 0.0)),
            (f"{side}Arm", f"{side}Shoulder", (0.14 * x, 0.0, 0.0)),
            (f"{side}ForeArm", f"{side}Arm", (0.27 * x, 0.0, 0.0)),
            (f"{side}Hand", f"{side}ForeArm", (0.25 * x, 0.0, 0.0)),
        ]
        for finger, z in (("Thumb", 3), ("Index", 2), ("Middle", 1), ("Ring", 0), ("Pinky", -1)):
            above = f"{side}Hand"
            for part in ("1", "2", "3", *(() if finger == "Thumb" else ("4",)), "End"):
                name = f"{side}Hand{finger}{part}"
                joints.append((name, above, (0.03 * x, 0.0, 0.01 * z if part == "1" else 0.0)))
                above = name
    for side, x in (("Left", 1.0), ("Right", -1.0)):
        joints += [
            (f"{side}Leg", "Hips", (0.09 * x, -0.05, 0.0)),
            (f"{side}Shin", f"{side}Leg", (0.0, -0.42, 0.0)),
            (f"{side}Foot", f"{side}Shin", (0.0, -0.4, 0.0)),
            (f"{side}ToeBase", f"{side}Foot", (0.0, -0.06, 0.13)),
            (f"{side}ToeEnd", f"{side}ToeBase", (0.0, 0.0, 0.06)),
        ]
    names = [name for name, _, _ in joints]
    parents = [names.index(above) if above else -1 for _, above, _ in joints]
    return ml.Skeleton(names, parents, np.array([place for _, _, place in joints]))


def test_roles_of_soma() -> None:
    skeleton = soma_skeleton()
    assert skeleton.n_joints == 77
    body = ml.BodyMap.guess(skeleton)
    for side in ("left", "right"):
        for role, name in (
            *(("hip", "Leg"), ("knee", "Shin"), ("ankle", "Foot"), ("toe", "ToeBase")),
            *(("shoulder", "Arm"), ("elbow", "ForeArm"), ("wrist", "Hand")),
        ):
            found = getattr(body, f"{side}_{role}")
            assert skeleton.names[found] == f"{side.capitalize()}{name}"


def test_a_soma_bvh_in_centimetres(tmp_path) -> None:
    walk = ml.retarget(ml.synthetic.clip("walk").motion, soma_skeleton())
    ml.save(ml.resample(walk, fps=120.0), tmp_path / "soma.bvh", unit="cm")
    back = ml.load(tmp_path / "soma.bvh")
    assert (back.fps, back.source.unit_m) == (120.0, 0.01)
    assert back.skeleton.n_joints >= 64  # leaves without motion may come back as end sites
    assert ml.detect_footplants(back).planted.any()
