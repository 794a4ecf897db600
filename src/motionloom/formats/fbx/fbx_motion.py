"""The motion of an FBX figure: nodes above it folded in, pivots and scale resolved."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.findings import Finding
from motionloom.formats.fbx.fbx_animation import SCALING, TRANSLATION, Animation
from motionloom.formats.fbx.fbx_models import RRS, Model, turn_of
from motionloom.formats.fbx.fbx_settings import Settings
from motionloom.formats.figures import Rig
from motionloom.formats.node_scale import Scales
from motionloom.formats.node_tree import Tree
from motionloom.formats.text import unique_names
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

SLIDE_M = 2e-6
"""How far a joint must move from its rest place for bones to count as sliding, metres."""
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

    def factor(self, node: int) -> float:
        """Scale of a node."""
        model = self.tree.nodes[node]
        keyed = self.animation.values(model, SCALING, model.scaling)
        return self.scales.factor(model.name, model.scaling, keyed)


@dataclass(slots=True)
class _Scale:
    """Units of length of the file per unit within a node, and the node's own part of it."""

    total: float
    own: float

    def inherited(self, model: Model, factor: float) -> _Scale:
        above = self.total / self.own if model.inherit == RRS and self.own > 0.0 else self.total
        return _Scale(above * factor, factor)


@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """The root joint in the world, with everything above it folded in."""

    places: FloatArray
    turns: FloatArray
    rest_place: FloatArray
    rest_turn: FloatArray
    scale: _Scale


def _folded_root(stage: Stage, root: int) -> _Root:
    n_frames = len(stage.animation.times)
    places, turns = np.zeros((n_frames, 3)), np.tile(quat.IDENTITY, (n_frames, 1))
    rest_place, rest_turn, scale = np.zeros(3), quat.IDENTITY, _Scale(1.0, 1.0)
    for n in (*stage.tree.ancestors(root), root):
        own = stage.turns(n)
        keyed = stage.places(n, own)
        place, turn = stage.rest(n)
        step = scale.total * (place[None] if keyed is None else keyed)
        places = places + quat.rotate(turns, step)
        rest_place = rest_place + quat.rotate(rest_turn, scale.total * place)
        turns, rest_turn = quat.multiply(turns, own), quat.multiply(rest_turn, turn)
        scale = scale.inherited(stage.tree.nodes[n], stage.factor(n))
    return _Root(places, turns, rest_place, rest_turn, scale)


def motion_of(stage: Stage, rig: Rig, fps: float) -> Motion:
    """The figure's motion, in the file's unit and axes; left-handed ones are mirrored."""
    nodes, n_frames = stage.tree.nodes, len(stage.animation.times)
    root = _folded_root(stage, rig.joints[0])
    row = {n: j for j, n in enumerate(rig.joints)}
    n_joints = len(rig.joints)
    slide = SLIDE_M / (stage.settings.unit_m or USUAL_UNIT_M)
    scales = [root.scale] * n_joints
    parents, offsets = np.full(n_joints, -1), np.zeros((n_joints, 3))
    rest, quats = np.zeros((n_joints, 4)), np.zeros((n_frames, n_joints, 4))
    moving: FloatArray | None = None
    slides = np.zeros(n_joints, dtype=bool)
    offsets[0], rest[0], quats[:, 0] = root.rest_place, root.rest_turn, root.turns
    for j, n in enumerate(rig.joints[1:], start=1):
        parents[j] = p = row[nodes[n].parent]
        place, rest[j] = stage.rest(n)
        offsets[j] = scales[p].total * place
        quats[:, j] = stage.turns(n)
        scales[j] = scales[p].inherited(nodes[n], stage.factor(n))
        keyed = stage.places(n, quats[:, j])
        if keyed is None:
            continue
        keyed = scales[p].total * keyed
        if np.abs(keyed - offsets[j]).max() > slide:
            moving = np.zeros((n_frames, n_joints, 3)) if moving is None else moving
            moving[:, j] = keyed
            slides[j] = True
    if moving is not None:
        moving[:, ~slides] = offsets[~slides]
    names, changed = unique_names([nodes[n].name for n in rig.joints])
    if changed:
        problem = f"{len(changed)} joints share the name of another and are numbered."
        stage.findings.append(Finding("note", f"node {changed[0][1]!r}", problem))
    end_parents, end_offsets = _end_sites(stage, rig, row, scales)
    skeleton = Skeleton(
        tuple(names),
        parents,
        offsets,
        rest_quats=rest,
        end_parents=end_parents,
        end_offsets=end_offsets,
    )
    for array in (quats, moving):  # a motion copies what others could write to
        if array is not None:
            array.flags.writeable = False
    motion = Motion(skeleton, root.places, quats, fps, moving)
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


def _end_sites(
    stage: Stage, rig: Rig, row: dict[int, int], scales: list[_Scale]
) -> tuple[IntArray, FloatArray]:
    """The joint above each end site, and its place there at rest."""
    parents: list[int] = []
    offsets = np.zeros((len(rig.ends), 3))
    for e, end in enumerate(rig.ends):
        n, place = end, np.zeros(3)
        while n not in row:
            model = stage.tree.nodes[n]
            inner = float(np.abs(model.scaling).mean()) if n != end else 1.0
            origin, turn = stage.rest(n)
            place = origin + quat.rotate(turn, inner * place)
            n = model.parent
        parents.append(row[n])
        offsets[e] = scales[row[n]].total * place
    return np.array(parents, dtype=np.int64), offsets
