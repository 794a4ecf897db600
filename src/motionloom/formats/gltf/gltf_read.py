"""A glTF file as a clip: joints of its skin, one animation, in metres and Y up.

Nodes above the root joint (an armature with a scale of 0.01 and a quarter turn, say) are folded
into the root, so that the result stands upright and in metres as glTF demands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.formats.figure_motion import SLIDE_M, figure_motion
from motionloom.formats.file_clip import FileClip, ReadOptions, clip_number
from motionloom.formats.gltf.gltf_animation import (
    Track,
    animation_names,
    find_clock,
    own_facts,
    tracks_of,
)
from motionloom.formats.gltf.gltf_document import Document
from motionloom.formats.gltf.gltf_head_top import with_top_of_skin
from motionloom.formats.gltf.gltf_joints import find_rig
from motionloom.formats.gltf.gltf_nodes import NodeTree
from motionloom.formats.key_clock import Clock
from motionloom.formats.node_scale import NodeScale, Scales
from motionloom.formats.text import read_bounded

BYTES_PER_FRAME = 400
"""Memory that sampling one track takes for each frame."""


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """One animation of a ``.glb`` or ``.gltf`` on the skeleton that it moves."""
    data = read_bounded(stream, options.limits)
    document = Document(data, options)
    tree = NodeTree.of(document)
    clips = animation_names(document)
    animation = clip_number(clips, options.clip)
    tracks = [] if animation is None else tracks_of(document, animation, len(tree.nodes))
    moved = {track.node for track in tracks if track.path != "scale"}
    rig = find_rig(tree, document, moved)
    relevant = {*rig.joints, *tree.ancestors(rig.joints[0])}
    tracks = [track for track in tracks if track.node in relevant]
    if animation is None or not tracks:
        how = "No animation moves the skeleton: one frame, the rest pose."
        clock = Clock(np.zeros(1), 30.0, False, how)
    else:
        clock = find_clock(document, animation, tracks, options.limits.max_frames)
    if len(rig.joints) > options.limits.max_joints:
        raise FormatError(
            f"A skeleton may have at most {options.limits.max_joints} joints, got "
            f"{len(rig.joints)}.",
            fix="Export fewer nodes.",
        )
    placed = {track.node for track in tracks if track.path == "translation"}
    sliding = not placed.isdisjoint(rig.joints[1:])
    document.budget.check_poses(
        len(clock.times), len(rig.joints), sliding=sliding, per_frame=BYTES_PER_FRAME
    )
    empty = _empty_keys(tracks)
    scene = _Scene(tree, {(track.node, track.path): track for track in tracks}, clock)
    del tracks
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the motion is checked for it
            motion, odd = figure_motion(scene, tree, rig, clock.fps, SLIDE_M)
            taller, note = with_top_of_skin(motion.skeleton, document, tree, rig)
    except ArrayError as error:
        raise FormatError(str(error)) from error
    findings = [Finding("note", "animation", clock.how), *empty, *odd, *scene.scales.findings()]
    if note:
        motion = motion.replace(skeleton=taller)
        findings.append(Finding("note", "skin", note))
    if rig.left_out:
        findings.append(
            Finding("warning", "skins", f"{rig.left_out} joints of other figures are left out.")
        )
    return FileClip(
        motion,
        unit_m=1.0,
        up="y",
        fps_stated=clock.stated,
        clip=clips[animation] if animation is not None and len(clips) > 1 else "",
        clips=clips,
        detail=MappingProxyType(_detail(document, clips, animation)),
        findings=tuple(findings),
    )


def _empty_keys(tracks: list[Track]) -> list[Finding]:
    """A warning where rotations are zero, as in a file that did not arrive whole."""
    n_empty = sum(track.n_empty for track in tracks)
    if not n_empty:
        return []
    n_keys = sum(len(track.times) for track in tracks if track.path == "rotation")
    return [
        Finding(
            "warning",
            "animation",
            f"{n_empty} of {n_keys} rotation keys are (0, 0, 0, 0); they are read as no turn.",
            "The file may be damaged: copy or download it again.",
        )
    ]


def clip_names(data: bytes, options: ReadOptions) -> tuple[str, ...]:
    """Names of the animations in a file."""
    return animation_names(Document(data, options))


def _detail(document: Document, clips: tuple[str, ...], animation: int | None) -> dict[str, Any]:
    if animation is None:
        return {}
    detail: dict[str, Any] = {"animation": clips[animation]}
    source = own_facts(document, animation).get("source")
    if isinstance(source, dict) and all(isinstance(value, str) for value in source.values()):
        detail["source"] = source
    return detail


@dataclass(slots=True, eq=False)
class _Scene:
    """The nodes in time: what each one's place, turn and scale in its parent are, asked once."""

    tree: NodeTree
    tracks: dict[tuple[int, str], Track]
    """By node and path; each is let go when it is sampled, so that its keys take no memory."""
    clock: Clock
    scales: Scales = field(default_factory=Scales)

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.clock.times)

    def turns(self, node: int) -> FloatArray:
        """Turn of a node in its parent, in every frame. Shape (F, 4)."""
        track = self.tracks.pop((node, "rotation"), None)
        if track is None:
            return np.tile(self.tree.nodes[node].rotation, (self.n_frames, 1))
        return track.sample(self.clock.times)

    def places(self, node: int, _: FloatArray) -> FloatArray | None:
        """Place of a node in its parent, in every frame (F, 3); None where it is not keyed."""
        track = self.tracks.pop((node, "translation"), None)
        return None if track is None else track.sample(self.clock.times)

    def rest(self, node: int) -> tuple[FloatArray, FloatArray]:
        """Place (3,) and turn (4,) of a node in its parent at rest."""
        return self.tree.nodes[node].translation, self.tree.nodes[node].rotation

    def scaled(self, node: int, above: NodeScale) -> NodeScale:
        """Scale below a node, of the scale above it."""
        listed = self.tree.nodes[node]
        track = self.tracks.pop((node, "scale"), None)
        keyed = None if track is None else track.sample(self.clock.times)
        factor = self.scales.factor(listed.name, listed.scale, keyed)
        return NodeScale(above.total * factor, factor)

    def rest_scale(self, node: int) -> float:
        """Scale of a node alone, at rest."""
        return float(np.abs(self.tree.nodes[node].scale).mean())
