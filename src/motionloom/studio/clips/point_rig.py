"""A body of points bound to the joints of a skeleton: one pose is drawn without its clip."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.body.body_map import BodyMap
from motionloom.drawing.camera import travel_heading
from motionloom.drawing.figure import Figure, build_figure
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat
from motionloom.studio.messages.looks import Looks, Part

_place = kernel("ml_points_place")

BOUND_FRAMES = 240
"""Frames of a clip to bind a body to; each takes some 50 kB while it is bound."""
TRAVELS_M = 0.3
"""A pelvis that moves farther than this from the root joint is the one that travels."""


class PointRig:
    """The figure's points bound to joints, so that a single pose can be drawn."""

    def __init__(self, skeleton: Skeleton, joints: npt.NDArray[np.int64], offsets: FloatArray):
        self.skeleton = skeleton
        self.joints = np.ascontiguousarray(joints, dtype=np.int64)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.float64)

    def points(
        self,
        root_position: FloatArray,
        local_quats: FloatArray,
        joint_translations: FloatArray | None = None,
    ) -> FloatArray:
        """World positions of the points in one pose. (P, 3)."""
        moved = self.skeleton.offsets if joint_translations is None else joint_translations
        points, n = np.zeros(self.offsets.shape), self.skeleton.n_joints
        _place(
            n, self.skeleton.parents, moved,
            np.ascontiguousarray(root_position, dtype=np.float64),
            np.ascontiguousarray(local_quats, dtype=np.float64),
            len(self.joints), self.joints, self.offsets, np.zeros((n, 7)), points,
        )  # fmt: skip
        return points


def bind_points(motion: Motion, body: BodyMap) -> tuple[Looks, PointRig]:
    """The body of a clip, each of its points bound to the joint that it moves with.

    In whole clips the chest's points follow the facing; here they follow a spine joint, which
    differs by less than a centimetre.
    """
    figure = build_figure(motion, body=body)
    looks, used = looks_of(motion, figure, body)
    points = figure.points[:, used]  # (F, P, 3)
    positions, quats = motion.world_pose()
    local = quat.rotate(
        quat.conjugate(quats)[:, None], points[:, :, None] - positions[:, None]
    )  # (F, P, J, 3): every point as every joint sees it
    spread = local.std(axis=0).sum(axis=-1)  # (P, J)
    joints = np.argmin(spread, axis=1)
    offsets = local[:, np.arange(len(joints)), joints].mean(axis=0)
    return looks, PointRig(motion.skeleton, joints, offsets)


def _centre(motion: Motion, body: BodyMap) -> int:
    """The joint that travels with the body: the root, or the pelvis of a root that stays."""
    if body.pelvis is None or body.pelvis == 0:
        return 0
    positions = motion.world_positions()[:, [0, body.pelvis]][..., [0, 2]]
    apart = np.linalg.norm(np.ptp(positions[:, 1] - positions[:, 0], axis=0))
    return body.pelvis if apart > TRAVELS_M else 0


def looks_of(motion: Motion, figure: Figure, body: BodyMap) -> tuple[Looks, list[int]]:
    """How the figure is drawn, and the points of it that are used."""
    centre = _centre(motion, body)  # the figure's points begin with the joints
    used = sorted({p for part in figure.parts for p in part.points} | {centre})
    row = {p: n for n, p in enumerate(used)}
    parts = [
        Part(part.name, part.side, [row[p] for p in part.points], [round(r, 4) for r in part.radii])
        for part in figure.parts
    ]
    looks = Looks(
        len(used),
        row[centre],
        parts,
        round(figure.height, 4),
        round(figure.floor(), 4),
        round(travel_heading(motion), 4),
        list(motion.skeleton.names),
    )
    return looks, used
