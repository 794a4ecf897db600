"""The figure in a scene of nodes: the tree, which nodes are its skeleton, and its motion.

Nodes above the figure are folded into its root, and scale into its lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.text import unique_names
from motionloom.motion.motion import Motion, Skeleton, forward_kinematics
from motionloom.rotation import quat

MAX_DEPTH = 4608
"""Far deeper than any rig; below it every walk up the tree stays short."""
MAX_ENDS = 4096
LONGEST_TIP = 16
"""Nodes outside the skin that may stand between a joint and the tip that its end site is."""
SCALE_TOLERANCE = 1e-3
SLIDE_M = 2e-6
"""How far a joint must move from its rest place for bones to count as sliding, metres."""


class TreeNode(Protocol):
    """A node of a scene, as a tree needs it."""

    @property
    def name(self) -> str:
        """Name in the file."""

    @property
    def parent(self) -> int:
        """Number of the node above, -1 for none."""

    @property
    def children(self) -> tuple[int, ...]:
        """Numbers of the nodes below."""

    @property
    def is_end(self) -> bool:
        """Whether motionloom wrote it as an end site."""

    @property
    def has_content(self) -> bool:
        """Whether it carries a mesh, a camera or the like."""


N = TypeVar("N", bound=TreeNode)


@dataclass(frozen=True, slots=True, eq=False)
class Tree(Generic[N]):
    """All nodes, parents known, no cycles."""

    nodes: tuple[N, ...]
    depth: tuple[int, ...]
    order: tuple[int, ...]
    """Node numbers, parents before children."""

    def ancestors(self, node: int) -> list[int]:
        """Nodes above ``node``, the topmost first."""
        path: list[int] = []
        while (node := self.nodes[node].parent) >= 0:
            path.append(node)
        return path[::-1]

    def meeting(self, members: Iterable[int]) -> int:
        """The lowest node that is or stands above every one of ``members``, -1 where none does."""
        met: int | None = None
        for n in members:
            a = n if met is None else met
            while a != n and a >= 0 and n >= 0:
                if self.depth[a] >= self.depth[n]:
                    a = self.nodes[a].parent
                else:
                    n = self.nodes[n].parent
            met = a if a == n else -1
            if met < 0:
                return -1
        return -1 if met is None else met


def depth_and_order(
    parents: Sequence[int], children: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How deep every node is, and the nodes with parents first; cycles are refused."""
    depth = [0 if parent == -1 else -1 for parent in parents]
    order = [n for n, parent in enumerate(parents) if parent == -1]
    for n in order:  # grows while it is walked: parents first
        for child in children[n]:
            depth[child] = depth[n] + 1
            order.append(child)
    if len(order) < len(parents):
        lost = depth.index(-1)
        raise FormatError("A node must not be its own ancestor.", where=f"node {lost}")
    if depth and max(depth) > MAX_DEPTH:
        raise FormatError(
            f"Nodes must be nested at most {MAX_DEPTH} deep, got {max(depth)}.",
            where=f"node {depth.index(max(depth))}",
        )
    return tuple(depth), tuple(order)


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """Which nodes are the joints and end sites of the skeleton."""

    joints: tuple[int, ...]
    """Node numbers, the root first and parents before children."""
    ends: tuple[int, ...]
    """Leaf nodes that carry nothing: tips of toes, fingers and the head."""
    left_out: int
    """Joints of the file that belong to other figures."""


def choose_figure(
    tree: Tree[N], parts: list[dict[int, None]], animated: set[int], *, skinned: bool
) -> Rig:
    """The skeleton among the joints that a file names.

    Parameters
    ----------
    tree
        All nodes.
    parts
        Joints as ordered sets, one for each skin or chain. Parts of one figure (body, visor, hair)
        share their joints or hang on one another's; of several figures the one that moves most is
        taken.
    animated
        Nodes that move.
    skinned
        Whether only named joints are joints; else every node with children below the root is.
    """
    figures = _figures(tree, parts)
    chosen = max(figures, key=lambda joints: (len(joints.keys() & animated), len(joints)))
    left_out = len(set().union(*figures)) - len(chosen)
    root = tree.meeting(chosen)
    joints, ends = _joints_and_ends(tree, chosen, root, skinned=skinned)
    if len(ends) > MAX_ENDS:
        raise FormatError(f"At most {MAX_ENDS} bare leaves can be read, got {len(ends)}.")
    bones = set(joints)
    stated = [n for n in chosen if n in bones]
    if len(stated) == len(joints) and _parents_first(tree, stated, root):
        joints = stated
    return Rig(tuple(joints), tuple(sorted(ends)), left_out)


