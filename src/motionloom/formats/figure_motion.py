"""The motion of a figure in a scene: nodes above it folded into its root, scale into lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.findings import Finding
from motionloom.formats.figures import Rig
from motionloom.formats.node_scale import NodeScale
from motionloom.formats.node_tree import N, Tree
from motionloom.formats.text import unique_names
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

SLIDE_M = 2e-6
"""How far a joint must move from its rest place for bones to count as sliding, metres."""


class PosedNodes(Protocol):
    """Nodes of a scene in time; each is asked once."""

    @property
    def n_frames(self) -> int:
        """How many frames there are."""

    def turns(self, node: int) -> FloatArray:
        """Turn of a node in its parent, in every frame. Shape (F, 4)."""

    def places(self, node: int, turns: FloatArray) -> FloatArray | None:
        """Place of a node in its parent, in every frame (F, 3); None where it never moves."""

    def rest(self, node: int) -> tuple[FloatArray, FloatArray]:
        """Place (3,) and turn (4,) of a node in its parent at rest."""

    def scaled(self, node: int, above: NodeScale) -> NodeScale:
        """Scale below a node, of the scale above it."""

    def rest_scale(self, node: int) -> float:
        """Scale of a node alone, at rest."""


@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """The root joint in the world, with everything above it folded in."""

    places: FloatArray
    """Shape (F, 3)."""
    turns: FloatArray
    """Shape (F, 4)."""
    rest_place: FloatArray
    rest_turn: FloatArray
    scale: NodeScale


def _folded_root(posed: PosedNodes, path: list[int]) -> _Root:
    """The last node of ``path``, which begins at the top."""
    places, turns = np.zeros((posed.n_frames, 3)), np.tile(quat.IDENTITY, (posed.n_frames, 1))
    rest_place, rest_turn, scale = np.zeros(3), quat.IDENTITY, NodeScale(1.0, 1.0)
    for n in path:
        own = posed.turns(n)
        keyed = posed.places(n, own)
        place, turn = posed.rest(n)
        step = scale.total * (place[None] if keyed is None else keyed)
        places = places + quat.rotate(turns, step)
        rest_place = rest_place + quat.rotate(rest_turn, scale.total * place)
        turns, rest_turn = quat.multiply(turns, own), quat.multiply(rest_turn, turn)
        scale = posed.scaled(n, scale)
    return _Root(places, turns, rest_place, rest_turn, scale)


def figure_motion(
    posed: PosedNodes, tree: Tree[N], rig: Rig, fps: float, slide: float
) -> tuple[Motion, list[Finding]]:
    """The figure's motion, in the file's unit and axes, and what was odd.

    Parameters
    ----------
    posed, tree
        The nodes.
    rig
        Which of them are joints.
    fps
        Frames per second.
    slide
        How far a joint must move from its rest place to count as sliding.
    """
    nodes, n_frames, n_joints = tree.nodes, posed.n_frames, len(rig.joints)
    root = _folded_root(posed, [*tree.ancestors(rig.joints[0]), rig.joints[0]])
    row = {n: j for j, n in enumerate(rig.joints)}
    scales = [root.scale] * n_joints
    parents, offsets = np.full(n_joints, -1), np.zeros((n_joints, 3))
    rest, quats = np.zeros((n_joints, 4)), np.zeros((n_frames, n_joints, 4))
    moving: FloatArray | None = None
    slides = np.zeros(n_joints, dtype=bool)
    offsets[0], rest[0], quats[:, 0] = root.rest_place, root.rest_turn, root.turns
    for j, n in enumerate(rig.joints[1:], start=1):
        parents[j] = p = row[nodes[n].parent]
        place, rest[j] = posed.rest(n)
        offsets[j] = scales[p].total * place
        quats[:, j] = posed.turns(n)
        scales[j] = posed.scaled(n, scales[p])
        keyed = posed.places(n, quats[:, j])
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
    end_parents, end_offsets = _end_sites(posed, tree, rig, scales)
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
    return Motion(skeleton, root.places, quats, fps, moving), _same_names(changed)


def _same_names(changed: list[tuple[int, str]]) -> list[Finding]:
    if not changed:
        return []
    problem = f"{len(changed)} joints share the name of another and are numbered."
    return [Finding("note", f"node {changed[0][1]!r}", problem)]


def _end_sites(
    posed: PosedNodes, tree: Tree[N], rig: Rig, scales: list[NodeScale]
) -> tuple[IntArray, FloatArray]:
    """The joint above each end site, and its place there at rest."""
    row = {n: j for j, n in enumerate(rig.joints)}
    parents: list[int] = []
    offsets = np.zeros((len(rig.ends), 3))
    for e, end in enumerate(rig.ends):
        n, place = end, np.zeros(3)
        while n not in row:
            origin, turn = posed.rest(n)
            inner = posed.rest_scale(n) if n != end else 1.0
            place = origin + quat.rotate(turn, inner * place)
            n = tree.nodes[n].parent
        parents.append(row[n])
        offsets[e] = scales[row[n]].total * place
    return np.array(parents, dtype=np.int64), offsets
