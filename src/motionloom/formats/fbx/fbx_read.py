"""An FBX file as a clip: its bones, one animation stack, in the file's own unit and axes.

Nodes above the root joint (a Null with a scale of 100 and a quarter turn, say) are folded into the
root, so that every joint is where the file has it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.formats.fbx.fbx_animation import (
    SCALING,
    TRANSLATION,
    Animation,
    animated,
    clock_of_keys,
    layers_of,
    span_of,
    stack_names,
)
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_models import RRS, Model, find_figure, model_tree, turn_of
from motionloom.formats.fbx.fbx_objects import FbxObject, Objects, Settings, settings_of
from motionloom.formats.figures import SLIDE_M, NodeScale, Rig, Scales, Tree, figure_motion
from motionloom.formats.file_clip import FileClip, ReadOptions, clip_number
from motionloom.formats.keys import Clock
from motionloom.formats.text import read_bounded
from motionloom.motion.motion import Motion

BYTES_PER_FRAME = 500
"""Memory that sampling one property takes for each frame."""
USUAL_UNIT_M = 0.01
"""Metres per unit where a file states none: FBX tools work in centimetres."""


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """One animation stack of an ``.fbx`` on the skeleton that it moves."""
    document = FbxDocument(read_bounded(stream, options.limits), options)
    settings = settings_of(document)
    objects = Objects(document)
    tree = model_tree(objects)
    clips = stack_names(objects)
    stack = clip_number(clips, options.clip)
    item = None if stack is None else list(objects.of_kind("AnimationStack"))[stack]
    animation = Animation(objects, [] if item is None else layers_of(objects, item))
    row = {model.key: n for n, model in enumerate(tree.nodes)}
    moved = {row[key] for key in animated(animation.layers) if key in row}
    rig = find_figure(tree, objects, moved)
    _check_joints(rig, options)
    clock = _clock(animation, tree, rig, item, settings.fps, options.limits.max_frames)
    animation.times = clock.times
    sliding = any(
        animation.is_keyed(tree.nodes[n], "Lcl Translation") for n in rig.joints[1:]
    ) or any(tree.nodes[n].inside.any() for n in rig.joints[1:])
    document.budget.check_poses(
        len(clock.times), len(rig.joints), sliding=sliding, per_frame=BYTES_PER_FRAME
    )
    stage = Stage(tree, animation, settings, Scales())
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            motion = motion_of(stage, rig, clock.fps)
    except ArrayError as error:
        raise FormatError(str(error)) from error
    return FileClip(
        motion,
        unit_m=settings.unit_m,
        up=settings.up,
        fps_stated=clock.stated,
        clip=clips[stack] if stack is not None and len(clips) > 1 else "",
        clips=clips,
        detail=MappingProxyType({} if stack is None else {"animation": clips[stack]}),
        findings=tuple(_findings(stage, rig, clock)),
    )


def clip_names(data: bytes, options: ReadOptions) -> tuple[str, ...]:
    """Names of the animation stacks in a file."""
    return stack_names(Objects(FbxDocument(data, options)))


def _clock(
    animation: Animation,
    tree: Tree[Model],
    rig: Rig,
    stack: FbxObject | None,
    fps: float | None,
    max_frames: int,
) -> Clock:
    """Read the curves of the figure; the frames that their keys make."""
    relevant = {*rig.joints, *tree.ancestors(rig.joints[0])}
    keys = animation.load({tree.nodes[n].key for n in relevant})
    span = None if stack is None else span_of(animation.objects, stack)
    return clock_of_keys(keys, span, fps, max_frames)


def _check_joints(rig: Rig, options: ReadOptions) -> None:
    if len(rig.joints) > options.limits.max_joints:
        raise FormatError(
            f"A skeleton may have at most {options.limits.max_joints} joints, got "
            f"{len(rig.joints)}.",
            fix="Export fewer nodes.",
        )


def _findings(stage: Stage, rig: Rig, clock: Clock) -> list[Finding]:
    findings = [Finding("note", "animation", clock.how), *stage.settings.findings]
    findings += [*stage.findings, *stage.scales.findings()]
    if len(stage.animation.layers) > 1:
        text = f"{len(stage.animation.layers)} layers are flattened into one."
        findings.append(Finding("note", "animation", text))
    if rig.left_out:
        findings.append(
            Finding("warning", "models", f"{rig.left_out} joints of other figures are left out.")
        )
    return findings


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