def _figures(tree: Tree[N], skins: list[dict[int, None]]) -> list[dict[int, None]]:
    """Joints of skins whose roots stand above one another, together; under one top node each."""
    tops = _highest(tree, range(len(tree.nodes)))
    parts: list[tuple[int, dict[int, None]]] = []
    for skin in skins:
        under: dict[int, dict[int, None]] = {}
        for n in skin:
            under.setdefault(tops[n], {})[n] = None
        parts += [(tree.meeting(joints), joints) for joints in under.values()]
    highest = _highest(tree, [root for root, _ in parts])
    figures: dict[int, dict[int, None]] = {}
    for root, joints in parts:
        figures.setdefault(highest[root], {}).update(joints)
    return list(figures.values())


def _highest(tree: Tree[N], marked: Iterable[int]) -> list[int]:
    """For every node the topmost marked node that is or stands above it, -1 where none does."""
    wanted = set(marked)
    highest = [-1] * len(tree.nodes)
    for n in tree.order:
        parent = tree.nodes[n].parent
        above = highest[parent] if parent >= 0 else -1
        highest[n] = n if above < 0 and n in wanted else above
    return highest


def _joints_and_ends(
    tree: Tree[N], chosen: dict[int, None], root: int, *, skinned: bool
) -> tuple[list[int], list[int]]:
    """Joints in file order, parents first, and the bare leaves below them."""
    nodes = tree.nodes
    members = {root}
    for n in chosen:
        if nodes[n].is_end and not nodes[n].children:
            continue
        while n not in members:  # whatever stands between two joints moves the lower one
            members.add(n)
            n = nodes[n].parent
    joints: list[int] = []
    ends: list[int] = []
    waiting = [(root, 0)]
    while waiting:
        n, away = waiting.pop()
        node = nodes[n]
        if n in members or (not skinned and node.children):
            joints.append(n)
            away = 0
        elif not node.children and not node.has_content and away <= LONGEST_TIP:
            ends.append(n)
        waiting.extend((child, away + 1) for child in reversed(node.children))
    return joints, ends


def _parents_first(tree: Tree[N], joints: list[int], root: int) -> bool:
    """Whether a skin's own order, which files written by motionloom keep, can be kept."""
    seen: set[int] = set()
    for n in joints:
        if n != root and tree.nodes[n].parent not in seen:
            return False
        seen.add(n)
    return bool(joints) and joints[0] == root


@dataclass(frozen=True, slots=True)
class NodeScale:
    """Units of length of the file per unit within a node."""

    total: float
    own: float
    """The node's part of it."""


@dataclass(slots=True, eq=False)
class Scales:
    """Oddities of scale, and the nodes that have them."""

    odd: dict[str, list[str]] = field(default_factory=dict)

    def factor(self, name: str, still: FloatArray, keyed: FloatArray | None) -> float:
        """One factor per node: bones are rigid here, so scale only sets lengths.

        Parameters
        ----------
        name
            Of the node.
        still : (3,)
            Its scale where it has no keys.
        keyed : (F, 3)
            Its scale in every frame.
        """
        scale = still if keyed is None else keyed[0]
        changes = 0.0 if keyed is None else float(np.abs(keyed - scale).max())
        if changes > SCALE_TOLERANCE * max(np.abs(scale).max(), 1e-9):
            self._add("Scale keys change in time; only the first is used", name)
        factor = float(np.cbrt(np.abs(scale).prod()))
        if np.abs(np.abs(scale) - factor).max() > SCALE_TOLERANCE * factor:
            self._add("Scale differs along the axes; its mean is used", name)
        if scale.min() < 0.0:
            self._add("Negative scale mirrors the figure; it is read unmirrored", name)
        return factor

    def _add(self, problem: str, name: str) -> None:
        self.odd.setdefault(problem, []).append(name)

    def findings(self) -> list[Finding]:
        """One warning per oddity, not one per node."""
        fix = "Apply the scale before exporting."
        return [
            Finding("warning", f"node {names[0]!r}", f"{problem} ({len(names)} nodes).", fix)
            for problem, names in self.odd.items()
        ]


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


@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """The root joint in the world, with the nodes above it folded in."""

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


def rest_world(
    skeleton: Skeleton, origin: FloatArray, turns: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """World places (J + E, 3) and turns (J + E, 4) at rest, joints then end sites.

    Parameters
    ----------
    skeleton
        J joints, E end sites.
    origin : (3,)
        The place of a node above the root, which is taken off the root's place.
    turns : (J, 4)
        Turns of the joints at rest, in their parents; those of the skeleton by default.
    """
    turns = skeleton.rest_quats if turns is None else turns
    # As a reader will sum it up: far out the subtraction may cost the root's last bits.
    root = (skeleton.offsets[:1] - origin) + origin
    places, turns = forward_kinematics(skeleton, root, turns[None])
    at = skeleton.end_parents
    tips = places[0, at] + quat.rotate(turns[0, at], skeleton.end_offsets)
    return np.concatenate([places[0], tips]), np.concatenate([turns[0], turns[0, at]])
