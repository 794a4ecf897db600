"""The bones of an FBX file: models, their attributes, and the bind pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.formats.end_names import end_names
from motionloom.formats.fbx.fbx_encode import Item, Long, property_of
from motionloom.formats.fbx.fbx_items import Scene
from motionloom.formats.fbx.fbx_models import END_SITE, angles_of, turn_of
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

REST_DECIMALS = 9
"""Digits of rest angles in degrees: on this grid reading and writing changes nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """The rest pose in the world: joints, then end sites."""

    places: FloatArray
    """Shape (J + E, 3)."""
    turns: FloatArray
    """Shape (J + E, 4)."""

    def matrices(self) -> FloatArray:
        """From each joint's frame into the world, in the order of FBX. Shape (J + E, 16)."""
        matrices = np.tile(np.eye(4), (len(self.places), 1, 1))
        matrices[:, :3, :3] = quat.to_matrix(self.turns).swapaxes(1, 2)
        matrices[:, 3, :3] = self.places
        return matrices.reshape(-1, 16) + 0.0


def pose_of(skeleton: Skeleton, origin: FloatArray) -> Pose:
    """Where joints and end sites are at rest."""
    # As a reader will sum it up: far out the subtraction may cost the root's last bits.
    root = (skeleton.offsets[:1] - origin) + origin
    places, turns = forward_kinematics(skeleton, root, turn_of(rest_angles(skeleton), "XYZ")[None])
    at = skeleton.end_parents
    tips = places[0, at] + quat.rotate(turns[0, at], skeleton.end_offsets)
    return Pose(np.concatenate([places[0], tips]), np.concatenate([turns[0], turns[0, at]]))


def rest_angles(skeleton: Skeleton) -> FloatArray:
    """Euler angles of the rest pose, degrees, on a fine grid. Shape (J, 3)."""
    return np.asarray(np.round(angles_of(skeleton.rest_quats, "XYZ"), REST_DECIMALS) + 0.0)


def skeleton_items(scene: Scene, skeleton: Skeleton, origin: FloatArray) -> list[int]:
    """Add the bones; returns the numbers of joints, then of end sites."""
    top = 0
    if origin.any():
        top = _model(scene, "figure", "Null", origin, np.zeros(3))
        scene.link(top, 0)
    angles = rest_angles(skeleton)
    joints: list[int] = []
    for j, name in enumerate(skeleton.names):
        place = skeleton.offsets[j] - origin if j == 0 else skeleton.offsets[j]
        joints.append(_model(scene, name, "LimbNode", place, angles[j]))
        scene.link(joints[j], top if j == 0 else joints[skeleton.parents[j]])
    for parent, offset, name in zip(
        skeleton.end_parents, skeleton.end_offsets, end_names(skeleton), strict=True
    ):
        key = _model(scene, name, "LimbNode", offset, np.zeros(3), is_end=True)
        scene.link(key, joints[parent])
        joints.append(key)
    return joints


def _model(
    scene: Scene,
    name: str,
    subtype: str,
    place: FloatArray,
    angles: FloatArray,
    *,
    is_end: bool = False,
) -> int:
    properties = [
        property_of("RotationActive", "bool", "", "", 1),
        property_of("InheritType", "enum", "", "", 1),
        property_of("ScalingMax", "Vector3D", "Vector", "", 0.0, 0.0, 0.0),
        property_of("DefaultAttributeIndex", "int", "Integer", "", 0),
        property_of("Lcl Translation", "Lcl Translation", "", "A", *numbers(place)),
        property_of("Lcl Rotation", "Lcl Rotation", "", "A", *numbers(angles)),
        property_of("Lcl Scaling", "Lcl Scaling", "", "A", 1.0, 1.0, 1.0),
    ]
    if is_end:
        properties.append(property_of(END_SITE, "bool", "", "U", 1))
    key = scene.add("Model", name, subtype, model_items(properties))
    size: list[Item] = []
    if subtype == "LimbNode":
        size = [Item("Properties70", (), [property_of("Size", "double", "Number", "", 10.0)])]
    flags = "Skeleton" if subtype == "LimbNode" else "Null"
    attribute = scene.add("NodeAttribute", name, subtype, [*size, Item("TypeFlags", (flags,))])
    scene.link(attribute, key)
    return key


def model_items(properties: list[Item]) -> list[Item]:
    """What stands in a model."""
    return [
        Item("Version", (232,)),
        Item("Properties70", (), properties),
        Item("Shading", (True,)),
        Item("Culling", ("CullingOff",)),
    ]


def numbers(values: FloatArray) -> list[float]:
    """Numbers of a property; adding zero makes -0.0 into 0.0."""
    return [float(value) for value in values + 0.0]


def bind_pose_items(scene: Scene, joints: list[int], matrices: FloatArray) -> None:
    """Add the pose in which the meshes were bound, matrices (J, 16) from joints into the world."""
    nodes: list[Any] = [
        Item("PoseNode", (), [Item("Node", (Long(key),)), Item("Matrix", (matrix,))])
        for key, matrix in zip(joints, matrices, strict=True)
    ]
    head = [
        Item("Type", ("BindPose",)),
        Item("Version", (100,)),
        Item("NbPoseNodes", (len(nodes),)),
    ]
    scene.add("Pose", "bind pose", "BindPose", [*head, *nodes])
