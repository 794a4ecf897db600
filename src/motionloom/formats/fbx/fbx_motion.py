"""The motion of an FBX figure: pivots, inherited scale and left-handed axes resolved."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.findings import Finding
from motionloom.formats.fbx.fbx_animation import SCALING, TRANSLATION, Animation
from motionloom.formats.fbx.fbx_models import RRS, Model, turn_of
from motionloom.formats.fbx.fbx_settings import Settings
from motionloom.formats.figure_motion import SLIDE_M, figure_motion
from motionloom.formats.figures import Rig
from motionloom.formats.node_scale import NodeScale, Scales
from motionloom.formats.node_tree import Tree
from motionloom.motion.motion import Motion

USUAL_UNIT_M = 0.01


@dataclass(slots=True, eq=False)
class Stage:
    """Nodes in time."""

    tree: Tree[Model]
    animation: Animation
    settings: Settings
    scales: Scales
    findings: list[Finding] = field(default_factory=list)

    def turns(self, node: int) -> FloatArray:
        """Turn of a node in its parent, in every frame. Shape (F, 4)."""
        model = self.tree.nodes[node]
        own = self.animation.turns(model)
        if own is None:
            still = model.turned(turn_of(model.rotation, model.order))
            return np.tile(still, (len(self.animation.times), 1))
        return model.turned(own)

    def places(self, node: int, turns: FloatArray) -> FloatArray | None:
        """Place of a node in its parent, in every frame (F, 3); None where it never moves."""
        model = self.tree.nodes[node]
        keyed = self.animation.values(model, TRANSLATION, model.translation)
        if keyed is None and not model.inside.any():
            return None
        return model.places(model.translation if keyed is None else keyed, turns)

    def rest(self, node: int) -> tuple[FloatArray, FloatArray]:
        """Place (3,) and turn (4,) of a node in its parent at rest."""
        model = self.tree.nodes[node]
        turn = model.turned(turn_of(model.rotation, model.order))
        return model.places(model.translation, turn), turn

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.animation.times)

    def scaled(self, node: int, above: NodeScale) -> NodeScale:
        """Scale below a node, of the scale above it."""
        model = self.tree.nodes[node]
        keyed = self.animation.values(model, SCALING, model.scaling)
        factor = self.scales.factor(model.name, model.scaling, keyed)
        stops = model.inherit == RRS and above.own > 0.0
        return NodeScale((above.total / above.own if stops else above.total) * factor, factor)

    def rest_scale(self, node: int) -> float:
        """Scale of a node alone, at rest."""
        return float(np.abs(self.tree.nodes[node].scaling).mean())


def motion_of(stage: Stage, rig: Rig, fps: float) -> Motion:
    """The figure's motion, in the file's unit and axes; left-handed ones are mirrored."""
    slide = SLIDE_M / (stage.settings.unit_m or USUAL_UNIT_M)
    motion, findings = figure_motion(stage, stage.tree, rig, fps, slide)
    stage.findings += findings
    axis = stage.settings.mirror
    return motion if axis is None else _mirrored_motion(motion, axis)


def _mirrored_motion(motion: Motion, axis: int) -> Motion:
    skeleton, moving = motion.skeleton, motion.joint_translations
    return motion.replace(
        skeleton=dataclasses.replace(
            skeleton,
            offsets=_mirrored(skeleton.offsets, axis),
            rest_quats=_mirrored(skeleton.rest_quats, axis),
            end_offsets=_mirrored(skeleton.end_offsets, axis),
        ),
        root_positions=_mirrored(motion.root_positions, axis),
        local_quats=_mirrored(motion.local_quats, axis),
        joint_translations=None if moving is None else _mirrored(moving, axis),
    )


def _mirrored(array: FloatArray, axis: int) -> FloatArray:
    """Places (..., 3) or quaternions (..., 4) in a world one of whose axes points the other way."""
    if array.shape[-1] == 3:
        signs = np.ones(3)
        signs[axis] = -1.0
    else:
        signs = np.array([1.0, -1.0, -1.0, -1.0])
        signs[1 + axis] = 1.0
    return np.asarray(array * signs)
