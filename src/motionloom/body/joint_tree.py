"""The tree of joints as guessing of body roles asks for it: ways up and down, lengths, a pose."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._elementary import norm
from motionloom.body.joint_names import JointName, read_name
from motionloom.motion.forward import end_positions
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.skeleton import Skeleton

Pose = tuple[FloatArray, FloatArray]
"""World positions (J, 3) and rotations (J, 4) of one frame."""


def rest_pose(skeleton: Skeleton) -> Pose:
    """The rest pose with the root at the origin."""
    pose = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])
    return pose[0][0], pose[1][0]


class Tree:
    """A skeleton with its names read, its bones measured, and one pose."""

    def __init__(self, skeleton: Skeleton, pose: Pose | None) -> None:
        self.skeleton = skeleton
        self.names: list[JointName] = [read_name(name) for name in skeleton.names]
        self.parents = [int(p) for p in skeleton.parents]
        self.children: list[list[int]] = [[] for _ in self.parents]
        self.depth = [0] * len(self.parents)
        for j, p in enumerate(self.parents):
            if p >= 0:
                self.children[p].append(j)
                self.depth[j] = self.depth[p] + 1
        self._pose = pose
        self.bone = np.linalg.norm(skeleton.offsets, axis=1)
        self.bone[0] = 0.0
        # Length of the longest way down from each joint, end sites included.
        self.reach = np.zeros(len(self.parents))
        for e, j in enumerate(skeleton.end_parents):
            self.reach[j] = max(self.reach[j], norm(skeleton.end_offsets[e]))
        for j in range(len(self.parents) - 1, 0, -1):
            p = self.parents[j]
            self.reach[p] = max(self.reach[p], self.bone[j] + self.reach[j])

    @property
    def pose(self) -> Pose:
        """The pose given, or else the rest pose."""
        if self._pose is None:
            self._pose = rest_pose(self.skeleton)
        return self._pose

    def up(self, joint: int) -> list[int]:
        """The joint and its ancestors, nearest first."""
        path = [joint]
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
        return path

    def common(self, a: int, b: int) -> int:
        """Deepest joint above (or at) both."""
        while a != b:
            if self.depth[a] >= self.depth[b]:
                a = self.parents[a]
            else:
                b = self.parents[b]
        return a

    def between(self, above: int, below: int) -> list[int]:
        """Joints strictly under ``above`` down to ``below``; [] if it is not an ancestor."""
        path = self.up(below)
        return path[: path.index(above)][::-1] if above in path else []

    def way(self, above: int, below: int) -> float:
        """Length of the bones from one joint down to another."""
        return float(sum(self.bone[j] for j in self.between(above, below)))

    def longest(self, joints: list[int]) -> int:
        """The one of several children whose branch reaches farthest."""
        return max(joints, key=lambda j: self.bone[j] + self.reach[j])

    def next_down(self, joint: int, at_least: float) -> int | None:
        """First joint down the longest branch more than ``at_least`` away along the bones."""
        gone = 0.0
        while below := [c for c in self.children[joint] if not self.names[c].off_chain]:
            joint = self.longest(below)
            gone += float(self.bone[joint])
            if gone > at_least:
                return joint
        return None

    def tip(self, joint: int) -> FloatArray:
        """World position of what the joint's bone ends in: the next joint, or an end site."""
        positions, quats = self.pose
        below = self.next_down(joint, 0.0)
        if below is not None:
            return np.asarray(positions[below])
        ends = np.flatnonzero(self.skeleton.end_parents == joint)
        if not ends.size:
            return np.asarray(positions[joint])
        placed = end_positions(self.skeleton, positions[None], quats[None])
        return np.asarray(placed[0, ends[0]])
