"""An FBX file as a clip: its bones, one animation stack, in the file's own unit and axes.

Nodes above the root joint (a Null with a scale of 100 and a quarter turn, say) are folded into the
root, so that every joint is where the file has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.formats.fbx.fbx_animation import (
    Animation,
    animated,
    layers_of,
    span_of,
    stack_names,
)
from motionloom.formats.fbx.fbx_clock import clock_of_keys
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_models import Model, find_figure, model_tree
from motionloom.formats.fbx.fbx_motion import Stage, motion_of
from motionloom.formats.fbx.fbx_objects import FbxObject, Objects
from motionloom.formats.fbx.fbx_settings import Settings, settings_of
from motionloom.formats.figures import Rig
from motionloom.formats.file_clip import FileClip, ReadOptions, clip_number
from motionloom.formats.key_clock import Clock
from motionloom.formats.node_scale import Scales
from motionloom.formats.node_tree import Tree
from motionloom.formats.text import read_bounded

BYTES_PER_FRAME = 500
"""Memory that sampling one property takes for each frame."""


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
    clock = _clock(_Parts(objects, tree, rig, animation), item, settings, options)
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


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    objects: Objects
    tree: Tree[Model]
    rig: Rig
    animation: Animation


def _clock(
    parts: _Parts, stack: FbxObject | None, settings: Settings, options: ReadOptions
) -> Clock:
    """The frames, after the curves of the figure are read."""
    relevant = {*parts.rig.joints, *parts.tree.ancestors(parts.rig.joints[0])}
    keys = parts.animation.load({parts.tree.nodes[n].key for n in relevant})
    span = None if stack is None else span_of(parts.objects, stack)
    return clock_of_keys(keys, span, settings.fps, options.limits.max_frames)


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
