"""A glTF file as a clip: joints of its skin, one animation, in metres and Y up.

Nodes above the root joint (an armature with a scale of 0.01 and a quarter turn, say) are folded
into the root, so that the result stands upright and in metres as glTF demands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.formats.figures import Rig
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
from motionloom.formats.node_scale import Scales
from motionloom.formats.text import read_bounded, unique_names
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

SLIDE_M = 2e-6
"""How far a joint must move from its rest place for bones to count as sliding, metres."""
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
    scene = _Scene(tree, {(track.node, track.path): track for track in tracks}, clock)
    del tracks
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the motion is checked for it
            motion = _motion(scene, rig)
            taller, note = with_top_of_skin(motion.skeleton, document, tree, rig)
    except ArrayError as error:
        raise FormatError(str(error)) from error
    findings = [Finding("note", "animation", clock.how), *scene.findings, *scene.scales.findings()]
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
    findings: list[Finding] = field(default_factory=list)
    scales: Scales = field(default_factory=Scales)

    def translations(self, node: int) -> FloatArray | None:
        """Shape (F, 3), None where the node is not keyed."""
        track = self.tracks.pop((node, "translation"), None)
        return None if track is None else track.sample(self.clock.times)

    def rotations(self, node: int) -> FloatArray:
        """Shape (F, 4)."""
        track = self.tracks.pop((node, "rotation"), None)
        if track is None:
            return np.tile(self.tree.nodes[node].rotation, (len(self.clock.times), 1))
        return track.sample(self.clock.times)

    def scale(self, node_number: int) -> float:
        """How many times longer the lengths below a node are."""
        node = self.tree.nodes[node_number]
        track = self.tracks.pop((node_number, "scale"), None)
        keyed = None if track is None else track.sample(self.clock.times)
        return self.scales.factor(node.name, node.scale, keyed)


@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """The root joint in the world, with everything above it folded in."""

    places: FloatArray
    """Shape (F, 3)."""
    turns: FloatArray
    """Shape (F, 4)."""
    rest_place: FloatArray
    rest_turn: FloatArray
    factor: float
    """Metres per unit of length below the root."""


def _folded_root(scene: _Scene, root: int) -> _Root:
    n_frames = len(scene.clock.times)
    places, turns = np.zeros((n_frames, 3)), np.tile(quat.IDENTITY, (n_frames, 1))
    rest_place, rest_turn, factor = np.zeros(3), quat.IDENTITY, 1.0
    for n in (*scene.tree.ancestors(root), root):
        node, keyed = scene.tree.nodes[n], scene.translations(n)
        step = factor * (node.translation[None] if keyed is None else keyed)
        places = places + quat.rotate(turns, step)
        rest_place = rest_place + quat.rotate(rest_turn, factor * node.translation)
        turns = quat.multiply(turns, scene.rotations(n))
        rest_turn = quat.multiply(rest_turn, node.rotation)
        factor *= scene.scale(n)
    return _Root(places, turns, rest_place, rest_turn, factor)


def _motion(scene: _Scene, rig: Rig) -> Motion:
    tree, n_frames = scene.tree, len(scene.clock.times)
    nodes, root = tree.nodes, _folded_root(scene, rig.joints[0])
    row = {n: j for j, n in enumerate(rig.joints)}
    n_joints = len(rig.joints)
    factors = np.full(n_joints, root.factor)
    parents, offsets = np.full(n_joints, -1), np.zeros((n_joints, 3))
    rest = np.zeros((n_joints, 4))
    quats = np.zeros((n_frames, n_joints, 4))
    moving: FloatArray | None = None
    offsets[0], rest[0], quats[:, 0] = root.rest_place, root.rest_turn, root.turns
    for j, n in enumerate(rig.joints[1:], start=1):
        parents[j] = p = row[nodes[n].parent]
        offsets[j] = factors[p] * nodes[n].translation
        rest[j] = nodes[n].rotation
        quats[:, j] = scene.rotations(n)
        factors[j] = factors[p] * scene.scale(n)
        keyed = scene.translations(n)
        slides = keyed is not None and np.abs(factors[p] * keyed - offsets[j]).max() > SLIDE_M
        if slides and moving is None:
            moving = np.tile(offsets, (n_frames, 1, 1))
        if moving is not None:
            moving[:, j] = factors[p] * keyed if slides and keyed is not None else offsets[j]
    names, changed = unique_names([nodes[n].name for n in rig.joints])
    if changed:
        problem = f"{len(changed)} joints share the name of another and are numbered."
        scene.findings.append(Finding("note", f"node {changed[0][1]!r}", problem))
    end_parents, end_offsets = _end_sites(tree, rig, row, factors)
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
    return Motion(skeleton, root.places, quats, scene.clock.fps, moving)


def _end_sites(
    tree: NodeTree, rig: Rig, row: dict[int, int], factors: FloatArray
) -> tuple[IntArray, FloatArray]:
    """The joint above each end site, and its place there at rest."""
    parents: list[int] = []
    offsets = np.zeros((len(rig.ends), 3))
    for e, end in enumerate(rig.ends):
        n, place = end, np.zeros(3)
        while n not in row:
            node = tree.nodes[n]
            inner = np.abs(node.scale).mean() if n != end else 1.0
            place = node.translation + quat.rotate(node.rotation, inner * place)
            n = node.parent
        parents.append(row[n])
        offsets[e] = factors[row[n]] * place
    return np.array(parents, dtype=np.int64), offsets
